"""The variants of a trial as sides of a comparison: runs that count, and what is only a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..data import PerformanceMatrix, Trial
from ..errors import InsufficientDataError
from ..report import Caution, figures

__all__ = ["Side", "comparable", "sides_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """One variant of a trial.

    `matrix` holds its runs that count, None without any, and `cautions` what to know about them.
    `floored` names the benchmarks whose values are only an upper bound, the launcher's floor.
    """

    name: str
    matrix: PerformanceMatrix | None
    floored: frozenset[str]
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
    bounds = candidate.floored | baseline.floored
    kept = [
        tuple(bench for bench in matrix.benchmarks if bench not in bounds)
        for matrix in (ours, theirs)
    ]
    if not set(kept[0]) & set(kept[1]):
        return None
    return (
        ours if kept[0] == ours.benchmarks else ours.select(kept[0]),
        theirs if kept[1] == theirs.benchmarks else theirs.select(kept[1]),
    )


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
        raise InsufficientDataError(
            f"the trial has no run that counts with a value of {metric!r}",
            str(trial.path),
            "look at the failed runs, or measure more",
            n=0,
            needed=1,
        )
    return sides


def _side(trial: Trial, variant: str, metric: str, benchmarks: Sequence[str] | None) -> Side:
    floored = frozenset(trial.below_floor(variant, metric))
    try:
        matrix = trial.matrix(variant, metric, skip_zeros=True)
    except InsufficientDataError as error:
        mine = trial.measured & (trial.variant == trial.manifest.variants.index(variant))
        why = f" ({error.what})" if (trial.values(metric)[mine] <= 0).any() else ""
        said = Caution("variant-left-out", f"{variant} has no run that counts{why}", (variant,))
        return Side(name=variant, matrix=None, floored=floored, cautions=(said,))
    cautions = [caution.of(variant) for caution in matrix.cautions]
    if floored:
        told = figures.listed(tuple(floored), 3)
        text = f"{variant}: {metric} of {told} is only the launcher's floor: not compared"
        cautions.append(Caution("floored", text, (variant, *sorted(floored))))
    if benchmarks is not None:
        kept = [bench for bench in matrix.benchmarks if bench in set(benchmarks)]
        matrix = matrix.select(kept) if kept else None
    # its cautions are said once, with the trial's; the methods need not say them again
    return Side(
        name=variant,
        matrix=None if matrix is None else replace(matrix, cautions=()),
        floored=floored,
        cautions=tuple(cautions),
    )
