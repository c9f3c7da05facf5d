"""The batch script: one for all hosts of a fleet, readable, and every path in it absolute."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from .scheduler import Scheduler

SCRIPT = "job.sh"
CANCELLED = "cancelled"  # a file of the fleet: no job of it comes back

# Where our own defaults and our key are, which every host must share.
_OURS = ("FAIRTRIAL_DEFAULTS", "XDG_CONFIG_HOME", "XDG_STATE_HOME")

_TEXT = """\
#!/bin/bash
# fairtrial: the campaign {campaign} on one host of a fleet.
# Slurm starts it once for each host, with the host's name; docs/slurm.md says why it is as it is.
host=$1
fleet={fleet}
trial=$fleet/$host
{exports}
rows() {{ cat -- "$trial/measurements.jsonl" 2>/dev/null | wc -l; }}
before=$(rows)

# At the time limit Slurm tells this shell alone, two minutes early; fairtrial then ends the run
# under way, discards it, and exits with 130.
told= run=
trap 'told=1; kill -TERM "$run" 2>/dev/null' TERM
{command} &
run=$!
[ -z "$told" ] || kill -TERM "$run"  # told before it was known whom to tell
while told=; wait "$run"; code=$?; [ -n "$told" ]; do :; done

# Once more, later, if this start came further. A job that was cancelled or requeued by others is
# COMPLETING by now: to requeue that one would bring a cancelled job back.
if [ "$code" -eq 130 ] && [ ! -e "$fleet/{cancelled}" ]; then
  if [ "$(rows)" -le "$before" ]; then
    echo "fairtrial: not requeued: this start measured nothing; go on with: fairtrial submit FLEET --resume"
  elif [ "$({squeue} -h -j "$SLURM_JOB_ID" -o %T)" = RUNNING ]; then
    echo "fairtrial: requeued after $(rows) rows"
    {scontrol} requeue "$SLURM_JOB_ID"
  fi
fi
exit "$code"
"""


def script_of(
    fleet: Path, campaign: Path, name: str, options: Sequence[str], scheduler: Scheduler
) -> str:
    """Write the batch script of a fleet.

    Parameters
    ----------
    fleet : Path
        The fleet's folder, absolute.
    campaign : Path
        The campaign's file, absolute.
    name : str
        The campaign's name.
    options : sequence of str
        Further options of ``fairtrial run``.
    scheduler : Scheduler
        Knows where Slurm's commands are.
    """
    exports = (
        f"export {name}={shlex.quote(os.environ[name])}\n" for name in _OURS if name in os.environ
    )
    words = [*own_command(), "run", str(campaign), "--resume", *options]
    return _TEXT.format(
        campaign=name,
        fleet=shlex.quote(str(fleet)),
        exports="".join(exports),
        command=f'{shlex.join(words)} --trial "$trial"',
        cancelled=CANCELLED,
        squeue=shlex.quote(scheduler.place("squeue")),
        scontrol=shlex.quote(scheduler.place("scontrol")),
    )


def own_command() -> list[str]:
    """Give the words that execute this fairtrial, from any folder and with any PATH."""
    beside = Path(sys.executable).with_name("fairtrial")
    if os.access(beside, os.X_OK):
        return [str(beside)]
    return [sys.executable, "-P", "-m", "harness"]
