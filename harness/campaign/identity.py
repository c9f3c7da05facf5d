"""Whether two campaigns ask for the same experiment, and what a trial keeps of its campaign to tell that.

The parsed content counts, without what equals its default: so a version with one more key gives every
earlier campaign the identity that it had. The defaults of the version that began a trial are stored with
it. Rule 1, the first version's, hashed the defaults too, with the keys that there were.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from analysis.record.shapes import parse
from analysis.registry import shipped

from .defaults import SECTIONS, Table, is_default, todays_defaults
from .model import NO_IDENTITY, Campaign, content
from .nested_kinds import Section, default_of

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
    """Read back the own defaults of whoever began the trial; nothing where there were none."""
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
