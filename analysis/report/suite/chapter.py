"""The suite as a whole: the runs of each benchmark as boxes, the ranking, the biplot."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...pages.model import Cell, CommandLine, Section, Sentence, Value
from ...pages.number_format import said
from ...plots.palette import style_of
from ...record.warmup_iterations import asked_words
from ...verdict.ranking import RANKS_ALARM
from ...words import shown
from ..chapter import Chapter, table_of
from ..names import shortened
from ..spoken import Span, name_html, sentence_html, spoken_html, spoken_text
from .biplot import biplot_plot, plane_of
from .boxes import boxes_plots, columns_of as boxes_of
from .ranks import bars_plot, ranks_of

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["chapter"]

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
    better, worse = said("faster", timed=timed), said("slower", timed=timed)
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
        for words in (("verdict", source, "--rank"), ("plot", "cd", source, "-o", "cd.svg"))
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
