"""What the rates of a study rest on."""

from __future__ import annotations

from collections.abc import Iterator

from ..data import PerformanceMatrix
from ..report import Caution
from .draws import Draws

__all__ = ["hpt_cautions", "population_cautions"]

_FEW = 30  # values of a benchmark, below which draws repeat them often


def population_cautions(population: PerformanceMatrix, draws: Draws) -> Iterator[Caution]:
    """Say what draws from a population cannot show."""
    yield from (caution.of(population.name) for caution in population.cautions)
    kind = "blocks" if draws == "block" else "runs"
    yield Caution(
        "drawn-independently",
        f"{kind} are drawn independently: drift and differences between sessions are not in these "
        "rates, and real trials that have them err more often",
    )
    if draws == "run" and len(population.benchmarks) > 1:
        said = "benchmarks are drawn on their own: what correlates them in one round is gone"
        yield Caution("benchmarks-drawn-apart", said)
    fewest = min(population.runs)
    if fewest < _FEW:
        yield Caution(
            "small-population",
            f"the population has only {fewest} values of some benchmark: draws repeat them, which "
            "makes ties, and tails that it has not shown are missing",
        )


def hpt_cautions(benchmarks: int, alternative: str, alpha: float) -> Iterator[Caution]:
    """Say where HPT has too few benchmarks to reject at all."""
    least = 0.5**benchmarks * (2 if alternative == "two-sided" else 1)
    if least > alpha:
        yield Caution(
            "level-out-of-reach",
            f"HPT cannot reject at {alpha:g} with {benchmarks} benchmarks: its smallest p is "
            f"{least:g}",
        )
