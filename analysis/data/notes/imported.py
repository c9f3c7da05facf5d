"""Trials that were made of other tools' files: what those could not tell is said of every answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...errors import StoreError
from ...record import IMPORT, Manifest, opened
from ...report import Caution
from ..trial_columns import TrialColumns

__all__ = ["always_said", "imported_cautions"]


_OF_FLEETS = {
    *("host-missing", "host-failed", "host-unfinished", "one-host"),
    *("hosts-as-sessions", "sessions-of-hosts"),
}


def always_said(trial: TrialColumns, cautions: Iterable[Caution] = ()) -> Iterator[Caution]:
    """Give what every answer must say.

    What an imported trial cannot tell, which hosts of a fleet are not there and what stands for a
    session of it, and pooled iterations.

    Parameters
    ----------
    trial : Trial
        What is judged.
    cautions : iterable of Caution
        What is known of its runs as they are judged.
    """
    if trial.manifest.origin == "imported":
        yield from trial.cautions
    else:
        yield from (one for one in trial.cautions if one.code in _OF_FLEETS)
    yield from (one for one in cautions if one.code == "iterations-pooled")


def imported_cautions(trial: Path, manifest: Manifest) -> Iterator[Caution]:
    """Say what the files that a trial was imported from cannot tell.

    Raises
    ------
    StoreError
        If the loss report is missing or damaged.
    """
    if manifest.origin != "imported":
        return
    path = trial / IMPORT
    try:
        with opened(path) as file:
            found: Any = json.loads(file.read())
        told = [str(text) for text in found["cannot_recover"]]
        noted = list(zip(found["caution_codes"], found["cautions"], strict=True))
        kind = str(found["format"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"the loss report of the imported trial cannot be read: {error}",
            str(path),
            "restore the file, or import again",
        ) from None
    told = [f"imported from {kind} files", *(["; ".join(told)] if told else [])]
    yield Caution("imported", ": ".join(told))
    for code, text in noted:
        yield Caution(str(code), str(text))
