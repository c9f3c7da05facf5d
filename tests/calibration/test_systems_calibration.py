"""Predictions across systems: what shuffled responses give, and how often intervals hold 0.

Theory: predictions of exchangeable responses are uncorrelated with them, so the mean correlation is
0. Bounds are those of a binomial count, or of a mean, at 1 in 1,000.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from analysis.methods.variance_sources.mixed_table import mixed_table
from analysis.methods.variance_sources.predictions import (
    agreement,
    hold_out,
    model_of,
    one_thread,
    splits_of,
)

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

ROWS, FAMILIES, FOLDS = 150, 25, 5
SHARE = 0.3  # of the rows, in the one split of the published study


def agreements(seed: int, *, shuffled: bool, count: int = FOLDS):
    """Give both agreements of one table of sister systems, in folds; 1: of one split."""
    rng = np.random.default_rng([20261122, seed])
    family = np.unique(rng.integers(0, FAMILIES, ROWS), return_inverse=True)[1].astype(np.intp)
    x = rng.normal(size=(FAMILIES, 4))[family] + 0.3 * rng.normal(size=(ROWS, 4))
    y = 2 * x[:, 0] + x[:, 1] + 0.5 * rng.normal(size=ROWS)
    if shuffled:
        y = rng.permutation(y)
    columns = {f"x{k}": column for k, column in enumerate(x.T)}
    columns["level"] = np.array([f"l{k % 7}" for k in family], dtype=object)
    covariates = list(mixed_table(columns).columns.values())
    design = np.column_stack([column.values for column in covariates])
    share = SHARE if count == 1 else None
    found = []
    for families in (None, family):
        splits = splits_of(ROWS, families, folds=count, share=share, seed=seed)
        held = hold_out(model_of(covariates, ROWS, seed), design, y, splits, workers=1)
        found.append(agreement(held, y, families=family, logs=False, confidence=0.95, rng=rng))
    return found


@pytest.mark.parametrize("folds", [FOLDS, 1])
def test_shuffled_responses_have_no_correlation_and_intervals_that_hold_0(folds):
    count = 150 if folds > 1 else 600
    with one_thread():
        both = [agreements(seed, shuffled=True, count=folds) for seed in range(count)]
    for split, name in enumerate(("random", "grouped")):
        found = [pair[split] for pair in both]
        r = np.array([one.correlation for one in found])
        mean, error = r.mean(), r.std(ddof=1) / np.sqrt(count)
        held = sum(one.low <= 0 <= one.high for one in found)
        print(f"{name}: mean {mean:+.4f} +- {error:.4f}, sd {r.std(ddof=1):.4f}, held {held}")
        assert abs(mean) < norm.isf(0.0005) * error + 0.01
        assert held >= binom.ppf(0.001, count, 0.95)


@spot_check
@pytest.mark.parametrize("folds", [2, 1])
def test_a_few_shuffled_responses(folds):
    with one_thread():
        found = [agreements(seed, shuffled=True, count=folds)[1] for seed in range(3)]
    assert sum(one.low <= 0 <= one.high for one in found) >= binom.ppf(0.001, 3, 0.95)


@spot_check
def test_responses_that_are_predicted_are_no_such_thing():
    # the negative control: the same tables, not shuffled
    with one_thread():
        both = [agreements(seed, shuffled=False, count=2) for seed in range(2)]
    assert all(one.low > 0.3 for pair in both for one in pair)
