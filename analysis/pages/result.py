"""What all results have in common: values first, one way into JSON, one way into text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

from ..version import VERSION
from ..words import WIDTH
from . import as_text
from .model import Caution, Page, Sentence, page_of

_LAST = ("cautions", "caution_codes", "references")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # or results of arrays would inherit it
class Result:
    """What a method answers: numbers, and what a reader should know before trusting them.

    A result is written as JSON by `to_dict`, and as text by `str`, which asks the page beside it
    (`analysis.pages.model.page_of`).

    `cautions`: In the order in which they are shown. `references`: Where the method comes from.
    """

    method: ClassVar[str]  # as the command or the function is called, with hyphens
    schema: ClassVar[int] = 1  # of the JSON; it grows when a key's meaning changes
    unlisted: ClassVar[frozenset[str]] = frozenset()  # fields that JSON leaves out
    derived: ClassVar[tuple[str, ...]] = ()  # properties that JSON adds

    cautions: tuple[Caution, ...] = ()
    references: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the result as JSON types; ``docs/json.md`` explains every key."""
        return {
            "schema": self.schema,
            "method": self.method,
            "tool_version": VERSION,
            **self.body(),
        }

    def body(self) -> dict[str, Any]:
        """Give what stands below the head; a result inside another one gives only this."""
        found: dict[str, Any] = {}
        for field in fields(self):
            if field.name == "cautions":
                found |= cautions_to_dict(self.cautions)
            elif field.name not in self.unlisted:
                found[field.name] = plain(getattr(self, field.name))
        found |= {name: plain(getattr(self, name)) for name in self.derived}
        return found | {key: found.pop(key) for key in _LAST if key in found}

    def __init_subclass__(cls) -> None:
        """Keep our `__repr__`: a dataclass would make one of all fields, a screenful of numbers."""
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return short(self, page_of(self))

    def __str__(self) -> str:
        return as_text.render(page_of(self))

    def _repr_html_(self) -> str:
        from . import as_markup as as_html

        return as_html.render_html(page_of(self))


def short(value: object, page: Page) -> str:
    """Give the first sentence of a value's page, for a ``repr`` that fits a screen."""
    name = type(value).__name__
    first = next((b.text for s in page.sections for b in s.blocks if isinstance(b, Sentence)), "")
    more = f" ({n} caution{'s' * (n > 1)})" if (n := len(page.cautions)) else ""
    text = f"{page.title}: {first}" if first else page.title
    return textwrap.fill(f"<{name} {text}{more}>", WIDTH, subsequent_indent="  ")


def cautions_to_dict(cautions: Iterable[Caution]) -> dict[str, list[str]]:
    """Give the texts of cautions, and beside them their codes."""
    told = tuple(cautions)
    return {
        "cautions": [caution.text for caution in told],
        "caution_codes": [caution.code for caution in told],
    }


def plain(value: Any) -> Any:  # noqa: ANN401 - any value that a result holds
    """Turn a value into JSON types: what is not a finite number becomes None, arrays become lists."""
    if isinstance(value, Result):
        return value.body()
    if isinstance(value, Caution):
        return value.text
    if is_dataclass(value) and not isinstance(value, type):
        unlisted = getattr(value, "unlisted", ())
        listed = (field.name for field in fields(value) if field.name not in unlisted)
        names = (*listed, *getattr(value, "derived", ()))
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's arrays and scalars, without importing numpy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has neither nan nor infinity
    return value
