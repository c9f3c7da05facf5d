"""The confidence sequence and the p-values that belong to intervals.

Authority: the closed form of the t mixture, against the mixture integrated numerically; widths as
printed in the specification's table (rounded to two decimals).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats

from analysis.errors import UsageError
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.estimates import Estimates, of_differences
from analysis.methods.multilevel.law import C_SQUARED, ErrorLaw, Looks, decide, word_by_interval
from analysis.methods.multilevel.page import looks_text

ONES = np.ones(1)


def half(n: int, alpha: float = 0.05) -> float:
    """The half-width for sd 1, as the specification writes it."""
    k = 1 + n * C_SQUARED
    a = (k / alpha**2) ** (1 / n)
    return math.sqrt((n - 1) * (a - 1) / (1 - a / k) / n) if a < k else math.inf


@pytest.mark.parametrize(("n", "ratio"), [(3, 3.07), (5, 1.95), (10, 1.85), (30, 1.82), (50, 1.83)])
def test_the_width_against_the_fixed_t(n, ratio):
    freedom, error = ONES * (n - 1), ONES / math.sqrt(n)
    sequence = ErrorLaw(alpha=0.05, always_valid=True).half(error, freedom)[0]
    assert sequence == pytest.approx(half(n), rel=1e-12)
    assert sequence / ErrorLaw(alpha=0.05).half(error, freedom)[0] == pytest.approx(
        ratio, abs=0.006
    )


def test_two_sessions_have_no_finite_sequence():
    law = ErrorLaw(alpha=0.05, always_valid=True)
    assert law.multiplier(ONES)[0] == math.inf
    assert np.isnan(law.half(ONES, ONES)[0])
    assert law.pvalue(1e6 * ONES, ONES, ONES)[0] > 0.05


@pytest.mark.parametrize("n", [3, 5, 12])
def test_the_mixture_reaches_one_over_alpha_on_the_bound(n):
    # likelihood ratio of the t statistic: noncentral t mixed over mean/sd ~ N(0, c^2), against t
    bound = half(n) * math.sqrt(n)  # t at the end of the interval
    mixed, _ = integrate.quad(
        lambda delta: (
            stats.nct.pdf(bound, n - 1, delta * math.sqrt(n))
            * stats.norm.pdf(delta, scale=math.sqrt(C_SQUARED))
        ),
        -40,
        40,
        points=[0, bound / math.sqrt(n)],
        limit=400,
    )
    assert mixed / stats.t.pdf(bound, n - 1) == pytest.approx(1 / 0.05, rel=1e-5)


@pytest.mark.parametrize("always_valid", [False, True])
@pytest.mark.parametrize("n", [3, 6, 40])
def test_p_is_below_alpha_where_the_interval_excludes_the_hypothesis(always_valid, n):
    rng = np.random.default_rng(n)
    estimate, error = rng.normal(0, 1, 500), rng.uniform(0.05, 1.0, 500)
    freedom = np.full(500, n - 1.0)
    for alpha in (0.2, 0.05, 0.001):
        law = ErrorLaw(alpha=alpha, always_valid=always_valid)
        h = law.half(error, freedom)
        outside = np.abs(estimate) > np.where(np.isnan(h), np.inf, h)
        assert (law.pvalue(estimate, error, freedom) < alpha).tolist() == outside.tolist()
        inside = (estimate - h > -0.8) & (estimate + h < 0.8)
        p = law.pvalue_equivalent(estimate, error, freedom, 0.8)
        assert (p < alpha / 2).tolist() == inside.tolist()


def test_p_is_never_0_and_none_without_spread():
    law = ErrorLaw(alpha=0.05)
    p = law.pvalue(np.array([1.0, 1.0]), np.array([1e-200, 0.0]), np.array([50.0, 50.0]))
    assert 0 < p[0] < 1e-300
    assert np.isnan(p[1])


def test_p_of_equivalence_is_the_larger_of_two_t_tests():
    rng = np.random.default_rng(3)
    d = rng.normal(0.003, 0.005, 6)
    margin = math.log(1.01)
    one = stats.ttest_1samp(d, -margin, alternative="greater").pvalue
    other = stats.ttest_1samp(d, margin, alternative="less").pvalue
    found = ErrorLaw(alpha=0.05).pvalue_equivalent(
        d.mean() * ONES, stats.sem(d) * ONES, 5.0 * ONES, margin
    )
    assert found[0] == pytest.approx(max(one, other), rel=1e-9)


# --- Words and corrections: the interval decides, then the number of benchmarks


L = math.log(1.01)


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-0.5 * L, 0.9 * L, "equivalent"),
        (0.1 * L, 0.9 * L, "equivalent"),  # equivalent wins over faster
        (-0.9 * L, -0.1 * L, "equivalent"),
        (0.1 * L, L, "faster"),  # an end on the margin is not inside
        (0.0, 2 * L, "undecided"),
        (1.5 * L, 2 * L, "faster"),
        (-2 * L, -1.5 * L, "slower"),
        (-2 * L, 0.0, "undecided"),
        (-L, L, "undecided"),
        (math.nan, math.nan, "undecided"),
    ],
)
def test_the_word_is_read_off_the_interval(low, high, word):
    assert word_by_interval(low, high, L) == word


def found(estimates, errors, freedom=4.0):
    e = np.array(estimates, dtype=float)
    return Estimates(
        e, np.array(errors, dtype=float), np.full(e.shape, freedom), np.full(e.shape, 5)
    )


def test_without_correction_word_and_p_agree():
    rng = np.random.default_rng(1)
    law = ErrorLaw(alpha=0.05)
    d = decide(found(rng.normal(0, 0.01, 400), rng.uniform(0.0005, 0.01, 400)), law, L, "none")
    inside, outside = d.pvalue_equivalent <= 0.025, d.pvalue <= 0.05
    by_p = np.where(
        inside,
        "equivalent",
        np.where(outside, np.where(d.low > 0, "faster", "slower"), "undecided"),
    )
    assert by_p.tolist() == list(d.outcome) == list(d.outcome_uncorrected)
    assert set(d.outcome) == {"faster", "slower", "equivalent", "undecided"}


def test_holm_makes_words_undecided_and_never_touches_intervals():
    law = ErrorLaw(alpha=0.05)
    estimates = found([0.05, 0.05, 0.05, 0.001], [0.015, 0.016, 0.017, 0.02])
    plain, held = (decide(estimates, law, L, c) for c in ("none", "holm"))
    assert plain.outcome == ("faster", "faster", "faster", "undecided")
    assert held.outcome == ("undecided",) * 4
    assert held.outcome_uncorrected == plain.outcome
    assert held.low.tolist() == plain.low.tolist()
    assert held.pvalue_adjusted[0] == pytest.approx(4 * held.pvalue[0])


def test_a_word_may_step_back_from_equivalent_to_faster():
    # families are corrected apart: 0.6 % faster for sure, inside the margin only uncorrected
    d = decide(found([0.006, 0.0], [0.00165, 0.005], 9.0), ErrorLaw(alpha=0.05), L, "holm")
    assert d.outcome_uncorrected[0] == "equivalent"
    assert d.outcome[0] == "faster"


def test_no_spread_proves_nothing_and_counts_as_the_largest():
    law = ErrorLaw(alpha=0.05)
    d = decide(found([0.1, 0.03, 0.005], [0.0, 0.003, 0.0]), law, L, "holm")
    for numbers in (d.pvalue, d.pvalue_equivalent, d.pvalue_adjusted, d.low, d.high):
        assert np.isnan(numbers[[0, 2]]).all()
    assert d.outcome == ("undecided", "faster", "undecided")
    # the first of three in its family
    assert d.pvalue_adjusted[1] == pytest.approx(3 * d.pvalue[1])


def test_the_step_widens_and_is_taken_from_each_distance():
    """Authority: the definition: half-width + step, p of max(|x| - step, 0), margin less step."""
    law, plain = ErrorLaw(alpha=0.05), found([0.03, 0.002, 0.0005], [0.01, 0.01, 0.001])
    step = np.array([0.01, 0.005, 0.002])
    d = decide(plain._replace(step=step), law, L, "none")
    half = law.half(plain.error, plain.freedom)
    assert d.high - plain.estimate == pytest.approx(half + step)
    assert d.pvalue == pytest.approx(
        law.pvalue(np.array([0.02, 0.0, 0.0]), plain.error, plain.freedom)
    )
    near = law.pvalue_equivalent(plain.estimate, plain.error, plain.freedom, L - step)
    assert d.pvalue_equivalent == pytest.approx(near)
    for low, high, p, q in zip(d.low, d.high, d.pvalue, d.pvalue_equivalent, strict=True):
        assert (p <= 0.05) == (not low <= 0 <= high)
        assert (q <= 0.025) == (low >= -L and high <= L)


def test_equal_runs_prove_nothing_where_the_clock_is_unknown(matrix_of):
    a = [("b", s, f"{s}.{k}", 1.0) for s in (1, 2, 3) for k in range(3)]
    result = multilevel(matrix_of("new", a), matrix_of("old", a))
    (line,) = result.benchmarks
    assert (line.speedup, line.low, line.high, line.error) == (1.0, None, None, None)
    assert (line.pvalue, line.pvalue_adjusted, line.outcome) == (None, None, "undecided")
    assert line.reason == "no-spread"
    assert line.resolution is None
    assert "no spread in 3 sessions" in str(result)


def test_rounding_is_no_spread():
    found = of_differences(np.array([[0.1], [0.1 + 1e-15], [0.1 - 1e-15]]))
    assert found.error.tolist() == [0.0]
    assert of_differences(np.array([[0.1], [0.1 + 1e-9]])).error[0] > 0


def test_a_family_of_equal_runs_takes_nothing_from_the_others():
    # a difference of 0 tends to p = 1: it does not make another's step easier
    d = decide(found([0.0, 0.05, 0.05], [0.0, 0.012, 0.012]), ErrorLaw(alpha=0.05), L, "holm")
    assert d.pvalue_adjusted[1] == pytest.approx(3 * d.pvalue[1])


def test_looks_divide_the_level(noisy, matrix_of):
    a, b = matrix_of("new", noisy(1)), matrix_of("old", noisy(2))
    twice = multilevel(a, b, looks=2)
    same = multilevel(a, b, confidence=0.975)
    assert [x.low for x in twice.benchmarks] == pytest.approx([x.low for x in same.benchmarks])
    assert twice.confidence == 0.95
    assert (
        "2 looks are planned, each judged at 2.5 % (alpha/2); all looks together at most 5 %"
        in " ".join(str(twice).split())
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"confidence": 1.0}, "confidence must lie between"),
        ({"margin": -0.1}, "margin must be"),
        ({"correction": "sidak"}, "correction must be"),
        ({"weights": {"zz": 1.0}}, "no benchmark here: zz"),
        ({"weights": {"b0": -1.0}}, "the weight of 'b0'"),
        ({"weights": {"b0": 0, "b1": 0, "b2": 0}}, "every benchmark has weight 0"),
        ({"looks": 0}, "looks must lie between"),
        ({"looks": 2, "always_valid": True}, "exclude each other"),
    ],
)
def test_wrong_arguments(noisy, matrix_of, wrong, message):
    with pytest.raises(UsageError, match=message):
        multilevel(matrix_of("new", noisy(1)), matrix_of("old", noisy(2)), **wrong)


@pytest.mark.parametrize("sessions", [((1, 2), (3, 4)), ((1,), (1,)), ((1,), (2,))])
def test_a_confidence_sequence_needs_paired_sessions(noisy, matrix_of, sessions):
    a, b = (
        matrix_of("new", noisy(1, sessions=sessions[0])),
        matrix_of("old", noisy(2, sessions=sessions[1])),
    )
    with pytest.raises(UsageError, match="share two sessions"):
        multilevel(a, b, always_valid=True)


# --- What a look may risk: alpha/(i (i + 1)) at the i-th look of a trial that grew, and the sums
#
# Authority: the telescoping sum of 1/(i (i + 1)) = 1/i - 1/(i + 1), and Bonferroni's inequality.


def grown(*sessions: int) -> Looks:
    return Looks.growing(sessions)


@pytest.mark.parametrize(
    ("sessions", "count", "rule", "division", "following", "total"),
    [
        ((1,), 1, "single", 1, 2, 1.0),
        ((2,), 1, "single", 1, 6, 1.0),
        ((6,), 1, "single", 1, 6, 1.0),
        ((1, 2), 1, "growing", 2, 6, 1.0),
        ((1, 2, 3), 2, "growing", 6, 12, 1.0),
        ((2, 3), 2, "growing", 6, 12, 1.5),
        ((2, 3, 4), 3, "growing", 12, 20, 1.5),
        ((5, 6, 12, 13), 4, "growing", 20, 30, 1.5),
        (
            (1, 1, 2),
            1,
            "growing",
            2,
            6,
            1.0,
        ),  # a pair of trials, one of them still with one session
    ],
)
def test_the_share_of_a_look(sessions, count, rule, division, following, total):
    found = grown(*sessions)
    assert (found.count, found.rule) == (count, rule)
    assert (found.division, found.next_division, found.total) == (division, following, total)


@given(st.integers(1, 5), st.lists(st.integers(1, 3), max_size=40))
def test_all_looks_together_never_risk_more_than_is_said(begun, more):
    sessions, spent = [begun], Fraction(0)
    for step in [0, *more]:
        if step:
            sessions.append(sessions[-1] + step)
        look = grown(*sessions)
        if sessions[-1] >= 2:
            spent += Fraction(1, look.division)
        assert spent <= Fraction(look.total)
        after = grown(*sessions, sessions[-1] + 1)
        assert after.division == look.next_division
    assert Fraction(look.total) <= (1 if begun == 1 else Fraction(3, 2))


def test_planned_and_always_valid_looks_stay_what_they_were():
    assert Looks.planned(1) == Looks()
    four = Looks.planned(4)
    assert (four.division, four.next_division, four.total) == (4, 4, 1.0)
    assert Looks.of(1, always_valid=True).rule == "always-valid"
    assert Looks(rule="always-valid").division == 1
    for wrong in (4, grown(2, 3)):
        with pytest.raises(UsageError, match="exclude each other"):
            Looks.of(wrong, always_valid=True)
    with pytest.raises(UsageError, match="looks must lie between"):
        Looks.planned(0)


@pytest.mark.parametrize(
    ("looks", "words"),
    [
        (grown(2), ""),
        (
            Looks.planned(3),
            "3 looks are planned, each judged at 1.7 % (alpha/3); all looks together",
        ),
        (
            grown(2, 3, 4),
            "look 3 of a growing trial: judged at .42 % (alpha/12); all looks together at most 7.5 %",
        ),
        (
            grown(1, 2),
            "look 1 of a growing trial: judged at 2.5 % (alpha/2); all looks together at most 5 %",
        ),
        (grown(2, 3, 4, 5), "at most 7.5 %. For many looks plan --always-valid before the first"),
        (Looks(rule="always-valid"), "hold however often one looks"),
    ],
)
def test_the_words(noisy, matrix_of, looks, words):
    result = multilevel(matrix_of("new", noisy(1)), matrix_of("old", noisy(2)), looks=looks)
    assert words in looks_text(result.look)
    page = " ".join(str(result).split())
    assert looks_text(result.look) in page
    assert "share the level" not in page


def test_a_comparison_is_judged_at_the_risk_of_its_look(noisy, matrix_of):
    both = matrix_of("new", noisy(1)), matrix_of("old", noisy(2))
    found = multilevel(*both, looks=grown(2, 3, 4))
    same = multilevel(*both, confidence=1 - 0.05 / 12)
    assert [x.low for x in found.benchmarks] == pytest.approx([x.low for x in same.benchmarks])
    said = found.to_dict()
    assert (said["looks"], said["looks_rule"], said["confidence"]) == (3, "growing", 0.95)
    assert (said["look_alpha"], said["risk_total"]) == pytest.approx((0.05 / 12, 0.075))
