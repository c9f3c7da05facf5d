"""The chapter on the sources of variation, where it was asked for.

Authority: `fairtrial sources --json` on the same trial; HTML read by a parser of the standard library.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from analysis.errors import UsageError
from analysis.importers.reader import Reading
from analysis.pages.model import CommandLine, Table, page_of, text_of
from analysis.report.assembling import assemble
from analysis.report.further import variation
from analysis.report.subject import subjects_of
from harness.cli import main

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
