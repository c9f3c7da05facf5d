"""Runs: the matrix's own, and their places: by block where blocks are known, by their number elsewhere."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.report.runs import Cell, Failed, cells_of, frame_of


def test_sessions_and_blocks_are_the_matrixs(matrix, subject) -> None:
    a, b = matrix("a", {"x": 1.0, "y": 2.0}, seed=2), matrix("b", {"x": 1.0, "y": 2.0})
    judged = subject(a, b)
    assert list(cells_of(judged, "x")) == ["b", "a"]  # the baseline first
    found = cells_of(judged, "y")["a"]
    assert found.values.tolist() == a.values("y").tolist()
    assert found.labels == ("1", "2", "3", "4", "5")
    assert found.of(2).tolist() == a.values("y")[16:24].tolist()
    assert found.block is not None


def test_unknown_sessions_are_one_without_a_name(matrix, subject) -> None:
    a, b = (matrix(name, {"x": 1.0}, known=False) for name in "ab")
    found = cells_of(subject(a, b), "x")["a"]
    assert found.labels == ("",)
    assert found.block is None


def test_named_sessions_keep_the_order_in_which_they_are_met(matrix, subject) -> None:
    a, b = (matrix(name, {"x": 1.0}) for name in "ab")
    names = np.repeat(["night", "morning", "noon", "evening", "dusk"], 8)
    a, b = (dataclasses.replace(one, sessions=(names,)) for one in (a, b))
    assert cells_of(subject(a, b), "x")["a"].labels == (
        "night",
        "morning",
        "noon",
        "evening",
        "dusk",
    )


def test_benchmarks_with_runs_of_zero_are_cells_too(matrix, subject) -> None:
    a, b = (matrix(name, {"x": 1.0, "y": 1.0}) for name in "ab")

    def zeroed(one: PerformanceMatrix) -> PerformanceMatrix:
        values = one.values("y").copy()
        values[3] = 0
        return dataclasses.replace(
            one.select(["x"]),
            with_zeros=dataclasses.replace(one.select(["y"]), samples=(values,)),
        )

    judged = subject(zeroed(a), zeroed(b))
    assert cells_of(judged, "y")["a"].values.min() == 0
    assert list(cells_of(judged, "x")) == ["b", "a"]
    assert cells_of(judged, "z") == {}


def cell(labels, session, block=None) -> Cell:
    session = np.array(session)
    return Cell(
        values=np.ones(session.size),
        labels=tuple(labels),
        session=session,
        block=None if block is None else np.array(block),
    )


def test_runs_of_one_block_stand_above_each_other() -> None:
    a = cell("12", [0, 0, 0, 1], [10, 11, 12, 20])
    b = cell("12", [0, 0, 1], [12, 10, 20])  # one block is missing, and the order is another
    frame = frame_of({"a": a, "b": b}, {})
    assert frame.labels == ("1", "2")
    assert frame.across["b"].tolist() == frame.across["a"][[2, 0, 3]].tolist()
    left, right = frame.spans[0]
    assert frame.across["a"][:3] == pytest.approx(left + (right - left) * np.array([1, 3, 5]) / 6)


def test_failed_runs_have_their_blocks_place() -> None:
    a = cell("1", [0, 0], [1, 3])
    frame = frame_of({"a": a}, {"a": (Failed(session="1", block=2),)})
    assert frame.failed["a"] == [0.5]
    assert frame.across["a"] == pytest.approx([1 / 6, 5 / 6])


def test_a_session_in_which_only_failures_happened_has_a_panel() -> None:
    a = cell("13", [0, 1], [1, 3])
    frame = frame_of({"a": a}, {"a": (Failed(session="2", block=2),)})
    assert frame.labels == ("1", "2", "3")


def test_panels_fill_the_width_and_never_touch() -> None:
    for count in (1, 2, 7, 30, 200):
        a = cell([str(k) for k in range(count)], range(count))
        spans = frame_of({"a": a}, {}).spans
        assert spans[0][0] == 0
        assert spans[-1][1] == pytest.approx(1)
        assert all(b[0] > a[1] > a[0] for a, b in itertools.pairwise(spans))


def test_sides_of_different_sessions_stand_in_turn() -> None:
    a, b = cell(["x", "y"], [0, 1]), cell(["p", "q", "r"], [0, 1, 2])
    frame = frame_of({"a": a, "b": b}, {}, together=False)
    assert not frame.together
    assert frame.labels == ("1", "2", "3")
    assert frame.panel["a"].tolist() == [0, 1]


def test_unknown_sessions_are_one_panel_without_a_name() -> None:
    a, b = cell([""], [0, 0, 0]), cell([""], [0])
    frame = frame_of({"a": a, "b": b}, {})
    assert frame.labels == ("",)
    assert frame.across["a"] == pytest.approx([1 / 6, 1 / 2, 5 / 6])


def test_sessions_are_in_the_order_of_their_numbers() -> None:
    a, b = cell(["2", "10"], [0, 1]), cell(["1", "10"], [0, 1])
    assert frame_of({"a": a, "b": b}, {}).labels == ("1", "2", "10")
