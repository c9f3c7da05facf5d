"""The chapter on iterations: what the verdict says of them, and a picture of the runs that it is about.

Authority: the verdict's own `iterations`; the stored values and the number that was planted as warm-up.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from analysis.pages.model import CommandLine
from analysis.record.manifest import judging_with
from analysis.report.assembling import chapter_html
from analysis.report.iterations import chapter
from tests.unit.analysis.data.iterations.test_warmup import restless, trial, warming
from tests.unit.analysis.report.figures.test_iterations import subject_of


def test_the_table_is_what_the_verdict_says():
    subject = subject_of(trial(warming, override="auto"))
    found = chapter(subject).to_dict()
    assert [(one["variant"], one["left_out"]["text"], one["states"]) for one in found["cells"]] == [
        ("v0", "20", "24 warm-up"),
        ("v1", "0", "24 flat"),
    ]
    assert found["lead"] == "Iterations that are not judged: those before a run becomes steady."


def test_cells_without_a_word_stand_first():
    found = chapter(subject_of(trial(restless(0.5), override="auto"))).to_dict()
    assert [(one["variant"], one["unsteady"]) for one in found["cells"]] == [
        ("v1", True),
        ("v0", False),
    ]
    assert "No word on 1 of 2 cells" in found["lead"]


@pytest.mark.parametrize("setting", [None, 0])
def test_there_is_none_where_all_iterations_are_judged(setting):
    assert chapter(subject_of(trial(warming, override=setting))) is None


def test_the_picture_has_a_line_for_each_run_and_a_ring_where_it_is_judged():
    html = chapter_html(chapter(subject_of(trial(warming, override=20))))
    assert html.count("iterations-ring") == html.count("iterations-early") == 24
    assert "v0, iteration" not in html
    assert re.search(r'aria-label="b0, v0: 12 of 24 runs, iteration by iteration', html)
    plain = chapter_html(chapter(subject_of(trial(restless(0.5), override="auto"))))
    assert "iterations-ring" not in plain  # nothing is left out: negative control


def test_the_command_asks_of_the_same_iterations_and_sides_that_are_no_trial_have_the_table_alone():
    subject = subject_of(trial(warming, override=20))
    with judging_with(20):
        (section,) = chapter(subject).sections()
    (line,) = [one.line for one in section.blocks if isinstance(one, CommandLine)]
    assert line == (
        "fairtrial plot iterations t --metric t --warmup-iterations 20 --benchmark b0 -o iterations.svg"
    )
    html = chapter_html(chapter(replace(subject, trials=())))
    assert "<table" in html
    assert "<svg" not in html
