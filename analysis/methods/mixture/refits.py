"""Mixtures refitted to resampled values: how stable the modes are, and what speaks for several.

Each resample is a random **half of the values, none drawn twice**, and is fitted anew: **number of
components and kind of variances are chosen again**. Keeping them would leave out the largest
uncertainty. The usual bootstrap draws with replacement; the values that it repeats look like
narrow components: of 40 normal values 53 % of such resamples get more than one component, against
7 % of fresh samples and 14 % of halves. For smooth metrics halves have the right spread: the mean
of n / 2 out of n values varies as the mean of n.
Intervals are percentiles of the metric over the resamples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError
from ...pages import number_format as figures
from ...pages.model import (
    Caution,
    Page,
    Table,
    Value,
    cautions_of,
    columns_of,
    page,
    section,
    table_of,
)
from ...pages.result import Result
from ...stats.arguments import between, checks_arguments, counted, stream
from ...stats.samples import Array, read_only
from . import modality
from .fit import checked, fit_mixture
from .modality import BandwidthTest, DipTest, FamilyFit
from .model import BIC_MARGIN, Mixture

Fit = Callable[[Array], Mixture]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedSample:
    """Values, their mixture, and the mixtures of the resamples; `failed` could not be fitted."""

    values: Array
    mixture: Mixture
    replicates: tuple[Mixture, ...]
    failed: int


@checks_arguments
def fitted_sample(
    values: ArrayLike,
    mixture: Mixture,
    *,
    fit: Fit | None = None,
    resamples: int = 500,
    rng: np.random.Generator,
) -> FittedSample:
    """Fit mixtures to resamples of the values, once, for any number of intervals.

    Parameters
    ----------
    values : array_like
        At least 4 values, not all equal: those that `mixture` was fitted to.
    mixture : Mixture
        Their fit.
    fit : callable, optional
        From an array of values to a `Mixture`; it may raise `AnalysisError`. By default
        `fit_mixture` on the scale of `mixture`, with up to 9 components.
    resamples : int
        How many.
    rng : numpy.random.Generator
        Where the resamples come from.

    Raises
    ------
    UsageError
        If `resamples` is less than 1.
    InsufficientDataError, AnalysisError
        If there are too few values, one is not finite, all are equal, or no resample can be fitted.
    """
    counted("resamples", resamples)
    x = read_only(checked(values))
    refit = fit if fit is not None else partial(fit_mixture, scale=mixture.scale)
    replicates = []
    for _ in range(resamples):
        half = x[rng.permutation(x.size)[: (x.size + 1) // 2]]  # rounded up, none twice
        try:
            replicates.append(refit(half))
        except AnalysisError:  # counted and reported
            continue
    if not replicates:
        raise AnalysisError(
            f"none of {resamples} resamples of these {x.size} values can be fitted",
            fix="measure more runs, or with a finer clock",
        )
    failed = resamples - len(replicates)
    return FittedSample(values=x, mixture=mixture, replicates=tuple(replicates), failed=failed)


MODALITY_REFERENCES = (
    "J. Worms, S. Touati, IEEE TMSCS 2018, section 6.4",
    *modality.DIP_REFERENCES,
    *modality.BANDWIDTH_REFERENCES,
)


class FittedLaw(NamedTuple):
    """The mixture as a law of the values as given, with what it has in common with `FamilyFit`."""

    name: str
    bic: float
    log_likelihood: float
    parameters: int


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
    references: tuple[str, ...] = MODALITY_REFERENCES

    @property
    def rejected(self) -> bool:
        """Whether a test rejects a single mode, at half the risk each."""
        return modality.rejects_one_mode(**self._rule)

    @property
    def multimodal(self) -> bool:
        """The outcome of the rule."""
        several = self.stability.several
        return modality.calls_multimodal(len(self.modes), several=several, **self._rule)

    @property
    def _rule(self) -> dict[str, float]:
        return {"dip": self.dip.pvalue, "bandwidth": self.bandwidth.pvalue, "risk": self.risk}

    @property
    def laws(self) -> tuple[FamilyFit | FittedLaw, ...]:
        """The mixture among the single-peaked laws, best BIC first."""
        laws: list[FamilyFit | FittedLaw] = [*self.families]
        if self.mixture_bic is not None:
            k = self.mixture.components
            count = 2 * k if self.mixture.equal_variance else 3 * k - 1
            likelihood = (self.mixture_bic + count * math.log(self.n)) / 2
            laws.append(FittedLaw(f"mixture of {k}", self.mixture_bic, likelihood, count))
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
        missing = [] if self.rejected else ["no test rejects a single mode"]
        several = self.stability.several
        if several < modality.STABLE:
            missing.append(f"only {100 * several:.0f} % of the resamples have several")
        return (
            f"not shown to be multimodal: the fitted mixture has {count} modes, at {places}, but "
            f"{' and '.join(missing)}"
        )

    def body(self) -> dict[str, Any]:
        """Add the outcome, and the size of the mixture."""
        head = {"multimodal": self.multimodal, "conclusion": self.conclusion}
        return {**head, "mixture_components": self.mixture.components, **Result.body(self)}

    def screen(self) -> Page:
        """Give the conclusion, what it rests on, and the laws in one table."""
        half, s = f"needs p <= {self.risk / 2:g}", self.stability
        rows = (
            *(
                (name, Value(f"p {figures.pvalue(test.pvalue)}", test.pvalue), half)
                for name, test in (("dip test", self.dip), ("bandwidth test", self.bandwidth))
            ),
            (
                "several modes again",
                Value(f"{100 * s.several:.0f} %", s.several),
                f"needs {100 * modality.STABLE:.0f} %",
            ),
        )
        columns = columns_of("<what", "<found", "<needed")
        modes, components = (
            ", ".join(f"{key}: {share:.2f}" for key, share in shares.items())
            for shares in (s.modes, s.components)
        )
        tests = section(
            Table(name="tests", columns=columns, rows=rows, headed=False),
            f"modes in {s.resamples} refitted halves of the values, by share: {modes}",
            f"components in them, by share: {components}",
        )
        laws = table_of(
            "laws",
            self.laws,
            ("<law", "name"),
            ("BIC", "bic", "{:.2f}".format),
            ("log-likelihood", "log_likelihood", "{:.3f}".format),
            ("parameters", "parameters"),
        )
        return page(self, "Evidence for modes", self.conclusion, tests, laws)


def mode_cautions(found: ModeEvidence) -> tuple[Caution, ...]:
    """Say what speaks against the outcome, and what limits it."""
    dip, failed, lead, best = found.dip, found.stability.failed, -math.inf, None
    if len(found.modes) > 1 and found.families and found.mixture_bic is not None:
        best = found.families[0]  # skew alone may explain the values
        lead = best.bic - found.mixture_bic
    return cautions_of(
        {
            "single-peak-as-good": best is not None
            and lead > -BIC_MARGIN
            and "a single peak describes the values "
            f"{'better than' if lead > BIC_MARGIN else 'about as well as'} the mixture: "
            f"{best.name}, BIC {best.bic:.2f} against {found.mixture_bic:.2f}",
            "rejected-with-one-mode": len(found.modes) == 1
            and found.rejected
            and "a test rejects a single mode although the mixture has one: its components "
            "overlap, or the density has a flat top",
            # no hint of a second mode
            "bandwidth-test-alone": found.rejected
            and dip.pvalue > 0.25
            and "only the bandwidth test rejects, not the dip: look at the second mode, it holds "
            "few of the values",
            "few-values-for-modes": dip.n < 15
            and f"with {dip.n} values the tests find only modes that lie far apart: no evidence "
            "for several modes is no evidence for one",
            "coarse-clock": dip.levels is not None
            and dip.levels < 10
            and f"the clock has only {dip.levels} readings over the range of the values: measure "
            "with a finer one before speaking of modes",
            "resamples-not-counted": failed > 0
            and f"{failed} resamples could not be fitted and are not counted",
        }
    )


def stability(sample: FittedSample) -> Stability:
    """Count modes and components in the refitted resamples."""
    total = len(sample.replicates)
    modes = Counter(mixture.modes().size for mixture in sample.replicates)
    components = Counter(mixture.components for mixture in sample.replicates)

    def shares(counts: Counter[int]) -> dict[int, float]:
        return {key: count / total for key, count in sorted(counts.items())}

    return Stability(
        resamples=total,
        failed=sample.failed,
        modes=shares(modes),
        components=shares(components),
        same_modes=modes[sample.mixture.modes().size] / total,
        same_components=components[sample.mixture.components] / total,
        several=sum(count for key, count in modes.items() if key > 1) / total,
    )


@checks_arguments
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

    Hypothesis: one mode. The rule is `calls_multimodal`. Ties are spread over the
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
    between("the risk", risk)
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
        dip=modality.dip_test(x, rng=stream(seed, "dip")),
        bandwidth=modality.bandwidth_test(x, rng=stream(seed, "bandwidth")),
        stability=stability(sample),
        families=modality.skewed_families(x) if x.size >= modality.LEAST else (),
        risk=risk,
        seed=seed,
    )
    return replace(found, cautions=tuple(mode_cautions(found)))
