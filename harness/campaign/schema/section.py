"""A section of a campaign file: a mapping whose keys are known."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import Problem
from ..source.excerpt import quote
from ..source.yaml_marks import Document, Location
from .faults import WRONG, Faults, Wrong, inside
from .kinds import JsonSchema, Kind, nearest
from .shapes import NameRule, no_mapping

# Finds keys that do not go together: the key, how the sentence goes on, and the remedy.
Rule = Callable[[Mapping[str, Any]], Iterable[tuple[str, str, str]]]
# Keys that stand in another part of the file, with a sentence about them.
_ELSEWHERE = {
    ("benchmarks", "build"): "build steps belong to the campaign or to a variant; known here: "
}


@dataclass(frozen=True, kw_only=True)
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


class Section(Kind):
    """A mapping whose keys are known.

    Parameters
    ----------
    name : str
        Its name in the schema for editors.
    meaning : str
        What it is for, for people.
    keys : mapping of str to Key
        The keys in the order in which they are told.
    model : dataclass, optional
        The part of a campaign that it becomes. A key's field there has the key's name, or that with
        its unit (`cooldown`: `cooldown_s`), unless the key names another; the field's default is
        the key's.
    rules : sequence of Rule
        What keys may not be together; looked at when each of them is right by itself.
    more : mapping, optional
        The rules again, as JSON Schema.
    free : Kind, optional
        What other keys may hold, when they are allowed.
    refuses : NameRule, optional
        Which names other keys cannot have.
    never_free : collection of str
        Which other keys are unknown all the same.
    """

    def __init__(
        self,
        name: str,
        meaning: str,
        keys: Mapping[str, Key],
        *,
        model: type | None = None,
        rules: Iterable[Rule] = (),
        more: JsonSchema | None = None,
        free: Kind | None = None,
        refuses: NameRule = lambda _: None,
        never_free: Collection[str] = (),
    ) -> None:
        self.name = name
        self.meaning = meaning
        self.model = model
        self.keys = {name: _of_model(model, name, key) for name, key in keys.items()}
        self.rules = tuple(rules)
        self.more = more or {}
        self.free = free
        self.refuses = refuses
        self.never_free = frozenset(never_free)

    @property
    def is_optional(self) -> bool:
        """Whether leaving it out is something else than leaving it empty."""
        return any(key.required for key in self.keys.values())

    def read(self, value: object, at: Location, faults: Faults) -> dict[str, Any] | Wrong:
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
                faults.leave_out(place)
                del given[name]
        return given

    def right_keys(self, value: Mapping[str, Any], at: Location, faults: Faults) -> dict[str, Any]:
        """Give the keys that are right, each by itself, whatever is missing."""
        return self._known(value, at, faults) | self._others(value, at, faults)

    def _known(self, value: Mapping[str, Any], at: Location, faults: Faults) -> dict[str, Any]:
        given = {}
        unknown = [name for name in value if name not in self.keys] if self.free is None else []
        misspelt = {nearest(name, tuple(self.keys)) for name in unknown}
        for name, key in self.keys.items():
            if name in value:
                found = key.kind.read(value[name], (*at, name), faults)
                if found is WRONG:
                    faults.leave_out((*at, name))
                else:
                    given[name] = found
            elif key.required and name not in misspelt:  # else the unknown key is reported
                faults.missing(name, at)
        return given

    def _others(self, value: Mapping[str, Any], at: Location, faults: Faults) -> dict[str, Any]:
        """Give the values of keys that the section leaves to the file."""
        given = {}
        for name in (name for name in value if name not in self.keys):
            place, item = (*at, name), value[name]
            refused = self.refuses(name) if isinstance(item, str | None) else None
            if refused:
                faults.key(place, *refused)
            elif self.free is None or name in self.never_free or not isinstance(item, str):
                faults.problems.append(self.unknown(faults.document, place))
            else:
                given[name] = self.free.read(item, place, faults)
                continue
            faults.leave_out(place)
        return given

    def unknown(self, document: Document, place: Location) -> Problem:
        """Make the problem of a key that the section does not know, with those that it does."""
        name = str(place[-1])
        near = nearest(name, tuple(self.keys))
        fix = f"did you mean '{near}'? Known here: " if near else "known here: "
        fix = _ELSEWHERE.get((str(place[0]), name), fix)
        what = f"unknown key {quote(name)}{inside(place[:-1])}"
        return document.problem(place, what, fix + ", ".join(self.keys), key=True)

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

    def inner(self, step: str | int) -> Kind | None:
        """Give what may stand at a key."""
        key = self.keys.get(str(step))
        return key.kind if key else self.free


def _of_model(model: type | None, name: str, key: Key) -> Key:
    """Find the field of the model that holds a key, and with it the default."""
    there = {} if model is None else {field.name: field for field in dataclasses.fields(model)}
    names = (key.field,) if key.field else (name, f"{name}_s", f"{name}_bytes")
    field = next((there[candidate] for candidate in names if candidate in there), None)
    if field is None:
        if key.field:
            raise LookupError(f"{model} has no field '{key.field}', which '{name}' names")
        return key
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    if default is dataclasses.MISSING:
        default = None
    return dataclasses.replace(key, field=field.name, default=_plain(default))


def _plain(value: Any) -> Any:  # noqa: ANN401 - any default of a model
    return list(value) if isinstance(value, tuple) else value
