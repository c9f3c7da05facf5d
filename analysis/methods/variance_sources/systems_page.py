"""Variation across systems in words and as a picture."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Cell,
    Column,
    Figure as PageFigure,
    Section,
    Sentence,
    Table,
    Value,
)
from ...plots.drawing import PALE, look
from ...plots.palette import COLOURS
from ...stats.samples import Array
from ...words import shorten, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from .result import Across, Agreement, Dependence, Sources


_BARS, _CURVES, _LEVELS = 10, 3, 8


def systems_figure(responses: Sequence[Across]) -> Figure:
    """Draw predictions against measurements, importance and partial dependence of each response."""
    from matplotlib.figure import Figure

    with look():
        figure = Figure(figsize=(9.2, 5.6 * len(responses)), layout="constrained")
        parts = figure.subfigures(len(responses), 1, squeeze=False)[:, 0]
        for part, one in zip(parts, responses, strict=True):
            _response(part, one)
    return figure


def _response(part: SubFigure, found: Across) -> None:
    rows = 2 if found.dependence else 1
    upper, *lower = part.subfigures(rows, 1, squeeze=False)[:, 0]
    part.suptitle(
        f"{shorten(shown(found.response), 70)} · {found.rows:,} systems",
        fontsize=10,
        x=0.01,
        ha="left",
    )
    drawn: list[tuple[str, Agreement, Array]] = [
        ("rows held out at random", found.random, found.predicted_random)
    ]
    if found.grouped is not None and found.predicted_grouped is not None:
        drawn.append(("families held out", found.grouped, found.predicted_grouped))
    axes = upper.subplots(1, len(drawn) + 1, squeeze=False)[0]
    for place, (title, agreement, predicted) in zip(axes, drawn, strict=False):
        _against(place, found.measured, predicted, agreement, title)
    _bars(axes[-1], found)
    if lower:
        curves = found.dependence[:_CURVES]
        places = lower[0].subplots(1, len(curves), squeeze=False)[0]
        for place, one in zip(places, curves, strict=True):
            _curve(place, one)


def _against(
    axes: Axes, measured: Array, predicted: Array, agreement: Agreement, title: str
) -> None:
    both = np.concatenate([measured, predicted])
    ends = [float(both.min()), float(both.max())]
    axes.plot(ends, ends, color=PALE, linewidth=0.8, zorder=1)
    axes.scatter(
        measured,
        predicted,
        s=6,
        color=COLOURS[0],
        alpha=0.35,
        linewidth=0,
        zorder=2,
        rasterized=len(measured) > 1500,  # points, from which they are drawn as one image
    )
    r = "unknown" if agreement.correlation is None else f"{agreement.correlation:.3f}"
    axes.set_title(f"{title}: r = {r}", fontsize="small")
    axes.set_xlabel("measured", fontsize="small")
    axes.set_ylabel("predicted", fontsize="small")
    axes.tick_params(labelsize="small")
    axes.locator_params(nbins=5)


def _bars(axes: Axes, found: Across) -> None:
    top = found.importance[:_BARS][::-1]
    places = np.arange(len(top))
    axes.barh(
        places,
        [100 * max(one.mean, 0.0) for one in top],
        xerr=[100 * one.sd for one in top],
        color=COLOURS[5],
        height=0.7,
        error_kw={"elinewidth": 0.8},
    )
    axes.set_yticks(places, [shorten(shown(one.factor), 22) for one in top])
    axes.tick_params(labelsize="small")
    axes.set_xlim(left=0)
    axes.set_xlabel("importance, % of the variance", fontsize="small")
    axes.set_title("what predictions rest on (no causes)", fontsize="small")


def _curve(axes: Axes, one: Dependence) -> None:
    means = np.array([point.mean for point in one.points])
    sds = np.array([point.sd for point in one.points])
    axes.set_title(shorten(shown(one.factor), 32), fontsize="small")
    axes.tick_params(labelsize="small")
    if one.kind == "numeric":
        at = np.array([float(point.at) for point in one.points])
        axes.fill_between(at, means - sds, means + sds, color=COLOURS[0], alpha=0.2, linewidth=0)
        axes.plot(at, means, color=COLOURS[0], linewidth=1.2, marker=".", markersize=4)
        axes.set_ylabel("mean prediction", fontsize="small")
        axes.locator_params(nbins=5)
        return
    means, sds = means[:_LEVELS][::-1], sds[:_LEVELS][::-1]
    names = [shorten(shown(str(p.at)), 16) for p in one.points[:_LEVELS]][::-1]
    places = np.arange(len(names))
    axes.errorbar(means, places, xerr=sds, fmt="o", markersize=4, color=COLOURS[0], elinewidth=0.8)
    axes.set_yticks(places, names)
    axes.set_xlabel("mean prediction", fontsize="small")
    axes.locator_params(axis="x", nbins=4)


_IMPORTANT = 12  # covariates in the table
_NAME_IN_TEXT = 40


def system_sections(found: Sources) -> tuple[Section, ...]:
    """Give what is to be said; nothing where there is nothing."""
    several = len(found.systems) > 1
    return tuple(
        part
        for number, one in enumerate(found.systems, 1)
        for part in _of_response(one, f"-{number}" if number > 1 else "", several=several)
    )


def systems_said(responses: Sequence[Across]) -> str:
    """Give the answers in one line, for who does not see the picture."""
    return " ".join(text for one in responses for text in _answers(one))


def _of_response(found: Across, end: str, *, several: bool) -> Iterator[Section]:
    name = shorten(found.response, 60)
    answer = map(Sentence, _answers(found))
    yield Section((*answer, _agreement(found, end)), title=f"predicting {name}" if several else "")
    yield _importance(found, end)
    if found.dependence:
        rows: list[tuple[Cell, ...]] = []
        for one in found.dependence:
            cells: list[Cell] = [shorten(one.factor, _NAME_IN_TEXT)]
            for chosen in (min, max):
                point = chosen(one.points, key=lambda point: point.mean)
                at = point.at if isinstance(point.at, str) else f"{point.at:.6g}"
                cells += [shorten(at, 24), Value(figures.significant(point.mean, 4), point.mean)]
            rows.append(tuple(cells))
        table = Table(
            name=f"dependence{end}",
            columns=(
                *(Column("covariate", "left"), Column("least at", "left"), Column("predicted")),
                *(Column("most at", "left"), Column("predicted")),
            ),
            rows=tuple(rows),
        )
        said = Sentence(
            "Mean prediction when every row is given one value of a covariate, all others as they are; "
            "--json gives the curves."
        )
        yield Section((said, table), title="partial dependence")
    parts = "predicted against measured values of held-out rows"
    if found.grouped is not None:
        parts += " and of held-out families"
    alt = (
        f"{name}: {parts}, bars of the importance of each covariate, and curves of the mean "
        "prediction over the most important ones. The tables give the numbers"
    )
    draw = partial(systems_figure, (found,))
    yield Section((PageFigure(name=f"systems{end}", alt=alt, draw=draw),))


# --- the answer ------------------------------------------------------------------------------------


def _answers(found: Across) -> list[str]:
    name = shorten(found.response, 60)
    random = f"of systems held out at random, predicted and measured {name} correlate by "
    said = [f"{random}{_correlation(found.random)}"]
    if found.grouped is not None:
        said[0] += (
            f"; of families held out as a whole ({found.families:,} by "
            f"{shorten(found.group or '', _NAME_IN_TEXT)!r}), by {_correlation(found.grouped)}"
        )
    said[0] = f"{said[0][0].upper()}{said[0][1:]}."
    if found.ceiling is not None:
        share = f"{100 * found.ceiling.noise_share:.3g} %"
        said.append(
            f"No prediction can pass a correlation of {found.ceiling.correlation:.3f}, but by "
            f"chance: {share} of the variance is the noise of the measurement itself."
        )
    if found.strictest.explained <= 0:
        said.append(
            "The mean of all systems predicts as well as these covariates do: they tell nothing "
            "of systems like those held out."
        )
    return said


def _correlation(agreement: Agreement) -> str:
    if agreement.correlation is None:
        return "nothing that can be told (no prediction differs)"
    text = f"{agreement.correlation:.3f}"
    if agreement.low is None or agreement.high is None:
        return text
    return f"{text} [{agreement.low:.3f}, {agreement.high:.3f}]"


def _agreement(found: Across, end: str) -> Table:
    both = [("rows at random", found.random)]
    if found.grouped is not None:
        both.append(("whole families", found.grouped))
    rows: list[tuple[Cell, ...]] = []
    for label, one in both:
        r, relative = one.correlation, one.relative_error
        rows.append(
            (
                label,
                "-" if r is None else Value(f"{r:.3f}", r),
                "-" if one.low is None or one.high is None else f"[{one.low:.3f}, {one.high:.3f}]",
                Value(figures.significant(one.rmse), one.rmse),
                "-" if relative is None else Value(f"{100 * relative:.2g} %", relative),
                Value(f"{100 * one.explained:.1f} %", one.explained),
                Value(f"{statistics.median(one.trees):.0f}", statistics.median(one.trees)),
            )
        )
    return Table(
        name=f"agreement{end}",
        columns=(
            *(Column("held out", "left"), Column("correlation")),
            Column(f"{100 * found.random.confidence:g} % interval"),
            *map(Column, ("RMSE", "median error", "explained", "trees")),
        ),
        rows=tuple(rows),
    )


# --- what it rests on ------------------------------------------------------------------------------


def _importance(found: Across, end: str) -> Section:
    out = "families" if found.importance_of == "grouped" else "rows"
    said = (
        f"Importance: the squared error that predictions of held-out {out} gain when a covariate is "
        "shuffled, as a share of the response's variance (mean and sd of the repeats). It tells what "
        "predicts, not what causes."
    )
    table = Table(
        name=f"importance{end}",
        columns=(Column("covariate", "left"), Column("importance"), Column("sd")),
        rows=tuple(
            (
                shorten(one.factor, _NAME_IN_TEXT),
                Value(f"{100 * one.mean:z.2f} %", one.mean),
                Value(f"{100 * one.sd:.2f} %", one.sd),
            )
            for one in found.importance[:_IMPORTANT]
        ),
    )
    blocks: list[Block] = [Sentence(said), table]
    if rest := found.importance[_IMPORTANT:]:
        most = f"{100 * max(rest[0].mean, 0):.2f} %"
        blocks.append(Sentence(f"and {len(rest)} more, each at most {most} (--json gives all)"))
    return Section(tuple(blocks), title="what the predictions rest on")
