"""A biplot in words and as a picture: systems as points, benchmarks as arrows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from ...pages import number_format as figures
from ...pages.model import (
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
from ...stats.samples import Array
from ...words import shorten
from .fit import Biplot
from .picture import biplot_picture

_COMPONENTS = 8  # of which the shares are given
_ROWS = 30  # of a table of coordinates
_CORRELATED = 9  # benchmarks, up to which all correlations are given
_NAME_IN_TEXT = 32


@page_of.register(Biplot)
def _biplot_page(result: Biplot) -> Page:
    sections = [
        Section((Sentence(result.conclusion),)),
        Section((_figure(result),)),
        Section((_components(result),)),
        _coordinates("system", result.systems, "scores", result.scores, rank=result.rank),
        _coordinates("benchmark", result.benchmarks, "loadings", result.loadings, rank=result.rank),
    ]
    if len(result.benchmarks) > 1:
        sections.append(_correlations(result))
    n, p = len(result.systems), len(result.benchmarks)
    return Page(
        title=f"biplot of {n} systems over {p} benchmark{'s' * (p > 1)}",
        sections=tuple(sections),
        cautions=result.cautions,
    )


def _figure(result: Biplot) -> PageFigure:
    return PageFigure(
        name="biplot",
        alt=f"The systems {figures.listed(result.systems)} as points and the benchmarks "
        f"{figures.listed(result.benchmarks)} as arrows in the plane of the first two components; "
        "beside it bars of the variance that each component explains. The tables below give the "
        "coordinates",
        draw=partial(biplot_picture, result),
    )


def _components(result: Biplot) -> Table:
    count = min(result.rank, _COMPONENTS)
    rows = (
        ("share of the variance", result.explained),
        ("together", np.cumsum(result.explained)),
    )
    return Table(
        name="components",
        columns=(Column("", "left"), *_headings(count)),
        rows=tuple(
            (label, *(Value(f"{100 * share:.2f} %", share) for share in shares[:count].tolist()))
            for label, shares in rows
        ),
    )


def _headings(count: int) -> tuple[Column, ...]:
    return tuple(Column(f"PC{k + 1}") for k in range(count))


def _coordinates(kind: str, names: Sequence[str], what: str, table: Array, *, rank: int) -> Section:
    count = min(rank, 2)
    # where there are too many, those that lie farthest from the middle of the picture
    order = list(range(len(names)))
    if len(order) > _ROWS:
        far = np.hypot(table[:, 0], table[:, count - 1])
        order = sorted(np.argsort(-far, kind="stable")[:_ROWS].tolist())
    columns = [table[:, k].tolist() for k in range(count)]
    cells = [
        list(map(Value, _written(column, 3 if what == "loadings" else None), column))
        for column in columns
    ]
    rows: list[tuple[Cell, ...]] = [
        (shorten(names[k], _NAME_IN_TEXT), *(column[k] for column in cells)) for k in order
    ]
    block = Table(name=what, columns=(Column(kind, "left"), *_headings(count)), rows=tuple(rows))
    more = len(names) - len(order)
    if not more:
        return Section((block,), title=what)
    rest = Sentence(f"and {more} {kind}s nearer to the middle (--json gives all)")
    return Section((block, rest), title=what)


def _correlations(result: Biplot) -> Section:
    if len(result.benchmarks) > _CORRELATED:
        return _extreme_correlations(result)
    names = [shorten(name, 7) for name in result.benchmarks]
    rows: list[tuple[Cell, ...]] = []
    for name, row in zip(result.benchmarks, result.correlations.tolist(), strict=True):
        cells = ["-" if math.isnan(r) else Value(f"{r:.2f}", r) for r in row]
        rows.append((shorten(name, 16), *cells))
    columns = (Column("", "left"), *map(Column, names))
    table = Table(name="correlations", columns=columns, rows=tuple(rows))
    return Section((table,), title="correlations of the benchmarks")


def _extreme_correlations(result: Biplot) -> Section:
    upper = np.triu_indices(len(result.benchmarks), 1)
    r = result.correlations[upper]
    known = np.flatnonzero(~np.isnan(r))
    if not known.size:
        return Section((Sentence("correlations: fewer than two benchmarks vary"),))
    r = r[known]

    def row(label: str, k: int) -> tuple[Cell, ...]:
        i, j = (int(index[known[k]]) for index in upper)
        pair = " and ".join(shorten(result.benchmarks[q], 24) for q in (i, j))
        return label, Value(f"{r[k]:+.2f}", float(r[k])), pair

    table = Table(
        name="correlations",
        columns=(Column("", "left"),) * 3,
        rows=(row("least", int(r.argmin())), row("most", int(r.argmax()))),
        headed=False,
    )
    title = f"correlations of the {len(r):,} pairs of benchmarks: median {np.median(r):.2f}"
    return Section((table,), title=title)


def _written(values: list[float], decimals: int | None) -> list[str]:
    """Write values with as many decimals; None: with four digits of the largest value."""
    if decimals is None:
        # all are 0 where the variance is below the smallest number
        top = math.floor(math.log10(max(map(abs, values)) or 1.0))
        if not -4 <= top < 7:
            return [f"{value:+.3e}" for value in values]
        decimals = max(0, 3 - top)
    return [f"{round(value, decimals) + 0.0:+.{decimals}f}" for value in values]
