"""What predicts a response of many systems, in words and tables and as a picture; loaded when it is shown."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...pages import number_format as figures
from ...pages.model import Block, Cell, Figure, Section, Value, section, table_of
from ...plots.axes import Axes, Picture, Scale, Sheet, quantity_scale, quantity_ticks, rows_down
from ...plots.chart import arranged, stacked
from ...stats.samples import Array
from ...words import Name
from .across import Across, Agreement, Dependence, DependencePoint

_SHOWN = 12  # covariates in a table


def systems_text(responses: Sequence[Across]) -> str:
    """Give the answers in one line, for who does not see the picture."""
    return " ".join(text for one in responses for text in _answers(one))


def system_sections(responses: Sequence[Across]) -> tuple[Section, ...]:
    """Give what is to be said; nothing where there is nothing."""
    several = len(responses) > 1
    return tuple(
        part
        for number, one in enumerate(responses, 1)
        for part in _of_response(one, f"-{number}" if number > 1 else "", several=several)
    )


def _of_response(found: Across, end: str, *, several: bool) -> Iterator[Section]:
    def table(
        name: str, things: Sequence[Any], *columns: tuple[Any, ...]
    ) -> tuple[Block | str, ...]:
        left = len(things) - _SHOWN
        rest = (f"and {left} more, each less (--json gives all)",) * (left > 0)
        return table_of(f"{name}{end}", things[:_SHOWN], *columns), *rest

    name = f"{found.response:.60}"
    out = "families" if found.importance_of == "grouped" else "rows"
    held = [("rows at random", found.random), ("whole families", found.grouped)]
    once = found.test_share is not None
    agreed = table(
        "agreement",
        [both for both in held if both[1] is not None],
        ("<held out", lambda both: f"{both[0]}: {both[1].rows:,}" if once else both[0]),
        ("correlation", lambda both: both[1].correlation, "{:.3f}".format),
        (f"{100 * found.random.confidence:g} % interval", lambda both: _interval(both[1]) or "-"),
        ("RMSE", lambda both: both[1].rmse, figures.significant),
        ("median error", lambda both: _part(both[1].relative_error, "{:.2g} %")),
        ("explained", lambda both: _part(both[1].explained, "{:.1f} %")),
        ("trees", lambda both: statistics.median(both[1].trees), "{:.0f}".format),
    )
    yield section(*_answers(found), *agreed, title=f"predicting {name}" if several else "")
    rests = (
        f"Importance: the squared error that predictions of held-out {out} gain when a covariate is "
        "shuffled, as a share of the response's variance (mean and sd of the repeats). It tells what "
        "predicts, not what causes."
    )
    shares = table(
        "importance",
        found.importance,
        ("@covariate", "factor"),
        ("importance", lambda one: _part(one.mean)),
        ("sd", lambda one: _part(one.sd, "{:.2f} %")),
    )
    yield section(rests, *shares, title="what the predictions rest on")
    if found.influence:
        lost = {one.factor: one.mean for one in found.importance}
        took = (
            "Relative influence (Friedman 2001; published as such): what the splits by a covariate took "
            "from the squared error of the rows that were learned from, in shares of 100 %, however "
            "well others are predicted. The importance from above stands next to it."
        )
        influence = table(
            "influence",
            found.influence,
            ("@covariate", "factor"),
            ("influence", lambda one: _part(one.share)),
            ("importance", lambda one: _part(lost[one.factor])),
        )
        yield section(took, *influence, title="relative influence")
    if found.dependence:
        follows = (
            "Mean prediction when every row is given one value of a covariate, all others as they are; "
            "--json gives the curves."
        )
        curves = table(
            "dependence",
            found.dependence,
            ("@covariate", "factor"),
            ("<least at", lambda one: _end(one, min)[0]),
            ("predicted", lambda one: _end(one, min)[1]),
            ("<most at", lambda one: _end(one, max)[0]),
            ("predicted", lambda one: _end(one, max)[1]),
        )
        yield section(follows, *curves, title="partial dependence")
    alt = (
        f"{name}: predicted against measured values of held-out rows"
        f"{'' if found.grouped is None else ' and of held-out families'}, bars of the importance of each "
        "covariate, a histogram of the systems, and curves of the mean prediction over the most "
        "important covariates. The tables give the numbers"
    )
    draw = partial(systems_picture, (found,))
    yield section(Figure(name=f"systems{end}", alt=alt, draw=draw))


def _answers(found: Across) -> Iterator[str]:
    name = f"{found.response:.60}"
    once = "" if found.test_share is None else f" ({100 * found.test_share:g} %, once)"
    text = f"held out at random{once}, predicted and measured {name} correlate by "
    text += _correlation(found.random)
    if found.grouped is not None:
        by = f"{found.families:,} by '{Name(found.group or ''):.40}'"
        text += f"; for families held out as a whole ({by}), by {_correlation(found.grouped)}"
    yield f"For systems {text}."
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


def _interval(one: Agreement) -> str:
    return "" if one.low is None or one.high is None else f"[{one.low:.3f}, {one.high:.3f}]"


def _correlation(one: Agreement) -> str:
    if one.correlation is None:
        return "unknown (no prediction differs)"
    return f"{one.correlation:.3f} {_interval(one)}".rstrip()


def _part(share: float | None, form: str = "{:z.2f} %") -> Cell:
    return "-" if share is None else Value(form.format(100 * share), share)


def _end(one: Dependence, chosen: Callable[..., DependencePoint]) -> tuple[Cell, Cell]:
    point = chosen(one.points, key=lambda point: point.mean)
    at = point.at if isinstance(point.at, str) else f"{point.at:.6g}"
    return Name(at), Value(figures.significant(point.mean, 4), point.mean)


# --- A table of systems: the response, predictions, and what they rest on.

_SHEET = Sheet(width=233.7)
_HIGH = 68.0  # mm of a row
_BARS, _CURVES, _LEVELS = 10, 3, 8
_FEWEST_BINS, _MOST_BINS = 8, 40


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
        title = f"{one.response:.70} · {one.rows:,} systems"
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
    axes = rows_down([f"{Name(one.factor):.22}" for one in top], small=True)
    axes.x = Scale(0.0, 1.05 * (max(mean + sd for mean, sd in bars) or 1.0))
    axes.x_ticks = quantity_ticks(axes.x, "1", 5)
    for y, (mean, sd) in enumerate(bars):
        axes.band(0.0, mean, y - 0.35, y + 0.35, "c5")
        axes.line(max(0.0, mean - sd), y, mean + sd, y, "ink")
    axes.x_label = "importance, % of the variance"
    axes.title = "what predictions rest on (no causes)"
    return axes


def _curve(one: Dependence) -> Axes:
    points = one.points if one.kind == "numeric" else one.points[:_LEVELS]
    means, sds = np.array([p.mean for p in points]), np.array([p.sd or 0.0 for p in points])
    low, high, title = means - sds, means + sds, f"{Name(one.factor):.32}"
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
    names = [f"{Name(point.at):.16}" for point in points]
    axes = rows_down(names, x=across, small=True, title=title, x_label="mean prediction")
    axes.x_ticks = quantity_ticks(across, "1", 4)
    for y in range(len(names)):
        axes.line(low[y], y, high[y], y, "c0")
        axes.spots(means[y], y, "c0", r=2)
    return axes
