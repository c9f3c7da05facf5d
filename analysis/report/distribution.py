"""How the values behind a judged quantile are distributed: by variant their quantiles, and their distribution functions.

Both axes of a picture are logarithmic: values to the right, and up the share that lies above, each step a tenth of the one before. A
curve ends where its values are too few for a quantile.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from .. import plots
from ..data.session_quantiles import Pooled, pooled
from ..errors import AnalysisError
from ..pages.model import Section, Sentence, Value
from ..pages.number_format import quantity
from ..plots.axes import quantity_scale, quantity_ticks
from ..record.manifest import needed, quantile_said
from ..verdict.sentence import quantile_sentences
from ..words import shortened, shown
from .figures.panels import word_styles
from .page import Chapter, table_of
from .runs import Area, Label, labels_of, shares, up_labels

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..pages.model import Block, Table
    from ..plots.marks import Mark
    from .subject import Subject

__all__ = ["chapter"]

_DRAWN = 6  # benchmarks
_CANDIDATES = 4
_USUAL = (0.5, 0.9, 0.99, 0.999)
_POINTS = 160  # of a curve
_NAME = 40  # letters
_HIGH, _BELOW = 190.0, 20.0  # pixels of a picture and of its axis
_LEAST_UP = 1.0  # factors of ten, up
_AREA = Area(top=0.0, height=_HIGH)

Values = Mapping[str, Any]
Cells = Mapping[str, Mapping[str, Pooled]]  # by benchmark and variant


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where the judged metric is no quantile, or the values behind it are not there."""
    basis, trial = subject.verdict.quantile, subject.trial
    if basis is None or trial is None or basis.why in {"printed", "not-kept", "own"}:
        return None
    cells = _cells(subject, trial, basis.metric)
    if not cells:
        return None
    asked = {
        said[1]
        for about in trial.manifest.metrics.values()
        if (said := quantile_said(about)) is not None and said[0] == basis.metric
    }
    title = f"Distribution of {shown(basis.metric)}"
    most = max(one.total for found in cells.values() for one in found.values())
    usual = {share for share in _USUAL if needed(share) <= most}
    columns = sorted(asked | usual)
    values: dict[str, Any] = {
        "metric": basis.metric,
        "lead": " ".join((*quantile_sentences(subject.verdict.metric, basis), "")).strip(),
        "shares": columns,
        "cells": [
            _row(bench, name, one, columns, subject.verdict.unit)
            for bench, found in cells.items()
            for name, one in found.items()
        ],
    }
    anchor = subject.anchor("distribution")
    return Chapter(
        name="distribution",
        folder="distribution",
        anchor=anchor,
        title=title,
        values=values,
        sections=lambda: (Section(tuple(_blocks(values, anchor)), title=title),),
        drawn=lambda: {
            "brief": shortened([*cells, *subject.matrices], _NAME),
            "table_of_cells": _table(values, anchor),
            "pictures_of": [
                (bench, list(_pictures(subject, bench, found))) for bench, found in cells.items()
            ],
        },
    )


def _cells(subject: Subject, trial: Trial, metric: str) -> dict[str, dict[str, Pooled]]:
    """Give the values of the first benchmarks, by variant; none where they are not there, or too many."""
    found: dict[str, dict[str, Pooled]] = {}
    used, manifest = trial.judged(subject.verdict.metric), trial.manifest
    for bench in subject.order[:_DRAWN]:
        mine = used & (trial.benchmark == manifest.benchmarks.index(bench))
        for name in subject.matrices:
            rows = np.flatnonzero(mine & (trial.variant == manifest.variants.index(name)))
            try:
                one = pooled(trial, metric, rows)
            except AnalysisError:
                return {}
            if isinstance(one, str):
                return {}
            if one.total and one.values[0] > 0:
                found.setdefault(bench, {})[name] = one
    return found


def _row(benchmark: str, variant: str, one: Pooled, asked: Sequence[float], unit: str) -> Values:
    """Give a cell's line as texts and numbers; a quantile of too few values is None."""
    told = [one.quantile(share) for share in asked]
    return {
        "benchmark": benchmark,
        "variant": variant,
        "values": Value(f"{one.total:,}", one.total),
        "quantiles": [Value("-" if x is None else quantity(x, unit), x) for x in told],
        "most": Value(quantity(float(one.values[-1]), unit), float(one.values[-1])),
    }


def _percent(share: float) -> str:
    return f"p{100 * share:.10g}"


# --- as sentences and tables


def _blocks(values: Values, anchor: str) -> Iterator[Block]:
    yield Sentence(values["lead"])
    yield _table(values, anchor)


def _table(values: Values, anchor: str) -> Table:
    headings = "; ".join(map(_percent, values["shares"]))
    return table_of(
        f"{anchor}-cells",
        f"<benchmark; <variant; values; {headings}; largest",
        (
            (
                shown(one["benchmark"]),
                shown(one["variant"]),
                one["values"],
                *one["quantiles"],
                one["most"],
            )
            for one in values["cells"]
        ),
    )


# --- as pictures


def _pictures(
    subject: Subject, benchmark: str, found: Mapping[str, Pooled]
) -> Iterator[tuple[list[tuple[str, str]], Markup]]:
    """Give each candidate's picture, the baseline's curve in it too, after the names in it with their roles."""
    styles = word_styles(subject, benchmark)
    base = {name: one for name, one in found.items() if name == subject.baseline}
    others = [name for name in found if name not in base]
    for name in others[:_CANDIDATES] or list(base):
        those = {**base, name: found[name]}
        named = [(one, styles[one]) for one in those]
        yield named, _picture(benchmark, those, styles, subject.verdict.unit)


def _picture(
    benchmark: str, found: Mapping[str, Pooled], styles: Mapping[str, str], unit: str
) -> Markup:
    """Draw the distribution function of each variant as far up as its values allow."""
    curves = {name: _curve(one) for name, one in found.items()}
    scale = quantity_scale(end for x, _ in curves.values() for end in (x[0], x[-1]))
    top = max(_LEAST_UP, *(float(up[-1]) for _, up in curves.values()))
    ticks = labels_of(quantity_ticks(scale, unit, 5), scale)
    ups = [Label(f"{100 * (1 - 10.0**-k):.10g} %", k / top) for k in range(math.floor(top) + 1)]
    marks: list[Mark] = [
        plots.segments([(0.0, one.at, 1.0, one.at) for one in ups], "grid", **_AREA),
        *up_labels(ups, _HIGH),
        *(plots.stroke(tick.at, _HIGH, _HIGH + 4, "one") for tick in ticks),
        *(plots.label(tick.at, _HIGH + 16, tick.text, "", anchor=tick.anchor) for tick in ticks),
    ]
    for name, (x, up) in curves.items():
        points = list(zip(shares(x, scale).tolist(), (up / top).tolist(), strict=True))
        marks.append(plots.curve(points, f"{styles[name]} line", **_AREA))
    told = "; ".join(_told(name, one, unit) for name, one in found.items())
    return plots.plot(_HIGH + _BELOW, marks, shown(f"{benchmark}: {told}"))


def _told(name: str, one: Pooled, unit: str) -> str:
    known = {share: one.quantile(share) for share in _USUAL}
    said = ", ".join(
        f"{_percent(q)} {quantity(x, unit)}" for q, x in known.items() if x is not None
    )
    return f"{name}, {one.total:,} values: {said or 'too few'}"


def _curve(one: Pooled) -> tuple[Any, Any]:
    """Give values and how many factors of ten below 1 the share above them lies, up to one value in all."""
    top = math.log10(max(one.total, 2))
    up = np.linspace(0.0, top, _POINTS)
    ranks = np.clip(np.ceil((1 - 10.0**-up) * one.total), 1, one.total).astype(np.int64)
    return np.array([one.at(int(rank)) for rank in ranks]), up
