"""Sources of variation in words and as pictures: each part says its own, the answers first."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...pages import number_format as figures
from ...pages.as_text import natural_width
from ...pages.model import (
    Block,
    Cell,
    Figure,
    Page,
    Section,
    Table,
    Value,
    page,
    page_of,
    section,
    table_of,
)
from ...plots.axes import Axes, Scale, quantity_scale, quantity_ticks, rows_down
from ...plots.chart import Sheet, arranged, stacked
from ...words import shorten, shown
from .covariates import AS_LEVELS, spoken
from .result import ELSEWHERE, Component, Factor, Mode, Source, Sources

if TYPE_CHECKING:
    from ...plots.paper import Picture
    from ...stats.samples import Array
    from .result import Across, Agreement, Dependence, DependencePoint

_NAME = 24  # columns for names of benchmarks and variants
_Groups = Mapping[tuple[str | None, str], Mapping[Source, Component]]
_SOURCES: Mapping[Source, str] = {
    "benchmark": "benchmarks",
    "host": "hosts",
    "trial": "trials",
    "session": "sessions",
    "benchmark:session": "sessions of single benchmarks",
    "block": "blocks",
    "run": "runs",
    "iteration": "iterations",
}
_WIDE = 94  # columns of a screen, less the margin


def component_sections(found: Sources) -> tuple[Section, ...]:
    """Say how much lies between what; nothing where nothing was divided."""
    if not found.components:
        return ()
    groups: dict[tuple[str | None, str], dict[Source, Component]] = {}
    for one in found.components:
        groups.setdefault((one.benchmark, one.variant), {})[one.source] = one
    shown = dict(list(groups.items())[:40])
    more = len(groups) - len(shown)
    rest = [f"and {more} more rows (--json gives all)"] if more else []
    blocks = (*_component_text(groups), *_component_tables(shown), *rest)
    return (section(*blocks, title="components of variance"),)


def _component_text(groups: _Groups) -> Iterator[str]:
    """Say of each variant where its variance lies, benchmarks aside."""
    whole = {key: parts for key, parts in groups.items() if key[0] is None}
    for (bench, variant), parts in (whole or (groups if len(groups) == 1 else {})).items():
        inside = {name: one.sd**2 for name, one in parts.items() if name != "benchmark"}
        if total := sum(inside.values()):
            told = ", ".join(
                f"{_percent(part / total)} between {_SOURCES[name]}"
                for name, part in inside.items()
            )
            name = shorten(variant, _NAME)
            some = (
                f"{name}, benchmarks aside"
                if bench is None
                else f"{shorten(bench, _NAME)} / {name}"
            )
            yield f"{some}: of the variance lies {told}"


def _component_tables(groups: _Groups) -> tuple[Block | str, ...]:
    """Give one table, or one of deviations and one of shares where a screen has no room for both."""
    deviation = "each: the standard deviation as a share of the value"
    share = "its share of the variance"
    whole = _component_table(groups, "components", _sd_and_share)
    if natural_width(whole) <= _WIDE:
        return f"{deviation}, in brackets {share}", whole
    deviations = _component_table(groups, "components", _sd)
    shares = _component_table(groups, "components-shares", _share)
    return deviation, deviations, f"each: {share}", shares


def _component_table(groups: _Groups, name: str, cell: Callable[[Component], Cell]) -> Table:
    there = [source for source in _SOURCES if any(source in parts for parts in groups.values())]
    heads = (_SOURCES[one] if one != "benchmark:session" else "own sessions" for one in there)
    return table_of(
        name,
        list(groups.items()),
        ("<benchmark", lambda one: shorten(one[0][0] or "all together", _NAME)),
        ("<variant", lambda one: shorten(one[0][1], _NAME)),
        *(
            (head, lambda one, s=source: cell(one[1][s]) if s in one[1] else "-")
            for head, source in zip(heads, there, strict=True)
        ),
    )


def _sd(one: Component) -> Value:
    return Value(f"{figures.significant(100 * one.sd, 2)} %", one.sd)


def _sd_and_share(one: Component) -> Value:
    share = "" if one.share is None else f" ({_percent(one.share)})"
    return Value(f"{_sd(one).text}{share}", one.sd)


def _share(one: Component) -> Cell:
    return "-" if one.share is None else Value(_percent(one.share), one.share)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.005 or share == 0 else "< 1 %"


_FACTOR_NAME = 20
_SENTENCES = 12
_LEAST_ROWS, _FACTOR_ROWS = 10, 40
_NEAR = 1e-9
_NOTHING_KNOWN = "no factor could be tested: nothing that may explain a run, and varies, is known of enough of these runs"
_MAY_FOLLOW = (
    "may follow: there is more of it in a long run, whatever made the run long. Effect and interval are of "
    "its rate per second; p asks rate and count alike, and is 1 where they go opposite ways"
)
_MEANING = (
    "effect: of 'a : b' how many times the value at a is that at b; of 'sd' how many times it is "
    "larger for one standard deviation more"
)


def answer(found: Sources) -> tuple[Section, ...]:
    """Say which factors stand out, or that none could; nothing of a table."""
    if not found.factors:
        return (section(_NOTHING_KNOWN),) if found.components else ()
    out = standing_out(found)
    more = [f"and {len(out) - _SENTENCES} more, in --json"] if len(out) > _SENTENCES else []
    told = (_factor_text(one, found) for one in out[:_SENTENCES])
    return (section(_answer(found, out), *told, *more),)


def factor_sections(found: Sources) -> tuple[Section, ...]:
    """List the factors that stand out, or at least the most surprising ones."""
    told = sorted((one for one in found.factors if one.pvalue is not None), key=_first)
    if not told:
        return ()
    shown = told[: min(max(_LEAST_ROWS, len(standing_out(found))), _FACTOR_ROWS)]
    follows = [_MAY_FOLLOW] if any(one.may_follow for one in shown) else []
    rest = len(told) - len(shown)
    more = [f"and {rest} less surprising ones (--json gives all)"] if rest else []
    title = "factors, the most surprising first"
    return (section(_factor_table(shown), *follows, *more, _MEANING, title=title),)


def standing_out(found: Sources) -> list[Factor]:
    """Give the factors that are told from chance over the whole trial: causes first."""
    risk = 1 - found.confidence + 1e-12  # 1 - 0.95 is not 0.05 in binary fractions
    out = (one for one in found.factors if _first(one)[0] <= risk)
    return sorted(
        out, key=lambda one: (not one.causal, one.may_follow, not one.known_before, *_first(one))
    )


def _first(one: Factor) -> tuple[float, float]:
    adjusted = 1.0 if one.pvalue_adjusted is None else one.pvalue_adjusted
    return adjusted, 1.0 if one.pvalue is None else one.pvalue


def _answer(found: Sources, out: Sequence[Factor]) -> str:
    tests = _tests(found)
    if not tests:
        return "no factor could be tested"
    cells = len({(one.benchmark, one.variant) for one in found.factors})
    names = len({one.factor for one in found.factors if one.pvalue is not None})
    looked = f"{figures.counted(names, 'factor')} in {figures.counted(cells, 'cell')} of benchmark and variant"
    looked += f", family-wise risk {100 * (1 - found.confidence):g} %"
    if not out:
        return f"no factor stands out from chance: {looked}. That is no proof that none matters"
    stand = f"{len(out)} of {tests} tests stand{'s' * (len(out) == 1)} out from chance"
    return f"{stand}: {looked} (the chance of any false one)"


def _tests(found: Sources) -> int:
    return sum(one.pvalue is not None for one in found.factors)


def _factor_text(one: Factor, found: Sources) -> str:
    response = found.response
    where = f"{shorten(one.benchmark, _FACTOR_NAME)} / {shorten(one.variant, _FACTOR_NAME)}"
    name = spoken(one.factor)
    if one.effect_of == "sd":
        how = f"a standard deviation more of {name} goes with {_ratio(one)} {response}"
    else:
        high, low = _levels(one)
        how = f"{response} at {name} {high} is {_ratio(one)} that at {low}"
        if low == ELSEWHERE:
            how = f"{response} at {name} of {high} is {_ratio(one)} that elsewhere"
        elif high == ELSEWHERE:
            how = f"{response} elsewhere is {_ratio(one)} that at {name} of {low}"
    p = f"adjusted p {figures.pvalue(one.pvalue_adjusted or 0.0)}, one of {_tests(found)} tests"
    return f"{where}: {how} ({p}); {_why(one, 1 - found.confidence)}"


def _why(one: Factor, risk: float) -> str:
    if one.causal:
        # the family's error: such a sentence may stand there although nothing has an effect
        trials = round(1 / risk)
        rate = f"the 1 in {trials}"
        if abs(trials * risk - 1) > _NEAR:
            rate = f"one of the {100 * risk:g} % of"
        chance = f"this is {rate} trials in which chance alone finds something"
        return f"it was randomized: this would be its effect, unless {chance}"
    if one.may_follow:
        return "seen, not randomized, and it may follow from long runs as well as make them long"
    if one.known_before:
        return "it was there before the run, but nobody drew it: what it goes with may be the cause"
    return "seen, not randomized: no cause is claimed"


def _ratio(one: Factor) -> str:
    if one.effect is None:
        return "-"
    if one.low is None or one.high is None:
        return figures.ratio(one.effect)
    return f"{figures.ratio_within(one.effect, one.low, one.high)} {_ends(one)}"


def _ends(one: Factor) -> str:
    if one.low is None or one.high is None:
        return "-"
    return figures.ends(one.low, one.high) if math.isfinite(one.high) else "[0, inf]"


def _factor_table(factors: Sequence[Factor]) -> Table:
    def of(one: Factor) -> str:
        if one.effect_of == "sd":
            return "levels" if one.factor.endswith(AS_LEVELS) else "sd"
        return " : ".join(_levels(one))

    def effect(one: Factor) -> Cell:
        if one.effect is None:
            return "-"
        return Value(figures.ratio_within(one.effect, one.low, one.high), one.effect)

    return table_of(
        "factors",
        factors,
        ("<benchmark", lambda one: shorten(one.benchmark, _FACTOR_NAME)),
        ("<variant", lambda one: shorten(one.variant, _FACTOR_NAME)),
        ("<factor", "factor"),
        ("<kind", lambda one: f"{one.kind}, may follow" if one.may_follow else one.kind),
        ("<of", of),
        ("effect", effect),
        ("interval", _ends),
        ("p", "pvalue", figures.significant),
        ("adjusted p", "pvalue_adjusted", figures.significant),
    )


def _levels(one: Factor) -> tuple[str, str]:
    def clock(seconds: re.Match[str]) -> str:
        """Say a second of the day as clocks do: 43159.6 is 11:59:19."""
        whole = int(float(seconds[0]))
        return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"

    highest, lowest = one.highest or "", one.lowest or ""
    if one.factor == "time_of_day":
        highest, lowest = (re.sub(r"\d+(\.\d+)?", clock, level) for level in (highest, lowest))
    return shorten(highest, _FACTOR_NAME), shorten(lowest, _FACTOR_NAME)


def mode_sections(found: Sources) -> tuple[Section, ...]:
    """Give a sentence for each benchmark and variant whose modes are separated, and all in a table."""
    if not found.modes:
        return ()
    told = (
        f"{shorten(one.benchmark, _NAME)} / {shorten(one.variant, _NAME)}"
        f"{'' if len(found.of) == 1 else f' in {one.trial}'}: {one.sentence}"
        for one in found.modes
        if one.sentence
    )
    return (section(*told, section(_mode_table(found)), title="modes"),)


def _mode_table(found: Sources) -> Table:
    def means(mode: Mode) -> str:
        said = [
            f"{figures.quantity(c.mean, found.unit)} ({100 * c.share:.0f} %)" for c in mode.classes
        ]
        return figures.listed(said, 4)  # modes whose means are written out

    def separated(mode: Mode) -> str:
        follows = ", which may follow" if mode.may_follow else ""
        return "nothing recorded" if mode.factor is None else f"{mode.factor}{follows}"

    table = table_of(
        "modes",
        found.modes,
        ("<trial", "trial") if len(found.of) > 1 else None,
        ("<benchmark", lambda mode: shorten(mode.benchmark, _NAME)),
        ("<variant", lambda mode: shorten(mode.variant, _NAME)),
        ("<modes", means),
        ("<separated by", separated),
        ("told rightly", "accuracy", lambda share: f"{100 * share:.0f} %"),
        ("by chance", "chance", lambda share: f"{100 * share:.0f} %"),
        ("p, adjusted", "pvalue", figures.significant),
    )
    return replace(table, notes=tuple(map(_note, found.modes)))


def _note(mode: Mode) -> str:
    order = "told apart by the order: the level changes within sessions"
    aside = f"{figures.counted(mode.aside, 'run')} lie far from these and are of none"
    others = f"as separating, by the same rules: {figures.listed(mode.others)}"
    by_order = mode.classes_by == "order"
    said = ((by_order, order), (mode.aside, aside), (mode.others, others))
    return "; ".join(text for holds, text in said if holds)


# --- A table of systems: the response, predictions, and what they rest on.

_SHEET = Sheet(width=233.7)
_HIGH = 68.0  # mm of a row
_BARS, _CURVES, _LEVELS = 10, 3, 8
_FEWEST_BINS, _MOST_BINS = 8, 40
_SHOWN = 12  # covariates in a table
_COVARIATE = 40


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
    def table(
        name: str, things: Sequence[Any], *columns: tuple[Any, ...]
    ) -> tuple[Block | str, ...]:
        left = len(things) - _SHOWN
        rest = (f"and {left} more, each less (--json gives all)",) * (left > 0)
        return table_of(f"{name}{end}", things[:_SHOWN], *columns), *rest

    def factor(one: Any) -> str:  # noqa: ANN401 - whatever is of a covariate
        return shorten(one.factor, _COVARIATE)

    name = shorten(found.response, 60)
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
        ("<covariate", factor),
        ("importance", lambda one: _part(one.mean)),
        ("sd", lambda one: _part(one.sd, "{:.2f} %")),
    )
    yield section(rests, *shares, title="what the predictions rest on")
    if found.influence:
        lost = {one.factor: one.mean for one in found.importance}
        took = (
            "Relative influence (Friedman 2001; published as such): what the splits by a covariate took "
            "from the squared error of the rows that were learned from, in shares of 100 %, however "
            "well others are predicted. Beside it the importance from above."
        )
        influence = table(
            "influence",
            found.influence,
            ("<covariate", factor),
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
            ("<covariate", factor),
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
    name = shorten(found.response, 60)
    once = "" if found.test_share is None else f" ({100 * found.test_share:g} %, once)"
    said = f"systems held out at random{once}, predicted and measured {name} correlate by "
    said += _correlation(found.random)
    if found.grouped is not None:
        by = f"{found.families:,} by {shorten(found.group or '', _COVARIATE)!r}"
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


def _interval(one: Agreement) -> str:
    return "" if one.low is None or one.high is None else f"[{one.low:.3f}, {one.high:.3f}]"


def _correlation(one: Agreement) -> str:
    if one.correlation is None:
        return "nothing that can be told (no prediction differs)"
    return f"{one.correlation:.3f} {_interval(one)}".rstrip()


def _part(share: float | None, form: str = "{:z.2f} %") -> Cell:
    return "-" if share is None else Value(form.format(100 * share), share)


def _end(one: Dependence, chosen: Callable[..., DependencePoint]) -> tuple[Cell, Cell]:
    point = chosen(one.points, key=lambda point: point.mean)
    at = point.at if isinstance(point.at, str) else f"{point.at:.6g}"
    return shorten(at, 24), Value(figures.significant(point.mean, 4), point.mean)


@page_of.register(Sources)
def _sources_page(found: Sources) -> Page:
    return page(
        found,
        f"sources of variation of {found.response}: {figures.listed(found.of, 3)}",
        *answer(found),
        *mode_sections(found),
        *component_sections(found),
        *factor_sections(found),
        *system_sections(found),
    )
