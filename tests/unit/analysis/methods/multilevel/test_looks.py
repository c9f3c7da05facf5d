"""What a look may risk: alpha/(i (i + 1)) at the i-th look of a trial that grew, and the sums.

Authority: the telescoping sum of 1/(i (i + 1)) = 1/i - 1/(i + 1), and Bonferroni's inequality.
"""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from analysis.errors import UsageError
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.law import Looks
from analysis.methods.multilevel.page import looks_text


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
    assert words in looks_text(result)
    page = " ".join(str(result).split())
    assert looks_text(result) in page
    assert "share the level" not in page


def test_a_comparison_is_judged_at_the_risk_of_its_look(noisy, matrix_of):
    both = matrix_of("new", noisy(1)), matrix_of("old", noisy(2))
    found = multilevel(*both, looks=grown(2, 3, 4))
    same = multilevel(*both, confidence=1 - 0.05 / 12)
    assert [x.low for x in found.benchmarks] == pytest.approx([x.low for x in same.benchmarks])
    said = found.to_dict()
    assert (said["looks"], said["looks_rule"], said["confidence"]) == (3, "growing", 0.95)
    assert said["look_alpha"] == pytest.approx(0.05 / 12)
    assert said["risk_total"] == pytest.approx(0.075)
