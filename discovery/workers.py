"""Call a function for many items, in this process or in several, with equal results."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeVar

__all__ = ["mapped"]

Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")


def mapped(
    function: Callable[[Common, Item], Result],
    common: Common,
    items: Iterable[Item],
    *,
    jobs: int = 1,
    ordered: bool = True,
) -> Iterator[Result]:
    """Yield ``function(common, item)`` for each item.

    Where the caller stops early, or an error or a signal stops it, the processes end too; they also end when
    this process is killed.

    Parameters
    ----------
    function
        A function of a module, whose result depends on its arguments only.
    common
        What all calls share.
    items
        What differs.
    jobs
        The number of processes (joblib).
    ordered
        Whether results come in the order of the items; else each comes as soon as it is there.
    """
    if jobs == 1:
        for item in items:
            yield function(common, item)
        return

    # Late: one process needs none of it.
    from joblib import Parallel, delayed, parallel_config
    from joblib.externals.loky import get_reusable_executor

    try:
        with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
            run = Parallel(return_as="generator" if ordered else "generator_unordered")
            yield from run(delayed(_in_worker)(os.getpid(), function, common, item) for item in items)
    except BaseException:  # also a signal: else the workers would go on for nobody
        get_reusable_executor().shutdown(wait=False, kill_workers=True)
        raise


def _in_worker(parent: int, function: Callable[[Common, Item], Result], common: Common, item: Item) -> Result:
    _end_with(parent)
    return function(common, item)


@cache
def _end_with(parent: int) -> None:
    """End this process within a second or so after its parent has ended, however that ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
