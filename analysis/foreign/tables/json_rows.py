"""JSON, a list of flat objects, one for each value: what pandas and DuckDB write, and our export."""

from __future__ import annotations

import json

from ..cells import ForeignFile
from ..columns import is_long
from ..opening import Opened
from ..parsing import fail, json_of
from .rows import file_of_rows

__all__ = ["knows", "read"]


def knows(opened: Opened) -> bool:
    """Tell by the keys of the first object, which holds no other."""
    if opened.is_folder:
        return False
    head = opened.head().lstrip("\ufeff").lstrip()
    return head.startswith("[") and is_long(_keys(head[1:].lstrip()))


def _keys(text: str) -> list[str]:
    try:
        first, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return []
    return list(first) if isinstance(first, dict) and _is_flat(first) else []


def _is_flat(one: dict[str, object]) -> bool:
    return not any(isinstance(value, (dict, list)) for value in one.values())


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric.

    Raises
    ------
    AnalysisError
        If an object is none, or has other keys than the first.
    """
    data = json_of(opened)
    if not isinstance(data, list) or not data or not isinstance(data[0], dict):
        raise fail(opened, "it is no list of objects", "write one object for each value")
    headings = list(data[0])
    for k, one in enumerate(data):
        if not isinstance(one, dict) or one.keys() != data[0].keys() or not _is_flat(one):
            raise fail(
                opened,
                "the object has other keys than the first, or holds another",
                "write the same plain keys for each value, null where one is unknown",
                at=f"[{k}]",
            )
    return file_of_rows(opened, "json", headings, ([one[key] for key in headings] for one in data))
