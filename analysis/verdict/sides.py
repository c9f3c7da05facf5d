"""The variants of a trial as sides of a comparison: runs that count, and what is only a bound."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data import PerformanceMatrix, Trial
from ..errors import InsufficientDataError
from ..report import Caution, figures

__all__ = ["Side", "all_failed", "comparable", "sides_of", "without"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """One variant of a trial.

    `matrix` holds its runs that count, None without any, and `cautions` what to know about them.
    `floored` names the benchmarks whose values are only an upper bound, the launcher's floor.
    """

    name: str
    matrix: PerformanceMatrix | None
    floored: tuple[str, ...]
    cautions: tuple[Caution, ...] = ()


def comparable(
    candidate: Side, baseline: Side
) -> tuple[PerformanceMatrix, PerformanceMatrix] | None:
    """Give both sides with the benchmarks that can be compared; None without any.

    Where a side's values are the launcher's floor, they say nothing of the program.
    """
    ours, theirs = candidate.matrix, baseline.matrix
    if ours is None or theirs is None:
        return None
    bounds = {*candidate.floored, *baseline.floored}
    if bounds:
        ours, theirs = (without(matrix, bounds) for matrix in (ours, theirs))
    return (ours, theirs) if _names(ours) & _names(theirs) else None


def without(matrix: PerformanceMatrix, names: Collection[str]) -> PerformanceMatrix:
    """Leave benchmarks out, also those that have runs of 0, and those of which all runs failed."""
    kept = matrix.select([bench for bench in matrix.benchmarks if bench not in names])
    kept = replace(
        kept,
        failed={b: n for b, n in matrix.failed.items() if b not in names},
        failed_by_session={b: n for b, n in matrix.failed_by_session.items() if b not in names},
    )
    zeros = matrix.with_zeros
    if zeros is None:
        return kept
    left = [bench for bench in zeros.benchmarks if bench not in names]
    return replace(kept, with_zeros=zeros.select(left) if left else None)


def _names(matrix: PerformanceMatrix) -> set[str]:
    zeros = () if matrix.with_zeros is None else matrix.with_zeros.benchmarks
    return {*matrix.benchmarks, *zeros}


def all_failed(trial: Trial, variant: str) -> bool:
    """Tell whether every run of a variant failed; without any run nobody knows."""
    if variant not in trial.manifest.variants:  # whoever reads it says so
        return False
    mine = trial.candidates & (trial.variant == trial.manifest.variants.index(variant))
    return bool(mine.any()) and not bool((mine & trial.measured).any())


def sides_of(
    trial: Trial, metric: str, variants: Sequence[str], benchmarks: Sequence[str] | None
) -> dict[str, Side]:
    """Give these variants of a trial by their names.

    Raises
    ------
    InsufficientDataError
        If no run of any of them counts.
    """
    sides = {variant: _side(trial, variant, metric, benchmarks) for variant in variants}
    if all(one.matrix is None for one in sides.values()):
        unknown = (
            trial.measured.any() and not np.isfinite(trial.values(metric)[trial.measured]).any()
        )
        raise InsufficientDataError(
            f"the trial has no run that counts with a value of {metric!r}",
            str(trial.path),
            "its host told it of no run (fairtrial doctor may say why): name another --metric"
            if unknown
            else "look at the failed runs, or measure more",
            n=0,
            needed=1,
        )
    return sides


def _side(trial: Trial, variant: str, metric: str, benchmarks: Sequence[str] | None) -> Side:
    floored = trial.below_floor(variant, metric)
    try:
        matrix = trial.matrix(variant, metric, carry_zeros=True)
    except InsufficientDataError as error:
        mine = trial.measured & (trial.variant == trial.manifest.variants.index(variant))
        why = f" ({error.what})" if (trial.values(metric)[mine] <= 0).any() else ""
        said = Caution("variant-left-out", f"{variant} has no run that counts{why}", (variant,))
        return Side(name=variant, matrix=None, floored=floored, cautions=(said,))
    told = _cautions(variant, metric, matrix, floored)
    kept: PerformanceMatrix | None = matrix
    if benchmarks is not None:
        left_out = {*_names(matrix), *matrix.failed} - set(benchmarks)
        kept = without(matrix, left_out) if _names(matrix) - left_out else None
    # its cautions are said once, with the trial's; the methods need not say them again
    return Side(
        name=variant,
        matrix=None if kept is None else replace(kept, cautions=()),
        floored=floored,
        cautions=told,
    )


def _cautions(
    variant: str, metric: str, matrix: PerformanceMatrix, floored: Sequence[str]
) -> tuple[Caution, ...]:
    """Say what holds for the variant's runs; benchmarks that are only bounds are named."""
    found = [c.of(variant) for c in matrix.cautions if not (floored and c.code == "floored")]
    if floored:
        text = (
            f"{variant}: {metric} of {figures.listed(floored, 3)} is only the launcher's floor: "
            "not compared"
        )
        found.append(Caution("floored", text, (variant, *floored)))
    return tuple(found)
