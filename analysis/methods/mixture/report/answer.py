"""The whole answer of mixtures: who wins a single run, then each variant's components and modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....data import PerformanceMatrix
from ....errors import AnalysisError, UsageError
from ....report import Caution, figures
from ....stats import Progress, in_order
from ..goodness.fit_test import compile_kernels
from .cautions import report_cautions
from .cell import mixture_cell
from .contest import mixture_contest
from .options import MixtureOptions
from .result import BenchmarkMixtures, MixtureCell, MixtureReport

__all__ = ["mixture_report"]

Wanted = tuple[PerformanceMatrix, str]
Look = Callable[[int, int, str], None]
_NAMES = 12  # benchmarks named where one is missing


def mixture_report(
    matrices: Sequence[PerformanceMatrix],
    *,
    benchmark: str | None = None,
    options: MixtureOptions | None = None,
    rng: np.random.Generator,
    seed: int | None = None,
    cautions: Sequence[Caution] = (),
    progress: Look | None = None,
) -> MixtureReport:
    """Fit mixtures to the runs of variants, benchmark by benchmark, and compare the variants.

    Parameters
    ----------
    matrices : sequence of PerformanceMatrix
        One for each variant, of one unit and direction, with different names.
    benchmark : str, optional
        Look at this one only, in full detail.
    options : MixtureOptions, optional
        What is asked for. Without it the fit test draws 500 resamples for a single benchmark and
        200 for each of several.
    rng : numpy.random.Generator
        One number of it seeds the streams of all cells.
    seed : int, optional
        Where `rng` comes from, for the record.
    cautions : sequence of Caution
        What is known of the sources already.
    progress : callable, optional
        Called with the numbers of cells done and in all, and the name of the next.

    Raises
    ------
    UsageError
        If there is no matrix, two have one name, or none has the benchmark.
    AnalysisError
        If the matrices differ in unit or direction, or no cell at all can be fitted.
    """
    _check(matrices)
    names = tuple(dict.fromkeys(name for matrix in matrices for name in matrix.benchmarks))
    if benchmark is not None:
        if benchmark not in names:
            known = figures.listed(names, _NAMES)
            raise UsageError(f"there is no benchmark {benchmark!r}", fix=f"known: {known}")
        names = (benchmark,)
    if options is None:
        options = MixtureOptions(resamples=500 if len(names) == 1 else 200)
    root = int(rng.integers(2**63))
    wanted = [(m, name) for name in names for m in matrices if name in m.benchmarks]
    look = progress or (lambda _done, _total, _name: None)
    detailed = len(names) == 1
    cells = _one_by_one if detailed else _at_once
    by_name: dict[str, list[MixtureCell]] = {name: [] for name in names}
    for cell in cells(wanted, options, root, look):
        by_name[cell.benchmark].append(cell)
    look(len(wanted), len(wanted), "")
    found = [
        BenchmarkMixtures(
            benchmark=name,
            cells=tuple(of_one),
            contest=mixture_contest(
                of_one,
                better=matrices[0].better,
                unit=matrices[0].unit,
                options=options,
                pairs=detailed,
            ),
        )
        for name, of_one in by_name.items()
    ]
    _check_any(found)
    report = MixtureReport(
        benchmarks=tuple(found),
        variants=tuple(matrix.name for matrix in matrices),
        better=matrices[0].better,
        unit=matrices[0].unit,
        options=options,
        seed=seed,
        references=_references(found),
    )
    return replace(report, cautions=(*cautions, *report_cautions(report, matrices)))


def _one_by_one(
    wanted: Sequence[Wanted], options: MixtureOptions, root: int, look: Look
) -> Iterator[MixtureCell]:
    """Make cells with all evidence; the fit test of each takes all threads."""
    for done, (matrix, benchmark) in enumerate(wanted):
        look(done, len(wanted), f"{benchmark} / {matrix.name}")
        yield mixture_cell(matrix, benchmark, options, root=root)


def _at_once(
    wanted: Sequence[Wanted], options: MixtureOptions, root: int, look: Look
) -> Iterator[MixtureCell]:
    """Make cells without the evidence for their modes, several at the same time.

    Each cell has streams of its own, so the number of workers changes no figure.
    """

    def tell(done: int) -> None:
        if done < len(wanted):
            matrix, benchmark = wanted[done]
            look(done, len(wanted), f"{benchmark} / {matrix.name}")

    return in_order(
        partial(_cell, options=replace(options, workers=1), root=root),
        ((matrix.select((name,)), name) for matrix, name in wanted),
        workers=options.workers,
        prefer="threads",
        look=tell,
        ready=compile_kernels,
    )


def _cell(one: Wanted, going_on: Progress, *, options: MixtureOptions, root: int) -> MixtureCell:
    """Make one of many cells."""
    return mixture_cell(*one, options, root=root, evidence=False, progress=going_on)


def _check(matrices: Sequence[PerformanceMatrix]) -> None:
    if not matrices:
        raise UsageError("there is nothing to fit: give at least one variant")
    names = [matrix.name for matrix in matrices]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"two variants have the name {name!r}", fix="give them different names"
            )
    for field in ("better", "unit"):
        kinds = {getattr(matrix, field): matrix.name for matrix in matrices}
        if len(kinds) > 1:
            (one, first), (other, second), *_ = kinds.items()
            raise AnalysisError(
                f"the two differ in '{field}': {one!r} and {other!r}",
                f"{first} against {second}",
                "compare values of one kind",
            )


def _check_any(found: Sequence[BenchmarkMixtures]) -> None:
    """Refuse to report when nothing could be fitted."""
    cells = [cell for one in found for cell in one.cells]
    if all(cell.mixture is None for cell in cells):
        first = cells[0]
        raise AnalysisError(
            first.problem or "no mixture can be fitted", f"{first.variant}, {first.benchmark}"
        )


def _references(found: Sequence[BenchmarkMixtures]) -> tuple[str, ...]:
    said: dict[str, None] = {}
    for one in found:
        for cell in one.cells:
            for part in (cell.mixture, cell.fit_test, cell.evidence):
                said |= dict.fromkeys(() if part is None else part.references)
        if one.contest is not None:
            for pair in one.contest.pairs:
                said |= dict.fromkeys(pair.forward.references)
    return tuple(said)
