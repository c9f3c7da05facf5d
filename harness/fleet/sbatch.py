"""The batch script of a fleet, and what of a person's options may go to sbatch."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from analysis.errors import UsageError

if TYPE_CHECKING:
    from .slurm import Scheduler

BuildPlace = Literal["node", "once"]

# The options of sbatch that decide what a fleet is: they are set here, and by nobody else.
_OWN = frozenset(
    {"nodes", "ntasks", "nodelist", "exclusive", "mem", "mem-per-cpu", "mem-per-gpu", "requeue"}
    | {"no-requeue", "open-mode", "signal", "time", "export", "export-file", "comment", "partition"}
    | {"output", "error", "input", "hold", "array", "wrap", "parsable", "chdir", "exclude", "wait"}
    | {"test-only", "clusters", "nodefile", "job-name", "oversubscribe", "share", "overcommit"}
    | {"ntasks-per-node", "uid", "help", "usage", "version", "immediate"}
)
_OWN_LETTERS = frozenset("NnwtpoeiHaDxWMFJsOIhVI")
# names that take no value, or take it behind = only
_FLAGS = frozenset(
    {"contiguous", "get-user-env", "ignore-pbs", "nice", "no-kill", "quiet"}
    | {"reboot", "spread-job", "use-min-nodes", "verbose"}
)
_FLAG_LETTERS = frozenset("hHIkKOQsvVW")  # letters that take no value


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the command line says of how a campaign is to be spread.

    `hosts` is a list of nodes in Slurm's notation; without it `count` of the `partition`, or all. `time`
    is the limit of each job in Slurm's notation; None: from the plan. A host's job waits for `wait_s`
    seconds for another trial on its CPUs.
    `build` says whether each job builds the programs, or they were built before submission. `seed`
    stands in place of the campaign's; `arguments` go to sbatch as they are.
    """

    hosts: str | None = None
    partition: str | None = None
    count: int | None = None
    time: str | None = None
    wait_s: float = 0.0
    build: BuildPlace = "node"
    seed: int | None = None
    arguments: tuple[str, ...] = ()

    @property
    def job_options(self) -> tuple[str, ...]:
        """The options of ``fairtrial run`` that follow from it."""
        options: list[str] = []
        if self.wait_s:
            seconds = "" if math.isinf(self.wait_s) else f"={self.wait_s:g}"
            options.append(f"--wait-for-lock{seconds}")
        if self.build == "once":
            options.append("--built")
        if self.seed is not None:
            options.append(f"--seed={self.seed}")
        return tuple(options)

    def to_dict(self) -> dict[str, Any]:
        """Give what is kept for a later submission, as JSON types."""
        return {
            "partition": self.partition,
            "time": self.time,
            "options": list(self.job_options),
            "arguments": list(self.arguments),
        }


def checked_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """Hold what stands after ``--`` against what sbatch is told already."""
    value_may_follow = False
    for word in arguments:
        if not word.startswith("-") or word == "-":
            if not value_may_follow:
                what = f"sbatch would take {word!r} for the batch script"
                fix = "only options of sbatch are allowed there, such as: -- --account=PROJECT"
                raise UsageError(what, "after --", fix)
            value_may_follow = False
            continue
        own = _own_option(word)
        if own is not None:
            what = f"{own} is set by fairtrial, for every job of a fleet alike"
            fix = _INSTEAD.get(own.lstrip("-"), "leave it out")
            raise UsageError(what, f"after --: {word}", fix)
        if word.startswith("--"):  # the next word is no value where this one holds it, or has none
            name = word[2:]
            value_may_follow = "=" not in name and not any(f.startswith(name) for f in _FLAGS)
        else:
            value_may_follow = len(word[1:].lstrip("".join(_FLAG_LETTERS))) == 1
    return tuple(arguments)


_INSTEAD = {
    **dict.fromkeys(("time", "t"), "name the limit with --time, before the --"),
    **dict.fromkeys(("partition", "p"), "name it with --partition, before the --"),
    **dict.fromkeys(("nodelist", "w"), "name the hosts with --hosts, before the --"),
    **dict.fromkeys(("exclude", "x"), "name the wanted hosts with --hosts, before the --"),
    "test-only": "--dry-run, before the --, shows what would be submitted",
}


def _own_option(word: str) -> str | None:
    """Give the option of ours that a word sets, also shortened or among other letters."""
    if word.startswith("--"):
        name = word[2:].partition("=")[0]
        if name in _OWN:
            return f"--{name}"
        if not name:
            return word
        # getopt takes the beginning of a name for the name
        meant = sorted(own for own in _OWN if own.startswith(name))
        return f"--{meant[0]}" if meant else None
    for letter in word[1:]:
        if letter in _OWN_LETTERS:
            return f"-{letter}"
        if letter not in _FLAG_LETTERS:
            return None
    return None


SCRIPT = "job.sh"
CANCELLED = "cancelled"  # a file of the fleet: no job of it comes back

# Where our own defaults and our key are, which every host must share.
_OURS = ("FAIRTRIAL_DEFAULTS", "XDG_CONFIG_HOME", "XDG_STATE_HOME")

_TEXT = """\
#!/bin/bash
# fairtrial: the campaign {name} on one host of a fleet.
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
    fleet: Path,
    campaign: Path,
    name: str,
    options: Sequence[str],
    scheduler: Scheduler,
) -> str:
    """Write the batch script of a fleet."""
    exports = (
        f"export {name}={shlex.quote(os.environ[name])}\n" for name in _OURS if name in os.environ
    )
    words = [*own_command(), "run", str(campaign), "--resume", *options]
    return _TEXT.format(
        name=name,
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
