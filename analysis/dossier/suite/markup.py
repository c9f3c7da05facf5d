"""The suite as HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from ..chapter import html_of
from ..names import shortened, shown
from ..shell import template
from .drawings import BoxAxis, bars_plot, biplot_plot
from .result import BoxColumn, BoxRow, FiveNumbers, Plane, Span, Suite

__all__: list[str] = []

_NAME, _NARROW = 24, 15
_FOLDED = 12  # pairs, and arrows, from which on a table is folded
_RATIO = re.compile(r"(?<=\d)x\b")
_PERCENT = re.compile(r"(?<=\d) %")


@html_of.register
def _(chapter: Suite) -> Markup:
    variants = [chapter.baseline, *(one.candidate for one in chapter.boxes)]
    if chapter.ranks is not None:
        variants += [row.variant for row in chapter.ranks.rows]
    if chapter.plane is not None:
        variants += [mark.name for mark in chapter.plane.variants]
    benchmarks = [row.benchmark for one in chapter.boxes for row in one.rows]
    benchmarks += [mark.name for mark in (chapter.plane.benchmarks if chapter.plane else ())]
    names = {**shortened(benchmarks, _NAME), **shortened(variants, _NAME)}
    narrow = {**shortened(benchmarks, _NARROW), **shortened(variants, _NARROW)}
    axes = [
        BoxAxis(one, chapter.margin, anchor=f"{chapter.anchor}-boxes-{k}")
        for k, one in enumerate(chapter.boxes, 1)
    ]
    text = (
        template("suite")
        .get_template("chapter.html.jinja")
        .render(
            chapter=chapter,
            columns=list(zip(chapter.boxes, axes, strict=True)),
            parts=_parts,
            name=lambda name: _name(name, names),
            brief=lambda name: _name(name, narrow if len(chapter.boxes) > 1 else names),
            sentence=_sentence,
            spoken=lambda spans: _spoken(spans, names),
            box=lambda axis, row: Markup(axis.row(row, _box_alt(row, chapter))),  # noqa: S704 - escaped by the parts
            band=lambda axis, one: Markup(axis.bands(one.bands, _band_alt(one))),  # noqa: S704
            foot=lambda axis: Markup(axis.foot(chapter.better, chapter.worse)),  # noqa: S704
            head=lambda axis: Markup(axis.head()),  # noqa: S704
            biplot=lambda plane: Markup(biplot_plot(plane, narrow, _plane_alt(plane))),  # noqa: S704
            bars=lambda ranks, place: Markup(bars_plot(ranks, place)),  # noqa: S704
            folded=_FOLDED,
        )
    )
    return Markup(text)  # noqa: S704 - the template escapes


def _name(name: str, names: Mapping[str, str]) -> Markup:
    """Set a name: cut in its middle, whole in its title, isolated from what stands beside it."""
    text = names.get(name, shown(name))
    if text == shown(name):
        return Markup("<bdi>{}</bdi>").format(text)
    return Markup('<bdi title="{}">{}</bdi>').format(shown(name), text)


def _spoken(spans: Sequence[Span], names: Mapping[str, str]) -> Markup:
    """Set a sentence in which names stand."""
    return Markup("").join(
        _name(one.text, names) if one.foreign else _sentence(one.text) for one in spans
    )


def _sentence(text: str) -> Markup:
    """Set a sentence: the sign of a ratio, no break before a percent sign."""
    return escape(_PERCENT.sub("\u00a0%", _RATIO.sub("×", shown(text))))


def _parts(column: BoxColumn) -> list[BoxRow | None]:
    """Give the rows that are listed, and None once, where the bands of the others stand."""
    listed = set(column.listed)
    found: list[BoxRow | None] = []
    waiting = bool(column.bands)
    for row in column.rows:
        if row.benchmark in listed:
            found.append(row)
        elif waiting:
            found.append(None)
            waiting = False
    return found


def _box_alt(row: BoxRow, chapter: Suite) -> str:
    if row.candidate is None:
        return f"{shown(row.benchmark)}: {_five(row.baseline)}"
    base = row.baseline
    return (
        f"{shown(row.benchmark)}: {_five(row.candidate)}; {shown(chapter.baseline)}'s middle half "
        f"{base.q1.text} to {base.q3.text}"
    )


def _five(one: FiveNumbers) -> str:
    return (
        f"median {one.median.text} times, middle half {one.q1.text} to {one.q3.text}, all of "
        f"{one.runs} runs {one.worst.text} to {one.best.text}"
    )


def _band_alt(column: BoxColumn) -> str:
    count = sum(band.benchmarks for band in column.bands)
    first, last = column.bands[0].numbers, column.bands[-1].numbers
    return (
        f"{count} more benchmarks in {len(column.bands)} groups: medians from {first.median.text} to "
        f"{last.median.text} times"
    )


def _plane_alt(plane: Plane) -> str:
    held = " and ".join(f"{share.text} %" for share in plane.shares)
    places = "; ".join(
        f"{shown(mark.name)} at {mark.x.text}, {mark.y.text}" for mark in plane.variants[:8]
    )
    return (
        f"Biplot of {len(plane.variants)} variants: components of {held} of the variance; {places}"
    )
