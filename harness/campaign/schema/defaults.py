"""What holds for a key that a campaign file leaves out.

A table maps every optional key, named as in the documentation (`protocol.sessions`), to its value as
a JSON type: durations in seconds, sizes in bytes, None for what is not set. Today's table comes from
the model. A trial goes on under the table that it began with, whatever has changed since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

from ...errors import FairtrialError
from ..source.yaml_marks import read_document
from .faults import Faults
from .section import Section
from .sections import CAMPAIGN, COUNTERS
from .target import EXPECT, METRIC, VARIANT

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
        "metrics.*.": METRIC,
        **dict(_nested("", CAMPAIGN)),
        "counters.": COUNTERS,
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
    """Compare two values as JSON does: true is no 1, in lists neither."""
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
