"""What becomes of words: every case of the definitions in docs/diff.md."""

from __future__ import annotations

import pytest

from analysis.verdict.comparison_effects import (
    Effect,
    EffectComparison,
    agreement_of,
    conclusion_of,
    overall,
)


def effect(word="faster", *, uncorrected=None, reason=None, sessions=5, **ends):
    return Effect(
        **({"name": "x", "speedup": 1.25, "low": 1.2, "high": 1.3} | ends),
        error=0.01,
        freedom=4.0,
        sessions=sessions,
        outcome=word,
        outcome_uncorrected=uncorrected or word,
        reason=reason,
    )


WIDE = {"low": 0.9, "high": 1.6}
NEAR = {"speedup": 1.0, "low": 0.97, "high": 1.04}
NOTHING_SAID = effect("undecided")


@pytest.mark.parametrize(
    ("old", "new", "shift", "expected"),
    [
        (effect(), effect(), "undecided", ("agrees", None)),
        (effect("equivalent"), effect("equivalent"), "undecided", ("agrees", None)),
        (effect(), effect(), "smaller", ("differs", None)),  # the same word, another size
        (effect(), effect("slower"), "undecided", ("compatible", None)),
        (effect(), effect("equivalent"), "smaller", ("differs", None)),
        (effect(), effect("undecided", **WIDE), "undecided", ("cannot tell", "too-wide")),
        (effect(), effect("undecided", **NEAR), "undecided", ("compatible", None)),
        # undecided by the correction only: its interval excludes 1
        (effect(), effect("undecided", uncorrected="faster"), "undecided", ("compatible", None)),
        (effect(), effect("undecided", **WIDE), "equivalent", ("compatible", None)),
        (effect("undecided"), effect(), "undecided", ("compatible", None)),
        (NOTHING_SAID, NOTHING_SAID, "undecided", ("cannot tell", "nothing-concluded")),
        (NOTHING_SAID, NOTHING_SAID, "equivalent", ("compatible", None)),
        (NOTHING_SAID, NOTHING_SAID, "larger", ("differs", None)),
        (effect(), effect(speedup=None), None, ("cannot tell", "no-value-new")),
        (effect(speedup=None), effect(), None, ("cannot tell", "no-value-old")),
        (
            effect(),
            effect("undecided", reason="fails-more"),
            None,
            ("cannot tell", "fails-more-new"),
        ),
    ],
)
def test_of_each_effect(old, new, shift, expected):
    assert agreement_of(old, new, shift) == expected


@pytest.mark.parametrize(
    ("sessions", "reason"), [((1, 5), "one-session-old"), ((5, 1), "one-session-new")]
)
def test_two_equal_words_of_one_session_agree_in_nothing(sessions, reason):
    told = agreement_of(*(effect(sessions=count) for count in sessions), None)
    assert told == ("cannot tell", reason)


def line(agreement, old="faster", new="faster", name="b"):
    return EffectComparison(
        name=name,
        old=effect(old),
        new=effect(new),
        ratio=1.0,
        low=0.9,
        high=1.1,
        error=0.01,
        freedom=8.0,
        pvalue=0.5,
        pvalue_welch=0.5,
        pvalue_adjusted=0.5,
        law="welch",
        difference="undecided",
        agreement=agreement,
        reason=None,
        more_sessions=None,
    )


AGREES, COMPATIBLE, OPEN = line("agrees"), line("compatible"), line("cannot tell")
DIFFERS = line("differs")
TURNED = line("differs", new="slower")
NOTHING = line("cannot tell", "undecided", "undecided")


@pytest.mark.parametrize(
    ("benchmarks", "these", "word"),
    [
        ([AGREES, AGREES], AGREES, "reproduced"),
        ([AGREES, OPEN, COMPATIBLE], AGREES, "reproduced"),  # the suite leads
        ([AGREES, DIFFERS], AGREES, "partly"),
        ([AGREES, AGREES], DIFFERS, "partly"),  # the direction holds, the size does not
        ([AGREES, AGREES], TURNED, "not"),
        ([AGREES, AGREES], COMPATIBLE, "partly"),
        ([OPEN, OPEN], OPEN, "cannot tell"),
        ([AGREES, OPEN], OPEN, "cannot tell"),
        ([TURNED, TURNED], OPEN, "not"),
        ([AGREES, TURNED], OPEN, "partly"),
        # the old trial leaves the suite open: its benchmarks are what it concludes
        ([AGREES, AGREES], NOTHING, "reproduced"),
        ([AGREES, OPEN], NOTHING, "partly"),
        ([COMPATIBLE, OPEN], NOTHING, "partly"),
        ([OPEN, OPEN], NOTHING, "cannot tell"),
        ([NOTHING, NOTHING], NOTHING, "cannot tell"),
        # one benchmark leads by itself
        ([AGREES], None, "reproduced"),
        ([DIFFERS], None, "partly"),
        ([TURNED], None, "not"),
        ([NOTHING], None, "cannot tell"),
        ([], None, "cannot tell"),
    ],
)
def test_of_a_candidate(benchmarks, these, word):
    assert conclusion_of(benchmarks, these) == word


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ([], "cannot tell"),
        (["reproduced"], "reproduced"),
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "cannot tell"], "partly"),
        (["reproduced", "not"], "partly"),
        (["not", "cannot tell"], "not"),
        (["partly", "cannot tell"], "partly"),
        (["cannot tell", "cannot tell"], "cannot tell"),
    ],
)
def test_of_a_trial(words, word):
    assert overall(words) == word
