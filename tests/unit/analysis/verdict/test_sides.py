"""What a verdict on two sides says of them: each thing once, and of the side that it holds for.

Authority: the cautions that each side carries.
"""

from __future__ import annotations

import numpy as np

from analysis.data import PerformanceMatrix
from analysis.report import Caution
from analysis.verdict import judge_sides


def side(name, *cautions):
    rng = np.random.default_rng(7)
    return PerformanceMatrix(
        name=name,
        benchmarks=("text", "logs"),
        samples=tuple(np.exp(rng.normal(0, 0.01, 12)) for _ in range(2)),
        sessions=(np.repeat([1, 2, 3, 4], 3),) * 2,
        unit="s",
        better="lower",
        cautions=cautions,
    )


def test_what_is_known_of_a_side_is_said_of_that_side():
    answer = judge_sides(
        side("new", Caution("failed-runs", "3 runs failed")),
        side("old", Caution("one-host", "one host only (lab1)", ("lab1",))),
        metric="wall",
    )
    told = {(one.code, one.about): one.text for one in answer.cautions}
    assert told["failed-runs", ("new",)] == "new: 3 runs failed"
    assert told["one-host", ("old", "lab1")] == "old: one host only (lab1)"
    assert not {("failed-runs", ("old",)), ("one-host", ("new", "lab1"))} & set(told)
