"""A chapter of the report: plain values, and the two ways in which it is set."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar

from markupsafe import Markup

from ..report import Section, plain

__all__ = ["Chapter", "html_of", "sections_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chapter:
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
def html_of(chapter: Any) -> Markup:  # noqa: ANN401 - any chapter; its markup.py says for which type
    """Set a chapter as HTML: one ``section`` element with its anchor as id, everything escaped.

    The function for a chapter's class is registered in the ``markup.py`` beside it
    (``@html_of.register``), which is imported when it is first asked for.

    Raises
    ------
    TypeError
        If none is registered.
    """
    markup: Markup = _registered(html_of, chapter, "markup")(chapter)
    return markup


@singledispatch
def sections_of(chapter: Any) -> tuple[Section, ...]:  # noqa: ANN401 - as above, in page.py
    """Give a chapter as sections of sentences, tables and commands, for all other renderers.

    Raises
    ------
    TypeError
        If the ``page.py`` beside the chapter's class registers none.
    """
    sections: tuple[Section, ...] = _registered(sections_of, chapter, "page")(chapter)
    return sections


def _registered(table: Any, chapter: object, module: str) -> Any:  # noqa: ANN401 - singledispatch's own type has no name
    package = type(chapter).__module__.rpartition(".")[0]
    importlib.import_module(f"{package}.{module}")
    found = table.dispatch(type(chapter))
    if found is table.dispatch(object):
        raise TypeError(f"{package}.{module} registers nothing for {type(chapter).__name__}")
    return found
