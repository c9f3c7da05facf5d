"""One variant on one benchmark: its mixture, whether it fits, and what speaks for its modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....data import PerformanceMatrix
from ....errors import AnalysisError
from ....report import Caution, merged
from ....stats import Progress, stream
from ..fitting.fit import fit_mixture
from ..fitting.sample import prepared
from ..goodness.fit_test import ks_fit
from ..goodness.result import FitTest
from ..metrics.intervals import estimated
from ..metrics.result import MetricInterval
from ..modality.evidence import mode_evidence
from ..model.mixture import Mixture
from ..refits import Fit, FittedSample, fitted_sample
from .options import MixtureOptions
from .result import MixtureCell

__all__ = ["mixture_cell"]

Array = NDArray[np.float64]


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
    tested = cell.tested(mixture, progress) if options.resamples else None
    refits, modes = None, None
    missing: tuple[Caution, ...] = ()
    if options.resamples and evidence:
        try:
            refits = cell.refitted(mixture)
            modes = mode_evidence(values, mixture, sample=refits, rng=cell.draws("evidence"))
        except AnalysisError as error:
            said = f"{error.what}: neither evidence for modes nor intervals"
            missing = (Caution("no-evidence", said),)

    def single(name: str, metric: Callable[[Mixture], float]) -> MetricInterval:
        return estimated(metric, (mixture, refits), name=name, confidence=options.confidence)

    quantiles = tuple(
        single(f"quantile {level:g}", partial(Mixture.quantile, q=level))
        for level in options.quantiles
    )
    below = tuple(
        single(f"P[X < {a:g}]", partial(Mixture.probability_below, a=a)) for a in options.below
    )
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
        cautions=merged(
            mixture.cautions,
            () if tested is None else tested.cautions,
            () if modes is None else modes.cautions,
            missing,
            *(found.cautions for found in (*quantiles, *below)),
        ),
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
