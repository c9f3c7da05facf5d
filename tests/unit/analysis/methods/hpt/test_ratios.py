"""Searched ratios against all of them, made and sorted: the same numbers, to the last bit."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.hpt import winners, winners as looking
from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.page import hpt_report
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.methods.hpt.winners import Lines, Ratios
from analysis.pages.result import plain
from tests.examples import examples

Pair = tuple[PerformanceMatrix, PerformanceMatrix]


@st.composite
def samples(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["coarse", "smooth", "neighbours", "far apart"]))
    sides = []
    for _ in range(2):
        size = draw(st.integers(1, 40))
        if kind == "coarse":
            x = rng.integers(1, 9, size) / 7
        elif kind == "smooth":
            x = rng.lognormal(0, 0.1, size)
        elif kind == "neighbours":  # a few units in the last place: dividing twice goes wrong here
            x = 1 + rng.integers(0, 6, size) * np.finfo(float).eps
        else:
            x = 10 ** rng.uniform(-140, 140, size)
        sides.append(x)
    return sides[0], sides[1]


@settings(deadline=None, max_examples=examples(300))
@given(samples(), st.booleans(), st.integers(1, 50))
def test_counts_places_and_windows_are_those_of_all_sorted_ratios(
    pair: tuple[np.ndarray, np.ndarray], negative: bool, few: int
) -> None:
    u, v = pair
    every = np.sort((u[:, None] / v[None, :]).ravel())
    ratios = Ratios.of(-u, -v) if negative else Ratios.of(u, v)
    assert (ratios.total, ratios.least, ratios.most) == (every.size, every[0], every[-1])
    for g in (*every[:: max(1, every.size // 9)], every[0] / 2, every[-1] * 2, float(every.mean())):
        assert ratios.upto(g) == np.count_nonzero(every <= g)
        assert ratios.below(g) == np.count_nonzero(every < g)
    for k in {0, every.size // 3, every.size // 2, every.size - 1}:
        # also where halving goes down to a handful of pairs
        one = ratios.window(lambda _, upto, k=k: upto > k, few=few)
        inside = every[one.before : one.before + int(one.counts.sum())]
        values, counts = np.unique(inside, return_counts=True)
        assert one.values.tolist() == values.tolist()
        assert one.counts.tolist() == counts.tolist()
        assert one.before <= k < one.before + inside.size
        assert ratios.smallest(k) == every[k]
        smaller, larger = every[every < values[0]], every[every > values[-1]]
        assert one.under == smaller.max(initial=0)
        assert one.over == larger.min(initial=np.inf)


def suite(seed: int, better: str, kind: str, *, runs: tuple[int, int] = (2, 30)) -> Pair:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(*runs, (4, 2))
    sides = []
    for k, name in enumerate("xy"):
        rows = {}
        for i, size in enumerate(sizes[:, k].tolist()):
            if kind == "coarse":
                rows[f"b{i}"] = rng.integers(90, 110 + k, size) / 7
            elif kind == "bimodal":
                rows[f"b{i}"] = rng.choice([1.0, 1.5], size) * rng.lognormal(0.05 * k, 0.02, size)
            else:
                rows[f"b{i}"] = rng.lognormal(0.1 * k, 0.2, size)
        sides.append(PerformanceMatrix.from_samples(name, rows, better=better))
    return sides[0], sides[1]


@pytest.mark.parametrize("kind", ["coarse", "smooth", "bimodal"])
@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize("scores", ["raw", "auto", "log-ratio"])
def test_curve_of_searched_ratios_is_that_of_made_ones(
    kind: str, better: str, scores: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [suite(seed, better, kind) for seed in range(2)]
    made = [plain(hpt_speedup(*pair, scores=scores).curve) for pair in pairs]
    monkeypatch.setattr(winners, "_CELLS", 0)  # one benchmark at a time
    assert [plain(hpt_speedup(*pair, scores=scores).curve) for pair in pairs] == made
    monkeypatch.setattr(winners, "MADE", 0)
    monkeypatch.setattr(winners, "_made", None)  # nothing is made any more
    assert [plain(hpt_speedup(*pair, scores=scores).curve) for pair in pairs] == made


@pytest.mark.parametrize("kind", ["coarse", "smooth", "bimodal"])
@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize("scores", ["raw", "auto"])
def test_given_ties_searched_ratios_give_the_curve_of_made_ones(
    kind: str, better: str, scores: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = suite(0, better, kind, runs=(41, 60))
    want = hpt_speedup(*pair, ties="exact", scores=scores).curve
    monkeypatch.setattr(looking, "MADE", 0)
    curve = hpt_speedup(*pair, ties="exact", scores=scores).curve
    # of ratios that are one but for rounding another one may be named
    np.testing.assert_allclose(curve.speedups, want.speedups, rtol=1e-10)
    assert curve.at.tolist() == want.at.tolist()
    assert curve.between.tolist() == want.between.tolist()


@pytest.mark.parametrize("ties", ["table", "exact"])
def test_curve_of_many_runs_is_that_of_hpt(ties: str) -> None:
    x, y = suite(4, "lower", "smooth", runs=(700, 900))
    curve = hpt_speedup(x, y, ties=ties).curve
    for k, g in enumerate(curve.speedups.tolist()):
        for near, want in ((-1e-9, curve.between[k]), (0, curve.at[k])):
            found = hpt(x, y, speedup=g * (1 + near), ties=ties).confidence
            assert found == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("ties", ["table", "exact"])
@pytest.mark.parametrize("clock", [None, 1e-4])
def test_memory_grows_with_the_runs_not_with_their_product(ties: str, clock: float | None) -> None:
    # Their 49 million ratios would take 390 MB.
    rng = np.random.default_rng(3)
    sides = []
    for name in "xy":
        values = rng.lognormal(0.0, 0.03, 7_000)
        if clock is not None:
            values = np.ceil(values / clock) * clock
        sides.append(PerformanceMatrix.from_samples(name, {"b": values}, better="lower"))
    tracemalloc.start()
    try:
        hpt_report(*sides, ties=ties)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 11e6


# ---


def test_medians_that_differ_by_rounding_are_equal_whatever_their_size() -> None:
    g = 1.3
    slope = np.array([1e-15, 1.0, 1e15, 1e15])
    lines = Lines(slope=slope, level=slope / g, kind="raw", negated=False)
    assert (slope * (1 / g) - lines.level)[2] != 0  # rounding, as large as a second
    assert not lines.differences(np.array([g])).any()
    # and what differs by more is told, however small it is
    at_2 = lines.differences(np.array([2.0]))[0]
    np.testing.assert_allclose(at_2 / slope, 1 / 2 - 1 / g)


def test_logarithms_that_differ_by_rounding_are_equal_in_absolute_terms() -> None:
    # relative to logarithms near 0, no rounding would be small
    level = np.array([1e-13, -1e-13, 1e-3])
    lines = Lines(slope=np.ones(3), level=level, kind="log-ratio", negated=False)
    assert lines.differences(np.array([1.0]))[0].tolist() == [0.0, 0.0, -1e-3]
