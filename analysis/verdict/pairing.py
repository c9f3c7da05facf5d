"""Candidate and baseline of one trial: their runs, and which medians are only bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data import PerformanceMatrix, Trial
from ..errors import InsufficientDataError
from ..report import Caution

__all__ = ["Contender", "Pairing", "contenders_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contender:
    """One variant of a trial.

    `matrix` holds its runs that count, None without any, and `cautions` what to know about them.
    `floored` names the benchmarks whose median is only an upper bound, the launcher's floor.
    """

    name: str
    matrix: PerformanceMatrix | None
    floored: frozenset[str]
    cautions: tuple[Caution, ...] = ()

    def runs(self, benchmark: str) -> int:
        """Count the runs of a benchmark."""
        if self.matrix is None or benchmark not in self.matrix.benchmarks:
            return 0
        return self.matrix.values(benchmark).size

    def median(self, benchmark: str) -> float | None:
        """Give the median of a benchmark's runs; None without any."""
        if self.matrix is None or not self.runs(benchmark):
            return None
        return float(np.median(self.matrix.values(benchmark)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairing:
    """A candidate and the baseline that it is compared with."""

    candidate: Contender
    baseline: Contender

    def floored(self, benchmark: str) -> tuple[str, ...]:
        """Name those ("candidate", "baseline") whose median is only a bound."""
        both = (("candidate", self.candidate), ("baseline", self.baseline))
        return tuple(name for name, one in both if benchmark in one.floored)

    def speedup(self, benchmark: str) -> float | None:
        """Give the ratio of the medians, above 1 when the candidate is better.

        None where either has no runs, or a median is only a bound.
        """
        ours, theirs = self.candidate.median(benchmark), self.baseline.median(benchmark)
        if ours is None or theirs is None or self.candidate.matrix is None:
            return None
        if self.floored(benchmark):
            return None
        return theirs / ours if self.candidate.matrix.better == "lower" else ours / theirs

    def comparable(self) -> tuple[PerformanceMatrix, PerformanceMatrix] | None:
        """Give both with the benchmarks that a test can compare; None without any.

        Where both medians are the floor, the values differ by the launcher, not by the programs.
        """
        ours, theirs = self.candidate.matrix, self.baseline.matrix
        if ours is None or theirs is None:
            return None
        told = set(theirs.benchmarks) - (self.candidate.floored & self.baseline.floored)
        common = [bench for bench in ours.benchmarks if bench in told]
        return (ours.select(common), theirs.select(common)) if common else None


def contenders_of(trial: Trial, metric: str, variants: Sequence[str]) -> dict[str, Contender]:
    """Give these variants of a trial by their names.

    Raises
    ------
    InsufficientDataError
        If no run of any of them counts.
    """
    contenders = {variant: _contender(trial, variant, metric) for variant in variants}
    if all(one.matrix is None for one in contenders.values()):
        raise InsufficientDataError(
            f"the trial has no run that counts with a value of {metric!r}",
            str(trial.path),
            "look at the failed runs, or measure more",
            n=0,
            needed=1,
        )
    return contenders


def _contender(trial: Trial, variant: str, metric: str) -> Contender:
    floored = frozenset(trial.below_floor(variant, metric))
    try:
        matrix = trial.matrix(variant, metric, skip_zeros=True)
    except InsufficientDataError as error:
        mine = trial.measured & (trial.variant == trial.manifest.variants.index(variant))
        why = f" ({error.what})" if (trial.values(metric)[mine] <= 0).any() else ""
        said = Caution("variant-left-out", f"{variant} has no run that counts{why}", (variant,))
        return Contender(name=variant, matrix=None, floored=floored, cautions=(said,))
    # its cautions are said once, with the trial's; the methods need not say them again
    return Contender(
        name=variant,
        matrix=replace(matrix, cautions=()),
        floored=floored,
        cautions=tuple(caution.of(variant) for caution in matrix.cautions),
    )
