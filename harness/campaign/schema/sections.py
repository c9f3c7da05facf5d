"""The shape of a campaign file: every key, its type and its default.

The loader reads files with this model, and `harness.campaign.schema.editor` generates the schema for
editors from it. What a schema cannot say, such as "this template uses a value that exists", is
checked in `harness.campaign.resolve.campaign`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, Tag, model_validator
from pydantic.functional_validators import AfterValidator

from analysis.record import StopRule

from ...checks import CHECK_NAMES
from ..model import Hooks, Isolation, Order, Protocol
from .kinds import Choice, Either, Given, Pattern, wrong
from .quantities import Duration, Share, Size, Switch, Whole
from .target import (
    LIST,
    NAMES,
    TEXT,
    BenchmarkSection,
    EnvironmentField,
    NameField,
    NameKey,
    Section,
    Shell,
    StepsField,
    TextField,
    TimeoutField,
    VariantSection,
    forms,
)

# pydantic copies a default for each instance.
_NO_STEPS: list[list[str] | Shell] = []
_NO_VARIABLES: dict[str, str] = {}
_NO_CHECKS: list[str] = []
_PROTOCOL = Protocol()
_ISOLATION = Isolation()
_HOOKS = Hooks()
_STOP = StopRule(width=1.0)


def _distinct(values: list[int]) -> list[int]:
    for index, value in enumerate(values):
        if value in values[:index]:
            raise wrong(f"names {value} a second time", "delete one", [index])
    return values


_Runs = Whole(1, 10**6)
_Cpu = Whole(0, 4095)
_CheckName = Annotated[str, Choice(CHECK_NAMES)]


class HooksSection(Section):
    """Commands around sessions and runs, timed separately."""

    setup: StepsField = _NO_STEPS
    """Before each session, and again when it is resumed."""
    cleanup: StepsField = _NO_STEPS
    """After each session, however it ended."""
    before: StepsField = _NO_STEPS
    """Before each run."""
    after: StepsField = _NO_STEPS
    """After each run."""
    finish: StepsField = _NO_STEPS
    """Once, at the end, with the status; for notifications."""
    timeout: TimeoutField = _HOOKS.timeout_s
    """Longest time of one hook command."""


class StopSection(Section):
    """When a session has enough runs; looked at between blocks."""

    width: Annotated[float, Share(10)]
    """Largest relative width of the 95 % interval of each variant's speedup over the suite."""
    min_runs: Annotated[int, Whole(3, 10**6)] = _STOP.min_runs
    """Runs of each benchmark and variant in a session, at least."""
    max_runs: Annotated[int, _Runs] = _STOP.max_runs
    """Runs of each benchmark and variant in a session, at most."""
    max_time: Annotated[TimeoutField | None, Given()] = _STOP.max_time_s
    """Longest time of a session; it ends after the block in which that has passed."""

    @model_validator(mode="after")
    def _least_and_most(self) -> StopSection:
        if self.min_runs > self.max_runs:
            given = "max_runs" if "max_runs" in self.model_fields_set else "min_runs"
            what = f"makes the least of {self.min_runs} runs more than the most, {self.max_runs}"
            raise wrong(what, "raise max_runs, or lower min_runs", [given])
        return self


class ProtocolSection(Section):
    """How often, in which order, and when to stop."""

    model_config = ConfigDict(
        json_schema_extra={
            "dependentSchemas": {
                "stop": {
                    "not": {"required": ["runs"]},
                    "properties": {"order": {"enum": ["shuffled", "interleaved"]}},
                }
            }
        }
    )

    sessions: Annotated[int, _Runs] = _PROTOCOL.sessions
    """Passes of the plan, each with an order of its own."""
    runs: Annotated[int, _Runs] = _PROTOCOL.runs
    """Runs of each benchmark and variant in a session."""
    warmup: Annotated[int, Whole(0, 10**6)] = _PROTOCOL.warmup
    """Runs before them, kept and flagged."""
    order: Annotated[Order, Choice(("shuffled", "interleaved", "sequential"))] = _PROTOCOL.order
    """shuffled: each block in a new order; interleaved: each in the same; sequential: no blocks."""
    cooldown: Annotated[float, Duration()] = _PROTOCOL.cooldown_s
    """Pause before each run."""
    pause: Annotated[float, Duration()] = _PROTOCOL.pause_s
    """Pause between sessions."""
    timeout: Annotated[TimeoutField | None, Given()] = _PROTOCOL.timeout_s
    """Longest time of a run; none by default."""
    grace: Annotated[float, Duration()] = _PROTOCOL.grace_s
    """Time between SIGTERM and SIGKILL after a timeout."""
    max_runs: Annotated[Annotated[int, Whole(1, 10**9)] | None, Given()] = _PROTOCOL.max_runs
    """Stop after so many runs."""
    max_time: Annotated[TimeoutField | None, Given()] = _PROTOCOL.max_time_s
    """Stop after so much time."""
    stop: Annotated[StopSection | None, Given()] = None
    """When each session has enough runs, in place of `runs`."""

    @model_validator(mode="after")
    def _one_number_of_runs(self) -> ProtocolSection:
        if self.stop is not None and "runs" in self.model_fields_set:
            fix = "delete it, or write its number as stop.max_runs"
            raise wrong(
                "cannot stand beside 'stop', which decides how many there are", fix, ["runs"]
            )
        if self.stop is not None and self.order == "sequential":
            fix = "use 'shuffled' or 'interleaved'"
            raise wrong("has no blocks, between which 'stop' could look", fix, ["order"])
        return self


class KeptEnvironment(Section):
    """Which environment variables a run sees."""

    keep: Annotated[
        Annotated[Literal["all", "none"], Choice(("all", "none")), Tag(TEXT)]
        | Annotated[list[TextField], Tag(LIST)],
        forms("all, none or a list of names"),
    ] = _ISOLATION.keep_environment  # type: ignore[assignment]  # "all"
    """all, none, or names; a trailing * stands for any end."""
    set: EnvironmentField = _NO_VARIABLES
    """Variables for every run; a benchmark's and a variant's env win."""


class LimitsSection(Section):
    """Soft resource limits of a run, as in setrlimit(2)."""

    address_space: Annotated[Annotated[int, Size()] | None, Given()] = Field(
        default=None, alias="as"
    )
    """Address space."""
    core: Annotated[Annotated[int, Size()] | None, Given()] = None
    """Core file."""
    cpu: Annotated[Annotated[int, Whole(1, 10**6)] | None, Given()] = None
    """CPU time in whole seconds."""
    data: Annotated[Annotated[int, Size()] | None, Given()] = None
    """Data segment."""
    fsize: Annotated[Annotated[int, Size()] | None, Given()] = None
    """Written files."""
    memlock: Annotated[Annotated[int, Size()] | None, Given()] = None
    """Locked memory."""
    nofile: Annotated[Annotated[int, Whole(0, 10**9)] | None, Given()] = None
    """Open files."""
    nproc: Annotated[Annotated[int, Whole(0, 10**9)] | None, Given()] = None
    """Processes of the user."""
    stack: Annotated[Annotated[int, Size()] | None, Given()] = None
    """Stack."""


_CPU_RANGES = Pattern(
    r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*", "a list such as [2, 3] or 2-3"
)


class IsolationSection(Section):
    """The settings of a run's process."""

    model_config = ConfigDict(
        json_schema_extra={
            "dependentSchemas": {
                "priority": {
                    "properties": {"scheduling": {"const": "fifo"}},
                    "required": ["scheduling"],
                }
            }
        }
    )

    cpus: Annotated[
        Annotated[int | str, Either((Choice(("auto", "none")), _Cpu, _CPU_RANGES)), Tag(TEXT)]
        | Annotated[
            list[Annotated[int, _Cpu]],
            Field(min_length=1, json_schema_extra={"uniqueItems": True}),
            AfterValidator(_distinct),
            Tag(LIST),
        ],
        forms("auto, none, a CPU number or a list of them"),
    ] = "auto"
    """auto, none, one CPU, or several as [2, 3] or 2-3."""
    nice: Annotated[Annotated[int, Whole(-20, 19)] | None, Given()] = _ISOLATION.nice
    """Nice value; inherited by default."""
    scheduling: Annotated[Literal["other", "batch", "fifo"], Choice(("other", "batch", "fifo"))] = (
        _ISOLATION.scheduling
    )
    """Scheduling class."""
    priority: Annotated[Annotated[int, Whole(1, 97)] | None, Given()] = None
    """Priority, only with scheduling: fifo."""
    aslr: Annotated[bool, Switch()] = _ISOLATION.aslr
    """Address space layout randomization, on or off."""
    padding: Annotated[int | str, Either((Choice(("random", "off")), Whole(0, 65536)))] = "random"
    """Bytes by which the environment is padded: random, off or a number."""
    environment: KeptEnvironment = KeptEnvironment()
    """Which variables a run sees."""
    limits: LimitsSection = LimitsSection()
    """Resource limits."""
    containment: Annotated[Literal["auto", "none"], Choice(("auto", "none"))] = "auto"
    """auto: a cgroup or PID namespace where one can be had."""
    output_limit: Annotated[int, Size(positive=True)] = _ISOLATION.output_limit_bytes
    """Most bytes that a run may write to each of stdout and stderr."""

    @model_validator(mode="after")
    def _fifo_priority(self) -> IsolationSection:
        if self.priority is not None and self.scheduling != "fifo":
            raise wrong("is only for 'scheduling: fifo'", "delete it", ["priority"])
        return self


class ChecksSection(Section):
    """Which host checks are required, and which only warn."""

    require: list[_CheckName] = _NO_CHECKS
    """Stop a strict trial when one of these is not ok."""
    warn: list[_CheckName] = _NO_CHECKS
    """Only say so when one of these is not ok."""


class CampaignSection(Section):
    """A campaign: what is compared, on what, and how."""

    name: NameField
    """Becomes part of the trial's name."""
    description: TextField = ""
    """For people."""
    seed: Annotated[int, Whole(0, 2**63 - 1)] = 1
    """Order, padding and every derived stream of random numbers."""
    build: StepsField = _NO_STEPS
    """Steps that build a variant; once per variant, logged, not timed."""
    variants: Annotated[
        dict[NameKey, VariantSection | None], Field(min_length=1, json_schema_extra=NAMES)
    ]
    """What is compared."""
    baseline: Annotated[NameField | None, Given()] = None
    """The variant that the others are compared with; the first one by default."""
    benchmarks: Annotated[
        dict[NameKey, BenchmarkSection | None], Field(min_length=1, json_schema_extra=NAMES)
    ]
    """On what it is compared."""
    hooks: HooksSection = HooksSection()
    """Commands around sessions and runs."""
    protocol: ProtocolSection = ProtocolSection()
    """How often, in which order, and when to stop."""
    isolation: IsolationSection = IsolationSection()
    """The settings of a run's process."""
    checks: ChecksSection = ChecksSection()
    """Which host checks are required, and which only warn."""
