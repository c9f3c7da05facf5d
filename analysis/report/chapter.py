"""A chapter of the report: plain values, and the two ways in which it is set.

A chapter is a folder with a function and a template. The function, in ``chapter.py``, takes a subject
with its results and gives a `Chapter`: the values that JSON shows, those that the template takes, the
sections of all other forms. The template, ``chapter.html.jinja``, sets them; ``chapter.css`` is its style.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..pages.model import Table, columns_of
from ..pages.result import plain

if TYPE_CHECKING:
    from ..pages.model import Cell, Section

__all__ = ["Chapter", "table_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chapter:
    """One chapter of one metric.

    A number that is shown is a `Value`: its text, and the number itself. So it is written once, and no
    two forms can differ.

    Attributes
    ----------
    name : str
        Its key in JSON.
    folder : str
        Where its template lies: a folder of the report's.
    anchor : str
        The id of its HTML element, unique on the page; a permalink bears it.
    title : str
        Its heading; "" for the first chapter, whose heading is the page's.
    values : mapping of str to object
        What it says, as JSON shows it: texts, numbers, `Value`, frozen dataclasses and sequences of these.
    sections : callable
        Gives the same as sentences, tables and commands, for all forms but HTML.
    drawn : callable
        Gives what the template takes beside `values`: pictures, above all. Called for HTML alone.
    headline : str
        The page's heading, of the chapter that has it.
    """

    name: str
    folder: str
    anchor: str
    title: str
    values: Mapping[str, Any]
    sections: Callable[[], tuple[Section, ...]]
    drawn: Callable[[], Mapping[str, Any]] = dict
    headline: str = ""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - whatever stands under the name
        return self.values[name]

    def to_dict(self) -> dict[str, Any]:
        """Give its values as JSON types."""
        return {"anchor": self.anchor, "title": self.title, **plain(self.values)}


def table_of(name: str, headings: str, rows: Iterable[tuple[Cell, ...]]) -> Table:
    """Give a table; a semicolon stands between its headings, ``<`` before one that is aligned left."""
    return Table(name=name, columns=columns_of(*headings.split("; ")), rows=tuple(rows))
