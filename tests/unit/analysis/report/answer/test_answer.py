"""The first screen says what the verdict says: its numbers, its reasons, its cautions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.importers.reader import Reading
from analysis.pages.model import Table, Value
from analysis.record.shapes import encode_checked
from analysis.record.trial_files import BuildRecord
from analysis.report.answer import chapter
from analysis.report.assembling import chapter_html
from analysis.report.subject import Subject, subject_of
from analysis.report.written import written_of
from analysis.verdict.cautions import shown_cautions

Make = Callable[..., Subject]
EVEN, FAST = (1.0,) * 4, (0.8, 0.7, 0.9, 0.85)


class Values(SimpleNamespace):
    """The chapter's values, to be named with a dot."""


def gather(subject: Subject) -> Values:
    def spread(value: Any) -> Any:
        if isinstance(value, dict):
            return Values(**{key: spread(item) for key, item in value.items()})
        return [spread(item) for item in value] if isinstance(value, list) else value

    found = chapter(subject)
    return Values(anchor=found.anchor, **vars(spread(found.values)))


def rows_of(column: Values) -> list[Values]:
    return [entry for entry in (column.every or column.rows) if not hasattr(entry, "counts")]


def test_each_number_is_the_verdict_s_to_the_printed_digit(subject: Make) -> None:
    one = subject({"base": EVEN, "fast": FAST, "odd": (1.3, 0.9, 1.0, 1.02)}, wobble=3.0)
    answer = gather(one)
    for column, told in zip(answer.columns, one.verdict.to_dict()["candidates"], strict=True):
        result = told["multilevel"]
        lines = {line["name"]: line for line in result["benchmarks"]}
        shown = [(row, lines[row.name.whole]) for row in rows_of(column)]
        shown += list(zip(column.suite, (result["these"], result["similar"]), strict=True))
        assert len(shown) == 6
        for row, line in shown:
            for key in ("speedup", "low", "high"):
                value: Value = getattr(row, key)
                assert value.value == line[key]
                decimals = len(value.text.partition(".")[2])
                assert value.text == f"{line[key]:.{decimals}f}"
            assert row.word == line["outcome"]


def test_the_strings_are_those_of_the_whole_page(subject: Make) -> None:
    one = subject({"base": EVEN, "fast": FAST})
    strings = written_of(one)["fast"]
    (column,) = gather(one).columns
    for row in rows_of(column):
        assert row.speedup is not None
        assert (row.speedup, row.low, row.high) == (
            strings[row.name.whole].speedup,
            strings[row.name.whole].low,
            strings[row.name.whole].high,
        )
    assert column.lead is not None
    assert column.lead.speedup == strings["these"].speedup


def test_the_strokes_mean_the_estimate(subject: Make) -> None:
    (column,) = gather(subject({"base": EVEN, "fast": FAST}, wobble=2.0)).columns
    for row in (*rows_of(column), column.suite[0]):
        assert len(row.sessions) == 5
        assert row.speedup.value is not None
        mean = math.fsum(math.log(value) for value in row.sessions) / 5
        assert math.exp(mean) == pytest.approx(row.speedup.value, rel=1e-9)
    assert column.suite[1].sessions == ()


def test_the_suite_s_strokes_follow_the_weights(subject: Make) -> None:
    weights = {"bench-0": 3.0, "bench-1": 0.0}
    (column,) = gather(subject({"base": EVEN, "fast": FAST}, wobble=2.0, weights=weights)).columns
    these = column.suite[0]
    mean = math.fsum(math.log(value) for value in these.sessions) / 5
    assert these.speedup.value is not None
    assert math.exp(mean) == pytest.approx(these.speedup.value, rel=1e-9)


def test_all_columns_list_the_same_lines_in_the_same_order(subject: Make) -> None:
    answer = gather(subject({"base": EVEN, "a": FAST, "b": (1.2, 0.6, 1.0, 1.1)}))
    first, second = ([row.name.whole for row in rows_of(one)] for one in answer.columns)
    assert first == second == ["bench-1", "bench-0", "bench-3", "bench-2"]
    assert answer.order.startswith("Sorted by the speedup of a")


@pytest.mark.parametrize(
    ("candidates", "form"), [(0, "alone"), (1, "columns"), (3, "columns"), (4, "matrix")]
)
def test_the_form_follows_the_number_of_candidates(
    subject: Make, candidates: int, form: str
) -> None:
    variants = {"base": EVEN} | {f"v{k}": FAST for k in range(candidates)}
    answer = gather(subject(variants))
    assert (answer.form, len(answer.columns)) == (form, candidates)
    assert bool(answer.alone) == (candidates == 0)


def test_one_variant_shows_its_times_with_intervals(subject: Make) -> None:
    one = subject({"only": EVEN})
    answer = gather(one)
    assert [line.mean.value for line in answer.alone] == [found.mean for found in one.verdict.alone]
    assert all(line.low.text and line.by == "5 sessions" for line in answer.alone)


def test_many_benchmarks_have_bins_and_the_whole_table(subject: Make) -> None:
    factors = tuple(0.7 + k / 120 for k in range(70))
    given = subject({"base": (1.0,) * 70, "fast": factors}, sessions=2)
    answer = gather(given)
    (column,) = answer.columns
    assert answer.dense
    bins = [entry for entry in column.rows if hasattr(entry, "counts")]
    listed = [entry for entry in column.rows if not hasattr(entry, "counts")]
    assert sum(one.count for one in bins) + len(listed) == len(column.every) == 70
    # the table of the other forms has all benchmarks and the suite's two lines, with the same values
    found = chapter(given)
    (table,) = (b for s in found.sections() for b in s.blocks if isinstance(b, Table))
    (column,) = found["columns"]
    keys = ("baseline", "candidate", "speedup", "low", "high", "word")
    rows = [tuple(row[key] for key in keys) for row in (*column["every"], *column["suite"])]
    assert [cells[1:7] for cells in table.rows] == rows


def failing(
    variant: str, benchmark: str, sessions: tuple[int, ...], blocks: tuple[int, ...] = (1, 2, 3)
) -> Callable[[Any], None]:
    return lambda trial: trial.fail(
        lambda row: (
            (row.variant, row.benchmark) == (variant, benchmark)
            and row.session in sessions
            and row.block in blocks
        )
    )


def test_absent_sessions_and_failures_are_said_on_their_lines(subject: Make) -> None:
    change = failing("fast", "bench-1", (2,))
    one = subject({"base": EVEN, "fast": FAST}, change=change)
    (column,) = gather(one).columns
    row = next(row for row in rows_of(column) if row.name.whole == "bench-1")
    assert (row.note, row.lacking, len(row.sessions)) == ("4 of 5 sessions", True, 4)
    assert "failed 3 of 15, baseline 0 of 15; p .50" in row.advice
    # two of three runs of every session: one of 252 dealings
    change = failing("fast", "bench-1", (1, 2, 3, 4, 5), blocks=(2, 3))
    more = subject({"base": EVEN, "fast": FAST}, change=change)
    (column,) = gather(more).columns
    row = next(row for row in rows_of(column) if row.name.whole == "bench-1")
    assert (row.note, row.word, row.filled) == ("fails 10 of 15", "undecided", False)


def test_cautions_are_numbered_and_mark_their_lines(subject: Make) -> None:
    one = subject({"base": EVEN, "fast": FAST}, change=failing("fast", "bench-1", (2,)))
    answer = gather(one)
    assert [doubt.number for doubt in answer.doubts] == list(range(1, len(answer.doubts) + 1))
    codes = {doubt.code: doubt for doubt in answer.doubts}
    first = [caution.code for caution in shown_cautions(one.verdict).cautions]
    assert [doubt.code for doubt in answer.doubts[: answer.shown]] == first
    assert set(codes) == {caution.code for caution in one.verdict.cautions}
    assert codes["failed-left-out"].link == "failed"
    row = next(row for row in rows_of(answer.columns[0]) if row.name.whole == "bench-1")
    assert codes["failed-left-out"].number in row.marks
    assert codes["sessions-missing"].number in row.marks
    others = [other for other in rows_of(answer.columns[0]) if other is not row]
    mine = {codes["failed-left-out"].number, codes["sessions-missing"].number}
    assert not any(mine & set(other.marks) for other in others)


def test_a_caution_of_all_benchmarks_marks_none(subject: Make) -> None:
    def all_fail_once(trial: Any) -> None:
        trial.fail(lambda row: (row.session, row.block) == (2, 1))

    answer = gather(subject({"base": EVEN, "fast": FAST}, change=all_fail_once))
    assert "failed-left-out" in {doubt.code for doubt in answer.doubts}
    assert all(row.marks == () for row in rows_of(answer.columns[0]))


def test_a_long_name_is_short_in_a_caution_too(subject: Make) -> None:
    long = "x" * 190
    names = [long, "bench-b", "bench-c", "bench-d"]
    one = subject(
        {"base": EVEN, "fast": FAST}, benchmarks=names, change=failing("fast", long, (2,))
    )
    texts = [doubt.text for doubt in gather(one).doubts]
    assert all(long not in text for text in texts)
    assert any("xx…xx" in text for text in texts)


def test_a_benchmark_of_one_side_only_says_so(
    synthetic: Callable[..., Any], tmp_path: Path
) -> None:
    sides = []
    for name, benches in (("new", ("text", "logs", "extra")), ("old", ("text", "logs", "gone"))):
        times = {name: {bench: [0.1 + 0.001 * k for k in range(6)] for bench in benches}}
        sides.append(f"{synthetic(times, sessions=3).write(tmp_path / name)}:{name}")
    answer = gather(subject_of(sides, Reading(), explain=False))
    notes = {row.name.whole: row.note for row in rows_of(answer.columns[0])}
    assert notes == {"text": "", "logs": "", "extra": "only in new", "gone": "only in old"}
    assert [source.whole for source in answer.sources] == sides


def test_advice_is_brief_in_rows_and_whole_beside(subject: Make) -> None:
    odd = (1.03, 0.98, 1.01, 0.97)
    (column,) = gather(subject({"base": EVEN, "odd": odd}, wobble=6.0)).columns
    advised = [row for row in (*rows_of(column), *column.suite) if row.more.text]
    assert advised
    for row in advised:
        assert row.more.text == f"{row.more.value} more" or row.more.value is None
        assert "more sessions" in row.advice or "more session " in row.advice


def test_the_deck_says_what_the_numbers_rest_on(subject: Make) -> None:
    def told(answer: Values) -> Iterator[str]:
        return ("".join(span.text for span in paragraph) for paragraph in answer.deck)

    amount, rests = told(gather(subject({"base": EVEN, "fast": FAST})))
    assert amount == "120 runs of 2 variants on 4 benchmarks, in 5 sessions of 3 runs a cell."
    assert rests == (
        "Speedups are over base, with 95\N{NO-BREAK SPACE}% intervals from the 5 sessions; "
        "differences within ±\N{NO-BREAK SPACE}1\N{NO-BREAK SPACE}% count as none."
    )
    _, once = told(gather(subject({"base": EVEN, "fast": FAST}, sessions=1)))
    assert "blocks of one session, so of that session only" in once


def test_the_campaign_s_own_words_and_order_are_told(subject: Make) -> None:
    def described(trial: Any) -> None:
        trial.extra["resolved.json"] = (
            b'{"campaign": {"description": "what gzip\\u202e costs.", "protocol": {"order": "shuffled"}}}'
        )

    answer = gather(subject({"base": EVEN, "fast": FAST}, change=described))
    first = "".join(span.text for span in answer.deck[0])
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

    answer = gather(subject({"base": EVEN, "fast": FAST}, change=built))
    (told,) = [sentence for sentence in answer.reading if "layout" in sentence]
    assert told == (
        "5 layouts of each variant: the interval speaks for layouts that the linker may draw, "
        "not for one build."
    )


def test_looks_share_the_level_and_it_is_said(subject: Make) -> None:
    answer = gather(subject({"base": EVEN, "fast": FAST}, looks=2))
    assert answer.level.text == "97.5\N{NO-BREAK SPACE}%"
    assert any("2 looks" in sentence for sentence in answer.reading)
    assert any("Holm's correction for 4 benchmarks" in sentence for sentence in answer.reading)


def test_the_second_metric_has_ids_of_its_own(subject: Make) -> None:
    one = subject({"base": EVEN, "fast": FAST}, explain=True)
    second = gather(replace(one, prefix="metric-2-"))
    assert second.anchor == "metric-2-answer"
    assert second.columns[0].anchor == "metric-2-answer-1"
    assert second.panel == "metric-2-panel"


def test_below_three_sessions_no_sign_of_half_a_width_is_shown(subject: Make) -> None:
    for sessions in (1, 2, 3):
        one = subject({"base": EVEN, "same": EVEN}, sessions=sessions, wobble=0.1, margin=0.05)
        assert ("±" in chapter_html(chapter(one))) == (sessions >= 3)
        alone = gather(subject({"only": EVEN}, sessions=sessions)).alone
        assert {line.half.text[:1] for line in alone} == ({"±"} if sessions >= 3 else {""})
    assert all(line.low.text for line in alone)  # the interval stands with its ends


def test_runs_of_a_file_are_no_sessions(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("a,1.0,1.1,0.9,1.05\nb,2.0,2.1,2.2,1.9\n")
    alone = gather(subject_of([str(file)], Reading(better="lower"), explain=False)).alone
    for line in alone:
        half = 100 * (math.sqrt(line.high.value / line.low.value) - 1)
        assert line.half.value == pytest.approx(half, rel=1e-12)
        assert line.half.text == f"±\N{NO-BREAK SPACE}{half:.2g}\N{NO-BREAK SPACE}%"


def test_the_means_of_both_sides_stand_beside_several_candidates(subject: Make) -> None:
    for candidates in (1, 2, 3, 4):
        variants = {"base": EVEN} | {f"v{k}": FAST for k in range(candidates)}
        found = chapter(subject(variants))
        texts = re.sub(r"<[^>]*>", " ", chapter_html(found).partition("answer-reading")[0])
        for column in found["columns"]:
            for row in column["rows"]:
                assert texts.count(row["baseline"].text) >= 1
                assert texts.count(row["candidate"].text) >= 1
