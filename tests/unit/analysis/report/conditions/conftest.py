"""Subjects of trials with records beside their runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.importers.reader import Reading
from analysis.record.trial_files import ENVIRONMENT, FINDINGS
from analysis.report.subject import Subject, subject_of


def environment(session: int, **changed: Any) -> dict[str, Any]:
    """Give a session's record; `changed` holds values by section and key, joined by two underscores."""
    record: dict[str, Any] = {
        "session": session,
        "segment": 0,
        "at": f"2026-11-21T04:{10 + session}:00Z",
        "containment": "pid",
        "host": {"name": "lab07", "virtual": "none", "container": "none", "cpu_quota": None},
        "cpu": {"model": "Some CPU", "cores": 4, "packages": 1, "online": "0-3", "turbo": None},
        "memory": {"total_bytes": 8 << 30, "swap_total_bytes": 0, "thp": "madvise"},
        "kernel": {"release": "6.1.0", "boot_arguments": "quiet lab=10.0.0.1"},
        "tools": {"python": "3.11.7", "python_implementation": "CPython", "libc": "glibc 2.36"},
        "targets": {
            f"{bench}/{variant}": {
                "path": "/usr/bin/x",
                "resolved": "/usr/bin/x",
                "sha256": "ab" * 32,
            }
            for bench in ("text", "logs")
            for variant in ("base", "fast")
        },
        "moment": {"load_1min": 0.1 * session, "temperature_c": None},
    }
    for key, value in changed.items():
        section, _, name = key.partition("__")
        record[section] = {**record[section], name: value}
    return record


@pytest.fixture
def subject(tmp_path: Path, synthetic: Callable[..., Any]) -> Callable[..., Subject]:
    """Give a subject of one trial, or of two, of which the second's records are `second`."""

    def make(
        records: Sequence[Mapping[str, Any]] | None = None,
        notes: Sequence[Mapping[str, Any]] = (),
        *,
        change: Callable[[Any], None] | None = None,
        second: Sequence[Mapping[str, Any]] | None = None,
    ) -> Subject:
        runs = [1.0, 1.01, 1.02, 0.99, 1.0, 1.01]
        first = [environment(k) for k in (1, 2, 3)] if records is None else records
        paths = []
        for k, told in enumerate((first,) if second is None else (first, second)):
            cells = {"text": runs, "logs": runs}
            made = synthetic({"base": cells, "fast": cells}, sessions=3)
            made.extra |= {ENVIRONMENT: _lines(told), FINDINGS: _lines(notes)}
            if change is not None:
                change(made)
            paths.append(str(made.write(tmp_path / f"trial-{k}")))
        return subject_of(
            paths if second is None else [f"{p}:fast" for p in paths], Reading(), explain=False
        )

    return make


@pytest.fixture
def recorded() -> Callable[..., dict[str, Any]]:
    """Give the writer of a session's record."""
    return environment


def _lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)
