"""Work on several threads, its results in order: kernels run without the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

__all__ = ["Progress", "available_cores", "in_order"]

Item = TypeVar("Item")
Found = TypeVar("Found")
Progress = Callable[[int, int], object]

_LOOK = 0.2  # seconds between two looks at how many are done


def available_cores() -> int:
    """Give the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def in_order(
    work: Callable[[Item, Progress], Found],
    items: Sequence[Item],
    *,
    threads: int,
    look: Callable[[int, int], object] | None = None,
) -> Generator[Found, None, None]:
    """Do the same work on many items, several at the same time; give the results in their order.

    Work starts with the first result that is asked for. Ending the iteration early (or Ctrl-C) stops
    what is at work as soon as it tells its progress, and drops what has not begun.

    Parameters
    ----------
    work : callable
        From an item, and what to tell the progress inside it (which raises once nobody waits for the
        result), to its result.
    items : sequence
        Known before the work starts.
    threads : int
        Items at work at the same time.
    look : callable, optional
        Called from the caller's thread, before the wait for each result, now and then meanwhile, and
        at the end, with the place of that result and the number of items done.
    """
    ended = Event()
    done: list[None] = []
    tell = look if look is not None else lambda _place, _done: None

    def going_on(_done: int, _total: int) -> None:
        if ended.is_set():
            raise CancelledError

    pool = ThreadPoolExecutor(threads)
    try:
        rows: list[Future[Found]] = []
        for item in items:
            row = pool.submit(work, item, going_on)
            row.add_done_callback(lambda _: done.append(None))
            rows.append(row)
        for place, row in enumerate(rows):
            tell(place, len(done))
            while not row.done():
                wait([row], timeout=_LOOK)
                tell(place, len(done))
            yield row.result()
        tell(len(items), len(items))
    finally:
        # after Ctrl-C only the portions at work are waited for
        ended.set()
        pool.shutdown(cancel_futures=True)
