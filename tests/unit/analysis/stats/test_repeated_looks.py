"""The nominal risks of repeated looks, and the lists that they belong to.

Authority: the quantiles that the specification gives, found by a program of its own with a million paths
(.0058, .0027, .0017, .0013 for one to four candidates; .0039 for the open list); Bonferroni's inequality
below, and t at every look (Pocock's bound lies between alpha / looks and alpha) on both sides.
`tests/calibration/test_repeated_looks_calibration.py` simulates anew.
"""

import pytest
from hypothesis import given, strategies as st

from analysis.errors import UsageError
from analysis.record.trial_files import LOOKS, OPEN_LOOKS
from analysis.stats.multiplicity import nominal_risk


@pytest.mark.parametrize(
    ("candidates", "nominal"), [(1, 0.0058), (2, 0.0027), (3, 0.0017), (4, 0.0013)]
)
def test_the_nominal_risk_is_what_another_program_found(candidates, nominal):
    # its million paths give a quantile with a relative error of about 1 %, printed with two digits
    assert nominal_risk(0.05 / candidates) == pytest.approx(nominal, abs=0.00007)


def test_the_open_list_costs_more():
    assert nominal_risk(0.05, open=True) == pytest.approx(0.0039, abs=0.00005)
    assert nominal_risk(0.05, open=True) < nominal_risk(0.05)


def test_below_the_table_each_look_has_its_share_of_the_lists_that_there_are():
    for open_, looks in ((False, LOOKS), (True, OPEN_LOOKS)):
        assert nominal_risk(1e-6, open=open_) == pytest.approx(1e-6 / len(looks))


@given(st.floats(1e-7, 0.999), st.booleans())
def test_each_look_risks_less_than_all_and_at_least_its_share(risk, open_):
    looks = OPEN_LOOKS if open_ else LOOKS
    found = nominal_risk(risk, open=open_)
    assert risk / len(looks) <= found < risk
    assert nominal_risk(risk * 0.9, open=open_) < found or risk > 0.98


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.1, float("nan")])
def test_a_risk_that_is_none_is_refused(wrong):
    with pytest.raises(UsageError, match="between 0 and 1"):
        nominal_risk(wrong)
