"""The JSON Schema by which editors check and complete a campaign file.

``python -m harness.campaign.schema.editor configs/campaign.schema.json`` writes it anew.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .sections import CampaignSection


def editor_schema() -> dict[str, Any]:
    """Give the schema (draft 2020-12), generated from the model that the loader uses."""
    schema: dict[str, Any] = _tidy(CampaignSection.model_json_schema(by_alias=True))
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fairtrial campaign",
    }
    return head | schema


def schema_text() -> str:
    """Give the schema as the text of its file."""
    return json.dumps(editor_schema(), indent=2, sort_keys=True) + "\n"


def _tidy(node: Any, *, names: bool = False) -> Any:  # noqa: ANN401 - any part of a schema
    """Leave out generated titles, and defaults that only say "not given" or repeat a section."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for key, value in node.items():
        noise = key == "title" or (key == "default" and (value is None or isinstance(value, dict)))
        if names or not noise:
            kept[key] = _tidy(value, names=not names and key in {"properties", "$defs"})
    return kept


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_text(), encoding="utf-8")
