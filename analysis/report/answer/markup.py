"""The first screen as HTML."""

from __future__ import annotations

from functools import partial

from markupsafe import Markup

from ...words import shown
from ..chapter import html_of
from ..shell import template
from . import drawing
from .result import Answer, Bin, Column, Row

__all__: list[str] = []


@html_of.register(Answer)
def _answer_html(chapter: Answer) -> Markup:
    rooms = template("answer")
    rooms.filters["shown"] = shown
    page = rooms.get_template("answer.html.jinja")
    return Markup(  # noqa: S704 - the template escapes
        page.render(
            answer=chapter,
            cell=partial(_cell, chapter),
            axis=_axis,
            key=Markup(drawing.key(strokes=_strokes(chapter))),  # noqa: S704 - our own marks
            is_bin=_is_bin,
            fulls=(*chapter.columns[1:], *chapter.columns[:1]),
        )
    )


def _cell(chapter: Answer, column: Column, number: int, entry: Row | Bin) -> Markup:
    return Markup(drawing.cell(column, number, entry, dense=chapter.dense))  # noqa: S704 - escaped there


def _axis(column: Column) -> Markup:
    return Markup(drawing.axis(column))  # noqa: S704 - escaped there


def _strokes(chapter: Answer) -> bool:
    entries = (entry for column in chapter.columns for entry in (*column.rows, *column.suite))
    return any(isinstance(entry, Row) and entry.sessions for entry in entries)


def _is_bin(entry: Row | Bin) -> bool:
    return isinstance(entry, Bin)
