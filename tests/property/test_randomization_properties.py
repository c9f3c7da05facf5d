"""What must hold for the randomization test on any data: symmetry, order, scale, labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.resampling.randomization import RandomizationTest, randomization_test
from tests.examples import examples

# Few distinct values, so that ties are common; powers of two scale without rounding.
VALUES = st.integers(min_value=1, max_value=9).map(float)
MEAN = st.sampled_from(["geometric", "harmonic", "arithmetic"])
CENTRE = st.sampled_from(["runs", "mean", "median"])
UNIT = st.sampled_from(["run", "block"])
Suite = tuple[PerformanceMatrix, PerformanceMatrix]


@st.composite
def suites(draw: st.DrawFn) -> Suite:
    """Draw ragged suites whose rounds hold one variant or both, some of them incomplete."""
    better = draw(st.sampled_from(["lower", "higher"]))
    n = draw(st.integers(1, 3))
    sides = []
    for name, first in (("x", 0), ("y", draw(st.integers(0, 4)))):
        rows = {f"b{k}": draw(st.lists(VALUES, min_size=1, max_size=4)) for k in range(n)}
        ids = {
            bench: draw(
                st.lists(st.integers(first, first + 3), min_size=len(row), max_size=len(row))
            )
            for bench, row in rows.items()
        }
        sides.append(PerformanceMatrix.from_samples(name, rows, better=better, blocks=ids))
    return sides[0], sides[1]


def result_of(x: PerformanceMatrix, y: PerformanceMatrix, **options: object) -> RandomizationTest:
    options = {"resamples": 300, "rng": np.random.default_rng(1)} | options
    return randomization_test(x, y, **options)


def remade(matrix: PerformanceMatrix, change, ids=lambda row: row, **fields) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(
        matrix.name,
        {b: change(v) for b, v in zip(matrix.benchmarks, matrix.samples, strict=True)},
        better=fields.get("better", matrix.better),
        blocks={b: ids(v) for b, v in zip(matrix.benchmarks, matrix.blocks, strict=True)},
    )


@settings(deadline=None, max_examples=examples(40))
@given(suites(), MEAN, CENTRE, UNIT)
def test_what_a_result_always_is(suite: Suite, mean: str, centre: str, unit: str) -> None:
    x, y = suite
    result = result_of(x, y, mean=mean, centre=centre, unit=unit)
    assert 0 < result.pvalue <= 1
    assert result.pvalue >= result.smallest_pvalue * (1 - 1e-12)
    assert result.resamples == len(result.null)
    assert result.pvalue_candidate + result.pvalue_baseline >= 1
    if result.exact:
        # the observed labels are one of the assignments
        assert np.isclose(result.null, result.ratio, rtol=1e-12).any()
        assert result.assignments == result.resamples
        assert result.pvalue_candidate * result.resamples == pytest.approx(
            round(result.pvalue_candidate * result.resamples)
        )


@settings(deadline=None, max_examples=examples(40))
@given(suites(), MEAN, CENTRE, UNIT)
def test_swapping_the_sides_swaps_the_exact_result(
    suite: Suite, mean: str, centre: str, unit: str
) -> None:
    x, y = suite
    there, back = (
        result_of(*pair, mean=mean, centre=centre, unit=unit) for pair in ((x, y), (y, x))
    )
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.log10_assignments == pytest.approx(there.log10_assignments)
    if there.exact:
        assert back.pvalue == there.pvalue
        assert back.pvalue_candidate == there.pvalue_baseline
        np.testing.assert_allclose(np.sort(back.null), np.sort(1 / there.null), rtol=1e-12)


@settings(deadline=None, max_examples=examples(40))
@given(suites(), MEAN, CENTRE, UNIT, st.sampled_from([2.0**-20, 0.25, 2.0**30]))
def test_a_common_factor_changes_nothing(
    suite: Suite, mean: str, centre: str, unit: str, factor: float
) -> None:
    plain = result_of(*suite, mean=mean, centre=centre, unit=unit)
    scaled = result_of(
        *(remade(m, lambda v: v * factor) for m in suite), mean=mean, centre=centre, unit=unit
    )
    assert scaled.pvalue == plain.pvalue
    np.testing.assert_allclose(scaled.null, plain.null, rtol=1e-12)


@settings(deadline=None, max_examples=examples(25))
@given(suites(), UNIT)
def test_reciprocals_of_times_are_rates(suite: Suite, unit: str) -> None:
    # the geometric mean and the two others as each other's mirror
    flipped = [
        remade(m, lambda v: 1 / v, better="higher" if m.better == "lower" else "lower")
        for m in suite
    ]
    for mean, mirror in (("geometric", "geometric"), ("harmonic", "arithmetic")):
        one = result_of(*suite, mean=mean, unit=unit)
        other = result_of(*flipped, mean=mirror, unit=unit)
        assert other.ratio == pytest.approx(one.ratio, rel=1e-12)
        if one.exact:  # random splits of the values in ascending order are others
            assert other.pvalue == one.pvalue


@settings(deadline=None, max_examples=examples(25))
@given(suites(), MEAN, CENTRE, UNIT)
def test_names_of_rounds_do_not_matter(suite: Suite, mean: str, centre: str, unit: str) -> None:
    plain = result_of(*suite, mean=mean, centre=centre, unit=unit)
    # the same order of the ids, so even random assignments are the same
    named = result_of(
        *(remade(m, lambda v: v, lambda ids: [f"r{k:03}" for k in ids]) for m in suite),
        mean=mean,
        centre=centre,
        unit=unit,
    )
    assert named.pvalue == plain.pvalue
    assert np.array_equal(named.null, plain.null)


@settings(deadline=None, max_examples=examples(40))
@given(suites(), MEAN, CENTRE, UNIT, st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(
    suite: Suite, mean: str, centre: str, unit: str, random
) -> None:
    x, y = suite
    orders = [random.sample(range(len(row)), len(row)) for row in x.samples]
    shuffled = PerformanceMatrix.from_samples(
        x.name,
        {b: v[o] for b, v, o in zip(x.benchmarks, x.samples, orders, strict=True)},
        better=x.better,
        blocks={b: v[o] for b, v, o in zip(x.benchmarks, x.blocks, orders, strict=True)},
    )
    plain, other = (result_of(m, y, mean=mean, centre=centre, unit=unit) for m in (x, shuffled))
    assert other.exact == plain.exact
    if plain.exact:
        assert other.pvalue == plain.pvalue
