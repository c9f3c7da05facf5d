"""Corrections for the number of tests, by their definitions and by scipy's."""

import math

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from analysis.errors import UsageError
from analysis.stats.multiplicity import adjusted, holm_steps

P = [0.01, 0.02, 0.03, 0.04, 0.05, 0.001, 0.9]


def holm_rejects(pvalues: list[float], alpha: float) -> list[bool]:
    """Step down as Holm's paper says: stop at the first that is not rejected."""
    rejected = [False] * len(pvalues)
    for step, k in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        if pvalues[k] > alpha / (len(pvalues) - step):
            break
        rejected[k] = True
    return rejected


def test_holm_by_its_definition() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        p = (rng.random(9) ** 3).tolist()
        for alpha in (0.01, 0.05, 0.3):
            assert (adjusted(p, "holm") <= alpha).tolist() == holm_rejects(p, alpha)


def test_holm_of_an_example_by_hand() -> None:
    assert adjusted([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm_steps([0.01, 0.04, 0.03]).tolist() == [3, 1, 2]


def test_bh_is_scipys() -> None:
    assert adjusted(P, "bh") == pytest.approx(false_discovery_control(P, method="bh"))
    assert holm_steps([0.01, 0.04, 0.03], "bh").tolist() == [3, 1, 1.5]


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_what_has_no_p_is_no_member(correction: str) -> None:
    with_nan = adjusted([math.nan, *P, math.nan], correction)  # type: ignore[arg-type]
    assert np.isnan(with_nan[[0, -1]]).all()
    assert with_nan[1:-1] == pytest.approx(adjusted(P, correction))  # type: ignore[arg-type]
    assert adjusted([], correction).size == 0  # type: ignore[arg-type]


def test_none_changes_nothing() -> None:
    assert adjusted(P, "none").tolist() == P
    assert holm_steps(P, "none").tolist() == [1.0] * 7


def test_an_unknown_correction_is_refused() -> None:
    with pytest.raises(UsageError, match="correction must be"):
        adjusted(P, "sidak")  # type: ignore[arg-type]
