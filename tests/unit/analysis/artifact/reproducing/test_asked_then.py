"""What a command of a bundle asked when it was packed: the wall time, where nothing could say otherwise."""

from __future__ import annotations

import pytest

from analysis.artifact.reproduce import as_asked_then
from analysis.record.trial_files import JudgedMetrics

RPS = {"rps": {"unit": "1/s", "better": "higher"}}
GATE = ("gate", "slower>2%", "trials/t", "--json")


@pytest.fixture
def folder(synthetic, tmp_path):
    def make(**manifest):
        cells = {"a": {"x": [1.0, 2.0]}, "b": {"x": [1.0, 2.0]}}
        synthetic(cells, **manifest).write(tmp_path / "trials" / "t")
        return tmp_path

    return make


@pytest.mark.parametrize(
    "command", [GATE, ("verdict", "trials/t"), ("hpt", "trials/t:b", "trials/t:a")]
)
def test_a_trial_that_declares_metrics_was_judged_by_its_wall_time(folder, command):
    asked = as_asked_then(command, folder(metrics=RPS), b"{}")
    assert asked == (*command, "--metric", "wall")


@pytest.mark.parametrize(
    ("command", "stored", "manifest"),
    [
        ((*GATE, "--metric", "rps"), b"{}", {"metrics": RPS}),
        ((*GATE, "--metric=rps"), b"{}", {"metrics": RPS}),
        (GATE, b"declares rps; judged is wall: --metric rps", {"metrics": RPS}),
        (GATE, b"{}", {}),
        (GATE, b"{}", {"metrics": {"cycles": RPS["rps"] | {"source": "counters"}}}),
        (GATE, b"{}", {"metrics": RPS, "origin": "imported"}),
        (GATE, b"{}", {"metrics": RPS, "judge": (JudgedMetrics(at="x", metrics=("rps",)),)}),
        (("gate", "slower>2%", "trials/u"), b"{}", {"metrics": RPS}),
    ],
)
def test_everything_else_asks_what_it_says(folder, command, stored, manifest):
    assert as_asked_then(command, folder(**manifest), stored) == command
