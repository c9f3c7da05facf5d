"""Failed runs, with the end of what they wrote to their standard error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...data.protocol import read_excerpt
from ...pages import number_format as figures
from ...pages.model import Value
from ...words import shown
from ..names import shortened
from ..outcome import outcome_words
from .result import Failed

if TYPE_CHECKING:
    from ...data.columns import FailedRun
    from ...data.trial import Trial

__all__ = ["EMPTY", "failures_of"]

EMPTY = "empty"
_MOST = 30
_NAME = 24  # characters


def failures_of(trial: Trial) -> tuple[tuple[Failed, ...], Value]:
    """Give the first failed runs, warm-ups among them, and how many others there are."""
    names = shortened([*trial.manifest.benchmarks, *trial.manifest.variants], _NAME)
    row_of = {position: row for row, position in enumerate(trial.position.tolist())}
    told = []
    met: dict[tuple[str, ...], int] = {}  # what was written -> the first run that wrote it
    for run in trial.failed[:_MOST]:
        row = row_of[run.position]
        wall = float(trial.numbers["wall_ns"][row]) / 1e9
        lines, note = _stderr(trial, run)
        if len(lines) > 1 and met.setdefault(lines, run.position) != run.position:
            lines, note = (), f"as of run {met[lines]}"
        told.append(
            Failed(
                run=Value(str(run.position), run.position),
                session=Value(str(run.session), run.session),
                block=Value(str(int(trial.block[row])), int(trial.block[row])),
                cell=f"{names[run.benchmark]} / {names[run.variant]}"
                + (" (warm-up)" if run.warmup else ""),
                outcome=outcome_words(run, wall if math.isfinite(wall) else None),
                stderr=lines,
                note=note,
            )
        )
    more = max(0, len(trial.failed) - _MOST)
    return tuple(told), Value(f"{more:,}", more)


def _stderr(trial: Trial, run: FailedRun) -> tuple[tuple[str, ...], str]:
    found = read_excerpt(trial.path, run.position)
    if found is None:
        return (), "not kept"
    if not found.size:
        return (), EMPTY
    note = ""
    if found.cut:
        count = len(found.lines)
        note = f"the last {count} lines" if count > 1 else "the last line"
        note += f" of {figures.quantity(found.size, 'B')}"
    return tuple(shown(line) for line in found.lines), note
