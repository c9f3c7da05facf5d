"""Slurm as its own commands show it, without accounting (``sacct``), which a site may not have.

Slurm 22.05 writes a state as a text; since 23.02 it is a list, of the state and its flags, and numbers may
be objects (``{"set": ..., "infinite": ..., "number": ...}``). ``%T`` and ``%r`` are the same in all versions.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from analysis.errors import UsageError
from analysis.record.fleet import Fleet, is_fleet, read_fleet, trial_place
from analysis.words import command_line

from ..campaign.model import Campaign
from ..campaign.schema import identity_of
from ..errors import HostError, LaunchError

# A job in one of these is over; in any other it is in the queue, or about to be.
_ENDED = frozenset(
    {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"}
    | {"DEADLINE", "OUT_OF_MEMORY", "REVOKED"}
)
# What the list of a newer version says in addition to the state, the one that counts for us first.
_FLAGS = ("COMPLETING", "REQUEUE_HOLD", "SPECIAL_EXIT", "REQUEUED", "CONFIGURING", "STAGE_OUT")


@dataclass(frozen=True, slots=True)
class Job:
    """A job that the controller still knows. What it does not say is None.

    `nodes` is where it runs or ran, `wanted` the nodes that it was submitted for.
    """

    id: str
    state: str
    reason: str | None
    nodes: str | None
    wanted: str | None
    user: str | None
    comment: str | None
    cluster: str | None

    @property
    def live(self) -> bool:
        """Whether it is in the queue: waiting, running, or ending."""
        return self.state not in _ENDED


def jobs_of_json(text: str) -> tuple[Job, ...] | None:
    """Read what ``squeue --json`` wrote; None if that is no list of jobs, or with errors a part of one."""
    try:
        data = json.loads(text)
    except ValueError:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("jobs"), list) or data.get("errors"):
        return None
    meta = data.get("meta")
    slurm = meta.get("slurm") if isinstance(meta, dict) else None
    cluster = _text(slurm.get("cluster")) if isinstance(slurm, dict) else None  # of newer versions
    return tuple(job for entry in data["jobs"] if (job := _job_of(entry, cluster)) is not None)


def jobs_of_lines(text: str, cluster: str) -> tuple[Job, ...]:
    """Read lines of ``squeue`` in the form ``id|state|nodes|wanted|user|comment|reason``."""
    found = []
    for line in text.splitlines():
        parts = line.split("|")
        if len(parts) >= 7:
            texts = (parts[-1], *parts[2:5], "|".join(parts[5:-1]))
            job, state = parts[:2]
            reason, nodes, wanted, user, comment = map(_text, texts)
            found.append(Job(job, state, reason, nodes, wanted, user, comment, cluster))
    return tuple(found)


def _job_of(entry: Any, cluster: str | None) -> Job | None:  # noqa: ANN401 - JSON types
    number = entry.get("job_id") if isinstance(entry, dict) else None
    if isinstance(number, dict):
        number = number.get("number") if number.get("set", True) else None
    state = _state(entry.get("job_state")) if type(number) is int else None
    if state is None:
        return None
    return Job(
        id=str(number),
        state=state,
        reason=_text(entry.get("state_description")) or _text(entry.get("state_reason")),
        nodes=_text(entry.get("nodes")) or _text(entry.get("batch_host")),
        wanted=_text(entry.get("required_nodes")),
        user=_text(entry.get("user_name")),
        comment=_text(entry.get("comment")),
        cluster=_text(entry.get("cluster")) or cluster,
    )


def _state(value: Any) -> str | None:  # noqa: ANN401 - JSON types
    if isinstance(value, str):
        return value or None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    flags = [item for item in _FLAGS if item in value]
    return flags[0] if flags else next(iter(value), None)


def _text(value: Any) -> str | None:  # noqa: ANN401 - JSON types
    if isinstance(value, dict):  # a comment is one of three in some versions
        value = value.get("job")
    if not isinstance(value, str):
        return None
    return None if value in {"", "None", "(null)", "n/a", "N/A"} else value


_PATIENCE_S = 60.0
_FIELDS = "%i|%T|%N|%n|%u|%k|%r"  # a job: id, state, nodes, wanted nodes, user, comment, reason
# What changes the answers of its commands, or makes of a job what no fleet has. All else that a person
# sets for sbatch, such as SBATCH_ACCOUNT, goes through.
_UNSET = (
    *("SQUEUE_", "SINFO_", "SCANCEL_", "SCONTROL_", "SLURM_CLUSTERS", "SBATCH_CLUSTERS"),
    *("SBATCH_ARRAY_INX", "SBATCH_WAIT", "SBATCH_IMMEDIATE", "SBATCH_OVERCOMMIT"),
)
_MANY = 200  # ids in one command line
_ASK = "try 'scontrol ping'; your administrator knows whether the controller is down"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node as the scheduler sees it: its state in lower case, and why it is in it."""

    name: str
    state: str
    reason: str | None

    @property
    def usable(self) -> bool:
        """Whether a job could start there, now or when others have ended."""
        bad = ("down", "drain", "fail", "maint", "unknown", "power", "reboot", "future", "perfctrs")
        return not self.state.endswith("*") and not any(word in self.state for word in bad)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmPartition:
    """A partition: the longest time of a job (``UNLIMITED`` too), and whether jobs share CPUs."""

    name: str
    default: bool
    max_time: str
    oversubscribe: str


class Scheduler:
    """The commands of Slurm on this host."""

    def place(self, program: str) -> str:
        """Give the absolute path of one of its commands."""
        found = shutil.which(program)
        if found is None:
            what = f"Slurm's command '{program}' is not on this host"
            fix = "work on a login node of the cluster, or load its module (module load slurm)"
            raise HostError(what, f"PATH={os.environ.get('PATH', '')}", fix)
        return os.path.abspath(found)  # noqa: PTH100 - a link is kept: it may choose the version

    def names(self, expression: str) -> tuple[str, ...]:
        """Write out a list of hosts such as ``lab[1-8]``; each name once, in their order."""
        done = self._execute("scontrol", "show", "hostnames", expression)
        names = tuple(dict.fromkeys(done.stdout.split()))
        if done.returncode or not names or any(set(name) & set("[]/,") for name in names):
            fix = "write it as Slurm does: 'lab1,lab2' or 'lab[1-8]', in quotes"
            raise UsageError(f"this is not a list of hosts: {expression}", "--hosts", fix)
        return names

    def nodes(self, partition: str | None = None) -> dict[str, Node]:
        """Give the nodes of a partition, or all, by their names."""
        chosen = ("-a",) if partition is None else ("-p", partition)
        text = self._answer("sinfo", "-h", "-N", *chosen, "-o", "%N|%T|%E")
        found = {}
        for line in text.splitlines():
            name, state, reason = (*line.split("|", 2), "", "")[:3]
            if state:  # else a reason goes on in a line of its own
                known = None if reason in {"none", "Not", ""} else reason
                found[name] = Node(name=name, state=state, reason=known)
        return found

    def partitions(self) -> dict[str, SlurmPartition]:
        """Give the partitions by their names."""
        found = {}
        for line in self._answer("scontrol", "-a", "-o", "show", "partition").splitlines():
            words = dict(word.partition("=")[::2] for word in line.split())
            if "PartitionName" in words:  # else "No partitions in the system"
                found[words["PartitionName"]] = SlurmPartition(
                    name=words["PartitionName"],
                    default=words.get("Default") == "YES",
                    max_time=words.get("MaxTime", "UNLIMITED"),
                    oversubscribe=words.get("OverSubscribe", words.get("Shared", "NO")),
                )
        return found

    def cluster(self) -> str:
        """Give the cluster's name."""
        for line in self._answer("scontrol", "show", "config").splitlines():
            key, _, value = line.partition("=")
            if key.strip() == "ClusterName":
                return value.strip()
        raise HostError("Slurm does not tell the name of its cluster", "scontrol show config")

    def jobs(self, user: str) -> dict[str, Job]:
        """Give the jobs of a user that the controller still knows, ended ones too, by their ids."""
        done = self._execute("squeue", "-a", "-u", user, "-t", "all", "--json")
        found = jobs_of_json(done.stdout) if done.returncode == 0 else None
        # Slurm before 21.08, or one that was built without it, has no JSON; and a controller that
        # knows no name of a user leaves it out, which is no reason to overlook a job
        if found is None or any(job.user is None for job in found):
            text = self._answer("squeue", "-a", "-h", "-u", user, "-t", "all", "-o", _FIELDS)
            found = jobs_of_lines(text, self.cluster())
        return {job.id: job for job in found if job.user == user}

    def submit(self, command: Sequence[str]) -> str:
        """Execute a command line of sbatch; give the new job's id."""
        done = self._execute(*command)
        job = done.stdout.strip().partition(";")[0]
        if done.returncode or not job.isdigit():
            what = _last(done.stderr) or f"sbatch ended with exit code {done.returncode}"
            fix = "execute that line by hand to try other options; options after -- are passed to sbatch"
            raise LaunchError(f"Slurm refuses a job: {what}", shlex.join(command), fix)
        return job

    def end(self, jobs: Sequence[str]) -> None:
        """Cancel jobs; those that have ended already are none of its business."""
        for start in range(0, len(jobs), _MANY):
            self._execute("scancel", *jobs[start : start + _MANY])

    def _answer(self, *words: str) -> str:
        done = self._execute(*words)
        if done.returncode:
            what = f"Slurm does not answer: {_last(done.stderr) or done.returncode}"
            raise HostError(what, shlex.join(words), _ASK)
        return done.stdout

    def _execute(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [self.place(words[0]) if "/" not in words[0] else words[0], *words[1:]]
        plain = {"LC_ALL": "C", "SLURM_TIME_FORMAT": "standard"}
        env = {k: v for k, v in os.environ.items() if not k.startswith(_UNSET)} | plain
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="backslashreplace",
                timeout=_PATIENCE_S,
                check=False,
                env=env,
            )
        except subprocess.TimeoutExpired:
            what = f"Slurm has not answered for {_PATIENCE_S:g} s"
            raise HostError(what, shlex.join(words), _ASK) from None
        except (OSError, ValueError) as error:  # a zero byte, say, of an edited fleet.json
            why = error.strerror if isinstance(error, OSError) else str(error)
            where = command[0] if isinstance(error, OSError) else ascii(shlex.join(words))
            raise HostError(f"Slurm's command cannot be executed: {why}", where) from error
        listed = done.stdout if "--json" not in words else ""
        if done.returncode == 0 and listed and not listed.endswith("\n"):
            raise HostError("Slurm's answer is cut off", shlex.join(words), _ASK)
        return done


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("sbatch: error: ") if lines else ""


# --- One host's trial of a fleet: what it is held against.


class Membership(NamedTuple):
    """The fleet that a trial belongs to, and the node whose trial it is."""

    folder: Path
    fleet: Fleet
    node: str

    def require(self, campaign: Campaign, environment: Mapping[str, str] = os.environ) -> str:
        """Refuse what would make the fleet's trials no samples of one campaign; give the node."""
        if identity_of(campaign) != self.fleet.identity:
            raise UsageError(
                "the campaign is not the one that the fleet was submitted with: the file has changed "
                "since, and its hosts must measure the same",
                str(campaign.source),
                f"put it back as it was, or submit a new fleet (this one: {self.folder})",
            )
        here = environment.get("SLURMD_NODENAME")
        if here is not None and here != self.node:
            what = f"this is node {here}, and the trial is that of {self.node}"
            fix = "submit a job for the node: fairtrial submit FLEET --resume"
            raise HostError(what, str(self.folder / self.node), fix)
        return self.node


def membership_of(trial: Path) -> Membership | None:
    """Tell to which fleet a trial's folder belongs, which need not be there yet."""
    if is_fleet(trial):
        raise UsageError(
            "this is a fleet, not a trial",
            str(trial),
            f"submit jobs for what is missing: {command_line(('fairtrial', 'submit', str(trial), '--resume'))}; or "
            "name the trial of one host, below it",
        )
    folder = trial.absolute().parent
    if not is_fleet(folder):
        return None
    fleet = read_fleet(folder)
    for host in fleet.hosts:
        if trial_place(folder, host).resolve() == trial.resolve():
            return Membership(folder=folder, fleet=fleet, node=host.host)
    what = f"the fleet has no host whose trial is '{trial.name}'"
    raise UsageError(what, str(folder), f"its hosts are: {', '.join(fleet.names)}")


# --- What of a person's options may go to sbatch.


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
_WITHOUT_VALUE = frozenset(
    {"contiguous", "get-user-env", "ignore-pbs", "nice", "no-kill", "quiet"}
    | {"reboot", "spread-job", "use-min-nodes", "verbose"}
)


_FLAG_LETTERS = frozenset("hHIkKOQsvVW")  # letters that take no value


def checked_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """Hold what stands after ``--`` against the options that sbatch gets already."""
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
            value_may_follow = "=" not in name and not any(
                f.startswith(name) for f in _WITHOUT_VALUE
            )
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
        if name in _OWN or not name:
            return f"--{name}"
        # getopt takes the beginning of a name for the name
        meant = sorted(own for own in _OWN if own.startswith(name))
        return f"--{meant[0]}" if meant else None
    for letter in word[1:]:
        if letter in _OWN_LETTERS:
            return f"-{letter}"
        if letter not in _FLAG_LETTERS:
            return None
    return None
