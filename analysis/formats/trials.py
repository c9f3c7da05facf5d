"""Trials as sources: how one is named, and each read once."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ..data import Trial, read_trial
from ..errors import StoreError

__all__ = ["OpenedTrials", "is_file", "open_trial", "trial_and_variant"]


def is_file(text: str) -> bool:
    """Tell whether there is such a file; a text that cannot be a path at all names none."""
    return "\0" not in text and os.path.isfile(text)  # noqa: PTH113 - Path.is_file() raises on a name that is too long


def trial_and_variant(text: str) -> tuple[Path, str | None] | None:
    """Split ``runs/NAME:VARIANT``, or take ``runs/NAME``; None when no trial is named."""
    if "\0" in text or is_file(text):
        return None
    folder, colon, variant = text.rpartition(":")
    if os.path.isdir(text):  # noqa: PTH112 - Path.is_dir() raises on a name that is too long
        return Path(text), None
    if colon and os.path.isdir(folder):  # noqa: PTH112
        return Path(folder), variant
    return None


def open_trial(path: Path, level: str = "process") -> Trial:
    """Read a trial directory.

    Parameters
    ----------
    path : Path
        The directory.
    level : {"process", "iteration"}
        What its matrices take for a run.

    Raises
    ------
    StoreError
        If there is none, or it cannot be trusted.
    """
    if not (is_file(str(path)) or trial_and_variant(str(path)) == (path, None)):
        raise StoreError(
            "there is no such trial",
            str(path),
            "name the directory that 'fairtrial run' printed, such as runs/NAME",
        )
    return replace(read_trial(path), level=level)


class OpenedTrials:
    """The trials that one call has read: reading is most of what a command does."""

    def __init__(self) -> None:
        self._trials: dict[Path, Trial] = {}

    def read(self, path: Path) -> Trial:
        """Read a trial directory, the first time that it is asked for."""
        if path not in self._trials:
            self._trials[path] = read_trial(path)
        return self._trials[path]
