"""The verdict in one sentence: the words of the design, the numbers of the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.importers.sources import Reading
from analysis.report.answer.headline import headline, text_of
from analysis.report.subject import Subject, subject_of

Make = Callable[..., Subject]
EVEN, FAST, SLOW, AT_ODDS = (1.0,) * 4, (0.8,) * 4, (1.25,) * 4, (1.03, 0.98, 1.01, 0.97)


def said(subject: Subject) -> str:
    return text_of(headline(subject.verdict))


def test_one_that_is_faster(subject: Make) -> None:
    # the time is 0.8 of the baseline's, so the speedup is 1.25
    assert (
        said(subject({"base": EVEN, "fast": FAST}, sessions=6))
        == "fast is 1.250 times as fast as base."
    )


def test_one_that_is_slower(subject: Make) -> None:
    assert (
        said(subject({"base": EVEN, "slow": SLOW}, sessions=6))
        == "slow is slower than base (0.800×)."
    )


def test_every_candidate_is_named_and_the_baseline_once(subject: Make) -> None:
    found = said(
        subject({"base": EVEN, "odd": AT_ODDS, "slow": SLOW, "fast": FAST}, sessions=6, wobble=4.0)
    )
    start, _, end = found.partition("; ")
    assert start.startswith("fast is 1.25")
    assert start.endswith(" times as fast as base")
    assert end.startswith("slow is slower (0.8")
    assert end.endswith("). Whether odd differs is undecided.")


def test_an_equivalent_one_says_within_what(subject: Make) -> None:
    found = said(subject({"base": EVEN, "same": EVEN}, wobble=0.2, margin=0.05))
    assert found == "same is as fast as base, within ±\N{NO-BREAK SPACE}5\N{NO-BREAK SPACE}%."


def test_where_nothing_is_decided_it_says_what_would_tell(subject: Make) -> None:
    one = subject({"base": EVEN, "same": EVEN}, wobble=2.0, margin=0.001)
    multilevel = one.candidates[0].multilevel
    assert multilevel is not None
    assert multilevel.these is not None
    assert multilevel.these.outcome == "undecided"
    more = multilevel.these.more_sessions
    assert more is not None
    told = (
        "more than 100 more sessions, so measure differently"
        if more.sessions is None
        else f"about {more.sessions} more sessions"
    )
    assert said(one) == f"Whether same differs from base is undecided: {told}."


def test_several_undecided_ones_share_a_sentence(subject: Make) -> None:
    found = said(subject({"base": EVEN, "a": EVEN, "b": EVEN}, wobble=2.0, margin=0.001))
    assert found.startswith("Whether a or b differs from base is undecided")


def test_more_than_four_are_counted_and_the_ends_named(subject: Make) -> None:
    factors = {"base": EVEN, "a": FAST, "b": (0.5,) * 4, "c": SLOW, "d": FAST, "e": FAST}
    found = said(subject(factors, wobble=0.5))
    assert found == (
        "4 of 5 candidates are faster than base, most of all b (2.000×); 1 is slower: c (0.800×)."
    )


def test_where_all_agree_they_are_all(subject: Make) -> None:
    factors = {"base": EVEN} | {name: SLOW for name in "abcde"}
    assert said(subject(factors, wobble=0.5)).startswith(
        "All 5 candidates are slower than base, most of all "
    )


def test_one_variant_is_compared_with_nothing(subject: Make) -> None:
    assert said(subject({"only": EVEN})) == "Nothing was compared: only was measured alone."


def test_one_session_speaks_of_itself_only(subject: Make) -> None:
    found = said(subject({"base": EVEN, "fast": FAST}, sessions=1))
    assert found.endswith(" times as fast as base within one session.")


def test_one_benchmark_answers_itself(subject: Make) -> None:
    assert (
        said(subject({"base": (1.0,), "fast": (0.8,)}, sessions=6))
        == "fast is 1.250 times as fast as base."
    )


def test_a_metric_that_is_no_time_is_better_or_worse(subject: Make) -> None:
    def smaller(trial: Any) -> None:
        trial.rows = [
            replace(row, max_rss_bytes=int(5e7 * (0.5 if row.variant == "lean" else 1) + k))
            for k, row in enumerate(trial.rows)
        ]

    # the runs agree so well that four decimals are needed to tell the interval's ends apart
    found = said(subject({"base": EVEN, "lean": EVEN}, metric="max_rss", change=smaller))
    assert found == "lean is better than base (2.0000×) in max_rss."


def test_what_fails_more_often_is_undecided_and_says_so(subject: Make) -> None:
    def failing(trial: Any) -> None:
        trial.rows = [
            replace(row, outcome="exit", exit_code=1)
            if row.variant == "fast" and row.block > 1
            else row
            for row in trial.rows
        ]

    found = said(subject({"base": (1.0,), "fast": (0.8,)}, change=failing))
    # of 3 runs in each of 5 sessions, 2 fail
    assert found == "Whether fast differs from base is undecided: it fails 10 of 15 runs."


def test_sides_of_different_trials_cannot_be_told_apart(
    synthetic: Callable[..., Any], tmp_path: Path
) -> None:
    sides = []
    for name, factor in (("fast", 0.8), ("base", 1.0)):
        times = {name: {"text": [0.1 * factor, 0.11 * factor, 0.105 * factor]}}
        sides.append(f"{synthetic(times).write(tmp_path / name)}:{name}")
    found = said(subject_of(sides, Reading()))
    assert found == (
        "Whether fast differs from base is undecided: session and variant cannot be told apart."
    )


@pytest.mark.parametrize("name", ["<b>", "a" * 60, "\N{RIGHT-TO-LEFT OVERRIDE}evil", "x\x1b[0m"])
def test_a_name_is_a_piece_of_its_own_and_cannot_act(subject: Make, name: str) -> None:
    found = headline(subject({"base": EVEN, name: FAST}).verdict)
    assert found[0].whole == name
    assert len(found[0].text) <= max(24, len(name) + 5)
    assert found[0].text.isprintable()
    assert len([span for span in found if span.whole]) == 2
