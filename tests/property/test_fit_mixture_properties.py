"""What every fitted mixture must satisfy, whatever the sample."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings, strategies as st

from analysis.errors import AnalysisError
from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.model import Mixture
from tests.examples import examples

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
