"""The gate's decisions against the law written anew, and against what must never happen.

Authority: the one-sided t test, Holm 1979, Berger 1982 (intersection-union), and the definition of
the always-valid interval (t mixture with c^2 = 10).
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.errors import UsageError
from analysis.methods.multilevel.law import Looks
from analysis.verdict.gate import gate
from tests.examples import examples

LIMIT = math.log(1 / 1.02)


def outcomes(found):
    (one,) = found.candidates
    return {line.name: line.outcome for line in one.benchmarks}


# ---- one line


@pytest.mark.parametrize(
    ("x", "outcome", "code"), [(0.0, "passed", 0), (-0.05, "proven", 1), (-0.02, "undecided", 7)]
)
def test_a_suite_of_one_benchmark_is_that_benchmark(compared, x, outcome, code):
    found = gate(compared({"b": (x, 0.004, 5)}), "slower>2%")
    assert (found.outcome, found.exit_code) == (outcome, code)
    assert outcomes(found) == {"b": outcome}
    assert found.candidates[0].suite == found.candidates[0].benchmarks[0]


def test_p_is_the_one_sided_t_at_the_limit(compared):
    found = gate(compared({"b": (-0.03, 0.004, 5)}), "slower>2%").candidates[0].suite
    assert found.pvalue_condition == pytest.approx(stats.t.cdf((-0.03 - LIMIT) / 0.004, 5))


@pytest.mark.parametrize("freedom", [1, 2, 5, 4.37, 200])
def test_bound_and_p_agree_at_the_limit(compared, freedom):
    # the lower end of the 95 % interval lies above the limit exactly where p > 0.975, the upper end
    # below it where p < 0.025
    edge = stats.t.ppf(0.975, freedom) * 0.004
    for x, outcome in (
        (LIMIT + edge * 1.0001, "passed"),
        (LIMIT + edge * 0.9999, "undecided"),
        (LIMIT - edge * 0.9999, "undecided"),
        (LIMIT - edge * 1.0001, "proven"),
    ):
        assert gate(compared({"b": (x, 0.004, freedom)}), "slower>2%").outcome == outcome


def test_a_p_is_never_0(compared):
    found = gate(compared({"b": (-50.0, 1e-9, 300)}), "slower>2%").candidates[0].suite
    assert 0 < found.pvalue_condition < 1e-300


def test_looks_share_the_risk(compared):
    lines = {"b": (LIMIT - 0.004 * 3.0, 0.004, 5)}  # p = 0.015: under 0.025, over 0.0125
    assert gate(compared(lines), "slower>2%").outcome == "proven"
    assert gate(compared(lines, looks=2), "slower>2%").outcome == "undecided"


def test_screen_and_json_have_the_confidence_and_the_risk_of_the_look(compared):
    """The third look of a trial that began with two sessions: alpha/12, as was printed beside 95 %."""
    found = gate(compared({"b": (0.0, 0.004, 5)}, looks=Looks.growing([2, 3, 4])), "slower>2%")
    assert found.confidence == pytest.approx(1 - 0.05 / 12)
    assert found.risk == pytest.approx(0.025 / 12)
    one = found.to_dict()["candidates"][0]
    assert (one["looks"], one["looks_rule"]) == (3, "growing")
    assert (one["look_alpha"], one["risk_total"]) == pytest.approx((0.05 / 12, 0.075))
    text = " ".join(str(found).split())
    assert "time 99.58 % slower>2%" in text
    assert (
        "look 3 of a growing trial: judged at .42 % (alpha/12); all looks together at most" in text
    )
    assert " 95 %" not in text


def test_looks_at_other_risks_have_no_common_heading(compared):
    lines = {"b": (0.0, 0.004, 5)}
    with pytest.raises(UsageError, match=r"different confidences: 0\.95, 0\.975"):
        gate([compared(lines), compared(lines, looks=2)], "slower>2%")


def always_valid_half(n, error, alpha, c2=10.0):
    k = 1 + n * c2
    a = (k / alpha**2) ** (1 / n)
    return error * math.sqrt((n - 1) * (a - 1) / (1 - a / k)) if a < k else math.inf


@pytest.mark.parametrize("n", [3, 5, 10, 50])
def test_always_valid_p_is_the_risk_at_which_the_interval_ends_at_the_limit(compared, n):
    for t in (3.0, 6.0, 12.0):
        line = {"b": (LIMIT - t * 0.004, 0.004, n - 1)}
        found = gate(compared(line, always_valid=True), "slower>2%").candidates[0].suite
        p = found.pvalue_condition
        if p < 0.49:
            assert always_valid_half(n, 0.004, 2 * p) == pytest.approx(t * 0.004)
        assert p > stats.t.cdf(-t, n - 1)  # looking at will costs


# ---- no spread, no interval, no design


def test_what_does_not_vary_proves_nothing_and_takes_the_place_of_the_largest_p(compared):
    lines = {"still": None, "b": (LIMIT - 0.004 * 2.6, 0.004, 5)}  # p = 0.024
    reasons = {"still": "no-spread"}
    alone = gate(compared({"b": lines["b"]}, (0.0, 0.004, 5)), "slower>2%")
    assert outcomes(alone) == {"b": "proven"}
    made = compared(lines, (0.0, 0.004, 5), reasons=reasons)
    wide = replace(made.benchmarks[0], reason=None, pvalue=1.0)  # always-valid, of two sessions
    for one in (replace(made, benchmarks=(wide, made.benchmarks[1])), made):
        found = gate(one, "slower>2%")
        assert outcomes(found) == {"still": "undecided", "b": "undecided"}  # b at half the risk
    still = found.candidates[0].benchmarks[0]
    assert (still.reason, still.pvalue_condition) == ("no-interval", None)


def test_the_clocks_step_is_taken_from_the_distance_to_the_limit(compared):
    """Authority: the definition: the one-sided t at the distance less the step."""
    for x, step in ((-0.05, 0.01), (-0.022, 0.01), (0.01, 0.02)):
        made = compared({"b": (x, 0.004, 5)})
        line = replace(made.benchmarks[0], step_added=step)
        found = gate(replace(made, benchmarks=(line,)), "slower>2%").candidates[0].benchmarks[0]
        assert found.pvalue_condition == pytest.approx(stats.t.cdf((x + step - LIMIT) / 0.004, 5))


def test_a_benchmark_without_interval_is_undecided_and_named(compared):
    lines = {"a": (0.0, 0.004, 5), "b": None}
    found = gate(compared(lines, (0.0, 0.004, 5)), "slower>2%")
    assert found.outcome == "passed"
    assert [(caution.code, caution.about) for caution in found.cautions] == [
        ("gate-without", ("v2", "b"))
    ]
    strict = gate(compared(lines, (0.0, 0.004, 5)), "slower>2%", on="benchmarks")
    assert (strict.outcome, strict.cautions) == ("undecided", ())


@pytest.mark.parametrize("design", ["one session, blocks", "one session, runs", "confounded"])
@pytest.mark.parametrize("x", [0.5, -0.5])
def test_other_designs_never_decide(compared, design, x):
    reason = "confounded" if design == "confounded" else "one-session"
    lines = {"a": (x, 0.004, 30), "b": (x, 0.004, 30)}
    for on in ("suite", "benchmarks"):
        found = gate(compared(lines, (x, 0.004, 30), design=design), "slower>2%", on=on)
        assert (found.outcome, found.exit_code) == ("undecided", 7)
        assert found.candidates[0].reason == reason
        assert {line.reason for line in found.candidates[0].benchmarks} == {reason}
        assert {line.pvalue_condition for line in found.candidates[0].benchmarks} == {None}


@pytest.mark.parametrize("design", ["paired", "separate", "one session, blocks"])
def test_failing_more_often_does_not_pass_however_fast(compared, design):
    lines = {"a": (0.5, 0.004, 5), "b": (0.5, 0.004, 5)}
    made = compared(lines, (0.5, 0.004, 5), design=design, reasons={"b": "fails-more"})
    found = gate(made, "slower>2%")
    assert (found.exit_code, found.candidates[0].reason) == (1, "fails-more")
    assert outcomes(found)["b"] == "proven"


# ---- several benchmarks


def holm_by_hand(ps, risk):
    """Reject down from the smallest, each at risk / (how many are left)."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    rejected = set()
    for place, k in enumerate(order):
        if ps[k] > risk / (len(ps) - place):
            break
        rejected.add(k)
    return rejected


numbers = st.tuples(
    st.floats(-0.2, 0.2), st.floats(1e-4, 0.1), st.integers(1, 20)
)  # log speedup, error, freedom


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(numbers, min_size=1, max_size=8), numbers, st.sampled_from([0.9, 0.95, 0.99]))
def test_proofs_are_holms_and_passes_are_every_bound(benchmarks, these, confidence):
    from .conftest import comparison

    lines = {f"b{k}": given for k, given in enumerate(benchmarks)}
    made = comparison(lines, these if len(lines) > 1 else None, confidence=confidence)
    suite = gate(made, "slower>2%")
    each = gate(made, "slower>2%", on="benchmarks")
    risk = (1 - confidence) / 2
    ps = [stats.t.cdf((x - LIMIT) / error, freedom) for x, error, freedom in benchmarks]
    proven = {f"b{k}" for k in holm_by_hand(ps, risk)}
    passed = {f"b{k}" for k, p in enumerate(ps) if p > 1 - risk}
    assert suite.candidates[0].named("proven") == tuple(sorted(proven, key=lambda b: int(b[1:])))
    assert set(each.candidates[0].named("passed")) == passed
    assert not proven & passed  # never both

    x, error, freedom = these if len(lines) > 1 else benchmarks[0]
    p = stats.t.cdf((x - LIMIT) / error, freedom)
    whole = "proven" if p <= risk else "passed" if p > 1 - risk else "undecided"
    assert suite.outcome == ("proven" if proven else whole)
    assert each.outcome == (
        "proven" if proven else "passed" if len(passed) == len(lines) else "undecided"
    )


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(numbers, min_size=2, max_size=6), numbers)
def test_a_larger_limit_never_turns_a_pass_into_a_proof(benchmarks, these):
    from .conftest import comparison

    made = comparison({f"b{k}": given for k, given in enumerate(benchmarks)}, these)
    rank = {"passed": 0, "undecided": 1, "proven": 2}
    # from the mildest condition to the strictest
    asked = ["slower>20%", "slower>5%", "slower>2%", "slower>0%", "faster<2%", "faster<10%"]
    found = [rank[gate(made, condition).outcome] for condition in asked]
    assert found == sorted(found)


# ---- several candidates, and what is refused


def test_the_worst_candidate_decides_of_one_family(compared):
    good = compared({"b": (0.0, 0.004, 5)}, candidate="good")
    open_ = compared({"b": (LIMIT, 0.004, 5)}, candidate="open")
    bad = compared({"b": (LIMIT - 0.004 * 2.9, 0.004, 5)}, candidate="bad")
    assert gate(bad, "slower>2%").outcome == "proven"
    assert gate([good, open_, bad], "slower>2%").outcome == "undecided"
    bad = compared({"b": (LIMIT - 0.004 * 5, 0.004, 5)}, candidate="bad")
    assert gate([good, open_], "slower>2%").exit_code == 7
    found = gate([good, open_, bad], "slower>2%")
    assert (found.outcome, found.exit_code) == ("proven", 1)
    assert [one.outcome for one in found.candidates] == ["passed", "undecided", "proven"]


def test_what_cannot_be_decided_together_is_refused(compared):
    one = compared({"b": (0.0, 0.004, 5)})
    with pytest.raises(UsageError, match="no candidate at the gate"):
        gate([], "slower>2%")
    with pytest.raises(UsageError, match=r"different confidences: 0\.9, 0\.95"):
        gate([one, compared({"b": (0.0, 0.004, 5)}, confidence=0.9)], "slower>2%")
    with pytest.raises(UsageError, match="on must be"):
        gate(one, "slower>2%", on="programs")
