"""What must hold for HPT on any data: symmetry, order, scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.hpt.compare import hpt
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
