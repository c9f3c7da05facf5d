"""Variation across systems in words and as a picture: the response, predictions, and what they rest on."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Cell,
    Figure,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    value_of,
)
from ...plots.axes import Axes, Scale, quantity_scale, quantity_ticks, rows_down
from ...plots.chart import Sheet, arranged, stacked
from ...words import shorten, shown

if TYPE_CHECKING:
    from ...plots.paper import Picture
    from ...stats.samples import Array
    from .result import Across, Agreement, Dependence, DependencePoint, Sources

_SHEET = Sheet(width=233.7)
_HIGH = 68.0  # mm of a row
_BARS, _CURVES, _LEVELS = 10, 3, 8
_FEWEST_BINS, _MOST_BINS = 8, 40
_SHOWN = 12  # covariates in a table
_NAME = 40


def systems_picture(responses: Sequence[Across]) -> Picture:
    """Draw predictions, importance, a histogram and partial dependence of each response."""
    pictures = []
    for one in responses:
        upper = [
            _against(one.measured, one.predicted_random, one.random, "rows held out at random")
        ]
        if one.grouped is not None and one.predicted_grouped is not None:
            held = one.predicted_grouped
            upper.append(_against(one.measured, held, one.grouped, "families held out"))
        title = f"{shorten(shown(one.response), 70)} · {one.rows:,} systems"
        pictures.append(arranged(_SHEET, [[*upper, _bars(one)]], _HIGH + 6, title=title))
        lower = [histogram_of(one), *map(_curve, one.dependence[:_CURVES])]
        pictures.append(arranged(_SHEET, [lower], _HIGH))
    return stacked(pictures)


def _against(measured: Array, predicted: Array, agreement: Agreement, title: str) -> Axes:
    out = ~np.isnan(predicted)
    measured, predicted = measured[out], predicted[out]
    both = np.concatenate([measured, predicted])
    low, high = float(both.min()), float(both.max())
    scale = quantity_scale((low, high), log=False)
    r = "unknown" if agreement.correlation is None else f"{agreement.correlation:.3f}"
    ticks = quantity_ticks(scale, "1", 5)
    axes = Axes(
        x=scale, y=scale, x_ticks=ticks, y_ticks=ticks, small=True, title=f"{title}: r = {r}",
        x_label="measured", y_label="predicted",
    )  # fmt: skip
    axes.line(low, low, high, high, "one line")
    axes.spots(measured, predicted, "c0 pale", r=1.2)
    return axes


def histogram_of(found: Across) -> Axes:
    """Draw how many systems have which response; a variation as sd / mean in %, on a log axis."""
    values = found.measured
    low, high, quarter = float(values.min()), float(values.max()), np.quantile(values, [0.25, 0.75])
    width = 2 * float(np.diff(quarter)[0]) / len(values) ** (1 / 3)  # Freedman and Diaconis
    bins = min((high - low) / width, _MOST_BINS) if width > 0 else _MOST_BINS
    counts, edges = np.histogram(values, np.linspace(low, high, max(_FEWEST_BINS, round(bins)) + 1))
    relative = found.kind == "variation"
    if relative:
        edges = 100 * np.exp(edges)
    scale = quantity_scale(edges.tolist(), log=relative, room=0.03)
    y = Scale(0.0, 1.06 * float(counts.max()))
    axes = Axes(
        x=scale, y=y, x_ticks=quantity_ticks(scale, "1", 4), y_ticks=quantity_ticks(y, "1", 5),
        x_label="standard deviation, % of the mean" if relative else "measured",
        y_label="systems", small=True, title="the systems",
    )  # fmt: skip
    axes.curve(np.repeat(edges, 2), [0, *np.repeat(counts, 2), 0], "bars", closed=True)
    return axes


def _bars(found: Across) -> Axes:
    top = found.importance[:_BARS]
    bars = [(100 * max(one.mean, 0.0), 100 * one.sd) for one in top]
    axes = rows_down([shorten(shown(one.factor), 22) for one in top], small=True)
    axes.x = Scale(0.0, 1.05 * (max(mean + sd for mean, sd in bars) or 1.0))
    axes.x_ticks = quantity_ticks(axes.x, "1", 5)
    for y, (mean, sd) in enumerate(bars):
        axes.band(0.0, mean, y - 0.35, y + 0.35, "c5")
        axes.line(max(0.0, mean - sd), y, mean + sd, y, "ink")
    axes.x_label = "importance, % of the variance"
    axes.title = "what predictions rest on (no causes)"
    return axes


def _curve(one: Dependence) -> Axes:
    """Draw the mean prediction over a covariate: a line with a band, or a dot for each level."""
    points = one.points if one.kind == "numeric" else one.points[:_LEVELS]
    means, sds = np.array([p.mean for p in points]), np.array([p.sd or 0.0 for p in points])
    low, high, title = means - sds, means + sds, shorten(shown(one.factor), 32)
    across = quantity_scale([*low, *high], log=False)
    if one.kind == "numeric":
        at = np.array([float(point.at) for point in points])
        x = quantity_scale(at.tolist(), log=False)
        axes = Axes(
            x=x, y=across, x_ticks=quantity_ticks(x, "1", 5), y_ticks=quantity_ticks(across, "1", 5),
            y_label="mean prediction", small=True, title=title,
        )  # fmt: skip
        axes.curve([*at, *at[::-1]], [*low, *high[::-1]], "c0 veil", closed=True)
        axes.curve(at, means, "c0 curve")
        axes.spots(at, means, "c0", r=1.4)
        return axes
    names = [shorten(shown(str(point.at)), 16) for point in points]
    axes = rows_down(names, x=across, small=True, title=title, x_label="mean prediction")
    axes.x_ticks = quantity_ticks(across, "1", 4)
    for y in range(len(names)):
        axes.line(low[y], y, high[y], y, "c0")
        axes.spots(means[y], y, "c0", r=2)
    return axes


def systems_said(responses: Sequence[Across]) -> str:
    """Give the answers in one line, for who does not see the picture."""
    return " ".join(text for one in responses for text in _answers(one))


def system_sections(found: Sources) -> tuple[Section, ...]:
    """Give what is to be said; nothing where there is nothing."""
    several = len(found.systems) > 1
    return tuple(
        part
        for number, one in enumerate(found.systems, 1)
        for part in _of_response(one, f"-{number}" if number > 1 else "", several=several)
    )


def _of_response(found: Across, end: str, *, several: bool) -> Iterator[Section]:
    def table(name: str, headings: str, rows: Sequence[tuple[Cell, ...]]) -> tuple[Block, ...]:
        columns, left = columns_of(*headings.split("; ")), len(rows) - _SHOWN
        rest = (Sentence(f"and {left} more, each less (--json gives all)"),) * (left > 0)
        return (Table(name=f"{name}{end}", columns=columns, rows=tuple(rows[:_SHOWN])), *rest)

    name = shorten(found.response, 60)
    out = "families" if found.importance_of == "grouped" else "rows"
    agreed = table(
        "agreement",
        f"<held out; correlation; {100 * found.random.confidence:g} % interval; RMSE; median error; "
        "explained; trees",
        list(_agreement(found)),
    )
    said = map(Sentence, _answers(found))
    yield Section((*said, *agreed), title=f"predicting {name}" if several else "")
    rests = Sentence(
        f"Importance: the squared error that predictions of held-out {out} gain when a covariate is "
        "shuffled, as a share of the response's variance (mean and sd of the repeats). It tells what "
        "predicts, not what causes."
    )
    rows: list[tuple[Cell, ...]] = [
        (shorten(one.factor, _NAME), _share(one.mean), _share(one.sd, "{:.2f} %"))
        for one in found.importance
    ]
    shares = table("importance", "<covariate; importance; sd", rows)
    yield Section((rests, *shares), title="what the predictions rest on")
    if found.influence:
        lost = {one.factor: one.mean for one in found.importance}
        took = Sentence(
            "Relative influence (Friedman 2001; published as such): what the splits by a covariate took "
            "from the squared error of the rows that were learned from, in shares of 100 %, however "
            "well others are predicted. Beside it the importance from above."
        )
        rows = [
            (shorten(one.factor, _NAME), _share(one.share), _share(lost[one.factor]))
            for one in found.influence
        ]
        influence = table("influence", "<covariate; influence; importance", rows)
        yield Section((took, *influence), title="relative influence")
    if found.dependence:
        follows = Sentence(
            "Mean prediction when every row is given one value of a covariate, all others as they are; "
            "--json gives the curves."
        )
        headings = "<covariate; <least at; predicted; <most at; predicted"
        rows = [(shorten(d.factor, _NAME), *_end(d, min), *_end(d, max)) for d in found.dependence]
        curves = table("dependence", headings, rows)
        yield Section((follows, *curves), title="partial dependence")
    alt = (
        f"{name}: predicted against measured values of held-out rows"
        f"{'' if found.grouped is None else ' and of held-out families'}, bars of the importance of each "
        "covariate, a histogram of the systems, and curves of the mean prediction over the most "
        "important covariates. The tables give the numbers"
    )
    draw = partial(systems_picture, (found,))
    yield Section((Figure(name=f"systems{end}", alt=alt, draw=draw),))


def _answers(found: Across) -> Iterator[str]:
    name = shorten(found.response, 60)
    once = "" if found.test_share is None else f" ({100 * found.test_share:g} %, once)"
    said = f"systems held out at random{once}, predicted and measured {name} correlate by "
    said += _correlation(found.random)
    if found.grouped is not None:
        by = f"{found.families:,} by {shorten(found.group or '', _NAME)!r}"
        said += f"; of families held out as a whole ({by}), by {_correlation(found.grouped)}"
    yield f"Of {said}."
    if found.ceiling is not None:
        share = f"{100 * found.ceiling.noise_share:.3g} %"
        yield (
            f"No prediction can pass a correlation of {found.ceiling.correlation:.3f}, but by "
            f"chance: {share} of the variance is the noise of the measurement itself."
        )
    if found.strictest.explained <= 0:
        yield (
            "The mean of all systems predicts as well as these covariates do: they tell nothing "
            "of systems like those held out."
        )


def _correlation(agreement: Agreement) -> str:
    if agreement.correlation is None:
        return "nothing that can be told (no prediction differs)"
    known = agreement.low is not None and agreement.high is not None
    interval = f" [{agreement.low:.3f}, {agreement.high:.3f}]" if known else ""
    return f"{agreement.correlation:.3f}{interval}"


def _agreement(found: Across) -> Iterator[tuple[Cell, ...]]:
    for label, one in (("rows at random", found.random), ("whole families", found.grouped)):
        if one is not None:
            known = one.low is not None and one.high is not None
            yield (
                label if found.test_share is None else f"{label}: {one.rows:,}",
                value_of(one.correlation, "{:.3f}".format),
                f"[{one.low:.3f}, {one.high:.3f}]" if known else "-",
                value_of(one.rmse, figures.significant),
                "-" if one.relative_error is None else _share(one.relative_error, "{:.2g} %"),
                _share(one.explained, "{:.1f} %"),
                value_of(statistics.median(one.trees), "{:.0f}".format),
            )


def _share(share: float, form: str = "{:z.2f} %") -> Value:
    return Value(form.format(100 * share), share)


def _end(one: Dependence, chosen: Callable[..., DependencePoint]) -> tuple[Cell, Cell]:
    point = chosen(one.points, key=lambda point: point.mean)
    at = point.at if isinstance(point.at, str) else f"{point.at:.6g}"
    return shorten(at, 24), Value(figures.significant(point.mean, 4), point.mean)
