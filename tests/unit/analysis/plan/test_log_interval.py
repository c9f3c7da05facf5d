"""The interval on logarithms at its limits, and how a width is written."""

import math

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.plan.stop_rule import exponential, log_half_width, width_text


def test_no_spread_is_no_width_and_extreme_spreads_do_not_overflow():
    assert log_half_width(np.zeros((2, 4)), np.full(4, 5), 2, 0.95).tolist() == [0.0, 0.0]
    tiny = log_half_width(np.array([1e-200, 0.0]), np.array([5, 5]), 1, 0.95)
    assert 0 < tiny < 1e-99
    huge = log_half_width(np.array([1e200, 1e-200]), np.array([5, 5]), 1, 0.95)
    assert np.isfinite(huge)


def test_an_end_beyond_all_numbers_is_refused():
    assert exponential(709.0) == math.exp(709.0)
    assert exponential(-1e6) == 0.0
    with pytest.raises(AnalysisError, match="leaves the range of numbers"):
        exponential(710.0)


@pytest.mark.parametrize(
    ("width", "limit", "text"),
    [
        (0.0147, 0.015, "0.0147"),
        (0.0150004, 0.015, "0.0150004"),
        (0.01499996, 0.015, "0.015"),
        (0.5, 0.015, "0.5"),
        (None, 0.015, "unknown"),
        (math.nextafter(0.015, 1), 0.015, repr(math.nextafter(0.015, 1))),
    ],
)
def test_a_width_is_written_on_its_side_of_the_limit(width, limit, text):
    assert width_text(width, limit) == text
