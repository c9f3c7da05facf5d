"""What must hold for the randomization test on any data: symmetry, order, scale, labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays
from scipy.integrate import trapezoid

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError
from analysis.methods.biplot import biplot
from analysis.methods.resampling.bootstrap import bootstrap_speedup
from analysis.methods.resampling.distribution import empirical_distribution
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


# --- What must hold for the bootstrap interval of any suite


KINDS = ("percentile", "corrected", "bca", "studentized")
MEANS = ("geometric", "harmonic", "arithmetic")
CENTRES = ("runs", "mean", "median")
Rows = dict[str, list[float]]

values = st.floats(0.5, 2.0, allow_nan=False)
samples = st.lists(values, min_size=2, max_size=7)


@st.composite
def bootstrap_properties_suites(draw: st.DrawFn) -> tuple[Rows, Rows]:
    names = [f"b{i}" for i in range(draw(st.integers(1, 4)))]
    return {b: draw(samples) for b in names}, {b: draw(samples) for b in names}


def interval(a: Rows, b: Rows, better: str = "lower", **kwargs: Any) -> Any:
    one, two = (
        PerformanceMatrix.from_samples(name, rows, better=better)
        for name, rows in (("a", a), ("b", b))
    )
    return bootstrap_speedup(one, two, resamples=200, rng=np.random.default_rng(3), **kwargs)


@settings(max_examples=examples(40), deadline=None)
@given(
    bootstrap_properties_suites(),
    st.sampled_from(KINDS),
    st.sampled_from(MEANS),
    st.sampled_from(CENTRES),
)
def test_ends_are_ordered_and_replicates_in_reach(
    rows: tuple[Rows, Rows], kind: str, mean: str, centre: str
) -> None:
    if kind == "studentized" and centre == "median":
        return
    try:
        found = interval(*rows, interval=kind, mean=mean, centre=centre)
    except AnalysisError as error:
        assert kind in ("bca", "studentized")
        assert error.fix  # noqa: PT017 - what the error says is under test
        return
    assert 0 < found.low <= found.high
    assert np.isfinite(found.replicates).all()
    if kind != "corrected":
        assert found.replicates.min() >= 0.25 - 1e-9
        assert found.replicates.max() <= 4 + 1e-9


@settings(max_examples=examples(25), deadline=None)
@given(bootstrap_properties_suites(), st.sampled_from(MEANS), st.randoms(use_true_random=False))
def test_the_order_of_benchmarks_does_not_matter(
    rows: tuple[Rows, Rows], mean: str, random: Any
) -> None:
    names = list(rows[0])
    random.shuffle(names)
    again = interval(*({b: side[b] for b in names} for side in rows), mean=mean)
    assert again.replicates == pytest.approx(interval(*rows, mean=mean).replicates, rel=1e-12)


@settings(max_examples=examples(25), deadline=None)
@given(bootstrap_properties_suites(), st.sampled_from(KINDS), st.sampled_from(CENTRES[:2]))
def test_reciprocal_values_exchange_the_harmonic_and_the_arithmetic_mean(
    rows: tuple[Rows, Rows], kind: str, centre: str
) -> None:
    turned = [{b: [1 / v for v in side[b]] for b in side} for side in rows]
    try:
        one = interval(*rows, interval=kind, mean="harmonic")
        other = interval(*turned, "higher", interval=kind, mean="arithmetic")
        plain = interval(*rows, interval=kind)
        mirrored = interval(*turned, "higher", interval=kind)
    except AnalysisError:
        return
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-8)
    assert (plain.low, plain.high) == pytest.approx((mirrored.low, mirrored.high), rel=1e-8)


@settings(max_examples=examples(25), deadline=None)
@given(
    bootstrap_properties_suites(),
    st.sampled_from(CENTRES),
    st.lists(st.floats(1e-6, 1e6), min_size=4, max_size=4),
)
def test_the_geometric_mean_is_free_of_every_benchmarks_unit(
    rows: tuple[Rows, Rows], centre: str, scales: list[float]
) -> None:
    scaled = [
        {b: [v * s for v in side[b]] for b, s in zip(side, scales, strict=False)} for side in rows
    ]
    one, other = interval(*rows, centre=centre), interval(*scaled, centre=centre)
    assert other.replicates == pytest.approx(one.replicates, rel=1e-9)


@settings(max_examples=examples(25), deadline=None)
@given(bootstrap_properties_suites())
def test_the_correction_widens_around_the_ratio(rows: tuple[Rows, Rows]) -> None:
    plain, wide = interval(*rows), interval(*rows, interval="corrected")
    if (
        plain.low <= plain.ratio <= plain.high
        and len({len(x) for s in rows for x in s.values()}) == 1
    ):
        m = len(next(iter(rows[0].values())))
        logs = np.log(plain.replicates / plain.ratio) * np.sqrt(m / (m - 1))
        assert np.log(wide.replicates / wide.ratio) == pytest.approx(logs, abs=1e-12)
        assert wide.low <= plain.low * (1 + 1e-12)
        assert wide.high >= plain.high * (1 - 1e-12)


@settings(max_examples=examples(25), deadline=None)
@given(bootstrap_properties_suites(), st.sampled_from(MEANS))
def test_a_uniform_gain_moves_everything_by_its_factor(rows: tuple[Rows, Rows], mean: str) -> None:
    faster = {b: [v / 3 for v in rows[0][b]] for b in rows[0]}
    one, other = interval(*rows, mean=mean), interval(faster, rows[1], mean=mean)
    assert (other.ratio, other.low, other.high) == pytest.approx(
        (3 * one.ratio, 3 * one.low, 3 * one.high), rel=1e-9
    )


# --- What a biplot is, on any table: a rotation that loses nothing and orders the variance


TABLES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 7), st.integers(1, 9)),
    # powers of a ratio, so that no column is constant but for rounding
    elements=st.integers(-40, 40).map(lambda k: 1.1**k),
)
SCALES = st.sampled_from(["log", "covariance", "correlation"])


def transformed(values, scale):
    x = np.log(values) if scale == "log" else values.copy()
    x -= x.mean(axis=0)
    return x / x.std(axis=0, ddof=1) if scale == "correlation" else x


def of(values, scale):
    n, p = values.shape
    constant = np.ptp(values, axis=0) == 0
    if constant.all() or (scale == "correlation" and constant.any()):
        with pytest.raises(AnalysisError):
            biplot(values, list(map(str, range(n))), list(map(str, range(p))), scale=scale)
        return None
    return biplot(values, list(map(str, range(n))), list(map(str, range(p))), scale=scale)


@settings(deadline=None, max_examples=examples(60))
@given(TABLES, SCALES)
def test_scores_and_loadings_are_a_rotation_of_the_table(values, scale):
    found = of(values, scale)
    if found is None:
        return
    x = transformed(values, scale)
    size = np.abs(x).max()
    assert np.abs(found.scores @ found.loadings.T - x).max() <= 1e-10 * size
    unit = found.loadings.T @ found.loadings
    assert np.abs(unit - np.eye(len(unit))).max() <= 1e-10
    assert found.explained.sum() == pytest.approx(1)
    assert (np.diff(found.explained) <= 1e-15).all()
    assert found.scores.var(axis=0, ddof=1) == pytest.approx(found.sds**2, abs=1e-12 * size**2)
    total = x.var(axis=0, ddof=1).sum()
    assert (found.sds**2).sum() == pytest.approx(total)
    assert found.rank <= min(len(values) - 1, values.shape[1])
    known = found.correlations[~np.isnan(found.correlations)]
    assert np.abs(known).max(initial=0) <= 1


@settings(deadline=None, max_examples=examples(30))
@given(TABLES, SCALES, st.randoms(use_true_random=False))
def test_the_order_of_systems_does_not_matter(values, scale, random):
    found = of(values, scale)
    if found is None:
        return
    order = list(range(len(values)))
    random.shuffle(order)
    again = of(values[order], scale)
    assert again.explained == pytest.approx(found.explained, abs=1e-12)
    # where components are apart, also their scores, but for the sign of equally large loadings
    share = found.explained[:2]
    if found.rank > 1 and share[0] - share[1] > 1e-3:
        size = np.abs(found.scores).max()
        ours, theirs = np.abs(again.scores[:, 0]), np.abs(found.scores[order, 0])
        assert ours == pytest.approx(theirs, abs=1e-9 * size)


@settings(deadline=None, max_examples=examples(40))
@given(
    st.lists(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=5), min_size=1, max_size=6),
    st.sampled_from(["geometric", "harmonic", "arithmetic"]),
)
def test_passes_lie_between_the_extreme_ones(rows, mean):
    samples = {f"b{k}": row for k, row in enumerate(rows)}
    matrix = PerformanceMatrix.from_samples("A", samples, better="lower")
    found = empirical_distribution(matrix, mean=mean, resamples=50, rng=np.random.default_rng(1))
    assert found.lowest <= found.minimum <= found.q1 <= found.median
    assert found.median <= found.q3 <= found.maximum <= found.highest
    box = found.boxplot()
    assert box.minimum <= box.whisker_low <= box.q1 <= box.q3 <= box.whisker_high <= box.maximum
    curve = found.density()
    if curve is not None:
        assert (curve.density >= 0).all()
        assert trapezoid(curve.density, curve.grid) == pytest.approx(1, rel=1e-3)
