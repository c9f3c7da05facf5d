"""What a trial directory holds: the names of its files, and the records in them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from .energy import IdlePower
from .question import Question, one_question

SCHEMA = 2  # the newest known
PLAIN_SCHEMA = 1  # of a trial in which no run is repeated: every version reads it
REPEATING_SCHEMA = (
    2  # of one whose disturbed runs are repeated: an earlier reader takes it for damaged
)

MANIFEST = "manifest.json"
CAMPAIGN = "campaign.yaml"
RESOLVED = "resolved.json"
ENVIRONMENT = "environment.jsonl"
PLAN = "plan.jsonl"
MEASUREMENTS = "measurements.jsonl"
FINDINGS = "findings.jsonl"
OUTPUTS = "outputs"
IMPORT = "import.json"  # what the files of an imported trial cannot tell

CERTIFICATES = "certificates"  # a folder beside the trials, and none of them

CheckStatus = Literal["ok", "warn", "fail", "unknown"]
TrialStatus = Literal["running", "complete", "interrupted", "stopped"]
StopReason = Literal["width", "max_runs", "max_time"]
Origin = Literal["measured", "merged", "imported"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
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

    def to_dict(self) -> dict[str, Any]:
        """Give the finding as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One planned run: a line of ``plan.jsonl``. `block` is 0 for warm-up runs, else from 1."""

    position: int
    session: int
    block: int
    benchmark: str
    variant: str
    warmup: bool

    def to_dict(self) -> dict[str, Any]:
        """Give the planned run as JSON types."""
        return _plain(self)


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
    host: Mapping[str, Any] | None = None
    cpu: Mapping[str, Any] | None = None
    memory: Mapping[str, Any] | None = None
    kernel: KernelShape | None = None
    tools: ToolsShape | None = None
    process: ProcessShape | None = None
    targets: Mapping[str, TargetShape] | None = None
    variables: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """When a session has enough runs: ``protocol.stop`` of a campaign.

    `width` is the largest relative width of the 95 % interval of each variant's speedup over the
    suite; `min_runs` and `max_runs` count runs of each cell in a session; `max_time_s` is a cap on
    the time of a session, or None.
    """

    width: float
    min_runs: int = 5
    max_runs: int = 50
    max_time_s: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the rule as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd:
    """How a session under a `StopRule` ended: after `runs` runs of each cell, and why.

    `width` is that of the interval then, None when it could not be told; `text` says it in words.
    """

    session: int
    runs: int
    why: StopReason
    width: float | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Give the end as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """A cell whose runs failed one after the other, so that the rest of a session went on without it.

    `position` is that of the last of them, `runs` how many measured runs the cell has in the session.
    """

    benchmark: str
    variant: str
    session: int
    position: int
    runs: int
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """Sessions `first` to `last`, which were put behind those of a complete trial: one more look."""

    at: str
    first: int
    last: int

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedTrial:
    """A trial of which sessions `first` to `last` of a merged one are."""

    trial: str
    first: int
    last: int
    seed: int
    tool_version: str
    started: str
    finished: str | None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return _plain(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """``manifest.json``: what a trial is and how it ended.

    `campaign_sha256` is the campaign's identity: the SHA-256 of its parsed content, made by the rule
    `campaign_identity`; a trial of the first version, which had one rule only, does not say it.
    `sessions` is how many sessions are planned (the campaign's, or more after ``--sessions``).
    `metrics` holds the metrics that not every trial has, those parsed from output and what meters
    count: name -> {"unit", "better"}, and of a meter's its "source".
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
    `schema` says whether disturbed runs are repeated: a trial without that is of the first one.
    `further` holds the keys of a later version: they are kept when the manifest is written again.
    """

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
    judge: tuple[Question, ...] = ()
    further: Mapping[str, Any] = field(default_factory=dict)

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
        """How many sessions there were whenever a verdict may have been asked for.

        That is before each append, and now.
        """
        return (*(one.first - 1 for one in self.appended), self.sessions)

    @property
    def needed(self) -> int:
        """The planned runs without those of ended sessions and given-up cells that are left out."""
        cells = len(self.benchmarks) * len(self.variants)
        ended = {end.session: end.runs for end in self.session_ends}
        unneeded = sum((self.runs - runs) * cells for runs in ended.values())
        return self.planned - unneeded - sum(self.left_out.values())

    @property
    def left_out(self) -> Mapping[tuple[str, str], int]:
        """How many planned runs of each given-up cell, benchmark and variant, its sessions go on without."""
        ended = {end.session: end.runs for end in self.session_ends}
        found: dict[tuple[str, str], int] = {}
        for one in self.given_up:
            cell = one.benchmark, one.variant
            left = ended.get(one.session, self.runs) - one.runs
            found[cell] = found.get(cell, 0) + max(0, left)
        return found

    def whole_sessions(self, lines: int) -> int:
        """Count the planned runs that whole sessions have, of the plan's first so many lines.

        The first session may have more than the others, which are alike: warm-ups.
        """
        first = len(self.benchmarks) * len(self.variants) * (self.runs + self.warmup)
        if lines < first:
            return 0
        each = (self.planned - first) // max(1, self.sessions - 1)
        return first + (lines - first) // max(1, each) * each

    def to_dict(self) -> dict[str, Any]:
        """Give the manifest as JSON types."""
        data = _plain(self)
        data["stop"] = None if self.stop is None else self.stop.to_dict()
        data["session_ends"] = [end.to_dict() for end in self.session_ends]
        data["given_up"] = [one.to_dict() for one in self.given_up]
        data["idle_power"] = [one.to_dict() for one in self.idle_power]
        data["appended"] = [one.to_dict() for one in self.appended]
        data["merged_from"] = [one.to_dict() for one in self.merged_from]
        del data["judge"]
        if self.judge:  # a trial of a campaign without the key is stored as ever
            data["judge"] = [one.to_dict() for one in self.judge]
        data["variants"] = list(self.variants)
        data["benchmarks"] = list(self.benchmarks)
        data["metrics"] = {name: dict(info) for name, info in self.metrics.items()}
        data["targets"] = dict(self.targets)
        data["arguments"] = dict(self.arguments)
        data["files"] = dict(self.files)
        del data["further"]
        data.update(self.further)
        return data


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _plain(record: Any) -> dict[str, Any]:  # noqa: ANN401 - any of the dataclasses above
    return {name: getattr(record, name) for name in _names(type(record))}  # type: ignore[arg-type]  # a class is hashable
