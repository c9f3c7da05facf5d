"""What must hold of errors whose parts have a quantile of t each, whatever the parts are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.estimates import ErrorParts
from analysis.methods.multilevel.law import ErrorLaw
from analysis.verdict.gate import gate
from tests.examples import examples

ERRORS = st.floats(1e-6, 1e3)
PARTS = st.lists(st.tuples(ERRORS, st.integers(1, 60)), min_size=2, max_size=5)
ALPHAS = st.sampled_from([0.2, 0.05, 0.05 / 8, 0.001])
RATIOS = st.floats(-50, 50)  # of the distance over the error


def law_of(
    parts: list[tuple[float, int]], alpha: float = 0.05
) -> tuple[ErrorLaw, Any, Any, ErrorParts]:
    errors, freedoms = (np.array([column], dtype=float) for column in zip(*parts, strict=True))
    error = np.hypot.reduce(errors, axis=1)
    return ErrorLaw(alpha=alpha), error, np.array([math.nan]), ErrorParts(errors, freedoms)


def half(parts: list[tuple[float, int]], alpha: float = 0.05) -> float:
    law, *known = law_of(parts, alpha)
    return float(law.half(*known)[0])


def pvalue(parts: list[tuple[float, int]], distance: float) -> float:
    law, *known = law_of(parts)
    return float(law.pvalue(np.array([distance]), *known)[0])


@settings(max_examples=examples(200), deadline=None)
@given(PARTS, ALPHAS, RATIOS)
def test_p_and_interval_agree(parts, alpha, ratio):
    distance = ratio * math.hypot(*(e for e, _ in parts))
    h, p = half(parts, alpha), pvalue(parts, distance)
    assert 0 < p <= 1
    if not math.isclose(abs(distance), h, rel_tol=1e-9):
        assert (p <= alpha) == (abs(distance) > h)
    assert p == pvalue(parts, -distance)


@settings(max_examples=examples(200), deadline=None)
@given(PARTS, ALPHAS, st.randoms(use_true_random=False))
def test_the_order_of_the_parts_does_not_matter(parts, alpha, random):
    turned = random.sample(parts, len(parts))
    assert half(turned, alpha) == pytest.approx(half(parts, alpha), rel=1e-12)
    assert pvalue(turned, 1.0) == pytest.approx(pvalue(parts, 1.0), rel=1e-9)


@settings(max_examples=examples(200), deadline=None)
@given(PARTS, ALPHAS, st.floats(1.01, 100), st.data())
def test_a_larger_error_or_fewer_freedoms_widen(parts, alpha, factor, data):
    k = data.draw(st.integers(0, len(parts) - 1))
    error, freedom = parts[k]
    more = [*parts[:k], (error * factor, freedom), *parts[k + 1 :]]
    fewer = [*parts[:k], (error, max(1, freedom // 2)), *parts[k + 1 :]]
    for wider in (more, fewer):
        assert half(wider, alpha) >= half(parts, alpha) * (1 - 1e-12)
        assert pvalue(wider, 1.0) >= pvalue(parts, 1.0) * (1 - 1e-9)


@settings(max_examples=examples(100), deadline=None)
@given(PARTS, ALPHAS, st.sampled_from([1e-9, 1e-3, 1e6]), RATIOS)
def test_the_scale_does_not_matter(parts, alpha, scale, ratio):
    scaled = [(scale * e, f) for e, f in parts]
    assert half(scaled, alpha) == pytest.approx(scale * half(parts, alpha), rel=1e-9)
    distance = ratio * math.hypot(*(e for e, _ in parts))
    assert pvalue(scaled, scale * distance) == pytest.approx(pvalue(parts, distance), rel=1e-7)


@settings(max_examples=examples(200), deadline=None)
@given(PARTS, ALPHAS)
def test_it_lies_between_the_least_and_the_most_freedoms(parts, alpha):
    error = math.hypot(*(e for e, _ in parts))
    ends = [stats.t.isf(alpha / 2, pick(f for _, f in parts)) * error for pick in (max, min)]
    assert ends[0] * (1 - 1e-9) <= half(parts, alpha) <= ends[1] * (1 + 1e-9)


@settings(max_examples=examples(100), deadline=None)
@given(ERRORS, st.integers(1, 60), st.integers(1, 60), ALPHAS, RATIOS)
def test_a_part_without_error_leaves_t_of_the_other(error, freedom, other, alpha, ratio):
    parts = [(error, freedom), (0.0, other)]
    assert half(parts, alpha) == pytest.approx(stats.t.isf(alpha / 2, freedom) * error, rel=1e-9)
    told = max(2 * stats.t.sf(abs(ratio), freedom), 1e-300)
    assert pvalue(parts, ratio * error) == pytest.approx(told, rel=1e-6)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(2, 7), st.integers(2, 7), st.integers(0, 2**32), st.sampled_from([0.1, 1, 10]))
def test_exchanged_sides_give_the_inverse(first, second, seed, ratio):
    rng = np.random.default_rng(seed)
    new, old = (
        PerformanceMatrix.from_samples(
            name,
            {f"b{k}": np.exp(sd * rng.standard_normal(n) / 50) for k in range(3)},
            better="lower",
            sessions={f"b{k}": np.arange(n) + start for k in range(3)},
        )
        for name, n, start, sd in (("new", first, 0, ratio), ("old", second, 50, 1.0))
    )
    a, b = multilevel(new, old), multilevel(old, new)
    for x, y in zip((*a.benchmarks, a.these), (*b.benchmarks, b.these), strict=True):
        assert x.law == y.law == ("welch" if first == second else "banerjee")
        assert (x.low, x.high) == pytest.approx((1 / y.high, 1 / y.low), rel=1e-9)
        for name in ("pvalue", "pvalue_equivalent", "pvalue_welch"):
            assert getattr(x, name) == pytest.approx(getattr(y, name), rel=1e-7)
        assert x.errors == pytest.approx(y.errors[::-1])
    for line in gate(a, "slower>1%").candidates[0].benchmarks:
        # proven only where the interval lies below the limit, passed only where it lies above
        if line.outcome == "proven":
            assert line.high < 1 / 1.01
        assert (line.outcome == "passed") == (line.low > 1 / 1.01)
        assert (line.pvalue_condition <= 0.025) == (line.high < 1 / 1.01)
