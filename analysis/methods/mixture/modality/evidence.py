"""What stands behind a number of modes: tests, stability under resampling, and skew as rival.

The number of modes of a fitted mixture (I4) exceeds 1 for most samples of a single skewed peak.
So a sample is called multimodal only when

1. the density of its mixture has several modes,
2. the dip test or the bandwidth test rejects a single mode at half the risk each, so that both
   together keep it, and
3. at least three in four refitted resamples have several modes too.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 6.4.
.. [2] J. A. Hartigan, P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13, 1985.
.. [3] B. W. Silverman, "Using kernel density estimates to investigate multimodality", Journal of
       the Royal Statistical Society B 43, 1981.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....errors import UsageError
from ....report import as_text, figures
from ....stats import stream
from ..model.mixture import Mixture
from ..refits import Fit, FittedSample, fitted_sample
from ..values import checked
from .dip_and_bandwidth import BandwidthTest, DipTest, bandwidth_test, dip_test
from .families import LEAST as FAMILIES_LEAST, FamilyFit, skewed_families

__all__ = ["ModeEvidence", "Stability", "mode_evidence", "stability"]

STABLE = 0.75
_FEW = 15
_COARSE = 10  # clock readings over the range
_UNMOVED = 0.25  # a dip's p-value that gives no hint of a second mode
_CLOSE = 2.0  # a difference in BIC that is not worth mentioning
REFERENCES = (
    "J. Worms, S. Touati, IEEE TMSCS 2018, section 6.4",
    "J. A. Hartigan, P. M. Hartigan, The dip test of unimodality, Annals of Statistics 13, 1985",
    "B. W. Silverman, Using kernel density estimates to investigate multimodality, JRSS B 43, 1981",
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

    def to_dict(self) -> dict[str, Any]:
        """Give the shares as JSON types; the keys of the tables are texts."""
        data = {name: getattr(self, name) for name in self.__slots__}
        for name in ("modes", "components"):
            data[name] = {str(key): value for key, value in data[name].items()}
        return data


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModeEvidence:
    """Whether the values have several modes, and what speaks for it.

    `modes` are those of the fitted density. `families` are the single-peaked laws, best BIC first;
    their BIC and `mixture_bic` belong to the values as given and can be compared.
    """

    n: int
    mixture: Mixture
    modes: tuple[float, ...]
    mixture_bic: float | None
    dip: DipTest
    bandwidth: BandwidthTest
    stability: Stability
    families: tuple[FamilyFit, ...]
    risk: float
    cautions: tuple[str, ...]
    seed: int
    references: tuple[str, ...] = REFERENCES

    @property
    def rejected(self) -> bool:
        """Whether a test rejects a single mode, at half the risk each."""
        return rejects_one_mode(self.dip, self.bandwidth, risk=self.risk)

    @property
    def multimodal(self) -> bool:
        """The outcome of the rule."""
        return shown_multimodal(
            len(self.modes), rejected=self.rejected, several=self.stability.several
        )

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

    def to_dict(self) -> dict[str, Any]:
        """Give the evidence as JSON types."""
        return {
            "n": self.n,
            "multimodal": self.multimodal,
            "conclusion": self.conclusion,
            "modes": list(self.modes),
            "risk": self.risk,
            "dip": self.dip.to_dict(),
            "bandwidth": self.bandwidth.to_dict(),
            "stability": self.stability.to_dict(),
            "mixture_components": self.mixture.components,
            "mixture_bic": self.mixture_bic,
            "families": [family.to_dict() for family in self.families],
            "cautions": list(self.cautions),
            "seed": self.seed,
            "references": list(self.references),
        }

    def __str__(self) -> str:
        lines = as_text.wrapped(self.conclusion)
        lines += ["", *self._tests(), "", *self._laws()]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])

    def _tests(self) -> list[str]:
        half = f"needs p <= {self.risk / 2:g}"
        s = self.stability
        shares = ", ".join(f"{key}: {share:.2f}" for key, share in s.modes.items())
        chosen = ", ".join(f"{key}: {share:.2f}" for key, share in s.components.items())
        rows = [
            ["dip test", f"p {figures.pvalue(self.dip.pvalue)}", half],
            ["bandwidth test", f"p {figures.pvalue(self.bandwidth.pvalue)}", half],
            ["several modes again", f"{100 * s.several:.0f} %", f"needs {100 * STABLE:.0f} %"],
        ]
        return [
            *as_text.grid(rows, "<<<"),
            *as_text.wrapped(
                f"modes in {s.resamples} refitted halves of the values, by share: {shares}"
            ),
            *as_text.wrapped(f"components in them, by share: {chosen}"),
        ]

    def _laws(self) -> list[str]:
        many = f"mixture of {self.mixture.components}"
        rows = [["law", "BIC", "log-likelihood", "parameters"]]
        entries = [
            (fit.bic, fit.name, f"{fit.log_likelihood:.3f}", f"{fit.parameters}")
            for fit in self.families
        ]
        if self.mixture_bic is not None:
            k = self.mixture.components
            count = 2 * k if self.mixture.equal_variance else 3 * k - 1
            likelihood = (self.mixture_bic + count * math.log(self.n)) / 2
            entries.append((self.mixture_bic, many, f"{likelihood:.3f}", f"{count}"))
        for bic, *cells in sorted(entries, reverse=True):
            rows.append([cells[0], f"{bic:.2f}", *cells[1:]])
        return as_text.grid(rows, "<>>>")


def rejects_one_mode(dip: DipTest, bandwidth: BandwidthTest, *, risk: float) -> bool:
    """Whether a test rejects a single mode, at half the risk each."""
    return min(dip.pvalue, bandwidth.pvalue) <= risk / 2


def shown_multimodal(modes: int, *, rejected: bool, several: float) -> bool:
    """Apply the rule: modes of the mixture, a test, and the share of resamples with several."""
    return modes > 1 and rejected and several >= STABLE


def stability(sample: FittedSample) -> Stability:
    """Count modes and components in the refitted resamples."""
    total = len(sample.replicates)
    modes = [mixture.modes().size for mixture in sample.replicates]
    components = [mixture.components for mixture in sample.replicates]
    return Stability(
        resamples=total,
        failed=sample.failed,
        modes=_shares(modes),
        components=_shares(components),
        same_modes=modes.count(sample.mixture.modes().size) / total,
        same_components=components.count(sample.mixture.components) / total,
        several=sum(count > 1 for count in modes) / total,
    )


def _shares(counts: list[int]) -> dict[int, float]:
    return {key: count / len(counts) for key, count in sorted(Counter(counts).items())}


def mode_evidence(
    values: ArrayLike,
    mixture: Mixture,
    *,
    sample: FittedSample | None = None,
    fit: Fit | None = None,
    risk: float = 0.05,
    resamples: int = 200,
    rng: np.random.Generator,
) -> ModeEvidence:
    """Weigh the evidence for several modes.

    Hypothesis: one mode. The rule stands at the head of this module. Ties are spread over the
    clock's tick before the tests.

    Parameters
    ----------
    values : array_like
        At least 4 values, not all equal: those that `mixture` was fitted to.
    mixture : Mixture
        Their fit.
    sample : FittedSample, optional
        Refitted resamples, where they exist already; then `fit` and `resamples` are not used.
    fit, resamples
        As in `fitted_sample`.
    risk : float
        Of both tests together.
    rng : numpy.random.Generator
        One number of it seeds the streams of the tests and resamples.

    Raises
    ------
    UsageError
        If the risk is out of range, or `resamples` is less than 1.
    InsufficientDataError, AnalysisError
        If there are too few values, one is not finite, or all are equal.
    """
    if not 0 < risk < 1:
        raise UsageError(f"the risk must lie between 0 and 1, and is {risk}")
    x = checked(values)
    seed = int(rng.integers(2**63))
    if sample is None:
        sample = fitted_sample(
            x, mixture, fit=fit, resamples=resamples, rng=stream(seed, "mixture-resamples")
        )
    bic = mixture.bic
    if bic is not None and mixture.scale == "log":
        bic -= 2 * float(np.log(x).sum())  # the density of x, not of ln x
    found = ModeEvidence(
        n=x.size,
        mixture=mixture,
        modes=tuple(mixture.modes().tolist()),
        mixture_bic=bic,
        dip=dip_test(x, rng=stream(seed, "dip")),
        bandwidth=bandwidth_test(x, rng=stream(seed, "bandwidth")),
        stability=stability(sample),
        families=skewed_families(x) if x.size >= FAMILIES_LEAST else (),
        risk=risk,
        cautions=(),
        seed=seed,
    )
    return replace(found, cautions=tuple(_cautions(found)))


def _cautions(found: ModeEvidence) -> list[str]:
    cautions = []
    dip, bic, count = found.dip, found.mixture_bic, len(found.modes)
    if count > 1 and found.families and bic is not None and found.families[0].bic > bic - _CLOSE:
        best = found.families[0]
        cautions.append(
            f"a single peak describes the values {_how_well(best.bic - bic)} the mixture: "
            f"{best.name}, BIC {best.bic:.2f} against {bic:.2f}"
        )
    if count == 1 and found.rejected:
        cautions.append(
            "a test rejects a single mode although the mixture has one: its components overlap, "
            "or the density has a flat top"
        )
    if found.rejected and dip.pvalue > _UNMOVED:
        cautions.append(
            "only the bandwidth test rejects, not the dip: look at the second mode, it holds few "
            "of the values"
        )
    if dip.n < _FEW:
        cautions.append(
            f"with {dip.n} values the tests find only modes that lie far apart: no evidence for "
            "several modes is no evidence for one"
        )
    if dip.levels is not None and dip.levels < _COARSE:
        cautions.append(
            f"the clock has only {dip.levels} readings over the range of the values: measure with "
            "a finer one before speaking of modes"
        )
    if found.stability.failed:
        cautions.append(
            f"{found.stability.failed} resamples could not be fitted and are not counted"
        )
    return cautions


def _how_well(difference: float) -> str:
    return "better than" if difference > _CLOSE else "about as well as"
