"""What a biplot is, on any table: a rotation that loses nothing and orders the variance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays
from scipy.integrate import trapezoid

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError
from analysis.methods.resampling.biplot import biplot
from analysis.methods.resampling.distribution import empirical_distribution
from tests.examples import examples

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
