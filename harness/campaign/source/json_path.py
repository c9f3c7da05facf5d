"""Paths into JSON documents, such as ``results[*].times[0]``: where a metric stands in an output.

A path is keys with dots between them, ``[3]`` for an item of a list, ``[*]`` for all of them, and
``["any key"]`` for a key with a dot or a bracket in it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(
    r"""(?P<dot>\.)?(?P<key>[^.\[\]"\s][^.\[\]"]*)"""
    r"""|\[(?P<index>0|[1-9][0-9]{0,8})\]|\[(?P<all>\*)\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]"""
)


class JsonPathError(ValueError):
    """A path is wrong, or a document has nothing there."""


@dataclass(frozen=True, slots=True)
class _All:
    """Every item of a list."""


def parse_path(path: str) -> tuple[str | int | _All, ...]:
    """Parse a path into keys, indexes and "all items".

    Raises
    ------
    JsonPathError
        If it is empty or does not follow the syntax; the message says from where on.
    """
    steps: list[str | int | _All] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or (match["key"] and bool(match["dot"]) != bool(at)):
            raise JsonPathError(f"not understood from character {at + 1} on: '{path[at:]}'")
        steps.append(_step(match, at))
        at = match.end()
    if not steps:
        raise JsonPathError("the path is empty")
    return tuple(steps)


def _step(match: re.Match[str], at: int) -> str | int | _All:
    if match["all"]:
        return _All()
    if match["index"]:
        return int(match["index"])
    if match["quoted"]:
        try:
            return str(json.loads(match["quoted"]))
        except ValueError:
            raise JsonPathError(f"not a JSON string at character {at + 1}") from None
    return match["key"]


def find(data: Any, path: str) -> list[Any]:  # noqa: ANN401 - any JSON document
    """Give every value that the path names, in the document's order.

    Parameters
    ----------
    data : Any
        What `json.loads` gave.
    path : str
        The path; ``[*]`` makes it name several values.

    Raises
    ------
    JsonPathError
        If the path is wrong, or a key or item that it names is not there. An empty list under
        ``[*]`` is no error: it gives no values.
    """
    found: list[tuple[str, Any]] = [("", data)]
    for step in parse_path(path):
        found = [pair for where, value in found for pair in _descend(where, value, step)]
    return [value for _, value in found]


def _descend(where: str, value: Any, step: str | int | _All) -> list[tuple[str, Any]]:  # noqa: ANN401 - JSON
    here = where or "the document"
    if isinstance(step, str):
        if not isinstance(value, dict) or step not in value:
            raise JsonPathError(f"{here} has no key '{step}'")
        return [(f"{where}.{step}" if where else step, value[step])]
    if not isinstance(value, list):
        raise JsonPathError(f"{here} is not a list")
    if isinstance(step, _All):
        return [(f"{where}[{index}]", item) for index, item in enumerate(value)]
    if step >= len(value):
        raise JsonPathError(f"{here} has no item {step}")
    return [(f"{where}[{step}]", value[step])]
