"""Mixtures of several metrics in words and pictures: clusters, how the metrics move together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...data.trial import Trial, energy_cautions, require_steady
from ...data.trial_cautions import constant_cautions
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Caution,
    Cell,
    Figure,
    Page,
    Section,
    Table,
    Value,
    cautions_of,
    merged,
    page,
    section,
    table_of,
)
from ...pages.result import Result, plain
from ...plots.axes import Axes, Key, Picture, Scale, Sheet, quantity_axis
from ...plots.chart import arranged
from ...plots.marks import COLOURS
from ...stats.arguments import checks_arguments, numbers
from ...stats.samples import Array, Flags, Indices, Integers, read_only
from .metrics_fit import (
    COUNTS,
    LEAST_CORRELATED,
    MOST_METRICS,
    SIMPLEST,
    MixtureOfMetrics,
    fit_mixture_of_metrics,
    listed,
    spreads_of,
)
from .model import BIC_MARGIN

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# --- Runs by cluster, a panel for each two metrics, with the ellipses of their mixture.

_SHEET = Sheet(width=193.0)
_MARKS = ("circle", "square", "up", "diamond", "down", "left", "right", "fat-plus")
MOST_DRAWN = 4  # metrics; a picture has a panel for each two of them


def plane_picture(
    mixture: MixtureOfMetrics, values_xy: ArrayLike, *, units: Sequence[str] = ()
) -> Picture:
    """Draw the runs by cluster with an ellipse around half and around 95 % of each cluster.

    Colour, mark and dashes tell the clusters apart, so that the picture can be read in grey. More
    than two metrics have a panel for each two of them.
    """
    runs, d = numbers(values_xy, "the values", dimensions=None), len(mixture.names)
    if runs.ndim != 2 or runs.shape[1] != d or not len(runs):
        raise UsageError(f"a picture needs {d} values of each run, not the shape {runs.shape}")
    if d > MOST_DRAWN:
        raise UsageError(
            f"a picture shows at most {MOST_DRAWN} metrics, and there are {d}",
            fix="fit fewer, or read the table of correlations",
        )
    units = units or ("",) * d
    clusters = mixture.classify(runs)
    if d == 2:
        return arranged(_SHEET, [[_panel(mixture, runs, clusters, units, (0, 1))]], 142.0)
    rows = [
        [_panel(mixture, runs, clusters, units, (i, j)) if i < j else None for i in range(d - 1)]
        for j in range(1, d)
    ]
    return arranged(_SHEET, rows, 70.0 * (d - 1), title=_title(mixture))


def _panel(
    mixture: MixtureOfMetrics,
    runs: Array,
    clusters: Indices,
    units: Sequence[str],
    two: tuple[int, int],
) -> Axes:
    pairs = runs[:, list(two)]
    components = range(mixture.components)
    rings = [[ellipse(mixture, k, share, two) for share in (0.5, 0.95)] for k in components]
    every = np.vstack([pairs, *(ring for both in rings for ring in both)])
    low, high = every.min(axis=0), every.max(axis=0)
    room = 0.05 * (high - low)
    names = [f"{mixture.names[j]:.40}" for j in two]
    alone = len(mixture.names) == 2
    axes = Axes(x_label=names[0], y_label=names[1], title=_title(mixture) if alone else "")
    for k, side in enumerate("xy"):
        scale = Scale(float(low[k] - room[k]), float(high[k] + room[k]))
        quantity_axis(axes, side, scale, units[two[k]] or "1", most=7 if alone else 4)
    for k in components:
        place = k % len(COLOURS)
        css, shape = f"c{place} d{place}", _MARKS[k % len(_MARKS)]
        found = alone and mixture.correlated and not mixture.sparse[k]
        r = f", r = {mixture.correlations[k]:.2f}" if found else ""
        if alone or two == (0, 1):
            axes.keys.append(Key(f"cluster {k}: {mixture.weights[k]:.0%}{r}", css, shape))
        x, y = pairs[clusters == k].T
        axes.spots(x, y, f"{css} dense edged", r=2.2, shape=shape)
        for ring, width in zip(rings[k], ("curve", "line"), strict=True):
            axes.curve(ring[:, 0], ring[:, 1], f"{css} {width}")
        across, up = mixture.means[k][list(two)].tolist()
        axes.spots(across, up, "ink rim", r=4.5, shape="plus")
    return axes


def ellipse(
    mixture: MixtureOfMetrics, k: int, share: float, two: tuple[int, int] = (0, 1)
) -> Array:
    """Give the corners, shape (181, 2), of the ellipse that holds this share of two metrics."""
    radius = math.sqrt(-2 * math.log1p(-share))  # the squared distance is exponential in the plane
    angle = np.linspace(0, 2 * np.pi, 181)
    covariance = mixture.covariances[k][np.ix_(two, two)]
    spread = spreads_of(covariance)
    # of the correlation matrix: its factor does not suffer from unlike units
    lower = np.linalg.cholesky(covariance / spread[:, None] / spread)
    circle = np.array([np.cos(angle), np.sin(angle)])
    return np.asarray(mixture.means[k][list(two)] + radius * (lower @ circle).T * spread)


def _title(mixture: MixtureOfMetrics) -> str:
    k = mixture.components
    text = f"{k} cluster{'s' * (k > 1)} ({mixture.model}); ellipses hold 50 % and 95 % of each"
    if isinstance(mixture.overall_correlation, float):
        text += f"; over all r = {mixture.overall_correlation:.2f}"
    return text


# --- Metrics of the same runs, cell by cell: which clusters they form, how they move together.


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


@checks_arguments
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
        text = f"a mixture takes at most {MOST_METRICS} metrics, and there are {len(metrics)}"
        raise UsageError(text, str(trial.path), "leave out metrics that others tell")
    for name, known, what in (
        (variant, trial.manifest.variants, "variant"),
        (benchmark, trial.manifest.benchmarks, "benchmark"),
    ):
        if name not in known:
            fix = f"known here: {', '.join(map(format, known))}"
            raise UsageError(f"the trial has no {what} {name!r}", str(trial.path), fix)
    cell = trial.of_variant(variant)
    cell &= trial.benchmark == trial.manifest.benchmarks.index(benchmark)
    columns = np.column_stack([trial.values(name) for name in metrics])
    complete: Flags = np.asarray(np.isfinite(columns).all(axis=1))
    counted = cell & trial.measured & complete
    used = np.flatnonzero(counted)
    for name in metrics:
        require_steady(trial, name, counted)
    if used.size == 0:
        both = f"{'both' if len(metrics) == 2 else 'all of'} {listed(metrics)}"
        what, fix = f"no run of {variant!r} on {benchmark!r} has {both}", "look at the failed runs"
        where = str(trial.path)
        raise InsufficientDataError(what, where, f"measure more, or {fix}", n=0, needed=1)
    return MetricPairs(
        values=read_only(columns[used]),
        names=tuple(metrics),
        units=tuple(one.unit for one in info),
        positions=read_only(trial.planned_position[used]),
        cautions=_cautions(trial, cell, complete, metrics),
    )


def _cautions(
    trial: Trial, cell: Flags, complete: Flags, metrics: Sequence[str]
) -> tuple[Caution, ...]:
    """Say what was left out, and what the values cannot tell."""
    judged = np.asarray(np.all([trial.judged(name) for name in metrics], axis=0))
    warm, failed, without = (
        figures.counted(int(which.sum()), noun) if which.any() else ""
        for which, noun in (
            (cell & trial.warmup, "warm-up run"),
            (cell & trial.candidates & (trial.outcome != 0), "failed run"),
            (cell & judged & ~complete, "run"),
        )
    )
    found = cautions_of(
        {
            "warm-up-left-out": warm != "" and f"{warm} left out",
            "failed-left-out": failed != "" and f"{failed} left out",
            "metric-missing": without != "" and f"{without} without one of the values",
        }
    )
    counted = cell & trial.measured & complete
    for name in metrics:
        floored = int(trial.at_floor(name)[counted].sum())
        floor = Caution(
            "floored",
            f"{floored} values of {name} say only 'at most the launcher's floor': "
            "they are no memory of the program, and their correlation with time means nothing",
        )
        found += (*energy_cautions(trial, name, counted), *((floor,) if floored else ()))
    return (*constant_cautions(trial), *found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaneCell(Result):
    """One variant on one benchmark; `mixture` is None where no fit exists, and `problem` says why.

    `cautions` say what was left out of the values; the mixture has cautions of its own.
    """

    method: ClassVar[str] = "mixture-2d-cell"
    unlisted: ClassVar[frozenset[str]] = frozenset({"pairs"})

    benchmark: str
    variant: str
    pairs: MetricPairs | None = None
    mixture: MixtureOfMetrics | None = None
    problem: str | None = None

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

    def screen(self) -> Page:
        """Set the cell alone."""
        units = () if self.pairs is None else self.pairs.units
        count = "Several" if self.pairs is None else COUNTS[len(units)].capitalize()
        return Page(
            title=f"{count} metrics of {self.variant} on {self.benchmark}",
            sections=(self.detail(1),),
            cautions=(*self.cautions, *self.of_mixture()),
        )

    def of_mixture(self) -> Iterator[Caution]:
        """Give the cautions of the mixture, said of the cell."""
        if self.mixture is not None:
            name = f"{self.benchmark} / {self.variant}"
            yield from (caution.of(name) for caution in self.mixture.cautions)

    def detail(self, place: int) -> Section:
        """Set the clusters and their picture; `place` counts the cells of a page."""
        name = f"{self.benchmark:.40} / {self.variant:.40}"
        if self.mixture is None or self.pairs is None:
            return section(f"{name}: {self.problem}")
        blocks = _clusters(self.mixture, f"clusters-{place}")
        if len(self.mixture.names) <= MOST_DRAWN:
            alt = (
                f"runs of {self.variant} on {self.benchmark} by cluster, with an ellipse around half and "
                "around 95 % of each cluster"
            )
            draw = partial(plane_picture, self.mixture, self.pairs.values, units=self.pairs.units)
            blocks.append(Figure(name=f"plane-{place}", alt=alt, draw=draw))
        return section(*blocks, title=name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaneReport(Result):
    """Mixtures of several metrics for each benchmark and variant."""

    method: ClassVar[str] = "mixture-2d"
    unlisted: ClassVar[frozenset[str]] = frozenset({"detailed"})

    metrics: tuple[str, ...]
    units: tuple[str, ...]
    cells: tuple[PlaneCell, ...]
    detailed: bool

    def screen(self) -> Page:
        """Set each cell, or a line for each."""
        pairs = zip(self.metrics, self.units, strict=True)
        both = listed(
            [f"{name} ({unit})" if figures.unit_text(unit) else name for name, unit in pairs]
        )
        cells, cautions = [self._lines()], self.cautions
        if self.detailed:
            cells = [cell.detail(k) for k, cell in enumerate(self.cells, 1)]
            cautions += tuple(caution for cell in self.cells for caution in cell.of_mixture())
        head = section(f"{both} of the same runs")
        return Page(title=f"Clusters of {both}", sections=(head, *cells), cautions=cautions)

    def _lines(self) -> Section:
        """Set a line for each cell, then what the columns mean, then why cells have no fit."""
        first: dict[str, PlaneCell] = {}  # whose benchmark is named
        for cell in self.cells:
            first.setdefault(cell.benchmark, cell)
        table = table_of(
            "cells",
            self.cells,
            ("@benchmark", lambda c: c.benchmark if first[c.benchmark] is c else ""),
            ("@variant", "variant"),
            ("runs", "n"),
            ("clusters", lambda cell: "none" if cell.mixture is None else cell.mixture.components),
            ("r within", lambda cell: _strongest(cell.mixture, within=True)),
            ("r overall", lambda cell: _strongest(cell.mixture, within=False)),
        )
        which = "" if len(self.metrics) == 2 else " (of the two that do most)"
        note = (
            f"r within: how the metrics move together inside clusters{which}, r overall: in all runs; "
            "--benchmark NAME gives a benchmark's clusters"
        )
        of = ((f"{cell.benchmark} / {cell.variant}", cell.problem) for cell in self.cells)
        problems = dict.fromkeys(f"{name}: {problem}" for name, problem in of if problem)
        return section(table, note, *list(problems)[:8])  # cells without a fit whose reason is said


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
        fix = f"known: {', '.join(map(format, known))}"
        raise UsageError(f"there is no benchmark {benchmark!r}", fix=fix)
    infos = {tuple(trial.metric(name).unit for name in metrics) for trial, _ in trials}
    if len(infos) > 1:
        raise AnalysisError("the trials differ in the metrics' units", fix="take one at a time")
    wanted = [
        (trial, name, variant)
        for name in known
        if benchmark in (None, name)
        for trial, variants in trials
        if name in trial.manifest.benchmarks
        for variant in variants
    ]
    cells = []
    for done, (trial, name, variant) in enumerate(wanted):
        if progress is not None:
            progress(done, len(wanted), f"{name} / {variant}")
        cell = PlaneCell(benchmark=name, variant=variant)
        try:
            pairs = pairs_of_runs(trial, variant, name, metrics=metrics)
            cell = replace(cell, pairs=pairs, cautions=pairs.cautions)
            how: dict[str, Any] = {"max_components": max_components, "units": "spread"}
            fitted = fit_mixture_of_metrics(pairs.values, names=metrics, **how)
            cell = replace(cell, mixture=fitted)
        except AnalysisError as error:
            cell = replace(cell, problem=error.what)
        cells.append(cell)
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


_NEXT = 3  # candidates next to the best
_IN_HEADINGS = 24  # letters of all metrics that the headings of a table have room for

_VOLUME = {"E": "equal size", "V": "sizes of their own"}
_SHAPE = {"E": "equal shape", "V": "shapes of their own"}
_AXES = {"E": "equal tilt", "V": "tilts of their own", "I": "no tilt"}


def meaning(model: str) -> str:
    """Say in words what the components of a model share."""
    if model[1] == "I":
        return f"circles, {_VOLUME[model[0]]}"
    return f"ellipses, {_VOLUME[model[0]]}, {_SHAPE[model[1]]}, {_AXES[model[2]]}"


def screen(mixture: MixtureOfMetrics) -> Page:
    """Set the clusters alone."""
    clusters = section(*_clusters(mixture, "clusters"))
    return page(mixture, f"Gaussian mixture of {listed(mixture.names)}", clusters)


def _strongest(mixture: MixtureOfMetrics | None, *, within: bool) -> Cell:
    """Show a correlation; of several the one that is largest in size, with its metrics."""
    if mixture is None:
        return ""
    if within and mixture.sparse.all():
        return "-"
    r = mixture.within_correlation() if within else mixture.overall_correlation
    if r is None:
        return ""
    if isinstance(r, float):
        return Value(f"{r:z.3f}", r)
    names = [f"{name:.10}" for name in mixture.names]
    i, j = max(combinations(range(len(names)), 2), key=lambda pair: abs(float(r[pair])))
    return Value(f"{r[i, j]:z.3f} {names[i]}, {names[j]}", float(r[i, j]))


def _clusters(mixture: MixtureOfMetrics, table: str) -> list[Block | str]:
    """Set the answer, and below it the table of the clusters with the best candidates."""
    names = [f"{name:.20}" for name in mixture.names]
    below: list[Block | str] = []
    if len(names) > 2:
        below += [_long_table(mixture, table, names), _correlations(mixture, f"{table}-r", names)]
    else:
        short = sum(map(len, names)) > _IN_HEADINGS
        if short:
            below.append(f"1: {names[0]}, 2: {names[1]}")
        below.append(_table(mixture, table, ["1", "2"] if short else names))
    if mixture.sparse.any():
        below.append(f"r -: a cluster of fewer than {LEAST_CORRELATED} runs tells no correlation")
    chosen = (mixture.model, mixture.components)
    ranked = sorted(
        (-value, k, model)
        for model, k, value in _candidates(mixture)
        if (model, k) != chosen and (k > 1 or model in SIMPLEST)
    )
    nearest = ", ".join(f"{model} with {k} {-bic:.6g}" for bic, k, model in ranked[:_NEXT])
    below += mixture.likelihood_and_bic(f"; next: {nearest}" if nearest else "")
    text = listed(names)
    return [_headline(mixture, text), _relation(mixture, text), section(*below)]


def _headline(mixture: MixtureOfMetrics, names: str) -> str:
    k, model = mixture.components, mixture.model
    count = COUNTS[k] if k < len(COUNTS) else str(k)
    clusters = f"{count} cluster{'s' * (k > 1)}"
    if mixture.n is None:
        return f"a mixture of {clusters} of {names}"
    kind = meaning(model)
    if k == 1:
        kind = "an ellipse, no tilt" if model[2] == "I" else "an ellipse"
        kind = "a circle" if model[1] == "I" else kind
    if len(mixture.names) > 2:
        kind = kind.replace("circle", "sphere").replace("ellipse", "ellipsoid")
    verb = "describe" if k > 1 else "describes"
    return f"{clusters} {verb} these {mixture.n} runs of {names} best (model {model}: {kind})"


def _relation(mixture: MixtureOfMetrics, names: str) -> str:
    """Say how the metrics vary together: within the clusters, and over all."""
    text = f"{'within the clusters ' if mixture.components > 1 else ''}{names} are "
    if not mixture.correlated:
        text += "uncorrelated (r = 0 in this model)"
    elif mixture.sparse.all():
        text += (
            f"correlated in this model, but no cluster has the {LEAST_CORRELATED} runs that tell r"
        )
    elif len(mixture.names) > 2:
        text += "correlated"
    else:
        r = mixture.correlations[~mixture.sparse]
        alike = float(r.max() - r.min()) < 5e-4
        values = f"{r[0]:z.3f}" if alike else ", ".join(f"{value:z.3f}" for value in r)
        text += f"correlated: r = {values}"
        if mixture.sparse.any():
            text += f" (those of at least {LEAST_CORRELATED} runs)"
    bics = (
        value for model, _, value in _candidates(mixture) if (model[2] != "I") != mixture.correlated
    )  # of the other kind, correlated or not
    best = max(bics, default=None)
    if mixture.bic is not None and best is not None:
        lead = mixture.bic - best
        other = "correlation" if not mixture.correlated else "no correlation"
        text += f"; BIC prefers this to {other} by {figures.significant(lead)}"
        if lead < BIC_MARGIN:
            text += ", which is next to nothing"
        if any(caution.code == "metric-ties" for caution in mixture.cautions):
            text += ", which is no evidence: a metric has few distinct values"
    if mixture.components > 1:
        whole = _whole(mixture)
        if isinstance(whole, float):
            text += f"; over all clusters r = {whole:z.3f}"
    return text


def _whole(mixture: MixtureOfMetrics) -> float | Array:
    whole = mixture.overall_correlation
    return mixture.correlation() if whole is None else whole


def _candidates(mixture: MixtureOfMetrics) -> Iterator[tuple[str, int, float]]:
    for model, row in (mixture.bic_table or {}).items():
        yield from ((model, k, value) for k, value in enumerate(row, 1) if math.isfinite(value))


_FOUR = partial(figures.significant, digits=4)


def _table(mixture: MixtureOfMetrics, name: str, metrics: list[str]) -> Table:
    spreads = spreads_of(mixture.covariances)
    columns = (("mean", mixture.means, "{:.7g}".format), ("sd", spreads, _FOUR))
    return table_of(
        name,
        range(mixture.components),
        ("cluster", int),
        ("weight", mixture.weights.item, "{:.4f}".format),
        *(
            (f"{what} {metric}", column[:, j].item, write)
            for j, metric in enumerate(metrics)
            for what, column, write in columns
        ),
        ("r", lambda k: _r(float(mixture.correlations[k]), mixture, k)),
    )


def _r(r: float, mixture: MixtureOfMetrics, k: int) -> Cell:
    """Show a correlation within a cluster, where it has the runs for one."""
    if not mixture.correlated:
        return Value("0", r)
    return "-" if mixture.sparse[k] else Value(f"{r:z.3f}", r)


def _long_table(mixture: MixtureOfMetrics, name: str, metrics: list[str]) -> Table:
    return table_of(
        name,
        product(range(mixture.components), range(len(metrics))),
        ("cluster", lambda at: "" if at[1] else at[0]),
        ("weight", lambda at: "" if at[1] else float(mixture.weights[at[0]]), "{:.4f}".format),
        ("<metric", lambda at: metrics[at[1]]),
        ("mean", mixture.means.item, "{:.7g}".format),
        ("sd", spreads_of(mixture.covariances).item, _FOUR),
    )


def _correlations(mixture: MixtureOfMetrics, name: str, metrics: list[str]) -> Table:
    """Set a line for each two metrics: r within each cluster, and of all runs."""
    whole, clusters = np.asarray(_whole(mixture)), range(mixture.components)
    return table_of(
        name,
        combinations(range(len(metrics)), 2),
        ("<metrics", lambda two: f"{metrics[two[0]]}, {metrics[two[1]]}"),
        *(
            (f"r in {k}", lambda two, k=k: _r(float(mixture.correlations[k, *two]), mixture, k))
            for k in clusters
        ),
        ("r of all", lambda two: float(whole[two]), "{:z.3f}".format),
    )
