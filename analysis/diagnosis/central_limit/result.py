"""What a central-limit study holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ...report import Result
from ..normality import NormalityTest

__all__ = [
    "DRAWS",
    "ESTIMATES",
    "CentralLimitCell",
    "CentralLimitCount",
    "CentralLimitRow",
    "CentralLimitStudy",
    "Draws",
    "Estimates",
]

Draws = Literal["disjoint", "with replacement"]
Estimates = Literal["means", "medians"]
DRAWS: tuple[Draws, ...] = ("disjoint", "with replacement")
ESTIMATES: tuple[Estimates, ...] = ("means", "medians")
_REFERENCES = (
    "S. Touati, J. Worms, S. Briais, The Speedup Test, technical report, 2010, appendix C",
    "S. S. Shapiro and M. B. Wilk, Biometrika 52, 1965",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitCell:
    """One benchmark at one size: Shapiro's test on the means and on the medians of N samples.

    A test is None where it could not be done, as on equal means (`why`).
    """

    size: int
    samples: int
    draws: Draws
    mean: NormalityTest | None
    median: NormalityTest | None
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitRow:
    """One benchmark; without cells where it has fewer than 5 runs."""

    name: str
    runs: int
    cells: tuple[CentralLimitCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitCount:
    """On how many benchmarks means and medians of n runs do not look normal, of how many tested.

    Samples drawn in different ways are never counted together. `by_chance` is the most rejections that
    tests of normal values would show, with a chance of 95 %; the first is for the means.
    """

    size: int
    draws: Draws
    benchmarks: int
    samples_least: int
    samples_most: int
    means_tested: int
    means_not_normal: int
    means_by_chance: int
    medians_tested: int
    medians_not_normal: int
    medians_by_chance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralLimitStudy(Result):
    """The study on one matrix: each benchmark's tests, and their counts by size and drawing.

    `seed` is the whole number drawn from `rng` that every benchmark's stream derives from.
    """

    method: ClassVar[str] = "central-limit-study"

    name: str
    risk: float
    benchmarks: tuple[CentralLimitRow, ...]
    counts: tuple[CentralLimitCount, ...]
    seed: int
    references: tuple[str, ...] = _REFERENCES

    def enough(self, draws: Draws, of: Estimates) -> int | None:
        """Give the smallest size from which on no count exceeds what chance gives; None if none is.

        Parameters
        ----------
        draws : {"disjoint", "with replacement"}
            Which samples count.
        of : {"means", "medians"}
            Which estimates count.
        """
        found = None
        for count in reversed([count for count in self.counts if count.draws == draws]):
            if getattr(count, f"{of}_not_normal") > getattr(count, f"{of}_by_chance"):
                break
            if getattr(count, f"{of}_tested"):
                found = count.size
        return found

    def body(self) -> dict[str, Any]:
        """Add the answer: by drawing and estimate, from which size on chance is enough."""
        tried = [draws for draws in DRAWS if any(count.draws == draws for count in self.counts)]
        return Result.body(self) | {
            "enough": {draws: {of: self.enough(draws, of) for of in ESTIMATES} for draws in tried},
        }
