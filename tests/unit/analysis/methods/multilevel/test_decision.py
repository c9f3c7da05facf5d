"""Words and corrections: the interval decides, then the number of benchmarks."""

import math

import numpy as np
import pytest

from analysis.errors import UsageError
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.estimates import Estimates, of_differences
from analysis.methods.multilevel.law import ErrorLaw, decide, word_by_interval

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
