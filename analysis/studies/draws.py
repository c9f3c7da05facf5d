"""Pairs of sides drawn from one population."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..data import PerformanceMatrix
from ..errors import InsufficientDataError, UsageError
from ..planning import check_runs
from ..stats import counted, stream

__all__ = ["Draws", "Pair", "Progress", "check_names", "check_study", "drawn_pairs", "teller"]

Draws = Literal["run", "block"]
Pair = tuple[PerformanceMatrix, PerformanceMatrix]
_MOST_RUNS = 1_000_000  # of each benchmark and side
Progress = Callable[[int, int], None]  # told (done, all)


def drawn_pairs(
    population: PerformanceMatrix,
    root: int,
    runs: int,
    simulations: int,
    draws: Draws,
    *,
    factors: float | NDArray[np.float64],
) -> Iterator[Pair]:
    """Draw pairs of sides; the candidate's values are made better by the factors."""
    names = population.benchmarks
    speedups = np.broadcast_to(np.asarray(factors, dtype=np.float64), (simulations, len(names)))
    scales = speedups if population.better == "higher" else 1.0 / speedups
    rows = _by_block(population) if draws == "block" else population.samples
    drawn: list[list[NDArray[np.intp]]] = []
    for side in ("candidate", "baseline"):
        labels = ["blocks"] * len(names) if draws == "block" else names
        drawn.append(
            [
                stream(root, "draw", side, label, str(runs)).integers(
                    row.size, size=(simulations, runs)
                )
                for label, row in zip(labels, rows, strict=True)
            ]
        )
    ids = {
        side: {name: np.arange(runs) + k * runs for name in names}
        for k, side in enumerate(("candidate", "baseline"))
    }
    for k in range(simulations):
        sides = []
        for side, indices in zip(("candidate", "baseline"), drawn, strict=True):
            scale = scales[k] if side == "candidate" else np.ones(len(names))
            sides.append(
                PerformanceMatrix.from_samples(
                    side,
                    {
                        name: row[index[k]] * factor
                        for name, row, index, factor in zip(
                            names, rows, indices, scale.tolist(), strict=True
                        )
                    },
                    better=population.better,
                    unit=population.unit,
                    blocks=ids[side] if draws == "block" else None,
                )
            )
        yield sides[0], sides[1]


def _by_block(population: PerformanceMatrix) -> list[NDArray[np.float64]]:
    """Order each benchmark's runs by block, the same blocks in all of them."""
    if population.blocks is None:
        raise UsageError("the population has no block ids", population.name, "draw runs instead")
    common = sorted(set.intersection(*(set(ids.tolist()) for ids in population.blocks)))
    rows = []
    for name, values, ids in zip(
        population.benchmarks, population.samples, population.blocks, strict=True
    ):
        found = dict(zip(ids.tolist(), values.tolist(), strict=True))
        if len(found) != values.size:
            raise UsageError(
                "a block holds more than one run of the benchmark",
                f"{population.name}, benchmark {name!r}",
                "draw runs instead",
            )
        rows.append(np.array([found[block] for block in common]))
    if len(common) < 2:
        raise InsufficientDataError(
            "fewer than two blocks hold all benchmarks",
            population.name,
            "draw runs instead",
            n=len(common),
            needed=2,
        )
    return rows


def check_study(
    population: PerformanceMatrix,
    runs: Sequence[int],
    confidence: float,
    draws: str,
    *,
    simulations: int,
    factor: float,
) -> None:
    """Raise UsageError or InsufficientDataError where an argument of a study is out of range."""
    if not 0.5 <= confidence < 1:
        raise UsageError(
            f"the confidence must lie between 0.5 and 1 (alpha between 0 and 0.5), not {confidence:g}"
        )
    if not runs:
        raise UsageError("there must be a number of runs")
    for one in runs:
        counted("each number of runs", one, least=2, most=_MOST_RUNS)
    if draws not in get_args(Draws):
        raise UsageError(f"draws must be 'run' or 'block', not {draws!r}")
    counted("simulations", simulations)
    if not (math.isfinite(factor) and factor > 0):
        raise UsageError(f"the shift must be a speedup above 0, not {factor!r}")
    check_runs(population, population, 2)


def check_names(kind: str, given: Sequence[str], known: tuple[str, ...]) -> None:
    """Raise UsageError unless at least one name is given, and all are known."""
    for name in given:
        if name not in known:
            raise UsageError(f"there is no {kind} {name!r}", fix=f"known here: {', '.join(known)}")
    if not given:
        raise UsageError(f"no {kind} is named", fix=f"known here: {', '.join(known)}")


def teller(progress: Progress | None, total: int) -> Callable[[], None]:
    """Give what is called after each simulated comparison, and tells how many are done."""
    done = itertools.count(1)

    def tell() -> None:
        if progress is not None:
            progress(next(done), total)

    return tell
