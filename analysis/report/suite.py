"""The suite as a whole: the runs of each benchmark as boxes, the ranking, the biplot."""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plots
from ..errors import FairtrialError
from ..methods.resampling.biplot import biplot
from ..pages.model import Cell, CommandLine, Section, Sentence, Value, value_of
from ..pages.number_format import bare_pvalue, decimals, outcome_word, span
from ..plots.marks import style_of
from ..record.manifest import asked_words
from ..verdict.ranking import RANKS_ALARM, Ranking, rank_variants
from ..words import shortened, shown
from .methods_text import Span, name_html, sentence_html, spoken_html, spoken_text
from .page import Chapter, table_of
from .suite_boxes import boxes_plots, columns_of as boxes_of, ratio_text
from .written import Written, decimals_of, written_of

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..plots import Box, Wanted
    from ..stats.samples import Array
    from .subject import Subject

__all__ = ["bars_of", "bars_plot", "biplot_plot", "chapter", "plane_of", "ranks_of"]

# --- The biplot of the variants: the existing fit, and its picture with the names that find room.


_SIDE = 328.0  # the picture keeps its ratio: as wide as a telephone's page
_MIDDLE = _SIDE / 2
_EDGE = 11.0  # room for a point
_SAME = 4.0  # points that are nearer than this are one, with all their names
_NAMES = 2  # of them that are written
_ARROW = 0.86  # length of the longest arrow, of the distance of the farthest point
_ARROWS = 60  # more are drawn as lines without heads
_NAMED = 24  # arrows that may have a name

Place = complex  # pixels from the middle, to the right and upwards
Mark = Mapping[str, Any]


def plane_of(subject: Subject, styles: Mapping[str, str]) -> Mapping[str, Any] | str:
    """Fit the medians of all variants on the benchmarks that all of them have; or say why not.

    ``variants`` are points and ``benchmarks`` the ends of arrows in the first two components;
    ``shares`` are these components' parts of the variance in percent.
    """
    matrices = {name: one for name, one in subject.matrices.items() if one.benchmarks}
    if len(matrices) < 3:
        return "A biplot needs three variants or more: two lie on a line whatever they are."
    common = [b for b in subject.order if all(b in one.benchmarks for one in matrices.values())]
    if len(common) < 2:
        return "A biplot needs two benchmarks or more that all variants have."
    table = np.array([matrix.select(common).medians() for matrix in matrices.values()])
    try:
        found = biplot(table, list(matrices), common)
    except FairtrialError as error:
        return f"No biplot: {error.what}."
    shares = (100 * float(part) for part in found.explained[: min(2, found.rank)])
    return {
        "variants": _marks(found.systems, found.scores, styles),
        "benchmarks": _marks(found.benchmarks, found.loadings[:, : found.rank], {}, "baseline"),
        "shares": tuple(
            Value("< 0.1" if 0 < share < 0.05 else f"{share:.1f}", share) for share in shares
        ),
        "conclusion": found.conclusion,
        "cautions": tuple(caution.text for caution in found.cautions),
    }


def _marks(
    names: Sequence[str], places: Array, styles: Mapping[str, str], other: str = "neither"
) -> tuple[Mark, ...]:
    """Give names their places and roles; 0 stands for a second component that is missing."""
    rows = ((*row, 0.0)[:2] for row in places[:, :2].tolist())
    texts = ([Value(f"{x:+.3f}" if abs(x) >= 0.0005 else "0", x) for x in row] for row in rows)
    return tuple(
        {"name": name, "style": styles.get(name, other), "x": x, "y": y}
        for name, (x, y) in zip(names, texts, strict=True)
    )


def biplot_plot(plane: Mapping[str, Any], names: Mapping[str, str]) -> Markup:
    """Draw points and arrows in a square that does not stretch, with the names that find room.

    `names` says how each name is shown.
    """
    points, tips = _geometry(plane)
    strokes = [(*_share(start), *_share(end)) for start, end in _arrows(tips)]
    marks = [
        plots.line(0, _MIDDLE, 1, _MIDDLE, "grid"),
        plots.line(0.5, 0, 0.5, _SIDE, "grid"),
        plots.segments(strokes, "suite-arrow", top=0, height=_SIDE),
    ]
    for mark, point in zip(plane["variants"], points, strict=True):
        marks.append(plots.dot(_share(point)[0], _MIDDLE - point.imag, mark["style"], r=5.0))
    frame = plots.Box(0, 0, _SIDE, _SIDE)
    taken = [_around(point, 7) for point in points]
    heads = [_around(tip, 3) for tip in tips[:_ARROWS]]
    wanted, styles = _point_names(plane["variants"], points, names)
    found = plots.placed(wanted, frame=frame, taken=[*taken, *heads], bold=True)
    # no name lies on the outer half of an arrow, which small boxes cover
    taken += [_around(tip * (0.5 + 0.1 * k), 1.5) for tip in tips[:_ARROWS] for k in range(6)]
    for one, css in zip(found, styles, strict=True):
        if one is not None:  # arrows go on below the name
            box = one.box
            left, right = box.left / _SIDE, box.right / _SIDE
            style = f"suite-point {css}"
            marks.append(plots.band(left, right, box.top, box.bottom, "suite-under"))
            marks.append(plots.label(one.x / _SIDE, one.y, one.text, style, anchor=one.anchor))
            taken.append(box)
    ends = plots.placed(_end_names(plane["benchmarks"], tips, names), frame=frame, taken=taken)
    marks += [
        plots.label(one.x / _SIDE, one.y, one.text, "suite-end", anchor=one.anchor)
        for one in ends
        if one is not None
    ]
    held = " and ".join(f"{share.text} %" for share in plane["shares"])
    places = "; ".join(
        f"{shown(mark['name'])} at {mark['x'].text}, {mark['y'].text}"
        for mark in plane["variants"][:8]
    )
    said = f"{shown(plane['conclusion'])}. Shares of the components: {held}. {places}"
    return plots.plot(_SIDE, marks, said)


def _geometry(plane: Mapping[str, Any]) -> tuple[list[Place], list[Place]]:
    """Place points and arrows' tips; one factor fits the arrows to the points."""
    points, tips = (
        [complex(mark["x"].value, mark["y"].value) for mark in plane[kind]]
        for kind in ("variants", "benchmarks")
    )
    far, long = (max(map(abs, places)) or 1.0 for places in (points, tips))
    reach = max(max(abs(point.real), abs(point.imag)) for point in points) or 1.0
    unit = (_MIDDLE - _EDGE) * 0.8 / max(reach, far * _ARROW)
    stretch = unit * far * _ARROW / long
    return [unit * point for point in points], [stretch * tip for tip in tips]


def _arrows(tips: Sequence[Place]) -> Iterator[tuple[Place, Place]]:
    """Give the strokes of the arrows from the middle: of each a shaft, and two of its head."""
    for tip in tips:
        yield 0, tip
        if abs(tip) >= 8 and len(tips) <= _ARROWS:
            along = tip / abs(tip)
            yield tip - along * (7 - 3j), tip
            yield tip - along * (7 + 3j), tip


def _share(place: Place) -> tuple[float, float]:
    """Give a place as shares of the picture, from the left and from the bottom."""
    return 0.5 + place.real / _SIDE, 0.5 + place.imag / _SIDE


def _pixels(place: Place) -> tuple[float, float]:
    """Give a place as pixels from the left and from the top."""
    return _MIDDLE + place.real, _MIDDLE - place.imag


def _around(place: Place, half: float) -> Box:
    x, y = _pixels(place)
    return plots.Box(x - half, y - half, x + half, y + half)


def _point_names(
    marks: Sequence[Mark], points: Sequence[Place], names: Mapping[str, str]
) -> tuple[list[Wanted], list[str]]:
    """Give the points' names, and the role of each; those that lie on each other have one label."""
    groups: list[list[int]] = []
    for k, point in enumerate(points):
        near = (group for group in groups if abs(points[group[0]] - point) < _SAME)
        if (found := next(near, None)) is None:
            groups.append([k])
        else:
            found.append(k)
    wanted, styles = [], []
    for group in groups:
        text = ", ".join(names[marks[k]["name"]] for k in group[:_NAMES])
        more = f" +{len(group) - _NAMES}" if len(group) > _NAMES else ""
        wanted.append(plots.Wanted(text + more, *_pixels(points[group[0]]), len(group)))
        alike = {marks[k]["style"] for k in group}
        styles.append(alike.pop() if len(alike) == 1 else "neither")
    return wanted, styles


def _end_names(
    marks: Sequence[Mark], tips: Sequence[Place], names: Mapping[str, str]
) -> list[Wanted]:
    """Give the names of the longest arrows, ahead of them."""
    both = sorted(zip(marks, tips, strict=True), key=lambda one: -abs(one[1]))[:_NAMED]
    return [
        plots.Wanted(names[mark["name"]], *_pixels(tip), abs(tip), away=(tip.real, -tip.imag))
        for mark, tip in both
        if tip
    ]


# --- The ranking of three and more variants: every pair by sessions, and who is told from whom.


_LEAST = 3  # variants
_MOST = 24  # of them: 276 pairs
_TOLD = ("faster", "slower")
_FIRST_NAMED = 3  # variants in the sentence
_NOTHING = Written(*[Value("", None)] * 3)  # of a variant without a line
_HEIGHT = 26.0  # of a row


def ranks_of(subject: Subject, styles: Mapping[str, str]) -> Mapping[str, Any] | str:
    """Rank the variants of a trial, best first; or say why not.

    ``rows`` are the variants, each with those that it is not told apart from; ``bars`` the first and
    last place of neighbours of which no pair is told apart; ``pairs`` all pairs, the better one first.
    """
    trial = subject.trial
    variants = [one.variant for one in subject.candidates]
    if trial is None or len(variants) + 1 < _LEAST:
        return "A ranking needs three variants or more of one trial."
    if len(variants) + 1 > _MOST:
        return f"More than {_MOST} variants are not ranked on a page; the command does it."
    asked, verdict = subject.options, subject.verdict
    try:
        found = rank_variants(
            trial,
            metric=verdict.metric,
            confidence=verdict.confidence,
            variants=variants,
            benchmarks=asked.get("benchmarks"),
            margin=verdict.margin,
            weights=asked.get("weights"),
            looks=1 if verdict.always_valid else asked.get("looks"),
            ranked=False,
        )
    except FairtrialError as error:
        return f"No ranking: {error.what}."
    if len(found.variants) < _LEAST:
        return "A ranking needs three variants with runs that count."
    order = [place.variant for place in found.places]
    told = {
        frozenset((pair.candidate, pair.baseline)) for pair in found.pairs if pair.outcome in _TOLD
    }
    alike = {frozenset((pair.candidate, pair.baseline)) for pair in found.pairs} - told
    texts = {name: _suite_line(lines) for name, lines in written_of(subject).items()}
    rule = (
        f"Each pair of variants is compared over the suite by its {found.sessions} sessions (t, "
        f"{100 * found.confidence:g} %), and the {len(found.pairs)} words are corrected together "
        "after Holm; the order is that of the mean log speedups. A bar joins neighbours of which no "
        "pair is told apart."
    )
    if verdict.always_valid:
        rule += " These intervals are those of one look, not the ones that hold at every look."
    return {
        "lead": _lead(order, told, found),
        "rule": rule,
        "rows": tuple(
            {
                "variant": place.variant,
                "style": styles.get(place.variant, "neither"),
                "rank": Value(span((place.best, place.worst)), place.best),
                **_numbers(texts.get(place.variant, _NOTHING)),
                "alike": tuple(
                    other for other in order if frozenset((place.variant, other)) in alike
                ),
            }
            for place in found.places
        ),
        "bars": bars_of(order, told),
        "pairs": tuple(_pairs(subject, found, texts)),
    }


def bars_of(order: Sequence[str], told: set[frozenset[str]]) -> tuple[tuple[int, int], ...]:
    """Give first and last place, from 0, of the longest runs of neighbours without a pair told apart."""
    found: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and all(
            frozenset((order[k], order[last + 1])) not in told for k in range(first, last + 1)
        ):
            last += 1
        if last > first and not (found and found[-1][1] >= last):
            found.append((first, last))
    return tuple(found)


def bars_plot(bars: Sequence[tuple[int, int]], place: int) -> Markup:
    """Draw, in one variant's row, the bars that join it to its neighbours."""
    marks = [
        plots.stroke(
            (k + 0.5) / len(bars),
            11 if place == first else 0,
            15 if place == last else _HEIGHT,
            "suite-bar ink",
        )
        for k, (first, last) in enumerate(bars)
        if first <= place <= last
    ]
    return plots.plot(_HEIGHT, marks, "")


def _lead(order: Sequence[str], told: set[frozenset[str]], found: Ranking) -> tuple[Span, ...]:
    """Say who comes first, and how many pairs are told apart."""
    if not told:
        return (Span("No pair is told apart: there is no order."),)
    apart = f"{len(told)} of {len(found.pairs)}" if len(told) < len(found.pairs) else "All"
    beaten = {
        pair.baseline if pair.outcome == "faster" else pair.candidate
        for pair in found.pairs
        if pair.outcome in _TOLD
    }
    first = [Span(name, foreign=True) for name in order if name not in beaten]
    if len(first) == 1:
        return (*first, Span(f" comes first. {apart} pairs are told apart."))
    named = [one for name in first[:_FIRST_NAMED] for one in (Span(", "), name)][1:]
    more = f" and {len(first) - _FIRST_NAMED} more" if len(first) > _FIRST_NAMED else ""
    more += f". {apart} pairs are told apart."
    return (Span("First, not told apart: "), *named, Span(more))


def _suite_line(lines: Mapping[str, Written]) -> Written:
    """Give the suite's line, or that of the only benchmark."""
    return lines["these"] if "these" in lines else next(iter(lines.values()), _NOTHING)


def _numbers(line: Written) -> Mapping[str, Value]:
    return {"speedup": line.speedup, "low": line.low, "high": line.high}


def _pairs(
    subject: Subject, found: Ranking, texts: Mapping[str, Written]
) -> Iterator[Mapping[str, Any]]:
    """Give all pairs; one that stands on the page is written as there, others by their column."""
    least = decimals_of(pair.speedup for pair in found.pairs)
    for pair in found.pairs:
        line = texts.get(pair.candidate, _NOTHING)
        same = _same(line.speedup, pair.speedup) and _same(line.low, pair.low)
        if pair.baseline != subject.baseline or not same:
            digits = max(least, decimals(pair.low, pair.high))
            numbers = (pair.speedup, pair.low, pair.high)
            line = Written(*(ratio_text(one, digits) for one in numbers))
        yield {
            "candidate": pair.candidate,
            "baseline": pair.baseline,
            **_numbers(line),
            "pvalue": value_of(pair.pvalue_adjusted, bare_pvalue, ""),
            "word": outcome_word(pair.outcome, timed=found.timed),
            "style": style_of(pair.outcome),
        }


def _same(value: Value, number: float | None) -> bool:
    """Whether two numbers differ by rounding at most: a pair may have been turned around."""
    if value.value is None or number is None:
        return value.value is number
    return math.isclose(value.value, number, rel_tol=1e-9)


_NAME, _NARROW = 24, 14
_OPEN = 3  # candidates whose boxes stand unfolded
_BANDS = 8  # rows that the bands of the others are as high as
_TALL = 24  # boxes; more of one candidate stand in three columns

Row = Mapping[str, Any]


def chapter(subject: Subject) -> Chapter | None:
    """Give the chapter; None where there is one benchmark only, or none with boxes."""
    columns = boxes_of(subject)
    if not columns or max(len(one["rows"]) for one in columns) < 2:
        return None
    timed = all(one.multilevel is None or one.multilevel.timed for one in subject.candidates)
    better, worse = outcome_word("faster", timed=timed), outcome_word("slower", timed=timed)
    compared = ((one.variant, one.multilevel) for one in subject.candidates)
    styles = {name: style_of(found.word) for name, found in compared if found is not None}
    styles[subject.baseline] = "baseline"
    plane = plane_of(subject, styles) if subject.candidates else ""
    ranks = ranks_of(subject, styles) if subject.candidates else ""
    missing = tuple(text for text in (plane, ranks) if isinstance(text, str) and text)
    if missing and len(subject.matrices) <= 2:
        missing = ("A biplot and a ranking need three variants or more.",)
    ranked = not isinstance(ranks, str)
    with_zeros = [matrix.with_zeros for matrix in subject.matrices.values()]
    zeros = {bench for one in with_zeros if one is not None for bench in one.benchmarks}
    values = {
        "baseline": subject.baseline,
        "margin": subject.verdict.margin,
        "better": better,
        "worse": worse,
        "reading": _reading(subject, better, worse),
        "boxes": columns,
        "left_out": tuple(bench for bench in subject.order if bench in zeros),
        "plane": None if isinstance(plane, str) else plane,
        "ranks": ranks if ranked else None,
        "missing": missing,
        "friedman": ranked
        * f"A critical-difference diagram is drawn on request only. {RANKS_ALARM}.",
        "commands": _commands(subject) if ranked else (),
    }
    anchor = subject.anchor("suite")
    return Chapter(
        name="suite",
        folder="suite",
        anchor=anchor,
        title="The suite as a whole",
        values=values,
        sections=lambda: tuple(_sections(values)),
        drawn=lambda: _drawn(values, anchor),
    )


def _reading(subject: Subject, better: str, worse: str) -> tuple[Span, ...]:
    """Say how the boxes are read."""
    ends = "fastest and the slowest" if better == "faster" else "best and the worst"
    rest = (
        f", right is {better} and left is {worse}. A box holds the middle half of a benchmark's runs, "
        f"the line in it is their median, and the whiskers end at the {ends} run; one without an end "
        "goes on beyond the scale."
    )
    if not subject.candidates:
        return (Span(f"Runs as ratios to their benchmark's median{rest}"),)
    base = Span(subject.baseline, foreign=True)
    grey = (Span(" Grey: "), base, Span(" itself."))
    return (Span("Runs as ratios to the median of "), base, Span(rest), *grey)


def _commands(subject: Subject) -> tuple[str, ...]:
    source = subject.sources[0]
    metric = [] if subject.verdict.usual else ["--metric", subject.verdict.metric]
    return tuple(
        shlex.join(["fairtrial", *words, *metric, *asked_words()])
        for words in (("verdict", source, "--rank"),)
    )


def _sections(values: Row) -> Iterator[Section]:
    """Give the same as sentences and tables."""
    boxes = table_of(
        "five-numbers",
        "<benchmark; <variant; runs; worst; lower quartile; median; upper quartile; best",
        _five_numbers(values),
    )
    yield Section((Sentence(spoken_text(values["reading"])), boxes), "All runs")
    if ranks := values["ranks"]:
        places = table_of(
            "ranks",
            "rank; <variant; speedup; low; high; <not told apart from",
            (
                (one["rank"], shown(one["variant"]), *_interval(one), _named(one["alike"]))
                for one in ranks["rows"]
            ),
        )
        pairs = table_of(
            "pairs",
            "<better; <against; speedup; low; high; p, Holm; <word",
            (
                (
                    *map(shown, (one["candidate"], one["baseline"])),
                    *_interval(one),
                    one["pvalue"],
                    one["word"],
                )
                for one in ranks["pairs"]
            ),
        )
        lead, rule = Sentence(spoken_text(ranks["lead"])), Sentence(ranks["rule"])
        commands = (CommandLine(shown(line)) for line in values["commands"])
        more = Sentence(values["friedman"])
        yield Section((lead, places, rule, pairs, more, *commands), "Ranking")
    if plane := values["plane"]:
        table = table_of(
            "coordinates",
            "<what; <name; PC1; PC2",
            (
                (kind, shown(mark["name"]), mark["x"], mark["y"])
                for kind in ("variant", "benchmark")
                for mark in plane[f"{kind}s"]
            ),
        )
        texts = (Sentence(f"{shown(text)}.") for text in (plane["conclusion"], *plane["cautions"]))
        yield Section((*texts, table), "What goes together")
    rest = [*values["missing"]]
    if values["left_out"]:
        names = _named(values["left_out"])
        rest.insert(0, f"Without a box, because runs of 0 have no ratio: {names}.")
    if rest:
        yield Section(tuple(Sentence(shown(text)) for text in rest))


def _five_numbers(values: Row) -> Iterator[tuple[Cell, ...]]:
    """List the five numbers of each cell; the baseline's stand once."""
    for k, column in enumerate(values["boxes"]):
        sides = {"baseline": values["baseline"], "candidate": column["candidate"]}
        for row, (side, variant) in itertools.product(column["rows"], sides.items()):
            five = row[side]
            if five is not None and (side == "candidate" or k == 0):
                names = shown(row["benchmark"]), shown(variant)
                yield (*names, Value(f"{five.runs}", five.runs), *map(_times, five.values))


def _named(names: Iterable[str]) -> str:
    return ", ".join(map(shown, names))


def _interval(row: Row) -> tuple[Value, Value, Value]:
    return (_times(row["speedup"]), row["low"], row["high"])


def _times(value: Value) -> Value:
    return Value(f"{value.text}x", value.value) if value.text else value


def _drawn(values: Row, anchor: str) -> Row:
    """Give what the template takes beside the values: which boxes stand unfolded, and pictures."""
    boxes, ranks, plane = values["boxes"], values["ranks"], values["plane"]
    benchmarks = [row["benchmark"] for one in boxes for row in one["rows"]]
    variants = [values["baseline"], *(one["candidate"] for one in boxes)]
    variants += [row["variant"] for row in (ranks["rows"] if ranks else ())]
    variants += [mark["name"] for mark in (plane["variants"] if plane else ())]
    names, narrow = (
        {**shortened(benchmarks, width), **shortened(variants, width)} for width in (_NAME, _NARROW)
    )
    columns = [
        (one, _stacked(one), boxes_plots(one, values, f"{anchor}-boxes-{k}-grid"))
        for k, one in enumerate(boxes, 1)
    ]
    tall = any(len(stacks) > 1 for _, stacks, _ in columns)
    first = 1 if tall else _OPEN if len(columns) > _OPEN + 1 else len(columns)
    beside = tall or len(columns) > 1
    return {
        "columns": columns[:first],
        "others": columns[first:],
        "wide": 3 if tall else min(first, 3),
        "name": lambda name: name_html(name, names),
        "brief": lambda name: name_html(name, narrow if beside else names),
        "sentence": sentence_html,
        "spoken": lambda spans: spoken_html(spans, names),
        "biplot": biplot_plot(plane, narrow) if plane else "",
        "bars": lambda place: bars_plot(ranks["bars"], place),
    }


def _stacked(column: Row) -> list[list[Row | None]]:
    """Give the rows that are listed, and None once, where the bands of the others stand.

    Many of them are in three parts, which stand beside each other.
    """
    listed = set(column["listed"])
    rows: list[Row | None] = []
    for row in column["rows"]:
        if row["benchmark"] in listed:
            rows.append(row)
        elif None not in rows:
            rows.append(None)
    if len(rows) <= _TALL:
        return [rows]
    stacks: list[list[Row | None]] = [[], [], []]
    heights = [_BANDS if row is None else 1 for row in rows]
    middles = (2 * sum(heights[:k]) + height for k, height in enumerate(heights))
    for row, middle in zip(rows, middles, strict=True):  # a row's middle says in which part it is
        stacks[3 * middle // (2 * sum(heights))].append(row)
    return stacks
