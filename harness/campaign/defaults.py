"""What holds for a key that a campaign leaves out, stored with each trial.

A table maps each optional key by its name in the documentation (`protocol.sessions`) to its value as a
JSON type: seconds, bytes, None for what is not set. A trial goes on under the table that it began with.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

from analysis.errors import FairtrialError
from analysis.record.shapes import parse
from analysis.record.yaml_reader import Faults, read_document
from analysis.registry import shipped

from .model import NO_IDENTITY, Campaign, content
from .nested_kinds import Section, default_of
from .schema import CAMPAIGN, COUNTERS
from .target_schema import BOUND, BUILD, EXPECT, METRIC, SERVICE, VARIANT

Table = Mapping[str, Any]


def _nested(prefix: str, section: Section) -> Iterator[tuple[str, Section]]:
    yield prefix, section
    for name, key in section.keys.items():
        if isinstance(key.kind, Section):
            yield from _nested(f"{prefix}{name}.", key.kind)


# What a key's name begins with in the documentation -> its section. A benchmark has the keys of a
# variant.
SECTIONS: Mapping[str, Section] = MappingProxyType(
    {
        "": CAMPAIGN,
        "variants.*.": VARIANT,
        "expect.": EXPECT,
        "expect.metrics.*.": BOUND,
        "metrics.*.": METRIC,
        **dict(_nested("", CAMPAIGN)),
        "counters.": COUNTERS,
        "build.": BUILD,
        **dict(_nested("services.*.", SERVICE)),
    }
)


def todays_defaults() -> Table:
    """Give the defaults of this version."""
    return MappingProxyType(
        {
            f"{prefix}{name}": key.default
            for prefix, section in SECTIONS.items()
            for name, key in section.keys.items()
            if not key.required and not isinstance(key.kind, Section)
        }
    )


# What held before there was a key whose default does something else: a trial that was begun then, and
# stored its defaults without the key, goes on as it began.
BEFORE: Table = MappingProxyType({"protocol.never_ok": "go_on"})


def is_default(name: str, value: object) -> bool:
    """Tell whether a key could ever have had this default; of a key that is not known here, any.

    It is read as a campaign file's value is, so that what a damaged table says goes no further.
    """
    prefix, key = next(
        (
            (prefix, section.keys[name.removeprefix(prefix)])
            for prefix, section in SECTIONS.items()
            if name.startswith(prefix) and name.removeprefix(prefix) in section.keys
        ),
        ("", None),
    )
    if key is None or isinstance(key.kind, Section) or _same(value, key.default):
        return True
    if isinstance(key.default, list) and not isinstance(value, list):
        return False  # a file may say one in place of a list, a table may not
    if value is None:
        model = SECTIONS[prefix].model
        known = {} if model is None or key.field is None else get_type_hints(model)
        return type(None) in get_args(known.get(str(key.field)))
    try:
        document = read_document(json.dumps({"default": key.kind.spelled(value)}), name)
        faults = Faults(document)
        assert isinstance(document.value, dict), "it was written as a mapping"
        found = key.kind.read(document.value["default"], ("default",), faults)
    except (FairtrialError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError):
        return False
    return not faults.problems and (_same(value, found) or _same(value, [found]))


def _same(one: object, other: object) -> bool:
    if type(one) is not type(other) or one != other:
        return False
    return not isinstance(one, list | dict) or json.dumps(one) == json.dumps(other)


def completed(prefix: str, given: Mapping[str, Any], defaults: Table) -> dict[str, Any]:
    """Give every key of a section: as it was given, or its default.

    A section that requires a key is None when it was left out.
    """
    values: dict[str, Any] = {}
    for name, key in SECTIONS[prefix].keys.items():
        if not isinstance(key.kind, Section):
            values[name] = given[name] if name in given else defaults.get(f"{prefix}{name}")
        elif name in given or not key.kind.is_optional:
            values[name] = completed(f"{prefix}{name}.", given.get(name, {}), defaults)
        else:
            values[name] = None
    return values


def fields_of(section: Section, values: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of the section's model, from the values of all its keys.

    A section within it becomes a part of its own when it has a model, a mapping when it has none,
    and fields of the same part when the model has no field for it.
    """
    fields: dict[str, Any] = {}
    for name, key in section.keys.items():
        value, kind = values[name], key.kind
        if not isinstance(kind, Section):
            if key.field is not None:
                fields[key.field] = tuple(value) if isinstance(value, list) else value
        elif key.field is None:
            fields |= fields_of(kind, value)
        elif kind.model is None:
            fields[key.field] = {name: item for name, item in value.items() if item is not None}
        else:
            fields[key.field] = None if value is None else kind.model(**fields_of(kind, value))
    return fields


# --- Whether two campaigns ask for the same experiment, and what a trial keeps of its
# campaign to tell that.
#
# The parsed content counts, without what equals its default: so a version with one more key gives every
# earlier campaign the identity that it had. The defaults of the version that began a trial are stored with
# it. Rule 1, the first version's, hashed the defaults too, with the keys that there were.


RULE = 2  # by which the identity of a new trial is made
_NONE = object()  # stands for the default of a field that has none


def identity_of(campaign: Campaign, rule: int = RULE) -> str:
    """Give a campaign's identity by a rule."""
    always: Mapping[str, list[str]] = _first_version()["fields"] if rule == 1 else {}
    defaults = _of_the_parts({**todays_defaults(), **campaign.defaults})

    def leaves_out(part: object, name: str, inside: object) -> bool:
        if name in NO_IDENTITY.get(type(part), ()):
            return True
        if name in always.get(type(part).__name__, ()):
            return False
        if inside == {} and dataclasses.is_dataclass(getattr(part, name)):
            return True
        known = defaults.get(type(part))
        if known is None:
            known = defaults[type(part)] = _of_the_class(type(part))
        return name in known and bool(known[name] == inside)

    found = content(campaign, campaign.source.parent, leaves_out)
    text = json.dumps(found, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def first_defaults() -> Table:
    """Give the defaults of the first version, whose trials do not store them."""
    table: Table = _first_version()["defaults"]
    return table


@functools.cache
def _first_version() -> dict[str, Any]:
    """Read what the campaigns of the first version could hold. The file never changes."""
    known: dict[str, Any] = json.loads(shipped("harness/campaign/first_version.json").read_bytes())
    return known


def _of_the_parts(table: Table) -> dict[type, dict[str, Any]]:
    """Give the defaults of the parts of a campaign that have a section, as its content has them."""
    parts: dict[type, dict[str, Any]] = {}
    for prefix, section in SECTIONS.items():
        if section.model is not None:
            part = parts.setdefault(section.model, _of_the_class(section.model))
            part |= _of_the_keys(prefix, section, table)
    return parts


def _of_the_keys(prefix: str, section: Section, table: Table) -> dict[str, Any]:
    """Give the defaults of the fields that stand for keys of the file."""
    found = {}
    for name, key in section.keys.items():
        if key.field is None or key.required:
            continue
        if not isinstance(key.kind, Section):
            found[key.field] = table.get(f"{prefix}{name}")
        elif key.kind.model is None:  # a mapping of those of its keys that are set
            inner = {item: table.get(f"{prefix}{name}.{item}") for item in key.kind.keys}
            found[key.field] = {item: value for item, value in inner.items() if value is not None}
    return found


def _of_the_class(part: type) -> dict[str, Any]:
    """Give the defaults of the fields that stand for no key, such as what a later version adds."""
    found = {field.name: default_of(field, _NONE) for field in dataclasses.fields(part)}
    return {name: value for name, value in found.items() if value is not _NONE}


def resolved_text(campaign: Campaign) -> bytes:
    """Give the text of ``resolved.json``."""
    stored: dict[str, Any] = {"defaults": dict(campaign.defaults)}
    if campaign.own_defaults:
        stored["own_defaults"] = dict(campaign.own_defaults)
    stored["campaign"] = campaign.to_dict()
    return json.dumps(stored, indent=2, allow_nan=False).encode() + b"\n"


def stored_defaults(text: bytes) -> Table:
    """Read the defaults back."""
    found = _table(text, "defaults")
    if found is None:
        raise ValueError("it holds no defaults")
    return found


def stored_own_defaults(text: bytes) -> Table:
    """Read back the own defaults of whoever began a trial of version 0.2.0; nothing where there were none."""
    return _table(text, "own_defaults") or {}


def _table(text: bytes, name: str) -> Table | None:
    stored: Any = parse(text.strip())
    if not isinstance(stored, dict):
        raise ValueError("it holds no defaults")  # noqa: TRY004 - one way out for every wrong text
    table = stored.get(name)
    if table is not None and not isinstance(table, dict):
        raise ValueError(f"its {name} are not a table")
    for key, value in (table or {}).items():
        if not is_default(key, value):
            raise ValueError(f"{key} cannot have had the default that stands there")
    return table
