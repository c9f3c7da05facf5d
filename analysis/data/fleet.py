"""A fleet, read one host at a time, and what its readers should know of its hosts."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InsufficientDataError, StoreError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, merged
from ..record.environment import same_in_all
from ..record.fleet import (
    FLEET,
    Fleet,
    FleetHost,
    HostProgress,
    HostState,
    is_fleet,
    is_held,
    once,
    progress_of,
    read_fleet,
    read_host,
    require_campaign,
    trial_place,
    with_plans,
    write_fleet,
)
from ..record.manifest import appearing, read_manifest, refuse_existing
from ..record.trial_files import (
    MANIFEST,
    Manifest,
    Stored,
    TrialStatus,
    judged_now,
    one_question,
    questions_of,
)
from ..stats.samples import Array, Integers, read_only
from ..words import command_line, next_lines
from .columns import metric_column, verify_files
from .merging import (
    MergedPart,
    Offsets,
    merge_trials,
    places_of,
    read_part,
    require_distinct,
    require_one_campaign,
)
from .runs import Unit, differing, stored_together
from .trial import Trial, read_trial

_NAMED = 6
_FIRST = 3  # hosts that are named of those that say the same
_OF_HOSTS = {"still-running", "ended-early", "runs-missing"}  # the hosts' own cautions say it


def host_cautions(hosts: Sequence[HostProgress]) -> Iterator[Caution]:
    """Say which hosts are missing, failed or unfinished, and whether there is one to judge only."""
    missing, failed, unfinished = (
        {one.host: one for one in hosts if one.state in states}
        for states in (("missing",), ("failed",), ("running", "partial"))
    )
    if missing:
        words = figures.listed([*missing], _NAMED)
        text = f"missing: {words}: no run was measured there, and nothing is claimed about it"
        yield Caution("host-missing", text, tuple(missing))
    if failed:
        texts = [f"{name} ({one.why})" for name, one in failed.items()]
        text = f"failed: {figures.listed(texts, 3, mark='; ')}: left out"
        yield Caution("host-failed", f"{text}, and nothing is claimed about it", tuple(failed))
    if unfinished:
        texts = [
            f"{name} {one.state} ({one.done} of "
            f"{'an unknown number of' if one.planned is None else one.planned} runs)"
            for name, one in unfinished.items()
        ]
        some = any(one.counting for one in unfinished.values())
        what = "what is there is judged" if some else "no run counts there yet"
        text = f"not finished: {figures.listed(texts, 3)}: {what}"
        yield Caution("host-unfinished", text, tuple(unfinished))
    counting = [one.host for one in hosts if one.counting > 0]
    if len(counting) == 1:
        yield Caution(
            "one-host",
            f"one host only ({counting[0]}): nothing is claimed about other hosts, and its peculiarities "
            "cannot be separated from those of the programs",
            (counting[0],),
        )


def said_of_hosts(
    each: Mapping[str, Iterable[Caution]], *, without: Collection[str], apart: Collection[str] = ()
) -> Iterator[Caution]:
    """Say what hosts say, each thing once, of the hosts that it holds for; of codes `apart` each text is a thing."""
    for caution, hosts in said_once(each, without=without, apart=apart):
        short = None if caution.short is None else caution.short.about(*hosts)
        yield replace(caution, about=(*hosts[:_FIRST], *caution.about), short=short)


def said_once(
    each: Mapping[str, Iterable[Caution]], *, without: Collection[str], apart: Collection[str] = ()
) -> Iterator[tuple[Caution, tuple[str, ...]]]:
    """Give each thing that hosts say, with the hosts; the numbers of one are not another's, but an example."""
    holds: dict[tuple[Caution, str], dict[str, str]] = {}
    for host, cautions in each.items():
        for caution in cautions:
            if caution.code not in without:
                key = caution, caution.text if caution.code in apart else ""
                holds.setdefault(key, {})[host] = caution.text
    for (caution, _), texts in holds.items():
        hosts = tuple(texts)
        where = "all hosts" if len(hosts) == len(each) > 1 else figures.listed(hosts, _FIRST)
        where += f", such as {hosts[0]}" * (len(set(texts.values())) > 1)
        yield replace(caution, text=f"on {where}: {texts[hosts[0]]}"), hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDifference:
    """What a host has, and what most hosts have: `key` with dots, as in ``docs/environment.md``."""

    key: str
    here: str
    most: str
    program: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHostStanding:
    """One host of a fleet."""

    host: str
    state: HostState
    done: int
    planned: int | None
    why: str | None
    judged: bool
    host_id: str | None
    trial: str
    differs: tuple[HostDifference, ...] = ()


@dataclass(slots=True, kw_only=True)
class OpenedFleet:
    """A fleet's record, and the way to its trials; `progress` says how all hosts stand, once their trials were read."""

    path: Path
    fleet: Fleet
    progress: tuple[HostProgress, ...] = ()

    def trials(self) -> Iterator[tuple[str, Trial]]:
        """Read the trials that have a run that counts, with their hosts' names, each when it is asked for.

        A host whose trial is damaged, of another campaign, or not there, hides no other: its progress says why.
        Raises InsufficientDataError where no trial has such a run.
        """
        found, known = list[HostProgress](), dict[object, str]()
        for host in self.fleet.hosts:
            progress, trial = _read(self.path, self.fleet, host)
            found.append(once(progress, known))
            if trial is not None and found[-1].counting:
                yield host.host, trial
        self.progress = with_plans(found)
        if not any(one.counting for one in found):
            raise nothing_to_judge(self)

    @property
    def judge(self) -> tuple[str, ...]:
        """The metrics that the campaign's `judge` names, the first one first; none without the key."""
        found = questions_of(self._manifests())
        metrics = one_question(found)
        if metrics is None:
            raise differing(str(self.path), judged_now(found))
        return metrics

    @property
    def default_metric(self) -> str:
        """The metric that is judged where nobody names one. Raises what `judge` does."""
        return next(iter(self.judge), "wall")

    def is_usual(self, metric: str) -> bool:
        """Tell whether a metric is the one that is judged where nobody names one."""
        metrics = one_question(questions_of(self._manifests()))
        return metrics is not None and metric == next(iter(metrics), "wall")

    @property
    def unnamed(self) -> tuple[str, ...]:
        """The metrics that benchmarks declare, where the campaign says of none that it is the question."""
        if self.judge:
            return ()
        declared = (name for _, manifest in self._manifests() for name in manifest.declared)
        return tuple(dict.fromkeys(declared))

    def _manifests(self) -> Iterator[tuple[str, Manifest]]:
        for one in self.fleet.hosts:
            with contextlib.suppress(StoreError):
                yield one.host, read_manifest(trial_place(self.path, one))


def open_fleet(path: Path) -> OpenedFleet:
    """Open a fleet; its trials are read when they are asked for."""
    return OpenedFleet(path=path, fleet=read_fleet(path))


def _read(path: Path, fleet: Fleet, host: FleetHost) -> tuple[HostProgress, Trial | None]:
    """Tell how far a host is, and give its trial where a run of it counts."""
    try:
        trial = read_trial(trial_place(path, host))
        require_campaign(fleet, trial.manifest, trial.path)
    except StoreError as error:
        found = read_host(path, fleet, host)
        if found.state not in ("missing", "failed"):
            # whoever counts rows reads less than a trial's reader, who found it damaged
            found = replace(found, state="failed", counting=0, why=error.what)
        return found, None
    progress = progress_of(
        host,
        trial.path,
        trial.manifest,
        rows=len(trial) > 0,
        tried=not trial.warmup.all(),
        done=int(np.unique(trial.planned_position[trial.planned_position >= 0]).size),
        counting=int(trial.measured.sum()),
    )
    return progress, trial if progress.counting else None


# --- The hosts of a fleet as one trial, or as a trial each, for the methods that take them so.
#
# Whoever infers by sessions takes each host as one session: hosts are the outermost level, and what is
# said holds on hosts like these. Whoever looks at the runs themselves takes each host's sessions, with
# numbers of their own, in the order of the hosts.


_SAME = ("benchmarks", "variants", "baseline")
_WHOLE = (
    *("segment", "block", "benchmark", "variant", "outcome", "start_ns", "warmup"),
    *("disturbed", "chosen"),
)


def joined_trial(fleet: OpenedFleet, *, by: Unit = "host") -> Trial:
    """Read all trials of a fleet as one."""
    each = dict(fleet.trials())
    one, *others = each.values()
    first = one.manifest
    for other, name in itertools.product(others, _SAME):
        if getattr(first, name) != getattr(other.manifest, name):
            what = f"its {name} are others than those of {first.host}, though the campaign is one"
            fix = "measure the host again, or read its trial by itself"
            raise StoreError(what, str(other.path), fix)
    return _joined(fleet, each, by if others else "session")


def nothing_to_judge(fleet: OpenedFleet) -> InsufficientDataError:
    """Give the error for a fleet without a run that counts; it says how each host stands."""
    text = figures.listed([f"{one.host} is {one.state}" for one in fleet.progress], mark="; ")
    return InsufficientDataError(
        f"no host of the fleet has a run that counts: {text}",
        str(fleet.path),
        f"see how far it is: {command_line(('fairtrial', 'status', str(fleet.path)))}",
        n=0,
        needed=1,
    )


def _joined(fleet: OpenedFleet, each: Mapping[str, Trial], by: Unit) -> Trial:
    path, hosts, trials = fleet.path, fleet.progress, [*each.values()]
    if by == "host":
        trials = [_one_session(trial) for trial in trials]
    # no two rows of a fleet have one position
    *places, total = places_of(
        (
            trial.manifest.sessions,
            max(trial.planned_runs, int(trial.position.max(initial=-1)) + 1),
            max(0, -int(trial.position.min(initial=0))),
        )
        for trial in trials
    )
    both = list(zip(trials, places, strict=True))
    fields: dict[str, Any] = {
        name: _together(getattr(trial, name) for trial in trials) for name in _WHOLE
    }
    fields["session"] = _together(t.session + p.sessions for t, p in both)
    fields["position"] = _together(_moved(p, t.position) for t, p in both)
    # here -1 is no position: the row repeats nothing
    fields["repeats"] = _together(
        np.where(t.repeats < 0, t.repeats, _moved(p, t.repeats)) for t, p in both
    )
    if any(trial.counted is not None for trial in trials):
        # where all runs of a trial are alike, each may have counters and times
        fields["counted"] = _together(
            np.full(len(t), -1, dtype=np.int8) if t.counted is None else t.counted for t in trials
        )
    first = trials[0]
    said = {name: trial.cautions for name, trial in each.items()}
    return Trial(
        path=path,
        manifest=replace(
            _manifest(path, both, total.sessions, hosts),
            judge=questions_of((name, trial.manifest) for name, trial in each.items()),
        ),
        cautions=merged(
            host_cautions(hosts),
            [_note([*each], total.sessions, by)],
            (caution for caution, _ in said_once(said, without=_OF_HOSTS)),
        ),
        planned_runs=sum(trial.planned_runs for trial in trials),
        numbers=_numbers(trials),
        absent=frozenset.intersection(*(trial.absent for trial in trials)),
        metrics={
            name: metric_column(
                np.concatenate([t.metrics[name].values for t in trials]),
                np.concatenate([np.diff(t.metrics[name].offsets) for t in trials]),
            )
            for name in _shared(trials)
        },
        failed=tuple(p.moved(run) for trial, p in both for run in trial.failed),
        outermost=by,
        warmup_iterations=first.warmup_iterations,
        stored=stored_together(trials),
        **fields,
    )


def _numbers(trials: Sequence[Trial]) -> dict[str, Array]:
    """Give the numbers of all runs; what one trial alone names, as a CPU that lost time, is unknown elsewhere."""
    nothing = [np.full(len(trial), np.nan) for trial in trials]
    return {
        name: _together(t.numbers.get(name, none) for t, none in zip(trials, nothing, strict=True))
        for name in dict.fromkeys(name for trial in trials for name in trial.numbers)
    }


def _moved(place: Offsets, positions: Integers) -> Integers:
    return np.where(positions < 0, positions - place.repeated, positions + place.positions)


def _together(columns: Iterable[NDArray[Any]]) -> NDArray[Any]:
    return read_only(np.concatenate([*columns]))


def _shared(trials: Sequence[Trial]) -> list[str]:
    """Name the metrics that all hosts have: one may lack a counter that another one has."""
    first, *others = (trial.manifest.metrics for trial in trials)
    return [
        name for name, info in first.items() if all(other.get(name) == info for other in others)
    ]


def _manifest(
    path: Path,
    both: Sequence[tuple[Trial, Offsets]],
    sessions: int,
    hosts: Sequence[HostProgress],
) -> Manifest:
    """Describe the whole; what the hosts do not agree in is unknown."""
    parts = [trial.manifest for trial, _ in both]
    first = parts[0]
    models = {part.cpu_model for part in parts}
    states = {one.state for one in hosts}
    ended: TrialStatus = "complete" if states == {"complete"} else "interrupted"
    return replace(
        first,
        trial=path.absolute().name,
        host=f"{len(parts)} hosts" if len(parts) > 1 else first.host,
        host_id=first.host_id if len(parts) == 1 else "unknown",
        cpu_model=models.pop() if len(models) == 1 else None,
        sessions=sessions,
        runs=max(part.runs for part in parts),
        planned=sum(part.planned for part in parts),
        metrics={name: first.metrics[name] for name in _shared([trial for trial, _ in both])},
        targets={},
        arguments={},
        started=min(part.started for part in parts),
        finished=None if "running" in states else max(p.finished or p.started for p in parts),
        status="running" if "running" in states else ended,
        reason=None,
        files={},
        session_ends=tuple(p.moved(end) for t, p in both for end in t.manifest.session_ends),
        given_up=tuple(p.moved(one) for t, p in both for one in t.manifest.given_up),
        must_raise=None,
        stage=None,
        # at each look there were all hosts, and so no fewer sessions than hosts
        appended=tuple(
            replace(one, first=max(one.first, len(parts) + 1))
            for one in max((part.appended for part in parts), key=len)
        ),
        merged_from=(),
        same_program=same_in_all(parts),
        further={},
    )


def _note(names: Sequence[str], sessions: int, by: Unit) -> Caution:
    text = f"{figures.counted(len(names), 'host')} ({figures.listed(names, 3)})"
    if by == "session":
        return Caution(
            "sessions-of-hosts",
            f"the sessions of {text} are taken together, as {sessions} sessions: what lies between "
            "hosts is not separated from what lies between sessions",
        )
    return Caution(
        "hosts-as-sessions",
        f"each of {text} is taken as one session: what sessions tell holds on hosts like these, and their "
        "own sessions are not separated ('fairtrial verdict' of the fleet tells them)",
    )


def _one_session(trial: Trial) -> Trial:
    """Take all sessions of a trial as one, whose blocks follow each other."""
    manifest = trial.manifest
    most = manifest.runs
    counted = trial.block > 0
    never = {(one.benchmark, one.variant): one for one in manifest.given_up if one.never_ok}
    return replace(
        trial,
        session=np.ones_like(trial.session),
        block=np.where(counted, trial.block + (trial.session - 1) * most, 0),
        manifest=replace(
            manifest,
            sessions=1,
            runs=most * manifest.sessions,
            session_ends=(),
            given_up=tuple(replace(one, session=1) for one in never.values()),
        ),
        failed=tuple(replace(run, session=1) for run in trial.failed),
    )


def trials_apart(fleet: OpenedFleet) -> tuple[Sequence[Trial], Sequence[Caution]]:
    """Read the trials of a fleet that have runs that count, and say which hosts are not there.

    Hosts of one image share an id: each trial's host is its node's name, and its id begins with it.
    """
    trials = []
    for name, trial in fleet.trials():
        host_id = f"{name} {trial.manifest.host_id}"
        manifest = replace(trial.manifest, host=name, host_id=host_id)
        trials.append(replace(trial, manifest=manifest))
    return trials, list(host_cautions(fleet.progress))


# --- Writes the fleet that trials of several hosts were put together to: each is copied whole.


Way = Literal["sessions", "fleet"]
_UNKNOWN = "unknown"  # the id of a host whose machine id could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTrial:
    """A trial that is put together with others; `host` is its node's name."""

    path: Path
    host: str
    host_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedHost(Stored):
    """A host of a fleet that was put together; several `trials` became sessions of one."""

    host: str
    host_id: str
    trial: str
    trials: tuple[str, ...]
    sessions: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedFleet(Stored):
    """A fleet that was put together."""

    fleet: str
    hosts: tuple[MergedHost, ...]

    def __str__(self) -> str:
        lines = [f"{self.fleet}: a fleet of {figures.counted(len(self.hosts), 'host')}"]
        for one in self.hosts:
            made = "" if len(one.trials) == 1 else f", of {len(one.trials)} trials"
            lines.append(
                f"  {one.host:<18} {figures.counted(one.sessions, 'session')}, "
                f"{one.runs} runs{made}"
            )
        return "\n".join([*lines, *next_lines(("fairtrial", "verdict", self.fleet))])


def named_trials(paths: Sequence[Path]) -> tuple[NamedTrial, ...]:
    """Name the trials that are meant: a fleet stands for those of its hosts that have one."""
    found: list[NamedTrial] = []
    for path in paths:
        if not is_fleet(path):
            manifest = read_manifest(path)
            found.append(NamedTrial(path=path, host=_own_name(manifest), host_id=manifest.host_id))
            continue
        own = list(_of_fleet(path))
        if not own:
            raise UsageError("no host of this fleet has a trial", str(path), "leave it out")
        found += own
    return tuple(found)


def _of_fleet(path: Path) -> Iterator[NamedTrial]:
    for host in read_fleet(path).hosts:
        trial = trial_place(path, host)
        if os.path.lexists(trial / MANIFEST):
            manifest = read_manifest(trial)
            own = _own_name(manifest)
            # as a merge called it: further trials of the host are then found to be of the same one
            labels = {_folder_name(name) for name in (own, own + f"-{manifest.host_id[:8]}")}
            label = host.host if own in labels else re.sub(r"(-2)+$", "", host.host)
            name = own if label in labels else host.host
            yield NamedTrial(path=trial, host=name, host_id=manifest.host_id)


def _own_name(manifest: Manifest) -> str:
    """Name a trial's host: nodes of one machine, or of cloned images, as the scheduler calls them."""
    return manifest.node or manifest.host


def way_of(trials: Sequence[NamedTrial], *, asked: Way | None, fleets: bool) -> Way:
    """Decide whether trials become the sessions of one, or the hosts of a fleet.

    On one host id they become sessions, on several a fleet. Where one id has several names both would
    do: cloned images share an id, and a host may have been renamed.
    """
    if asked is not None:
        return asked
    if fleets or len({one.host_id for one in trials}) > 1:
        return "fleet"
    names = sorted({one.host for one in trials})
    if len(names) > 1:
        raise UsageError(
            f"these trials have one host id and the names {', '.join(map(format, names[:4]))}: it may be one host "
            "that was renamed, or several of one cloned image",
            " ".join(str(one.path) for one in trials[:4]),
            "say which: --as sessions (one host), or --as fleet (a host a name)",
        )
    return "sessions"


def merge_hosts(
    trials: Sequence[NamedTrial], folder: Path, *, accept_drift: bool = False
) -> MergedFleet:
    """Put trials of one campaign together as the hosts of a fleet.

    Hosts are separated by name and id. Trials are copied as they are, finished or not; several of one
    host become the sessions of one, as `merge_trials` does it.
    """
    folder = Path(folder)
    refuse_existing(folder)
    parts: list[MergedPart] = []
    for one in trials:
        parts.append(part := read_part(one.path))
        if part.manifest.status == "running" and is_held(part.path):
            fix = "wait until it is done, or stop it: what is there is kept"
            raise StoreError("this trial is being written", str(part.path), fix)
    for other in parts[1:]:
        require_one_campaign(parts[0], other)
    require_distinct(parts)
    groups = _groups(trials)
    by_path = {part.path: part for part in parts}
    hosts = []
    with appearing(folder) as fresh:
        for label, those in groups.items():
            place = fresh / label
            if len(those) == 1:
                _copy(those[0].path, place)
            else:
                merge_trials([one.path for one in those], place, accept_drift=accept_drift)
            sessions, rows = _held(place, [by_path[one.path] for one in those])
            hosts.append(
                MergedHost(
                    host=label,
                    host_id=those[0].host_id,
                    trial=str(folder / label),
                    trials=tuple(str(one.path) for one in those),
                    sessions=sessions,
                    runs=rows,
                )
            )
        identity, *others = dict.fromkeys(part.manifest.campaign_sha256 for part in parts)
        fleet = Fleet(
            campaign=parts[0].manifest.campaign_name,
            identity=identity,
            submitted_at=None,
            script=None,
            hosts=tuple(FleetHost(host=label, jobs=(), trial=label) for label in groups),
            identities=tuple(others),
        )
        write_fleet(fresh, fleet)
    return MergedFleet(fleet=str(folder), hosts=tuple(hosts))


def _groups(trials: Sequence[NamedTrial]) -> dict[str, list[NamedTrial]]:
    hosts: dict[tuple[str, str], list[NamedTrial]] = {}
    for one in trials:
        hosts.setdefault((one.host, one.host_id), []).append(one)
    names = [host for host, _ in hosts]
    found: dict[str, list[NamedTrial]] = {}
    for (host, host_id), those in hosts.items():
        several = names.count(host) > 1
        if host_id == _UNKNOWN and (several or len(those) > 1):
            raise StoreError(
                f"whether these trials of {host} are of one host is unknown: its machine id could "
                "not be read",
                " and ".join(str(one.path) for one in trials if one.host == host),
                "leave out all but one of them",
            )
        label = _folder_name(host + f"-{host_id[:8]}" if several else host)
        while label in found:
            label += "-2"
        found[label] = those
    return found


def _folder_name(text: str) -> str:
    """Make a name that every file system takes, that is not hidden, and not the fleet's record's."""
    name = re.sub(r"[^A-Za-z0-9._+-]", "-", text).lstrip(".-")[:100] or "host"
    return f"host-{name}" if name.lower() == FLEET else name


def _copy(trial: Path, place: Path) -> None:
    """Copy a trial; links and what is no plain file were not made by the runner, and stay behind."""

    def others(folder: str, names: list[str]) -> list[str]:
        return [
            name
            for name in names
            if (path := Path(folder) / name).is_symlink() or not (path.is_file() or path.is_dir())
        ]

    shutil.copytree(trial, place, ignore=others)


def _held(place: Path, parts: Sequence[MergedPart]) -> tuple[int, int]:
    """Count sessions and runs of a host's trial, whatever was written into its sources meanwhile."""
    manifest = read_manifest(place)
    if len(parts) == 1 and manifest == parts[0].manifest and manifest.files:
        for _ in verify_files(place, manifest):  # the same bytes hold the same runs
            pass
        return parts[0].sessions, parts[0].rows
    trial = read_trial(place)
    return trial.sessions, len(trial)
