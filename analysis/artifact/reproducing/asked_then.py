"""What a command asked when its bundle was packed, where nothing named a metric.

Until 0.2.0 the wall time was judged without a word, also where benchmarks declare metrics; since then
such an answer says so, and a gate refuses. A bundle of that time is held against what it asked then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from ...data.fleets import open_fleet
from ...errors import FairtrialError
from ...record import is_fleet, read_manifest

__all__ = ["as_asked_then"]

_METRIC = "--metric"
_SAID = b"judged is wall"  # what answers say since then


def as_asked_then(command: Sequence[str], folder: Path, stored: bytes) -> tuple[str, ...]:
    """Give a command of a bundle so that it asks what it asked when it was packed.

    Parameters
    ----------
    command : sequence of str
        Arguments of ``fairtrial``, with paths relative to `folder`.
    folder : Path
        The root of the unpacked bundle.
    stored : bytes
        What it printed then.
    """
    named = any(word == _METRIC or word.startswith(f"{_METRIC}=") for word in command)
    if named or _SAID in stored:
        return tuple(command)
    sources = dict.fromkeys(word.partition(":")[0] for word in command[1:] if word[:1] != "-")
    if any(_unasked(folder / source) for source in sources if source):
        return (*command, _METRIC, "wall")
    return tuple(command)


def _unasked(path: Path) -> bool:
    """Tell whether this is a trial, or a fleet, that declares metrics and does not say which is judged."""
    with contextlib.suppress(FairtrialError, OSError):
        if is_fleet(path):
            return bool(open_fleet(path).unasked())
        manifest = read_manifest(path)
        return manifest.origin != "imported" and not manifest.judge and bool(manifest.declared)
    return False
