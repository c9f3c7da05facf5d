"""Mixtures of several metrics in words and pictures: clusters, how the metrics move together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ....pages import number_format as figures
from ....pages.model import (
    Block,
    Caution,
    Cell,
    Column,
    Figure as PageFigure,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    page_of,
)
from ....words import shorten
from ..model import BIC_MARGIN
from ..page import likelihood_and_bic
from .model import COUNTS, LEAST_CORRELATED, SIMPLEST, MixtureOfMetrics, listed
from .picture import MOST_DRAWN, plane_picture
from .report import PlaneCell, PlaneReport

if TYPE_CHECKING:
    from ....stats.samples import Array


_NEXT = 3  # candidates next to the best
_CELL, _LONG_CELL = 28, 40  # columns for names
_IN_HEADINGS = 24  # letters of all metrics that the headings of a table have room for

_VOLUME = {"E": "equal size", "V": "sizes of their own"}
_SHAPE = {"E": "equal shape", "V": "shapes of their own"}
_AXES = {"E": "equal tilt", "V": "tilts of their own", "I": "no tilt"}
_ONE = {"EII": "a circle", "EEI": "an ellipse, no tilt", "EEE": "an ellipse"}
_SOLID = {"circle": "sphere", "ellipse": "ellipsoid"}


def meaning(model: str) -> str:
    """Say in words what the components of a model share."""
    if model[1] == "I":
        return f"circles, {_VOLUME[model[0]]}"
    return f"ellipses, {_VOLUME[model[0]]}, {_SHAPE[model[1]]}, {_AXES[model[2]]}"


@page_of.register(MixtureOfMetrics)
def _mixture_page(mixture: MixtureOfMetrics) -> Page:
    return Page(
        title=f"Gaussian mixture of {listed(mixture.names)}",
        sections=(Section(_clusters(mixture, "clusters")),),
        cautions=mixture.cautions,
    )


@page_of.register(PlaneCell)
def _plane_cell_page(cell: PlaneCell) -> Page:
    units = () if cell.pairs is None else cell.pairs.units
    count = "Several" if cell.pairs is None else COUNTS[len(units)].capitalize()
    return Page(
        title=f"{count} metrics of {cell.variant} on {cell.benchmark}",
        sections=(_cell(cell, units, 1),),
        cautions=(*cell.cautions, *_of_mixture(cell)),
    )


@page_of.register(PlaneReport)
def _plane_report_page(report: PlaneReport) -> Page:
    both = listed(
        [
            f"{name} ({unit})" if figures.unit_text(unit) else name
            for name, unit in zip(report.metrics, report.units, strict=True)
        ]
    )
    head = Section((Sentence(f"{both} of the same runs"),))
    cells: tuple[Section, ...] = (_lines(report),)
    cautions = report.cautions
    if report.detailed:
        cells = tuple(_cell(cell, report.units, k) for k, cell in enumerate(report.cells, 1))
        cautions += tuple(caution for cell in report.cells for caution in _of_mixture(cell))
    return Page(title=f"Clusters of {both}", sections=(head, *cells), cautions=cautions)


# ---- cells


def _of_mixture(cell: PlaneCell) -> Iterator[Caution]:
    if cell.mixture is not None:
        name = f"{cell.benchmark} / {cell.variant}"
        yield from (caution.of(name) for caution in cell.mixture.cautions)


def _cell(cell: PlaneCell, units: tuple[str, ...], place: int) -> Section:
    name = " / ".join(shorten(one, _LONG_CELL) for one in (cell.benchmark, cell.variant))
    if cell.mixture is None or cell.pairs is None:
        return Section((Sentence(f"{name}: {cell.problem}"),))
    blocks = _clusters(cell.mixture, f"clusters-{place}")
    if len(cell.mixture.names) > MOST_DRAWN:
        return Section(blocks, title=name)
    picture = PageFigure(
        name=f"plane-{place}",
        alt=f"runs of {cell.variant} on {cell.benchmark} by cluster, with an ellipse around half and "
        "around 95 % of each cluster",
        draw=partial(plane_picture, cell.mixture, cell.pairs.values, units=units),
    )
    return Section((*blocks, picture), title=name)


def _lines(report: PlaneReport) -> Section:
    """Set a line for each cell, then what the columns mean, then why cells have no fit."""
    rows: list[tuple[Cell, ...]] = []
    benchmark = None
    for cell in report.cells:
        name = "" if cell.benchmark == benchmark else shorten(cell.benchmark, _CELL)
        benchmark = cell.benchmark
        size = Value(f"{cell.n}", cell.n)
        rows.append((name, shorten(cell.variant, _CELL), size, *_fit(cell.mixture)))
    table = Table(
        name="cells",
        columns=(
            *(Column("benchmark", "left"), Column("variant", "left"), Column("runs")),
            *(Column("clusters"), Column("r within"), Column("r overall")),
        ),
        rows=tuple(rows),
    )
    which = "" if len(report.metrics) == 2 else " (of the two that do most)"
    note = (
        f"r within: how the metrics move together inside clusters{which}, r overall: in all runs; "
        "--benchmark NAME gives a benchmark's clusters"
    )
    problems = dict.fromkeys(
        f"{cell.benchmark} / {cell.variant}: {cell.problem}"
        for cell in report.cells
        if cell.problem is not None
    )
    told = (note, *list(problems)[:8])  # cells without a fit of which the reason is said
    return Section((table, *(Sentence(text) for text in told)))


def _fit(mixture: MixtureOfMetrics | None) -> tuple[Cell, ...]:
    if mixture is None:
        return ("none", "", "")
    k, within = mixture.components, mixture.within_correlation()
    alone = bool(mixture.sparse.all())
    return (
        Value(f"{k}", k),
        "-" if alone else _strongest(within, mixture),
        ""
        if mixture.overall_correlation is None
        else _strongest(mixture.overall_correlation, mixture),
    )


def _strongest(r: float | Array, mixture: MixtureOfMetrics) -> Value:
    """Show a correlation; of several the one that is largest in size, with its metrics."""
    if isinstance(r, float):
        return Value(f"{r:z.3f}", r)
    names = [shorten(name, 10) for name in mixture.names]
    i, j = max(combinations(range(len(names)), 2), key=lambda pair: abs(float(r[pair])))
    return Value(f"{r[i, j]:z.3f} {names[i]}, {names[j]}", float(r[i, j]))


# ---- a mixture


def _clusters(mixture: MixtureOfMetrics, table: str) -> tuple[Block, ...]:
    """Set the answer, and below it the table of the clusters with the best candidates."""
    names = _names(mixture)
    below: list[Block] = []
    if len(names) > 2:
        below += [_long_table(mixture, table, names), _correlations(mixture, f"{table}-r", names)]
    else:
        short = sum(map(len, names)) > _IN_HEADINGS
        if short:
            below.append(Sentence(f"1: {names[0]}, 2: {names[1]}"))
        below.append(_table(mixture, table, ["1", "2"] if short else names))
    if mixture.sparse.any():
        told = f"a cluster of fewer than {LEAST_CORRELATED} runs tells no correlation"
        below.append(Sentence(f"r -: {told}"))
    if mixture.bic is not None and mixture.log_likelihood is not None:
        said = likelihood_and_bic(mixture.log_likelihood, mixture.bic)
        nearest = ", ".join(_next(mixture))
        below.append(Sentence(f"{said}; next: {nearest}" if nearest else said))
    return (Sentence(_headline(mixture)), Sentence(_relation(mixture)), Section(tuple(below)))


def _names(mixture: MixtureOfMetrics) -> list[str]:
    return [shorten(name, 20) for name in mixture.names]


def _headline(mixture: MixtureOfMetrics) -> str:
    k, names = mixture.components, listed(_names(mixture))
    count = COUNTS[k] if k < len(COUNTS) else str(k)
    clusters = f"{count} cluster{'s' * (k > 1)}"
    if mixture.n is None:
        return f"a mixture of {clusters} of {names}"
    verb = "describe" if k > 1 else "describes"
    kind = _ONE[mixture.model] if k == 1 else meaning(mixture.model)
    if len(mixture.names) > 2:
        for flat, solid in _SOLID.items():
            kind = kind.replace(flat, solid)
    return (
        f"{clusters} {verb} these {mixture.n} runs of {names} best (model {mixture.model}: {kind})"
    )


def _relation(mixture: MixtureOfMetrics) -> str:
    """Say how the metrics vary together: within the clusters, and over all."""
    where = "within the clusters " if mixture.components > 1 else ""
    said = f"{where}{listed(_names(mixture))} are "
    if not mixture.correlated:
        said += "uncorrelated (r = 0 in this model)"
    elif mixture.sparse.all():
        said += (
            f"correlated in this model, but no cluster has the {LEAST_CORRELATED} runs that tell r"
        )
    elif len(mixture.names) > 2:
        said += "correlated"
    else:
        r = mixture.correlations[~mixture.sparse]
        alike = float(r.max() - r.min()) < 5e-4
        values = f"{r[0]:z.3f}" if alike else ", ".join(f"{value:z.3f}" for value in r)
        said += f"correlated: r = {values}"
        if mixture.sparse.any():
            said += f" (those of at least {LEAST_CORRELATED} runs)"
    lead = _lead(mixture)
    if lead is not None:
        other = "correlation" if not mixture.correlated else "no correlation"
        said += f"; BIC prefers this to {other} by {figures.significant(lead)}"
        if lead < BIC_MARGIN:
            said += ", which is next to nothing"
        if any(caution.code == "metric-ties" for caution in mixture.cautions):
            said += ", which is no evidence: a metric has few distinct values"
    if mixture.components > 1:
        whole = mixture.overall_correlation
        if whole is None:
            whole = mixture.correlation()
        if isinstance(whole, float):
            said += f"; over all clusters r = {whole:z.3f}"
    return said


def _lead(mixture: MixtureOfMetrics) -> float | None:
    """Give how far the best model of the other kind, correlated or not, stays behind in BIC."""
    if mixture.bic is None:
        return None
    others = [
        value for model, _, value in _candidates(mixture) if (model[2] != "I") != mixture.correlated
    ]
    return mixture.bic - max(others) if others else None


def _candidates(mixture: MixtureOfMetrics) -> Iterator[tuple[str, int, float]]:
    """Give model, number of clusters and BIC of all that could be fitted."""
    for model, row in (mixture.bic_table or {}).items():
        yield from ((model, k, value) for k, value in enumerate(row, 1) if math.isfinite(value))


def _table(mixture: MixtureOfMetrics, name: str, metrics: list[str]) -> Table:
    spread = np.sqrt(np.diagonal(mixture.covariances, axis1=1, axis2=2))
    rows: list[tuple[Cell, ...]] = []
    for k in range(mixture.components):
        weight, r = float(mixture.weights[k]), float(mixture.correlations[k])
        row: list[Cell] = [Value(f"{k}", k), Value(f"{weight:.4f}", weight)]
        for mean, sd in zip(mixture.means[k].tolist(), spread[k].tolist(), strict=True):
            row += [Value(f"{mean:.7g}", mean), Value(figures.significant(sd, 4), sd)]
        row.append(_r(r, mixture, k))
        rows.append(tuple(row))
    of_metrics = (f"{what} {metric}" for metric in metrics for what in ("mean", "sd"))
    headings = ("cluster", "weight", *of_metrics, "r")
    return Table(name=name, columns=tuple(map(Column, headings)), rows=tuple(rows))


def _r(r: float, mixture: MixtureOfMetrics, k: int) -> Cell:
    """Show a correlation within a cluster, where it has the runs for one."""
    if not mixture.correlated:
        return Value("0", r)
    return "-" if mixture.sparse[k] else Value(f"{r:z.3f}", r)


def _long_table(mixture: MixtureOfMetrics, name: str, metrics: list[str]) -> Table:
    """Set a line for each cluster and metric."""
    rows: list[tuple[Cell, ...]] = []
    for k in range(mixture.components):
        head: tuple[Cell, Cell] = (
            Value(f"{k}", k),
            Value(f"{mixture.weights[k]:.4f}", float(mixture.weights[k])),
        )
        spread = np.sqrt(np.diag(mixture.covariances[k])).tolist()
        for metric, mean, sd in zip(metrics, mixture.means[k].tolist(), spread, strict=True):
            shown = (metric, Value(f"{mean:.7g}", mean), Value(figures.significant(sd, 4), sd))
            rows.append((*head, *shown))
            head = ("", "")
    columns = (
        *(Column("cluster"), Column("weight"), Column("metric", "left")),
        *(Column("mean"), Column("sd")),
    )
    return Table(name=name, columns=columns, rows=tuple(rows))


def _correlations(mixture: MixtureOfMetrics, name: str, metrics: list[str]) -> Table:
    """Set a line for each two metrics: r within each cluster, and of all runs."""
    whole = mixture.overall_correlation
    if whole is None:
        whole = mixture.correlation()
    assert not isinstance(whole, float)
    rows: list[tuple[Cell, ...]] = []
    for i, j in combinations(range(len(metrics)), 2):
        within = (
            _r(float(mixture.correlations[k, i, j]), mixture, k) for k in range(mixture.components)
        )
        over = Value(f"{whole[i, j]:z.3f}", float(whole[i, j]))
        rows.append((f"{metrics[i]}, {metrics[j]}", *within, over))
    headings = (*(f"r in {k}" for k in range(mixture.components)), "r of all")
    columns = (Column("metrics", "left"), *map(Column, headings))
    return Table(name=name, columns=columns, rows=tuple(rows))


def _next(mixture: MixtureOfMetrics) -> list[str]:
    """Name the candidates that come next to the best."""
    chosen = (mixture.model, mixture.components)
    ranked = sorted(
        (-value, k, model)
        for model, k, value in _candidates(mixture)
        if (model, k) != chosen and (k > 1 or model in SIMPLEST)
    )
    return [f"{model} with {k} {-value:.6g}" for value, k, model in ranked[:_NEXT]]
