"""A campaign on its way to many hosts: built once, one batch script, one job a host; taken back if that fails.

``fleet.json`` is written before the first job, and again with their ids; a comment tells whose a job is.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import pwd
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from analysis.errors import StoreError, UsageError
from analysis.record.fleet import (
    FLEET,
    Fleet,
    FleetHost,
    is_fleet,
    read_fleet,
    trial_place,
    write_fleet,
)
from analysis.record.manifest import utc_now
from analysis.words import command_line

from ..campaign.model import Campaign
from ..campaign.schema import identity_of
from ..errors import HostError, LaunchError
from ..launch.commands import SideCommands, base_environment, resolve_all
from ..launch.matching import Interrupts
from ..trial.folder import open_inside, storing, write_synced
from ..trial.plan import planned_runs
from ..trial.preparation import expected_seconds
from ..trial.progress import read_progress, trials_in
from ..trial.writer import new_trial_name
from .slurm import Node, Scheduler, SlurmPartition

# --- Which hosts a campaign goes to, and whether their partition and its time limit let it measure.


SHORTEST_S = 600.0
WARNING_S = 120.0  # how long before its end Slurm tells a job, at least
_FACTOR = 2.0
_ROOM = 3.0
# minutes | minutes:seconds | hours:minutes:seconds | days-hours[:minutes[:seconds]]
_NOTATION = re.compile(
    r"(?:(\d+)-(\d+)(?::(\d+))?(?::(\d+))?|(\d+)(?::(\d+))?(?::(\d+))?)", re.ASCII
)


def seconds_of_limit(text: str) -> float | None:
    """Read a time in Slurm's notation, such as ``90``, ``90:00`` or ``1-12:00:00``, in seconds."""
    if text.upper() in {"INFINITE", "UNLIMITED", "NONE", "-1"}:
        return math.inf
    match = _NOTATION.fullmatch(text)
    if match is None:
        return None
    days, hours, minutes, seconds, one, two, three = (float(part or 0) for part in match.groups())
    if match[1] is not None:
        return 86400.0 * days + 3600.0 * hours + 60.0 * minutes + seconds
    return 60.0 * one + two if match[7] is None else 3600.0 * one + 60.0 * two + three


def limit_of_seconds(seconds: float) -> str:
    """Write a time as ``[days-]hours:minutes:00``, rounded up to a minute."""
    minutes = math.ceil(seconds / 60)
    days, rest = divmod(minutes, 24 * 60)
    clock = f"{rest // 60:02d}:{rest % 60:02d}:00"
    return f"{days}-{clock}" if days else clock


def least_limit_s(longest_run_s: float | None) -> float:
    """Give the shortest sensible limit of a job, in seconds.

    Between the warning and the end a run may have to be finished or thrown away, and some runs must
    fit before it, or each start would end with less than it began with.
    """
    return max(SHORTEST_S, _ROOM * (WARNING_S + (longest_run_s or 0.0)))


def limit_of(wanted: str | None, expected_s: float | None, longest_run_s: float | None) -> str:
    """Choose the time limit of a host's job, in Slurm's notation."""
    if wanted is not None:
        if not seconds_of_limit(wanted):
            fix = "write minutes (90), hours:minutes:seconds (1:30:00) or days-hours (1-12)"
            raise UsageError(f"this is not a time in Slurm's notation: {wanted!r}", "--time", fix)
        return wanted
    if expected_s is None:
        what = "it is unknown how long a host needs, because this campaign was never measured here; a job needs a time limit"
        fix = "add --time, such as --time 2:00:00; a job that reaches its limit continues in a new job"
        raise UsageError(what, "--time", fix)
    return limit_of_seconds(max(_FACTOR * expected_s, least_limit_s(longest_run_s)))


_SHOWN = 8


def places_for(
    wishes: Wishes, scheduler: Scheduler
) -> tuple[tuple[str, ...], SlurmPartition, tuple[str, ...]]:
    """Choose the hosts, in their order, and look whether Slurm knows them all; with what is to be said of them."""
    partition = partition_of(wishes.partition, scheduler)
    nodes = scheduler.nodes(partition.name)
    if wishes.hosts is not None:
        hosts = scheduler.names(wishes.hosts)
        strangers = [host for host in hosts if host not in nodes]
        if strangers:
            known, place = scheduler.nodes(), "this cluster"
            wrong = [host for host in strangers if host not in known]
            fix = "'sinfo -N' lists the hosts"
            if not wrong:
                place = f"partition '{partition.name}'"
                fix = "name the hosts' partition with --partition; 'sinfo -N' lists both"
            what = f"{place} has no host {listed(wrong or strangers)}; nothing was submitted"
            raise UsageError(what, "--hosts", fix)
        waiting = [nodes[host] for host in hosts if not nodes[host].usable]
        notes = _noted(waiting, "", "; jobs for such a host wait until it is back")
        return hosts, partition, notes
    good = [name for name, node in nodes.items() if node.usable]
    left_out = [node for node in nodes.values() if not node.usable]
    count = len(good) if wishes.count is None else wishes.count
    if not good or count > len(good):
        others = "; ".join(f"{node.name} is {node.state}" for node in left_out[:_SHOWN])
        wanted = f"{count or 'at least one'} {'are' if count > 1 else 'is'} asked for"
        what = f"partition '{partition.name}' has {len(good)} hosts that can be used, and {wanted}"
        what = f"{what} ({others})" if others else what
        fix = "ask for fewer, or name the hosts with --hosts: their jobs then wait for them"
        raise UsageError(what, "--count" if wishes.count is not None else "--partition", fix)
    # those that are free now first; the choice is printed, and stands in fleet.json
    chosen = sorted(good, key=lambda name: nodes[name].state != "idle")[:count]
    hosts = tuple(name for name in good if name in set(chosen))
    return hosts, partition, _noted(left_out, "left out: ", "")


def require_time(limit: str, partition: SlurmPartition) -> None:
    """Refuse a time limit that the partition does not allow."""
    wanted, most = seconds_of_limit(limit), seconds_of_limit(partition.max_time)
    if wanted is not None and most is not None and wanted > most:
        most_text = partition.max_time
        what = (
            f"a job would need {limit}, and partition '{partition.name}' allows at most {most_text}"
        )
        fix = (
            f"name a shorter time with --time (at most {most_text}): a job that reaches its limit continues in a new "
            "job; or choose another partition"
        )
        raise UsageError(what, "--time", fix)


def partition_of(name: str | None, scheduler: Scheduler) -> SlurmPartition:
    """Give a partition, or the default one; refuse one whose jobs share their CPUs."""
    partitions = scheduler.partitions()
    default = next((each for each in partitions.values() if each.default), None)
    partition = default if name is None else partitions.get(name)
    if partition is None:
        kind, fix = f"partition {name!r}", "there are"
        if name is None:
            kind, fix = "default partition", "name one"
        fix = f"{fix}: {', '.join(partitions)}"
        raise UsageError(f"this cluster has no {kind}", "--partition", fix)
    if _is_shared(partition):
        alone = ", ".join(each.name for each in partitions.values() if not _is_shared(each))
        what = (
            f"jobs of partition '{partition.name}' share their CPUs with others (OverSubscribe="
            f"{partition.oversubscribe}), whatever they ask for: measuring next to another job is not measuring"
        )
        fix = "ask the administrator for a partition without OverSubscribe=FORCE"
        raise UsageError(
            what, "--partition", f"choose another partition: {alone}" if alone else fix
        )
    return partition


def _is_shared(partition: SlurmPartition) -> bool:
    return partition.oversubscribe.upper().startswith("FORCE")


def listed(names: Sequence[str]) -> str:
    """Write the first names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _noted(nodes: Sequence[Node], before: str, behind: str) -> tuple[str, ...]:
    """Say which hosts cannot be used now, the first ones where there are many."""
    notes = []
    for node in nodes[:_SHOWN]:
        reason = f" ({node.reason})" if node.reason else ""
        notes.append(f"{before}{node.name} is {node.state.rstrip('*')}{reason}{behind}")
    if len(nodes) > _SHOWN:
        notes.append(f"and {len(nodes) - _SHOWN} more that are not up ('sinfo -R' says why)")
    return tuple(notes)


# --- The batch script of a fleet, and what of a person's options may go to sbatch.


BuildPlace = Literal["node", "once"]


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
        seconds = "" if math.isinf(self.wait_s) else f"={self.wait_s:g}"
        options = [f"--wait-for-lock{seconds}"] * bool(self.wait_s)
        options += ["--built"] * (self.build == "once")
        options += [f"--seed={self.seed}"] * (self.seed is not None)
        return tuple(options)


SCRIPT = "job.sh"
CANCELLED = "cancelled"  # a file of the fleet: no job of it comes back

# where our key is, which every host must share
_OURS = ("XDG_CONFIG_HOME", "XDG_STATE_HOME")

_TEXT = """\
#!/bin/bash
# fairtrial: the campaign {name} on one host of a fleet.
# Slurm starts it once for each host, with the host's name; docs/fleet.md says why it is as it is.
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
[ -z "$told" ] || kill -TERM "$run"  # the signal came before the run had a number
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
    program = Path(sys.executable).with_name("fairtrial")
    there = os.access(program, os.X_OK)
    return [str(program)] if there else [sys.executable, "-P", "-m", "harness"]


def build_once(
    campaign: Campaign, folder: Path, interrupts: Interrupts, say: Callable[[str], object]
) -> None:
    """Build every variant on this host, with the logs in `folder`."""
    environment = base_environment(campaign.isolation, os.environ)
    with contextlib.closing(SideCommands(None, interrupts)) as commands:
        for build in campaign.builds:
            say(f"build   {build.variant}")
            commands.build(build, environment, folder, timeout_s=campaign.protocol.build_timeout_s)
    resolve_all(campaign, environment)


def estimate_of(campaign: Campaign, runs: Path) -> tuple[float | None, float | None]:
    """Give the seconds of the whole plan and of its longest run; None where they are unknown.

    The earlier trials of the campaign tell, those of fleets among them, the newest first.
    """
    for trial in _earlier(campaign.name, runs):
        with contextlib.suppress(StoreError):  # 'fairtrial status' tells which cannot be read
            known = read_progress(trial).seconds
            total = expected_seconds(campaign, campaign.protocol.sessions, known)
            if total is not None:
                return total, max(known.values())
    limits = [cell.timeout_s for cell in campaign.cells]
    known_limits = [one for one in limits if one is not None]
    return None, max(known_limits, default=None) if len(known_limits) == len(limits) else None


def _earlier(campaign: str, runs: Path) -> Iterator[Path]:
    with contextlib.suppress(StoreError):
        yield from (path for path, _ in trials_in(runs, campaign).found)
    with contextlib.suppress(OSError):
        for folder in filter(is_fleet, sorted(runs.glob(f"{campaign}-*"), reverse=True)):
            with contextlib.suppress(StoreError):
                yield from (trial_place(folder, host) for host in read_fleet(folder).hosts)


SLURM = "slurm"  # the key of fleet.json with what the scheduler needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Jobs that can be submitted: one for each of `hosts`, of the fleet `fleet` in `folder`.

    `fresh` says that the folder is still to be made. `notes` are for a person. `campaign` is there
    where programs are to be built first. `again` plans anew what may have changed since it was planned.
    """

    folder: Path
    fleet: Fleet
    hosts: tuple[str, ...]
    script: str
    fresh: bool
    scheduler: Scheduler
    notes: tuple[str, ...] = ()
    share: bool = False
    campaign: Campaign | None = None
    jobs: tuple[str, ...] = ()
    again: Callable[[], Submission] | None = None

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The command line of sbatch for each host, in their order."""
        slurm = self.fleet.further[SLURM]
        options = (
            *("--exclusive", "--mem=0", "--requeue", "--open-mode=append", "--signal=B:TERM@120"),
            *("-t", slurm["time"], f"--export={','.join(slurm['exported']) or 'NONE'}"),
            *((f"--mincpus={slurm['mincpus']}",) if slurm.get("mincpus") else ()),
            *("--comment", comment_of(self.fleet), "-p", slurm["partition"]),
            *("-J", self.fleet.campaign, "-D", str(self.folder)),
        )
        found = []
        for host in self.hosts:
            log = str(self.folder / f"{host}.log").replace("%", "%%")
            start = ("sbatch", "--parsable", "-N1", "-n1", "-w", host, *options, "-o", log)
            found.append((*start, *slurm["arguments"], str(self.folder / SCRIPT), host))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types; `job` of a host is null as long as it was not submitted."""
        jobs = [*self.jobs, *[None] * (len(self.hosts) - len(self.jobs))]
        slurm = self.fleet.further[SLURM]
        return {
            **{name: slurm[name] for name in ("fleet", "time", "partition")},
            "path": str(self.folder),
            "campaign": self.fleet.campaign,
            "identity": self.fleet.identity,
            "script": self.script,
            "hosts": [
                {"host": host, "job": job, "command": list(command)}
                for host, job, command in zip(self.hosts, jobs, self.commands, strict=True)
            ],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Show what would be submitted: the script, then a line of sbatch for each host."""
        return "\n".join([self.script, *map(shlex.join, self.commands)])

    def execute(self, say: Callable[[str], object]) -> Submission:
        """Submit the jobs; give the submission with their ids."""
        with Interrupts() as interrupts, contextlib.ExitStack() as stack:
            if self.fresh:
                with storing(self.folder):
                    self.folder.parent.mkdir(parents=True, exist_ok=True)
                    self.folder.mkdir(mode=0o777 if self.share else 0o700)
            try:
                stack.enter_context(_alone(self.folder))
            except BaseException:
                if self.fresh:
                    self._take_back()
                raise
            now = self if self.again is None else self.again()
            return now._submitted(interrupts, say)

    def _submitted(self, interrupts: Interrupts, say: Callable[[str], object]) -> Submission:
        submitted: list[str] = []
        fleet, asked = self.fleet, False
        try:
            path = self.folder / SCRIPT  # stays for a person: Slurm keeps a copy of its own
            with storing(path):
                write_synced(self.folder, SCRIPT, os.fsencode(self.script))
                path.chmod(0o700)
            if self.campaign is not None:
                build_once(self.campaign, self.folder, interrupts, say)
            place = {"folder": str(self.folder.resolve()), "inode": self.folder.stat().st_ino}
            fleet = with_slurm(fleet, place)
            write_fleet(self.folder, fleet)
            for host, command in zip(self.hosts, self.commands, strict=True):
                interrupts.check()
                asked = True
                submitted.append(self.scheduler.submit(command))
                fleet = fleet.with_job(host, submitted[-1])
            interrupts.check()
            write_fleet(self.folder, fleet)
            if submitted:  # else it still holds for jobs that are ending
                with storing(self.folder / CANCELLED):
                    (self.folder / CANCELLED).unlink(missing_ok=True)
        except BaseException as error:
            refused = isinstance(error, LaunchError) and not submitted
            if asked and not self._withdrawn(submitted, say, refused=refused):
                with contextlib.suppress(StoreError):
                    write_fleet(self.folder, fleet)
            elif self.fresh:
                self._take_back()
            interrupts.check()  # a terminal's Ctrl-C ends sbatch too
            raise
        return replace(self, fleet=fleet, jobs=tuple(submitted))

    def _withdrawn(
        self, submitted: list[str], say: Callable[[str], object], *, refused: bool
    ) -> bool:
        """Tell whether none of the jobs is left in the queue, having cancelled them.

        A job may be in the queue although sbatch was interrupted, or did not answer in time: then its
        comment tells whose it is.
        """
        kept = {job for host in self.fleet.hosts for job in host.jobs}
        slurm, scheduler = self.fleet.further[SLURM], self.scheduler
        ours = (comment_of(self.fleet), slurm["user"], slurm["cluster"])

        def in_queue() -> tuple[str, ...]:
            return tuple(
                job.id
                for job in scheduler.jobs(slurm["user"]).values()
                if (job.comment, job.user, job.cluster) == ours
                and job.live
                and job.state != "COMPLETING"
                and job.id not in kept
            )

        left: tuple[str, ...] | None
        try:
            scheduler.end(submitted)
            if left := in_queue():
                scheduler.end(left)
                left = in_queue()
        except HostError:
            left = None
        if left == () or (left is None and refused):
            return True
        which = "jobs of it may be" if left is None else f"still there: {', '.join(left)}"
        say(
            f"the submitted jobs could not be cancelled, {which} in the queue; end them: "
            f"{command_line(('fairtrial', 'cancel', str(self.folder)))}"
        )
        return False

    def _take_back(self) -> None:
        """Remove what was written of a fleet that did not come about; if one of its jobs has begun, it stays."""
        with contextlib.suppress(OSError):
            written = {self.folder / SCRIPT, self.folder / FLEET, *self.folder.glob("build-*.log")}
            if written.issuperset(self.folder.iterdir()):
                for path in written:
                    path.unlink(missing_ok=True)
                self.folder.rmdir()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let nobody else submit jobs for a fleet meanwhile: hosts would get two.

    Held is the script: every submission writes it, in its place.
    """
    with storing(folder / SCRIPT):
        fd = open_inside(folder, SCRIPT, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        what = "another 'fairtrial submit' is submitting jobs for this fleet now"
        fix = f"wait until it has ended; {command_line(('fairtrial', 'status', str(folder)))} tells what it did"
        raise StoreError(what, str(folder), fix) from None
    except OSError:  # a network file system that knows no locks
        pass
    try:
        yield
    finally:
        os.close(fd)


def submission_of(
    campaign: Campaign, wishes: Wishes, runs: Path, scheduler: Scheduler | None = None
) -> Submission:
    """Plan the fleet of a campaign; nothing is written or submitted."""
    scheduler = scheduler or Scheduler()
    if wishes.build == "once" and campaign.built_each_session:
        named = ", ".join(campaign.built_each_session)
        what = (
            f"the builds of {named} belong to each session (each: session), and cannot be made once"
        )
        raise UsageError(what, "--build once", "leave it out: each host builds its own")
    hosts, partition, noted = places_for(wishes, scheduler)
    total_s, longest_s = estimate_of(campaign, runs)
    limit = limit_of(wishes.time, total_s, longest_s)
    require_time(limit, partition)
    name = new_trial_name(campaign.name)
    folder = runs.absolute() / name
    slurm = {
        "partition": partition.name,
        "time": limit,
        "options": list(wishes.job_options),
        "arguments": list(wishes.arguments),
        "fleet": name,
        "user": user_name(),
        "cluster": scheduler.cluster(),
        "campaign": str(campaign.source.absolute()),
        "exported": _exported(campaign),
        "planned": planned_runs(campaign, campaign.protocol.sessions),
        **_least_cpus(campaign),
    }
    fleet = Fleet(
        campaign=campaign.name,
        identity=identity_of(campaign),
        submitted_at=utc_now(),
        script=SCRIPT,
        hosts=tuple(FleetHost(host=host, jobs=(), trial=host) for host in hosts),
        further={SLURM: slurm},
    )
    source = campaign.source.absolute()
    script = script_of(folder, source, campaign.name, wishes.job_options, scheduler)
    notes = [*campaign.notes, *noted, *_doubts(campaign, wishes, limit, longest_s)]
    return Submission(
        folder=folder,
        fleet=fleet,
        hosts=hosts,
        script=script,
        fresh=True,
        scheduler=scheduler,
        notes=tuple(notes),
        share=campaign.share,
        campaign=campaign if wishes.build == "once" and campaign.builds else None,
    )


def slurm_of(fleet: Fleet) -> dict[str, Any]:
    """Give what ``fleet.json`` keeps for the scheduler; nothing of a fleet put together by hand."""
    slurm = fleet.further.get(SLURM)
    return slurm if isinstance(slurm, dict) else {}


def with_slurm(fleet: Fleet, changes: dict[str, Any]) -> Fleet:
    """Give a fleet whose ``fleet.json`` keeps something else for the scheduler."""
    return replace(fleet, further={**fleet.further, SLURM: slurm_of(fleet) | changes})


def user_name() -> str:
    """Give the name of who executes this, as Slurm knows it; its number where it has none."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def comment_of(fleet: Fleet) -> str | None:
    """Give the comment that the jobs of a fleet carry; None where none were submitted."""
    name = slurm_of(fleet).get("fleet")
    return f"fairtrial:{name}" if isinstance(name, str) else None


def at_home(folder: Path, fleet: Fleet) -> bool:
    """Tell whether a folder is the one that a fleet was submitted into, and no copy of it.

    Its path may be another one on another host, or after it was moved: then its inode tells. One that
    says neither, as only an edited one does, has no jobs.
    """
    known = slurm_of(fleet)
    try:
        inode = folder.stat().st_ino
        return known.get("folder") == str(folder.resolve()) or known.get("inode") == inode
    except OSError:
        return False


def _doubts(campaign: Campaign, wishes: Wishes, limit: str, longest_s: float | None) -> list[str]:
    doubts = []
    least = least_limit_s(longest_s)
    if wishes.time is not None and (seconds_of_limit(limit) or 0.0) < least:
        doubts.append(
            f"--time {limit} is short: Slurm warns a job two minutes before its end, or three, and the run under way "
            f"is discarded then; {limit_of_seconds(least)} or more leaves room"
        )
    place = campaign.source.parent
    if campaign.built_each_session:
        doubts.append(
            f"every host builds its programs before each session in {place}: where that folder is shared, hosts "
            "change each other's programs while they are measured; name one host, or let the path be one of each "
            "host's own disk"
        )
    elif campaign.builds and wishes.build == "node":
        doubts.append(
            f"every host builds its programs in {place}: where that folder is shared they overwrite each other's; "
            "--build once builds them here, before submission"
        )
    return doubts


def _least_cpus(campaign: Campaign) -> dict[str, int]:
    """Tell how many CPUs a node must have for runs, fairtrial and services apart; nothing without services.

    A job has all CPUs of its node: this asks for nodes that have enough of them.
    """
    if not campaign.services:
        return {}
    settings = (campaign.isolation.cpus, *(one.cpus for one in campaign.services))
    wanted = {number for setting in settings if isinstance(setting, tuple) for number in setting}
    apart = any(one.cpus == "auto" and not one.share_cpus for one in campaign.services)
    least = max((number + 1 for number in wanted), default=0)
    return {"mincpus": max(least, len(wanted) + 1, 3 if apart else 2)}


def _exported(campaign: Campaign) -> list[str]:
    """Name the variables that go with the jobs, those that the campaign keeps by name; values may be secrets."""
    if isinstance(campaign.isolation.keep_environment, str):
        return []
    kept = base_environment(campaign.isolation, os.environ).keys() & os.environ.keys()
    return sorted(name for name in kept if name.replace("_", "a").isalnum())
