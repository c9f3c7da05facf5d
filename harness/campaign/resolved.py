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
    stored = {"defaults": dict(campaign.defaults), "campaign": campaign.to_dict()}
    return json.dumps(stored, indent=2, allow_nan=False).encode() + b"\n"


def stored_defaults(text: bytes) -> Table:
    """Read the defaults back.

    Raises
    ------
    ValueError
        If the text is none of ours.
    """
    stored: Any = parse(text.strip())
    defaults = stored.get("defaults") if isinstance(stored, dict) else None
    if not isinstance(defaults, dict):
        raise ValueError("it holds no defaults")  # noqa: TRY004 - one way out for every wrong text
    for name, value in defaults.items():
        if not is_default(name, value):
            raise ValueError(f"{name} cannot have had the default that stands there")
    return defaults
