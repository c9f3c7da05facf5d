"""A Dask cluster as the place where loops are executed: somebody else's, named by its address."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..errors import AnalysisError, UsageError, library_needed

_ANSWER_S = 10.0  # within which a scheduler answers, and has a worker
_ADDRESS = re.compile(r"((tcp|tls|ucx|wss?)://)?[^/\s]+:\d+/?")
_COMPUTING = ("fairtrial", "numpy", "scipy", "numba")  # whose versions decide on numbers


@contextmanager
def dask_cluster(address: str) -> Iterator[None]:
    """Let the loops within this context be executed by a cluster, through joblib's own backend.

    `address`: Of its scheduler, such as ``tcp://host:8786``; or the path of a scheduler file.

    Raises
    ------
    UsageError
        If the library is missing, nobody answers, or a worker has other versions than this process.
    AnalysisError
        If the work killed each worker, or the connection was lost.
    """
    try:
        import distributed
    except ImportError as error:
        fix = "pip install 'fairtrial[dask]'"
        raise library_needed("a Dask cluster", "distributed", error, fix=fix) from None
    import joblib

    try:
        file = Path(address)
        told = json.loads(file.read_text("utf-8"))["address"] if file.is_file() else address
        if not _ADDRESS.fullmatch(told):
            raise ValueError("this is neither its address nor its file")
        client: Any = distributed.Client(told, timeout=_ANSWER_S, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError, KeyError) as error:
        fix = "give the address that 'dask scheduler' printed, such as --dask tcp://HOST:8786"
        raise UsageError(f"no Dask scheduler answers: {error}", address, fix) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_ANSWER_S)
        except TimeoutError:
            what = f"the cluster has no worker, and none came within {_ANSWER_S:g} s"
            raise UsageError(what, address, f"start one: dask worker {address}") from None
        here = {name: version(name) for name in _COMPUTING}
        for worker, one in client.get_versions(packages=list(here))["workers"].items():
            for name, wanted in here.items():
                if (found := one["packages"][name]) != wanted:
                    what = f"the worker has {name} {found}, and this process has {wanted}"
                    fix = "install the same versions on the workers: numbers could differ"
                    raise UsageError(what, worker, fix)
        try:
            with joblib.parallel_config(backend="dask", client=client):
                _mend(joblib.parallel.get_active_backend()[0])
                yield
        except (OSError, CancelledError, distributed.KilledWorker) as error:
            what = f"the cluster did not answer: {error}"
            fix = "look at its scheduler and the memory of its workers, and begin again"
            raise AnalysisError(what, address, fix) from None


def _mend(backend: Any) -> None:  # noqa: ANN401 - joblib ships no types
    """Let joblib's backend tell of work whose workers died, for which it would wait for ever."""
    submit, retrieve = backend.submit, backend.retrieve_result_callback

    def submitted(work: object, callback: Callable[[object], None]) -> Future[object]:
        future: Future[object] = submit(work, callback=callback)
        future.add_done_callback(lambda done: None if done.exception() is None else callback(done))
        return future

    def retrieved(found: object) -> object:
        return retrieve(found.result() if isinstance(found, Future) else found)

    backend.submit, backend.retrieve_result_callback = submitted, retrieved
