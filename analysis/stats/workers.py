"""One loop for all that is done many times over: in order, wherever joblib executes it.

A ``joblib.parallel_config`` around a call (its threads, its processes, a Dask client) says where. Each
item brings a random stream of its own, derived from a seed and a label, so that no number depends on
how many workers there are, on their kind, or on which of them is done first. For the same reason the
libraries of linear algebra have one thread meanwhile: with several they add up long vectors in
another order.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from ..announcing import still
from ..errors import AnalysisError, UsageError, library_needed
from .arguments import counted

# --- A Dask cluster as the place where loops are executed: somebody else's, named by its address.


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
    from concurrent.futures import CancelledError
    from importlib.metadata import version

    import joblib

    try:
        file = Path(address)
        known = json.loads(file.read_text("utf-8"))["address"] if file.is_file() else address
        if not _ADDRESS.fullmatch(known):
            raise ValueError("this is neither its address nor its file")
        client: Any = distributed.Client(known, timeout=_ANSWER_S, set_as_default=False)  # type: ignore[no-untyped-call]
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
    from concurrent.futures import Future

    submit, retrieve = backend.submit, backend.retrieve_result_callback

    def submitted(work: object, callback: Callable[[object], None]) -> Future[object]:
        future: Future[object] = submit(work, callback=callback)
        future.add_done_callback(lambda done: None if done.exception() is None else callback(done))
        return future

    def retrieved(found: object) -> object:
        return retrieve(found.result() if isinstance(found, Future) else found)

    backend.submit, backend.retrieve_result_callback = submitted, retrieved


# --- Where compiled kernels are kept, and when to do without them.

VARIABLE = "FAIRTRIAL_CACHE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """Where compiled kernels are kept: `folder`, or None and `why` there is none."""

    folder: Path | None
    why: str | None = None


def cache() -> Cache:
    """Take the first folder that can be written: $FAIRTRIAL_CACHE, the user's cache, none."""
    asked = os.environ.get(VARIABLE) or os.environ.get("NUMBA_CACHE_DIR")
    if asked:
        folder = Path(asked).absolute()
    else:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path.home() raises without a home
        if not Path(home).is_absolute():
            return Cache(folder=None, why="there is no home folder")
        folder = Path(home) / "fairtrial" / "kernels"
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Cache(folder=None, why=f"{folder} cannot be written ({error.strerror})")
    return Cache(folder=folder)


class Budget:
    """How much work of one sort a process does by numpy, in whatever it is counted.

    `most` is as much as takes about the time that loading the kernels takes, `uncompiled` about half of
    the time that compiling `kernel` takes, where nothing of it is kept: so nobody who comes with little
    work waits, and nobody with much work loses more than that once. Both ways give the same numbers.
    """

    def __init__(self, most: int, uncompiled: int = 0, kernel: str = "") -> None:
        self.left, self._more, self._kernel = most, max(uncompiled - most, 0), kernel
        self._kept = False

    @property
    def uncompiled(self) -> bool:
        """Whether the kernel would have to be compiled: nothing of it is kept, whatever its types."""
        if not self._kept:
            folder = cache().folder
            self._kept = folder is not None and any(folder.glob(f"{self._kernel}-*"))
        return not self._kept

    def allows(self, work: int) -> bool:
        """Take the work from what is left; False once it exceeds that."""
        self.left -= work
        return self.left >= 0 or (self.left + self._more >= 0 and self.uncompiled)


Item = TypeVar("Item")
Found = TypeVar("Found")
Progress = Callable[[int, int], object]
Kind = Literal["threads", "processes"]

MOST_WORKERS = 1024
_PATIENCE = 2.0  # seconds of work that processes, which take about one to start, are not worth


def available_cores() -> int:
    """Give the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def at_once(workers: int | None, prefer: Kind) -> int:
    """Give how many items will be at work at the same time.

    `workers`, `prefer`: As in `in_order`.
    """
    count = _place(workers, prefer)[1]
    if count is not None and count > 0:
        return count
    import joblib

    found: int = joblib.effective_n_jobs(count)
    return found


def in_order(
    work: Callable[[Item, Progress], Found],
    items: Iterable[Item],
    *,
    workers: int | None,
    prefer: Kind,
    look: Callable[[int], object] | None = None,
    ready: Callable[[], object] | None = None,
) -> Generator[Found, None, None]:
    """Do the same work on many items, several at the same time; give the results in their order.

    Work starts with the first result that is asked for. Ending the iteration early (or Ctrl-C) drops
    what has not begun, and stops threads as soon as they tell their progress.

    `work`: From an item, and what to tell the progress inside it (which raises once nobody waits
    for the result), to its result. For other processes a function of a module, or a
    `functools.partial` of one: it is sent along with every item, so what it holds must be small.
    `items`: Asked for little ahead of the work, from any thread; each holds only what its work
    needs. `workers`: How many at the same time; 1 is a plain loop. With None a
    ``joblib.parallel_config`` around the call decides on number and kind; without one there are as
    many threads as processors, or one process. `prefer` ({"threads", "processes"}): What suits the
    work, where nobody else says it: threads where it leaves the interpreter's lock. Processes are
    started only if the work is not done within 2 s here. `look`: Called from the caller's thread
    with the number of results so far, at first 0. `ready`: Called here before work is sent
    elsewhere: compiles the kernels once for all processes.

    Raises
    ------
    UsageError
        If `workers` is no number from 1 to 1024.
    AnalysisError
        If a worker process is killed.
    """
    tell = look if look is not None else lambda _done: None
    tell(0)
    with one_blas_thread, closing(_results(work, iter(items), workers, prefer, ready)) as rows:
        for done, found in enumerate(rows, 1):
            tell(done)
            still()
            yield found


def _results(
    work: Callable[[Item, Progress], Found],
    items: Iterator[Item],
    workers: int | None,
    prefer: Kind,
    ready: Callable[[], object] | None,
) -> Generator[Found, None, None]:
    backend, count = _place(workers, prefer)
    begun = time.monotonic()
    if count == 1 or (backend is None and prefer == "processes"):
        ready = None  # the first items have compiled what there is
        for item in items:
            yield work(item, _unheard)
            if count != 1 and time.monotonic() - begun > _PATIENCE:
                break
        else:
            return
    from concurrent.futures import BrokenExecutor, CancelledError

    import joblib

    here = prefer == "threads" if backend is None else getattr(backend, "supports_sharedmem", False)
    if ready is not None and not here:
        ready()
    ended = threading.Event()

    def going_on(_done: int, _total: int) -> None:
        if ended.is_set():
            raise CancelledError

    chosen: AbstractContextManager[object] = nullcontext()
    away: Callable[..., Found] = _elsewhere
    if not here and (backend is None or isinstance(backend, joblib.parallel.LokyBackend)):
        chosen = _our_processes()
        away = functools.partial(_elsewhere, parent=os.getpid())
    call = joblib.delayed(work if here else away)
    lazy = backend is None or getattr(backend, "supports_return_generator", False)
    rows: Any = None
    try:
        with chosen:
            parallel = joblib.Parallel(
                n_jobs=count,
                prefer="threads" if here else "processes",
                return_as="generator" if lazy else "list",
                max_nbytes=None,  # items are small: no files of arrays with them
            )
            rows = parallel(call(item, going_on) if here else call(work, item) for item in items)
        for found in rows:  # noqa: UP028 - `yield from` would hand an early end on to joblib
            yield found
    except BrokenExecutor as error:
        by = re.search(r"SIG[A-Z]+", str(error))
        what = f"a worker process was killed{f' by {by[0]}' if by else ''} before it had answered, as happens"
        fix = "take fewer workers, so that each has more memory: --workers 1 needs the least"
        raise AnalysisError(f"{what} where memory runs out", fix=fix) from None
    finally:
        ended.set()
        if isinstance(rows, Generator):
            with suppress(_EnoughError):
                rows.throw(_EnoughError())  # what has not begun is dropped, without a warning


def _place(workers: int | None, prefer: Kind) -> tuple[Any | None, int | None]:
    """Give the backend around the call, if any, and the number of workers; None if that knows it."""
    joblib = sys.modules.get("joblib")
    backend = count = None
    if joblib is not None:  # else nobody can have said anything
        backend, count = joblib.parallel.get_active_backend(prefer="processes")
        if type(backend) is not type(joblib.parallel.get_active_backend(prefer="threads")[0]):
            backend = None  # the preference decides
    if workers is not None:
        count = counted("workers", workers, most=MOST_WORKERS)
    elif backend is None and count is None:
        count = available_cores() if prefer == "threads" else 1
    return backend, count


@contextmanager
def _our_processes() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, as what is blocked is inherited; we end them."""
    from multiprocessing import resource_tracker

    import joblib
    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        for tracker in (loky_tracker, resource_tracker):  # the start of one unblocks the signal
            tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _unheard(_done: int, _total: int) -> None:
    """Take the progress of work that goes on whoever waits for it."""


def _elsewhere(
    work: Callable[[Item, Progress], Found], item: Item, *, parent: int | None = None
) -> Found:
    """Do the work in another process, which is to end with its parent."""
    if parent is not None:
        _end_with(parent)
    with one_blas_thread:
        return work(item, _unheard)


@functools.cache
def _end_with(parent: int) -> None:
    """Let this process end soon after its parent, even if that was killed and could not say so."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)  # seconds between two looks whether the parent lives
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="fairtrial-parent").start()


class _EnoughError(BaseException):
    """Nobody waits for more results."""


class _OneBlasThread:
    """Linear algebra has one thread in this process while any loop is inside.

    The setting is the process's. If each of several threads kept what it found before, one of them
    would keep another's setting for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None  # threadpoolctl's types are not read

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limit = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()


@functools.lru_cache(maxsize=1)
def _libraries(_modules: int) -> Any:  # noqa: ANN401 - only what has been imported can be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


one_blas_thread = _OneBlasThread()
