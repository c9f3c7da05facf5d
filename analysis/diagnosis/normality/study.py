"""Whether performance values look normal: the studies of section 3 of the HPT paper, on any matrix.

Lilliefors' and Shapiro's tests per benchmark and over the suite, the fitted normal against a kernel
density, the normal probability plot, and how large a sample must be before its mean looks normal.
A test that does not reject shows no normality: with few runs it can hardly reject.

References
----------
.. [1] T. Chen et al., "Statistical performance comparisons of computers", HPCA 2012, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix
from ...errors import AnalysisError, UsageError
from ...report import Caution
from ...stats import door, median
from .curves import normal_curves
from .departure import lilliefors, shapiro
from .means import MeanTrial, mean_sample_size
from .result import NormalityRow, NormalityStudy

__all__ = ["normality"]

FEW = 20
Array = NDArray[np.float64]
_Found = TypeVar("_Found")


@door
def normality(
    matrix: PerformanceMatrix,
    *,
    risk: float = 0.05,
    rng: np.random.Generator,
    seed: int | None = None,
) -> NormalityStudy:
    """Study whether the values of a matrix look normal.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The runs of one variant.
    risk : float
        Below which p a trial of means counts as not normal.
    rng : numpy.random.Generator
        Where the draws of the study of means come from.
    seed : int, optional
        Where `rng` comes from, for the record.

    Raises
    ------
    UsageError
        If the risk does not lie between 0 and 1.
    """
    if not 0 < risk < 1:
        raise UsageError(f"risk must lie between 0 and 1, not {risk!r}")
    rows = tuple(
        _row(name, values) for name, values in zip(matrix.benchmarks, matrix.samples, strict=True)
    )
    pooled = np.concatenate([values / median(values) for values in matrix.samples])
    trials: tuple[MeanTrial, ...] = ()
    impossible: AnalysisError | None = None
    try:
        trials = mean_sample_size(pooled, rng=rng)
    except AnalysisError as error:
        impossible = error
    return NormalityStudy(
        name=matrix.name,
        risk=risk,
        benchmarks=rows,
        suite=_row("medians", matrix.medians()),
        mean_trials=trials,
        enough=_enough(trials, risk),
        seed=seed,
        cautions=(*matrix.cautions, *_cautions(rows, impossible)),
    )


def _row(name: str, values: Array) -> NormalityRow:
    reasons: list[str] = []
    curves = _tried(normal_curves, values, reasons)
    wilk = _tried(shapiro, values, reasons)
    return NormalityRow(
        name=name,
        n=values.size,
        lilliefors=_tried(lilliefors, values, reasons),
        shapiro=wilk,
        curves=curves,
        why=reasons[0] if reasons else None,
    )


def _tried(study: Callable[[Array], _Found], values: Array, reasons: list[str]) -> _Found | None:
    """Give what a study finds; None where it is not possible, and the reason is added."""
    try:
        return study(values)
    except AnalysisError as error:
        reasons.append(error.what)
        return None


def _enough(trials: Sequence[MeanTrial], risk: float) -> int | None:
    enough = None
    for trial in reversed(trials):
        if trial.pvalue <= risk:
            break
        enough = trial.size
    return enough


def _cautions(rows: Sequence[NormalityRow], impossible: AnalysisError | None) -> Iterator[Caution]:
    if impossible is not None:
        yield Caution("no-study-of-means", f"no study of means: {impossible.what}")
    few = tuple(row.name for row in rows if row.n < FEW)
    if few:
        yield Caution(
            "few-runs",
            f"{len(few)} of {len(rows)} benchmarks have fewer than {FEW} runs: tests that do not "
            "reject there say little",
            few,
        )
