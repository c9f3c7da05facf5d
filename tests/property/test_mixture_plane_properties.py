"""What must hold for mixtures in the plane, whatever the pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from analysis.methods.mixture.metrics_fit import fit_mixture_of_metrics, start_classes
from tests.examples import examples


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
