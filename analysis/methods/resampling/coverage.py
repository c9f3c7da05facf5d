"""What the bootstrap intervals really cover, read from a table made by simulation.

The table lies beside this file, with the settings, the seed and the Monte Carlo error that belong
to it; ``tests/calibration/make_coverage_table.py`` makes it anew from the intervals themselves.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from ...registry import shipped

Design = Literal["runs", "units", "pairs"]
_TABLE = "analysis/methods/resampling/coverage.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCoverage:
    """The coverage of an interval in the largest cell of the table that promises no more.

    `coverage`: The share of simulated suites whose interval held the truth, under the noise that
    gave less. `error`: Its Monte Carlo standard error. `suites`: How many were simulated.
    `benchmarks`, `runs`: The cell. For whole units `runs` is their number (on each side, or
    together where each holds both variants) and `benchmarks` is 1, because the suite moves as one.
    `design` ({"runs", "units", "pairs"}): What was resampled. `others`: The coverage under each
    noise that was simulated.
    """

    coverage: float
    error: float
    suites: int
    benchmarks: int
    runs: int
    design: Design
    others: tuple[tuple[str, float], ...]


@cache
def _table() -> dict[str, Any]:
    text = shipped(_TABLE).read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def known_coverage(
    interval: str,
    *,
    centre: str,
    design: Design,
    benchmarks: int,
    runs: float,
    confidence: float,
    two_sided: bool,
) -> KnownCoverage | None:
    """Read the coverage in the largest cell with no more runs and benchmarks than these.

    Coverage grows with the runs, so a larger cell would promise too much.
    """
    table = _table()
    tail = (1 - confidence) / (2 if two_sided else 1)
    place = next((k for k, t in enumerate(table["tails"]) if math.isclose(t, tail)), None)
    kind = "median" if centre == "median" else "mean"
    # whole units of one side move the suite as one: a suite of one benchmark
    like = "runs" if design == "units" else design
    if place is None:
        return None
    cells = [
        cell
        for cell in table["cells"]
        if cell["design"] == like
        and cell["centre"] == kind
        and cell["runs"] <= runs
        and cell["benchmarks"] <= benchmarks
        and cell["misses"].get(interval, {place: None})[place] is not None
    ]
    if not cells:
        return None
    largest = max(cells, key=lambda cell: (cell["runs"], cell["benchmarks"]))
    size = (largest["benchmarks"], largest["runs"])
    here = [cell for cell in cells if (cell["benchmarks"], cell["runs"]) == size]
    found = {
        cell["noise"]: round(1 - cell["misses"][interval][place] * (2 if two_sided else 1), 6)
        for cell in here
    }
    least, suites = min(found.values()), min(cell["suites"] for cell in here)
    return KnownCoverage(
        coverage=least,
        error=math.sqrt(least * (1 - least) / suites),
        suites=suites,
        benchmarks=size[0],
        runs=size[1],
        design=design,
        others=tuple(found.items()),
    )


def not_covered(kind: Literal["session", "benchmarks"]) -> tuple[tuple[float, int], ...]:
    """Give what nominal 0.95 percentile intervals held where something moves that they do not draw."""
    return tuple(
        (row["coverage"], row["runs"]) for row in _table()["not_covered"] if row["kind"] == kind
    )
