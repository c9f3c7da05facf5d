"""What the fit test says of one sample, and of each sample of a corpus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ....errors import UsageError
from ....report import Result
from ..model.mixture import Mixture

__all__ = ["CorpusFit", "FitTest", "TiesHandling"]

Array = NDArray[np.float64]
TiesHandling = Literal["as-measured", "jitter"]

REFERENCES = (
    "J. Worms, S. Touati, Modelling program's performance with Gaussian mixtures for parametric "
    "statistics, IEEE TMSCS 2018, section 5",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FitTest(Result):
    """What the fit test says. Hypothesis: the values come from a mixture of Gaussians.

    `statistic` is the distance between the values and `mixture`, `distances` those of the
    replicates in ascending order. `pvalue` is (k + 1) / (N + 1), k replicates at least as far;
    `pvalue_published` the paper's k / N with k further ones, which can be 0. `critical` holds for
    each risk the [N (1 - risk)]-th ordered distance (nan when that is the 0th). `failed_fits`
    counts replicates that no candidate fits; their distance is taken as 1, the largest there is,
    so that they never make p smaller. With `ties` "jitter" the values were moved within the clock's
    step, `resolution`, and `mixture` is the one fitted to the moved values. `distinct` and
    `largest_tie` describe the values as measured: how many differ, and how many are equal at most.
    """

    method: ClassVar[str] = "ks-fit"
    unlisted: ClassVar[frozenset[str]] = frozenset({"mixture", "distances"})

    statistic: float
    pvalue: float
    pvalue_published: float
    critical: dict[float, float]
    failed_fits: int
    resamples: int
    max_components: int
    n: int
    mixture: Mixture
    distances: Array
    ties: TiesHandling
    resolution: float | None
    distinct: int
    largest_tie: int
    references: tuple[str, ...] = REFERENCES

    def rejected(self, risk: float = 0.05) -> bool:
        """Tell whether mixtures of Gaussians are rejected at a risk.

        Raises
        ------
        UsageError
            If the risk does not lie between 0 and 1.
        """
        if not 0 < risk < 1:
            raise UsageError(f"risk must lie between 0 and 1, not {risk!r}")
        return self.pvalue <= risk

    @property
    def further(self) -> int:
        """How many replicates are as far from their fit as the values, or further."""
        return round(self.pvalue * (self.resamples + 1)) - 1

    def body(self) -> dict[str, Any]:
        """Add whether mixtures are rejected at 5 %, and the components of the tested one."""
        return {
            "rejected": self.rejected(),
            "components": self.mixture.components,
            **Result.body(self),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorpusFit(Result):
    """One sample of a corpus: its fit and fit test, or `why` it has none."""

    method: ClassVar[str] = "fit-corpus"

    label: str
    mixture: Mixture | None
    test: FitTest | None
    why: str | None
