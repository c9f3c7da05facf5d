"""One loop for all that is done many times over: in order, on threads, processes or a cluster.

The loops over benchmarks, pairs and simulations are executed by joblib, so that a
``joblib.parallel_config`` around a call (its threads, its processes, a Dask client of the caller's)
says where. Each item brings a random stream of its own, derived from a seed and a label, so that no
number depends on how many workers there are, on their kind, or on which of them is done first. For
the same reason the libraries of linear algebra have one thread meanwhile: with several they add up
long vectors in another order.
"""

from __future__ import annotations

import functools
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from ..announcing import still
from ..errors import AnalysisError
from ..version import VERSION
from .arguments import counted

Edition = Mapping[str, str]  # library -> its version
_COMPUTING = ("numpy", "scipy", "numba", "scikit-learn")


@functools.cache
def edition() -> Edition:
    """Give the versions of fairtrial and of what computes for it, as far as it is installed."""
    found = {"fairtrial": VERSION}
    for name in _COMPUTING:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def hold_to(wanted: Edition, found: Edition | None = None) -> None:
    """Refuse a worker that has other versions.

    `wanted`: The versions of the process that asks. `found`: Those of the worker; of this process
    if it is the worker.
    """
    there = edition() if found is None else found
    for name, asked in wanted.items():
        if there.get(name) != asked:
            raise AnalysisError(
                f"the worker has {name} {there.get(name, 'not at all')}, and the process that asks "
                f"has {asked}: their numbers could differ",
                fix="install the same versions on the workers",
            )


Item = TypeVar("Item")
Found = TypeVar("Found")
Progress = Callable[[int, int], object]
Kind = Literal["threads", "processes"]

MOST_WORKERS = 1024
_LOOK = 0.01  # seconds between two looks whether the last portions at work have ended
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
    count = _asked(workers, prefer)
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
    what has not begun, kills processes of ours that are at work, and stops threads as soon as they
    tell their progress.

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
    """
    tell = look if look is not None else lambda _done: None
    tell(0)
    count = _asked(workers, prefer)
    around = _around()
    backend = None if around is None else around[0]
    loop, waiting = _Loop(), iter(items)
    done, patient = 0, prefer == "processes" and backend is None
    if count == 1 or patient:
        begun = time.monotonic()
        task = _Task(work=work, loop=loop)
        for item in waiting:
            found = task(item)
            done += 1
            tell(done)
            still()
            yield found
            if count != 1 and time.monotonic() - begun > _PATIENCE:
                break
        else:
            return
    here = prefer == "threads" if backend is None else _shares_memory(backend)
    if ready is not None and not here and not done:
        ready()
    rows = _together(work, waiting, loop, count=count, backend=backend, here=here)
    with closing(rows):
        for found in rows:
            done += 1
            tell(done)
            still()
            yield found


def _asked(workers: int | None, prefer: Kind) -> int | None:
    """Give the number of workers; None where joblib's backend around the call knows it."""
    if workers is not None:
        return counted("workers", workers, most=MOST_WORKERS)
    around = _around()
    if around is not None:
        return around[1]
    return available_cores() if prefer == "threads" else 1


def _around() -> tuple[Any | None, int | None] | None:
    """Give the backend and the number that a ``parallel_config`` around the call says, if any."""
    joblib = sys.modules.get("joblib")
    if joblib is None:  # nobody can have said anything
        return None
    one, count = joblib.parallel.get_active_backend(prefer="processes")
    other, _ = joblib.parallel.get_active_backend(prefer="threads")
    chosen = one if type(one) is type(other) else None  # else the preference decides
    return None if chosen is None and count is None else (chosen, count)


def _together(
    work: Callable[[Item, Progress], Found],
    items: Iterable[Item],
    loop: _Loop,
    *,
    count: int | None,
    backend: Any | None,  # noqa: ANN401 - joblib ships no types
    here: bool,
) -> Generator[Found, None, None]:
    """Let joblib do it, `here` in this process: its own choice unless there is a backend around."""
    import joblib

    chosen: AbstractContextManager[object] = nullcontext()
    ours = not here and (backend is None or isinstance(backend, joblib.parallel.LokyBackend))
    if backend is None and not here:
        chosen = joblib.parallel_config(backend="loky", inner_max_num_threads=1)
    task = _Task(work=work, loop=loop, parent=os.getpid() if ours else None)
    call = joblib.delayed(task if here else task.elsewhere)
    rows: Generator[Any, None, None] | None = None
    with one_blas_thread():
        try:
            with chosen, _unheard_interrupts() if ours else nullcontext():
                parallel = joblib.Parallel(
                    n_jobs=count,
                    prefer="threads" if here else "processes",
                    return_as="generator" if _streams(backend) else "list",
                    max_nbytes=None,  # items are small: no files of arrays beside them
                )
                results = parallel(call(item) for item in items)
                rows = (found for found in results) if isinstance(results, list) else results
            for found in rows:
                yield found if here else pickle.loads(found)  # noqa: S301 - our own task's
        except BrokenExecutor as error:
            raise _killed(error) from None
        finally:
            loop.end()
            if rows is not None:
                with suppress(_Enough):
                    rows.throw(_Enough())  # what has not begun is dropped, without a warning
            loop.wait()


def _shares_memory(backend: Any) -> bool:  # noqa: ANN401 - joblib ships no types
    return bool(getattr(backend, "supports_sharedmem", False))


def _streams(backend: Any | None) -> bool:  # noqa: ANN401
    """Tell whether results come as they are made; joblib's own backends here do."""
    return backend is None or bool(getattr(backend, "supports_return_generator", False))


class _Enough(BaseException):
    """Nobody waits for more results."""


class _Loop:
    """Whether results are still waited for, and how many items of a loop are at work here.

    What another process gets is a copy that is never told: that process is killed, or not heard.
    """

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._at_work = 0

    def __reduce__(self) -> tuple[type[_Loop], tuple[()]]:
        return _Loop, ()

    def going_on(self, _done: int, _total: int) -> None:
        """Stop the work that tells its progress once nobody waits for it."""
        if self._ended.is_set():
            raise CancelledError

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count an item."""
        with self._lock:
            self._at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1

    def end(self) -> None:
        """Say that nobody waits any more."""
        self._ended.set()

    def wait(self) -> None:
        """Wait until nothing is at work."""
        while self._at_work:
            time.sleep(_LOOK)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # Dask wants a hash
class _Task(Generic[Item, Found]):
    """The work on any item, wherever that is.

    `edition` is what another process must have installed, `parent` with which it is to end.
    """

    work: Callable[[Item, Progress], Found]
    loop: _Loop
    edition: Edition = field(default_factory=edition)
    parent: int | None = None

    def __call__(self, item: Item) -> Found:
        with self.loop.at_work(), one_blas_thread():
            self.loop.going_on(0, 1)
            return self.work(item, self.loop.going_on)

    def elsewhere(self, item: Item) -> bytes:
        """Do the work in another process; Dask's own way back would make arrays writable."""
        hold_to(self.edition)
        if self.parent is not None:
            _end_with(self.parent)
            try:
                Path.cwd()
            except FileNotFoundError:
                os.chdir("/")
        return pickle.dumps(self(item), protocol=5)


@functools.cache
def _end_with(parent: int) -> None:
    """Let this process end soon after its parent, even if that was killed and could not say so."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)  # seconds between two looks whether the parent lives
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="fairtrial-parent").start()


@contextmanager
def _unheard_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, as what is blocked is inherited; we end them."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or not hasattr(signal, "pthread_sigmask"):  # no Unix
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    for tracker in (loky_tracker, resource_tracker):  # the start of one unblocks the signal
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _killed(error: BrokenExecutor) -> AnalysisError:
    by = re.search(r"SIG[A-Z]+", str(error))
    how = f" by {by[0]}" if by else ""
    return AnalysisError(
        f"a worker process was killed{how} before it had answered, as happens where memory runs out",
        fix="take fewer workers, so that each has more memory: --workers 1 needs the least",
    )


class _BlasThreads:
    """How many loops want one thread of linear algebra: the first sets it, the last undoes it.

    The setting is the process's. If each of several threads kept what it found before, one of them
    would keep another's setting for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._modules = -1
        self._known: Any = None  # threadpoolctl's types are not read
        self._limit: Any = None

    def take(self) -> None:
        from threadpoolctl import ThreadpoolController

        with self._lock:
            self._wanted += 1
            if self._wanted > 1:
                return
            if len(sys.modules) != self._modules:  # only what has been imported can be limited
                self._known, self._modules = ThreadpoolController(), len(sys.modules)
            self._limit = self._known.limit(limits=1, user_api="blas")

    def give_back(self) -> None:
        with self._lock:
            self._wanted -= 1
            if not self._wanted:
                self._limit.restore_original_limits()


_BLAS = _BlasThreads()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let linear algebra have one thread in this process."""
    _BLAS.take()
    try:
        yield
    finally:
        _BLAS.give_back()
