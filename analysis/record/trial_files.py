"""What a trial directory holds: the names of its files, and the records in them.

The counters belong to whole processor packages and move about once a millisecond, so a run must last
a while to have an energy of its own; what the machine uses without it is measured around sessions.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from ..errors import StoreError
from ..words import name_fields
from .shapes import RESTORE, ShapeError, checksum_holds, opened, parse, shaped

ENERGY = "energy_package_j"  # of all packages, while a run lasts
NET_ENERGY = "energy_net_j"  # without the idle power, times the run's wall time
ENERGY_METRICS = (ENERGY, NET_ENERGY)

RESOLUTION_S = 0.1  # a hundred moves of the counter: each end of a run is known to one of them
STEADY = 0.05  # by how much of it the idle power after a session may differ from that before

When = Literal["before", "after"]


class Stored:
    """A dataclass that a file of a trial holds, as an object with a key for each field.

    Those in `newer` are left out where they say nothing: so a file is as it was before there were such.
    """

    __slots__ = ()
    newer: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types, with the keys of a later version that it keeps in `further`."""
        found = {name: getattr(self, name) for name in _names(type(self))}  # type: ignore[arg-type]  # a class is hashable
        further: dict[str, Any] = found.pop("further", {})
        known = {name: _plain(one) for name, one in found.items() if one or name not in self.newer}
        return known | further


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field of a record
    if isinstance(value, Stored):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return str(value) if isinstance(value, str) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class IdlePower(Stored):
    """The power of all packages while no run lasted, before or after those of a session's segment.

    `watts` is its mean over `seconds`, `error_w` the standard error of that mean.
    """

    session: int
    segment: int
    when: When
    watts: float
    error_w: float
    seconds: float


def is_steady(before: IdlePower, after: IdlePower) -> bool:
    """Tell whether two idle powers are one, so that it may be taken from what lies between them."""
    return abs(after.watts - before.watts) <= STEADY * before.watts


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMetrics(Stored):
    """The metrics that the campaign's `judge` named from some moment on; none where it named none.

    `trial` is the part that it was asked of, in a manifest of several: trials that were merged, or the
    hosts of a fleet.
    """

    newer: ClassVar[tuple[str, ...]] = ("trial",)

    at: str
    metrics: tuple[str, ...]
    trial: str | None = None


def judged_since(
    asked: Sequence[JudgedMetrics], metrics: tuple[str, ...], at: str
) -> tuple[JudgedMetrics, ...]:
    """Add what the campaign asks now, if that is something else."""
    if metrics == (asked[-1].metrics if asked else ()):
        return tuple(asked)
    return (*asked, JudgedMetrics(at=at, metrics=metrics))


def questions_of(parts: Iterable[tuple[str, Manifest]]) -> tuple[JudgedMetrics, ...]:
    """Give what each part of several asks, by its name; nothing where no part says it."""
    found: list[JudgedMetrics] = []
    for name, manifest in parts:
        if any(one.trial is not None for one in manifest.judge):
            found += manifest.judge
        else:
            now = manifest.judge[-1:] or (JudgedMetrics(at=manifest.started, metrics=()),)
            found += [replace(one, trial=name) for one in now]
    return tuple(found) if any(one.metrics for one in found) else ()


def judged_now(asked: Iterable[JudgedMetrics]) -> dict[str, tuple[str, ...]]:
    """Give the metrics that each part asks now, by its name; of a single trial by no name."""
    return {one.trial or "": one.metrics for one in asked}


def one_question(asked: Sequence[JudgedMetrics]) -> tuple[str, ...] | None:
    """Give the metrics that are asked now, the first one first; None where parts differ."""
    different = set(judged_now(asked).values())
    return None if len(different) > 1 else next(iter(different), ())


SCHEMA = 2  # the newest known
PLAIN_SCHEMA = 1  # of a trial in which no run is repeated: every version reads it
# of one whose disturbed runs are repeated: an earlier reader takes it for damaged
REPEATING_SCHEMA = 2

MANIFEST = "manifest.json"
CHANGED = "the file changed after the trial ended: its SHA-256 is not the manifest's"
CAMPAIGN = "campaign.yaml"
RESOLVED = "resolved.json"
ENVIRONMENT = "environment.jsonl"
PLAN = "plan.jsonl"
MEASUREMENTS = "measurements.jsonl"
FINDINGS = "findings.jsonl"
BUILDS = "builds.jsonl"  # only where something was built
OUTPUTS = "outputs"
IMPORT = "import.json"  # what the files of an imported trial cannot tell

CERTIFICATES = "certificates"  # a folder next to the trials, and none of them

CheckStatus = Literal["ok", "warn", "fail", "unknown"]
TrialStatus = Literal["running", "complete", "interrupted", "stopped"]
StopReason = Literal["width", "max_runs", "max_time"]
Origin = Literal["measured", "merged", "imported"]
LooksPlanRule = Literal["repeated", "planned"]
StoppedBecause = Literal[
    "decided", "equivalent", "cap", "depends", "runs", "interrupted", "failures"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Stored):
    """What one host check found.

    `check` is the check's stable name, `what` a sentence, `where` the file that was read with its
    value, `fix` the command that mends it, `reason` why it matters to a measurement.
    """

    check: str
    status: CheckStatus
    what: str
    where: str | None = None
    fix: str | None = None
    reason: str | None = None


def warning(
    check: str,
    what: str,
    where: str | None = None,
    fix: str | None = None,
    reason: str | None = None,
) -> Finding:
    """Make a finding that warns."""
    return Finding(check=check, status="warn", what=what, where=where, fix=fix, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun(Stored):
    """One planned run: a line of ``plan.jsonl``. `block` is 0 for warm-up runs, else from 1."""

    position: int
    session: int
    block: int
    benchmark: str
    variant: str
    warmup: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RowShape:
    """What the runner relies on in a line of ``measurements.jsonl`` that it reads back."""

    position: int
    session: int
    segment: int
    block: int
    benchmark: str
    variant: str
    warmup: bool
    outcome: str
    repeats: int | None = None
    disturbed: bool | None = None
    suspended: int | None = None
    started_at: str | None = None
    wall_ns: int | None = None
    before_s: float | None = None
    after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetShape:
    """What readers rely on in the description of an executable."""

    interpreter: Mapping[str, Any] | None = None
    libraries: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelShape:
    """What readers rely on in the section "kernel" of an environment."""

    mitigations: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsShape:
    """What readers rely on in the section "tools" of an environment."""

    packages: Mapping[str, Any] | None = None
    compilers: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessShape:
    """What readers rely on in the section "process" of an environment."""

    limits: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentShape:
    """What readers rely on in a line of ``environment.jsonl``; ``docs/environment.md`` has the rest."""

    session: int
    segment: int = 0
    sessions: tuple[int | None, ...] | None = None
    host: Mapping[str, Any] | None = None
    cpu: Mapping[str, Any] | None = None
    memory: Mapping[str, Any] | None = None
    kernel: KernelShape | None = None
    tools: ToolsShape | None = None
    process: ProcessShape | None = None
    targets: Mapping[str, TargetShape] | None = None
    variables: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule(Stored):
    """When a session has enough runs: ``protocol.stop`` of a campaign.

    `width` is the largest relative width of the 95 % interval of each variant's speedup over the
    suite; `min_runs` and `max_runs` count runs of each cell in a session; `max_time_s` is a cap on
    the time of a session, or None.
    """

    width: float
    min_runs: int = 5
    max_runs: int = 50
    max_time_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd(Stored):
    """How a session under a `StopRule` ended: after `runs` runs of each cell, and why.

    `width` is that of the interval then, None when it was not known; `text` says it in words.
    """

    session: int
    runs: int
    why: StopReason
    width: float | None
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp(Stored):
    """A cell whose runs failed one after the other, so that the rest of a session went on without it.

    `position` is that of the last of them, `runs` how many measured runs the cell has in the session. With
    `never_ok` it is left out for the rest of the trial, each session has its record, the position is
    one of the first session, and `warmups` counts the warm-ups that the session goes without.
    """

    benchmark: str
    variant: str
    session: int
    position: int
    runs: int
    why: str
    never_ok: bool = False
    warmups: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Give the record as JSON types; of one that was given up in a session as ever."""
        known, ours = Stored.to_dict(self).items(), ("never_ok", "warmups")
        return {name: one for name, one in known if self.never_ok or name not in ours}


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended(Stored):
    """Sessions `first` to `last`, which were put behind those of a complete trial: one more look."""

    at: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LooksPlan(Stored):
    """How the sessions of a trial are looked at while it is measured; whoever judges it keeps to that.

    By the rule "repeated" one looks after each number of sessions in `looks`, and all looks together risk
    `risk`; by "planned" one looks at the numbers there, each with the same part of `risk`. The risk is
    divided over `candidates`. `open` is whether the list goes beyond 108 sessions. `left` says in which session a
    variant was measured last that was decided before the others; `stopped_because` why no more sessions
    were measured, None while they are. `margin` is the largest difference that counts as none.
    `further` holds the keys of a later version.
    """

    rule: LooksPlanRule
    looks: tuple[int, ...]
    risk: float = 0.05
    candidates: int = 1
    open: bool = False
    left: Mapping[str, int] = field(default_factory=dict)
    stopped_because: StoppedBecause | None = None
    margin: float = 0.01
    further: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedTrial(Stored):
    """A trial that is sessions `first` to `last` of a merged one."""

    trial: str
    first: int
    last: int
    seed: int
    tool_version: str
    started: str
    finished: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(Stored):
    """``manifest.json``: what a trial is and how it ended.

    `campaign_sha256` is the campaign's identity: the SHA-256 of its parsed content, made by the rule
    `campaign_identity`; a trial of the first version, which had one rule only, does not say it.
    `sessions` is how many sessions are planned (the campaign's, or more after ``--sessions``).
    `metrics` holds the metrics that not every trial has, those parsed from output and what meters
    count: name -> {"unit", "better"}, of a meter's its "source", and "warmup_iterations" where some of
    a run's iterations are not judged.
    `node` is the host's name in the fleet that the trial belongs to; the order of its runs is made
    from it too.
    `targets` maps each executable's path to its SHA-256 when the trial began.
    `arguments` maps each file among the commands' arguments that no run wrote to its SHA-256.
    `files` maps each file's name to its SHA-256 once the trial is no longer running, else it is empty.
    `stop` is the stopping rule, if there is one: then `runs` and `planned` are the most that there
    may be, and `session_ends` says how many runs each session needed that has ended.
    `given_up` names the cells of sessions that went on without them.
    `must_raise` names the key of the campaign that has to be raised before more can be executed, after
    a cap; `stage` says in words what is done before the first run, such as a build.
    `idle_power` is what the machine used around the runs of sessions, where energy is recorded.
    `appended` says which sessions were put behind those of a complete trial, and when; `origin` is
    "merged" for a trial that was put together from those in `merged_from`.
    `judge` says which metrics the campaign named as its question, and since when.
    `looks_plan` says how the sessions are looked at while they are measured, where that was planned.
    `same_program` names the variants that are not measured, since they are the same program as a neighbour in their
    series, and the one that is.
    `schema` says whether disturbed runs are repeated: a trial without that is of the first one.
    `further` holds the keys of a later version: they are kept when the manifest is written again.
    """

    newer: ClassVar[tuple[str, ...]] = ("judge", "looks_plan", "same_program")

    schema: int = PLAIN_SCHEMA
    trial: str
    tool_version: str
    campaign_name: str
    campaign_sha256: str
    campaign_identity: int = 1
    campaign_path: str
    baseline: str
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    metrics: Mapping[str, Mapping[str, str]]
    seed: int
    sessions: int
    runs: int
    warmup: int
    planned: int
    host: str
    host_id: str
    cpu_model: str | None = None
    node: str | None = None
    targets: Mapping[str, str]
    arguments: Mapping[str, str] = field(default_factory=dict)
    started: str
    finished: str | None = None
    status: TrialStatus
    reason: str | None = None
    files: Mapping[str, str]
    stop: StopRule | None = None
    session_ends: tuple[SessionEnd, ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    must_raise: str | None = None
    stage: str | None = None
    idle_power: tuple[IdlePower, ...] = ()
    appended: tuple[Appended, ...] = ()
    origin: Origin = "measured"
    merged_from: tuple[MergedTrial, ...] = ()
    judge: tuple[JudgedMetrics, ...] = ()
    looks_plan: LooksPlan | None = None
    same_program: Mapping[str, str] = field(default_factory=dict)
    further: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name_fields(self, "trial", "campaign_name", "baseline", "host", "node")
        name_fields(self, "variants", "benchmarks", "metrics")

    @property
    def questions(self) -> tuple[str, ...] | None:
        """The metrics that are the question, the first one first: none, or None where parts differ."""
        return one_question(self.judge)

    @property
    def declared(self) -> tuple[str, ...]:
        """The metrics that its benchmarks declare: those that meters count are none of them."""
        return tuple(name for name, about in self.metrics.items() if "source" not in about)

    @property
    def repeating(self) -> bool:
        """Whether its disturbed runs are repeated, as the campaign says."""
        return self.schema >= REPEATING_SCHEMA

    @property
    def sequential(self) -> bool:
        """Whether values decided how many runs there are, in some session at least."""
        return self.stop is not None or bool(self.session_ends)

    @property
    def sessions_at_looks(self) -> tuple[int, ...]:
        """How many sessions there were whenever a verdict may have been asked for."""
        return (*(one.first - 1 for one in self.appended), self.sessions)

    @property
    def left(self) -> Mapping[str, int]:
        """The variants that are not in all sessions, and the session in which each was measured last; 0: in none."""
        decided = {} if self.looks_plan is None else self.looks_plan.left
        return {**dict.fromkeys(self.same_program, 0), **decided}

    @property
    def _cells(self) -> int:
        return len(self.benchmarks) * (len(self.variants) - len(self.same_program))

    @property
    def needed(self) -> int:
        """The planned runs without those of ended sessions and given-up cells that are left out."""
        unneeded = sum((self.runs - end.runs) * self._cells for end in self.session_ends)
        return self.planned - unneeded - sum(self.left_out.values())

    @property
    def left_out(self) -> Mapping[tuple[str, str], int]:
        """How many planned runs of each given-up cell, benchmark and variant, its sessions go on without."""
        ended = {end.session: end.runs for end in self.session_ends}
        found: dict[tuple[str, str], int] = {}
        for one in self.given_up:
            cell = one.benchmark, one.variant
            left = ended.get(one.session, self.runs) - one.runs
            found[cell] = found.get(cell, 0) + max(0, left) + one.warmups
        return found

    def whole_sessions(self, lines: int) -> int:
        """Count the planned runs that whole sessions have, of the plan's first `lines` lines.

        The first session may have more than the others, which are alike: warm-ups. Where sessions are
        planned when they begin, variants may have left, and no line stands behind those that `planned` counts.
        """
        if self.looks_plan is not None:
            return self._planned_at_begin(lines)
        first = self._cells * (self.runs + self.warmup)
        if lines < first:
            return 0
        each = (self.planned - first) // max(1, self.sessions - 1)
        return first + (lines - first) // max(1, each) * each

    def _planned_at_begin(self, lines: int) -> int:
        whole = 0
        cells, each = len(self.benchmarks) * len(self.variants), self.runs + self.warmup
        all_warm = self.planned == self.sessions * cells * each  # a comparison warms up once
        for session in range(1, self.sessions + 1):
            there = sum(session <= self.left.get(name, session) for name in self.variants)
            runs = each if session == 1 or all_warm else self.runs
            if whole + there * runs * len(self.benchmarks) > min(lines, self.planned):
                break
            whole += there * runs * len(self.benchmarks)
        return whole


# --- ``builds.jsonl``: what each build of a trial made, how long it took, and how much memory it needed.
#
# A file that is named below the campaign's folder stands there as its path from that
# folder, others as they are.


ALL_SESSIONS = 0  # the session of a build that is made once for all of them
LAYOUT_CHECK = "layout-not-varied"  # of findings about sessions that have one build
Layout = tuple[tuple[str, str], ...]
# What is known of every build, unless the campaign declares a metric of that name.
BUILD_METRICS: Mapping[str, Mapping[str, str]] = {
    "build_seconds": {"unit": "s", "better": "lower", "source": "builds"},
    "build_max_rss": {"unit": "B", "better": "lower", "source": "builds"},
    "program_bytes": {"unit": "B", "better": "lower", "source": "builds"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact(Stored):
    """A file that a build made, as its campaign names it: the SHA-256 and the number of its bytes."""

    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRecord(Stored):
    """One build of one variant: a line of ``builds.jsonl``.

    `session` is 0 where one build serves all sessions; `segment` is 0, or how many times the session had
    been resumed, and of a build for all sessions how often it had been made before. `programs` are the
    executables of the variant's cells that the build may have made: SHA-256, or ``unreadable: WHY``.
    `seconds` is the sum of its steps, `max_rss_bytes` the largest resident memory of any one of their
    processes; at or below `max_rss_floor_bytes`, the launcher's own, it only says "at most the floor".
    `log` names the files of its steps' output in the trial. `metrics` are the numbers that its campaign reads of
    it, and `program_bytes`, by their names and by benchmarks.
    """

    session: int
    segment: int
    variant: str
    layout_seed: int | None = None
    artifacts: Mapping[str, Artifact]
    programs: Mapping[str, str]
    seconds: float
    max_rss_bytes: int | None = None
    max_rss_floor_bytes: int | None = None
    log: tuple[str, ...]
    metrics: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    at: str

    def values(self, metric: str, benchmark: str) -> tuple[float, ...]:
        """Give the numbers of a metric with a benchmark: what is declared, else what is known of every build.

        None where a number is not known, such as a peak that only says "at most the launcher's own".
        """
        if metric in self.metrics:
            return self.metrics[metric].get(benchmark, ())
        if metric == "build_seconds":
            return (self.seconds,)
        peak = self.max_rss_bytes if metric == "build_max_rss" else None
        if peak is None or peak <= (self.max_rss_floor_bytes or 0):
            return ()
        return (float(peak),)

    @property
    def hashes(self) -> Mapping[str, str]:
        """The SHA-256 of each file that it made, artifacts and programs, by its path."""
        return {**self.programs, **{path: one.sha256 for path, one in self.artifacts.items()}}

    @property
    def layout(self) -> Layout:
        """What tells its layout from another: the hashes of its artifacts, of its programs where none is named."""
        named = {path: one.sha256 for path, one in self.artifacts.items()}
        return tuple(sorted((named or self.programs).items()))


def read_builds(trial: Path) -> tuple[BuildRecord, ...]:
    """Read the builds of a trial, in their order; none where nothing was built, or an earlier version wrote it.

    A last line that is torn, as a power failure leaves it, is no build: its session had not begun.
    Raises StoreError for a damaged line.
    """
    return tuple(record for record, _ in rows_of_builds(trial))


def rows_of_builds(trial: Path) -> Iterator[tuple[BuildRecord, dict[str, Any]]]:
    """Give the builds of a trial as `read_builds` does, each also as it is stored."""
    path = trial / BUILDS
    if not path.exists():
        return
    with opened(path) as file:
        data = file.read()
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].splitlines(), 1):
        try:
            if not checksum_holds(line):
                raise ShapeError("the line does not have its checksum")
            row = parse(line, "the line")
            yield shaped(BuildRecord, row, "the line"), row
        except ShapeError as error:
            what = f"{error}: the file was changed or is damaged"
            raise StoreError(what, f"{path}:{number}", RESTORE) from None


def is_of_builds(about: Mapping[str, str]) -> bool:
    """Tell of a metric in a manifest whether builds have values of it, and no run has."""
    return about.get("when") == "build" or about.get("source") == "builds"


def layouts_by_session(builds: Iterable[BuildRecord]) -> dict[str, dict[int, BuildRecord]]:
    """Give for each variant that has builds of its sessions the build that each session was measured with.

    Of several of one session, which was resumed or killed while it was built, it is the last.
    """
    found: dict[str, dict[int, BuildRecord]] = {}
    for one in builds:
        if one.session != ALL_SESSIONS:
            found.setdefault(one.variant, {})[one.session] = one
    return found


# --- The lists of looks at a comparison's sessions: each is about 1.3 times as many as the one
# before.
#
# Runner and judge take them from here: the runner has no numpy, and its first run waits for
# nothing.


LOOKS = (3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 49, 64, 83, 108)  # numbers of sessions
OPEN_LOOKS = (*LOOKS, 143, 190, 251, 332, 440, 583, 773, 1024)  # chosen before the first of them


def with_look(looks: tuple[int, ...], sessions: int) -> tuple[int, ...]:
    """Put a look after `sessions` sessions, which is none of the list, in the place of the next one.

    The cap of a measurement comes when it comes. So there are no more looks than were planned, and they
    risk no more together; what comes after the last look of the list is none of it.
    """
    if sessions in looks:
        return looks
    place = bisect.bisect_left(looks, sessions)
    return (*looks[:place], sessions, *looks[place + 1 :]) if place < len(looks) else looks


def looked_after(plan: LooksPlan, sessions: int) -> LooksPlan:
    """Give the plan after a look at `sessions` sessions, where the measurement ended, perhaps between two looks."""
    if plan.rule == "planned":
        return plan
    return replace(plan, looks=with_look(plan.looks, sessions))


def next_look(plan: LooksPlan, sessions: int) -> int | None:
    """Give the number of sessions at the first look that is still to come; None after the last."""
    return next((n for n in plan.looks if n > sessions), None)
