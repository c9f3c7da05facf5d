"""The picture of iterations: all of them, which are not judged, and where there are none.

Authority: the stored values; the number of iterations that were planted as warm-up.
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.importers.reader import Reading
from analysis.plots.chart import Sheet, picture_bytes
from analysis.report.figures import draw
from analysis.report.subject import Subject
from analysis.verdict.judging import judge
from tests.planted_values import NAME, with_values
from tests.unit.analysis.data.iterations.test_warmup import trial, warming

SHEET = Sheet(width=85.0)


def subject_of(made, metric="t") -> Subject:
    return Subject(
        sources=("t",),
        title="t",
        trials=(made,),
        verdict=judge(made, metric=metric),
        matrices={name: made.matrix(name, metric) for name in made.manifest.variants},
        order=("b0",),
        prefix="",
        options={},
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
    with pytest.raises(AnalysisError, match="no run has several iterations"):
        draw("iterations", subject_of(trial(), "wall"), SHEET)


def test_of_a_quantile_those_that_it_is_a_quantile_of_are_drawn():
    made, values = with_values(sessions=3, runs=2, each=200, warmup="20")
    drawing = draw("iterations", subject_of(made, NAME), SHEET)
    assert sorted(row[5] for row in drawing.rows) == sorted(np.concatenate(values).tolist())
    assert sum(row[4] for row in drawing.rows) == len(made) * 180
    assert drawing.columns[-1] == "t_ms"
