"""Call a function for many items: in this process, in several or on a Dask cluster, with equal results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from cb_pgm.errors import CausalBanditError

__all__ = ["mapped"]

Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")


def mapped(
    function: Callable[[Common, Item], Result],
    common: Common,
    items: Sequence[Item],
    *,
    jobs: int = 1,
    dask: str | None = None,
) -> Iterator[Result]:
    """Yield ``function(common, item)`` for each item, in the order of the items.

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

    Raises
    ------
    CausalBanditError
        If Dask is missing or not reachable.
    """
    if dask is not None:
        yield from _on_dask(function, common, items, dask)
    elif jobs == 1 or len(items) < 2:
        for item in items:
            yield function(common, item)
    else:
        from joblib import Parallel, delayed, parallel_config  # late: one process needs none of it

        with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
            yield from Parallel(return_as="generator")(delayed(function)(common, item) for item in items)


def _on_dask(
    function: Callable[[Common, Item], Result], common: Common, items: Sequence[Item], address: str
) -> Iterator[Result]:
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
        shared = client.scatter(common, broadcast=True)
        for future in client.map(lambda item, known: function(known, item), items, known=shared, pure=False):
            yield future.result()
            future.release()
