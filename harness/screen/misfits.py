"""What of a trial that has ended does not fit its manifest: files that changed or are gone, missing rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from analysis.errors import StoreError
from analysis.record import OUTPUTS, Manifest, opened

__all__ = ["misfits_of"]


def misfits_of(trial: Path, manifest: Manifest, done: int) -> Iterator[str]:
    """Say what does not fit, a sentence each; nothing of a trial that is running, or was killed.

    Kept output is evidence and no data: it is left out.

    Parameters
    ----------
    trial : Path
        The folder.
    manifest : Manifest
        What is stored of it, with the hashes of its files.
    done : int
        Rows of planned runs that are there.
    """
    if manifest.status == "running":
        return
    for name, expected in manifest.files.items():
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or PurePosixPath(name).is_absolute():
            yield f"the manifest lists a file outside the trial: {name!r}"
        elif parts[0] != OUTPUTS:
            actual = _hash_of(trial / name)
            if actual != expected:
                yield f"{name} " + (
                    "is gone" if actual is None else "changed after the trial ended"
                )
    planned = 0 if manifest.origin == "imported" else manifest.needed
    if manifest.status == "complete" and done < planned:
        yield f"{done} of {planned} runs stand in it, though it is complete"


def _hash_of(path: Path) -> str | None:
    try:
        with opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, StoreError):
        return None
