"""The running width of the stopping rule, for any counts, values and scales."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from analysis.plan.stop_rule import RunningSuite, log_half_width, relative_width
from tests.examples import examples

SHAPES = st.tuples(st.integers(1, 4), st.integers(2, 3), st.integers(0, 2**32 - 1))


def cells(shape):
    benchmarks, variants, seed = shape
    rng = np.random.default_rng(seed)
    return [
        [
            rng.lognormal(0, rng.choice([0.0, 0.001, 0.1]), rng.integers(2, 9))
            for _ in range(variants)
        ]
        for _ in range(benchmarks)
    ]


def fed(rows, order=None, scale=1.0):
    suite = RunningSuite(len(rows), len(rows[0]))
    runs = [
        (k, b, v, x)
        for b, row in enumerate(rows)
        for v, xs in enumerate(row)
        for k, x in enumerate(xs, start=1)
    ]
    for k in range(len(runs)) if order is None else order.permutation(len(runs)):
        *place, x = runs[k]
        suite.add(*place, float(x) * scale)
    return suite


@settings(max_examples=examples(60), deadline=None)
@given(SHAPES)
def test_the_wider_interval_counts_and_that_over_runs_is_welchs(shape):
    rows = cells(shape)
    suite = fed(rows)
    found = suite.widths(0)
    for v in range(1, len(rows[0])):
        both = [row[k] for k in (0, v) for row in rows]
        variances = np.array([np.log(x).var(ddof=1) for x in both])
        half = log_half_width(variances, np.array([x.size for x in both]), len(rows), 0.95)
        runs, rounds = suite.half_widths([v, 0])
        np.testing.assert_allclose(runs, half, rtol=1e-6, atol=1e-13)
        assert found[v] == relative_width(max(runs, rounds))


@settings(max_examples=examples(60), deadline=None)
@given(SHAPES, st.sampled_from([1e-9, 1e-3, 1e9]))
def test_neither_order_nor_unit_matters(shape, scale):
    rows = cells(shape)
    other = fed(rows, np.random.default_rng(shape[2]), scale)
    np.testing.assert_allclose(fed(rows).widths(0), other.widths(0), rtol=1e-5, atol=1e-12)
    assert (fed(rows).counts == other.counts).all()
