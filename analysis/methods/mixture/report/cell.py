"""One variant on one benchmark: its mixture, whether it fits, and what speaks for its modes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....errors import AnalysisError
from ....stats import stream
from ..fitting.fit import fit_mixture, prepared
from ..goodness.fit_test import FitTest, Progress, ks_fit
from ..metrics.intervals import MetricInterval, metric_interval as interval_of
from ..modality.evidence import ModeEvidence, mode_evidence
from ..model.mixture import Mixture
from ..refits import Fit, FittedSample, fitted_sample
from .options import MixtureOptions

if TYPE_CHECKING:
    from ....data import PerformanceMatrix

__all__ = ["MixtureCell", "mixture_cell", "without_interval"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureCell:
    """What a mixture says about the values of one variant on one benchmark.

    `mixture` is None where no fit exists, and `problem` says why. `fit_test`, `evidence` and
    `refits` are None when no resamples were asked for, or there are too few values.
    """

    benchmark: str
    variant: str
    values: Array
    problem: str | None = None
    mixture: Mixture | None = None
    fit_test: FitTest | None = None
    evidence: ModeEvidence | None = None
    refits: FittedSample | None = None
    quantiles: tuple[MetricInterval, ...] = ()
    below: tuple[MetricInterval, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def runner_up(self) -> tuple[str, float] | None:
        """The second best candidate of the fit and its BIC, such as ("V4", -76.1)."""
        if self.mixture is None or self.mixture.bic_table is None:
            return None
        chosen = ("E" if self.mixture.equal_variance else "V", self.mixture.components)
        rest = [
            (bic, f"{model}{k}")
            for model, row in self.mixture.bic_table.items()
            for k, bic in enumerate(row, 1)
            # one component is the same candidate twice
            if math.isfinite(bic) and (model, k) != chosen and not (model == "V" and k == 1)
        ]
        if not rest:
            return None
        bic, name = max(rest)
        return name, bic

    def to_dict(self) -> dict[str, Any]:
        """Give the cell as JSON types."""
        fitted = self.mixture
        return {
            "variant": self.variant,
            "n": int(self.values.size),
            "problem": self.problem,
            "mixture": None if fitted is None else fitted.to_dict(),
            "classification": None if fitted is None else fitted.classify(self.values).tolist(),
            "fit_test": None if self.fit_test is None else self.fit_test.to_dict(),
            "evidence": None if self.evidence is None else self.evidence.to_dict(),
            "quantiles": [found.to_dict() for found in self.quantiles],
            "below": [found.to_dict() for found in self.below],
            "cautions": list(self.cautions),
        }


def mixture_cell(
    matrix: PerformanceMatrix,
    benchmark: str,
    options: MixtureOptions,
    *,
    root: int,
    evidence: bool = True,
    progress: Progress | None = None,
) -> MixtureCell:
    """Fit one cell, test the fit, and weigh the evidence for its modes.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of the variant.
    benchmark : str
        One of its benchmarks.
    options : MixtureOptions
        What is asked for.
    root : int
        Seed of the streams; each is labelled by benchmark, variant and purpose.
    evidence : bool
        Whether halves of the values are refitted, for the evidence and all intervals.
    progress : callable, optional
        Handed to the fit test; it may raise to stop it.

    Returns
    -------
    MixtureCell
        Values that no mixture can be fitted to (such as equal ones) give a cell with a `problem`.
    """
    values = matrix.values(benchmark)
    cell = _Asked(values=values, options=options, labels=(benchmark, matrix.name), root=root)
    try:
        mixture = cell.fit("starts")(values)
    except AnalysisError as error:
        text = error.what if error.fix is None else f"{error.what} ({error.fix})"
        return MixtureCell(benchmark=benchmark, variant=matrix.name, values=values, problem=text)
    cautions = list(mixture.cautions)
    tested = cell.tested(mixture, progress) if options.resamples else None
    if tested is not None:
        cautions += tested.cautions
    refits, modes = None, None
    if options.resamples and evidence:
        try:
            refits = cell.refitted(mixture)
            modes = mode_evidence(values, mixture, sample=refits, rng=cell.draws("evidence"))
            cautions += modes.cautions
        except AnalysisError as error:
            cautions.append(f"{error.what}: neither evidence for modes nor intervals")
    quantiles = tuple(
        _metric(mixture, refits, f"quantile {level:g}", options, partial(Mixture.quantile, q=level))
        for level in options.quantiles
    )
    below = tuple(
        _metric(mixture, refits, f"P[X < {a:g}]", options, partial(Mixture.probability_below, a=a))
        for a in options.below
    )
    for found in (*quantiles, *below):
        cautions += found.cautions
    return MixtureCell(
        benchmark=benchmark,
        variant=matrix.name,
        values=values,
        mixture=mixture,
        fit_test=tested,
        evidence=modes,
        refits=refits,
        quantiles=quantiles,
        below=below,
        cautions=tuple(dict.fromkeys(cautions)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Asked:
    """One cell's values, and how they are to be treated."""

    values: Array
    options: MixtureOptions
    labels: tuple[str, ...]
    root: int

    def draws(self, purpose: str) -> np.random.Generator:
        return stream(self.root, *self.labels, purpose)

    @property
    def floor(self) -> float:
        """The least variance on the scale of the fit, the same for all refits."""
        options = self.options
        return prepared(self.values, resolution=options.resolution, scale=options.scale).floor

    def fit(self, purpose: str) -> Fit:
        options, floor, rng = self.options, self.floor, self.draws(purpose)

        def fit(values: Array) -> Mixture:
            return fit_mixture(
                values,
                max_components=options.max_components,
                starts=options.starts,
                variance_floor=floor,
                scale=options.scale,
                rng=rng,
            )

        return fit

    def tested(self, mixture: Mixture, progress: Progress | None) -> FitTest:
        options = self.options
        return ks_fit(
            self.values,
            mixture,
            resamples=options.resamples,
            max_components=options.max_components,
            rng=self.draws("fit test"),
            workers=options.workers,
            ties="jitter" if options.jitter else "as-measured",
            resolution=options.resolution if options.jitter else None,
            starts=options.starts,
            variance_floor=self.floor,
            progress=progress,
        )

    def refitted(self, mixture: Mixture) -> FittedSample:
        return fitted_sample(
            self.values,
            mixture,
            fit=self.fit("starts of refits"),
            resamples=self.options.resamples,
            rng=self.draws("refits"),
        )


def without_interval(name: str, estimate: float, confidence: float) -> MetricInterval:
    """Give a metric whose interval is unknown, because nothing was resampled."""
    return MetricInterval(
        metric=name,
        estimate=estimate,
        low=math.nan,
        high=math.nan,
        confidence=confidence,
        replicates=0,
        failed=0,
        cautions=(),
    )


def _metric(
    mixture: Mixture,
    refits: FittedSample | None,
    name: str,
    options: MixtureOptions,
    metric: Callable[[Mixture], float],
) -> MetricInterval:
    if refits is None:
        return without_interval(name, float(metric(mixture)), options.confidence)
    return interval_of(metric, refits, name=name, confidence=options.confidence)
