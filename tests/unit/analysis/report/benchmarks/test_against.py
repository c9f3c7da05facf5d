"""A candidate's pictures hold the verdict's numbers, on the forest's orientation."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from analysis.report.benchmarks.gather import gather

FACTORS = {"x": 1.0, "y": 2.0}


def only(subject, name: str = "x"):
    parts = gather(subject)
    assert parts is not None
    return next(part for part in parts.benchmarks if part.name == name)


def test_session_values_are_the_verdicts(made) -> None:
    matrix, subject = made
    given = subject(matrix("new", {"x": 0.9, "y": 2.0}, seed=2), matrix("old", FACTORS))
    one = only(given).candidates[0]
    result = given.verdict.candidates[0].multilevel
    line = next(line for line in result.benchmarks if line.name == "x")
    assert [r.session for r in one.by_session] == list(line.session_ids)
    assert [r.speedup.value for r in one.by_session] == pytest.approx(
        [math.exp(log) for log in line.differences]
    )
    assert math.exp(np.mean(line.differences)) == pytest.approx(line.speedup)
    assert one.sessions_plot is not None
    assert one.sessions_plot.decided
    assert "above 1 in 5 of 5 sessions" in one.sessions_plot.alt


@pytest.mark.parametrize(("better", "side"), [("lower", 1), ("higher", -1)])
def test_better_is_up_in_the_shift_function(made, better: str, side: int) -> None:
    matrix, subject = made
    given = subject(
        matrix("new", {"x": 0.8}, seed=2, better=better), matrix("old", {"x": 1.0}, better=better)
    )
    one = only(given).candidates[0]
    assert len(one.shift) == 9
    assert all((at.speedup.value - 1) * side > 0 for at in one.shift)
    assert all((x, up)[1] > one.shift_plot.one for x, up in one.shift_plot.points) == (side > 0)


def test_a_distribution_function_rises_from_nothing_to_all_by_equal_steps(made) -> None:
    matrix, subject = made
    plot = only(subject(matrix("a", {"x": 1.0}, seed=2), matrix("b", {"x": 1.0}))).candidates[0]
    for curve in (plot.ecdf_plot.ours, plot.ecdf_plot.theirs):
        xs, shares = zip(*curve, strict=True)
        assert (xs[0], shares[0], xs[-1], shares[-1]) == (0, 0, 1, 1)
        assert list(xs) == sorted(xs)
        assert list(shares) == sorted(shares)
        assert np.allclose(np.array(shares) * 40, np.round(np.array(shares) * 40))


def test_few_runs_have_quartiles_fewer_nothing_and_that_is_said(made) -> None:
    matrix, subject = made
    for runs, count in ((4, 3), (2, 0)):
        given = subject(
            matrix("a", {"x": 1.0}, seed=2, runs=runs), matrix("b", {"x": 1.0}, runs=runs)
        )
        one = only(given).candidates[0]
        assert len(one.shift) == count
        assert bool(one.shift_note) == (count == 0)
        assert (one.shift_plot is None) == (count == 0)


def test_sides_of_other_sessions_have_no_session_by_session(made) -> None:
    matrix, subject = made
    given = subject(
        matrix("a", {"x": 1.0}, seed=2, trial="/one"), matrix("b", {"x": 1.0}, trial="/other")
    )
    one = only(given).candidates[0]
    assert one.by_session == ()
    assert one.unit == ""
    assert one.sessions_plot is not None
    assert one.sessions_plot.interval is not None


def test_an_interval_that_leaves_its_picture_says_so(made) -> None:
    matrix, subject = made
    a, b = matrix("a", {"x": 1.0}, seed=2, sessions=2), matrix("b", {"x": 1.0}, sessions=2)
    wild = a.values("x") * np.repeat([0.94, 1.07], 8)
    given = subject(dataclasses.replace(a, samples=(wild,)), b)
    plot = only(given).candidates[0].sessions_plot
    assert plot is not None
    assert plot.leaves == (True, True)
    assert plot.interval == (0.0, 1.0)
