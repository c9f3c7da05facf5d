"""What a trial says of its campaign: settings, commands executed, and the output that was kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StoreError
from ..record.shapes import opened
from ..record.trial_files import CAMPAIGN, MEASUREMENTS, OUTPUTS, RESOLVED
from .host_record import without_homes

if TYPE_CHECKING:
    from .runs import Runs

# What two trials of one campaign may say differently: the command line can change them, who may read a
# trial is no part of the experiment, and the question and the names of versions alter no run.
_FREE_SETTINGS = ("seed", "judge", "series", "commit", "share", "protocol.sessions")


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentStart:
    """What the first row of a session, or of a part of one that was resumed, says.

    `row` is its place among the trial's rows; `cpus` the CPUs that it was pinned to, empty where that
    is not known and None where it was not pinned; `started_at` its start (RFC 3339), None if unknown.
    """

    row: int
    cpus: tuple[int, ...] | None
    started_at: str | None


def campaign_text(trial: Path) -> str | None:
    """Give the text of ``campaign.yaml`` as it is stored; None where it cannot be read."""
    try:
        with opened(trial / CAMPAIGN) as file:
            return file.read().decode("utf-8", "replace")
    except (OSError, StoreError):
        return None


def settings_of(trial: Path) -> Mapping[str, Any]:
    """Give ``campaign`` of ``resolved.json``: the campaign with every default; empty if unknown."""
    try:
        with opened(trial / RESOLVED) as file:
            found: Any = json.loads(file.read())
    except (OSError, StoreError, ValueError, RecursionError):
        return {}
    campaign = found.get("campaign") if isinstance(found, dict) else None
    return campaign if isinstance(campaign, dict) else {}


def is_free_setting(key: str) -> bool:
    """Tell whether trials of one campaign may differ in a setting, a key with dots of `setting_leaves`."""
    return key in _FREE_SETTINGS or key.startswith("commit.")  # one of each variant


def ordered_variants_of(trial: Path) -> tuple[str, ...] | None:
    """Give the variants in their written order where the campaign calls them a series (`series: on`).

    None where it does not, or where nobody can tell.
    """
    settings = settings_of(trial)
    names = settings.get("variants")
    if settings.get("series") is not True or not isinstance(names, list):
        return None
    return tuple(str(name) for name in names)


def builds_each_session(trial: Path) -> frozenset[str]:
    """Name the variants that each session builds anew (`build.each: session`); none where nobody can tell."""
    return built_each_session(settings_of(trial).get("builds"))


def built_each_session(builds: object) -> frozenset[str]:
    """Name the variants of which the resolved `builds` of a campaign say that each session builds them."""
    return frozenset(
        str(one["variant"])
        for one in (builds if isinstance(builds, list) else ())
        if isinstance(one, dict) and one.get("each") == "session" and "variant" in one
    )


def setting_leaves(value: object, at: str = "") -> Iterator[tuple[str, object]]:
    """Give the settings below one, each as its key with dots and its value; lists are values."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from setting_leaves(item, f"{at}.{name}" if at else name)
    else:
        yield at, value


def pinned_cpus(trial: Runs) -> tuple[tuple[int, ...] | None, ...]:
    """Give the sets of CPUs that runs were pinned to, each once; None stands for not pinned.

    The runner chooses them when a session begins or goes on, so the first row of each is asked.
    """
    return tuple(dict.fromkeys(one.cpus for one in segment_starts(trial) if one.cpus != ()))


def segment_starts(trial: Runs) -> tuple[SegmentStart, ...]:
    """Give what the first row of each session says, and of each part of one that was resumed.

    A row that cannot be read any more, such as one of a foreign file, is left out with all after it.
    """
    if not len(trial):
        return ()
    begins = np.flatnonzero(np.diff(trial.session) | np.diff(trial.segment)) + 1
    return tuple(_starts(trial.path / MEASUREMENTS, {0, *begins.tolist()}))


def _starts(path: Path, rows: set[int]) -> Iterator[SegmentStart]:
    try:
        with opened(path) as file:
            for number, line in enumerate(file):
                if number not in rows:
                    continue
                found = json.loads(line)
                cpus, at = found.get("cpus", ()), found.get("started_at")
                yield SegmentStart(
                    row=number,
                    cpus=None if cpus is None else tuple(cpus) if isinstance(cpus, list) else (),
                    started_at=at if isinstance(at, str) else None,
                )
    except (OSError, StoreError, ValueError, AttributeError):
        return


_BYTES = 8192  # at most so many are read, from the end
_LINES = 10
_LONGEST = 300  # characters of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """The last lines of a file, as they were written but for home directories.

    `size` is the file's, in bytes; `cut` says whether there is more before the first of `lines`.
    """

    lines: tuple[str, ...]
    size: int
    cut: bool


def read_excerpt(trial: Path, position: int, stream: str = "stderr") -> Excerpt | None:
    """Read the end of what a run wrote; None where that was not kept, or cannot be read."""
    names = [f"{position:04d}"] if position >= 0 else [f"w{-position}", f"r{-position}"]
    paths = [trial / OUTPUTS / f"{name}.{stream}" for name in names]
    path = next((one for one in paths if os.path.lexists(one)), paths[0])
    if path.is_symlink() or path.parent.is_symlink():
        return None  # a trial has none: what lies behind one is not the run's
    try:
        with opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _BYTES))
            end = file.read(_BYTES)
    except (OSError, StoreError):
        return None
    cut = size > len(end)
    if cut:
        end = end.partition(b"\n")[2] or end  # the first line may begin anywhere
    # an end of a line is \n or \r\n; a lone \r, as of a progress bar, is no line of its own
    lines = end.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    shown = [without_homes(line) for line in lines[-_LINES:]]
    return Excerpt(
        lines=tuple(x if len(x) <= _LONGEST else f"{x[: _LONGEST - 1]}…" for x in shown),
        size=size,
        cut=cut or len(lines) > _LINES,
    )
