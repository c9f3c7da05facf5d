"""What a study of normality holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...report import Result
from .curves import Curves
from .departure import NormalityTest
from .means import MeanTrial

__all__ = ["NormalityRow", "NormalityStudy"]

_REFERENCES = (
    "H. W. Lilliefors, JASA 62, 1967; G. E. Dallal and L. Wilkinson, Am. Statistician 40, 1986",
    "T. Chen et al., Statistical performance comparisons of computers, HPCA 2012, section 3",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NormalityRow:
    """One benchmark's runs, or the medians of all: what is None could not be done (`why`)."""

    name: str
    n: int
    lilliefors: NormalityTest | None
    shapiro: NormalityTest | None
    curves: Curves | None
    why: str | None

    def departs(self, risk: float) -> bool | None:
        """Tell whether a test rejects normality at a risk; None where no test was possible.

        Parameters
        ----------
        risk : float
            At or below which p a test rejects.
        """
        tests = [test for test in (self.lilliefors, self.shapiro) if test is not None]
        return any(test.pvalue <= risk for test in tests) if tests else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalityStudy(Result):
    """The studies on one matrix.

    `mean_trials` draw from all runs, each relative to its benchmark's median; `enough` is the
    smallest size from which on no trial rejects at `risk`; None when the largest size still does.
    `seed` says where the draws come from, where that was told.
    """

    method: ClassVar[str] = "normality"

    name: str
    risk: float
    benchmarks: tuple[NormalityRow, ...]
    suite: NormalityRow
    mean_trials: tuple[MeanTrial, ...]
    enough: int | None
    seed: int | None
    references: tuple[str, ...] = _REFERENCES
