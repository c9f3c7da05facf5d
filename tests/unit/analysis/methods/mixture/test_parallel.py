"""Work on several threads: results in order, progress from the caller's thread, an early end."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from itertools import pairwise

import pytest

from analysis.methods.mixture.parallel import Progress, available_cores, in_order


def late_first(item: int, _going_on: Progress) -> int:
    time.sleep(0.05 if item == 0 else 0)
    return item * item


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_results_come_in_the_items_order(threads: int) -> None:
    assert list(in_order(late_first, range(6), threads=threads)) == [0, 1, 4, 9, 16, 25]


def test_nothing_to_do() -> None:
    seen = []
    assert list(in_order(late_first, [], threads=2, look=lambda *now: seen.append(now))) == []
    assert seen == [(0, 0)]


def test_looks_come_from_here_and_only_grow() -> None:
    seen: list[tuple[int, int]] = []
    here: set[int] = set()

    def look(place: int, done: int) -> None:
        seen.append((place, done))
        here.add(threading.get_ident())

    list(in_order(late_first, range(5), threads=2, look=look))
    assert {place for place, _ in seen} == {0, 1, 2, 3, 4, 5}
    assert seen[-1] == (5, 5)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(seen))
    assert here == {threading.get_ident()}


def test_nothing_starts_before_the_first_result_is_asked_for() -> None:
    started = []
    rows = in_order(lambda item, _: started.append(item), range(3), threads=1)
    assert started == []
    with closing(rows):
        next(rows)
    assert started[0] == 0


def test_an_early_end_stops_what_tells_its_progress_and_drops_the_rest() -> None:
    begun, before = [], threading.active_count()

    def endless(item: int, going_on: Progress) -> int:
        begun.append(item)
        while item:  # the first ends at once
            going_on(0, 1)
            time.sleep(0.001)
        return item

    with closing(in_order(endless, range(50), threads=2)) as rows:
        assert next(rows) == 0
    assert threading.active_count() == before
    assert len(begun) < 50


def test_an_error_is_that_of_its_item() -> None:
    def fails(item: int, _going_on: Progress) -> int:
        if item == 2:
            raise ValueError("item 2")
        return item

    rows = in_order(fails, range(4), threads=2)
    assert [next(rows), next(rows)] == [0, 1]
    with pytest.raises(ValueError, match="item 2"):
        next(rows)


def test_cores_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available_cores() >= 1
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert available_cores() == 1
