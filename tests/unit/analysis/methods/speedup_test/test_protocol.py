"""The decisions of the Speedup-Test: every branch of both flow charts, the search, and the edges."""

import numpy as np
import pytest

from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.speedup_test.compare import LEVELS, risk_of, speedup_test
from analysis.methods.speedup_test.result import (
    F_TEST,
    KOLMOGOROV,
    SHAPIRO,
    STUDENT,
    WELCH,
    WILCOXON,
    Decision,
)
from analysis.stats.classical import rank_sum, student, welch

RNG = np.random.default_rng(20261121)
NORMAL = np.sort(RNG.normal(10, 1, 25))
OUTLIER = np.concatenate([RNG.normal(10, 0.1, 24), [30.0]])
LARGE = RNG.normal(10, 1, 40)
SKEWED = 9 + RNG.exponential(1, 40)


def path(decision: Decision) -> list[tuple[str, str]]:
    return [(step.test, step.outcome) for step in decision.steps]


def test_both_small_normal_and_alike_is_student() -> None:
    done = speedup_test(NORMAL + 1, NORMAL)
    assert path(done.mean) == [
        (SHAPIRO, "not rejected"),
        (SHAPIRO, "not rejected"),
        (F_TEST, "not rejected"),
        (STUDENT, "rejected"),
    ]
    assert [step.sample for step in done.mean.steps] == ["baseline", "candidate", None, None]
    assert done.mean.significant is True
    assert done.mean.pvalue == done.mean.steps[-1].pvalue == student(NORMAL + 1, NORMAL).pvalue[0]
    assert (done.mean.confidence, done.mean.needed_runs, done.mean.searched) == (0.95, None, False)
    assert {step.risk for step in (*done.mean.steps, *done.median.steps)} == {0.05}
    assert done.mean.stopped is False


def test_unequal_variances_lead_to_welch() -> None:
    wide = 10 + 5 * (NORMAL - 10)
    done = speedup_test(wide + 3, NORMAL)
    assert path(done.mean)[2:] == [(F_TEST, "rejected"), (WELCH, "rejected")]
    assert done.mean.pvalue == welch(wide + 3, NORMAL).pvalue[0]


def test_a_slower_candidate_is_never_significant() -> None:
    done = speedup_test(NORMAL, NORMAL + 5)
    assert (done.mean.significant, done.median.significant) == (False, False)
    assert done.mean.pvalue > 0.99
    searched = speedup_test(NORMAL, NORMAL + 5, confidence=None)
    for decision in (searched.mean, searched.median):
        assert (decision.significant, decision.confidence) == (False, None)
        assert decision.pvalue > 0.99
    assert not searched.accelerated


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_a_small_sample_that_is_not_normal_stops_the_mean(side: str) -> None:
    samples = (OUTLIER, NORMAL) if side == "baseline" else (NORMAL, OUTLIER)
    done = speedup_test(*samples).mean
    assert done.significant is None
    assert (done.pvalue, done.needed_runs, done.confidence) == (None, 31, 0.95)
    assert [step.test for step in done.steps] == [SHAPIRO, SHAPIRO]
    failed = [step.sample for step in done.steps if step.outcome == "rejected"]
    assert failed == [side]
    assert "more than 30 runs" in "".join(step.consequence for step in done.steps)


@pytest.mark.parametrize("size", [30, 31])
def test_only_samples_of_at_most_30_must_be_normal(size: int) -> None:
    other = np.concatenate([np.linspace(9.9, 10.1, size - 1), [30.0]])
    done = speedup_test(other, NORMAL).mean
    assert done.steps[0].outcome == "rejected"
    if size == 30:
        assert (done.significant, done.needed_runs) == (None, 31)
    else:  # 25 runs on the other side are normal: F and t go on
        assert [step.test for step in done.steps[2:]] == [F_TEST, WELCH]
        assert done.significant is not None


def test_f_and_t_run_when_both_are_large() -> None:
    done = speedup_test(SKEWED + 2, LARGE)
    assert [step.test for step in done.mean.steps] == [SHAPIRO, SHAPIRO, F_TEST, STUDENT]
    assert done.mean.steps[0].outcome == "rejected"
    assert "approximate" in done.mean.steps[0].consequence
    assert any("the baseline does not look normal" in text for text in done.cautions)
    both = speedup_test(SKEWED + 2, SKEWED)
    assert any(
        str(caution).startswith("the baseline and the candidate do not look normal")
        for caution in both.cautions
    )


def test_shapes_that_differ_stop_the_median_of_small_samples() -> None:
    flat = np.concatenate([np.full(20, 10.0) + np.arange(20) * 1e-6, [10.1]])
    done = speedup_test(flat, NORMAL).median
    assert path(done) == [(KOLMOGOROV, "rejected")]
    assert (done.significant, done.pvalue, done.needed_runs) == (None, None, 31)


def test_shapes_that_differ_are_passed_over_when_both_are_large() -> None:
    tight = 10 + (LARGE - 10) / 100
    done = speedup_test(tight + 3, LARGE)
    assert path(done.median) == [(KOLMOGOROV, "rejected"), (WILCOXON, "rejected")]
    assert done.median.pvalue == rank_sum(tight + 3, LARGE).pvalue[0]
    assert any("shift only" in text for text in done.cautions)
    # one small side is enough to stop
    assert speedup_test(tight + 3, NORMAL).median.significant is None


@pytest.mark.parametrize("runs", [1, 2])
def test_too_few_runs_for_shapiro(runs: int) -> None:
    done = speedup_test([2.0, 2.1][:runs], NORMAL).mean
    assert done.significant is None
    assert done.needed_runs == 3
    assert done.steps[0].outcome == "not tested"
    assert done.steps[0].statistic is None
    assert done.steps[0].consequence == "it needs 3 runs, so cannot conclude"


def test_one_run_on_each_side() -> None:
    done = speedup_test([2.0], [1.0])
    assert done.speedup_mean == 2.0
    assert (done.mean.significant, done.median.significant) == (None, False)
    assert done.median.pvalue == 0.5


def test_constant_samples_become_steps() -> None:
    small = speedup_test([2.0] * 5, [1.0, 1.2, 1.1, 0.9]).mean
    assert (small.significant, small.needed_runs) == (None, 31)
    assert small.steps[0].outcome == "not tested"
    assert "all values are equal" in small.steps[0].consequence
    one = speedup_test([12.0] * 35, LARGE).mean
    assert one.steps[0].outcome == "not tested"
    assert path(one)[2:] == [(F_TEST, "not tested"), (WELCH, "rejected")]
    assert one.significant is True
    both = speedup_test([2.0] * 35, [1.0] * 35)
    assert both.mean.significant is None
    assert path(both.mean)[-1] == (WELCH, "not tested")
    assert "more than rounding" in both.mean.steps[-1].consequence
    assert both.median.significant is True
    equal = speedup_test([2.0] * 5, [2.0] * 5, confidence=None)
    assert (equal.mean.significant, equal.median.significant) == (False, False)
    assert equal.median.pvalue == 1.0


def test_more_than_5000_runs_need_no_shapiro() -> None:
    done = speedup_test(RNG.normal(10, 1, 5001), LARGE).mean
    assert done.steps[0].outcome == "not tested"
    assert "5000" in done.steps[0].consequence
    assert done.significant is not None
    most = speedup_test(np.random.default_rng(1).normal(10, 1, 5000), LARGE).mean
    assert most.steps[0].outcome != "not tested"


def test_the_risk_is_the_decimal_complement() -> None:
    assert risk_of(0.95) == 0.05 != 1 - 0.95
    assert [risk_of(level / 100) for level in LEVELS] == [(100 - k) / 100 for k in LEVELS]
    assert (LEVELS[0], LEVELS[-1], len(LEVELS)) == (99, 51, 49)


def test_a_p_of_exactly_the_risk_is_accepted() -> None:
    # 3 and 3 runs without ties: P(W = 9) = 1/20, and KS gives 1
    x, y = [11.0, 12.0, 13.5], [1.0, 2.0, 3.4]
    for confidence in (0.95, 1 - 0.05, 1 - 1 / 20):
        done = speedup_test(x, y, confidence=confidence).median
        assert done.pvalue == pytest.approx(0.05, rel=1e-15)
        assert done.significant is True
    assert speedup_test(x, y, confidence=0.951).median.significant is False
    assert speedup_test(x, y, confidence=None).median.confidence == 0.95


def test_a_check_fails_at_exactly_its_p() -> None:
    x, y = 11 + 1.5 * (NORMAL - 10), NORMAL
    usual = speedup_test(x, y)
    normal, _, f, t = usual.mean.steps
    shape = usual.median.steps[0]
    assert t.test == STUDENT
    at_f = speedup_test(x, y, confidence=1 - f.pvalue).mean
    assert path(at_f)[2:] == [(F_TEST, "rejected"), (WELCH, "rejected")]
    assert at_f.pvalue == at_f.steps[-1].pvalue != t.pvalue
    at_normal = speedup_test(x, y, confidence=1 - normal.pvalue).mean
    assert path(at_normal) == [(SHAPIRO, "rejected")] * 2
    assert (at_normal.significant, at_normal.pvalue) == (None, None)
    at_shape = speedup_test(x, y, confidence=1 - shape.pvalue).median
    assert path(at_shape) == [(KOLMOGOROV, "rejected")]
    assert (at_shape.significant, at_shape.pvalue) == (None, None)


def test_the_search_tells_the_steps_of_its_level() -> None:
    done = speedup_test(NORMAL + 0.3, NORMAL, confidence=None)
    for decision in (done.mean, done.median):
        assert decision.searched
        level = round(100 * decision.confidence)
        assert {step.risk for step in decision.steps} == {(100 - level) / 100}
        assert decision.steps[-1].outcome == "rejected"
        asked = speedup_test(NORMAL + 0.3, NORMAL, confidence=decision.confidence)
        assert asked.mean.significant or asked.median.significant
        assert decision.pvalue > (99 - level) / 100  # one level more is too much


def test_acceptance_is_not_monotone_so_the_scan_starts_at_the_top() -> None:
    # Shapiro holds at small risks only, where t is significant: accepted at 0.98, not at 0.51.
    rng = np.random.default_rng(1)
    for _ in range(500):
        x, y = 1.2 + rng.exponential(0.2, 8), 1 + rng.exponential(0.2, 8)
        best = speedup_test(x, y, confidence=None).mean
        if best.confidence and speedup_test(x, y, confidence=0.51).mean.significant is None:
            break
    else:
        pytest.fail("no such pair")
    accepted = [
        k / 100 for k in LEVELS if speedup_test(x, y, confidence=k / 100).mean.significant is True
    ]
    assert max(accepted) == best.confidence


def test_a_failed_search_tells_what_would_be_needed() -> None:
    done = speedup_test(OUTLIER + 5, NORMAL, confidence=None).mean
    assert (done.significant, done.confidence, done.needed_runs) == (False, None, 31)
    assert done.pvalue is None
    assert {step.risk for step in done.steps} == {0.49}


def test_a_failed_check_is_blamed_only_where_p_would_allow_a_level() -> None:
    # Shapiro's p is 0.17: it fails at 0.49 in both. Where the candidate is slower, p forbids each
    # level by itself; where it is a little faster, a level near 0.7 is lost to the check.
    x = 5 - np.log(1 - (np.arange(9) + 0.5) / 9)
    level, apart = (speedup_test(x + shift, x, confidence=None) for shift in (-0.05, 0.2))
    for done in (level, apart):
        assert (done.mean.confidence, done.mean.needed_runs) == (None, 31)
    assert level.mean.pvalue > 0.49 > apart.mean.pvalue
    assert (level.mean.stopped, apart.mean.stopped) == (False, True)
    assert "31 runs are needed" not in str(level)
    assert "31 runs are needed where a check failed" in " ".join(str(apart).split())


def test_bisection_is_cut_to_two_decimals() -> None:
    for shift in (0.02, 0.1, 0.3, 0.5):
        scan = speedup_test(NORMAL + shift, NORMAL, confidence=None).median
        halved = speedup_test(NORMAL + shift, NORMAL, confidence=None, compatible=True).median
        if scan.confidence is None:
            assert halved.confidence is None
        else:
            assert scan.confidence - 0.0101 < halved.confidence <= scan.confidence


@pytest.mark.parametrize("shift", [0.02, 0.1, 0.3, 0.5])
def test_bisection_tells_the_steps_at_the_risk_that_it_accepted(shift: float) -> None:
    done = speedup_test(NORMAL + shift, NORMAL, confidence=None, compatible=True).median
    (risk,) = {step.risk for step in done.steps}
    assert done.confidence <= 1 - risk < done.confidence + 0.01
    assert (risk * 512).is_integer()  # eight halvings of [0.5, 1]
    assert done.pvalue == done.steps[-1].pvalue <= risk
    assert [step.outcome for step in done.steps] == ["not rejected", "rejected"]
    # a whole step further nothing is accepted
    above = speedup_test(NORMAL + shift, NORMAL, confidence=1 - risk + 1 / 512)
    assert above.median.significant is False


def test_levels_are_scanned_unless_the_original_search_is_asked_for() -> None:
    done = speedup_test(NORMAL + 0.3, NORMAL, confidence=None).median
    assert {step.risk for step in done.steps} == {risk_of(done.confidence)}


@pytest.mark.parametrize("compatible", [False, True])
def test_the_lowest_level_counts(compatible: bool) -> None:
    # W = 37 of 8 and 9 runs without ties has p = 0.4813: accepted at 0.51, not at 0.52
    y = np.arange(11.0, 20.0)
    x = np.array([11.5, 12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 19.5])
    done = speedup_test(x, y, confidence=None, compatible=compatible).median
    assert done.pvalue == pytest.approx(0.4813, abs=1e-4)
    assert (done.significant, done.confidence) == (True, 0.51)


def test_cautions_name_the_known_rates() -> None:
    asked = speedup_test(NORMAL + 1, NORMAL)
    searched = speedup_test(NORMAL + 1, NORMAL, confidence=None)
    assert not any("searched" in text for text in asked.cautions)
    assert "47 to 50 %" in searched.cautions[0]
    text = " ".join(map(str, asked.cautions))
    for rate in ("0.087", "0.134", "0.054", "13 %", "17 %", "23 %", "30 %"):
        assert rate in text


def test_the_text_shows_the_way() -> None:
    text = str(speedup_test(NORMAL + 1, NORMAL))
    assert text.startswith("speedup of the mean 1.102x: significant at 0.95 (p = ")
    for words in ("Shapiro-Wilk", "candidate", "variances taken as equal", "Student t", "rejected"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 96
    stopped = str(speedup_test(OUTLIER, NORMAL))
    assert "cannot conclude at 0.95; 31 runs are needed" in stopped
    failed = str(speedup_test(OUTLIER, NORMAL, confidence=None))
    assert "no confidence above 0.50 declares it" in failed
    found = str(speedup_test(NORMAL + 1, NORMAL, confidence=None))
    assert "significant up to confidence 0.99, by search" in found


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, float("nan")])
def test_a_wrong_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(UsageError, match="confidence"):
        speedup_test([1.0, 2.0], [1.0, 2.0], confidence=confidence)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1e308], [1e-308]),
        ([1e-308] * 5, [1e308] * 4),
        ([1.0, 2.0], [1e308, 1e-308, 1e-308]),
        ([1.0], [1e-320]),
    ],
)
def test_times_too_far_apart_are_refused(x: list[float], y: list[float]) -> None:
    with pytest.raises(AnalysisError, match="too far apart"):
        speedup_test(x, y)
    assert speedup_test([1e150, 2e150], [1e-149, 2e-149]).speedup_mean == pytest.approx(1e299)


def test_wrong_values_are_refused() -> None:
    with pytest.raises(InsufficientDataError):
        speedup_test([], [1.0])
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(AnalysisError, match="candidate"):
            speedup_test([1.0], [1.0, bad])


def test_a_slowdown_is_told_by_the_test_with_the_sides_swapped() -> None:
    # first use, A9: gzip-7 at 0.67x was "significant on 0 of 8", and nothing said "slower"
    slow = speedup_test(NORMAL, NORMAL + 5)
    swapped = speedup_test(NORMAL + 5, NORMAL)
    for ours, theirs in ((slow.mean, swapped.mean), (slow.median, swapped.median)):
        assert ours.swapped.significant is True
        assert ours.swapped.pvalue == theirs.pvalue
        assert (ours.word, theirs.word) == ("slower", "faster")
    assert (slow.word, swapped.word) == ("slower", "faster")
    text = " ".join(str(slow).split())
    assert text.count("significantly slower with the sides swapped (p = ") == 2
    assert "swapped" not in str(swapped)
    data = slow.to_dict()["mean"]
    assert (data["word"], data["pvalue_of"]) == ("slower", "candidate better")
    assert data["swapped"]["pvalue_of"] == "baseline better"


def test_equal_samples_are_told_apart_in_no_direction() -> None:
    done = speedup_test(NORMAL, NORMAL)
    assert done.word == "undecided"
    assert done.mean.swapped.significant is False
    assert "swapped" not in str(done)


def test_a_level_that_was_searched_is_an_answer_from_95_percent_on() -> None:
    # with nothing to find a search accepts some level on about half of all benchmarks
    slightly = speedup_test(LARGE + 0.1, LARGE, confidence=None)
    assert slightly.mean.significant is True
    assert slightly.mean.confidence < 0.95
    assert slightly.mean.word == "undecided"
    assert speedup_test(NORMAL + 5, NORMAL, confidence=None).mean.word == "faster"
