"""Runs of a benchmark are the matrix's own, with its sessions and blocks."""

from __future__ import annotations

import dataclasses

import numpy as np

from analysis.data.matrix import PerformanceMatrix
from analysis.report.panels import cells_of


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
