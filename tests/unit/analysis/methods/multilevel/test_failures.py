"""Runs that fail: what is proven, what is told, and by which sessions.

Authority: scipy's Fisher test; the permutation of whole sessions with Holm's correction, computed again
from binomial coefficients; the rule for a candidate that never succeeds.
"""

import math

import numpy as np
import pytest
from scipy.stats import fisher_exact

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import UsageError
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.failures import fisher
from analysis.verdict.gate import gate

RUNS = 8


@pytest.mark.parametrize(
    "table",
    [(5, 48, 0, 48), (1, 10, 0, 10), (8, 8, 0, 8), (3, 12, 9, 40), (0, 5, 0, 9), (30, 60, 12, 60)],
)
def test_fisher_is_scipys(table):
    a, n, b, m = table
    expected = fisher_exact([[a, n - a], [b, m - b]]).pvalue
    assert fisher(a, n, b, m) == pytest.approx(expected, rel=1e-9)


def side(name, failed, *, sessions=6, first=1, better="lower", counts=True, seed=0):
    """Make a side of benchmarks: of each how many of 8 runs fail in each session."""
    rng = np.random.default_rng([seed, *name.encode()])
    rows, ids, lost = {}, {}, {}
    for bench, told in failed.items():
        good = [RUNS - n for n in told]
        lost[bench] = {first + k: n for k, n in enumerate(told)}
        if any(good):
            ids[bench] = np.repeat(first + np.arange(len(told)), good)
            rows[bench] = np.exp(0.01 * rng.normal(size=sum(good)))
    if not counts:
        lost = {bench: sum(by.values()) for bench, by in lost.items()}
    assert all(len(told) == sessions for told in failed.values())
    return PerformanceMatrix.from_samples(
        name, rows, better=better, sessions=ids, failed=lost, cut={}
    )


def compared(ours, theirs, **more):
    return multilevel(side("new", ours, **more), side("old", theirs, **more))


def outcome(result, **more):
    found = gate(result, "slower>50%", **more)
    return found.exit_code, found.candidates[0].reason


NONE = [0] * 6


def test_what_is_proven_is_one_word_of_verdict_and_gate():
    result = compared({"a": [3, 2, 2, 3, 2, 2], "b": NONE}, {"a": NONE, "b": NONE})
    line = result.benchmarks[0]
    assert line.pvalue_fails == pytest.approx(1 / math.comb(12, 6), rel=1e-12)
    assert line.pvalue_fails_adjusted == pytest.approx(2 / math.comb(12, 6), rel=1e-12)
    assert (line.outcome, line.reason, line.fails_proven) == ("undecided", "fails-more", True)
    assert line.fails.candidate == (3, 2, 2, 3, 2, 2)
    assert line.fails.candidate_runs == (8,) * 6
    assert line.to_dict()["fails"]["baseline"] == [0] * 6
    assert line.more_sessions is None
    other = result.benchmarks[1]
    assert (other.pvalue_fails, other.pvalue_fails_adjusted, other.reason) == (1, 1, None)
    assert outcome(result) == (1, "fails-more")
    assert gate(result, "slower>50%").candidates[0].named("proven") == ("a",)


def test_failures_of_several_candidates_are_one_family():
    # authority: rules-2, 9: Holm over candidates times benchmarks
    old = side("old", {"a": NONE, "b": NONE})
    new, other = (side(x, {"a": [3, 2, 2, 3, 2, 2], "b": NONE}) for x in ("new", "other"))
    result = multilevel(new, old, beside=[multilevel(other, old)])
    assert result.benchmarks[0].pvalue_fails_adjusted == pytest.approx(4 / math.comb(12, 6))
    assert result.candidates == 2


def test_both_screens_explain_each_other():
    result = compared({"a": [3, 2, 2, 3, 2, 2], "b": NONE}, {"a": NONE, "b": NONE})
    told = "gate stops: failed 14 of 48, baseline 0 of 48; p .0011, adjusted .0022"
    assert told in " ".join(str(result).split())
    text = str(gate(result, "slower>50%"))
    assert text.startswith("STOP  new fails more often than old on a\n")
    assert "proven fails more often" in " ".join(text.split())


def test_failures_of_one_bad_night_prove_nothing_and_are_told():
    # as draws of single runs 8 of 48 against none have p = .006
    result = compared({"a": [8, 0, 0, 0, 0, 0]}, {"a": NONE})
    line = result.benchmarks[0]
    assert fisher(8, 48, 0, 48) < 0.01
    assert line.pvalue_fails == pytest.approx(0.5)
    assert (line.reason, line.fails_proven) == (None, False)
    told = " ".join(str(result).split())
    assert "failed 8 of 48, baseline 0 of 48; p .50, adjusted .50" in told
    assert outcome(result) == (0, None)


@pytest.mark.parametrize(
    ("sessions", "benchmarks"), [(4, 1), (5, 6), (6, 23), (7, 85), (3, 0), (2, 0)]
)
def test_so_many_benchmarks_can_be_proven_with_so_few_sessions(sessions, benchmarks):
    # the published table of the least sessions: one benchmark that loses a run in every session
    for count, proven in ((benchmarks, True), (benchmarks + 1, False)):
        if not count:
            continue
        ours = {f"b{k}": [0] * sessions for k in range(count)} | {"b0": [1] * sessions}
        theirs = {name: [0] * sessions for name in ours}
        result = compared(ours, theirs, sessions=sessions)
        assert result.benchmarks[0].fails_proven is proven


def test_a_baseline_that_fails_more_is_no_reason():
    result = compared({"a": NONE}, {"a": [3] * 6})
    assert (result.benchmarks[0].reason, result.benchmarks[0].pvalue_fails) == (None, 1)


def test_where_more_is_better_failing_is_failing_too():
    result = compared({"a": [3] * 6}, {"a": NONE}, better="higher")
    assert result.benchmarks[0].reason == "fails-more"


def test_confidence_and_looks_divide_the_risk():
    both = side("new", {"a": [1] * 4}, sessions=4), side("old", {"a": [0] * 4}, sessions=4)
    assert multilevel(*both).benchmarks[0].reason == "fails-more"  # p = 1/70
    assert multilevel(*both, looks=2).benchmarks[0].reason is None
    assert multilevel(*both, confidence=0.98).benchmarks[0].reason is None


def test_what_holds_at_every_look_needs_more():
    # 6 sessions: .025 / 42 < 1 / 924; 8 sessions: .025 / 72 > 1 / 12870
    for sessions, reason in ((6, None), (8, "fails-more")):
        both = (
            side(name, {"a": [n] * sessions}, sessions=sessions)
            for name, n in (("new", 1), ("old", 0))
        )
        assert multilevel(*both, always_valid=True).benchmarks[0].reason == reason


# ---- never


@pytest.mark.parametrize(("sessions", "code"), [(1, 7), (2, 7), (3, 1), (6, 1)])
def test_a_candidate_that_never_succeeds(sessions, code):
    ours = {"a": [8] * sessions, "b": [0] * sessions, "c": [0] * sessions}
    theirs = {name: [0] * sessions for name in ours}
    result = compared(ours, theirs, sessions=sessions)
    assert [line.name for line in result.benchmarks] == ["b", "c", "a"]
    line = result.benchmarks[-1]
    assert (line.speedup, line.outcome, line.reason) == (None, "undecided", "fails-always")
    assert (line.runs_candidate, line.failed_candidate) == (0, 8 * sessions)
    assert line.fails_proven is (code == 1)
    assert outcome(result) == (code, "fails-always")
    assert outcome(result, on="benchmarks") == (code, "fails-always")
    (caution,) = (c for c in result.cautions if c.code == "fails-always")
    assert caution.about == ("a",)


@pytest.mark.parametrize(("failed", "told"), [(None, 0), ({"a": 5}, 5)])
def test_a_line_of_failures_counts_those_of_the_baseline(failed, told):
    new = PerformanceMatrix.from_samples("new", {"b": [1.0, 1.1]}, better="lower", failed={"a": 8})
    both = {"a": [1.0, 1.2, 1.1], "b": [1.0, 1.1]}
    old = PerformanceMatrix.from_samples("old", both, better="lower", failed=failed)
    line = multilevel(new, old).benchmarks[-1]
    assert (line.name, line.failed_candidate, line.failed_baseline) == ("a", 8, told)
    assert (line.runs_candidate, line.runs_baseline) == (0, 3)


def test_where_the_baseline_fails_too_only_sessions_prove():
    dead = {"a": [8] * 3, "b": [0] * 3}
    result = compared(dead, {"a": [0, 1, 0], "b": [0] * 3}, sessions=3)
    assert result.benchmarks[-1].reason == "fails-always"
    assert outcome(result) == (7, "fails-always")
    six = compared({"a": [8] * 6, "b": NONE}, {"a": [0, 1, 0, 0, 0, 0], "b": NONE})
    assert six.benchmarks[-1].pvalue_fails == pytest.approx(1 / 924)
    assert outcome(six) == (1, "fails-always")


def test_a_benchmark_of_which_no_side_ever_succeeds_has_no_line():
    result = compared({"a": [8] * 6, "b": NONE}, {"a": [8] * 6, "b": NONE})
    assert [line.name for line in result.benchmarks] == ["b"]
    assert outcome(result) == (0, None)


# ---- one session, and totals


def test_runs_of_one_session_are_no_repetition():
    result = compared({"a": [7], "b": [0]}, {"a": [0], "b": [0]}, sessions=1)
    line = result.benchmarks[0]
    assert (line.pvalue_fails, line.reason, line.fails_proven) == (0.5, None, False)
    (caution,) = (c for c in result.cautions if c.code == "fails-in-one-session")
    assert caution.about == ("a",)
    assert "no repetition" in caution.text
    assert outcome(result) == (7, "one-session")


def test_one_session_against_many_proves_nothing_either():
    # 1 of 41 dealings is .024: but one session is no repetition, however many the other side has
    ours = side("new", {"a": [7]}, sessions=1)
    theirs = side("old", {"a": [0] * 40}, sessions=40, first=100)
    line = multilevel(ours, theirs).benchmarks[0]
    assert line.pvalue_fails == pytest.approx(1 / 41)
    assert (line.reason, line.fails_proven) == ("confounded", False)


def test_totals_are_told_and_never_proven():
    result = compared({"a": [7] * 6, "b": NONE}, {"a": NONE, "b": NONE}, counts=False)
    line = result.benchmarks[0]
    assert (line.pvalue_fails, line.pvalue_fails_adjusted, line.fails) == (None, None, None)
    assert (line.reason, line.fails_proven) == (None, False)
    assert "failed 42 of 48, baseline 0 of 48" in " ".join(str(result).split())
    (caution,) = (c for c in result.cautions if c.code == "failures-without-sessions")
    assert caution.about == ("a",)
    dead = compared({"a": [8] * 6, "b": NONE}, {"a": NONE, "b": NONE}, counts=False)
    assert dead.benchmarks[-1].reason == "fails-always"
    assert outcome(dead) == (1, "fails-always")


def test_totals_of_a_side_without_sessions_never_prove():
    values = {"b": [1.0, 1.1, 1.2]}
    new = PerformanceMatrix.from_samples("new", values, better="lower", failed={"a": 9})
    old = PerformanceMatrix.from_samples("old", {"a": [1.0, 1.1], **values}, better="lower")
    result = multilevel(new, old)
    assert [line.reason for line in result.benchmarks] == [None, "fails-always"]
    assert not result.benchmarks[-1].fails_proven


# ---- designs and shapes


def test_separate_sides_of_unequal_numbers_of_sessions():
    ours = side("new", {"a": [2, 3, 2]}, sessions=3)
    theirs = side("old", {"a": [0] * 7}, sessions=7, first=100)
    result = multilevel(ours, theirs)
    assert result.design == "separate"
    assert result.benchmarks[0].pvalue_fails == pytest.approx(1 / math.comb(10, 3))
    assert outcome(result) == (1, "fails-more")


def test_sessions_that_only_one_side_has_count_for_failures():
    ours = side("new", {"a": [3, 3, 3, 3, 3, 8]})
    theirs = side("old", {"a": [0] * 5}, sessions=5)
    result = multilevel(ours, theirs)
    assert result.design == "paired"
    line = result.benchmarks[0]
    assert (len(line.fails.candidate), len(line.fails.baseline)) == (6, 5)
    assert line.pvalue_fails == pytest.approx(1 / math.comb(11, 6))


def test_cells_of_unequal_runs_weigh_the_same():
    # shares 1/2, 1/2, 1/4, 1/4 against none: the least p of 4 sessions, whatever the runs
    runs = {1: (1, 2), 2: (4, 8), 3: (1, 4), 4: (2, 8)}
    ids = np.repeat(list(runs), [n - f for f, n in runs.values()])
    ours = PerformanceMatrix.from_samples(
        "new",
        {"a": np.exp(0.01 * np.arange(ids.size))},
        better="lower",
        sessions={"a": ids},
        failed={"a": {k: f for k, (f, _) in runs.items()}},
    )
    line = multilevel(ours, side("old", {"a": [0] * 4}, sessions=4)).benchmarks[0]
    assert line.pvalue_fails == pytest.approx(1 / 70)
    assert line.fails.candidate_runs == (2, 8, 4, 8)


def test_names_of_sessions_and_unknown_ones():
    good = {"a": ["mon", "tue"]}
    made = PerformanceMatrix.from_samples(
        "new", {"a": [1.0, 1.1]}, better="lower", sessions=good, failed={"a": {"wed": 2, "mon": 0}}
    )
    assert made.failed == {"a": 2}
    assert made.failed_by_session == {"a": {"wed": 2}}
    for wrong in ({"a": {3: 1}}, {"a": {True: 1}}, {"a": {"mon": -1}}, {"a": -1}):
        with pytest.raises(UsageError, match=r"failed|session"):
            PerformanceMatrix.from_samples(
                "new", {"a": [1.0, 1.1]}, better="lower", sessions=good, failed=wrong
            )
    with pytest.raises(UsageError, match="sessions of failed runs are named"):
        PerformanceMatrix.from_samples(
            "new", {"a": [1.0]}, better="lower", failed={"a": {"mon": 1}}
        )


def test_the_block_of_a_failed_run_drops_out(noisy, matrix_of):
    a, b = noisy(1), noisy(2)
    lost = [run for run in a if run[:3] != ("b0", 2, "2.3")]
    beside = [run for run in b if run[:3] != ("b0", 2, "2.3")]
    one, both = (
        multilevel(matrix_of("new", lost), matrix_of("old", side_)).benchmarks[0]
        for side_ in (b, beside)
    )
    assert one.differences == pytest.approx(both.differences, abs=1e-13)


def test_the_suite_is_that_of_the_benchmarks_that_have_runs(noisy, matrix_of):
    a = [run for run in noisy(1) if run[0] != "b1"]
    result = multilevel(matrix_of("new", a, failed={"b1": 20}), matrix_of("old", noisy(2)))
    assert [line.name for line in result.benchmarks] == ["b0", "b2", "b1"]
    assert result.these == multilevel(matrix_of("new", a), matrix_of("old", noisy(2))).these
