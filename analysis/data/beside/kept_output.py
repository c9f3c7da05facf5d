"""What a run wrote, where the trial kept it: the end of a file in ``outputs/``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ...errors import StoreError
from ...record import OUTPUTS, opened
from .environments import without_homes

__all__ = ["Excerpt", "read_excerpt"]

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
    """Read the end of what a run wrote; None where that was not kept, or cannot be read.

    Parameters
    ----------
    trial : Path
        The trial directory.
    position : int
        That of the run; negative for a warm-up that a resumed session repeated, and for a run that
        was repeated because it was disturbed.
    stream : str
        ``stderr`` or ``stdout``.
    """
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
