"""Metrics of the same runs, cell by cell: which clusters they form, how they move together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....data.trial import Trial
from ....data.trial_cautions import always_said
from ....data.variant_runs import energy_cautions, require_steady
from ....errors import AnalysisError, InsufficientDataError, UsageError
from ....pages.model import Caution, merged
from ....pages.result import Result, plain
from ....stats.arguments import door
from ....stats.samples import read_only
from .fit import MOST_METRICS, fit_mixture_of_metrics
from .model import listed

if TYPE_CHECKING:
    from ....stats.samples import Array, Flags, Integers
    from .model import MixtureOfMetrics


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MetricPairs:
    """Metrics of the same runs, a row a run, in the order of execution.

    `values` has shape (n, d), in `units`; `positions` says which runs of the trial they are;
    `cautions` what was left out and what the values cannot tell.
    """

    values: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    positions: Integers
    cautions: tuple[Caution, ...]


@door
def pairs_of_runs(
    trial: Trial, variant: str, benchmark: str, *, metrics: Sequence[str] = ("wall", "max_rss")
) -> MetricPairs:
    """Give the metrics of every run of one cell that counts and has all of them.

    Warm-ups, failed runs, and runs without one of the values are left out, so that a row is always
    one run. A run's value of a metric with several iterations is their mean.

    Parameters
    ----------
    trial : Trial
    variant, benchmark : str
    metrics : sequence of two to eight str
        Metrics that every run has, such as these two, or metrics parsed from output. Seconds and
        bytes differ much as numbers: fit them with ``units="spread"``.

    Raises
    ------
    UsageError
        If a name is unknown, or a metric stands twice.
    InsufficientDataError
        If no run has all.
    """
    info = [trial.metric(name) for name in metrics]
    if len(metrics) < 2 or len(set(metrics)) < len(metrics):
        what = "pairs need two" if len(metrics) <= 2 else "clusters of several metrics need"
        raise UsageError(f"{what} different metrics", str(trial.path))
    if len(metrics) > MOST_METRICS:
        said = f"a mixture takes at most {MOST_METRICS} metrics, and there are {len(metrics)}"
        raise UsageError(said, str(trial.path), "leave out metrics that others tell")
    for name, known, what in (
        (variant, trial.manifest.variants, "variant"),
        (benchmark, trial.manifest.benchmarks, "benchmark"),
    ):
        if name not in known:
            fix = f"known here: {', '.join(known)}"
            raise UsageError(f"the trial has no {what} {name!r}", str(trial.path), fix)
    cell = (trial.variant == trial.manifest.variants.index(variant)) & (
        trial.benchmark == trial.manifest.benchmarks.index(benchmark)
    )
    columns = np.column_stack([trial.values(name) for name in metrics])
    complete: Flags = np.asarray(np.isfinite(columns).all(axis=1))
    counted = cell & trial.measured & complete
    used = np.flatnonzero(counted)
    for name in metrics:
        require_steady(trial, name, counted)
    if used.size == 0:
        raise InsufficientDataError(
            f"no run of {variant!r} on {benchmark!r} has {'both' if len(metrics) == 2 else 'all of'} "
            f"{listed(metrics)}",
            str(trial.path),
            "measure more, or look at the failed runs",
            n=0,
            needed=1,
        )
    return MetricPairs(
        values=read_only(columns[used]),
        names=tuple(metrics),
        units=tuple(one.unit for one in info),
        positions=read_only(trial.planned_position[used]),
        cautions=tuple(_cautions(trial, cell, complete, metrics)),
    )


def _cautions(
    trial: Trial, cell: Flags, complete: Flags, metrics: Sequence[str]
) -> Iterator[Caution]:
    """Say what was left out, and what the values cannot tell."""
    yield from always_said(trial)
    failed = cell & trial.candidates & (trial.outcome != 0)
    judged = np.asarray(np.all([trial.judged(name) for name in metrics], axis=0))
    for code, which, text in (
        ("warm-up-left-out", cell & trial.warmup, "{} warm-up run{} left out"),
        ("failed-left-out", failed, "{} failed run{} left out"),
        ("metric-missing", cell & judged & ~complete, "{} run{} without one of the values"),
    ):
        if count := int(which.sum()):
            yield Caution(code, text.format(count, "s" * (count > 1)))
    counted = cell & trial.measured & complete
    for name in metrics:
        yield from energy_cautions(trial, name, counted)
        floored = int(trial.at_floor(name)[counted].sum())
        if floored:
            yield Caution(
                "floored",
                f"{floored} values of {name} say only 'at most the launcher's floor': "
                "they are no memory of the program, and their correlation with time means nothing",
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaneCell(Result):
    """One variant on one benchmark; `mixture` is None where no fit exists, and `problem` says why.

    `cautions` say what was left out of the values; the mixture has cautions of its own.
    """

    method: ClassVar[str] = "mixture-2d-cell"
    unlisted: ClassVar[frozenset[str]] = frozenset({"pairs"})

    benchmark: str
    variant: str
    pairs: MetricPairs | None
    mixture: MixtureOfMetrics | None
    problem: str | None

    @property
    def n(self) -> int:
        """The number of runs that have all values."""
        return 0 if self.pairs is None else len(self.pairs.values)

    def body(self) -> dict[str, Any]:
        """Add the number of runs, and the cluster of each."""
        of = None
        if self.mixture is not None and self.pairs is not None:
            of = self.mixture.classify(self.pairs.values)
        return {"n": self.n, "classification": plain(of), **Result.body(self)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaneReport(Result):
    """Mixtures of several metrics for each benchmark and variant."""

    method: ClassVar[str] = "mixture-2d"
    unlisted: ClassVar[frozenset[str]] = frozenset({"detailed"})

    metrics: tuple[str, ...]
    units: tuple[str, ...]
    cells: tuple[PlaneCell, ...]
    detailed: bool


def plane_report(
    trials: Sequence[tuple[Trial, Sequence[str]]],
    metrics: tuple[str, ...],
    *,
    benchmark: str | None = None,
    max_components: int = 9,
    progress: Callable[[int, int, str], None] | None = None,
) -> PlaneReport:
    """Fit mixtures of several metrics, each divided by its spread first, to every cell."""
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
    return PlaneReport(
        metrics=metrics,
        units=next(iter(infos)),
        cells=tuple(cells),
        detailed=detailed,
        cautions=merged(
            caution.of(trial.path.name) if several else caution
            for trial, caution in (*of_trials, *of_cells)
        ),
    )


def _cell(
    trial: Trial, variant: str, benchmark: str, metrics: tuple[str, ...], most: int
) -> PlaneCell:
    pairs, fitted, problem = None, None, None
    try:
        pairs = pairs_of_runs(trial, variant, benchmark, metrics=metrics)
        fitted = fit_mixture_of_metrics(
            pairs.values, max_components=most, names=metrics, units="spread"
        )
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
