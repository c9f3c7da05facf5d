"""What the bootstrap intervals cover, by simulation with fixed seeds.

"Published" are the shares of an independent program in this project's survey of analysis tools:
12 benchmarks, lognormal noise, nominal 0.95, 4,000 suites (2,000 at 30 runs). The shipped table
(2,000 suites a cell, `make_coverage_table.py`) must agree with it, and fresh suites with the table.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.resampling.assignments import known_coverage
from analysis.methods.resampling.bootstrap import bootstrap_speedup

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

spec = importlib.util.spec_from_file_location(
    "make_coverage_table", Path(__file__).with_name("make_coverage_table.py")
)
assert spec is not None
assert spec.loader is not None
table = importlib.util.module_from_spec(spec)
spec.loader.exec_module(table)

RUNS = (3, 5, 10, 30)
PUBLISHED = {
    ("percentile", "homo"): (0.887, 0.925, 0.935, 0.940),
    ("percentile", "het"): (0.861, 0.907, 0.927, 0.948),
    ("bca", "homo"): (0.885, 0.923, 0.935, 0.940),
    ("bca", "het"): (0.856, 0.907, 0.928, 0.947),
    ("corrected", "homo"): (0.944, 0.951, 0.948, 0.943),
    ("corrected", "het"): (0.922, 0.940, 0.944, 0.952),
    ("studentized", "homo"): (0.960, 0.954, 0.950, 0.942),
    ("studentized", "het"): (0.957, 0.953, 0.948, 0.950),
}
MEDIANS = {"homo": (0.984, 0.992, 0.978, 0.967), "het": (0.969, 0.986, 0.979, 0.974)}


def agrees(share: float, suites: int, published: float, of: int) -> bool:
    """Compare two simulated shares within 4 standard errors of their difference."""
    p = (share * suites + published * of) / (suites + of)
    return abs(share - published) <= 4 * math.sqrt(p * (1 - p) * (1 / suites + 1 / of)) + 1 / suites


def in_table(kind: str, noise: str, m: int, n: int = 12, design: str = "runs") -> tuple[float, int]:
    known = known_coverage(
        kind,
        centre="runs",
        design=design,
        benchmarks=n,
        runs=m,
        confidence=0.95,
        two_sided=True,
    )
    assert known is not None
    assert (known.benchmarks, known.runs) == (n, m)
    return dict(known.others)[noise], known.suites


def covered(
    suites: int,
    seed: int,
    make: Callable[[np.random.Generator], tuple[PerformanceMatrix, PerformanceMatrix]],
    truth: float = 1.0,
    **kwargs: object,
) -> float:
    """Give the share of suites whose interval holds the truth, by the public function."""
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(suites):
        found = bootstrap_speedup(*make(rng), resamples=500, rng=rng, **kwargs)
        hits += found.low <= truth <= found.high
    return hits / suites


@spot_check
@pytest.mark.parametrize(("kind", "noise"), PUBLISHED)
def test_the_table_agrees_with_the_survey(kind: str, noise: str) -> None:
    for m, published in zip(RUNS, PUBLISHED[kind, noise], strict=True):
        share, suites = in_table(kind, noise, m)
        assert agrees(share, suites, published, 2000 if m == 30 else 4000)


@spot_check
def test_the_comparison_can_fail() -> None:
    # 3 runs: percentile is not the corrected one, and neither is nominal
    for kind, other in (("percentile", "corrected"), ("bca", "studentized")):
        share, suites = in_table(kind, "het", 3)
        assert not agrees(share, suites, PUBLISHED[other, "het"][0], 4000)
        assert not agrees(share, suites, 0.95, 4000)


@spot_check
@pytest.mark.parametrize("noise", ["homo", "het"])
def test_percentile_intervals_of_medians_are_wide(noise: str) -> None:
    for m, published in zip(RUNS, MEDIANS[noise], strict=True):
        known = known_coverage(
            "percentile",
            centre="median",
            design="runs",
            benchmarks=12,
            runs=m,
            confidence=0.95,
            two_sided=True,
        )
        assert known is not None
        share = dict(known.others)[noise]
        assert agrees(share, known.suites, published, 2000 if m == 30 else 4000)
        assert share > 0.95


@pytest.mark.parametrize(
    ("kind", "noise", "n", "m"),
    [
        pytest.param("percentile", "homo", 3, 5, marks=spot_check),
        *((kind, "homo", 3, 5) for kind in ("corrected", "bca", "studentized")),
        *((kind, "het", 12, 3) for kind in ("percentile", "corrected", "bca", "studentized")),
    ],
)
def test_fresh_suites_agree_with_the_table(kind: str, noise: str, n: int, m: int) -> None:
    share = covered(300, 99 + m, lambda rng: table.suite(rng, noise, n, m), interval=kind)
    assert agrees(share, 300, *in_table(kind, noise, m, n))


def test_fresh_rounds_agree_with_the_table() -> None:
    def rounds(rng: np.random.Generator) -> tuple[PerformanceMatrix, PerformanceMatrix]:
        # independent noise, rounds of both variants drawn as wholes: the suite moves as one
        return table.suite(rng, "homo", 6, 5, "pairs")

    share = covered(400, 5, rounds)
    assert agrees(share, 400, *in_table("percentile", "homo", 5, 1, "pairs"))


def pooled(a: PerformanceMatrix, b: PerformanceMatrix, rng: np.random.Generator) -> np.ndarray:
    """Draw from both sides together, as the text of section 4 says."""
    total = np.zeros(500)
    for x, y in zip(a.samples, b.samples, strict=True):
        drawn = rng.choice(np.log(np.concatenate([x, y])), (500, x.size + y.size))
        total += drawn[:, x.size :].mean(axis=1) - drawn[:, : x.size].mean(axis=1)
    return np.exp(total / len(a.samples))


@spot_check
def test_drawn_from_both_sides_together_the_truth_is_never_held() -> None:
    rng = np.random.default_rng(8)
    hits = ours = 0
    for _ in range(100):
        a, b = table.suite(rng, "het", 12, 10)
        names = b.benchmarks
        b = PerformanceMatrix.from_samples(
            "b", dict(zip(names, (1.2 * x for x in b.samples), strict=True)), better="lower"
        )
        low, high = np.quantile(pooled(a, b, rng), [0.025, 0.975])
        hits += low <= 1.2 <= high
        found = bootstrap_speedup(a, b, resamples=500, rng=rng)
        ours += found.low <= 1.2 <= found.high
    assert hits == 0
    assert not agrees(hits / 100, 100, PUBLISHED["percentile", "het"][2], 4000)
    assert agrees(ours / 100, 100, PUBLISHED["percentile", "het"][2], 4000)


@spot_check
@pytest.mark.parametrize(
    ("kind", "published"),
    [
        ("session", (0.571, 0.522, 0.428, 0.283)),
        ("benchmarks", (0.611, 0.572, 0.486, 0.318)),
    ],
)
def test_what_is_not_covered(kind: str, published: tuple[float, ...]) -> None:
    from analysis.methods.resampling.assignments import _table

    rows = [row for row in _table()["not_covered"] if row["kind"] == kind]
    for row, share, m in zip(rows, published, RUNS, strict=True):
        assert row["runs"] == m
        assert agrees(row["coverage"], row["suites"], share, 2000 if m == 30 else 4000)
        assert not agrees(row["coverage"], row["suites"], 0.9, 4000)


def two_level(
    rng: np.random.Generator, sessions: int, *, means: bool = False, shared: bool = False
) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    """12 benchmarks, 30 runs a side in sessions; a session shifts by 0.7 of the run noise.

    `means` gives the sessions' means as runs; `shared` sessions shift all benchmarks alike.
    """
    sd = table.spread("het", 12)[:, :, None]
    sides = []
    for side in range(2):
        shift = rng.normal(size=(1 if shared else 12, sessions, 1))
        logs = sd * (0.7 * shift + rng.normal(size=(12, sessions, 30 // sessions)))
        rows = np.exp(logs.mean(axis=2) if means else logs.reshape(12, 30))
        names = [f"b{i}" for i in range(12)]
        ids = np.repeat(np.arange(sessions), 30 // sessions) + side * sessions
        sides.append(
            PerformanceMatrix.from_samples(
                str(side),
                dict(zip(names, rows, strict=True)),
                better="lower",
                sessions=None if means else dict.fromkeys(names, ids),
            )
        )
    return sides[0], sides[1]


@pytest.mark.parametrize(
    ("sessions", "runs_pooled", "by_session"),
    [(3, 0.643, 0.853), (5, 0.766, 0.908), (10, 0.866, 0.928)],
)
def test_two_levels(sessions: int, runs_pooled: float, by_session: float) -> None:
    runs = covered(250, 21, lambda rng: two_level(rng, sessions), unit="run")
    assert agrees(runs, 250, runs_pooled, 4000)
    # sessions of each benchmark on its own, as the survey drew them: their means as runs
    own = covered(250, 22, lambda rng: two_level(rng, sessions, means=True))
    assert agrees(own, 250, by_session, 4000)
    assert not agrees(runs, 250, 0.95, 4000)


@pytest.mark.parametrize("shared", [False, True])
def test_whole_sessions_hold_what_they_should_whether_benchmarks_move_together_or_not(
    shared: bool,
) -> None:
    def make(rng: np.random.Generator) -> tuple[PerformanceMatrix, PerformanceMatrix]:
        return two_level(rng, 5, shared=shared)

    whole = covered(250, 23, make, unit="session")
    # whole units of either side are a suite of one benchmark
    assert agrees(whole, 250, *in_table("percentile", "homo", 5, 1, "units"))
    if shared:  # the negative control: single runs
        assert covered(250, 23, make, unit="run") < 0.5


def joint_sessions(rng: np.random.Generator) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    """3 benchmarks without difference, 5 rounds in each of 5 sessions that hold both variants.

    Each variant and benchmark has a shift of its own in each session, as large as the run noise.
    """
    names = [f"b{i}" for i in range(3)]
    sides = []
    for name in ("new", "old"):
        logs = 0.05 * (rng.normal(size=(3, 5, 1)) + rng.normal(size=(3, 5, 5)))
        sides.append(
            PerformanceMatrix.from_samples(
                name,
                dict(zip(names, np.exp(logs.reshape(3, 25)), strict=True)),
                better="lower",
                blocks=dict.fromkeys(names, np.tile(np.arange(5), 5)),
                sessions=dict.fromkeys(names, np.repeat(np.arange(5), 5)),
            )
        )
    return sides[0], sides[1]


def test_by_default_sessions_that_shift_are_drawn_as_wholes() -> None:
    # an independent program's shares of 600 suites: 0.943 by sessions, 0.667 of 150 by rounds
    share = covered(300, 31, joint_sessions, interval="studentized")
    assert agrees(share, 300, 0.943, 600)
    assert agrees(share, 300, *in_table("studentized", "homo", 5, 1, "pairs"))
    rounds = covered(150, 32, joint_sessions, interval="studentized", unit="block")
    assert agrees(rounds, 150, 0.667, 150)
    assert not agrees(rounds, 150, 0.943, 600)
