"""Two metrics of the same runs, cell by cell: which clusters they form, and how they move together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ....data import Trial
from ....errors import AnalysisError, UsageError
from ....report import Result, merged, plain
from .fit import fit_mixture_2d
from .model import Mixture2d
from .pairs import Pairs, pairs_of_runs

__all__ = ["PlaneCell", "PlaneReport", "plane_report"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaneCell(Result):
    """One variant on one benchmark; `mixture` is None where no fit exists, and `problem` says why.

    `cautions` say what was left out of the values; the mixture has cautions of its own.
    """

    method: ClassVar[str] = "mixture-2d-cell"
    unlisted: ClassVar[frozenset[str]] = frozenset({"pairs"})

    benchmark: str
    variant: str
    pairs: Pairs | None
    mixture: Mixture2d | None
    problem: str | None

    @property
    def n(self) -> int:
        """The number of runs that have both values."""
        return 0 if self.pairs is None else len(self.pairs.values)

    def body(self) -> dict[str, Any]:
        """Add the number of runs, and the cluster of each."""
        of = None
        if self.mixture is not None and self.pairs is not None:
            of = self.mixture.classify(self.pairs.values)
        return {"n": self.n, "classification": plain(of), **Result.body(self)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaneReport(Result):
    """Mixtures of two metrics for each benchmark and variant."""

    method: ClassVar[str] = "mixture-2d"
    unlisted: ClassVar[frozenset[str]] = frozenset({"detailed"})

    metrics: tuple[str, str]
    units: tuple[str, str]
    cells: tuple[PlaneCell, ...]
    detailed: bool


def plane_report(
    trials: Sequence[tuple[Trial, Sequence[str]]],
    metrics: tuple[str, str],
    *,
    benchmark: str | None = None,
    max_components: int = 9,
    progress: Callable[[int, int, str], None] | None = None,
) -> PlaneReport:
    """Fit mixtures of two metrics, each divided by its spread first, to every cell.

    Parameters
    ----------
    trials : sequence of (Trial, variants)
        Which variants of which trials.
    metrics : tuple of two str
        Measured in the same runs.
    benchmark : str, optional
        Look at this one only.
    max_components : int
        The largest number of clusters tried.
    progress : callable, optional
        Called with the numbers of cells done and in all, and the name of the next.

    Raises
    ------
    UsageError
        If a metric is unknown or both are the same, or no trial has the benchmark.
    AnalysisError
        If no cell can be fitted.
    """
    known = list(dict.fromkeys(b for trial, _ in trials for b in trial.manifest.benchmarks))
    if benchmark is not None and benchmark not in known:
        raise UsageError(f"there is no benchmark {benchmark!r}", fix=f"known: {', '.join(known)}")
    infos = {tuple(trial.metric(name).unit for name in metrics) for trial, _ in trials}
    if len(infos) > 1:
        raise AnalysisError("the trials differ in the metrics' units", fix="take one at a time")
    wanted = [
        (trial, name, variant)
        for name in (known if benchmark is None else [benchmark])
        for trial, variants in trials
        if name in trial.manifest.benchmarks
        for variant in variants
    ]
    cells = []
    for done, (trial, name, variant) in enumerate(wanted):
        if progress is not None:
            progress(done, len(wanted), f"{name} / {variant}")
        cells.append(_cell(trial, variant, name, metrics, max_components))
    if all(cell.mixture is None for cell in cells):
        first = cells[0]
        raise AnalysisError(first.problem or "no fit", f"{first.benchmark} / {first.variant}")
    detailed = benchmark is not None or len(known) == 1
    of_cells = (
        (trial, caution.of(f"{cell.benchmark} / {cell.variant}"))
        for (trial, *_), cell in zip(wanted, cells, strict=True)
        for caution in cell.cautions
        if detailed or caution.code != "warm-up-left-out"
    )
    of_trials = ((trial, caution) for trial, _ in trials for caution in trial.cautions)
    several = len({trial.path for trial, _ in trials}) > 1
    first_unit, second_unit = next(iter(infos))
    return PlaneReport(
        metrics=metrics,
        units=(first_unit, second_unit),
        cells=tuple(cells),
        detailed=detailed,
        cautions=merged(
            caution.of(trial.path.name) if several else caution
            for trial, caution in (*of_trials, *of_cells)
        ),
    )


def _cell(
    trial: Trial, variant: str, benchmark: str, metrics: tuple[str, str], most: int
) -> PlaneCell:
    pairs, fitted, problem = None, None, None
    try:
        pairs = pairs_of_runs(trial, variant, benchmark, metrics=metrics)
        fitted = fit_mixture_2d(pairs.values, max_components=most, names=metrics, units="spread")
    except AnalysisError as error:
        problem = error.what
    return PlaneCell(
        benchmark=benchmark,
        variant=variant,
        pairs=pairs,
        mixture=fitted,
        problem=problem,
        cautions=() if pairs is None else pairs.cautions,
    )
