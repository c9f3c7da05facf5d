"""Figures of the whole suite: speedups, five numbers, HPT's reliability, the biplot, means of samples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..diagnose.normality import (
    from_on,
    grown_bandwidth,
    lilliefors,
    runs_of,
    sample_means,
    sizes_enough,
)
from ..errors import AnalysisError, InsufficientDataError
from ..methods.biplot import Biplot, biplot, biplot_picture, shares_picture
from ..methods.hpt.speedup import HptSpeedup, hpt_speedup
from ..methods.multilevel.lines import ratio_of
from ..methods.multilevel.page import level_text
from ..methods.multilevel.result import Line, Multilevel
from ..pages.number_format import counted, outcome_word, pvalue
from ..plots.axes import Axes, Key, Scale, Sheet, Tick, ratio_axis, ratio_scale, rows_down
from ..plots.chart import POINT
from ..plots.marks import COLOURS, style_of
from ..stats.arguments import stream
from ..stats.samples import kernel_density
from ..verdict.sentence import word
from .figures import (
    Drawing,
    Number,
    columns_of,
    few_of,
    in_columns,
    line_of,
    name_of,
    names_of,
    rows_high,
)
from .subject import Subject, Written, column_of, level_of, written_of

_PANEL = 7.2  # mm of width for each point of a letter's size, that a panel in a row needs

# --- Speedups with their intervals, session values and margin: the answer in one picture.


_STROKES = 20  # rows; up to here each may show its sessions
_SUITE = {"these": "these {n}", "similar": "others like them"}


def draw_forest(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a panel for each candidate: in a row where there is room, else below each other."""
    results = subject.results
    if not results:
        raise InsufficientDataError(
            "a forest shows speedups, and nothing was compared",
            fix="name two sides, or a trial with two variants that have runs",
            n=0,
            needed=1,
        )
    known = dict.fromkeys(line.name for result in results for line in column_of(result))
    every = [*(name for name in subject.order if name in known), *(n for n in _SUITE if n in known)]
    cautioned = {name for caution in subject.verdict.cautions for name in caution.about}
    rows, notes = few_of(every, cautioned, last=2)
    across = columns_of(sheet, len(results), _PANEL)
    down = -(-len(results) // across)
    strokes = len(rows) <= _STROKES and any(one.differences for one in results[0].benchmarks)
    lines_high = down * max(len(rows) + 1.2, 5.0)
    height = rows_high(sheet, lines_high, 2.3 if strokes else 1.5, around=2.0 + 3.2 * down)
    texts = written_of(subject)
    names = names_of(rows, sheet, 0.2 / across + 0.06)
    titles = names_of([one.candidate for one in results], sheet, 0.62 / across, bold=True)
    base = name_of(subject.baseline, sheet, 0.22 / across)
    panels = []
    for k, result in enumerate(results):
        shown = names | {one: text.format(n=result.together) for one, text in _SUITE.items()}
        axes = rows_down([shown[one] for one in rows])
        _speedups(axes, result, rows, texts[result.candidate], strokes=strokes, brief=across > 1)
        axes.y_texts = k % across == 0
        axes.title, axes.title_css = titles[result.candidate] * (len(results) > 1), "ink bold"
        one = f" of {name_of(result.candidate, sheet, 0.2)}" if len(results) == 1 else ""
        if k + across >= len(results):
            axes.x_label = f"speedup{one} over {base}"
        panels.append(axes)
    parts = [_heading(result, texts[result.candidate]) for result in results]
    level, among = level_of(subject.verdict), f"in {subject.verdict.counts.sessions} sessions"
    if level is not None:
        among = f"on hosts like these {len(level.hosts)}, in {level.sessions} sessions of theirs"
    headings = "candidate baseline line speedup low high confidence word sessions session_speedups"
    return Drawing(
        alt=f"Speedups over {subject.baseline}, {among} with {subject.verdict.counts.runs} runs. "
        f"{'. '.join(parts)}.",
        picture=in_columns(sheet, panels, across, height, notes),
        columns=tuple(headings.split()),
        rows=tuple(_numbers(result, line) for result in results for line in column_of(result)),
    )


def _speedups(
    axes: Axes,
    result: Multilevel,
    rows: Sequence[str],
    texts: Mapping[str, Written],
    *,
    strokes: bool,
    brief: bool,
) -> None:
    lines = {line.name: line for line in column_of(result) if line.name in rows}
    scale = ratio_scale(_extent(lines.values()), result.margin)
    axes.margin(result.margin)
    ratio_axis(axes, "x", scale)
    for y, name in enumerate(rows):
        line = lines.get(name)
        if line is None or line.speedup is None:
            axes.beside.append((y, "no speedup", "second"))
            continue
        if strokes:
            inside = [one for one in map(ratio_of, line.differences) if scale.holds(one)]
            axes.segments(inside, y + 0.2, inside, y + 0.42, "baseline thin")
        ends = None if line.low is None or line.high is None else (line.low, line.high)
        hollow = line.outcome == "undecided"
        css = style_of(line.outcome)
        axes.interval(y, line.speedup, ends, css, hollow=hollow, suite=name in _SUITE)
        numbers = f"{texts[name].speedup.text}× {'' if brief else texts[name].interval}".strip()
        axes.beside.append((y, f"{numbers}  {word(line, result.unit)}", "ink"))


def _extent(lines: Iterable[Line]) -> list[float]:
    """Give what the axis must hold: all estimates, and ends as far as they leave room for these."""
    known = [line for line in lines if line.speedup is not None]
    speedups = [line.speedup for line in known if line.speedup is not None] or [1.0]
    low, high = min(speedups), max(speedups)
    room = max(1.5, (high / low) ** 0.8)
    ends = [end for line in known for end in (line.low, line.high) if end is not None]
    return [*speedups, *(min(max(end, low / room), high * room) for end in ends)]


def _heading(result: Multilevel, texts: Mapping[str, Written]) -> str:
    line = result.these if result.these is not None else result.benchmarks[0]
    row, many = texts[line.name], len(result.benchmarks)
    what = f"{many} benchmarks" if many > 1 else repr(line.name)
    level = level_text(result.look.alpha)
    ends = f"{level} interval {row.interval}" if row.interval else "no interval"
    answer = f"{ends}, {word(line, result.unit)}"
    words = f"{result.candidate}: {row.speedup.text} times over {what}, {answer}"
    return f"{words}; {_counted(result)}" if many > 1 else words


def _counted(result: Multilevel) -> str:
    """Count the words of a candidate: ``3 faster, 1 undecided``."""
    words = [word(line, result.unit) for line in result.benchmarks]
    return ", ".join(f"{words.count(each)} {each}" for each in dict.fromkeys(words))


def _numbers(result: Multilevel, line: Line) -> tuple[Number, ...]:
    return (
        result.candidate,
        result.baseline,
        line.name,
        line.speedup,
        line.low,
        line.high,
        round(1 - result.look.alpha, 12),
        outcome_word(line.outcome, timed=result.timed),
        result.sessions if line.of_suite else line.sessions,
        " ".join(repr(ratio_of(d)) for d in line.differences),
    )


# --- Five numbers of each benchmark and variant.


_BOX_PANEL = 5.0  # mm of width for each point of a letter's size


def draw_box(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a panel for each variant: a box for each benchmark, relative to the baseline's median."""
    base = subject.matrices.get(subject.baseline)
    if base is None:
        raise InsufficientDataError("the baseline has no runs that count", n=0, needed=1)
    middle = dict(zip(base.benchmarks, base.medians().tolist(), strict=True))
    every = [bench for bench in subject.order if bench in middle]
    few, notes = few_of(every)
    numbers = {
        (name, bench): np.quantile(matrix.values(bench), [0, 0.25, 0.5, 0.75, 1])
        for name, matrix in subject.matrices.items()
        for bench in every
        if bench in matrix.benchmarks
    }
    variants = list(subject.matrices)
    across = columns_of(sheet, len(variants), _BOX_PANEL)
    down = -(-len(variants) // across)
    shown = names_of(few, sheet, 0.22)
    titles = names_of(variants, sheet, 0.7 / across, bold=True)
    scale = ratio_scale(v / middle[b] for (_, b), five in numbers.items() for v in five.tolist())
    panels = []
    for k, name in enumerate(variants):
        axes = rows_down([shown[bench] for bench in few])
        ratio_axis(axes, "x", scale)
        for y, bench in enumerate(few):
            if (name, bench) not in numbers:
                continue
            line = line_of(subject, name, bench)
            unknown = None if name == subject.baseline else "undecided"
            css = style_of(unknown if line is None else line.outcome)
            low, q1, mid, q3, high = (numbers[name, bench] / middle[bench]).tolist()
            axes.line(low, y, high, y, css)
            axes.line(q1, y, q3, y, f"{css} broad pale")
            axes.spots(mid, y, f"{css} curve", r=3.2, shape="upright")
        axes.y_texts = k % across == 0
        axes.title, axes.title_css = titles[name], "ink bold"
        panels.append(axes)
    one = name_of(subject.baseline, sheet, 0.7 / across)
    metric = name_of(subject.data.metric, sheet, 0.2)
    panels[-1].x_label = f"{metric}; 1× is the median of\n{one}"
    texts = [
        f"{one.variant}: {_counted(one.multilevel)}"
        for one in subject.candidates
        if one.multilevel is not None and one.variant in variants
    ]
    what = f"Minimum, quartiles and maximum of the runs of {counted(len(every), 'benchmark')}"
    height = rows_high(sheet, down * max(len(few) + 1.0, 5.0), 1.5, 1.0 + 3.2 * down)
    headings = "variant benchmark unit minimum quartile_1 median quartile_3 maximum runs"
    return Drawing(
        alt=f"{'. '.join([f'{what}, relative to the median of {subject.baseline}', *texts])}.",
        picture=in_columns(sheet, panels, across, height, notes),
        columns=tuple(headings.split()),
        rows=tuple(
            (name, b, subject.data.unit, *five.tolist(), len(subject.matrices[name].values(b)))
            for (name, b), five in numbers.items()
        ),
    )


# --- HPT's reliability for each speedup under test.


_SURE = 1e-4  # of a reliability: what is nearer to 0 or 1 is not drawn


def draw_curve(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a step curve for each candidate, with the required level and the largest speedup."""
    results = subject.results
    every = ((_best(subject, result.candidate), style_of(result.word)) for result in results)
    found = [(best, style) for best, style in every if best is not None]
    if not found:
        raise InsufficientDataError(
            "HPT compares suites: it needs two benchmarks that both sides have",
            fix="draw a forest",
            n=1,
            needed=2,
        )
    across = columns_of(sheet, len(found), _PANEL)
    names = names_of([best.candidate for best, _ in found], sheet, 0.6 / across)
    base = name_of(subject.baseline, sheet, 0.6 / across)
    panels = []
    for k, (best, css) in enumerate(found):
        axes = _steps(best, css)
        printed = "none" if best.printed is None else f"{best.printed}×"
        axes.title = f"{names[best.candidate]}: {printed}" if len(found) > 1 else ""
        axes.y_texts = k % across == 0
        axes.y_label = "HPT reliability" if axes.y_texts else ""
        axes.x_label = f"speedup under test,\nover {base}"
        panels.append(axes)
    rows: list[tuple[Number, ...]] = []
    for best, _ in found:
        curve = best.curve
        steps = (curve.speedups, curve.at, curve.between[:-1], curve.between[1:])
        rows += [(best.candidate, *each) for each in np.column_stack(steps).tolist()]
    headings = "candidate speedup reliability_at reliability_below reliability_above"
    height = rows_high(sheet, -(-len(found) // across), 13.0, 3.0)
    return Drawing(
        alt=f"{'. '.join(f'{best.candidate}: {best.conclusion}' for best, _ in found)}.",
        picture=in_columns(sheet, panels, across, height),
        columns=tuple(headings.split()),
        rows=tuple(rows),
    )


def _best(subject: Subject, variant: str) -> HptSpeedup | None:
    ours, theirs = subject.matrices.get(variant), subject.matrices.get(subject.baseline)
    if ours is None or theirs is None:
        return None
    common = [bench for bench in ours.benchmarks if bench in theirs.benchmarks]
    confidence = subject.verdict.question.confidence
    if len(common) < 2 or not 0.5 < confidence < 1:
        return None
    try:
        return hpt_speedup(ours.select(common), theirs.select(common), confidence=confidence)
    except AnalysisError:  # values that HPT has no answer for
        return None


def _steps(best: HptSpeedup, css: str) -> Axes:
    curve = best.curve
    inside = curve.speedups[(curve.between[:-1] > _SURE) & (curve.between[1:] < 1 - _SURE)]
    shown = inside if inside.size else curve.speedups
    scale = ratio_scale([*shown.tolist(), *([] if best.value is None else [best.value])])
    required = Tick(best.required, f"{best.required:g}")
    axes = Axes(y=Scale(-0.02, 1.03), y_ticks=[Tick(0, "0"), Tick(0.5, "0.5"), required])
    ratio_axis(axes, "x", scale)
    axes.level(best.required, "one thin dashed")
    ends = min(scale.low, *curve.speedups), max(scale.high, *curve.speedups)
    x = [ends[0], *np.repeat(curve.speedups, 2), ends[1]]
    axes.curve(x, np.repeat(curve.between, 2), "ink curve")
    if best.value is not None:
        axes.spots(best.value, best.required, css, r=2.6)
    return axes


# --- The biplot of the variants' medians, and the shares of its components.


_SYSTEMS = 3


def draw_biplot(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw the biplot of the variants' medians."""
    return biplot_of(_components(subject, "biplot"), sheet)


def draw_shares(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw the shares of the variance of the variants' medians that the components explain."""
    return shares_of(_components(subject, "figure of shares"), sheet)


def _components(subject: Subject, what: str) -> Biplot:
    matrices = list(subject.matrices.values())
    if len(matrices) < _SYSTEMS:
        are = "are" if len(matrices) > 1 else "is"
        raise InsufficientDataError(
            f"a {what} needs three systems or more, and here {are} {len(matrices)}",
            fix="draw a forest: it shows which of two variants is better",
            n=len(matrices),
            needed=_SYSTEMS,
        )
    common = [b for b in subject.order if all(b in m.benchmarks for m in matrices)]
    if not common:
        raise InsufficientDataError("no benchmark is common to all variants", n=0, needed=1)
    return biplot([m.select(common).medians() for m in matrices], list(subject.matrices), common)


def shares_of(found: Biplot, sheet: Sheet) -> Drawing:
    """Set the shares of components that are computed already as a drawing."""
    together = np.minimum(np.cumsum(found.explained), 1.0).tolist()
    each = found.explained.tolist()
    return Drawing(
        alt=f"{found.conclusion}.",
        picture=shares_picture(found, sheet),
        columns=("component", "share", "together"),
        rows=tuple((k + 1, each[k], together[k]) for k in range(found.rank)),
    )


def biplot_of(found: Biplot, sheet: Sheet) -> Drawing:
    """Set a biplot that is computed already as a drawing."""
    kinds = ("system", found.systems, found.scores), ("benchmark", found.benchmarks, found.loadings)
    return Drawing(
        alt=f"{found.conclusion}.",
        picture=biplot_picture(found, sheet),
        columns=("kind", "name", "pc1", "pc2"),
        rows=tuple(
            (kind, one, float(row[0]), float(row[1]) if row.size > 1 else 0.0)
            for kind, names, table in kinds
            for one, row in zip(names, table, strict=True)
        ),
    )


# --- Means of ever larger samples against the normal law: figure 4 of T. Chen et al., "Statistical
# performance comparisons of computers", HPCA 2012.


_LAW = "ink dashed thin"
_SEED = 0
_ACROSS, _ACROSS_NARROW, _BROAD = 5, 3, 120.0  # panels in a row of a broad sheet, and mm of such
_HIGH = 17.0  # mm of a panel without its title
_REACH = 3.5  # standard deviations to each side
_POINTS = 64


def draw_means(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a panel for each size of samples: the density of their means, a curve for each variant.

    Samples are drawn from all runs of a variant, each divided by its benchmark's median. The window of
    a density is the smallest that leaves it one peak.
    """
    found = {}
    why, texts = "there is no variant", list[str]()
    for name, matrix in list(subject.matrices.items())[: len(COLOURS)]:
        try:
            runs = runs_of(matrix)
            drawn = sample_means(runs, rng=stream(_SEED, "mean sample size", name))
            found[name] = {size: (x - x.mean()) / x.std(ddof=1) for size, x in drawn}
            _, least = sizes_enough(runs, risk=0.05, rng=stream(_SEED, "mean sample size", name))
            texts.append(f"{name}: means {from_on(*least)}")
        except AnalysisError as error:
            why = error.what
    if not found:
        raise InsufficientDataError(why, fix="measure more runs", n=0, needed=5)
    grid = np.linspace(-_REACH, _REACH, _POINTS)
    law = np.exp(-0.5 * grid**2) / math.sqrt(2 * math.pi)
    curves = {
        (name, size): kernel_density(x, grid, grown_bandwidth(x))
        for name, means in found.items()
        for size, x in means.items()
    }
    top = max(float(curve.max()) for curve in (law, *curves.values()))
    names = names_of(list(found), sheet)
    several = len(found) > 1
    panels: list[Axes] = []
    rows: list[tuple[Number, ...]] = []
    sizes = list(next(iter(found.values())))
    across = _ACROSS if sheet.width > _BROAD else _ACROSS_NARROW
    for size in sizes:
        axes = Axes(x=Scale(-_REACH, _REACH), y=Scale(0, 1.05 * top), title=f"n = {size}")
        axes.x_ticks = [Tick(at, f"{at}".replace("-", "\N{MINUS SIGN}")) for at in (-2, 0, 2)]
        axes.x_texts = size in sizes[-across:]
        axes.curve(grid, law, _LAW)
        for k, (name, means) in enumerate(found.items()):
            p = lilliefors(means[size]).pvalue
            style = f"c{k} d{k} curve" if several else "baseline curve"
            axes.curve(grid, curves[name, size], style)
            if several and size == sizes[0]:
                axes.keys.append(Key(names[name], style))
            elif not several:
                axes.title += f", p {pvalue(p)}"
            rows.append((name, size, means[size].size, p))
        panels.append(axes)
    panels[len(sizes) - across // 2 - 1].x_label = "mean of n runs, in standard deviations"
    high = -(-len(panels) // across) * (_HIGH + 3 * sheet.font_size * POINT)
    return Drawing(
        alt=f"Densities of {rows[0][2]} means of n runs each, n from {sizes[0]} to {sizes[-1]}, "
        f"against the normal law, at risk 0.05, seed {_SEED}. {'. '.join(texts)}.",
        picture=in_columns(sheet, panels, across, min(230.0, high)),
        columns=("variant", "n", "means", "p_lilliefors"),
        rows=tuple(rows),
    )
