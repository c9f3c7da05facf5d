"""What is folded: neighbours within sessions, and the places of a normal law."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.report.benchmarks.cells import Cell
from analysis.report.benchmarks.folded import folded_plots


def cell(values, sessions: int) -> Cell:
    values = np.asarray(values, dtype=float)
    return Cell(
        values=values,
        labels=tuple(map(str, range(sessions))),
        session=np.repeat(np.arange(sessions), values.size // sessions),
        block=None,
    )


def plots(one: Cell, lag: float | None = None):
    return folded_plots({"a": one}, {"a": "neither"}, {"a": 1.0}, {"a": lag}, "s")


def test_pairs_stay_within_sessions() -> None:
    found = plots(cell(np.exp(np.random.default_rng(1).normal(size=20)), 4), lag=0.42)
    assert len(found.lags[0].dots) == 16
    assert found.lags[0].alt.endswith("autocorrelation 0.42")
    assert found.ranges[0] != ""


def test_normal_logs_lie_on_the_line_whatever_their_sessions_are() -> None:
    rng = np.random.default_rng(2)
    logs = rng.normal(0, 0.1, 2000) + np.repeat(rng.normal(0, 5, 4), 500)
    dots = np.array(plots(cell(np.exp(logs), 4)).qqs[0].dots)
    middle = dots[100:-100]
    assert np.abs(middle[:, 0] - middle[:, 1]).max() < 0.02


def test_a_heavy_tail_leaves_the_line() -> None:
    """The other way round: what is not normal must be seen."""
    logs = np.random.default_rng(3).standard_t(2, 500) / 10
    found = plots(cell(np.exp(logs), 1)).qqs[0]
    assert float(found.alt.split("lies ")[1].split(" ")[0]) > 2


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0] * 9])
def test_too_few_or_equal_runs_have_no_qq_plot(values) -> None:
    assert plots(cell(values, 1)).qqs == ()


def test_runs_of_zero_are_taken_as_they_are() -> None:
    found = plots(cell([0.0, 1.0, 2.0, 3.0, 0.0, 1.0], 1))
    assert len(found.qqs[0].dots) == 6
