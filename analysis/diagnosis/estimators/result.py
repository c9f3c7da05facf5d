"""What a study of estimators holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import ClassVar, Literal

from ...report import Result
from .normal import NormalSpread

__all__ = [
    "ESTIMATORS",
    "Estimator",
    "EstimatorRow",
    "EstimatorSpread",
    "Growth",
    "SizeSpread",
    "Spread",
]

Estimator = Literal["minimum", "median", "mean"]
ESTIMATORS: tuple[Estimator, ...] = ("minimum", "median", "mean")
_REFERENCES = (
    "S. Touati, J. Worms, S. Briais, The Speedup Test, technical report, 2010, appendix A",
    "W. Hoeffding, Annals of Mathematical Statistics 19, 1948 (means over subsamples)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How one estimator of n runs varies around its value on all runs, in the unit of the runs.

    `bias` is its expected value less its value on all runs; the relative ones are divided by the latter.
    """

    estimator: Estimator
    sd: float
    bias: float
    relative_sd: float
    relative_bias: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeSpread:
    """The three estimators at one subsample size."""

    size: int
    subsamples: int
    minimum: Spread
    median: Spread
    mean: Spread

    def of(self, estimator: Estimator) -> Spread:
        """Give one of the three."""
        return {"minimum": self.minimum, "median": self.median, "mean": self.mean}[estimator]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorRow:
    """One benchmark: its estimates from all runs, the sd of a run, and the spread by size.

    `steadiest` has the least relative sd at the size `judged`; None when two are level or nothing
    varies. `why` says why there are no sizes, or that nothing varies.
    """

    name: str
    runs: int
    minimum: float
    median: float
    mean: float
    run_sd: float | None
    sizes: tuple[SizeSpread, ...]
    judged: int | None
    steadiest: Estimator | None
    why: str | None

    def at(self, size: int | None) -> SizeSpread | None:
        """Give the spread at a size, None where the benchmark has no such size."""
        return next((spread for spread in self.sizes if spread.size == size), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How estimates spread at one size: medians over benchmarks, in sds of one run.

    `sds` is empty where no benchmark has so many runs; `normal` is the reference.
    """

    benchmarks: int
    sds: Mapping[Estimator, float]
    normal: NormalSpread


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorSpread(Result):
    """The spread of minimum, median and mean over the benchmarks of one matrix.

    `steadiest` is what is the steadiest on more than half of the benchmarks, None when no one estimator
    is; `counts` says on how many. `normal` holds the reference at every size that was used and at those published.
    `seed` is the whole number drawn from `rng` that every benchmark's stream derives from.
    """

    method: ClassVar[str] = "estimator-spread"

    name: str
    unit: str
    benchmarks: tuple[EstimatorRow, ...]
    steadiest: Estimator | None
    counts: Mapping[Estimator, int]
    normal: tuple[NormalSpread, ...]
    seed: int
    references: tuple[str, ...] = _REFERENCES

    @property
    def varying(self) -> tuple[EstimatorRow, ...]:
        """The benchmarks whose estimates vary at the size at which they are judged."""
        judged = ((row, row.at(row.judged)) for row in self.benchmarks)
        return tuple(row for row, spread in judged if spread is not None and spread.mean.sd > 0)

    def against_mean(self, estimator: Estimator) -> float | None:
        """Tell how often as much as the mean an estimator varies; None where nothing varies.

        It is the median over the benchmarks of the ratio of relative sds, at the size judged.

        Parameters
        ----------
        estimator : {"minimum", "median", "mean"}
            What is set against the mean.
        """
        spreads = (row.at(row.judged) for row in self.varying)
        ratios = [
            spread.of(estimator).relative_sd / spread.mean.relative_sd
            for spread in spreads
            if spread is not None
        ]
        return median(ratios) if ratios else None

    @property
    def growth(self) -> tuple[Growth, ...]:
        """The spread by size: at sizes that a third of the varying benchmarks have, or that none has."""
        rows = self.varying
        found = []
        for normal in self.normal:
            here = [
                (spread, row.run_sd or 1.0)
                for row in rows
                if (spread := row.at(normal.size)) is not None
            ]
            if here and 3 * len(here) < len(rows):
                continue
            sds = {
                name: median(s.of(name).sd / sd for s, sd in here) for name in ESTIMATORS if here
            }
            found.append(Growth(benchmarks=len(here), sds=sds, normal=normal))
        return tuple(found)
