"""The page of a result: sentences, tables, figures and cautions as plain values.

A result is numbers; its page is the words about them, which its `screen` gives. Renderers
(`analysis.pages.as_text`, `as_markup`) know pages and no method. The classes have no slots:
there are few objects, and slots double the time that a class takes at start-up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, Literal

from ..words import Name, command_line, shortened, shown

# --- A whole sentence for a first screen, in which names are shortened where it would be
# too long, and nothing else.


LONGEST = 70  # columns: of 80, after "note  [1] "
_NAMED = 3  # names of a list that are written, at the most
_READABLE = 12  # columns that a name keeps


@dataclass(frozen=True, slots=True)
class ShortSentence:
    """What a first screen says of one thing, the conclusion first.

    `pattern`: The sentence, with ``{}`` in the place of each name (see `plain` for what else may hold braces).
    `slots`: The names in each place: one, or several that are listed.
    """

    pattern: str
    slots: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, pattern: str, *slots: str | tuple[str, ...]) -> ShortSentence:
        """Make a sentence of its pattern and what stands in it."""
        return cls(pattern, tuple((one,) if isinstance(one, str) else one for one in slots))

    def about(self, *names: str) -> ShortSentence:
        """Give the same sentence, said of variants, hosts or files."""
        return ShortSentence(f"{{}}: {self.pattern}", (names, *self.slots))

    def __str__(self) -> str:
        return self.fitted()

    def on(self, shown: Collection[str]) -> ShortSentence | None:
        """Give it for a screen that shows these names, without the others; None where a place is left without any."""
        slots = tuple(tuple(name for name in slot if name in shown) for slot in self.slots)
        return ShortSentence(self.pattern, slots) if all(slots) else None

    def fitted(
        self,
        called: Mapping[str, str] | None = None,
        *,
        longest: int = LONGEST,
        least: int = _READABLE,
        among: Collection[str] = (),
    ) -> str:
        """Write it within `longest` columns: of lists fewer are named and the rest is counted, then names are shortened.

        Where no cut brings it into one line, as each name keeps its `least` columns, it takes more. `called` gives what
        a screen calls a name, where that is not the name itself; names stay apart from those `among` which they stand.
        """
        text, others = "", [*among]
        for lines in (1, 2, 3):
            for text in self._ever_shorter(called or {}, others, least):
                if len(text) <= lines * longest:
                    return text
        return text

    def _ever_shorter(
        self, called: Mapping[str, str], others: list[str], least: int
    ) -> Iterator[str]:
        *whole, there = (
            [f"{Name(called.get(name, name))}" for name in names] for names in (*self.slots, others)
        )
        most = max((len(names) for names in whole), default=1)
        for count in range(min(most, _NAMED), 0, -1):
            yield self._with(whole, count)
        longest = max((len(name) for names in whole for name in names), default=0)
        for width in range(longest - 1, least - 1, -1):
            cut = shortened([*there, *chain(*whole)], width)
            yield self._with([[cut[name] for name in names] for names in whole], 1)

    def _with(self, slots: list[list[str]], count: int) -> str:
        return self.pattern.format(*(_listed(names, count) for names in slots))


def _listed(names: list[str], count: int) -> str:
    """List names as people do: ``a, b and c``, or ``a and 4 more``."""
    if len(names) <= count:
        return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
    return f"{', '.join(names[:count])} and {len(names) - count} more"


def plain(text: str) -> str:
    """Give a text as a part of a pattern: its braces are no places of names."""
    return text.replace("{", "{{").replace("}", "}}")


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


def cautions_of(table: Mapping[str, Any]) -> tuple[Caution, ...]:
    """Give a caution for each code with a sentence; any other value says that it does not hold.

    Names that it is about follow the sentence, in a tuple, and last what a first screen says
    instead. A list holds several of one code.
    """
    found = []
    for code, each in table.items():
        for words in each if isinstance(each, list) else [each]:
            text, *more = words if isinstance(words, tuple) and words else (words,)
            short = more.pop() if more and isinstance(more[-1], ShortSentence) else None
            if isinstance(text, str):
                found.append(Caution(code, text, tuple(more), short))
    return tuple(found)


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


Cell = str | Value  # a `Name` is a str, which text alone cuts


def value_of(value: float | None, write: Callable[[Any], str] = str, unknown: str = "-") -> Value:
    """Give the cell of a number that may be unknown."""
    return Value(unknown if value is None else write(value), value)


def text_of(cell: Cell) -> str:
    """Give a cell as it may be shown."""
    return shown(cell if isinstance(cell, str) else cell.text)


@dataclass(frozen=True)
class Column:
    """A column's heading and the side on which its cells are aligned."""

    heading: str
    align: Literal["left", "right"] = "right"


def columns_of(*headings: str) -> tuple[Column, ...]:
    """Give columns by their headings: cells are aligned left with ``<`` before one, or ``@``, which says that they are names."""
    signs = ("" if isinstance(one, Name) else one[:1] for one in headings)
    each = zip(headings, signs, strict=True)
    return tuple(Column(x[1:], "left") if sign in {"<", "@"} else Column(x) for x, sign in each)


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


def first_notes(cautions: Iterable[Caution | str], most: int = 3) -> tuple[Note, ...]:
    """Give the notes that a screen has room for, in short words where there are such; the last one counts the rest."""
    texts = [one if isinstance(one, str) else str(one.short or one.text) for one in cautions]
    if len(texts) > most:
        texts[most - 1 :] = [f"and {len(texts) - most + 1} more: --json has all"]
    return tuple(map(Note, texts))


def table_of(name: str, things: Iterable[Any], *columns: tuple[Any, ...] | None) -> Table:
    """Make a table of a row for each thing.

    A column has its heading (see `columns_of`), what it takes of the thing (an attribute's name, or a
    function), how it writes that, and what stands there where it is None ("-"). A number becomes a
    `Value`. None in the place of a column leaves it out.
    """
    chosen = [one for one in columns if one is not None]

    def cell(thing: Any, heading: str, take: Any, *write: Any) -> Cell:  # noqa: ANN401
        found = getattr(thing, take) if isinstance(take, str) else take(thing)
        if not isinstance(found, str):
            return found if isinstance(found, Value) else value_of(found, *write)
        return Name(found) if heading[:1] == "@" and not isinstance(heading, Name) else found

    rows = tuple(tuple(cell(thing, *one) for one in chosen) for thing in things)
    return Table(name=name, columns=columns_of(*(one[0] for one in chosen)), rows=rows)


def facts(name: str, *rows: tuple[Cell, ...]) -> Table:
    """Make a table of lines without headings: labels, and last what stands there; without it no line."""
    known = tuple(row for row in rows if row[-1])
    return Table(name=name, columns=columns_of(*"<" * len(known[0])), rows=known, headed=False)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A picture: what it shows in words, and what draws it when it is wanted."""

    unlisted: ClassVar[frozenset[str]] = frozenset({"draw"})  # by JSON

    name: str
    alt: str
    draw: Callable[[], Any]  # a picture of `analysis.plots`, which knows pages, or markup


@dataclass(frozen=True)
class Listing:
    """A long text that only the report's page holds, such as a campaign's.

    `about`: What it is, in a sentence before it. `saved_as`: The file in which a reader may keep it, of JSON
    that is not shown; `name` is then its id on the page.
    """

    text: str
    about: str = ""
    saved_as: str = ""
    name: str = ""


@dataclass(frozen=True)
class Section:
    """Blocks that belong together, with or without a title; `anchor` is the id of their place on a page.

    The report's page shows of one that is `folded` its title, until it is opened.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"folded"})  # by JSON

    blocks: tuple[Block, ...]
    title: str = ""
    anchor: str = ""
    folded: bool = False


Block = Sentence | CommandLine | Note | Next | Table | Figure | Listing | Section


def section(
    *blocks: Block | str, title: str = "", anchor: str = "", folded: bool = False
) -> Section:
    """Make a section of its blocks; a text stands for a sentence."""
    texts = (Sentence(one) if isinstance(one, str) else one for one in blocks)
    return Section(tuple(texts), title, anchor, folded)


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


def page(result: Any, title: str, *parts: Block | str) -> Page:  # noqa: ANN401 - whatever has cautions
    """Make the page of a result that has cautions; a part that is no section is one of its own."""
    sections = tuple(one if isinstance(one, Section) else section(one) for one in parts)
    return Page(title=title, sections=sections, cautions=result.cautions)
