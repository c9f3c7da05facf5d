"""Subjects of small invented trials: what each session and run does to a value is written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.importers.reader import Reading
from analysis.pages.model import Figure, Sentence, Table, text_of
from analysis.record.shapes import encode_checked
from analysis.record.trial_files import BuildRecord
from analysis.report.answer import chapter, headline
from analysis.report.assembling import chapter_html
from analysis.report.subject import Subject, subject_of

SESSIONS = (0.010, -0.004, -0.008, 0.006, -0.003, -0.001)
RUNS = (0.004, -0.006, 0.002)
Make = Callable[..., Subject]
Factors = Mapping[str, Sequence[float]]


def runs(scale: float, turn: int, sessions: int, wobble: float) -> list[float]:
    return [
        scale * (1 + wobble * SESSIONS[(s + turn) % 6]) * (1 + RUNS[(r + turn) % 3])
        for s in range(sessions)
        for r in range(3)
    ]


@pytest.fixture(scope="module")
def subject(
    synthetic: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
    once: Callable[..., Any],
) -> Make:
    """Give a function: variant -> factors on the benchmarks, the baseline first; then a subject."""

    def make(
        variants: Factors,
        *,
        benchmarks: Sequence[str] = (),
        sessions: int = 5,
        wobble: float = 1.0,
        metric: str = "wall",
        change: Callable[[Any], None] = lambda _: None,
        **asked: Any,
    ) -> Subject:
        count = max(map(len, variants.values()))
        names = benchmarks or [f"bench-{k}" for k in range(count)]
        times = {
            variant: {
                name: runs(0.02 * (k + 1) * factor, v * 2 + k * v, sessions, wobble * bool(v))
                for k, (name, factor) in enumerate(zip(names, factors, strict=False))
            }
            for v, (variant, factors) in enumerate(variants.items())
        }
        trial = synthetic(times, sessions=sessions)
        change(trial)
        path = trial.write(tmp_path_factory.mktemp("trials") / "trial")
        return subject_of([str(path)], Reading(metric=metric), **{"explain": False} | asked)

    return once(make)


# --- The first screen says what the verdict says: its numbers, what they rest on, its cautions


EVEN, FAST = (1.0,) * 4, (0.8, 0.7, 0.9, 0.85)


def blocks(subject: Subject, kind: type) -> list[Any]:
    sections = chapter(subject).sections()
    return [block for one in sections for block in one.blocks if isinstance(block, kind)]


def said(subject: Subject) -> list[str]:
    return [one.text for one in blocks(subject, Sentence)]


@pytest.mark.parametrize("candidates", [0, 1, 4])
def test_a_table_for_each_candidate_and_one_forest(subject: Make, candidates: int) -> None:
    one = subject({"base": EVEN} | {f"v{k}": FAST for k in range(candidates)})
    assert len(blocks(one, Table)) == max(candidates, 1)
    assert len(blocks(one, Figure)) == (candidates > 0)
    html = chapter_html(chapter(one))
    assert html.count("<svg") == (candidates > 0)
    assert html.count("<h1>") == 1


def test_one_variant_shows_its_times_with_intervals(subject: Make) -> None:
    one = subject({"only": EVEN})
    (table,) = blocks(one, Table)
    assert [row[1].value for row in table.rows] == [found.mean for found in one.verdict.alone]
    assert [row[3].value for row in table.rows] == [found.low for found in one.verdict.alone]


def test_a_long_name_is_short_on_the_page(subject: Make) -> None:
    long = "x" * 190
    one = subject({"base": EVEN, "fast": FAST}, benchmarks=[long, "b", "c", "d"])
    html = chapter_html(chapter(one), [long])
    assert long not in html
    assert "xx…xx" in html


def test_a_benchmark_of_one_side_only_has_a_line_nowhere(
    synthetic: Callable[..., Any], tmp_path: Path
) -> None:
    sides = []
    for name, benches in (("new", ("text", "logs", "extra")), ("old", ("text", "logs", "gone"))):
        times = {name: {bench: [0.1 + 0.001 * k for k in range(6)] for bench in benches}}
        sides.append(f"{synthetic(times, sessions=3).write(tmp_path / name)}:{name}")
    (table,) = blocks(subject_of(sides, Reading(), explain=False), Table)
    assert {text_of(row[0]) for row in table.rows[:-2]} == {"text", "logs"}


def test_the_deck_says_what_the_numbers_rest_on(subject: Make) -> None:
    amount, rests, *_ = said(subject({"base": EVEN, "fast": FAST}))
    assert amount == "120 runs of 2 variants on 4 benchmarks, in 5 sessions of 3 runs a cell."
    assert rests == (
        "Speedups are over base, with 95\N{NO-BREAK SPACE}% intervals from the 5 sessions; "
        "differences within ±1 % count as none."
    )
    once = said(subject({"base": EVEN, "fast": FAST}, sessions=1))[1]
    assert "blocks of one session, so of that session only" in once


def test_the_campaign_s_own_words_and_order_are_told(subject: Make) -> None:
    def described(trial: Any) -> None:
        trial.extra["resolved.json"] = (
            b'{"campaign": {"description": "what gzip\\u202e costs.", "protocol": {"order": "shuffled"}}}'
        )

    first = said(subject({"base": EVEN, "fast": FAST}, change=described))[0]
    assert first.startswith("what gzipU+202E costs: 120 runs")
    assert first.endswith("in 5 sessions of 3 blocks, interleaved, each block in a new order.")


def test_layouts_of_each_session_are_told_below_the_forest(subject: Make) -> None:
    def built(trial: Any) -> None:
        records = (
            BuildRecord(
                session=session,
                segment=0,
                variant=variant,
                artifacts={},
                programs={"prog": f"{variant}{session}"},
                seconds=0.1,
                log=(),
                at="2026-11-27T10:00:00Z",
            )
            for session in range(1, 6)
            for variant in ("base", "fast")
        )
        lines = (encode_checked(one.to_dict()) + b"\n" for one in records)
        trial.extra["builds.jsonl"] = b"".join(lines)

    told = " ".join(said(subject({"base": EVEN, "fast": FAST}, change=built)))
    assert (
        "5 layouts of each variant: the interval speaks for layouts that the linker may draw, "
        "not for one build."
    ) in told


def test_looks_share_the_level_and_it_is_said(subject: Make) -> None:
    told = " ".join(said(subject({"base": EVEN, "fast": FAST}, looks=2)))
    assert "97.5\N{NO-BREAK SPACE}% interval" in told
    assert "2 looks" in told
    assert "Holm's correction for 4 benchmarks" in told
    told = " ".join(said(subject({"base": EVEN, "fast": FAST, "even": EVEN})))
    assert "Holm's correction for 8 comparisons" in told


def test_the_forest_has_the_words_of_the_table(subject: Make) -> None:
    one = subject({"base": EVEN, "twin": EVEN}, wobble=0.1)
    (table,) = blocks(one, Table)
    assert {row[-2] for row in table.rows} == {"the same"}
    assert "equivalent" not in chapter_html(chapter(one)).partition("</svg>")[0]


def test_the_second_metric_has_ids_of_its_own_and_says_its_answer(subject: Make) -> None:
    second = chapter(replace(subject({"base": EVEN, "fast": FAST}), prefix="metric-2-"))
    assert second.anchor == "metric-2-answer"
    html = chapter_html(second)
    assert "<h2>" in html
    assert "<h1>" not in html
    assert "metric-2-forest-clip" in html or "clip" not in html


def test_the_headline_is_the_sentence_of_the_verdict(subject: Make) -> None:
    at_odds, slow = (1.03, 0.98, 1.01, 0.97), (1.25,) * 4
    for factors in (
        {"base": EVEN, "fast": FAST},
        {"base": EVEN, "slow": slow, "fast": FAST, "odd": at_odds},
        {"base": EVEN} | dict.fromkeys("abcde", slow),
        {"base": EVEN, "a": FAST, "b": FAST},
        {"only": EVEN},
    ):
        one = subject(factors, sessions=6)
        assert headline(one.verdict) == one.verdict.sentence
