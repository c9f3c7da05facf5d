"""Models fitted side by side, each by one thread.

The booster's own threads wait for each other by spinning: on a machine that has anything else to do
they take ten times as long together as one does alone. So each model gets one thread, and there are
as many models at a time as CPUs. The numbers are then the same whatever the number of CPUs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["side_by_side"]

_MOST = 8  # at a time; each holds a copy of the table
_Item = TypeVar("_Item")
_Found = TypeVar("_Found")


def side_by_side(
    work: Callable[[_Item], _Found], items: Sequence[_Item], step: Callable[[], None]
) -> list[_Found]:
    """Give what `work` makes of each item, in their order; `step` is called after each.

    What `work` or `step` raises passes, when the work that has begun is done.
    """

    def alone(item: _Item) -> _Found:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1, user_api="openmp"):  # of this thread only
            return work(item)

    found = []
    with ThreadPoolExecutor(max_workers=min(_MOST, _cpus())) as pool:
        waiting = [pool.submit(alone, item) for item in items]
        try:
            for one in waiting:
                found.append(one.result())
                step()
        finally:
            for one in waiting:
                one.cancel()
    return found


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
