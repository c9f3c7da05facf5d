"""A campaign, fully resolved: every cell (benchmark x variant) carries its own commands, paths are absolute."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from analysis.record.manifest import WarmupIterations
from analysis.record.run_numbers import Better
from analysis.record.trial_files import StopRule

Sink = str  # "file", "discard", "keep", "pipe", "inherit", or the path of a file
SEEN_SINKS = ("file", "keep")  # whose output can be looked at
Order = Literal["shuffled", "interleaved", "alternating", "drawn-start", "sequential"]
WarmupSessions = Literal["all", "first"]
OnDisturbance = Literal["keep", "repeat"]
OnNeverOk = Literal["skip", "stop", "go_on"]
Each = Literal["campaign", "session"]
When = Literal["run", "after", "build"]
PercentileTable = Literal["wrk"]
ServiceEach = Literal["session", "run"]
StopSignal = Literal["TERM", "INT", "QUIT"]

LAYOUT_SEED = (
    "\0layout_seed\0"  # stands for {layout_seed} until a session fills it in; no file can hold it
)

_PORT = re.compile("\0port:([^\0]+)\0")


def port_mark(service: str) -> str:
    """Give what stands for ``{NAME.port}`` until the service has a port; no file can hold it."""
    return f"\0port:{service}\0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command to execute: an argument list, and where it stands in the campaign file.

    A shell, asked for by name in the file, is already part of `argv` (``/bin/sh -c TEXT``).
    """

    argv: tuple[str, ...]
    mark: str  # file:line:column


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What each value of a declared metric must keep to, in the metric's unit; ``None`` is no bound."""

    metric: str
    at_most: float | None = None
    at_least: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What a run must do to count as ok; ``None`` is not checked."""

    exit_codes: tuple[int, ...] = (0,)
    stdout_sha256: str | None = None
    stdout_regex: str | None = None
    stdout_file: Path | None = None
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRule:
    """How one metric is parsed from what a run, its hooks or a build wrote.

    `source` is "stdout", "stderr" or the absolute path of a file. `when` it is read: after the run, after
    its hooks `after`, or after the build, whose steps' output is its "stdout". Exactly one of `regex` (first
    group, every match is an iteration), `json` (a path such as ``results[*].time_s``), `hlog` (a log of
    HdrHistogram, by the unit of its numbers; of its lines those with this `tag`) and `percentiles` (whose printed
    table it is) is set.
    `warmup_iterations` says how many iterations of each run are stored and not judged, or that the judge
    finds where each run becomes steady. `quantiles`, each more than 0 and less than 1, are further metrics of
    the run.
    """

    name: str
    source: Literal["stdout", "stderr"] | Path = "stdout"
    regex: str | None = None
    json: str | None = None
    hlog: str | None = None
    tag: str | None = None
    percentiles: PercentileTable | None = None
    unit: str
    better: Better
    when: When = "run"
    warmup_iterations: WarmupIterations = 0
    quantiles: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One benchmark x variant, with every template filled in. Durations in seconds.

    `before` and `after` are the hooks around each of its runs, executed in order. `env` may hold `LAYOUT_SEED`.
    """

    benchmark: str
    variant: str
    command: Command
    cwd: Path
    stdin: Path | None = None
    inputs: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    stdout: Sink = "file"
    stderr: Sink = "file"
    timeout_s: float | None = None
    expect: Expect = field(default_factory=Expect)
    metrics: tuple[MetricRule, ...] = ()
    before: tuple[Command, ...] = ()
    after: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """The build steps of one variant, executed once before the first session, or before each.

    `artifacts` are the files that it makes and that are hashed. `steps` and `env` may hold `LAYOUT_SEED`.
    """

    variant: str
    steps: tuple[Command, ...]
    cwd: Path
    env: Mapping[str, str]
    each: Each = "campaign"
    artifacts: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """When a service is ready, within `timeout_s` seconds: a process of it listens on its port.

    Or else a line of its output matches `output`, or `command` ends with exit code 0. `port` is a fixed one, in
    place of one that was free.
    """

    port: int | None = None
    output: str | None = None
    command: Command | None = None
    timeout_s: float = 30.0

    @property
    def listens(self) -> bool:
        """Whether the listening socket is its sign."""
        return self.output is None and self.command is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A long-lived process that the runs use: of one `variant`, or of all of them.

    It stands during a session, or (`each` "run") around each run. Its texts may hold port marks, of itself
    and of services before it. `stop` is the signal that asks it to end; after `grace_s` seconds it is killed.
    """

    name: str
    variant: str | None = None
    command: Command
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    cpus: Literal["auto"] | tuple[int, ...] = "auto"
    share_cpus: bool = False
    ready: Ready = field(default_factory=Ready)
    stop: StopSignal = "TERM"
    grace_s: float = 10.0
    each: ServiceEach = "session"

    @property
    def label(self) -> str:
        """Its name, with its variant's where it has one: ``redis`` or ``redis/always``."""
        return self.name if self.variant is None else f"{self.name}/{self.variant}"

    def serves(self, variant: str) -> bool:
        """Tell whether runs of a variant use it."""
        return self.variant is None or self.variant == variant


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Commands around sessions, executed in order; those around runs belong to each `Cell`."""

    setup: tuple[Command, ...] = ()
    cleanup: tuple[Command, ...] = ()
    finish: tuple[Command, ...] = ()
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How often, in which order, and when to stop. Durations in seconds."""

    sessions: int = 6
    runs: int = 8
    warmup: int = 1
    warmup_sessions: WarmupSessions = "all"
    order: Order = "shuffled"
    cooldown_s: float = 0.0
    pause_s: float = 0.0
    timeout_s: float | None = None
    grace_s: float = 1.0
    build_timeout_s: float = 3600.0
    max_runs: int | None = None
    max_time_s: float | None = None
    give_up: int | None = None
    never_ok: OnNeverOk = "skip"
    disturbed: OnDisturbance = "keep"
    stop: StopRule | None = None  # then `runs` is its max_runs

    def warmups(self, sessions: int) -> int:
        """Count the warm-up runs of each cell in the first `sessions` sessions."""
        return self.warmup * (sessions if self.warmup_sessions == "all" else min(sessions, 1))

    @property
    def repeating(self) -> bool:
        """Whether runs that were disturbed are repeated."""
        return self.disturbed == "repeat"

    def passes_at_most(self, sessions: int) -> int:
        """Count the runs of each cell in the first `sessions` sessions, with all that may be repeated."""
        return self.passes(sessions) + (self.runs * sessions if self.repeating else 0)

    def passes(self, sessions: int) -> int:
        """Count the runs of each cell in the first `sessions` sessions, warm-ups included."""
        return self.runs * sessions + self.warmups(sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """The settings that a run inherits from its launcher.

    `cpus` is "auto", "none" or the CPUs to use; `padding` is "random", or a fixed number of bytes
    (0 for none); `keep_environment` is "all", "none" or names (a trailing ``*`` matches any end);
    `limits` maps resource names as in ``resource.RLIMIT_*`` without the prefix, lower case, to
    soft limits (bytes, seconds or counts as the resource has it); "memory" and "pids" are those of
    the cgroup that holds all processes of a run.
    """

    cpus: Literal["auto", "none"] | tuple[int, ...] = "auto"
    nice: int | None = None
    scheduling: Literal["other", "batch", "fifo"] = "other"
    priority: int = 1  # of the target, for "fifo"
    aslr: bool = True
    padding: Literal["random"] | int = "random"
    keep_environment: Literal["all", "none"] | tuple[str, ...] = "all"
    set_environment: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    containment: Literal["auto", "none"] = "auto"
    output_limit_bytes: int = 64 * 1024 * 1024
    kept_outputs_bytes: int = 256_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPolicy:
    """Which host checks stop a strict trial, and which only warn; names as in `harness.checks`.

    `probe_s` is how long the measured CPUs are looked at before each session; 0 for not at all.
    """

    require: tuple[str, ...] = ()
    warn: tuple[str, ...] = ()
    probe_s: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterEvent:
    """One event to count; `raw` is its text where it is none of the known ones."""

    name: str
    raw: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """What is counted in each `every`-th block, and what happens when too much is asked for.

    With `multiplex` "allow" events take turns on the processor's counters and are scaled up.
    """

    events: tuple[CounterEvent, ...]
    every: int = 1
    multiplex: Literal["refuse", "allow"] = "refuse"

    @property
    def apart(self) -> bool:
        """Whether some runs are counted, and the times of the others alone are judged."""
        return self.every > 1

    def counts(self, block: int) -> bool:
        """Tell whether the runs of a block are counted; block 0 are the warm-ups."""
        return block % self.every == 0 and (block > 0 or not self.apart)

    def uncounted(self, blocks: int) -> int:
        """Tell how many of the first `blocks` blocks have times that are judged."""
        return blocks - blocks // self.every if self.apart else blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """One campaign, parsed, defaulted and with every template filled in.

    `services` start in their order. `cells` is ordered benchmark by benchmark, variant by variant. `notes` are cautions for the
    reader, such as a baseline that was chosen by default; `judge` names the metrics that are the
    question, the first one first, and is empty where the file does not say; `series` says that the
    variants, in their order, are versions of one thing; `commit` gives that of each variant by its name, where
    the file does; `defaults` held for the keys that the file leaves out, `own_defaults` in place of some of them.
    """

    name: str
    description: str = ""
    seed: int = 1
    baseline: str
    variants: tuple[str, ...]
    benchmarks: tuple[str, ...]
    judge: tuple[str, ...] = ()
    series: bool = False
    commit: Mapping[str, str] = field(default_factory=dict)
    cells: tuple[Cell, ...]
    builds: tuple[Build, ...]
    services: tuple[Service, ...] = ()
    hooks: Hooks
    protocol: Protocol
    isolation: Isolation
    checks: CheckPolicy
    counters: Counting | None = None
    energy: bool = False
    share: bool = False
    notes: tuple[str, ...]
    source: Path
    text: bytes
    defaults: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    own_defaults: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    # asked for once or twice a run, of up to 10,000 cells
    _index: Mapping[tuple[str, str], Cell] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index = {(cell.benchmark, cell.variant): cell for cell in self.cells}
        object.__setattr__(self, "_index", index)

    @property
    def built_each_session(self) -> tuple[str, ...]:
        """The variants that each session builds anew."""
        return tuple(build.variant for build in self.builds if build.each == "session")

    def cell(self, benchmark: str, variant: str) -> Cell:
        """Give the cell of that benchmark and variant."""
        return self._index[benchmark, variant]

    def to_dict(self) -> dict[str, Any]:
        """Give the parsed and defaulted content as JSON types, paths relative to the file."""
        return dict(shown(content(self, self.source.parent, _goes_without_saying)))


# What says where a campaign came from, and where in it something stands: moving a line is no change.
_NO_CONTENT: Mapping[type, frozenset[str]] = {
    Campaign: frozenset({"source", "text", "notes", "defaults", "own_defaults", "_index"}),
    Command: frozenset({"mark"}),
}
# What may differ between the campaign of a trial and the one that goes on with it.
NO_IDENTITY: Mapping[type, frozenset[str]] = {
    Campaign: frozenset({"judge", "series", "commit", "share"})
}
# What a part has only where its campaign says so: earlier trials are held against later ones key by key.
_UNSAID: Mapping[type, Mapping[str, object]] = {
    Build: {"each": "campaign", "artifacts": []},
    Campaign: {"services": []},
    Expect: {"bounds": []},
    MetricRule: {
        "hlog": None,
        "tag": None,
        "percentiles": None,
        "when": "run",
        "warmup_iterations": 0,
        "quantiles": [],
    },
}
# Tells of a part, one of its fields and that field's content whether to leave it out.
LeavesOut = Callable[[object, str, object], bool]


def content(value: Any, root: Path, leaves_out: LeavesOut | None = None) -> Any:  # noqa: ANN401 - any value of a campaign
    """Give what is in a part of a campaign as JSON types, paths relative to `root`."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {}
        for name in _names(type(value)):
            inside = content(getattr(value, name), root, leaves_out)
            if leaves_out is None or not leaves_out(value, name, inside):
                found[name] = inside
        return found
    if isinstance(value, Path):
        return str(value.relative_to(root)) if value.is_relative_to(root) else str(value)
    if isinstance(value, Mapping):
        return {key: content(item, root, leaves_out) for key, item in value.items()}
    if isinstance(value, tuple):
        return [content(item, root, leaves_out) for item in value]
    return value


def _goes_without_saying(part: object, name: str, inside: object) -> bool:
    unwritten = _UNSAID.get(type(part), {})
    return name in unwritten and inside == unwritten[name]


def shown(value: Any) -> Any:  # noqa: ANN401 - JSON types
    """Write ``{layout_seed}`` and ``{NAME.port}`` for their marks, in all texts of a value."""
    if isinstance(value, str):
        return _PORT.sub(r"{\1.port}", value.replace(LAYOUT_SEED, "{layout_seed}"))
    if isinstance(value, Mapping):
        return {key: shown(item) for key, item in value.items()}
    return [shown(item) for item in value] if isinstance(value, list | tuple) else value


def texts_of(part: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a campaign
    """Give the texts of a part of a campaign that may hold marks."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping | tuple):
        for one in part.values() if isinstance(part, Mapping) else part:
            yield from texts_of(one)
    elif is_dataclass(part) and not isinstance(part, type):
        for name in _names(type(part)):
            yield from texts_of(getattr(part, name))


_Part = TypeVar("_Part")


def filled(part: _Part, marks: Mapping[str, str]) -> _Part:
    """Give a part of a campaign with texts in place of its marks."""
    made: Any = part
    if isinstance(part, str):
        for mark, text in marks.items():
            made = made.replace(mark, text)
    elif isinstance(part, Mapping):
        made = {key: filled(one, marks) for key, one in part.items()}
    elif isinstance(part, tuple):
        made = tuple(filled(one, marks) for one in part)
    elif is_dataclass(part) and not isinstance(part, type):
        parts = {name: filled(getattr(part, name), marks) for name in _names(type(part))}
        made = replace(part, **parts)
    return made  # type: ignore[no-any-return]  # of the same kind


@functools.cache
def _names(part: Any) -> tuple[str, ...]:  # noqa: ANN401 - a class of the above
    skipped = _NO_CONTENT.get(part, frozenset())
    return tuple(field.name for field in fields(part) if field.name not in skipped)
