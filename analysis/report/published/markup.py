"""The panel as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from markupsafe import Markup, escape

from ...methods.hpt.html_page import reliability_plot
from ...pages.model import Cell, Table, Value
from ...plots.palette import style_of
from ...words import shown
from ..chapter import html_of
from ..names import shortened
from ..shell import template
from .axis import Axis
from .histogram import histogram_plot
from .result import MethodAnswer, MethodsPanel, Piece, Question, Ratio, Reason

__all__: list[str] = []

_NAME = 24
_OPEN = 25  # rows up to which a table of a path is unfolded
_COLUMNS = 4  # candidates up to which each has a column
_TIMES = re.compile(r"(?<![\w.\-])(\d[\d.]*)x(?!\w)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?")
_PERCENT = re.compile(r"(?<=\d) %")
_NAMED = {"benchmark", "winner"}  # columns of names
_WORDS = {"faster", "better", "slower", "worse"}


@html_of.register(MethodsPanel)
def _methods_panel_html(chapter: MethodsPanel) -> Markup:
    names = _names(chapter)
    wide = len(chapter.candidates) > _COLUMNS
    first = next(
        (k for k, _ in enumerate(chapter.candidates) if _answered(chapter, k)),
        0,
    )
    axis = Axis(chapter.rows, first)
    columns = [first] if wide else list(range(len(chapter.candidates)))
    text = (
        template("published")
        .get_template("chapter.html.jinja")
        .render(
            chapter=chapter,
            axis=axis,
            columns=columns,
            first=first,
            wide=wide,
            others=[one for one in chapter.reasons if wide and not _on(one, chapter, first)],
            asked=lambda one: _on(one, chapter, first) if wide else one.questions,
            several=len(chapter.candidates) > 1,
            name=lambda name: _name(name, names),
            line=_line,
            answer=_answer,
            question=lambda one: _question(one, names),
            sentence=_told(names),
            table=lambda found, kind: _table(found.table, kind, names),
            histogram=histogram_plot,
            reliability=lambda steps: Markup(reliability_plot(steps)),  # noqa: S704 - escaped by the parts
            folded=_OPEN,
        )
    )
    return Markup(text)  # noqa: S704 - the template escapes


def _on(reason: Reason, chapter: MethodsPanel, place: int) -> list[Question]:
    """Give what is asked of one candidate."""
    named = ("", chapter.candidates[place])
    return [one for one in reason.questions if one.candidate in named]


def _answered(chapter: MethodsPanel, place: int) -> bool:
    return any(row.answers[place].value is not None for row in chapter.rows)


def _names(chapter: MethodsPanel) -> Mapping[str, str]:
    """Shorten all names that stand beside each other."""
    variants = [chapter.baseline, *chapter.candidates]
    benchmarks = [
        cell
        for path in chapter.paths
        for one in path.methods
        for found in one.tables
        for row in found.table.rows
        if isinstance(cell := row[0], str)
    ]
    return {**shortened(benchmarks, _NAME), **shortened(variants, _NAME)}


def _name(name: str, names: Mapping[str, str]) -> Markup:
    """Set a name: cut in its middle, whole in its title, isolated from what stands beside it."""
    text = names.get(name, shown(name))
    if text == shown(name):
        return Markup("<bdi>{}</bdi>").format(text)
    return Markup('<bdi title="{}">{}</bdi>').format(shown(name), text)


def _told(names: Mapping[str, str]) -> Callable[[str], Markup]:
    """Give what sets a sentence in which long names stand: each is cut in its middle."""
    long = sorted((name for name in names if len(name) > _NAME), key=len, reverse=True)
    if not long:
        return _sentence
    pattern = re.compile(f"({'|'.join(re.escape(name) for name in long)})")

    def told(text: str) -> Markup:
        parts = pattern.split(text)
        return Markup("").join(
            _name(part, names) if k % 2 else _sentence(part) for k, part in enumerate(parts)
        )

    return told


def _sentence(text: str) -> Markup:
    """Set a sentence: the sign of a ratio, no break before a percent sign."""
    safe = _PERCENT.sub("\u00a0%", _TIMES.sub("\\1×", shown(text)))
    return escape(safe)


def _line(pieces: Iterable[Piece]) -> Markup:
    """Set the pieces of a line."""
    return Markup("").join(_piece(piece) for piece in pieces)


def _piece(piece: Piece) -> Markup:
    if isinstance(piece, Ratio):
        return escape(f"{piece.text}×")
    if isinstance(piece, Value):
        return escape(shown(piece.text).replace(" ", "\u00a0"))
    said = _sentence(piece)
    return Markup(f"{said[:-1]}\u00a0") if piece.endswith("p ") else said  # noqa: S704 - escaped


def _answer(answer: MethodAnswer) -> Markup:
    """Set the first line of a cell; what differs links to the sentence that says why."""
    word = Markup("")
    if answer.said:
        bold = answer.style != "neither"
        tag = "b" if bold else "span"
        word = Markup('<{0} class="{1}">{2}</{0}>').format(tag, answer.style, answer.said)
    rest = _line(answer.first)
    if not answer.reasons:
        return word + rest
    return Markup('<a href="#{}">{}</a>').format(answer.reasons[-1], word + rest)


def _question(one: Question, names: Mapping[str, str]) -> Markup:
    head = Markup("{}: ").format(_name(one.candidate, names)) if one.candidate else Markup("")
    return head + _line(one.text)


def _table(table: Table, caption: str, names: Mapping[str, str]) -> Markup:
    """Set a table of a path; a cell that stands for a number says it to what sorts."""
    head = Markup("").join(
        Markup('<th scope="col" class="{}">{}</th>').format(
            "num" if column.align == "right" else "word", column.heading
        )
        for column in table.columns
    )
    body = Markup("\n").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(
                _cell(cell, column.heading, names, header=k == 0)
                for k, (cell, column) in enumerate(zip(row, table.columns, strict=True))
            )
        )
        for row in table.rows
    )
    return Markup(
        '<div class="wide" role="region" tabindex="0" aria-label="{0}"><table class="sortable">'
        '<caption class="unseen">{0}</caption><thead><tr>{1}</tr></thead><tbody>{2}</tbody></table></div>'
    ).format(caption, head, body)


def _cell(cell: Cell, heading: str, names: Mapping[str, str], *, header: bool) -> Markup:
    if isinstance(cell, Value):
        if _NUMBER.fullmatch(cell.text):  # sorts as it stands
            return Markup("<td>{}</td>").format(cell.text)
        sort = "" if cell.value is None else f"{cell.value:.6g}"
        return Markup('<td data-sort="{}">{}</td>').format(sort, cell.text)
    if header:
        return Markup('<th scope="row">{}</th>').format(_name(cell, names))
    if heading in _NAMED:
        return Markup('<td class="word">{}</td>').format(_name(cell, names))
    css = f"word {style_of(cell)}" if cell in _WORDS else "word"
    return Markup('<td class="{}">{}</td>').format(css, cell)
