"""What the runner recorded of the host at the begin of each session, as a report may show it.

What names a laboratory's infrastructure or a person is taken out here: the kernel's boot arguments,
names of variables with their hashes, variables that hold places, the working directory. Home
directories are written as ``~``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...record import ENVIRONMENT, whole_targets
from .rows import readable_rows

__all__ = ["BOOT_ARGUMENTS", "SessionEnvironment", "read_environments", "without_homes"]

BOOT_ARGUMENTS = "kernel.boot_arguments"
_SECTIONS = ("host", "cpu", "memory", "kernel", "tools", "process", "targets", "inputs", "moment")
_LEFT_OUT = {("kernel", "boot_arguments"), ("process", "cwd")}
_PLACES = {"PATH", "HOME", "PWD", "OLDPWD", "TMPDIR", "SHELL"}
_HOME = re.compile(  # also behind an option's letter, as in -I/home/jane
    r"(?:(?<![\w.~-])|(?<=-[A-Za-z]))(?:(?:/home|/Users)/[^/\s:;,'\"()<>|]+|/root(?=/|\s|$))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnvironment:
    """A line of ``environment.jsonl``.

    `segment` counts how often the session was resumed, `at` is the time of the record, "" where it
    is not known. `sections` holds those of ``docs/environment.md`` that are there: name -> key ->
    value, None for what is unknown.
    """

    session: int
    segment: int
    at: str
    sections: Mapping[str, Mapping[str, Any]]


def read_environments(trial: Path) -> tuple[SessionEnvironment, ...]:
    """Read the environments of a trial in the order in which they were recorded.

    Parameters
    ----------
    trial : Path
        The trial directory. What cannot be read of the file tells nothing.
    """
    found = []
    for row in readable_rows(trial / ENVIRONMENT):
        if isinstance(targets := row.get("targets"), dict):
            row["targets"] = whole_targets(targets)
        session, segment, at = row.get("session"), row.get("segment", 0), row.get("at")
        if type(session) is not int or type(segment) is not int:
            continue
        sections = {
            name: {key: _safe(v) for key, v in section.items() if (name, key) not in _LEFT_OUT}
            for name in _SECTIONS
            if isinstance(section := row.get(name), dict)
        }
        if isinstance(variables := row.get("variables"), dict):
            kept = {key: _safe(value) for key, value in variables.items() if key not in _PLACES}
            sections["variables"] = kept
        if isinstance(containment := row.get("containment"), str):
            sections.setdefault("process", {})["containment"] = containment
        found.append(
            SessionEnvironment(
                session=session,
                segment=segment,
                at=at if isinstance(at, str) else "",
                sections=sections,
            )
        )
    return tuple(found)


def without_homes(text: str) -> str:
    """Write home directories as ``~``: they name people."""
    return _HOME.sub("~", text)


def _safe(value: Any) -> Any:  # noqa: ANN401 - JSON types
    if isinstance(value, str):
        return without_homes(value)
    if isinstance(value, dict):
        return {without_homes(str(key)): _safe(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_safe(item) for item in value]
    return value
