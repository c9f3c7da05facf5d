"""A Dask cluster as the place where loops are executed: somebody else's, named by its address."""

from __future__ import annotations

import functools
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import AnalysisError, UsageError, library_needed
from .workers import Edition, edition, hold_to

_ANSWER_S = 10.0  # within which a scheduler answers, and has a worker
_ADDRESS = re.compile(r"((tcp|tls|ucx|wss?)://)?[^/\s]+:\d+/?")


class _Probe(NamedTuple):
    """What a worker computes with."""

    edition: Edition
    processor: str


@contextmanager
def dask_cluster(address: str, *, say: Callable[[str], None]) -> Iterator[None]:
    """Let the loops within this context be executed by a cluster.

    `address`: Of its scheduler, such as ``tcp://host:8786``; or the path of a scheduler file.
    `say`: Told one sentence where workers have other processors than this host.
    """
    try:
        import distributed
        from distributed.comm.core import CommClosedError
    except ImportError as error:
        fix = "pip install 'fairtrial[dask]'"
        raise library_needed("a Dask cluster", "distributed", error, fix=fix) from None
    import joblib

    try:
        with _hushed(), _client(address, distributed) as client:
            _check(address, client, say)
            with joblib.parallel_config(backend="dask", client=client):
                _mend(joblib.parallel.get_active_backend()[0])
                yield
    except distributed.KilledWorker:
        raise AnalysisError(
            "one piece of the work killed each worker of the cluster that took it",
            address,
            "give the workers more memory, which is what they mostly are killed for",
        ) from None
    except (CommClosedError, CancelledError):
        raise AnalysisError(
            "the connection to the cluster was lost before it had answered",
            address,
            "look at its scheduler, and begin again: a seed gives the same numbers",
        ) from None


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep the libraries from writing of what is raised, too."""
    logs = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def _mend(backend: Any) -> None:  # noqa: ANN401 - joblib ships no types
    """Let joblib's Dask backend tell of work that was given up, and never do the work here.

    It calls back for work that was executed only, so that joblib would wait for ever for that whose
    workers died. And for a cluster of one processor, joblib would take a plain loop in this process.
    """
    submit, retrieve = backend.submit, backend.retrieve_result_callback
    size = backend.effective_n_jobs

    def submitted(work: object, callback: Callable[[object], None]) -> Future[object]:
        def tell(done: Future[object]) -> None:
            if done.exception() is not None:
                callback(done)

        future: Future[object] = submit(work, callback=callback)
        future.add_done_callback(tell)
        return future

    def retrieved(found: object) -> object:
        return retrieve(found.result() if isinstance(found, Future) else found)

    backend.submit, backend.retrieve_result_callback = submitted, retrieved
    backend.effective_n_jobs = lambda n_jobs: max(2, size(n_jobs))


@contextmanager
def _client(address: str, distributed: Any) -> Iterator[Any]:  # noqa: ANN401 - no types
    fix = "give the address that 'dask scheduler' printed, such as --dask tcp://HOST:8786"
    told = _in_file(Path(address)) if Path(address).is_file() else address
    if told is None or _ADDRESS.fullmatch(told) is None:
        raise UsageError("this is neither a Dask scheduler's address nor its file", address, fix)
    try:
        client = distributed.Client(told, timeout=_ANSWER_S, set_as_default=False)
    except (OSError, ValueError) as error:
        what = f"no Dask scheduler answers: {_first_line(error)}"
        raise UsageError(what, address, fix) from None
    try:
        yield client
    finally:
        client.close()


def _in_file(path: Path) -> str | None:
    """Give the address in the file that ``dask scheduler --scheduler-file`` writes."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    told = found.get("address") if isinstance(found, dict) else None
    return told if isinstance(told, str) else None


def _check(address: str, client: Any, say: Callable[[str], None]) -> None:  # noqa: ANN401
    """Refuse a cluster whose numbers could differ."""
    try:
        client.wait_for_workers(1, timeout=_ANSWER_S)
    except TimeoutError:
        raise UsageError(
            f"the cluster has no worker, and none came within {_ANSWER_S:g} s",
            address,
            f"start one: dask worker {address}",
        ) from None
    try:
        found: Mapping[str, _Probe] = client.run(_probe)
    except Exception as error:  # noqa: BLE001 - whatever happens on somebody else's machine
        raise UsageError(
            f"a worker cannot execute fairtrial: {type(error).__name__}: {_first_line(error)}",
            address,
            "install the same version of fairtrial in the environment of the workers",
        ) from None
    for worker, one in found.items():
        try:
            hold_to(edition(), one.edition)
        except AnalysisError as error:
            raise UsageError(error.what, worker, error.fix) from None
    here = _probe().processor
    others = sorted({one.processor for one in found.values()} - {here})
    if others:
        say(
            f"workers have other processors ({', '.join(others)}; here: {here}): the last digits of "
            "numbers may differ from those that this host would give"
        )


@functools.cache
def _probe() -> _Probe:
    from llvmlite.binding import get_host_cpu_name  # numba compiles with it

    return _Probe(edition=edition(), processor=get_host_cpu_name())


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
