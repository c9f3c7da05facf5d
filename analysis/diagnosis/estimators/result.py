"""What a study of estimators holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from .normal import NormalSpread

__all__ = ["ESTIMATORS", "Estimator", "EstimatorRow", "EstimatorSpread", "SizeSpread", "Spread"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorSpread:
    """The spread of minimum, median and mean over the benchmarks of one matrix.

    `steadiest` is what is the steadiest on more than half of the benchmarks, None when no one estimator
    is; `counts` says on how many. `normal` holds the reference at every size that was used and at those published.
    `seed` is the whole number drawn from `rng` that every benchmark's stream derives from.
    """

    name: str
    unit: str
    benchmarks: tuple[EstimatorRow, ...]
    steadiest: Estimator | None
    counts: dict[Estimator, int]
    normal: tuple[NormalSpread, ...]
    seed: int
    cautions: tuple[str, ...]
    references: tuple[str, ...] = _REFERENCES

    def to_dict(self) -> dict[str, Any]:
        """Give the result as JSON types."""
        return asdict(self) | {
            "benchmarks": [
                asdict(row) | {"sizes": [asdict(size) for size in row.sizes]}
                for row in self.benchmarks
            ],
            "normal": [asdict(row) for row in self.normal],
            "cautions": list(self.cautions),
            "references": list(self.references),
        }

    def __str__(self) -> str:
        from .page import spread_text

        return "\n".join(spread_text(self))
