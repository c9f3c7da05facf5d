"""What must hold for every mixture: complements, sums, scaling, shifting, inverses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.errors import AnalysisError
from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.metrics_fit import fit_mixture_of_metrics, start_classes
from analysis.methods.mixture.model import Mixture
from analysis.methods.mixture.single_run import (
    mean_difference,
    probability_faster,
    probability_fastest,
    variability_level,
)
from tests.examples import examples


@st.composite
def mixtures(draw: st.DrawFn, most: int = 5) -> Mixture:
    k = draw(st.integers(1, most))
    raw = np.array(draw(st.lists(st.floats(0.01, 1), min_size=k, max_size=k)))
    return Mixture.from_parameters(
        weights=raw / raw.sum(),
        means=draw(st.lists(st.floats(-100, 100), min_size=k, max_size=k)),
        sds=draw(st.lists(st.floats(1e-3, 20), min_size=k, max_size=k)),
    )


def changed(m: Mixture, scale: float = 1.0, shift: float = 0.0) -> Mixture:
    return Mixture.from_parameters(
        weights=m.weights, means=m.means * scale + shift, sds=m.sds * scale
    )


@given(mixtures(), mixtures(), st.floats(-50, 50))
def test_faster_and_slower_are_complements(x: Mixture, y: Mixture, shift: float) -> None:
    chance = probability_faster(x, y, shift=shift)
    assert 0 <= chance <= 1
    assert chance + probability_faster(y, x, shift=-shift) == pytest.approx(1, abs=1e-14)
    assert probability_faster(x, x) == pytest.approx(0.5, abs=1e-14)


@given(st.lists(mixtures(4), min_size=2, max_size=5))
@settings(max_examples=examples(60), deadline=None)
def test_one_of_them_is_the_fastest(every: list[Mixture]) -> None:
    chances = [probability_fastest(m, *(every[:i] + every[i + 1 :])) for i, m in enumerate(every)]
    assert min(chances) >= 0
    assert sum(chances) == pytest.approx(1, abs=1e-10)


@given(mixtures(), mixtures())
def test_the_mean_difference_is_a_distance(x: Mixture, y: Mixture) -> None:
    found = mean_difference(x, y)
    assert found == pytest.approx(mean_difference(y, x), rel=1e-12)
    assert found >= abs(x.mean() - y.mean()) * (1 - 1e-12)
    assert found > 0


@given(mixtures(), mixtures(), st.sampled_from([1e-9, 1e-3, 7.0, 1e9]), st.floats(-100, 100))
@settings(max_examples=examples(60), deadline=None)
def test_units_and_origins_do_not_matter(
    x: Mixture, y: Mixture, scale: float, shift: float
) -> None:
    a, b = (changed(m, scale, shift * scale) for m in (x, y))
    assert probability_faster(a, b) == pytest.approx(probability_faster(x, y), abs=1e-9)
    assert probability_fastest(a, b) == pytest.approx(probability_fastest(x, y), abs=1e-9)
    assert mean_difference(a, b) == pytest.approx(mean_difference(x, y) * scale, rel=1e-9)


@given(mixtures(), st.floats(1e-12, 1 - 1e-12))
@settings(deadline=None)
def test_the_quantile_inverts_the_distribution(m: Mixture, q: float) -> None:
    x = m.quantile(q)
    step = 1e-9 * max(1.0, abs(x))
    assert m.cdf(x - step) <= q * (1 + 1e-12)
    assert m.cdf(x + step) >= q * (1 - 1e-12)


@given(mixtures())
@settings(deadline=None)
def test_modes_are_few_and_near_a_mean(m: Mixture) -> None:
    modes = m.modes()
    assert 1 <= variability_level(m) == modes.size
    assert (np.diff(modes) > 0).all()
    near = np.abs(modes[:, None] - m.means) <= m.sds * (1 + 1e-6) + 1e-9
    assert near.any(axis=1).all()
    step = 1e-3 * m.sds.min()
    here = m.pdf(modes)
    assert (here >= m.pdf(modes - step) * (1 - 1e-12)).all()
    assert (here >= m.pdf(modes + step) * (1 - 1e-12)).all()


def test_the_plug_in_tends_to_the_rank_estimate() -> None:
    # a kernel mixture with a vanishing bandwidth is the sample itself: I2 becomes U / (n m)
    rng = np.random.default_rng(11)
    a, b = rng.normal(0, 1, 40), rng.normal(0.5, 1, 30)
    share = np.mean(a[:, None] < b[None, :])
    for bandwidth, apart in ((1e-9, 1e-12), (0.3, 0.05)):
        x, y = (
            Mixture.from_parameters(
                weights=np.full(v.size, 1 / v.size), means=v, sds=np.full(v.size, bandwidth)
            )
            for v in (a, b)
        )
        assert probability_faster(x, y) == pytest.approx(share, abs=apart)


# --- What every fitted mixture must satisfy, whatever the sample


SIZES = st.integers(2, 60)


@st.composite
def samples(draw: st.DrawFn) -> np.ndarray:
    """Draw skewed, tied, two-peaked and far-off samples at any scale."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(SIZES)
    kind = draw(st.sampled_from(["gauss", "peaks", "skew", "ties", "outlier"]))
    x = rng.normal(0, 1, n)
    if kind == "peaks":
        x += 6 * rng.integers(0, 2, n)
    elif kind == "skew":
        x = np.exp(x)
    elif kind == "ties":
        x = np.round(x * draw(st.sampled_from([0.5, 1, 4])))
    elif kind == "outlier":
        x[0] = 10.0 ** draw(st.integers(1, 12))
    return (x + draw(st.sampled_from([0, 10, 1e5]))) * 10.0 ** draw(st.integers(-9, 9))


@settings(max_examples=examples(150), deadline=None)
@given(x=samples())
def test_a_fit_is_a_mixture_or_an_error_of_the_tree(x: np.ndarray) -> None:
    try:
        fit = fit_mixture(x)
    except AnalysisError:
        assert x.max() - x.min() <= 1e-12 * np.abs(x).max()
        return
    assert abs(math.fsum(fit.weights) - 1) < 1e-12
    assert (fit.weights > 0).all()
    assert (fit.sds > 0).all()
    assert x.min() <= fit.means.min()
    assert fit.means.max() <= x.max()
    table = np.array([fit.bic_table["E"], fit.bic_table["V"]])
    assert fit.bic == np.nanmax(table)
    assert np.isnan(table[:, x.size :]).all()
    k = fit.components
    p = 2 * k if fit.equal_variance else 3 * k - 1
    assert math.isclose(fit.bic, 2 * fit.log_likelihood - p * math.log(x.size), abs_tol=1e-6)
    assert fit.equal_variance == bool(np.ptp(fit.sds) <= 1e-12 * fit.sds.max()) or k > 1


@settings(max_examples=examples(60), deadline=None)
@given(x=samples())
def test_likelihood_belongs_to_the_state_before_the_closing_step(x: np.ndarray) -> None:
    try:
        fit = fit_mixture(x)
    except AnalysisError:
        return
    before = Mixture.from_parameters(weights=fit.em.weights, means=fit.em.means, sds=fit.em.sds)
    with np.errstate(divide="ignore"):
        logs = np.log(before.pdf(x))
    if np.isfinite(logs).all():
        tolerance = 1e-9 + 1e-13 * np.abs(x).max() / fit.sds.min()  # of x - mean, in sds
        assert math.isclose(
            logs.sum(), fit.log_likelihood, rel_tol=tolerance, abs_tol=tolerance * x.size
        )


@settings(max_examples=examples(60), deadline=None)
@given(x=samples(), power=st.integers(1, 30))
def test_a_power_of_two_shifts_the_likelihood_of_one_gaussian(x: np.ndarray, power: int) -> None:
    try:
        a, b = (fit_mixture(x * factor, max_components=1) for factor in (1.0, 2.0**power))
    except AnalysisError:
        return
    shift = x.size * power * math.log(2)
    assert math.isclose(a.log_likelihood - shift, b.log_likelihood, rel_tol=1e-9, abs_tol=1e-7)


@settings(max_examples=examples(40), deadline=None)
@given(x=samples(), step=st.floats(1e-3, 1))
def test_no_component_is_narrower_than_the_floor(x: np.ndarray, step: float) -> None:
    resolution = step * max(float(np.ptp(x)), float(np.abs(x).max()) * 1e-6, 1e-12)
    fit = fit_mixture(x, resolution=resolution)
    assert fit.sds.min() >= resolution / math.sqrt(12) * (1 - 1e-9)


# --- What must hold for mixtures in the plane, whatever the pairs


def drawn(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    of = rng.integers(0, 3, n)
    return np.column_stack([3 * of + rng.normal(size=n), of % 2 + 0.3 * rng.normal(size=n)])


@settings(max_examples=examples(25), deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 60))
def test_a_fit_is_sound(seed: int, n: int) -> None:
    pairs = drawn(seed, n)
    fit = fit_mixture_of_metrics(pairs, max_components=5)
    assert abs(fit.weights.sum() - 1) < 1e-12
    assert (np.linalg.eigvalsh(fit.covariances) > 0).all()
    assert (np.abs(fit.correlations) < 1).all()
    low, high = pairs.min(axis=0) - 1e-9, pairs.max(axis=0) + 1e-9
    assert ((fit.means >= low) & (fit.means <= high)).all()
    # the mixture keeps the sample's mean to what the last step left open
    assert np.abs(fit.mean() - pairs.mean(axis=0)).max() < 0.05 * np.ptp(pairs)
    assert fit.bic_table is not None
    every = [value for row in fit.bic_table.values() for value in row]
    assert fit.bic == np.nanmax(every)


@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 50))
def test_classes_are_nested_and_named_in_order(seed: int, n: int) -> None:
    pairs = drawn(seed, n)
    most = min(9, n)
    classes = start_classes(pairs.T.copy(), most)
    for k in range(1, most + 1):
        row = classes[k - 1]
        _, first = np.unique(row, return_index=True)
        assert row.max() == k - 1
        assert (np.diff(first) > 0).all()  # numbered in the order of first points
        if k < most:  # each finer class lies in one coarser class
            assert all(len(set(row[classes[k] == c])) == 1 for c in range(k + 1))


@settings(max_examples=examples(15), deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(10, 50))
def test_the_metrics_may_change_places(seed: int, n: int) -> None:
    pairs = drawn(seed, n)
    options = {"max_components": 3, "models": ["EII", "VII", "EEI", "VVI", "EEE", "VVV"]}
    one = fit_mixture_of_metrics(pairs, max_components=1)
    other = fit_mixture_of_metrics(pairs[:, ::-1], max_components=1)
    assert one.model == other.model
    assert np.allclose(one.covariances[:, ::-1, ::-1], other.covariances, rtol=1e-10)
    fit = fit_mixture_of_metrics(pairs, **options)  # type: ignore[arg-type]
    again = fit_mixture_of_metrics(pairs.tolist(), **options)  # type: ignore[arg-type]
    assert np.array_equal(fit.covariances, again.covariances)  # nothing is random
