"""Pairs of sides drawn from one population."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..data import PerformanceMatrix
from ..errors import InsufficientDataError, UsageError
from ..planning import check_runs
from ..run_numbers import Better
from ..stats import counted, stream

__all__ = [
    "DrawnPair",
    "Draws",
    "Pair",
    "Progress",
    "check_names",
    "check_study",
    "drawn_pairs",
    "teller",
]

Draws = Literal["run", "block"]
Pair = tuple[PerformanceMatrix, PerformanceMatrix]
_MOST_RUNS = 1_000_000  # of each benchmark and side
Progress = Callable[[int, int], None]  # told (done, all)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnPair:
    """The values of one simulated comparison: all that its tests need, wherever they are made.

    Attributes
    ----------
    number : int
        Which of the comparisons of `root`, from 0.
    root : int
        The seed of the streams of its tests.
    benchmarks : tuple of str
    candidate, baseline : array of float, shape (benchmarks, runs)
    better : {"lower", "higher"}
    unit : str
    in_blocks : bool
        Whether a column is a block.
    """

    number: int
    root: int
    benchmarks: tuple[str, ...]
    candidate: NDArray[np.float64]
    baseline: NDArray[np.float64]
    better: Better
    unit: str
    in_blocks: bool

    def sides(self) -> Pair:
        """Give them as candidate and baseline."""
        runs = self.candidate.shape[1]
        made = []
        for k, (side, values) in enumerate(
            (("candidate", self.candidate), ("baseline", self.baseline))
        ):
            ids = {name: np.arange(runs) + k * runs for name in self.benchmarks}
            made.append(
                PerformanceMatrix.from_samples(
                    side,
                    dict(zip(self.benchmarks, values, strict=True)),
                    better=self.better,
                    unit=self.unit,
                    blocks=ids if self.in_blocks else None,
                )
            )
        return made[0], made[1]


def drawn_pairs(
    population: PerformanceMatrix,
    root: int,
    runs: int,
    simulations: int,
    draws: Draws,
    *,
    factors: float | NDArray[np.float64],
) -> Iterator[DrawnPair]:
    """Draw pairs of sides; the candidate's values are made better by the factors.

    Nothing is drawn before the first is asked for.
    """
    names = population.benchmarks
    speedups = np.broadcast_to(np.asarray(factors, dtype=np.float64), (simulations, len(names)))
    scales = speedups if population.better == "higher" else 1.0 / speedups
    rows = _by_block(population) if draws == "block" else population.samples
    labels = ["blocks"] * len(names) if draws == "block" else names
    candidate, baseline = (
        [
            stream(root, "draw", side, label, str(runs)).integers(
                row.size, size=(simulations, runs)
            )
            for label, row in zip(labels, rows, strict=True)
        ]
        for side in ("candidate", "baseline")
    )
    for k in range(simulations):
        ours, theirs = (
            np.array([row[index[k]] for row, index in zip(rows, indices, strict=True)])
            for indices in (candidate, baseline)
        )
        yield DrawnPair(
            number=k,
            root=root,
            benchmarks=names,
            candidate=ours * scales[k][:, None],
            baseline=theirs,
            better=population.better,
            unit=population.unit,
            in_blocks=draws == "block",
        )


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


def teller(progress: Progress | None, total: int) -> Callable[[int], None]:
    """Give what is told how many simulated comparisons are done, and says it of all."""

    def tell(done: int) -> None:
        if progress is not None and done:
            progress(done, total)

    return tell
