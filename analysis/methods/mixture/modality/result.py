"""What stands behind a number of modes: tests, stability under resampling, and skew as rival."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ....report import Result
from ..model.mixture import Mixture
from .dip_and_bandwidth import BANDWIDTH_REFERENCES, DIP_REFERENCES, BandwidthTest, DipTest
from .families import FamilyFit
from .rule import STABLE, calls_multimodal, rejects_one_mode

__all__ = ["Law", "ModeEvidence", "Stability"]

REFERENCES = (
    "J. Worms, S. Touati, IEEE TMSCS 2018, section 6.4",
    *DIP_REFERENCES,
    *BANDWIDTH_REFERENCES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How far the choice of the fit returns in refitted resamples.

    `modes` and `components` give the share of the fitted resamples with each number of modes, and
    of components; `same_modes` and `same_components` the shares that agree with the fit itself;
    `several` the share with more than one mode.
    """

    resamples: int
    failed: int
    modes: dict[int, float]
    components: dict[int, float]
    same_modes: float
    same_components: float
    several: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A law of the values as given: a single-peaked one, or the mixture."""

    name: str
    bic: float
    log_likelihood: float
    parameters: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModeEvidence(Result):
    """Whether the values have several modes, and what speaks for it.

    `modes` are those of the fitted density. `families` are the single-peaked laws, best BIC first;
    their BIC and `mixture_bic` belong to the values as given and can be compared.
    """

    method: ClassVar[str] = "mode-evidence"
    unlisted: ClassVar[frozenset[str]] = frozenset({"mixture"})

    n: int
    mixture: Mixture
    modes: tuple[float, ...]
    mixture_bic: float | None
    dip: DipTest
    bandwidth: BandwidthTest
    stability: Stability
    families: tuple[FamilyFit, ...]
    risk: float
    seed: int
    references: tuple[str, ...] = REFERENCES

    @property
    def rejected(self) -> bool:
        """Whether a test rejects a single mode, at half the risk each."""
        return rejects_one_mode(
            dip=self.dip.pvalue, bandwidth=self.bandwidth.pvalue, risk=self.risk
        )

    @property
    def multimodal(self) -> bool:
        """The outcome of the rule."""
        return calls_multimodal(
            len(self.modes),
            dip=self.dip.pvalue,
            bandwidth=self.bandwidth.pvalue,
            several=self.stability.several,
            risk=self.risk,
        )

    @property
    def laws(self) -> tuple[Law, ...]:
        """The mixture among the single-peaked laws, best BIC first."""
        laws = [
            Law(
                name=family.name,
                bic=family.bic,
                log_likelihood=family.log_likelihood,
                parameters=family.parameters,
            )
            for family in self.families
        ]
        if self.mixture_bic is not None:
            k = self.mixture.components
            count = 2 * k if self.mixture.equal_variance else 3 * k - 1
            laws.append(
                Law(
                    name=f"mixture of {k}",
                    bic=self.mixture_bic,
                    log_likelihood=(self.mixture_bic + count * math.log(self.n)) / 2,
                    parameters=count,
                )
            )
        return tuple(sorted(laws, key=lambda law: (law.bic, law.name), reverse=True))

    @property
    def conclusion(self) -> str:
        """The answer in one sentence."""
        count = len(self.modes)
        places = ", ".join(f"{mode:.6g}" for mode in self.modes)
        if self.multimodal:
            return (
                f"multimodal: the values have {count} modes by the fitted mixture, at {places}; "
                "that there are several is supported by a test and by resampling, their exact "
                "number only as far as the shares below say"
            )
        if count == 1:
            return f"one mode, at {places}: the fitted mixture has no second one"
        return (
            f"not shown to be multimodal: the fitted mixture has {count} modes, at {places}, but "
            f"{self._missing()}"
        )

    def _missing(self) -> str:
        missing = []
        if not self.rejected:
            missing.append("no test rejects a single mode")
        if self.stability.several < STABLE:
            missing.append(
                f"only {100 * self.stability.several:.0f} % of the resamples have several"
            )
        return " and ".join(missing)

    def body(self) -> dict[str, Any]:
        """Add the outcome, and the size of the mixture."""
        return {
            "multimodal": self.multimodal,
            "conclusion": self.conclusion,
            "mixture_components": self.mixture.components,
            **Result.body(self),
        }
