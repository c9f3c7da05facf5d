"""Lists, mappings and choices of form: the kinds that are made of other kinds."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..source.excerpt import quote
from ..source.yaml_marks import Location
from .faults import WRONG, Faults, Wrong
from .kinds import EMPTY, JsonSchema, Kind, Scalar, described

# Says what is wrong with a name, and how to mend it.
NameRule = Callable[[str], tuple[str, str] | None]

# What YAML reads as the text that it is, whatever it stands beside in a list.
_PLAIN = re.compile(r"(?!(?:null|Null|NULL)$)[A-Za-z_./][A-Za-z0-9_./=+-]*")
_NO_MAPPING = "write it as {key: value}, or as indented lines 'key: value'"


@dataclass(frozen=True, kw_only=True)
class Listed(Kind):
    """A list of values of one kind."""

    item: Kind
    least: int = 0
    most: int | None = None
    distinct: bool = False

    def read(self, value: object, at: Location, faults: Faults) -> list[Any] | Wrong:
        """Give the list."""
        if not isinstance(value, list):
            fix = f"write [{_flow([value])}]" if isinstance(value, str) else _fix_of(value)
            return faults.value(at, f"must be a list, not {described(value)}", fix)
        if len(value) < self.least:
            return faults.value(at, "must not be empty", EMPTY)
        if self.most is not None and len(value) > self.most:
            return faults.value(at, f"must not have more than {self.most} entries", "delete some")
        items = [self.item.read(item, (*at, index), faults) for index, item in enumerate(value)]
        if any(item is WRONG for item in items):
            return WRONG
        for index, item in enumerate(items if self.distinct else ()):
            if item in items[:index]:
                return faults.value((*at, index), f"names {item} a second time", "delete one")
        return items

    def schema(self, sections: dict[str, JsonSchema]) -> JsonSchema:
        """Describe the list."""
        form: JsonSchema = {"type": "array", "items": self.item.schema(sections)}
        if self.least:
            form["minItems"] = self.least
        if self.most is not None:
            form["maxItems"] = self.most
        if self.distinct:
            form["uniqueItems"] = True
        return form

    def inner(self, _step: str | int) -> Kind | None:
        """Give the items' kind."""
        return self.item


@dataclass(frozen=True, kw_only=True)
class Mapped(Kind):
    """A mapping of any names to values of one kind.

    `key` reads a name and `refuses` what it cannot be; `names` describes both for editors. With
    `may_be_empty` a name may stand there without a value.
    """

    item: Kind
    names: JsonSchema
    key: Scalar | None = None
    refuses: NameRule = lambda _: None
    least: int = 0
    may_be_empty: bool = False

    def read(self, value: object, at: Location, faults: Faults) -> dict[str, Any] | Wrong:
        """Give the mapping without the entries that are wrong."""
        if not isinstance(value, dict):
            return no_mapping(value, at, faults)
        if len(value) < self.least:
            return faults.value(at, "must not be empty", EMPTY)
        kept = {}
        for name, item in value.items():
            place = (*at, name)
            entry = self._entry(name, item, place, faults)
            if entry is WRONG:
                faults.leave_out(place)
            else:
                kept[name] = entry
        return kept if len(kept) >= self.least else WRONG

    def _entry(self, name: str, item: object, place: Location, faults: Faults) -> Any:  # noqa: ANN401 - any kind
        refused = self.refuses(name)
        if refused:
            faults.key(place, *refused)
            return WRONG
        named = self._is_named(name, place, faults)
        empty = item is None and self.may_be_empty
        entry = None if empty else self.item.read(item, place, faults)
        return entry if named else WRONG

    def _is_named(self, name: str, place: Location, faults: Faults) -> bool:
        if self.key is None:
            return True
        try:
            self.key.parse(name)
        except ValueError:
            faults.key(place, f"{quote(name)} must be {self.key.needs}", "choose another name")
            return False
        return True

    def schema(self, sections: dict[str, JsonSchema]) -> JsonSchema:
        """Describe the mapping."""
        item = self.item.schema(sections)
        if self.may_be_empty:
            item = {"anyOf": [item, {"type": "null"}]}
        form: JsonSchema = {"type": "object", "additionalProperties": item}
        form["propertyNames"] = self.names
        if self.least:
            form["minProperties"] = self.least
        return form

    def inner(self, _step: str | int) -> Kind | None:
        """Give the values' kind."""
        return self.item


@dataclass(frozen=True, kw_only=True)
class Forms(Kind):
    """A value that may be written as a text, as a list or as a mapping.

    `needs` says which forms there are, after 'must be'. With `of_commands` a list of texts is
    refused: it could mean one command or several.
    """

    needs: str
    text: Kind | None = None
    items: Kind | None = None
    mapping: Kind | None = None
    of_commands: bool = False

    def read(self, value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - of the form that is there
        """Give the value of the form that is there."""
        texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
        form = self._form(value)
        if form is None or (self.of_commands and texts and value):
            what = f"must be {self.needs}, not {described(value)}"
            return faults.value(at, what, _fix_of(value) or _fix_of_form(at, value))
        return form.read(value, at, faults)

    def _form(self, value: object) -> Kind | None:
        if isinstance(value, dict):
            return self.mapping
        return self.items if isinstance(value, list) else self.text

    def schema(self, sections: dict[str, JsonSchema]) -> JsonSchema:
        """Describe each form."""
        forms = (self.text, self.items, self.mapping)
        return {"oneOf": [form.schema(sections) for form in forms if form is not None]}

    def inner(self, step: str | int) -> Kind | None:
        """Give what stands in the list, or in the mapping."""
        form = self.items if isinstance(step, int) else self.mapping
        return form.inner(step) if form is not None else None

    def spelled(self, value: Any) -> Any:  # noqa: ANN401 - as the base
        """Write a single value of a list without the list, where that is allowed."""
        if isinstance(value, list) and len(value) == 1 and self.text is not None:
            return self.text.spelled(value[0])
        return value


def no_mapping(value: object, at: Location, faults: Faults) -> Wrong:
    """Report that a mapping is needed."""
    what = f"must be a mapping of keys, not {described(value)}"
    return faults.value(at, what, _fix_of(value) or _NO_MAPPING)


def _fix_of(value: object) -> str | None:
    return EMPTY if value is None else None


def _fix_of_form(at: Location, value: object) -> str | None:
    """Give the remedy for a command that is written in a form that is not read here."""
    if isinstance(value, str) and isinstance(at[-1], int):
        return f"write a command of a list as a list of arguments: [[{_flow(_words(value))}]]"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return f"write one command with its arguments as [[{_flow(value)}]]"
    return None


def _words(command: str) -> list[str]:
    """Split a command as a shell would, where that can be done."""
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _flow(texts: Iterable[str]) -> str:
    """Write texts as the items of a list in YAML, in quotes where they need them."""
    return ", ".join(
        text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False) for text in texts
    )
