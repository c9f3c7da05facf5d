"""What all results have in common: values first, one way into JSON, one way into text."""

from __future__ import annotations

import functools
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Literal, TypeVar, cast

from ..errors import UsageError
from ..registry import function
from ..version import VERSION
from ..words import WIDTH, shown
from . import as_text
from .model import Caution, Page, Sentence

# --- The condition of a gate: what fails a build.


Kind = Literal["slower", "worse", "faster"]
_FORM = re.compile(r"(slower|worse|faster)\s*([<>])\s*([0-9]{1,9}(?:\.[0-9]{1,12})?)\s*%")
_SIGNS = {"slower": ">", "worse": ">", "faster": "<"}


@dataclass(frozen=True, slots=True)
class Condition:
    """A claim that the gate tries to prove and to rule out: the speedup lies below a limit.

    ``slower>N%`` and ``worse>N%`` are one claim, and the metric need be no time: the candidate takes
    more than 1 + N/100 times what the baseline takes, or gives less than the baseline's value
    divided by that. ``faster<N%`` claims less than a wanted gain: the speedup is not as large as
    1 + N/100.
    """

    kind: Kind
    percent: float

    @property
    def text(self) -> str:
        """How the condition is written."""
        return f"{self.kind}{_SIGNS[self.kind]}{self.percent:.12g}%"

    @property
    def log_limit(self) -> float:
        """The logarithm of the limit."""
        factor = math.log1p(self.percent / 100)
        return factor if self.kind == "faster" else -factor

    @property
    def limit(self) -> float:
        """The speedup below which the condition holds: 1/1.02 of ``slower>2%``."""
        factor = 1 + self.percent / 100
        return factor if self.kind == "faster" else 1 / factor


def parse_condition(text: str) -> Condition:
    """Read a condition: ``slower>N%``, ``worse>N%`` or ``faster<N%``; blanks do not matter."""
    found = _FORM.fullmatch(text.strip())
    if found is None or _SIGNS[found[1]] != found[2]:
        raise UsageError(
            "this is no condition of a gate",
            text,
            "write 'slower>2%', 'worse>2%' or 'faster<5%', in quotes: > and < mean files to a shell",
        )
    return Condition(cast("Kind", found[1]), float(found[3]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # or results of arrays would inherit it
class Result:
    """What a method answers: numbers, and what a reader should know before trusting them.

    A result is written as JSON by `to_dict`, and as text by `str`, which asks for its `screen`.

    `cautions`: In the order in which they are shown. `references`: Where the method comes from.
    """

    method: ClassVar[str]  # as the command or the function is called, with hyphens
    schema: ClassVar[int] = 1  # of the JSON; it grows when a key's meaning changes
    unlisted: ClassVar[frozenset[str]] = frozenset()  # fields that JSON leaves out
    derived: ClassVar[tuple[str, ...]] = ()  # properties that JSON adds
    listed: ClassVar[tuple[str, ...]] = ()  # or all keys of JSON, as `object_of` reads them
    words: ClassVar[str]  # the place of its `screen`, if that stands in another file

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
        found = object_of(self)
        for key in ("cautions", "references"):  # they are the last
            found.pop(key, None)
        return found | cautions_to_dict(self.cautions) | {"references": list(self.references)}

    def screen(self) -> Page:
        """Fill the page of the result: the words about its numbers."""
        filled: Page = function(self.words)(self)
        return filled

    def __init_subclass__(cls) -> None:
        """Keep our `__repr__`: a dataclass would make one of all fields, a screenful of numbers."""
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return short(self, self.screen())

    def __str__(self) -> str:
        return as_text.render(self.screen())

    def _repr_html_(self) -> str:
        from . import as_markup as as_html

        return as_html.render_html(self.screen())


def short(value: object, page: Page) -> str:
    """Give the first sentence of a value's page, for a ``repr`` that fits a screen."""
    name = type(value).__name__
    first = next((b.text for s in page.sections for b in s.blocks if isinstance(b, Sentence)), "")
    more = f" ({n} caution{'s' * (n > 1)})" if (n := len(page.cautions)) else ""
    text = f"{page.title}: {first}" if first else page.title
    return textwrap.fill(shown(f"<{name} {text}{more}>"), WIDTH, subsequent_indent="  ")


_Part = TypeVar("_Part")


def lazily(kind: type[_Part], ask: Callable[[], _Part]) -> _Part:
    """Give a part of a result, of a frozen class with slots, that is computed when a field of it is asked for."""
    part: Any = object.__new__(_lazy_class(cast("type", kind)))
    object.__setattr__(part, "_ask", ask)
    return cast("_Part", part)


@functools.cache
def _lazy_class(kind: type) -> type:
    names: tuple[str, ...] = kind.__slots__  # type: ignore[attr-defined]

    def __getattr__(self: Any, name: str) -> object:  # noqa: ANN401, N807 - of the class that is made
        if name not in names:
            raise AttributeError(name)
        found = self._ask()
        for field in names:
            object.__setattr__(self, field, getattr(found, field))
        return getattr(self, name)

    def __reduce__(self: Any) -> Any:  # noqa: ANN401, N807 - what is stored has been asked for
        known = functools.partial(kind, **{name: getattr(self, name) for name in names})
        return lazily, (kind, known)

    own = {"__slots__": ("_ask",), "__getattr__": __getattr__, "__reduce__": __reduce__}
    return type(f"Lazy{kind.__name__}", (kind,), own)


def cautions_to_dict(cautions: Iterable[Caution]) -> dict[str, list[str]]:
    """Give the texts of cautions with their codes."""
    texts = tuple(cautions)
    return {
        "cautions": [caution.text for caution in texts],
        "caution_codes": [caution.code for caution in texts],
    }


def plain(value: Any) -> Any:  # noqa: ANN401 - any value that a result holds
    """Turn a value into JSON types: what is not a finite number becomes None, arrays become lists."""
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, Result):
        return value.body()
    if isinstance(value, Caution):
        return value.text
    if is_dataclass(value) and not isinstance(value, type):
        return object_of(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's arrays and scalars, without importing numpy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has neither nan nor infinity
    return str(value) if isinstance(value, str) else value  # of a name the text


def object_of(value: Any) -> dict[str, Any]:  # noqa: ANN401 - of any dataclass
    """Give the keys of an object: its fields but for the `unlisted`, and the `derived`; or all that its class has `listed`.

    Those are paths of attributes: the last name is the key, and ``look.*`` are the keys of the part `look`.
    """
    unlisted, derived = getattr(value, "unlisted", ()), getattr(value, "derived", ())
    own = (field.name for field in fields(value) if field.name not in unlisted)
    renamed = getattr(value, "renamed", {})  # what a field cannot be called, such as "for"
    found: dict[str, Any] = {}
    for path in getattr(value, "listed", ()) or (*own, *derived):
        *way, name = path.split(".")
        part = functools.reduce(getattr, way, value)
        if name == "*":
            found |= object_of(part)
        else:
            found[renamed.get(name, name)] = plain(getattr(part, name))
    return found
