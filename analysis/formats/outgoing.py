"""SOURCE as it leaves for another tool: every run of a trial, or the runs of a matrix file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..foreign.exports import Leaving, leaving_matrices, leaving_trial
from ..report import Caution
from .sources import Reading, read_sources
from .trials import open_trial, trial_and_variant

__all__ = ["read_leaving"]


def read_leaving(
    source: str, how: Reading, metrics: Sequence[str] = ()
) -> tuple[Leaving, tuple[Caution, ...]]:
    """Read what is exported, and what a reader of it should know.

    Parameters
    ----------
    source : str
        ``runs/NAME``, ``runs/NAME:VARIANT``, or a file.
    how : Reading
        Options of the reader; its metric and its level are left out of account.
    metrics : sequence of str
        Which ones; by default the wall time and what was parsed, of an imported trial all.

    Raises
    ------
    UsageError
        If the source is none of these, or a variant or a metric is unknown.
    StoreError, AnalysisError
        If a trial or a file cannot be trusted, or holds no values.
    """
    named = trial_and_variant(source)
    if named is None:
        first = metrics[0] if metrics else None
        read = read_sources([source], replace(how, metric=first, level="process"))
        cautions = read.cautions
        for matrix in read.matrices:
            cautions = (*cautions, *matrix.cautions)
        return leaving_matrices(Path(source).stem, read.matrices), cautions
    path, variant = named
    trial = open_trial(path, better=how.better, by="session", decimal=how.decimal)
    return leaving_trial(trial, metrics, () if variant is None else (variant,)), trial.cautions
