"""The suite as HTML."""

from __future__ import annotations

from markupsafe import Markup

from ...words import shown
from ..chapter import html_of
from ..names import shortened
from ..shell import template
from ..spoken import name_html, sentence_html, spoken_html
from .bars import bars_plot
from .biplot_drawing import biplot_plot
from .box_axis import BoxAxis
from .result import BoxColumn, BoxRow, FiveNumbers, Plane, Suite

__all__: list[str] = []

_NAME, _NARROW = 24, 14
_OPEN = 3  # candidates whose boxes stand unfolded
_FOLDED = 12  # pairs, and arrows, from which on a table is folded


@html_of.register(Suite)
def _suite_html(chapter: Suite) -> Markup:
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
    pairs = list(zip(chapter.boxes, axes, strict=True))
    first = _OPEN if len(pairs) > _OPEN + 1 else len(pairs)
    text = (
        template("suite")
        .get_template("chapter.html.jinja")
        .render(
            chapter=chapter,
            columns=pairs[:first],
            others=pairs[first:],
            parts=_parts,
            shown=shown,
            name=lambda name: name_html(name, names),
            brief=lambda name: name_html(name, narrow if len(chapter.boxes) > 1 else names),
            sentence=sentence_html,
            spoken=lambda spans: spoken_html(spans, names),
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
    return f"{shown(plane.conclusion)}. Shares of the components: {held}. {places}"
