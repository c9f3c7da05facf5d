"""Friedman's test against the two published examples, which follow two conventions."""

import numpy as np
import pytest
from scipy import stats

from analysis.errors import InsufficientDataError, UsageError
from analysis.stats.ranks import _friedman, friedman, nemenyi_difference

# Hollander and Wolfe 1973, p. 140: times of rounding first base, 22 players, three methods; the
# example of R's friedman.test, which prints chi-squared = 11.143, df = 2, p-value = 0.003805
ROUNDING = [
    [5.40, 5.50, 5.55], [5.85, 5.70, 5.75], [5.20, 5.60, 5.50], [5.55, 5.50, 5.40],
    [5.90, 5.85, 5.70], [5.45, 5.55, 5.60], [5.40, 5.40, 5.35], [5.45, 5.50, 5.35],
    [5.25, 5.15, 5.00], [5.85, 5.80, 5.70], [5.25, 5.20, 5.10], [5.65, 5.55, 5.45],
    [5.60, 5.35, 5.45], [5.05, 5.00, 4.95], [5.50, 5.50, 5.40], [5.45, 5.55, 5.50],
    [5.55, 5.55, 5.35], [5.45, 5.50, 5.55], [5.50, 5.45, 5.25], [5.65, 5.60, 5.40],
    [5.70, 5.65, 5.55], [6.30, 6.30, 6.25],
]  # fmt: skip


def test_rounding_first_base_is_corrected_for_ties():
    found = friedman(ROUNDING)
    assert found.statistic_tied == pytest.approx(11.143, abs=5e-4)
    assert found.pvalue_tied == pytest.approx(0.003805, abs=5e-7)
    assert found.statistic < found.statistic_tied  # the plain one is another number


def test_demsar_is_not_corrected():
    # Demsar 2006, section 3.2.2: 9.28, F 3.69 with 3 and 39 degrees of freedom, from printed ranks
    found = _friedman(np.array([3.143, 2.000, 2.893, 1.964]), 14, None)
    assert found.statistic == pytest.approx(9.28, abs=0.01)
    assert found.f == pytest.approx(3.69, abs=0.01)
    assert found.statistic_tied is None


@pytest.mark.parametrize(("alpha", "printed"), [(0.05, 1.25), (0.10, 1.12)])
def test_the_critical_difference_of_demsar(alpha, printed):
    assert nemenyi_difference(4, 14, alpha=alpha) == pytest.approx(printed, abs=0.01)


def test_without_ties_both_are_scipys():
    values = np.random.default_rng(1).normal(size=(12, 4))
    found = friedman(values)
    expected = stats.friedmanchisquare(*values.T)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.statistic_tied == pytest.approx(expected.statistic)
    assert found.pvalue == pytest.approx(expected.pvalue)


def test_all_tied_says_nothing():
    found = friedman(np.ones((5, 3)))
    assert (found.statistic, found.pvalue) == (0, 1)
    assert found.statistic_tied is None


def test_full_agreement_has_no_f():
    found = friedman(np.tile([1.0, 2.0, 3.0], (6, 1)))
    assert found.statistic == pytest.approx(12)
    assert found.f is None


def test_what_is_refused():
    with pytest.raises(InsufficientDataError):
        friedman([[1.0, 2.0]])
    with pytest.raises(UsageError, match="alpha"):
        nemenyi_difference(3, 5, alpha=0)
