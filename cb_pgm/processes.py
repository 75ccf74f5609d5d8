"""Call a function for many items: in this process, in several or on a Dask cluster, with equal results."""

from __future__ import annotations

import atexit
import contextlib
import logging
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from cb_pgm.errors import CausalBanditError
from discovery import workers

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

    Where the caller stops early, or an error or a signal stops it, the processes end too; those of this
    machine also end when this process is killed.

    Parameters
    ----------
    function
        A function of a module, whose result depends on its arguments only.
    common
        What all calls share.
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
    if dask is None:
        yield from workers.mapped(function, common, items, jobs=jobs, ordered=ordered)
        return

    if find_spec("distributed") is None:
        raise CausalBanditError('Expected Dask for --dask but found none: install "cb-pgm[dask]"')
    with _cluster(dask) as client:
        from distributed import as_completed

        # What is common goes with each item, not to workers once: if they are killed, others have it too.
        futures = client.map(_called, list(items), function=function, common=common, pure=False)
        for future in futures if ordered else as_completed(futures):
            yield future.result()
            future.release()


def _called(item: Item, function: Callable[[Common, Item], Result], common: Common) -> Result:
    return function(common, item)


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Any]:
    """Yield a client of a Dask cluster."""
    with contextlib.ExitStack() as opened:
        try:
            yield opened.enter_context(_client(_workers(opened) if address == "local" else address))
        except BaseException:  # also a signal: workers that start or work would take seconds to stop
            from distributed.deploy.spec import close_clusters

            atexit.unregister(close_clusters)  # which waits for a cluster that is half started
            for process in multiprocessing.active_children():
                if process.name.startswith("Dask Worker"):  # and nobody else's
                    process.kill()
            raise


def _client(where: Any) -> Any:
    from distributed import Client

    try:
        return Client(where, timeout=10)
    except OSError as error:
        raise CausalBanditError(
            f"Expected a Dask scheduler at {where} but found {error}: start it or mend --dask"
        ) from None


def _workers(opened: contextlib.ExitStack) -> Any:
    """Return a cluster of two workers on this machine."""
    import dask
    from distributed import LocalCluster

    # Workers that are killed leave their files; these go with the folder.
    scratch = TemporaryDirectory(prefix="cb-pgm-dask-", ignore_cleanup_errors=True)
    opened.enter_context(dask.config.set({"temporary-directory": opened.enter_context(scratch)}))
    cluster = LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )
    return opened.enter_context(cluster)
