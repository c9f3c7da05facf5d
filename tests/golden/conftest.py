"""The pairs of systems that the HPT paper and its slides print."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from analysis.data.matrix import PerformanceMatrix

HERE = Path(__file__).parent
Pair = tuple[PerformanceMatrix, PerformanceMatrix]


@pytest.fixture
def splash() -> Pair:
    """Give X and Y of Table 1; X is printed over 1.76."""
    folder = HERE / "hpt_splash2"
    printed = PerformanceMatrix.read(folder / "scores_x_over_1.76.csv", better="higher")
    x = {b: v * 1.76 for b, v in zip(printed.benchmarks, printed.samples, strict=True)}
    y = PerformanceMatrix.read(folder / "scores_y.csv", better="higher", name="Y")
    return PerformanceMatrix.from_samples("X", x, better="higher"), y


def _pair_of(folder: str) -> Pair:
    (file,) = (HERE / folder).glob("*.csv")
    with file.open(newline="") as text:
        rows = list(csv.DictReader(text))
    a, b = (
        PerformanceMatrix.from_samples(
            side, {row["benchmark"]: [float(row[side])] for row in rows}, better="higher"
        )
        for side in "AB"
    )
    return a, b


@pytest.fixture
def specint() -> Pair:
    return _pair_of("hpt_slides_specint")


@pytest.fixture
def cpu2006() -> Pair:
    return _pair_of("hpt_slides_cpu2006")
