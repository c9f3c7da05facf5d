"""How much of a CPU others take: seen by a program that does nothing but read the clock there.

Between two reads that follow each other lies a twentieth of a microsecond. Where more than 2 us lie
between them the CPU did something else: another program, an interrupt, the hypervisor, the firmware.
So one number tells of all of them, in every virtual machine, without any right.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .processes import Busy

_SCRIPT = Path(__file__).with_name("gap_probe.py")
_START_S = 10.0  # more than an interpreter needs on a CPU that is shared with many


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """What one CPU lost while it was looked at for `looked_s` seconds.

    `lost_s` is the sum of all gaps, `count` their number, `longest_s` the longest one.
    """

    cpu: int
    looked_s: float
    lost_s: float
    count: int
    longest_s: float

    @property
    def share(self) -> float:
        """The part of the time that was lost, from 0 to 1."""
        return self.lost_s / self.looked_s if self.looked_s > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GapLook:
    """A look at the measured CPUs; without `gaps`, `problem` says why nothing is known.

    `busiest` are the programs that used most processor time meanwhile, on whatever CPU.
    """

    gaps: tuple[Gaps, ...] = ()
    problem: str | None = None
    busiest: tuple[Busy, ...] = ()

    @property
    def worst(self) -> Gaps | None:
        """The CPU that lost the largest part of its time."""
        return max(self.gaps, key=lambda one: one.share, default=None)


def look_for_gaps(
    cpus: tuple[int, ...] | None, seconds: float, *, priority: int = 0, nice: int = 0
) -> GapLook:
    """Look at CPUs for a while, at all of them at the same time.

    Parameters
    ----------
    cpus : tuple of int or None
        Those that the targets are pinned to; None when they are not pinned.
    seconds : float
        How long; the whole takes some 20 ms more.
    priority : int, optional
        Of the real-time class FIFO, if the targets have it; 0 for none.
    nice : int, optional
        As of the targets.

    Returns
    -------
    GapLook
        Without gaps where they cannot be measured.
    """
    if not cpus:
        return GapLook(problem="the targets are not pinned: there is no CPU to look at")
    numbers = (",".join(map(str, cpus)), str(round(seconds * 1e9)), str(priority), str(nice))
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(_SCRIPT), *numbers],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds + _START_S,
            process_group=0,  # a Ctrl-C of the terminal is for fairtrial
            check=True,
        )
        rows = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return GapLook(problem=f"the CPUs could not be looked at: {_why(error)}")
    refused = [row for row in rows if "refused" in row]
    if refused:
        first = refused[0]
        return GapLook(
            problem=f"nothing may be pinned to cpu{first['cpu']}: {first['refused']}",
        )
    return GapLook(
        gaps=tuple(
            Gaps(
                cpu=row["cpu"],
                looked_s=row["looked"] / 1e9,
                lost_s=row["lost"] / 1e9,
                count=row["gaps"],
                longest_s=row["longest"] / 1e9,
            )
            for row in rows
        )
    )


def _why(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {error.timeout:.0f} s"
    if isinstance(error, subprocess.CalledProcessError):
        last = (error.stderr or b"").decode("utf-8", "replace").strip().splitlines()
        return last[-1] if last else f"the probe ended with {error.returncode}"
    return str(error)
