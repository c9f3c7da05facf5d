"""What a rerun takes: time, disk, memory and host, as the trials recorded them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ...data import SessionEnvironment, read_environments
from ...record import MEASUREMENTS, Manifest, opened
from ..contents import Needs
from .gathering import Gathered

__all__ = ["container_kind", "needs_of", "times_of"]

_PEAK = re.compile(rb'"max_rss_bytes":(\d{1,18})')


def times_of(manifest: Manifest) -> float | None:
    """Give how long a trial took, in seconds; pauses between resumed parts count as well."""
    if manifest.origin == "imported":
        return None
    spans = [(part.started, part.finished) for part in manifest.merged_from] or [
        (manifest.started, manifest.finished)
    ]
    total = 0.0
    for started, finished in spans:
        if finished is None:
            return None
        try:
            span = datetime.fromisoformat(finished) - datetime.fromisoformat(started)
        except (ValueError, TypeError):
            return None
        total += span.total_seconds()
    return round(total, 3)


def needs_of(found: Sequence[Gathered], root: Path, disk_bytes: int) -> Needs:
    """Give what a rerun of all trials takes.

    Parameters
    ----------
    found : sequence of Gathered
        The bundle's sources.
    root : Path
        The bundle's folder, with the trials in it.
    disk_bytes : int
        Of the unpacked bundle.
    """
    trials = [one for one in found if one.manifest is not None]
    times = [times_of(one.manifest) for one in trials if one.manifest is not None]
    known = [time for time in times if time is not None]
    records = [
        records[0] for one in trials if (records := read_environments(root / one.source.path))
    ]
    peaks = [peak for one in trials if (peak := _peak(root / one.source.path)) is not None]
    first = records[0] if records else None
    return Needs(
        disk_bytes=disk_bytes,
        run_s=round(sum(known), 3) if known and len(known) == len(times) else None,
        cpus=_cpus(_value(first, "cpu", "online")),
        memory_bytes=_whole(_value(first, "memory", "total_bytes")),
        max_rss_bytes=max(peaks, default=None),
        cpu_model=_text(_value(first, "cpu", "model")),
        architecture=_text(_value(first, "kernel", "architecture")),
        kernel=_text(_value(first, "kernel", "release")),
        distribution=_text(_value(first, "kernel", "distribution")),
        compilers=_texts(_value(first, "tools", "compilers")),
    )


def container_kind(found: Sequence[Gathered], root: Path) -> str | None:
    """Say in which kind of container the trials were measured; None where in none, or unknown."""
    for one in found:
        if one.manifest is not None:
            for record in read_environments(root / one.source.path):
                kind = _text(_value(record, "host", "container"))
                if kind not in {None, "none"}:
                    return kind
    return None


def _value(record: SessionEnvironment | None, section: str, key: str) -> Any:  # noqa: ANN401 - JSON
    return None if record is None else record.sections.get(section, {}).get(key)


def _whole(value: object) -> int | None:
    return value if type(value) is int else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in sorted(value.items()) if isinstance(text, str)}


def _cpus(online: object) -> int | None:
    """Count a list of CPUs such as ``0-3,6``."""
    if not isinstance(online, str) or not re.fullmatch(
        r"\d{1,6}(-\d{1,6})?(,\d{1,6}(-\d{1,6})?)*", online
    ):
        return None
    total = 0
    for part in online.split(","):
        first, _, last = part.partition("-")
        total += int(last or first) - int(first) + 1
    return total


def _peak(trial: Path) -> int | None:
    """Give the largest resident memory of any run; the rows are not parsed for it."""
    most = None
    with opened(trial / MEASUREMENTS) as file:
        for line in file:
            match = _PEAK.search(line)
            if match is not None:
                most = max(most or 0, int(match.group(1)))
    return most
