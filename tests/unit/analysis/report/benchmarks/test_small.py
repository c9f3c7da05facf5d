"""Small pictures: strips of all runs, neighbours within sessions, the places of a normal law."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.report.benchmarks.pictures import squares, strip, strip_dots, strip_each
from analysis.report.runs import (
    Cell,
    Grounds,
    frame_of,
    normal_quantiles,
    pairs_in_order,
    row_scales,
)


def cell(values, sessions: int) -> Cell:
    values = np.asarray(values, dtype=float)
    return Cell(
        values=values,
        labels=tuple(map(str, range(1, sessions + 1))),
        session=np.repeat(np.arange(sessions), values.size // sessions),
    )


def of(values, sessions: int, lag: float | None = None):
    """Give a benchmark of one variant, as far as these pictures look into it."""
    cells = {"a": cell(values, sessions)}
    found = SimpleNamespace(lag_1=lag)
    return SimpleNamespace(
        name="x",
        cells=cells,
        frame=frame_of(cells, {}),
        scales=row_scales(cells, {"a": 1.0}),
        styles={"a": "neither"},
        known=SimpleNamespace(unit="s", found={("x", "a"): found}),
    )


def drawn(one) -> dict[str, str]:
    return {said.split(":")[0]: some[0][1] for said, some in squares(one, Grounds("g"))}


def test_pairs_stay_within_sessions() -> None:
    one = of(np.exp(np.random.default_rng(1).normal(size=20)), 4, lag=0.42)
    assert len(pairs_in_order(one.cells["a"])) == 16
    square = drawn(one)["Lag plot"]
    assert 'aria-label="a: each run against the run before, autocorrelation 0.42"' in square
    assert re.search(
        r"session, both axes from \S+ m?s to \S+ s\.$", squares(one, Grounds("g"))[0][0]
    )


def test_dots_that_no_eye_tells_apart_are_one() -> None:
    few, many = (of(np.exp(np.random.default_rng(1).normal(size=n)), 1) for n in (60, 6000))
    counts = [drawn(one)["Lag plot"].count("h0") for one in (few, many)]
    assert 50 <= counts[0] <= 59
    assert counts[1] < 2500
    assert "6000 runs against a normal law" in drawn(many)["Normal Q-Q plot"]


def test_normal_logs_lie_on_the_line_whatever_their_sessions_are() -> None:
    rng = np.random.default_rng(2)
    logs = rng.normal(0, 0.1, 2000) + np.repeat(rng.normal(0, 5, 4), 500)
    middle = normal_quantiles(cell(np.exp(logs), 4))[100:-100]
    assert np.abs(middle[:, 0] - middle[:, 1]).max() < 0.15  # standard deviations


def test_a_heavy_tail_leaves_the_line() -> None:
    """The other way round: what is not normal must be seen."""
    logs = np.random.default_rng(3).standard_t(2, 500) / 10
    square = drawn(of(np.exp(logs), 1))["Normal Q-Q plot"]
    assert float(square.split("lies ")[1].split(" ")[0]) > 2


@pytest.mark.parametrize("values", [[1.0, 2.0], [1.0] * 9])
def test_too_few_or_equal_runs_have_no_qq_plot(values) -> None:
    assert "Normal Q-Q plot" not in drawn(of(values, 1))


def test_runs_of_zero_are_taken_as_they_are_and_equal_ones_stand_in_the_middle() -> None:
    assert len(normal_quantiles(cell([0.0, 1.0, 2.0, 3.0, 0.0, 1.0], 1))) == 6
    assert set(strip_dots(of([3, 3, 3], 1), "a")[:, 1].round(6)) == {0.5}


def test_each_run_is_a_dot_from_left_to_right() -> None:
    one = of([1, 2, 4, 8, 16, 32], 2)
    assert strip_each(one.cells["a"]) == 1
    xs, ups = strip_dots(one, "a").T
    assert (np.diff(xs) > 0).all()
    assert np.diff(ups) == pytest.approx(np.diff(ups)[0])  # a log axis: each doubling is as high
    assert strip(one, "a").count("h0") == 6


def test_many_runs_are_medians_that_never_mix_sessions() -> None:
    values = np.repeat([1.0, 9.0], 65)
    values[:3] = (1, 1, 5)  # one far run vanishes in the median of its neighbours
    one = of(values, 2)
    assert strip_each(one.cells["a"]) == 3
    dots = strip_dots(one, "a")
    assert len(dots) == 44
    assert len(set(np.round(dots[:, 1], 6))) == 2
