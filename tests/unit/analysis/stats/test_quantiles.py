"""Harrell and Davis' quantiles, by scipy's."""

import numpy as np
import pytest
from scipy.stats.mstats import hdquantiles

from analysis.errors import InsufficientDataError, UsageError
from analysis.stats.ranks import harrell_davis

DECILES = tuple(k / 10 for k in range(1, 10))


@pytest.mark.parametrize("n", [2, 5, 30, 301])
def test_quantiles_are_scipys(n: int) -> None:
    values = np.random.default_rng(n).lognormal(size=n)
    assert harrell_davis(values, DECILES) == pytest.approx(np.asarray(hdquantiles(values, DECILES)))


def test_the_median_of_three_by_hand() -> None:
    # n = 3, p = 1/2: a beta(2, 2) law, whose steps are 7/27, 13/27, 7/27
    assert harrell_davis(np.array([3.0, 1.0, 2.0]) ** 2, (0.5,)) == pytest.approx(
        [(7 * 1 + 13 * 4 + 7 * 9) / 27]
    )


def test_equal_values_have_no_rounding() -> None:
    assert harrell_davis(np.full(7, 0.1), DECILES).tolist() == [0.1] * 9


def test_what_has_no_quantiles_is_refused() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        harrell_davis(np.ones(3), (1.0,))
    with pytest.raises(InsufficientDataError) as caught:
        harrell_davis(np.empty(0), (0.5,))
    assert (caught.value.n, caught.value.needed) == (0, 1)
    assert harrell_davis(np.array([3.5]), (0.5,)).tolist() == [3.5]  # one is enough
