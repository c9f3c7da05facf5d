import numpy as np

from analysis.methods.hpt.winners import Lines


def test_medians_that_differ_by_rounding_are_equal_whatever_their_size() -> None:
    g = 1.3
    slope = np.array([1e-15, 1.0, 1e15, 1e15])
    lines = Lines(slope=slope, level=slope / g, kind="raw", negated=False)
    assert (slope * (1 / g) - lines.level)[2] != 0  # rounding, as large as a second
    assert not lines.differences(np.array([g])).any()
    # and what differs by more is told, however small it is
    at_2 = lines.differences(np.array([2.0]))[0]
    np.testing.assert_allclose(at_2 / slope, 1 / 2 - 1 / g)


def test_logarithms_that_differ_by_rounding_are_equal_in_absolute_terms() -> None:
    # relative to logarithms near 0, no rounding would be small
    level = np.array([1e-13, -1e-13, 1e-3])
    lines = Lines(slope=np.ones(3), level=level, kind="log-ratio", negated=False)
    assert lines.differences(np.array([1.0]))[0].tolist() == [0.0, 0.0, -1e-3]
