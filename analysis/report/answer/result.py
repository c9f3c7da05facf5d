"""What the first screen holds: plain values, nothing left to compute but places on a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from ..chapter import OldChapter

if TYPE_CHECKING:
    from ...pages.model import Value
    from ...plots.scale import Scale, Tick

__all__ = [
    "Alone",
    "Answer",
    "Axis",
    "Bin",
    "Column",
    "Doubt",
    "Name",
    "Paragraph",
    "Row",
    "Span",
]

Style = Literal["faster", "slower", "neither", "baseline"]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence; a foreign name is kept apart from what stands around it.

    `whole` is the name as it is, "" where `text` is no name.
    """

    text: str
    whole: str = ""


Paragraph = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is, as it is shown, and as it is shown where there is little room."""

    whole: str
    text: str
    narrow: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The scale of one candidate's speedups.

    `margin` are the ends of the band around 1 inside of which a difference counts as none.
    """

    scale: Scale
    ticks: tuple[Tick, ...]
    margin: tuple[float, float]
    slower: str  # the word below 1, "" where the axis holds no room for it
    faster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the forest.

    Attributes
    ----------
    name : Name
        The benchmark, or what the suite's line speaks of.
    link : str
        The id of what explains the line; "" for none.
    suite : bool
        Whether it is a line of the suite.
    baseline, candidate : Value
        The two geometric means with their unit; of the suite's lines there are none.
    speedup, low, high : Value
        As they are written on the whole page; "" and None where nobody knows them.
    word : str
        As it is said; "" where nothing was compared.
    style : str
        The role of its colour.
    filled : bool
        Whether something is known: hollow is undecided.
    sessions : tuple of float
        The ratios of the sessions that it rests on; of blocks within one session.
    note : str
        What stands in place of the interval, or explains it; "" for nothing.
    lacking : bool
        Whether some of the sessions are missing.
    more : Value
        How many more sessions would decide, briefly.
    advice : str
        The same in full.
    marks : tuple of int
        The numbers of the cautions that touch the line.
    """

    name: Name
    link: str
    suite: bool
    baseline: Value
    candidate: Value
    speedup: Value
    low: Value
    high: Value
    word: str
    style: Style
    filled: bool
    sessions: tuple[float, ...]
    note: str
    lacking: bool
    more: Value
    advice: str
    marks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Benchmarks that are not listed one by one: where they lie, and how many have which word.

    `lowest` and `highest` are None where none of them has a speedup; `counts` are by word, in the
    order faster, equivalent, undecided, slower, without those that none has.
    """

    count: int
    lowest: Value
    highest: Value
    speedups: tuple[float, ...]
    counts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One candidate.

    Attributes
    ----------
    anchor : str
        Its id on the page.
    candidate : Name
        Its name.
    lead : Row or None
        The line that its heading shows: the suite's, or that of its only benchmark.
    over : str
        What the heading's line is over, such as "over these 8".
    axis : Axis or None
        None where nothing could be compared.
    rows : tuple of Row or Bin
        In the order of the page; the same benchmarks in each column.
    suite : tuple of Row
        The lines of the suite.
    every : tuple of Row
        All benchmarks, where `rows` holds bins; else empty.
    remark : str
        What holds of all of its lines, such as what would be if two occasions did not differ.
    """

    anchor: str
    candidate: Name
    lead: Row | None
    over: str
    axis: Axis | None
    rows: tuple[Row | Bin, ...]
    suite: tuple[Row, ...]
    every: tuple[Row, ...]
    remark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A caution with its number, and where the page shows what it is about.

    `link` is an id and `look` the words of the link; both "" for none.
    """

    number: int
    code: str
    text: str
    link: str
    look: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """A benchmark of the only variant: nothing is compared.

    `by` says what the interval rests on.
    """

    name: Name
    link: str
    mean: Value
    low: Value
    high: Value
    half: Value
    lowest: Value
    highest: Value
    runs: Value
    by: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answer(OldChapter):
    """The first screen.

    Attributes
    ----------
    headline : str
        The verdict in one sentence.
    spoken : tuple of Span
        The same with its names told apart.
    kicker : (str, str)
        What the page is about, and what was measured when.
    deck : tuple of Paragraph
        What was measured, and what the numbers rest on.
    baseline : Name or None
        What all speedups are over; None where nothing is compared.
    form : {"alone", "columns", "matrix"}
        How the candidates are shown.
    dense : bool
        Whether a line has one row of text.
    columns : tuple of Column
        One for each candidate.
    alone : tuple of Alone
        Filled where there is one variant only.
    sources : tuple of Name
        Two sources, the candidate's first; empty where the names say it, or where there is one.
    level : Value
        The level of the intervals, in percent.
    order : str
        By what the lines are sorted, as a sentence; "" where there is one.
    reading : tuple of str
        How the marks are read.
    doubts : tuple of Doubt
        The cautions, the gravest first.
    shown : int
        How many of them stand open.
    certificate : str
        The A/A certificate that fits, as a sentence; "" for none.
    panel : str
        The id of the chapter that explains the numbers of the suite; "" where there is none.
    """

    name: ClassVar[str] = "answer"

    headline: str
    spoken: Paragraph
    kicker: tuple[str, str]
    deck: tuple[Paragraph, ...]
    baseline: Name | None
    metric: str
    form: Literal["alone", "columns", "matrix"]
    dense: bool
    columns: tuple[Column, ...]
    alone: tuple[Alone, ...]
    sources: tuple[Name, ...]
    level: Value
    order: str
    reading: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    shown: int
    certificate: str
    panel: str
