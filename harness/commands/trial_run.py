"""Executions that leave nothing behind: one cell with its output, or one block to learn its time."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from analysis.record import MEASUREMENTS, OUTPUTS

from ..campaign import Campaign, one_block, one_cell
from ..errors import FairtrialError
from ..screen import View, read_progress
from ..trial import Ending, Options, start
from ..wording import counted, duration

_SHOWN = 4000  # characters of each output


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """What one block came to: its runs, those that failed, and seconds a run of each cell."""

    runs: int
    failed: int
    interrupted: bool
    seconds: Mapping[str, float]

    def __str__(self) -> str:
        failed = f" ({self.failed} failed)" if self.failed else ""
        return f"the first block, {counted(self.runs, 'run')}{failed}; nothing of it is kept"


def probe(campaign: Campaign, view: View) -> Probed:
    """Execute the first block once in a temporary folder, to learn how long its runs take.

    Raises
    ------
    FairtrialError
        If it cannot be executed.
    """
    with _executed(one_block(campaign), view) as ending:
        return Probed(
            runs=ending.done,
            failed=ending.failed,
            interrupted=ending.status == "interrupted",
            seconds=read_progress(ending.trial).seconds,
        )


def execute_only(campaign: Campaign, named: str, out: TextIO, view: View) -> int:
    """Execute one cell, a warm-up and a run, show what it wrote, and keep nothing.

    Parameters
    ----------
    campaign : Campaign
        The whole campaign.
    named : str
        ``BENCHMARK:VARIANT``.
    out : TextIO
        Where the result goes.
    view : View
        Hears of builds and findings.

    Returns
    -------
    int
        The exit code: 0, 1 when a run was not ok, or 130.

    Raises
    ------
    FairtrialError
        If there is no such cell, or it cannot be executed.
    """
    with _executed(one_cell(campaign, named), view) as ending:
        text = (ending.trial / MEASUREMENTS).read_bytes()
        for row in map(json.loads, text.splitlines()):
            out.write(f"{_said(row)}\n")
            if not row["warmup"]:
                for part in _outputs(ending.trial / OUTPUTS, row["position"]):
                    out.write(part)
        out.write("this was a trial run: nothing is stored\n")
    return 130 if ending.status == "interrupted" else 1 if ending.failed else 0


@contextlib.contextmanager
def _executed(campaign: Campaign, view: View) -> Iterator[Ending]:
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as place:
        try:
            yield start(campaign, Options(folder=Path(place), passing=True), view)
        except FairtrialError as error:
            if place in (error.fix or ""):  # that file is gone when this is read
                error.fix = None
            raise


def _said(row: Mapping[str, Any]) -> str:
    kind = "warm-up" if row["warmup"] else "run    "
    took = "" if row["wall_ns"] is None else f"  {duration(row['wall_ns'] / 1e9)}"
    why = f"  {row['detail']}" if row["detail"] else ""
    metrics = "".join(
        f"  {name} {', '.join(f'{value:g}' for value in values)}"
        for name, values in row["metrics"].items()
    )
    return f"{kind} {row['benchmark']} / {row['variant']}: {row['outcome']}{took}{metrics}{why}"


def _outputs(folder: Path, position: int) -> Iterator[str]:
    for name in ("stdout", "stderr"):
        path = folder / f"{position:04d}.{name}"
        if not path.exists():
            yield f"{name} is discarded\n"
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        shown = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text[:_SHOWN])
        yield f"{name}, {counted(path.stat().st_size, 'byte')}" + (":\n" if shown else "\n")
        yield "".join(f"    {line}\n" for line in shown.splitlines())
        if len(text) > _SHOWN:
            yield f"    … {len(text) - _SHOWN:,} more characters\n"
