"""A chapter of the report: plain values, and the two ways in which it is set.

A chapter is a folder with a function and a template. The function, in ``chapter.py``, takes a subject
with its results and gives a `Chapter`: the values that JSON shows, those that the template takes, the
sections of all other forms. The template, ``chapter.html.jinja``, sets them; ``chapter.css`` is its style.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any, ClassVar

from ..pages.result import plain
from ..registry import MARKUP, SECTIONS, load

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..pages.model import Section

__all__ = ["Chapter", "OldChapter", "html_of", "sections_of"]


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OldChapter:
    """Plain values of one chapter; derived classes are frozen dataclasses.

    A number that is shown is a `Value`: its text, without a unit's or a ratio's sign where
    the renderer sets that, and the number itself. So no two renderings can differ.

    Attributes
    ----------
    anchor : str
        The id of its HTML element, unique on the page; a permalink bears it.
    title : str
        Its heading; "" for the first chapter, whose heading is the page's.
    """

    name: ClassVar[str]  # its key in JSON

    anchor: str
    title: str

    def to_dict(self) -> dict[str, Any]:
        """Give its values as JSON types."""
        found: dict[str, Any] = plain(self)
        return found


@singledispatch
def html_of(chapter: Any) -> Markup:  # noqa: ANN401 - any chapter; its module of markup says for which type
    """Set a chapter as HTML: one ``section`` element with its anchor as id, everything escaped.

    The function for a chapter's class is registered (``@html_of.register``) in the module that
    `analysis.registry.MARKUP` names, which is imported when it is first asked for.

    Raises
    ------
    TypeError
        If none is registered.
    """
    markup: Markup = _registered(html_of, chapter, MARKUP)(chapter)
    return markup


@singledispatch
def sections_of(chapter: Any) -> tuple[Section, ...]:  # noqa: ANN401 - as above, for SECTIONS
    """Give a chapter as sections of sentences, tables and commands, for all other renderers.

    Raises
    ------
    TypeError
        If none is registered.
    """
    sections: tuple[Section, ...] = _registered(sections_of, chapter, SECTIONS)(chapter)
    return sections


def _registered(table: Any, chapter: object, modules: Mapping[str, str]) -> Any:  # noqa: ANN401 - singledispatch's own type has no name
    name = type(chapter).__name__
    if name in modules:
        load(modules[name])
    found = table.dispatch(type(chapter))
    if found is table.dispatch(object):
        raise TypeError(f"nothing is registered for {name}")
    return found
