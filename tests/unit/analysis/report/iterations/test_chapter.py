"""The chapter on iterations: what the verdict says of them, and a picture of the runs that it is about.

Authority: the verdict's own `iterations`; the stored values and the number that was planted as warm-up.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.pages.model import Figure, Table
from analysis.report.assembling import chapter_html
from analysis.report.benchmarks import iterations as chapter
from tests.unit.analysis.data.iterations.test_warmup import restless, trial, warming
from tests.unit.analysis.report.figures.test_iterations import subject_of


def blocks(subject, kind: type):
    (section,) = chapter(subject).sections()
    return [block for block in section.blocks if isinstance(block, kind)]


def test_the_table_is_what_the_verdict_says():
    subject = subject_of(trial(warming, override="auto"))
    (table,) = blocks(subject, Table)
    assert [(row[1], row[3].text, row[4]) for row in table.rows] == [
        ("v0", "20", "24 warm-up"),
        ("v1", "0", "24 flat"),
    ]
    assert chapter(subject).lead == "Not judged: those before a run becomes steady."


def test_cells_without_a_word_stand_first():
    subject = subject_of(trial(restless(0.5), override="auto"))
    (table,) = blocks(subject, Table)
    assert [row[1] for row in table.rows] == ["v1", "v0"]
    assert "No word on 1 of 2 cells" in chapter(subject).lead


@pytest.mark.parametrize("setting", [None, 0])
def test_there_is_none_where_all_iterations_are_judged(setting):
    assert chapter(subject_of(trial(warming, override=setting))) is None


def test_a_picture_for_each_benchmark_and_none_of_sides_that_are_no_trial():
    subject = subject_of(trial(warming, override=20))
    (picture,) = blocks(subject, Figure)
    assert "24 runs, 20 iterations not judged" in picture.alt
    assert chapter_html(chapter(subject)).count("<svg") == 1
    assert blocks(replace(subject, trials=()), Figure) == []
