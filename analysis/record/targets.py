"""The executables of an environment record: cells that share one refer to the first of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SAME = "same_as"


def packed_targets(
    paths: Mapping[str, Any], described: Mapping[Any, Mapping[str, Any]]
) -> dict[str, Any]:
    """Give the section ``targets``: each executable is described once, whatever uses it.

    Parameters
    ----------
    paths : mapping
        The cell's name (``benchmark/variant``) -> its executable.
    described : mapping
        The executable -> its description.
    """
    first: dict[Any, str] = {}
    found: dict[str, Any] = {}
    for name, path in sorted(paths.items()):
        same = first.setdefault(path, name)
        found[name] = described[path] if same == name else {SAME: same}
    return found


def whole_targets(targets: object) -> dict[str, Any]:
    """Give the description of each cell's executable, as far as the record has it.

    What is no section of targets has none; a cell that refers to no other one has what stands there.
    """
    if not isinstance(targets, dict):
        return {}
    found = {}
    for name, about in targets.items():
        same = about.get(SAME) if isinstance(about, dict) else None
        found[name] = targets.get(same, about) if isinstance(same, str) else about
    return found
