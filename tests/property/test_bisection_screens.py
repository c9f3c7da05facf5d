"""Whatever a search found, and whatever its commits are called: the screen is made, fits, is harmless and true."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.announcing import cells
from analysis.history.bisection import (
    Bisection,
    NamedCommit,
    OtherMetric,
    bisection_from,
    bisection_of,
)
from analysis.history.step_search import Culprit, OpenRun, PairWord, Search, StepSearch
from tests.examples import examples
from tests.unit.analysis.history.made_bisections import surroundings

TEXTS = st.one_of(
    st.text(max_size=120),
    st.text(alphabet="ab \x1b\n\t\r{}%\u7248\u0301\u202e'\"", max_size=120),
    st.sampled_from(["", "use std::map", "\u7248\u672c" * 50, "e\u0301" * 80, "x" * 300]),
)
WORDS = ("faster", "slower", "equivalent", "undecided")
WHY = ("sessions spent", "not proven in three proofs", "nothing left to build", "an end fails")
RATIOS = st.floats(1e-3, 1e3)
PASTED = re.compile(r"^(next  | {6,}|stored in )")  # a command and a path are never broken


@st.composite
def pair_words(draw: st.DrawFn) -> PairWord:
    low, speedup, high = sorted(draw(st.tuples(RATIOS, RATIOS, RATIOS)))
    word = draw(st.sampled_from(WORDS))
    if word == "undecided" and draw(st.booleans()):
        return PairWord(word=word, speedup=None, low=None, high=None, sessions=1, risk=0.05)
    sessions = draw(st.integers(2, 24))
    return PairWord(
        word=word,
        speedup=speedup,
        low=low,
        high=high,
        sessions=sessions,
        risk=draw(st.floats(1e-4, 0.2)),
    )


@st.composite
def culprits(draw: st.DrawFn, last: int, proof: int) -> Culprit:
    upto = draw(st.integers(1, last))
    low, speedup, high = sorted(draw(st.tuples(RATIOS, RATIOS, RATIOS)))
    return Culprit(
        after=draw(st.integers(max(0, upto - 6), upto - 1)),
        upto=upto,
        word=draw(st.sampled_from(WORDS)),
        speedup=speedup,
        low=low,
        high=high,
        sessions=draw(st.integers(2, 24)),
        risk=draw(st.floats(1e-4, 0.2)),
        proof=proof,
        share=draw(st.none() | st.floats(-50, 50)),
        before=draw(pair_words()),
        behind=draw(pair_words()),
    )


@st.composite
def bisections(draw: st.DrawFn) -> Bisection:
    last = draw(st.integers(1, 40))
    texts = st.lists(TEXTS, min_size=last + 1, max_size=last + 1)
    commits = [
        NamedCommit(
            place=place,
            commit=f"{place:040x}"[::-1],
            subject=subject,
            author=author,
            date="2026-11-03T12:00:00Z",
        )
        for place, (subject, author) in enumerate(zip(draw(texts), draw(texts), strict=True))
    ]
    skipped = draw(st.sets(st.integers(0, last), max_size=4))
    metric = draw(
        st.sampled_from(
            [
                ("wall", "s", "lower"),
                ("max_rss", "B", "lower"),
                ("rate", "MB/s", "higher"),
                ("name-" * 12, "1", "lower"),
            ]
        )
    )
    others = [
        OtherMetric(
            metric=draw(TEXTS),
            unit=draw(st.sampled_from(["s", "B", "J", "1"])),
            better="lower",
            word=one.word,
            speedup=one.speedup,
            low=one.low,
            high=one.high,
        )
        for one in draw(st.lists(pair_words(), max_size=5))
    ]
    about = surroundings(
        good=draw(TEXTS),
        bad=draw(TEXTS),
        metric=metric[0],
        unit=metric[1],
        better=metric[2],
        path=draw(st.none() | st.just("runs/bisect-app")),
        skipped={place: draw(TEXTS) for place in skipped},
        fails_more=tuple(draw(st.sets(st.integers(0, last), max_size=5))),
        same_program=tuple(draw(st.sets(st.integers(0, last), max_size=5))),
        one_program=draw(st.booleans()),
        other_metrics=tuple(others),
        proofs={1: "runs/bisect-app/proof-1"} if draw(st.booleans()) else {},
        runs=draw(st.integers(0, 10**7)),
        seconds=draw(st.floats(0, 1e7)),
    )
    search = Search(dict, last, margin=draw(st.floats(0, 0.5)))
    if draw(st.integers(0, 4)) == 0:
        return bisection_of(search, commits, **about)
    search.found = StepSearch(
        commits=last,
        answer=draw(st.sampled_from(["proven", "partly", "no-difference", "undecided"])),
        exit_code=0,
        first=draw(pair_words()),
        culprits=tuple(draw(culprits(last, k)) for k in range(draw(st.integers(0, 6)))),
        open=tuple(
            OpenRun(
                after=upto - 1,
                upto=upto,
                probability=draw(st.floats(0, 1)),
                why=draw(st.sampled_from(WHY)),
            )
            for upto in draw(st.lists(st.integers(1, last), max_size=5))
        ),
        refuted=tuple(draw(culprits(last, 1)) for _ in range(draw(st.integers(0, 4)))),
        skipped=tuple(sorted(skipped)),
        sessions=draw(st.integers(0, 500)),
        builds=draw(st.integers(0, 500)),
        measured=(),
        risk=0.05,
        margin=search.margin,
        looks=(6, 12, 24),
    )
    return bisection_of(search, commits, **about)


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(bisections())
def test_the_screen_fits_is_harmless_and_read_back(told: Bisection) -> None:
    text = str(told)
    for line in text.split("\n"):
        assert cells(line) <= 80 or PASTED.match(line), line
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
    assert len(text.splitlines()) <= 60
    again = bisection_from(json.loads(json.dumps(told.to_dict(), allow_nan=False)))
    assert again.to_dict() == told.to_dict()
    assert str(again) == text


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(bisections())
def test_each_number_and_commit_on_the_screen_is_the_results(told: Bisection) -> None:
    text = " ".join(str(told).split())
    known: Any = told.to_dict()
    assert f"{known['sessions']} session" in text
    assert (f"{known['runs']:,} run" in text) == (known["answer"] is not None)
    for one in known["culprits"][:1]:
        assert one["upto"][:7] in text
        assert f"{one['sessions']} fresh sessions" in text
    named = {one["upto"][:7] for key in ("culprits", "refuted", "open") for one in known[key]}
    named |= {one["after"][:7] for key in ("culprits", "refuted", "open") for one in known[key]}
    named |= {one["commit"][:7] for step in known["culprits"] for one in step["commits"]}
    named |= {one["commit"][:7] for one in known["skipped"]}
    assert set(re.findall(r"\b[0-9a-f]{2}00000\b", text)) <= named | {
        told.good.short,
        told.bad.short,
    } | set(re.findall(r"\b[0-9a-f]{2}00000\b", " ".join(one.text for one in told.cautions)))
