"""`python -m cb_pgm`: the same program as `cb-pgm`."""

import sys

from cb_pgm.cli.program import main

if __name__ == "__main__":
    sys.exit(main())
