"""The one loop: results in order wherever the work is done, progress, an early end, killed workers.

Authority: a plain loop over the items; joblib's own account of what a backend is.
"""

from __future__ import annotations

import os
import pickle
import runpy
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pytest

import analysis
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.stats import workers
from analysis.stats.workers import Budget, Progress, at_once, available_cores, in_order


def two(prefer: str) -> joblib.parallel_config:
    """Two of a kind at once: without it, processes wait until they are worth their start."""
    backend = {"threads": "threading", "processes": "loky"}[prefer]
    return joblib.parallel_config(backend=backend, n_jobs=2)


PROJECT = Path(__file__).resolve().parents[4]
processes = SimpleNamespace(**runpy.run_path(str(PROJECT / "tests" / "processes.py")))


def late_first(item: int, _going_on: Progress) -> int:
    time.sleep(0.05 if item == 0 else 0)
    return item * item


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_results_come_in_the_items_order(threads: int) -> None:
    rows = in_order(late_first, range(6), workers=threads, prefer="threads")
    assert list(rows) == [0, 1, 4, 9, 16, 25]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_whoever_calls_says_where(backend: str) -> None:
    def where(item: int, _going_on: Progress) -> tuple[int, int]:
        return item, os.getpid()

    with joblib.parallel_config(backend=backend, n_jobs=2):
        rows = list(in_order(where, range(6), workers=None, prefer="processes"))
    assert [item for item, _ in rows] == list(range(6))
    elsewhere = {pid for _, pid in rows} - {os.getpid()}
    assert bool(elsewhere) == (backend != "threading")


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_one_seed_gives_the_same_bits_with_one_worker_and_with_two(backend: str) -> None:
    runs = np.random.default_rng(7).lognormal(0, 0.05, (2, 20))
    population = analysis.PerformanceMatrix.from_samples(
        "p", {"a": runs[0], "b": runs[1]}, better="lower"
    )

    def found(seed: int = 1, **where: Any) -> list[Any]:
        study = analysis.type1_study(
            population, simulations=6, resamples=29, rng=np.random.default_rng(seed), **where
        )
        rows = analysis.fit_corpus(
            {"x": runs[0], "y": runs[1]}, resamples=3, rng=np.random.default_rng(seed), **where
        )
        return [study.to_dict(), *(row.to_dict() for row in rows)]

    alone = found(workers=1)
    assert found(workers=2) == alone
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert found() == alone
    assert found(seed=2, workers=1) != alone


def test_one_worker_is_a_plain_loop_whatever_is_around() -> None:
    here: list[int] = []
    with joblib.parallel_config(backend="loky", n_jobs=2):
        rows = in_order(lambda item, _: here.append(item), range(3), workers=1, prefer="processes")
        list(rows)
    assert here == [0, 1, 2]


def test_a_number_around_the_call_counts() -> None:
    assert at_once(None, "processes") == 1
    assert at_once(None, "threads") == available_cores()
    with joblib.parallel_config(n_jobs=3):
        assert at_once(None, "processes") == at_once(None, "threads") == 3
    with joblib.parallel_config(backend="threading", n_jobs=5):
        assert at_once(None, "processes") == 5
        assert at_once(4, "processes") == 4
    with joblib.parallel_config(backend="threading", n_jobs=-1):
        assert at_once(None, "threads") == joblib.cpu_count()


@pytest.mark.parametrize("count", [0, -1, 1025, 1.5, True])
def test_a_number_of_workers_that_is_none(count: Any) -> None:
    with pytest.raises(UsageError, match="workers must"):
        at_once(count, "threads")
    with pytest.raises(UsageError, match="workers must"):
        next(in_order(late_first, [1], workers=count, prefer="threads"))


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_to_do(workers: int) -> None:
    seen: list[int] = []
    rows = in_order(late_first, [], workers=workers, prefer="threads", look=seen.append)
    assert list(rows) == []
    assert seen == [0]


@pytest.mark.parametrize("workers", [1, 2])
def test_looks_come_from_here_and_only_grow(workers: int) -> None:
    seen: list[int] = []
    here: set[int] = set()

    def look(done: int) -> None:
        seen.append(done)
        here.add(threading.get_ident())

    list(in_order(late_first, range(5), workers=workers, prefer="threads", look=look))
    assert seen == [0, 1, 2, 3, 4, 5]
    assert all(a <= b for a, b in pairwise(seen))
    assert here == {threading.get_ident()}


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_starts_before_the_first_result_is_asked_for(workers: int) -> None:
    started: list[int] = []
    rows = in_order(
        lambda item, _: started.append(item), range(3), workers=workers, prefer="threads"
    )
    assert started == []
    with closing(rows):
        next(rows)
    assert started[0] == 0


def test_items_are_made_as_they_are_needed() -> None:
    made: list[int] = []

    def items() -> Any:
        for k in range(1000):
            made.append(k)
            yield k

    def slow(item: int, _going_on: Progress) -> int:
        time.sleep(0.01)
        return item

    with closing(in_order(slow, items(), workers=2, prefer="threads")) as rows:
        next(rows)
        assert len(made) < 100


def test_an_early_end_stops_what_tells_its_progress_and_drops_the_rest() -> None:
    begun: list[int] = []
    working: list[int] = []

    def endless(item: int, going_on: Progress) -> int:
        begun.append(item)
        working.append(item)
        try:
            while item:  # the first ends at once
                going_on(0, 1)
                time.sleep(0.001)
        finally:
            working.remove(item)
        return item

    with closing(in_order(endless, range(50), workers=2, prefer="threads")) as rows:
        assert next(rows) == 0
    processes.wait_until(lambda: not working, "none is at work")
    assert len(begun) < 50


def test_what_looks_may_end_it() -> None:
    class EnoughError(Exception):
        pass

    def look(done: int) -> None:
        if done == 2:
            raise EnoughError

    begun: list[int] = []
    rows = in_order(
        lambda item, _: begun.append(item), range(9_999), workers=2, prefer="threads", look=look
    )
    with pytest.raises(EnoughError):
        list(rows)
    assert len(begun) < 9_999


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_that_of_its_item(workers: int) -> None:
    def fails(item: int, _going_on: Progress) -> int:
        if item == 2:
            raise ValueError("item 2")
        return item

    rows = in_order(fails, range(4), workers=workers, prefer="threads")
    with pytest.raises(ValueError, match="item 2"):
        list(rows)


def test_our_errors_come_back_from_other_processes_as_they_are() -> None:
    def fails(_item: int, _going_on: Progress) -> int:
        raise InsufficientDataError("too few", "here", "more", n=1, needed=3)

    with two("processes"), pytest.raises(InsufficientDataError) as caught:
        list(in_order(fails, range(2), workers=2, prefer="processes"))
    assert (caught.value.n, caught.value.needed) == (1, 3)
    assert str(caught.value) == "here: too few\n  fix: more"


def test_every_error_of_ours_survives_a_pickle() -> None:
    error = InsufficientDataError("too few", None, "more", n=1, needed=3)
    error.add_note("noted")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InsufficientDataError
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def test_a_killed_worker_is_told_in_words() -> None:
    def dies(item: int, _going_on: Progress) -> int:
        if item == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    with (
        two("processes"),
        pytest.raises(AnalysisError, match=r"was killed.*SIGKILL.*memory") as caught,
    ):
        list(in_order(dies, range(8), workers=2, prefer="processes"))
    assert "--workers 1" in str(caught.value)
    with two("processes"):  # and the next loop has workers again
        again = in_order(lambda item, _: item, range(4), workers=2, prefer="processes")
        assert list(again) == [0, 1, 2, 3]


def test_processes_wait_until_they_are_worth_their_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def where(item: int, _going_on: Progress) -> tuple[int, int]:
        return item, os.getpid()

    def places() -> list[int]:
        ready: list[int] = []
        rows = in_order(
            where, range(6), workers=2, prefer="processes", ready=lambda: ready.append(1)
        )
        found = list(rows)
        assert [item for item, _ in found] == list(range(6))
        assert not ready  # the first items have compiled what there is
        return [pid for _, pid in found]

    assert set(places()) == {os.getpid()}
    monkeypatch.setattr("analysis.stats.workers._PATIENCE", 0.0)
    first, *others = places()
    assert first == os.getpid()
    assert os.getpid() not in others


def test_arrays_stay_as_they_were_made() -> None:
    def made(item: int, _going_on: Progress) -> tuple[np.ndarray, np.ndarray]:
        fixed, free = np.full(3, item), np.full(3, item)
        fixed.flags.writeable = False
        return fixed, free

    with two("processes"):
        for fixed, free in in_order(made, range(2), workers=2, prefer="processes"):
            assert not fixed.flags.writeable
            assert free.flags.writeable


def test_what_is_compiled_is_compiled_here_and_only_for_other_processes() -> None:
    ready: list[int] = []
    for prefer in ("threads", "processes"):
        with two(prefer):
            rows = in_order(
                lambda item, _: item,
                range(2),
                workers=2,
                prefer="threads",
                ready=lambda: ready.append(os.getpid()),
            )
            list(rows)
    assert ready == [os.getpid()]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("prefer", ["threads", "processes"])
def test_linear_algebra_has_one_thread_meanwhile(
    workers: int, prefer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from threadpoolctl import threadpool_limits

    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)  # of tests, in all other cases

    def threads(_item: int, _going_on: Progress) -> list[int]:
        from threadpoolctl import threadpool_info

        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before = threads(0, lambda _done, _total: None)
        assert set(before) == {2}
        with two(prefer):
            for found in in_order(threads, range(8), workers=workers, prefer=prefer):
                assert found
                assert set(found) == {1}
        assert threads(0, lambda _done, _total: None) == before


SLEEPERS = """
import sys, time
import joblib
from analysis.stats.workers import in_order

def sleeps(item, going_on):
    while item:
        going_on(0, 1)
        time.sleep(0.01)
    return item

print("begun", flush=True)
with joblib.parallel_config(backend=sys.argv[1], n_jobs=2):
    for found in in_order(sleeps, range(9), workers=2, prefer="processes"):
        print("at work", flush=True)
"""


@pytest.mark.parametrize(
    ("backend", "how"),
    [("threading", signal.SIGINT), ("loky", signal.SIGINT), ("loky", signal.SIGKILL)],
)
def test_no_worker_outlives_its_parent(backend: str, how: signal.Signals, tmp_path: Path) -> None:
    # as a terminal does, the signal of Ctrl-C goes to every process of the group
    script = tmp_path / "sleepers.py"
    script.write_text(SLEEPERS)
    child = subprocess.Popen(
        [sys.executable, script, backend],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=PROJECT,
        start_new_session=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "begun\n"
    assert child.stdout.readline() == "at work\n"
    if how == signal.SIGINT:
        os.killpg(child.pid, how)
    else:
        child.kill()
    _, said = child.communicate(timeout=60)  # ends when the last process has closed the streams
    assert child.returncode == -how
    if how == signal.SIGINT:
        assert said.count("KeyboardInterrupt") == 1  # Python's own, of the parent
    processes.wait_until(lambda: not processes.group_lives(child.pid), "none is left")


def test_cores_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available_cores() >= 1
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert available_cores() == 1


# --- Small work needs no compiled kernels, and much work takes them


ROOT = Path(__file__).parents[4]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"
HEAVY = {"numba", "llvmlite", "scipy.stats", "matplotlib"}
PUT_OFF = {"numpy.f2py.crackfortran", "numpy.testing._private.utils"}
PROBE = """
import sys
{first}
sys.argv = ["fairtrial", *sys.argv[1:]]
from harness.cli import console
try:
    console()
except SystemExit as end:
    code = end.code
print(code or 0, *sys.modules, file=sys.stderr)
"""


def loaded(*arguments: str, first: str = "") -> set[str]:
    command = [sys.executable, "-c", PROBE.format(first=first), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    code, *modules = done.stderr.splitlines()[-1].split()
    assert code == "0"
    return set(modules)


def test_the_report_of_the_sample_loads_neither_compiler_nor_all_of_statistics(tmp_path):
    modules = loaded("report", str(SAMPLE), "-o", str(tmp_path / "report.html"))
    assert not (HEAVY | PUT_OFF) & modules
    assert "scipy.special" in modules  # the list is that of a process which judged


def test_a_budget_is_spent_once():
    budget = Budget(10)
    assert [budget.allows(work) for work in (4, 6, 1, 0)] == [True, True, False, False]


def test_more_is_spent_where_a_kernel_would_have_to_be_compiled(monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "cache", lambda: workers.Cache(folder=tmp_path))
    budget = Budget(10, 20, "fit")
    assert [budget.allows(work) for work in (4, 6, 10, 1)] == [True, True, True, False]
    (tmp_path / "fit-0f").touch()
    assert [Budget(10, 20, "fit").allows(work) for work in (10, 11)] == [True, False]


def test_what_was_put_off_comes_when_it_is_used():
    use = (
        "import analysis.stats.samples, numpy\n"
        "numpy.f2py.crackfortran\n"
        "from numpy.testing import assert_equal\n"
        "assert_equal(1, 1)"
    )
    assert loaded("--version", first=use) >= PUT_OFF
