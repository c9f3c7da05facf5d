"""Make the table of real coverages that the bootstrap intervals quote.

Suites are simulated with lognormal noise and a true ratio of 1: "homo" has 3 % (log-sd) on every
benchmark, "het" 0.3 to 10 %, in equal steps of the logarithm over the benchmarks. Each suite gets
all four intervals from one set of replicates; a miss is a truth outside, counted on both sides
(the law is symmetric, so half of them belong to each). "runs" draws runs within each benchmark and
side, "pairs" whole rounds that hold both variants.

Execute it by hand; it takes about half an hour of one core::

    nice python tests/calibration/make_coverage_table.py [FILE]

It writes FILE, by default the one that the package reads.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError
from analysis.methods.resampling.assignments import ask
from analysis.methods.resampling.bootstrap import bca_corrections, interval_ends
from analysis.methods.resampling.draws import Draws, compare, draw
from analysis.registry import shipped
from analysis.stats.arguments import stream

SEED = 20261121
RESAMPLES = 1999
TAILS = (0.005, 0.025, 0.05)
RUNS = {"mean": (2, 3, 4, 5, 7, 10, 15, 30), "median": (3, 5, 10, 30)}
SUITES = 2000
INTERVALS = {
    "mean": ("percentile", "corrected", "bca", "studentized"),
    "median": ("percentile", "corrected", "bca"),
}


def spread(noise: str, n: int) -> np.ndarray:
    """Give the log-sd of each benchmark, as a column."""
    return np.geomspace(0.003, 0.10, n)[:, None] if noise == "het" else np.full((n, 1), 0.03)


def suite(
    rng: np.random.Generator, noise: str, n: int, m: int, kind: str = ""
) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    """Draw both sides; `kind` adds what no interval covers."""
    sd = spread(noise, n)
    sides = []
    for name in ("candidate", "baseline"):
        logs = sd * rng.normal(size=(n, m))
        if kind == "session":
            logs += sd * rng.normal(size=(n, 1))
        elif kind == "benchmarks" and name == "candidate":
            logs += rng.normal(0, 0.05, (n, 1))
        rows = {f"b{i}": row for i, row in enumerate(np.exp(logs))}
        blocks = {bench: list(range(m)) for bench in rows} if kind == "pairs" else None
        sides.append(PerformanceMatrix.from_samples(name, rows, better="lower", blocks=blocks))
    return sides[0], sides[1]


def misses(
    rng: np.random.Generator, noise: str, n: int, m: int, *, centre: str, kind: str, suites: int
) -> dict[str, list[float | None]]:
    """Give the share of misses on one side, by interval and tail; None where it need not exist."""
    counts = {name: np.zeros(len(TAILS)) for name in INTERVALS[centre]}
    for _ in range(suites):
        a, b = suite(rng, noise, n, m, kind)
        form = compare(ask(a, b, None, "geometric", "runs" if centre == "mean" else centre))
        root = int(rng.integers(2**63))
        drawn = draw(form, root, RESAMPLES, errors=centre == "mean")
        centres = [float(side.centres.mean()) for side, _ in form.sides]
        if centre == "median":
            centres = [float(np.log(np.median(x.samples, axis=1)).mean()) for x in (a, b)]
        ratio = math.exp(centres[1] - centres[0])
        for name, count in counts.items():
            # equal run counts and a geometric mean: one factor widens the log ratio as a whole
            factor = math.sqrt(m / (m - 1)) if name == "corrected" else 1.0
            wide = Draws(shifts=drawn.shifts * factor, errors=drawn.errors, redrawn=0)
            ratios = ratio * np.exp(wide.shifts)
            bca = bca_corrections(form, ratio=ratio, replicates=ratios) if name == "bca" else None
            for k, tail in enumerate(TAILS):
                try:
                    low, high = interval_ends(
                        name,
                        form,
                        wide,
                        ratio=ratio,
                        replicates=ratios,
                        tails=(tail, tail),
                        corrections=bca,
                    )
                except AnalysisError:
                    count[k] = math.nan
                    continue
                count[k] += not low <= 1 <= high
    return {
        name: [None if math.isnan(c) else round(float(c) / (2 * suites), 6) for c in count]
        for name, count in counts.items()
    }


def plan() -> Iterator[tuple[str, str, str, int, int]]:
    """Give design, centre, noise, benchmarks and runs of each cell."""
    for centre, numbers in RUNS.items():
        for m in numbers:
            yield "pairs", centre, "homo", 1, m
            yield "runs", centre, "homo", 1, m
            for n in (3, 12, 29):
                for noise in ("het", "homo"):
                    yield "runs", centre, noise, n, m


def cell(where: tuple[str, str, str, int, int]) -> dict[str, Any]:
    """Simulate one cell, from a stream of its own."""
    design, centre, noise, n, m = where
    rng = stream(SEED, "coverage", design, centre, noise, f"{n} x {m}")
    found = misses(rng, noise, n, m, centre=centre, kind=design, suites=SUITES)
    print(*where, found, file=sys.stderr, flush=True)
    return {
        "design": design,
        "centre": centre,
        "noise": noise,
        "benchmarks": n,
        "runs": m,
        "suites": SUITES,
        "misses": found,
    }


def uncovered(where: tuple[str, int]) -> dict[str, Any]:
    """Simulate what no interval covers: 12 benchmarks, percentile, nominal 0.95."""
    kind, m = where
    rng = stream(SEED, "coverage", kind, str(m))
    found = misses(rng, "het", 12, m, centre="mean", kind=kind, suites=SUITES)["percentile"][1]
    assert found is not None
    covered = 1 - 2 * found
    error = math.sqrt(covered * (1 - covered) / SUITES)
    return {
        "kind": kind,
        "benchmarks": 12,
        "runs": m,
        "suites": SUITES,
        "coverage": round(covered, 4),
        "error": round(error, 4),
    }


def write(path: Path, cells: list[dict[str, Any]], outside: list[dict[str, Any]]) -> None:
    """Write the table, one line a row."""
    table = {
        "made_by": "tests/calibration/make_coverage_table.py",
        "seed": SEED,
        "resamples": RESAMPLES,
        "noise": {
            "homo": "lognormal, log-sd 0.03 on every benchmark",
            "het": "lognormal, log-sd 0.003 to 0.10 over the benchmarks",
        },
        "misses": "share of suites whose truth lies beyond one end, by the tails below; the "
        "coverage is 1 less it (one-sided) or twice it (two-sided), its Monte Carlo error "
        "sqrt(c (1 - c) / suites)",
        "tails": list(TAILS),
        "cells": cells,
        "not_covered": outside,
    }
    lines = [
        f" {json.dumps(key)}: "
        + (
            "[\n  " + ",\n  ".join(json.dumps(row) for row in value) + "\n ]"
            if key in ("cells", "not_covered")
            else json.dumps(value)
        )
        for key, value in table.items()
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main(path: Path) -> None:
    """Simulate every cell, and write the table after each."""
    with ProcessPoolExecutor() as pool:
        limits = [(kind, m) for kind in ("session", "benchmarks") for m in (3, 5, 10, 30)]
        outside = list(pool.map(uncovered, limits))
        cells: list[dict[str, Any]] = []
        for found in pool.map(cell, plan()):
            cells.append(found)
            write(path, cells, outside)


if __name__ == "__main__":
    home = shipped("analysis/methods/resampling/coverage.json")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else home)
