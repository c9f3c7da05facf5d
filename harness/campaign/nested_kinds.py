"""Sections, lists, mappings and choices of form: the kinds of a campaign file that hold other kinds."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from analysis.record.yaml_reader import WRONG, Faults, Location, Plain, inside, quote

from .scalar_kinds import (
    EMPTY,
    JsonSchema,
    Kind,
    Scalar,
    choice,
    described,
    either,
    known_here,
    nearest,
    pattern,
    text,
    whole,
    words_of,
)

# Says what is wrong with a name, and how to mend it.
NameRule = Callable[[str], tuple[str, str] | None]

# What YAML reads as the text that it is, whatever else is in a list.
_PLAIN = re.compile(r"(?!(?:null|Null|NULL)$)[A-Za-z_./][A-Za-z0-9_./=+-]*")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")  # where it was written without quotes
_ANY_TEXT = text()


@dataclass(frozen=True)
class Listed(Kind):
    """A list of values of one kind."""

    item: Kind
    least: int = 0
    most: int | None = None
    distinct: bool = False

    def read(self, value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - as the base
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


@dataclass(frozen=True)
class Mapped(Kind):
    """A mapping of any names to values of one kind.

    `key` reads a name and `refuses` what it cannot be; `names` describes both for editors. With
    `may_be_empty` a name may stand there without a value.
    """

    item: Kind
    names: JsonSchema
    key: Scalar = _ANY_TEXT
    refuses: NameRule = lambda _: None
    least: int = 0
    may_be_empty: bool = False

    def read(self, value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - as the base
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
                faults.places.append(place)
            else:
                kept[name] = entry
        return kept if len(kept) >= self.least else WRONG

    def _entry(self, name: str, item: object, place: Location, faults: Faults) -> Any:  # noqa: ANN401 - any kind
        refused = self.refuses(name)
        if refused:
            faults.key(place, *refused)
            return WRONG
        before = len(faults.problems)
        try:
            self.key.parse(name)
        except ValueError:
            faults.key(place, f"{quote(name)} must be {self.key.needs}", "choose another name")
        named = len(faults.problems) == before
        empty = item is None and self.may_be_empty
        entry = None if empty else self.item.read(item, place, faults)
        return entry if named else WRONG

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


@dataclass(frozen=True)
class Forms(Kind):
    """A value that may be written as a text, as a list or as a mapping.

    `needs` says which forms there are, after 'must be'. With `of_commands` a list of texts is
    refused: it could mean one command or several. A mapping is `longer`, where there is one, but for those
    whose keys are of `mapping` alone.
    """

    needs: str
    text: Kind | None = None
    items: Kind | None = None
    mapping: Kind | None = None
    longer: Section | None = None
    of_commands: bool = False

    def read(self, value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - of the form that is there
        """Give the value of the form that is there."""
        known = isinstance(value, list) and all(isinstance(item, str) for item in value)
        form = self._form(value)
        if form is None or (self.of_commands and known and value):
            what = f"must be {self.needs}, not {described(value)}"
            return faults.value(at, what, _fix_of(value) or _fix_of_form(at, value))
        return form.read(value, at, faults)

    def _form(self, value: object) -> Kind | None:
        if isinstance(value, dict):
            short, longer = self.mapping, self.longer
            if longer is None or not isinstance(short, Section):
                return short
            of_short, of_longer = (
                any(nearest(key, tuple(one.keys)) for key in value) for one in (short, longer)
            )
            return short if of_short and not of_longer else longer
        return self.items if isinstance(value, list) else self.text

    def schema(self, sections: dict[str, JsonSchema]) -> JsonSchema:
        """Describe each form."""
        forms = (self.text, self.items, self.mapping, self.longer)
        return {"oneOf": [form.schema(sections) for form in forms if form is not None]}

    def spelled(self, value: Any) -> Any:  # noqa: ANN401 - as the base
        """Write a single value of a list without the list, where that is allowed."""
        if isinstance(value, list) and len(value) == 1 and self.text is not None:
            return self.text.spelled(value[0])
        return value


_MOST_CPU = 4095


def cpus(*words: str) -> Forms:
    """Take a CPU or a list of them in any form, or one of some words."""
    one = whole(0, _MOST_CPU)
    ranges = r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*"
    listed = pattern(ranges, "a list such as [2, 3] or 2-3")
    return Forms(
        f"{', '.join(words)}, a CPU number or a list of them",
        text=either(choice(*words), one, listed),
        items=Listed(one, least=1, distinct=True),
    )


def chosen_cpus(given: Any, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - a word, or numbers in a form
    """Give what was written in a form of `cpus`: the word, or the numbers; a range that is none is reported."""
    if not isinstance(given, str):
        return (given,) if isinstance(given, int) else tuple(given)
    if not given[0].isdigit():
        return given
    numbers: list[int] = []
    for part in given.split(","):
        first, _, last = part.partition("-")
        some = range(int(first), int(last or first) + 1)
        if not some or some[-1] > _MOST_CPU or not set(numbers).isdisjoint(some):
            what = f"the range {quote(part)} of 'cpus' is empty, too large or given twice"
            faults.report(at, what, "write ranges upwards, such as 2-3,6", part=part)
            return ()
        numbers += some
    return tuple(numbers)


def no_mapping(value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - `WRONG`
    """Report that a mapping is needed."""
    what = f"must be a mapping of keys, not {described(value)}"
    return faults.value(
        at, what, _fix_of(value) or "write it as {key: value}, or as indented lines 'key: value'"
    )


def _fix_of(value: object) -> str | None:
    return EMPTY if value is None else None


def _fix_of_form(at: Location, value: object) -> str | None:
    if isinstance(value, str) and isinstance(at[-1], int):
        return f"write a command of a list as a list of arguments: [[{_flow(_words(value))}]]"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return f"write one command with its arguments as [[{_flow(value)}]]"
    return None


def _words(command: str) -> list[str]:
    try:
        return words_of(command)
    except ValueError:
        return [command]


def _flow(texts: Iterable[str]) -> str:
    """Write texts as the items of a list in YAML, in quotes where they need them."""
    found = []
    for one in texts:
        plain = _PLAIN.fullmatch(one) or (isinstance(one, Plain) and _NUMBER.fullmatch(one))
        found.append(one if plain else json.dumps(one, ensure_ascii=False))
    return ", ".join(found)


# Finds keys that do not go together: the key, how the sentence goes on, and the remedy.
Rule = Callable[[Mapping[str, Any]], Iterable[tuple[str, str, str]]]
# Keys that stand in another part of the file, with a sentence about them.
_ELSEWHERE = {
    ("benchmarks", "build"): "build steps belong to the campaign or to a variant; known here: "
}


@dataclass(frozen=True)
class Key:
    """One key of a section.

    `kind` is what may stand there and `meaning` what it is for. `field` is the field of the model
    that holds it, and `default` what holds without it: both are found by the section. Where that
    is no plain value, `otherwise` says it.
    """

    kind: Kind
    meaning: str
    required: bool = False
    otherwise: str = ""
    field: str | None = None
    default: Any = None


@dataclass(eq=False)
class Section(Kind):
    """A mapping whose keys are known; other names than those that are `never_free` may be `free`."""

    name: str
    meaning: str
    keys: Mapping[str, Key]
    model: type | None = None
    rules: Iterable[Rule] = ()
    more: JsonSchema = field(default_factory=dict)
    free: Kind | None = None
    refuses: NameRule = lambda _: None
    never_free: Collection[str] = ()

    def __post_init__(self) -> None:
        self.keys = {name: _of_model(self.model, name, key) for name, key in self.keys.items()}

    @property
    def is_optional(self) -> bool:
        """Whether leaving it out is something else than leaving it empty."""
        return any(key.required for key in self.keys.values())

    def read(self, value: object, at: Location, faults: Faults) -> Any:  # noqa: ANN401 - as the base
        """Give the keys that are there and right."""
        if not isinstance(value, dict):
            return no_mapping(value, at, faults)
        before = len(faults.problems)
        given = self.right_keys(value, at, faults)
        if any(key.required and name not in given for name, key in self.keys.items()):
            return WRONG
        whole = len(faults.problems) == before
        for rule in self.rules:
            for name, what, fix in rule(given):
                place = (*at, name) if name else at
                if whole:
                    faults.value(place, what, fix or None)
                if not name:
                    return WRONG
                faults.places.append(place)
                del given[name]
        return given

    def right_keys(self, value: Mapping[str, Any], at: Location, faults: Faults) -> dict[str, Any]:
        """Give the keys that are right, each by itself, whatever is missing."""
        # give the values of keys that the section leaves to the file
        given = {}
        for name in (name for name in value if name not in self.keys):
            place, item = (*at, name), value[name]
            refused = self.refuses(name) if isinstance(item, str | None) else None
            if refused:
                faults.key(place, *refused)
            elif self.free is None or name in self.never_free or not isinstance(item, str):
                self.unknown(faults, place)
            else:
                given[name] = self.free.read(item, place, faults)
                continue
            faults.places.append(place)
        return self._known(value, at, faults) | given

    def _known(self, value: Mapping[str, Any], at: Location, faults: Faults) -> dict[str, Any]:
        given = {}
        unknown = [name for name in value if name not in self.keys] if self.free is None else []
        misspelt = {nearest(name, tuple(self.keys)) for name in unknown}
        refused = any(map(self.refuses, unknown))
        for name, key in self.keys.items():
            if name in value:
                found = key.kind.read(value[name], (*at, name), faults)
                if found is WRONG:
                    faults.places.append((*at, name))
                else:
                    given[name] = found
            elif key.required and name not in misspelt and not refused:  # else that is reported
                faults.missing(name, at)
        return given

    def unknown(self, faults: Faults, place: Location) -> None:
        """Report a key that the section does not know, with those that it does."""
        name = str(place[-1])
        elsewhere = _ELSEWHERE.get((str(place[0]), name), "")
        for section, key in self.keys.items():
            if isinstance(key.kind, Section) and name in key.kind.keys:
                elsewhere = f"write it below {quote(section)}; known here: "
        keys = tuple(self.keys)
        fix = elsewhere + ", ".join(keys) if elsewhere else known_here(name, keys)
        faults.key(place, f"unknown key {quote(name)}{inside(place[:-1])}", fix)

    def schema(self, sections: dict[str, JsonSchema]) -> JsonSchema:
        """Refer to the section's description, and collect that."""
        if self.name not in sections:
            sections[self.name] = {}  # it may stand inside itself
            sections[self.name] = self.body(sections)
        return {"$ref": f"#/$defs/{self.name}"}

    def body(self, sections: dict[str, JsonSchema]) -> JsonSchema:
        """Describe the section itself."""
        properties = {}
        for name, key in self.keys.items():
            properties[name] = key.kind.schema(sections) | {"description": key.meaning}
            if key.default not in (None, [], {}, "") and not isinstance(key.kind, Section):
                properties[name]["default"] = key.kind.spelled(key.default)
        form: JsonSchema = {"type": "object", "description": self.meaning}
        form |= {"properties": properties} | self.more
        form["additionalProperties"] = self.free.schema(sections) if self.free else False
        required = [name for name, key in self.keys.items() if key.required]
        return form | ({"required": required} if required else {})


def _of_model(model: type | None, name: str, key: Key) -> Key:
    """Find the field of the model that holds a key, and with it the default."""
    there = {} if model is None else {field.name: field for field in dataclasses.fields(model)}
    names = (key.field,) if key.field else (name, f"{name}_s", f"{name}_bytes")
    field = next((there[candidate] for candidate in names if candidate in there), None)
    if field is None:
        if key.field:
            raise LookupError(f"{model} has no field '{key.field}', which '{name}' names")
        return key
    return dataclasses.replace(key, field=field.name, default=default_of(field))


def default_of(field: dataclasses.Field[Any], without: object = None) -> Any:  # noqa: ANN401 - any default of a model
    """Give the default of a field as a JSON type."""
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    if default is dataclasses.MISSING:
        return without
    return list(default) if isinstance(default, tuple) else default
