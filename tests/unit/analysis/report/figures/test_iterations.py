"""The picture of iterations: all of them, which are not judged, and where there are none.

Authority: the stored values; the number of iterations that were planted as warm-up.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.errors import AnalysisError
from analysis.importers.sources import Reading
from analysis.plots.drawing import picture_bytes
from analysis.plots.sheet import Sheet
from analysis.report.figures.kinds import draw
from analysis.report.subject import Subject
from analysis.verdict.judging import judge
from tests.unit.analysis.data.iterations.test_warmup import trial, warming

SHEET = Sheet(width=85.0)


def subject_of(made) -> Subject:
    matrices = {name: made.matrix(name, "t") for name in made.manifest.variants}
    return Subject(
        sources=("t",),
        title="t",
        trials=(made,),
        verdict=judge(made, metric="t"),
        matrices=matrices,
        order=("b0",),
        prefix="",
        asked={},
        how=Reading(),
    )


def test_all_iterations_are_there_and_those_before_the_change_are_not_judged():
    made = trial(warming, override="auto")
    drawing = draw("iterations", subject_of(made), SHEET)
    assert len(drawing.rows) == len(made) * 120
    assert sorted(row[5] for row in drawing.rows) == sorted(made.metrics["t"].values.tolist())
    judged = {"v0": 0, "v1": 0}
    for row in drawing.rows:
        judged[row[0]] += row[4]
    assert judged == {"v0": 24 * 100, "v1": 24 * 120}
    assert "v0: 24 runs, 20 iterations not judged; v1: 24 runs, 0 iterations" in drawing.alt
    assert drawing.alt.startswith("t of b0, iteration by iteration. ")
    assert picture_bytes(drawing.picture, "svg").startswith(b"<svg")


def test_a_metric_of_every_run_has_none():
    subject = subject_of(trial())
    wall = replace(subject, verdict=judge(trial(), metric="wall"))
    with pytest.raises(AnalysisError, match="no run has several iterations"):
        draw("iterations", wall, SHEET)
