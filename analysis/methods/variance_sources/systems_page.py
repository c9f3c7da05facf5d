"""Variation across systems in words and as a picture."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...pages import number_format as figures
from ...pages.model import (
    Block,
    Cell,
    Figure as PageFigure,
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

__all__ = ["histogram_of", "systems_picture"]

# --- Variation across systems as a picture: the response, predictions, and what they rest on and follow.


_SHEET = Sheet(width=233.7)
_BARS, _CURVES, _LEVELS = 10, 3, 8
_HIGH = 68.0  # mm of a row
_FEWEST_BINS, _MOST_BINS = 8, 40


def systems_picture(responses: Sequence[Across]) -> Picture:
    """Draw predictions, importance, a histogram and partial dependence of each response."""
    return stacked([picture for one in responses for picture in _response(one)])


def _response(found: Across) -> list[Picture]:
    drawn: list[tuple[str, Agreement, Array]] = [
        ("rows held out at random", found.random, found.predicted_random)
    ]
    if found.grouped is not None and found.predicted_grouped is not None:
        drawn.append(("families held out", found.grouped, found.predicted_grouped))
    upper = [_against(found.measured, predicted, one, title) for title, one, predicted in drawn]
    title = f"{shorten(shown(found.response), 70)} · {found.rows:,} systems"
    pictures = [arranged(_SHEET, [[*upper, _bars(found)]], _HIGH + 6, title=title)]
    lower = [histogram_of(found), *(_curve(one) for one in found.dependence[:_CURVES])]
    return [*pictures, arranged(_SHEET, [lower], _HIGH)]


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
    axes = Axes(x=scale, y=Scale(0.0, 1.06 * float(counts.max())), small=True, title="the systems")
    axes.curve(np.repeat(edges, 2), [0, *np.repeat(counts, 2), 0], "bars", closed=True)
    axes.x_ticks = quantity_ticks(scale, "1", 4)
    axes.y_ticks = quantity_ticks(axes.y, "1", 5)
    axes.x_label = "standard deviation, % of the mean" if relative else "measured"
    axes.y_label = "systems"
    return axes


def _bars(found: Across) -> Axes:
    top = found.importance[:_BARS]
    means, sds = ([100 * part for part in parts] for parts in ([max(one.mean, 0.0) for one in top], [one.sd for one in top]))  # fmt: skip
    axes = rows_down([shorten(shown(one.factor), 22) for one in top], small=True)
    axes.x = Scale(0.0, 1.05 * (max(m + sd for m, sd in zip(means, sds, strict=True)) or 1.0))
    axes.x_ticks = quantity_ticks(axes.x, "1", 5)
    for y, (mean, sd) in enumerate(zip(means, sds, strict=True)):
        axes.band(0.0, mean, y - 0.35, y + 0.35, "c5")
        axes.line(max(0.0, mean - sd), y, mean + sd, y, "ink")
    axes.x_label = "importance, % of the variance"
    axes.title = "what predictions rest on (no causes)"
    return axes


def _curve(one: Dependence) -> Axes:
    """Draw the mean prediction over a covariate: a line with a band, or a dot for each level."""
    points = one.points if one.kind == "numeric" else one.points[:_LEVELS]
    means, sds = np.array([p.mean for p in points]), np.array([p.sd or 0.0 for p in points])
    across = quantity_scale([*(means - sds), *(means + sds)], log=False)
    title = shorten(shown(one.factor), 32)
    if one.kind == "numeric":
        at = np.array([float(point.at) for point in points])
        axes = Axes(x=quantity_scale(at.tolist(), log=False), y=across, small=True, title=title)
        axes.curve([*at, *at[::-1]], [*(means - sds), *(means + sds)[::-1]], "c0 veil", closed=True)
        axes.curve(at, means, "c0 curve")
        axes.spots(at, means, "c0", r=1.4)
        axes.x_ticks = quantity_ticks(axes.x, "1", 5)
        axes.y_ticks = quantity_ticks(across, "1", 5)
        axes.y_label = "mean prediction"
        return axes
    names = [shorten(shown(str(point.at)), 16) for point in points]
    axes = rows_down(names, x=across, small=True, title=title, x_label="mean prediction")
    axes.x_ticks = quantity_ticks(across, "1", 4)
    for y in range(len(names)):
        axes.line(means[y] - sds[y], y, means[y] + sds[y], y, "c0")
        axes.spots(means[y], y, "c0", r=2)
    return axes


_SHOWN = 12  # covariates in a table
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
    out = "families" if found.importance_of == "grouped" else "rows"
    agreed = _table(
        f"agreement{end}",
        f"<held out; correlation; {100 * found.random.confidence:g} % interval; RMSE; median error; "
        "explained; trees",
        _agreement(found),
    )
    title = f"predicting {name}" if several else ""
    yield Section((*map(Sentence, _answers(found)), agreed), title=title)
    yield Section(
        _longest(
            f"Importance: the squared error that predictions of held-out {out} gain when a covariate is "
            "shuffled, as a share of the response's variance (mean and sd of the repeats). It tells what "
            "predicts, not what causes.",
            f"importance{end}",
            "<covariate; importance; sd",
            [
                (_name(one.factor), _share(one.mean), _share(one.sd, "{:.2f} %"))
                for one in found.importance
            ],
        ),
        title="what the predictions rest on",
    )
    if found.influence:
        lost = {one.factor: one.mean for one in found.importance}
        yield Section(
            _longest(
                "Relative influence (Friedman 2001; published as such): what the splits by a covariate took "
                "from the squared error of the rows that were learned from, in shares of 100 %, however "
                "well others are predicted. Beside it the importance from above.",
                f"influence{end}",
                "<covariate; influence; importance",
                [
                    (_name(one.factor), _share(one.share), _share(lost[one.factor]))
                    for one in found.influence
                ],
            ),
            title="relative influence",
        )
    if found.dependence:
        said = (
            "Mean prediction when every row is given one value of a covariate, all others as they are; "
            "--json gives the curves."
        )
        headings = "<covariate; <least at; predicted; <most at; predicted"
        rows = ((_name(one.factor), *_end(one, min), *_end(one, max)) for one in found.dependence)
        table = _table(f"dependence{end}", headings, rows)
        yield Section((Sentence(said), table), title="partial dependence")
    alt = (
        f"{name}: predicted against measured values of held-out rows"
        f"{'' if found.grouped is None else ' and of held-out families'}, bars of the importance of each "
        "covariate, a histogram of the systems, and curves of the mean prediction over the most "
        "important covariates. The tables give the numbers"
    )
    draw = partial(systems_picture, (found,))
    yield Section((PageFigure(name=f"systems{end}", alt=alt, draw=draw),))


def _answers(found: Across) -> list[str]:
    name = shorten(found.response, 60)
    once = "" if found.test_share is None else f" ({100 * found.test_share:g} %, once)"
    random = f"of systems held out at random{once}, predicted and measured {name} correlate by "
    said = [f"{random}{_correlation(found.random)}"]
    if found.grouped is not None:
        said[0] += (
            f"; of families held out as a whole ({found.families:,} by "
            f"{_name(found.group or '')!r}), by {_correlation(found.grouped)}"
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


def _agreement(found: Across) -> Iterator[tuple[Cell, ...]]:
    for label, one in (("rows at random", found.random), ("whole families", found.grouped)):
        if one is not None:
            r, relative = one.correlation, one.relative_error
            yield (
                label if found.test_share is None else f"{label}: {one.rows:,}",
                "-" if r is None else Value(f"{r:.3f}", r),
                "-" if one.low is None or one.high is None else f"[{one.low:.3f}, {one.high:.3f}]",
                Value(figures.significant(one.rmse), one.rmse),
                "-" if relative is None else Value(f"{100 * relative:.2g} %", relative),
                Value(f"{100 * one.explained:.1f} %", one.explained),
                value_of(statistics.median(one.trees), "{:.0f}".format),
            )


def _longest(
    said: str, name: str, headings: str, rows: Sequence[tuple[Cell, ...]]
) -> tuple[Block, ...]:
    """Give what is said, the first rows as a table, and the number of the others."""
    left = len(rows) - _SHOWN
    rest = (Sentence(f"and {left} more, each less (--json gives all)"),) if left > 0 else ()
    return (Sentence(said), _table(name, headings, rows[:_SHOWN]), *rest)


def _table(name: str, headings: str, rows: Iterable[tuple[Cell, ...]]) -> Table:
    return Table(name=name, columns=columns_of(*headings.split("; ")), rows=tuple(rows))


def _name(name: str) -> str:
    return shorten(name, _NAME_IN_TEXT)


def _share(share: float, form: str = "{:z.2f} %") -> Value:
    return Value(form.format(100 * share), share)


def _end(one: Dependence, chosen: Callable[..., DependencePoint]) -> tuple[Cell, Cell]:
    point = chosen(one.points, key=lambda point: point.mean)
    at = point.at if isinstance(point.at, str) else f"{point.at:.6g}"
    return shorten(at, 24), Value(figures.significant(point.mean, 4), point.mean)
