"""`python -m cb_pgm`: the same program as `cb-pgm`."""

from cb_pgm.cli.program import run

if __name__ == "__main__":
    run()
