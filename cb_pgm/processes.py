"""Call a function for many items: in this process, in several or on a Dask cluster, with equal results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from cb_pgm.errors import CausalBanditError

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
    dask: str | None = None,
    ordered: bool = True,
) -> Iterator[Result]:
    """Yield ``function(common, item)`` for each item.

    Where the caller stops early, or an error or a signal stops it, the processes end too.

    Parameters
    ----------
    function
        A function of a module, whose result depends on its arguments only.
    common
        What all calls share; on a cluster it goes to each worker once.
    items
        What differs.
    jobs
        The number of processes on this machine (joblib).
    dask
        Used instead of `jobs`: the address of a Dask scheduler, "tcp://…", or "local" for a cluster of two
        workers on this machine.
    ordered
        Whether results come in the order of the items; else each comes as soon as it is there.

    Raises
    ------
    CausalBanditError
        If Dask is missing or not reachable.
    """
    if dask is None and jobs == 1:
        for item in items:
            yield function(common, item)
        return

    from joblib import Parallel, delayed, parallel_config  # late: one process needs none of it

    with contextlib.ExitStack() as opened:
        where = _processes(jobs) if dask is None else _cluster(dask, common)
        settings = opened.enter_context(where)
        opened.enter_context(parallel_config(**settings))
        run = Parallel(return_as="generator" if ordered else "generator_unordered")
        yield from run(delayed(function)(common, item) for item in items)


@contextlib.contextmanager
def _processes(jobs: int) -> Iterator[dict[str, Any]]:
    """Yield joblib's settings for processes of this machine; they end with a block that fails."""
    from joblib.externals.loky import get_reusable_executor

    try:
        yield {"backend": "loky", "n_jobs": jobs, "inner_max_num_threads": 1}
    except BaseException:  # also a signal: else the workers would go on for nobody
        get_reusable_executor().shutdown(wait=False, kill_workers=True)
        raise


@contextlib.contextmanager
def _cluster(address: str, common: object) -> Iterator[dict[str, Any]]:
    """Yield joblib's settings for a Dask cluster, whose workers get `common` once."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise CausalBanditError('Expected Dask for --dask but found none: install "cb-pgm[dask]"') from None
    with contextlib.ExitStack() as opened:
        where: Any = address
        if address == "local":
            where = opened.enter_context(
                LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
            )
        try:
            client = opened.enter_context(Client(where, timeout=10))
        except OSError as error:
            raise CausalBanditError(
                f"Expected a Dask scheduler at {address} but found {error}: start it or mend --dask"
            ) from None
        yield {"backend": "dask", "client": client, "scatter": [common]}
