"""The run plot: what is above the panels, rings at the runs that are far, means at their height."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.diagnose.result import FarRun
from analysis.pages.model import Value
from analysis.report.benchmarks.cells import Cell, Failed
from analysis.report.benchmarks.frame import frame_of
from analysis.report.benchmarks.result import Mark, VariantRuns
from analysis.report.benchmarks.run_rows import run_plot

NONE = Value("", None)


def told(name: str, mean: float) -> VariantRuns:
    return VariantRuns(
        variant=name, word="", style="neither", runs=6, sessions=2, failed=1, far=1,
        mean=Value("x", mean), median=NONE, minimum=NONE, maximum=NONE, spread=NONE,
        speedup=NONE, low=NONE, high=NONE, interval="",
    )  # fmt: skip


def cell(*values: float) -> Cell:
    return Cell(
        values=np.array(values),
        labels=("1", "2"),
        session=np.array([0, 0, 0, 1, 1, 1]),
        block=np.array([1, 2, 3, 5, 6, 7]),
    )


def mark(word: str, sessions: dict[str, str], *, everywhere: bool = False) -> Mark:
    return Mark(code=word, word=word, variant="", sessions=tuple(sessions),
                figures=tuple(sessions.values()), everywhere=everywhere, text=word)  # fmt: skip


def drawn(cells, *, marks=(), far=None, failures=None):
    frame = frame_of(cells, failures or {})
    centres = {name: float(np.exp(np.log(c.values).mean())) for name, c in cells.items()}
    return run_plot(
        cells, frame, {name: told(name, centres[name]) for name in cells}, unit="s",
        baseline="old", marks=marks, far=far or {}, modes={},
    )  # fmt: skip


OLD, NEW = cell(1, 2, 4, 1, 1, 1), cell(2, 2, 2, 3, 3, 3)


def test_means_stand_at_the_height_of_runs_of_their_value() -> None:
    plot = drawn({"old": OLD, "new": NEW})
    old, new = plot.rows
    assert old.means[0][2] == pytest.approx(old.dots[1][1])  # geometric mean of 1, 2, 4
    assert new.baseline_means == old.means
    assert new.means[1][2] == pytest.approx(new.dots[5][1])
    assert old.baseline_means == ()


def test_variants_far_apart_repeat_no_mean_and_the_caption_says_why() -> None:
    plot = drawn({"old": OLD, "new": cell(20, 20, 21, 30, 30, 30)})
    assert plot.rows[1].baseline_means == ()
    assert plot.rows[1].baseline_density == ()
    assert "axis of its own, of the same ratio" in plot.special


def test_a_ring_is_at_the_run_that_is_far() -> None:
    far = {"new": [FarRun(benchmark="x", variant="new", session=2, run=3, ratio=2.0)]}
    plot = drawn({"old": OLD, "new": NEW}, far=far)
    assert plot.rows[1].rings == (plot.rows[1].dots[5],)
    assert "Ring: a run far from the others of its session (1 of 12)." in plot.special


def test_a_failed_run_is_a_cross_in_its_own_row() -> None:
    failures = {"new": (Failed(session="2", block=8),)}
    plot = drawn({"old": OLD, "new": NEW}, failures=failures)
    assert [len(row.crosses) for row in plot.rows] == [0, 1]
    assert plot.rows[1].crosses[0] > plot.rows[1].dots[5][0]
    assert "Cross: a failed run." in plot.special
    assert "1 failed" in plot.rows[1].alt


def test_findings_stand_in_words_above_their_sessions_and_words_are_not_repeated() -> None:
    load = mark("load", {"1": "0.74", "2": "0.97"})
    everywhere = mark("steal", {"1": "", "2": ""}, everywhere=True)
    panels = drawn({"old": OLD}, marks=(load, everywhere)).panels
    assert [one.long for one in panels] == ["load 0.74", "0.97"]
    assert [one.short for one in panels] == ["0.74", "0.97"]
    assert not any(one.found for one in drawn({"old": OLD}, marks=(everywhere,)).panels)


def test_words_without_room_give_way_to_figures_and_those_to_a_bar() -> None:
    count = 10
    many = Cell(values=np.ones(count) * 2, labels=tuple(map(str, range(count))),
                session=np.arange(count), block=None)  # fmt: skip
    panels = drawn({"old": many}, marks=(mark("environment", {"3": "", "4": "-25 %"}),)).panels
    assert (panels[3].found, panels[3].long, panels[3].short) == (True, "", "")
    assert (panels[4].long, panels[4].short) == ("-25 %", "")


def test_many_panels_have_few_labels() -> None:
    many = Cell(values=np.ones(60) + 1, labels=tuple(map(str, range(1, 61))),
                session=np.arange(60), block=None)  # fmt: skip
    labels = [panel.label for panel in drawn({"old": many}).panels if panel.label]
    assert 5 <= len(labels) <= 12
    assert labels[0] == "1"
