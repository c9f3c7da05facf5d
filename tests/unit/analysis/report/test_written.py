"""The decimals of a column, by the design's rule, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from analysis.importers.reader import Reading
from analysis.methods.multilevel.result import Line
from analysis.pages.as_markup import tables_of
from analysis.pages.as_text import render
from analysis.pages.model import Page, Value
from analysis.report.subject import (
    brief_of,
    brief_sections,
    macros_of,
    subject_of,
    written,
    written_of,
)


def line(
    speedup: float | None, low: float | None = None, high: float | None = None, name: str = "b"
) -> Line:
    return Line(name=name, speedup=speedup, low=low, high=high, outcome="undecided")


def texts(one: Line, *others: Line) -> tuple[str, str, str]:
    found = written(one, (one, *others))
    return found.speedup.text, found.low.text, found.high.text


def test_a_column_that_spans_more_than_a_factor_of_one_and_a_half_has_two_decimals() -> None:
    fast, slow = line(6.087, 5.871, 6.318), line(1.047, 1.013, 1.082)
    assert texts(fast, slow) == ("6.09", "5.87", "6.32")
    assert texts(slow, fast) == ("1.05", "1.01", "1.09")


def test_a_narrow_column_has_three_decimals() -> None:
    assert texts(line(1.0224, 0.9981, 1.0449), line(0.989, 0.966, 1.012)) == (
        "1.022",
        "0.998",
        "1.045",
    )
    assert texts(line(0.6541, 0.6312, 0.6768), line(1.023, 0.974, 1.075))[0] == "0.654"


def test_a_rough_line_has_one_decimal_and_none_is_written_as_zero() -> None:
    # half-width (4.52 - 1.63) / 2 = 1.4
    assert texts(line(2.71, 1.63, 4.52), line(1.05, 1.01, 1.08)) == ("2.7", "1.6", "4.6")
    assert texts(line(2.7, 2.31, 3.1), line(1.1, 1.05, 1.2)) == ("2.70", "2.31", "3.10")
    assert texts(line(1.1, 0.0823, 14.9)) == ("1", "0.08", "15")


@pytest.mark.parametrize(
    ("low", "high", "written_low", "written_high"),
    [
        (1.0003, 1.0211, "1.0003", "1.0211"),
        (0.97, 0.9998, "0.9700", "0.9998"),
        (1.0, 1.0211, "1.000", "1.022"),  # it is 1
        (1.00004, 1.2, "1.00004", "1.20000"),
    ],
)
def test_no_end_rounds_to_one_unless_it_is_one(
    low: float, high: float, written_low: str, written_high: str
) -> None:
    assert texts(line(1.01, low, high))[1:] == (written_low, written_high)


def test_ends_that_differ_look_different_up_to_four_decimals() -> None:
    other = line(6.0, 5.9, 6.1)
    assert texts(line(2.7102, 2.7084, 2.7122), other) == ("2.710", "2.708", "2.713")
    assert texts(line(2.71, 2.71, 2.71), other) == ("2.71", "2.71", "2.71")


def test_large_and_small_numbers_have_three_significant_digits() -> None:
    assert texts(line(123.44, 123.1, 123.9), line(1.1, 1.0, 1.2)) == ("123", "123", "124")
    assert texts(line(12.344, 12.11, 12.55), line(1.1, 1.0, 1.2)) == ("12.3", "12.1", "12.6")
    assert texts(line(0.01234, 0.0121, 0.0126)) == ("0.0123", "0.0121", "0.0126")


def test_what_is_unknown_is_not_written() -> None:
    found = written(line(None), (line(None),))
    assert (found.speedup.text, found.speedup.value, found.interval) == ("", None, "")
    alone = written(line(1.1), (line(1.1),))
    assert (alone.speedup.text, alone.interval) == ("1.100", "")


positive = st.floats(1e-6, 1e6)


@given(st.lists(positive, min_size=3, max_size=3), st.lists(positive, max_size=5))
def test_the_text_is_the_number_to_its_last_digit(three: list[float], others: list[float]) -> None:
    low, middle, high = sorted(three)
    one = line(middle, low, high)
    found = written(one, (one, *map(line, others)))
    for value in (found.speedup, found.low, found.high):
        assert value.value is not None
        decimals = len(value.text.partition("e")[0].partition(".")[2])
        exponent = int(value.text.partition("e")[2] or 0)
        unit = 10.0 ** (exponent - decimals)
        least, most = {id(found.low): (-1, 0), id(found.high): (0, 1)}.get(id(value), (-0.5, 0.5))
        apart = (float(value.text) - value.value) / unit
        assert least - 1e-6 <= apart <= most + 1e-6
    for end in (found.low, found.high):
        if float(end.text) == 1.0:
            assert end.value == pytest.approx(1.0, rel=1e-11)


# --- The compact table: each number is the verdict's, each line what a screen of one line can hold
#
# Authorities: `judge` and `multilevel` for the numbers, Student's t on the logs of session means for
# what stands behind ±.


FACTORS = {"old": 1.0, "new": 0.5, "same": 1.0}
BENCHES = ("text", "logs", "random")


@pytest.fixture
def trial(synthetic, tmp_path):
    rng = np.random.default_rng(3)
    data = {
        name: {
            b: (0.02 * (k + 1) * factor * np.exp(rng.normal(0, 0.02, 24))).tolist()
            for k, b in enumerate(BENCHES)
        }
        for name, factor in FACTORS.items()
    }
    return synthetic(data, sessions=6)


def subject(trial, tmp_path, **asked):
    return subject_of([str(trial.write(tmp_path / "t"))], Reading(), **asked, explain=False)


def test_every_number_is_one_of_the_verdict_on_one_line_a_benchmark(trial, tmp_path):
    about = subject(trial, tmp_path)
    brief = brief_of(about)
    assert [one["variant"] for one in brief["candidates"]] == ["new", "same"]
    written = written_of(about)
    for one, ours in zip(about.candidates, brief["candidates"], strict=True):
        lines = {line.name: line for line in one.multilevel.benchmarks}
        assert [row["name"] for row in ours["rows"]] == [*about.order, "these", "similar"]
        for row in ours["rows"][:-2]:
            line = lines[row["name"]]
            assert row["speedup"] == written[one.variant][row["name"]].speedup
            assert (row["low"].value, row["high"].value) == (line.low, line.high)
            assert row["outcome"] == line.outcome
            assert row["candidate"]["mean"].value == line.mean_candidate
            assert row["baseline"]["mean"].value == line.mean_baseline
        assert ours["rows"][-2]["speedup"].value == one.multilevel.these.speedup
        assert ours["rows"][-1]["label"] == "others like them"
        assert ours["rows"][-1]["candidate"] is ours["rows"][-1]["baseline"] is None
    lines = text(brief_of(about)).splitlines()
    assert lines[0] == "new against old"
    assert [line.split()[0] for line in lines[2:7]] == [*about.order, "these", "others"]
    assert lines[-2].startswith("±: half the width of each side's own 95 % interval, over its")
    assert all(len(line) <= 130 for line in lines)


def test_what_stands_behind_the_sign_is_students_t_over_sessions(trial, tmp_path):
    about = subject(trial, tmp_path)
    (row,) = [row for row in brief_of(about)["candidates"][0]["rows"] if row["name"] == "logs"]
    matrix = about.matrices["new"]
    k = matrix.benchmarks.index("logs")
    logs = np.log(matrix.samples[k]).reshape(6, 4).mean(axis=1)
    half = stats.t.ppf(0.975, 5) * logs.std(ddof=1) / math.sqrt(6)
    assert row["candidate"]["half"].value == pytest.approx(math.exp(half) - 1)
    # a look of two shares the risk, and the sides' intervals with it
    twice = brief_of(subject_of([str(tmp_path / "t")], Reading(), looks=2, explain=False))
    (wider,) = [row for row in twice["candidates"][0]["rows"] if row["name"] == "logs"]
    assert wider["candidate"]["half"].value > row["candidate"]["half"].value
    assert (twice["level"].text, twice["rests_on"]) == ("97.5\N{NO-BREAK SPACE}%", "sessions")


def text(brief) -> str:
    return render(Page(title="t", sections=brief_sections(brief)))


def test_a_candidate_that_failed_altogether_has_a_sentence(trial, tmp_path):
    brief = brief_of(subject(trial.fail(lambda row: row.variant == "same"), tmp_path))
    assert brief["candidates"][1]["rows"] == []
    assert "same: nothing could be compared with old" in text(brief)
    assert "new against old" in text(brief)


def test_a_benchmark_called_like_a_suites_line_keeps_its_numbers(synthetic, tmp_path):
    data = {
        name: {b: [f * (1 + 0.01 * k) for k in range(8)] for b, f in (("these", 1.0), ("b", 3.0))}
        for name in ("old", "new")
    }
    data["new"]["these"] = [value / 2 for value in data["new"]["these"]]
    brief = brief_of(subject(synthetic(data, sessions=2), tmp_path))
    rows = brief["candidates"][0]["rows"]
    assert [(row["label"], row["speedup"].text) for row in rows[:2]] == [
        ("these", "2.00"),
        ("b", "1.00"),
    ]
    assert rows[2]["label"] == "these 2"


def test_one_variant_stands_alone(synthetic, tmp_path):
    data = {"only": {b: [1.0, 1.1, 0.9, 1.05] for b in BENCHES}}
    brief = brief_of(subject(synthetic(data, sessions=2), tmp_path))
    assert brief["candidates"] == []
    assert [one["benchmark"] for one in brief["alone"]] == list(BENCHES)


def commands(text):
    return [
        line.partition("}")[0].removeprefix("\\newcommand{\\")
        for line in text.splitlines()
        if line[0] == "\\"
    ]


def test_each_number_has_one_command_of_letters_and_says_its_unit(trial, tmp_path):
    brief = brief_of(subject(trial, tmp_path))
    text = macros_of([brief])
    found = commands(text)
    assert len(found) == len(set(found))
    assert all(name.isascii() and name.isalpha() for name in found)
    values = [row["speedup"].text for one in brief["candidates"] for row in one["rows"]]
    for name, value in (("ftSpeedupNew", values[3]), ("ftSpeedupNewOnSimilar", values[4])):
        assert f"\\newcommand{{\\{name}}}{{{value}}}% " in text
    assert f"{{{brief['candidates'][0]['rows'][0]['word']}}}% new, " in text
    assert macros_of([brief]) == text
    second = commands(macros_of([brief, brief | {"metric": "max_rss"}]))
    assert "ftMaxRssSpeedupNew" in second
    assert len(second) == len(set(second)) == 2 * len(found)
    (row,) = [row for row in brief["candidates"][0]["rows"] if row["name"] == "text"]
    number, unit = row["baseline"]["mean"].text.split(" ")
    line = (
        f"\\newcommand{{\\ftBaseNewOnText}}{{{number}}}% new, text: the baseline's mean, in {unit}"
    )
    assert line in macros_of([brief]).splitlines()
    (table, _) = tables_of(Page(title="t", sections=brief_sections(brief)))
    assert table.rows[0][5] == brief["candidates"][0]["rows"][0]["speedup"]
    assert isinstance(table.rows[-1][1], Value)
    assert table.rows[-1][1].value is None


def test_names_that_spell_alike_have_commands_of_their_own(trial, tmp_path):
    brief = brief_of(subject(trial, tmp_path))
    one = brief["candidates"][0]
    names = ("g-1", "g 1", "é", "日", "\n")
    alike = brief | {"candidates": [one | {"variant": name} for name in names]}
    found = commands(macros_of([alike]))
    assert len(found) == len(set(found))
    assert {
        "ftWordGOne",
        "ftWordGOneNoTwo",
        "ftWordE",
        "ftWordUnnamed",
        "ftWordUnnamedNoTwo",
    } <= set(found)


def test_below_three_sessions_there_is_no_half_width_and_no_column_for_it(synthetic, tmp_path):
    data = {v: {b: [1.0, 1.1, 0.9, 1.05] for b in BENCHES} for v in ("old", "new")}
    for sessions, shown in ((2, False), (4, True)):
        made = synthetic(data, sessions=sessions).write(tmp_path / f"t{sessions}")
        brief = brief_of(subject_of([str(made)], Reading(), explain=False))
        assert ("±" in text(brief)) == shown
        rows = [row for row in brief["candidates"][0]["rows"] if row["candidate"]]
        assert all(bool(row["candidate"]["half"].text) == shown for row in rows)
    alone = synthetic({"only": data["old"]}, sessions=2).write(tmp_path / "alone")
    assert "±" not in text(brief_of(subject_of([str(alone)], Reading(), explain=False)))
