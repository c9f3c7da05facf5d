"""At which level series are searched.

Authority: Holm's and Benjamini's and Hochberg's adjusted p-values by hand and by scipy; the level of confidence
intervals of selected parameters by Benjamini and Yekutieli (2005).
"""

import pytest
from hypothesis import given, strategies as st
from scipy.stats import false_discovery_control

from analysis.history.judging import levels_of, usual_correction

SHARES = st.lists(st.floats(5e-5, 1.0), min_size=1, max_size=40)


def test_holm_by_hand():
    level, raised = levels_of([0.03, None, 0.01, 0.02], 0.06, "holm")
    assert level == pytest.approx(0.02)
    assert raised == pytest.approx((0.04, None, 0.03, 0.04))


def test_benjamini_and_hochberg_by_hand():
    # of five, 0.01 <= 0.05 / 5 and 0.02 <= 2 * 0.05 / 5, while 0.04 > 3 * 0.05 / 5
    level, raised = levels_of([0.02, 0.5, 0.01, 0.04, 0.9], 0.05, "bh")
    assert level == pytest.approx(2 * 0.05 / 5)
    assert raised == pytest.approx((0.05, 0.625, 0.05, 1 / 15, 0.9))


@given(SHARES)
def test_the_adjusted_shares_are_those_of_scipy(pvalues):
    assert levels_of(pvalues, 0.05, "bh")[1] == pytest.approx(
        tuple(false_discovery_control(pvalues))
    )


@given(SHARES, st.floats(0.001, 0.2))
def test_what_is_named_has_an_interval_at_its_level_and_nothing_else_does(pvalues, risk):
    level, raised = levels_of(pvalues, risk, "bh")
    for share, adjusted in zip(pvalues, raised, strict=True):
        if abs(adjusted - risk) > 1e-9:
            assert (share <= level * (1 + 1e-12)) == (adjusted < risk)


@given(SHARES, st.floats(0.001, 0.2))
def test_the_levels_of_holm_share_the_risk(pvalues, risk):
    level, raised = levels_of(pvalues, risk, "holm")
    assert level * len(pvalues) == pytest.approx(risk)
    assert all(
        adjusted <= risk
        for p, adjusted in zip(pvalues, raised, strict=True)
        if p < level * (1 - 1e-9)
    )


def test_without_a_correction_each_series_has_the_risk():
    assert levels_of([0.01, 0.02], 0.05, "none") == (0.05, (0.01, 0.02))


def test_series_with_too_few_nights_are_no_members():
    assert levels_of([None, None], 0.05, "holm") == (0.05, (None, None))
    assert levels_of([0.01, None], 0.05, "bh")[0] == pytest.approx(0.05)


def test_the_share_of_false_ones_is_bounded_from_20_benchmarks_on():
    assert [usual_correction(count) for count in (1, 19, 20, 100)] == ["holm", "holm", "bh", "bh"]
