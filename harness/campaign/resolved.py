"""What a trial keeps of its campaign beside the file: the resolved content, and the defaults of then.

The file alone does not say what a trial is: that depends on the defaults of the version that began
it. With them stored, a later version goes on as the trial began.
"""

from __future__ import annotations

import json
from typing import Any

from analysis.record import parse

from .model import Campaign
from .schema.defaults import Table, is_default


def resolved_text(campaign: Campaign) -> bytes:
    """Give the text of ``resolved.json``."""
    stored: dict[str, Any] = {"defaults": dict(campaign.defaults)}
    if campaign.own_defaults:
        stored["own_defaults"] = dict(campaign.own_defaults)
    stored["campaign"] = campaign.to_dict()
    return json.dumps(stored, indent=2, allow_nan=False).encode() + b"\n"


def stored_defaults(text: bytes) -> Table:
    """Read the defaults back.

    Raises
    ------
    ValueError
        If the text is none of ours.
    """
    found = _table(text, "defaults")
    if found is None:
        raise ValueError("it holds no defaults")
    return found


def stored_own_defaults(text: bytes) -> Table:
    """Read back the own defaults of whoever began the trial; nothing where there were none.

    Raises
    ------
    ValueError
        If the text is none of ours.
    """
    return _table(text, "own_defaults") or {}


def _table(text: bytes, name: str) -> Table | None:
    stored: Any = parse(text.strip())
    if not isinstance(stored, dict):
        raise ValueError("it holds no defaults")  # noqa: TRY004 - one way out for every wrong text
    table = stored.get(name)
    if table is not None and not isinstance(table, dict):
        raise ValueError(f"its {name} are no table")
    for key, value in (table or {}).items():
        if not is_default(key, value):
            raise ValueError(f"{key} cannot have had the default that stands there")
    return table
