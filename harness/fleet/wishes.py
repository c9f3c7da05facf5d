"""What a person asks of a submission, and what may go to sbatch as it is."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import UsageError

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

    Attributes
    ----------
    hosts : str or None
        A list of nodes in Slurm's notation; None: those of the partition.
    partition : str or None
        None: the cluster's default.
    count : int or None
        So many hosts of the partition.
    time : str or None
        The time limit of each job in Slurm's notation; None: from the plan.
    wait_s : float
        For how long a host's job waits for another trial on its CPUs, in seconds.
    scratch : Path or None
        A folder of the node's own disk to measure on.
    build : {"node", "once"}
        Whether each job builds the programs, or they were built before submission.
    seed : int or None
        In place of the campaign's.
    arguments : tuple of str
        What goes to sbatch as it is.
    """

    hosts: str | None = None
    partition: str | None = None
    count: int | None = None
    time: str | None = None
    wait_s: float = 0.0
    scratch: Path | None = None
    build: BuildPlace = "node"
    seed: int | None = None
    arguments: tuple[str, ...] = ()

    @property
    def job_options(self) -> tuple[str, ...]:
        """The options of ``fairtrial run`` that follow from it."""
        options: list[str] = []
        if self.wait_s:
            options.append(
                "--wait-for-lock" + ("" if math.isinf(self.wait_s) else f"={self.wait_s:g}")
            )
        if self.scratch is not None:
            options.append(f"--scratch={self.scratch}")
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
    """Hold what stands after ``--`` against what sbatch is told already.

    Raises
    ------
    UsageError
        If it sets one of our own options, or would be taken for the batch script.
    """
    value_may_follow = False
    for word in arguments:
        if not word.startswith("-") or word == "-":
            if not value_may_follow:
                raise UsageError(
                    f"sbatch would take {word!r} for the batch script",
                    "after --",
                    "only options of sbatch stand there, such as: -- --account=PROJECT",
                )
            value_may_follow = False
            continue
        own = _own_option(word)
        if own is not None:
            raise UsageError(
                f"{own} is set by fairtrial, for every job of a fleet alike",
                f"after --: {word}",
                _INSTEAD.get(own.lstrip("-"), "leave it out"),
            )
        value_may_follow = _wants_value(word)
    return tuple(arguments)


def _wants_value(word: str) -> bool:
    """Tell whether the next word is an option's value: not where this one holds it, or has none."""
    if word.startswith("--"):
        name = word[2:]
        return "=" not in name and not any(flag.startswith(name) for flag in _FLAGS)
    letters = word[1:].lstrip("".join(_FLAG_LETTERS))
    return len(letters) == 1


_INSTEAD = {
    "time": "name the limit with --time, before the --",
    "t": "name the limit with --time, before the --",
    "partition": "name it with --partition, before the --",
    "p": "name it with --partition, before the --",
    "nodelist": "name the hosts with --hosts, before the --",
    "w": "name the hosts with --hosts, before the --",
    "test-only": "--dry-run, before the --, shows what would be submitted",
    "exclude": "name the wanted hosts with --hosts, before the --",
    "x": "name the wanted hosts with --hosts, before the --",
}


def _own_option(word: str) -> str | None:
    """Give the option of ours that a word sets, also shortened or among other letters."""
    if word.startswith("--"):
        name = re.split(r"=", word[2:], maxsplit=1)[0]
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
