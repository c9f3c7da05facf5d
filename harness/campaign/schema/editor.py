"""The JSON Schema by which editors check and complete a campaign file."""

from __future__ import annotations

import json
from typing import Any

from .letters import NAME
from .sections import CAMPAIGN


def editor_schema() -> dict[str, Any]:
    """Give the schema (draft 2020-12), generated from the shape that the loader uses."""
    sections: dict[str, dict[str, Any]] = {"Name": {"pattern": f"^{NAME.pattern}$"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fairtrial campaign",
        **CAMPAIGN.body(sections),
        "$defs": sections,
    }


def schema_text() -> str:
    """Give the schema as the text of its file."""
    return json.dumps(editor_schema(), indent=2, sort_keys=True) + "\n"
