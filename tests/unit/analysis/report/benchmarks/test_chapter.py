"""The benchmarks: numbers of their runs, sentences, pictures."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.pages.model import Caution, CommandLine, Figure, Sentence, Table, Value
from analysis.report.assembling import chapter_html
from analysis.report.benchmarks import chapter, drawn_of
from analysis.report.figures import cells_of

NAMES = {name: float(k + 1) for k, name in enumerate("abcdefgh")}


@pytest.fixture
def plain(matrix, subject):
    return subject(matrix("new", NAMES, seed=2), matrix("old", NAMES))


def blocks(subject, kind: type):
    sections = chapter(subject).sections()
    return [block for one in sections for block in one.blocks if isinstance(block, kind)]


def test_a_line_for_each_benchmark_and_variant(plain) -> None:
    (table,) = blocks(plain, Table)
    assert table.name == "parts-runs"
    assert [row[:2] for row in table.rows] == [
        (name, variant) for name in plain.order for variant in ("old", "new")
    ]
    assert all(row[2] == Value("40", 40) for row in table.rows)
    lines = {line.name: line for line in plain.candidates[0].multilevel.benchmarks}
    assert [row[7].value for row in table.rows[:2]] == [
        lines[plain.order[0]].spread_baseline,
        lines[plain.order[0]].spread_candidate,
    ]


def with_cautions(given, *about: tuple[str, ...]):
    cautions = tuple(Caution(f"c{k}", "said", names) for k, names in enumerate(about))
    return dataclasses.replace(given, verdict=dataclasses.replace(given.verdict, cautions=cautions))


def test_what_cautions_name_and_the_largest_effects_are_drawn(matrix, subject) -> None:
    same = dict.fromkeys(NAMES, 1.0)
    new = matrix("new", same | {"c": 0.5, "d": 2.0}, seed=2)
    given = with_cautions(subject(new, matrix("old", same)), ("h", "g"))
    drawn = drawn_of(given)
    assert {"c", "d", "g", "h"} <= set(drawn)
    assert len(drawn) == 6
    assert [name for name in given.order if name in drawn] == list(drawn)


def test_each_that_is_drawn_has_an_id_its_runs_deciles_and_distribution(plain) -> None:
    found = [one for one in chapter(plain).sections() if one.anchor]
    assert [one.anchor for one in found] == [plain.anchor("benchmark", one.title) for one in found]
    for one in found:
        assert len([block for block in one.blocks if isinstance(block, Figure)]) == 3
    html = chapter_html(chapter(plain))
    assert html.count("<svg") == 18
    (command,) = blocks(plain, CommandLine)  # two have no picture
    assert command.line.startswith("fairtrial plot strip a b --benchmark ")


def test_few_runs_have_no_deciles(matrix, subject) -> None:
    sides = (matrix(n, {"x": 1.0}, seed=k, runs=2) for k, n in enumerate(("new", "old")))
    assert len(blocks(subject(*sides), Figure)) == 2


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (0.9, "new is ahead in all 5 sessions, by "),
        (0.2, "new is ahead in all 5 sessions, at "),
        (1.4, "new is behind in all 5 sessions, by "),
        (1.0, "new equals the baseline in all 5 sessions."),
    ],
)
def test_a_sentence_says_how_sessions_agree(matrix, subject, factor: float, said: str) -> None:
    old = matrix("old", {"x": 1.0})
    new = dataclasses.replace(matrix("new", {"x": factor}), name="new")
    (told,) = (one.text for one in blocks(subject(new, old), Sentence))
    assert told.startswith(said)
    assert f"<p>{said}" in chapter_html(chapter(subject(new, old))).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_sessions_that_do_not_agree_are_counted(matrix, subject) -> None:
    old, new = matrix("old", {"x": 1.0}), matrix("new", {"x": 1.0}, seed=3)
    (told,) = (one.text for one in blocks(subject(new, old), Sentence))
    differences = subject(new, old).candidates[0].multilevel.benchmarks[0].differences
    ahead = sum(log > 0 for log in differences)
    assert 0 < ahead < 5
    assert told.startswith(f"new is ahead in {ahead} of 5 sessions, which range from ")


def test_a_side_without_runs_is_named(matrix, subject) -> None:
    given = subject(matrix("new", {"x": 1.0, "y": 1.0}), matrix("old", {"x": 1.0}))
    assert "No run counts of old." in [one.text for one in blocks(given, Sentence)]


def test_sessions_and_blocks_are_the_matrixs(matrix, subject) -> None:
    a, b = matrix("a", {"x": 1.0, "y": 2.0}, seed=2), matrix("b", {"x": 1.0, "y": 2.0})
    judged = subject(a, b)
    assert list(cells_of(judged, "x")) == ["b", "a"]  # the baseline first
    found = cells_of(judged, "y")["a"]
    assert found.values.tolist() == a.values("y").tolist()
    assert found.labels == ("1", "2", "3", "4", "5")
    assert found.of(2).tolist() == a.values("y")[16:24].tolist()
    assert found.block is not None


def test_unknown_sessions_are_one_without_a_name(matrix, subject) -> None:
    a, b = (matrix(name, {"x": 1.0}, known=False) for name in "ab")
    found = cells_of(subject(a, b), "x")["a"]
    assert found.labels == ("",)
    assert found.block is None


def test_named_sessions_keep_the_order_in_which_they_are_met(matrix, subject) -> None:
    a, b = (matrix(name, {"x": 1.0}) for name in "ab")
    names = np.repeat(["night", "morning", "noon", "evening", "dusk"], 8)
    a, b = (dataclasses.replace(one, sessions=(names,)) for one in (a, b))
    assert cells_of(subject(a, b), "x")["a"].labels == (
        "night",
        "morning",
        "noon",
        "evening",
        "dusk",
    )


def test_benchmarks_with_runs_of_zero_are_cells_too(matrix, subject) -> None:
    a, b = (matrix(name, {"x": 1.0, "y": 1.0}) for name in "ab")

    def zeroed(one: PerformanceMatrix) -> PerformanceMatrix:
        values = one.values("y").copy()
        values[3] = 0
        return dataclasses.replace(
            one.select(["x"]),
            with_zeros=dataclasses.replace(one.select(["y"]), samples=(values,)),
        )

    judged = subject(zeroed(a), zeroed(b))
    assert cells_of(judged, "y")["a"].values.min() == 0
    assert list(cells_of(judged, "x")) == ["b", "a"]
    assert cells_of(judged, "z") == {}
