"""The page of a result: sentences, tables, figures and cautions as plain values.

A result is numbers; its page is the words about them, filled by the ``page.py`` beside it. Renderers
(`analysis.report.as_text`, and others to come) know pages and no method. The classes have no slots:
there are few objects, and slots double the time that a class takes at start-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any, Literal

from ..registry import PAGES, load
from ..words import command_line
from .short_sentence import ShortSentence


@dataclass(frozen=True, slots=True)
class Caution:
    """What a reader should know before trusting an answer.

    Two cautions are the same when `code` and `about` are: a sentence may be reworded at any time.

    `code`: What it is, in small letters with hyphens; ``docs/json.md`` lists all codes. `text`: One
    sentence for a person. `about`: The variants, benchmarks or files that it is about; empty where
    it is about everything. `short`: What a first screen says instead, where it may stand on one.
    """

    code: str
    text: str = field(compare=False)
    about: tuple[str, ...] = ()
    short: ShortSentence | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.text

    def __contains__(self, words: object) -> bool:
        return isinstance(words, str) and words in self.text

    def of(self, name: str) -> Caution:
        """Give the same caution, said of a variant or a file."""
        return replace(
            self,
            text=f"{name}: {self.text}",
            about=(name, *self.about),
            short=None if self.short is None else self.short.about(name),
        )


def merged(*groups: Iterable[Caution]) -> tuple[Caution, ...]:
    """Give the cautions of all groups in their order, each once."""
    return tuple(dict.fromkeys(caution for group in groups for caution in group))


@dataclass(frozen=True)
class Sentence:
    """One sentence or short paragraph."""

    text: str


@dataclass(frozen=True)
class CommandLine:
    """A command line to copy; it is never broken into lines."""

    line: str


@dataclass(frozen=True)
class Note:
    """What a reader should know of the answer above it: one sentence, said as ``note  TEXT``."""

    text: str


@dataclass(frozen=True)
class Next:
    """What to do next, ready to be pasted: ``next  COMMAND    WHY``.

    `words`: The command, a word each, unquoted. `why`: What it is for, in a few words.
    """

    words: tuple[str, ...]
    why: str = ""

    @property
    def line(self) -> str:
        """The command as one line for a shell, as JSON has it."""
        return command_line(self.words)


@dataclass(frozen=True)
class Value:
    """A cell of a table that stands for a number: how it is written, and the number itself.

    Text shows `text`; what sorts or exports takes `value`, None where there is none.
    """

    text: str
    value: float | int | None


Cell = str | Value


def value_of(value: float | None, write: Callable[[Any], str] = str, unknown: str = "-") -> Value:
    """Give the cell of a number that may be unknown."""
    return Value(unknown if value is None else write(value), value)


def text_of(cell: Cell) -> str:
    """Give a cell as it is written."""
    return cell if isinstance(cell, str) else cell.text


@dataclass(frozen=True)
class Column:
    """A column's heading and the side on which its cells are aligned."""

    heading: str
    align: Literal["left", "right"] = "right"


def columns_of(*headings: str) -> tuple[Column, ...]:
    """Give columns by their headings; ``<`` before one says that its cells are aligned left."""
    return tuple(
        Column(one.removeprefix("<"), "left" if one[:1] == "<" else "right") for one in headings
    )


@dataclass(frozen=True, kw_only=True)
class Table:
    """Cells in rows and columns.

    `name`: A short name in small letters with hyphens, unique on its page: a file or an anchor
    bears it. `columns`: At least one. `rows`: One cell for each column. `headed`: Whether the
    headings are shown; a table of few labelled lines needs none. `notes`: A sentence below each
    row, "" for none; or no notes at all.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    headed: bool = True
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.columns)]
        if wrong or (self.notes and len(self.notes) != len(self.rows)):
            raise ValueError(f"table {self.name!r} does not hold together: {wrong or 'notes'}")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture: what it shows in words, and what draws it when it is wanted."""

    name: str
    alt: str
    draw: Callable[[], Any]  # a picture of `analysis.plots`, which knows pages


@dataclass(frozen=True)
class Section:
    """Blocks that belong together, with or without a title."""

    blocks: tuple[Block, ...]
    title: str = ""


Block = Sentence | CommandLine | Note | Next | Table | Figure | Section


@dataclass(frozen=True, kw_only=True)
class Page:
    """The words about one result: the answer first, the evidence, the cautions, what comes next.

    `title`: What the page is about, in a few words. `sections`: The first holds the answer.
    `cautions`: Numbered where they are shown. `following`: What a reader may do next.
    """

    title: str
    sections: tuple[Section, ...]
    cautions: tuple[Caution, ...] = ()
    following: tuple[Section, ...] = ()


@singledispatch
def page_of(result: Any) -> Page:  # noqa: ANN401 - any result; its page says for which type it is
    """Fill the page of a result.

    The words stand in the module that `analysis.registry.PAGES` names for the result's class, where a
    function is registered for it (``@page_of.register``); it is imported when a page is first asked for.
    """
    for one in type(result).__mro__:
        if one.__name__ in PAGES:
            load(PAGES[one.__name__])
    fill = page_of.dispatch(type(result))
    if fill is page_of.dispatch(object):
        raise TypeError(f"no page is registered for {type(result).__name__}")
    return fill(result)
