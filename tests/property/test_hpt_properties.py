"""What must hold for HPT on any data: symmetry, order, scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.speedup import HptSpeedup, hpt_speedup
from tests.examples import examples

# Few distinct values, so that ties are common; powers of two scale without rounding.
VALUES = st.integers(min_value=1, max_value=12).map(float)


@st.composite
def suites(draw: st.DrawFn) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    n = draw(st.integers(1, 7))
    better = draw(st.sampled_from(["lower", "higher"]))
    sides = []
    for name in ("x", "y"):
        rows = {f"b{k}": draw(st.lists(VALUES, min_size=1, max_size=6)) for k in range(n)}
        sides.append(PerformanceMatrix.from_samples(name, rows, better=better))
    return sides[0], sides[1]


def remade(matrix: PerformanceMatrix, rows: dict[str, object]) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(matrix.name, rows, better=matrix.better)


def numbers(result: object) -> tuple[object, ...]:
    return (
        result.rank_sum_candidate,
        result.rank_sum_baseline,
        result.pvalue,
        result.pvalue_baseline,
        result.outcome,
        sorted((row.name, row.winner, row.rank) for row in result.benchmarks),
    )


@settings(deadline=None, max_examples=examples(60))
@given(suites(), st.sampled_from(["table", "exact"]))
def test_swapping_the_sides_swaps_the_result(suite: tuple, ties: str) -> None:
    x, y = suite
    # Raw scores, because ratios refer to the baseline.
    there = hpt(x, y, ties=ties, scores="raw")
    back = hpt(y, x, ties=ties, scores="raw")
    swap = {"candidate": "baseline", "baseline": "candidate"}
    assert back.pvalue == there.pvalue_baseline
    assert back.pvalue_baseline == there.pvalue
    assert back.rank_sum_candidate == there.rank_sum_baseline
    assert back.outcome == swap.get(there.outcome, "undecided")
    for one, other in zip(there.benchmarks, back.benchmarks, strict=True):
        assert other.winner == swap.get(one.winner, "tie")
        assert other.difference == -one.difference
        assert other.rank == one.rank


@settings(deadline=None, max_examples=examples(60))
@given(suites(), st.randoms(use_true_random=False))
def test_order_of_runs_and_benchmarks_does_not_matter(suite: tuple, random: object) -> None:
    shuffled = []
    for matrix in suite:
        names = list(matrix.benchmarks)
        random.shuffle(names)
        rows = {}
        for name in names:
            runs = matrix.values(name).tolist()
            random.shuffle(runs)
            rows[name] = runs
        shuffled.append(remade(matrix, rows))
    assert numbers(hpt(*shuffled)) == numbers(hpt(*suite))


@settings(deadline=None, max_examples=examples(60))
@given(suites(), st.sampled_from([0.25, 8.0]), st.sampled_from(["raw", "ratio", "log-ratio"]))
def test_scaling_both_sides_changes_nothing(suite: tuple, scale: float, scores: str) -> None:
    scaled = [remade(m, {b: m.values(b) * scale for b in m.benchmarks}) for m in suite]
    assert numbers(hpt(*scaled, scores=scores)) == numbers(hpt(*suite, scores=scores))


@settings(deadline=None, max_examples=examples(60))
@given(suites(), st.sampled_from([0.5, 2.0]))
def test_the_speedup_is_a_scale_of_the_candidate(suite: tuple, speedup: float) -> None:
    x, y = suite
    factor = 1 / speedup if x.better == "higher" else speedup
    virtual = remade(x, {b: x.values(b) * factor for b in x.benchmarks})
    assert numbers(hpt(x, y, speedup=speedup)) == numbers(hpt(virtual, y))


@settings(deadline=None, max_examples=examples(60))
@given(suites())
def test_winners_are_unmoved_by_a_monotone_transform_of_one_benchmark(suite: tuple) -> None:
    squared = [
        remade(m, {b: m.values(b) ** (2 if b == "b0" else 1) for b in m.benchmarks}) for m in suite
    ]
    for one, other in zip(hpt(*suite).benchmarks, hpt(*squared).benchmarks, strict=True):
        skipped = one.runs_candidate == one.runs_baseline == 1
        assert one.winner == other.winner or skipped
        assert one.rank_sum_candidate == other.rank_sum_candidate


@settings(deadline=None, max_examples=examples(60))
@given(suites(), st.sampled_from(["table", "exact"]))
def test_sums_and_chances_keep_their_bounds(suite: tuple, ties: str) -> None:
    result = hpt(*suite, ties=ties)
    n = len(result.benchmarks)
    assert result.rank_sum_candidate + result.rank_sum_baseline == n * (n + 1) / 2
    assert 0 < result.pvalue <= 1
    assert result.pvalue + result.pvalue_baseline >= 1 - 1e-12
    assert result.confidence <= result.most + 1e-12
    for row in result.benchmarks:
        total = row.runs_candidate + row.runs_baseline
        assert row.rank_sum_candidate + row.rank_sum_baseline == total * (total + 1) / 2


def test_ratio_scores_do_not_depend_on_a_benchmark_s_unit() -> None:
    rng = np.random.default_rng(31)
    x = {f"b{k}": rng.uniform(1, 2, 5) for k in range(8)}
    y = {f"b{k}": rng.uniform(1.2, 2.4, 5) for k in range(8)}
    sides = [PerformanceMatrix.from_samples(n, m, better="lower") for n, m in (("x", x), ("y", y))]
    other = [
        remade(m, {b: v * (1024.0 if b == "b1" else 1.0) for b, v in rows.items()})
        for m, rows in zip(sides, (x, y), strict=True)
    ]
    assert numbers(hpt(*other)) == numbers(hpt(*sides))
    raw = [numbers(hpt(*pair, scores="raw")) for pair in (sides, other)]
    assert raw[0] != raw[1]  # the negative control: raw differences do depend on it


@pytest.mark.parametrize("seed", range(3))
def test_confidence_falls_with_the_speedup_on_unimodal_runs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = {f"b{k}": rng.lognormal(0.3, 0.02, 7) for k in range(10)}
    y = {f"b{k}": rng.lognormal(0.0, 0.02, 7) for k in range(10)}
    sides = [PerformanceMatrix.from_samples(n, m, better="higher") for n, m in (("x", x), ("y", y))]
    curve = [hpt(*sides, speedup=g).confidence for g in np.arange(1.0, 1.8, 0.01)]
    assert curve == sorted(curve, reverse=True)
    assert curve[0] > 0.99
    assert curve[-1] < 0.01


# --- `hpt` is the definition of every step of the r-Speedup's curve


NEAR = 1e-9  # more than the tolerance of ties, less than what separates the breakpoints here
# The exact law changes where two differences of one sign are equal too: lines that may be nearly parallel.
NEAR_OF = {"table": NEAR, "exact": 1e-5}
Pair = tuple[PerformanceMatrix, PerformanceMatrix]


@st.composite
def hpt_speedup_properties_suites(draw: st.DrawFn) -> Pair:
    n = draw(st.integers(1, 7))
    better = draw(st.sampled_from(["lower", "higher"]))
    kind = draw(st.sampled_from(["coarse", "smooth", "bimodal"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    most = draw(st.sampled_from([1, 5, 14]))
    sides = []
    for name in ("x", "y"):
        rows = {}
        for k in range(n):
            m = int(rng.integers(1, most + 1))
            if kind == "coarse":
                rows[f"b{k}"] = rng.integers(1, 12, m).astype(float)
            elif kind == "smooth":
                rows[f"b{k}"] = rng.lognormal(0, 0.4, m)
            else:
                rows[f"b{k}"] = rng.choice([1.0, 1.5], m) * rng.lognormal(0, 0.02, m)
        sides.append(PerformanceMatrix.from_samples(name, rows, better=better))
    return sides[0], sides[1]


def near_of(pair: Pair, ties: str) -> float:
    """Give a distance from a breakpoint at which hpt() no longer takes it for met."""
    ours, theirs = (np.array([np.median(one.values(b)) for b in one.benchmarks]) for one in pair)
    for slopes in (ours, ours / theirs) if ties == "exact" else ():
        apart = np.diff(np.log(np.sort(slopes)))
        assume(bool(((apart < 1e-13) | (apart > 1e-4)).all()))
    return NEAR_OF[ties]


LEVELS = st.sampled_from([0.55, 0.6, 0.75, 0.9, 0.95])
TIES = st.sampled_from(["table", "exact"])
SCORES = st.sampled_from(["auto", "raw", "ratio", "log-ratio"])


@settings(deadline=None, max_examples=examples(30))
@given(hpt_speedup_properties_suites(), TIES, SCORES)
def test_hpt_agrees_at_below_and_above_every_breakpoint(pair: Pair, ties: str, scores: str) -> None:
    curve = hpt_speedup(*pair, ties=ties, scores=scores).curve
    near = near_of(pair, ties)

    def at(g: float) -> float:
        return hpt(*pair, speedup=g, ties=ties, scores=scores).confidence

    g = curve.speedups
    crowded = np.diff(g) < 100 * near * g[1:]
    for k in np.flatnonzero(~np.concatenate(([False], crowded)))[: g.size]:
        found = [at(g[k] * (1 - near)), at(g[k]), at(g[k] * (1 + near))]
        want = [curve.between[k], curve.at[k], curve.between[k + 1]]
        if k + 1 < g.size and crowded[k]:
            found, want = found[:2], want[:2]
        assert found == pytest.approx(want, abs=1e-12)
    for x in (0.2, 0.71, 1.0, 1.33, 6.1):
        assert at(x) == pytest.approx(curve.confidence(x), abs=1e-12)


@settings(deadline=None, max_examples=examples(40))
@given(hpt_speedup_properties_suites(), TIES, LEVELS)
def test_nothing_beyond_the_supremum_reaches_the_level(pair: Pair, ties: str, r: float) -> None:
    result = hpt_speedup(*pair, ties=ties, confidence=r)
    if result.value is None:
        reached = hpt(*pair, speedup=1e-3, ties=ties).confidence
        assert reached < r  # the smallest speedups are where most is possible
        return
    assert result.attained_confidence >= r - 1e-12
    near = near_of(pair, ties)
    inside = result.value if result.attained_at_value else result.value * (1 - near)
    assert hpt(*pair, speedup=inside, ties=ties).confidence == pytest.approx(
        result.attained_confidence, abs=1e-12
    )
    for beyond in (1 + near, 1.001, 1.1, 2.0, 10.0):
        assert hpt(*pair, speedup=result.value * beyond, ties=ties).confidence < r
    assert result.first_failure <= result.value * (1 + 1e-12)


def near(one: HptSpeedup, other: HptSpeedup, scale: float = 1.0) -> bool:
    if one.value is None or other.value is None:
        return one.value is other.value
    return (
        one.value == pytest.approx(other.value * scale, rel=1e-12)
        and one.attained_confidence == other.attained_confidence
    )


@settings(deadline=None, max_examples=examples(40))
@given(hpt_speedup_properties_suites(), st.sampled_from([0.5, 4.0]), LEVELS)
def test_scale_of_one_side_is_a_factor_of_the_speedup(pair: Pair, c: float, r: float) -> None:
    x, y = pair
    scaled = PerformanceMatrix.from_samples(
        "x", {b: x.values(b) * c for b in x.benchmarks}, better=x.better
    )
    both = PerformanceMatrix.from_samples(
        "y", {b: y.values(b) * c for b in y.benchmarks}, better=y.better
    )
    plain = hpt_speedup(x, y, confidence=r)
    factor = c if x.better == "higher" else 1 / c
    assert near(hpt_speedup(scaled, y, confidence=r), plain, factor)
    assert near(hpt_speedup(scaled, both, confidence=r), plain)


@settings(deadline=None, max_examples=examples(40))
@given(hpt_speedup_properties_suites(), st.randoms(use_true_random=False), LEVELS)
def test_order_of_runs_and_benchmarks_does_not_matter_hpt_speedup_properties(
    pair: Pair, random: object, r: float
) -> None:
    shuffled = []
    for matrix in pair:
        names = list(matrix.benchmarks)
        random.shuffle(names)
        rows = {}
        for name in names:
            rows[name] = matrix.values(name).tolist()
            random.shuffle(rows[name])
        shuffled.append(PerformanceMatrix.from_samples(matrix.name, rows, better=matrix.better))
    assert near(hpt_speedup(*shuffled, confidence=r), hpt_speedup(*pair, confidence=r))


@settings(deadline=None, max_examples=examples(40))
@given(hpt_speedup_properties_suites())
def test_the_baseline_s_claim_mirrors_the_candidate_s(pair: Pair) -> None:
    # Log ratios and raw scores alike: where the sides swap, g becomes 1/g and wins become losses.
    x, y = pair
    there = hpt_speedup(x, y, scores="log-ratio", ties="exact").curve
    back = hpt_speedup(y, x, scores="log-ratio", ties="exact")
    value = back.curve.supremum(0.9)
    if value is not None and value[2]:
        mirrored = hpt(x, y, speedup=1 / value[0], scores="log-ratio", ties="exact")
        assert 1 - mirrored.pvalue_baseline == pytest.approx(value[1], abs=1e-12)
        assert there.confidence(1 / value[0]) == pytest.approx(mirrored.confidence, abs=1e-12)
