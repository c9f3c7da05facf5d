"""The suite as a whole: the pictures of `plot`, and the ranking of three and more variants."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import UsageError
from analysis.importers.reader import Reading
from analysis.pages.model import CommandLine, Figure, Sentence, Table, page_of, text_of
from analysis.report.assembling import assemble
from analysis.report.further import suite, variation
from analysis.report.subject import subject_of, subjects_of
from harness.cli import main

BENCHES = ("text", "logs", "json")


def runs(factors, *, seed=1, benches=BENCHES, sessions=4, count=6):
    rng = np.random.default_rng(seed)
    return {
        name: {
            bench: ((k + 1) * factor * np.exp(rng.normal(0, 0.01, sessions * count))).tolist()
            for k, bench in enumerate(benches)
        }
        for name, factor in factors.items()
    }


@pytest.fixture(scope="module")
def subject(synthetic, tmp_path_factory, once):
    def make(data, how=None, **asked):
        path = synthetic(data, sessions=4).write(
            tmp_path_factory.mktemp("trials") / "runs" / f"t{len(data)}"
        )
        return subject_of([str(path)], how or Reading(), **{"explain": False} | asked)

    return once(make)


@pytest.fixture
def three(subject):
    return subject(runs({"old": 1.0, "new": 0.5, "again": 1.0}))


def titles(subject) -> list[str]:
    return [section.title for section in suite(subject).sections()]


def ranks(subject) -> list[tuple[str, str, str]]:
    (table,) = (b for s in suite(subject).sections() for b in s.blocks if isinstance(b, Table))
    return [(row[0].text, *row[1:]) for row in table.rows]


def test_three_variants_have_boxes_a_ranking_and_a_biplot(three) -> None:
    assert titles(three) == ["All runs of each benchmark", "Ranking", "Biplot", ""]
    figures = [b for s in suite(three).sections() for b in s.blocks if isinstance(b, Figure)]
    assert [one.name for one in figures] == ["box", "biplot"]


def test_the_ranking_tells_apart_what_differs_and_joins_what_does_not(three) -> None:
    first, *others = ranks(three)
    assert first == ("1", "new", "")
    assert {(rank, *sorted(pair)) for rank, *pair in others} == {("2 to 3", "again", "old")}


def test_one_program_under_three_names_has_no_order(subject) -> None:
    """The negative control: nothing differs, so no pair may be separated."""
    found = ranks(subject(runs({"a": 1.0, "b": 1.0, "c": 1.0}, seed=5)))
    assert [rank for rank, _, _ in found] == ["1 to 3"] * 3
    assert all({variant, *alike.split(", ")} == {"a", "b", "c"} for _, variant, alike in found)


def test_with_two_variants_the_page_says_why_there_is_no_ranking(subject) -> None:
    two = subject(runs({"old": 1.0, "new": 0.5}))
    assert titles(two) == ["All runs of each benchmark", ""]
    said = [b.text for s in suite(two).sections() for b in s.blocks if isinstance(b, Sentence)]
    assert said[0] == "A ranking and a biplot need three variants or more."


def test_there_is_no_chapter_on_a_single_benchmark(subject) -> None:
    assert suite(subject(runs({"old": 1.0, "new": 0.5}, benches=("text",)))) is None


# --- The chapter on the sources of variation, where it was asked for.

SAMPLE = str(Path(__file__).resolve().parents[5] / "tests" / "data" / "sample-0.2.0")


@pytest.fixture(scope="module")
def report():
    return assemble(subjects_of([SAMPLE], Reading(), explain=False), sources=True)


@pytest.fixture(scope="module")
def chapter(report):
    (found,) = (one for one in report.chapters if one.name == "variation")
    return found


def test_the_tables_are_those_of_the_command(chapter):
    out = io.StringIO()
    assert main(["sources", SAMPLE], out, io.StringIO()) == 0
    told = " ".join(out.getvalue().split())
    tables = [b for s in chapter.sections() for b in s.blocks if isinstance(b, Table)]
    assert "variation-components" in [table.name for table in tables]
    for table in tables:
        for row in table.rows:
            assert all(" ".join(text_of(cell).split()) in told for cell in row)
    (command,) = (b for s in chapter.sections() for b in s.blocks if isinstance(b, CommandLine))
    assert command.line == f"fairtrial sources {SAMPLE}"


def test_two_metrics_have_a_chapter_each_if_that_is_asked_for():
    subjects = subjects_of([SAMPLE], Reading(), ["wall", "user"], explain=False)
    both = assemble(subjects, sources=True)
    told = [one for one in both.chapters if one.name == "variation"]
    assert [one.anchor for one in told] == ["variation", "metric-2-variation"]
    (command,) = (b for s in told[1].sections() for b in s.blocks if isinstance(b, CommandLine))
    assert command.line.endswith("--metric user")
    assert page_of(both)
    assert "variation" not in [one.name for one in assemble(subjects).chapters]


def test_a_file_has_none(tmp_path):
    (tmp_path / "m.csv").write_text("a,1.0,1.1,0.9,1.2\nb,2.0,2.1,2.2,1.9\n")
    subjects = subjects_of([str(tmp_path / "m.csv")], Reading(better="lower"), explain=False)
    with pytest.raises(UsageError, match="one trial"):
        assemble(subjects, sources=True)


def test_too_few_runs_leave_it_out(tmp_path, synthetic):
    path = synthetic({"a": {"x": [1.0, 1.1, 1.2]}, "b": {"x": [1.0, 1.2, 1.1]}}).write(
        tmp_path / "t"
    )
    (subject,) = subjects_of([str(path)], Reading(), explain=False)
    assert variation(subject) is None
