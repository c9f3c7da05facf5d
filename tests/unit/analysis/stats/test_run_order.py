"""Pairs of neighbours, by listing them."""

import numpy as np

from analysis.stats.samples import lag_pairs


def test_pairs_stay_within_their_session() -> None:
    values = np.array([1.0, 2, 3, 4, 5])
    sessions = np.array(["a", "a", "b", "b", "b"])
    assert lag_pairs(values, sessions).tolist() == [[1, 2], [3, 4], [4, 5]]


def test_sessions_may_stand_mixed() -> None:
    found = lag_pairs(np.array([1.0, 10, 2, 20, 3]), np.array([1, 2, 1, 2, 1]))
    assert found.tolist() == [[1, 2], [2, 3], [10, 20]]


def test_single_runs_have_no_pairs() -> None:
    assert lag_pairs(np.array([1.0, 2]), np.array([1, 2])).shape == (0, 2)
    assert lag_pairs(np.empty(0), np.empty(0)).shape == (0, 2)
