"""The shape of a campaign file: every key, its kind and what it is for.

The loader reads files by it; the editors' schema and the documentation's table of keys are made from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from analysis.record.trial_files import StopRule
from analysis.record.yaml_reader import Faults

from ..host.checks import CHECK_NAMES
from ..host.counter_events import EVENTS
from .model import (
    Campaign,
    CheckPolicy,
    Counting,
    Hooks,
    Isolation,
    OnDisturbance,
    OnNeverOk,
    Order,
    Protocol,
    WarmupSessions,
)
from .nested_kinds import Forms, Key, Listed, Mapped, Section, cpus
from .scalar_kinds import (
    NAME,
    NAMES,
    Kind,
    choice,
    described,
    duration,
    either,
    name,
    share,
    size,
    switch,
    whole,
)
from .target_schema import (
    BENCHMARK,
    BUILD_STEPS,
    ENVIRONMENT,
    INPUTS,
    SERVICES,
    STEPS,
    TEXT,
    TIMEOUT,
    VARIANT,
)

if TYPE_CHECKING:
    from analysis.record.yaml_reader import Document, Location

_RUNS = whole(1, 10**6)
_CHECKS = Listed(choice(*CHECK_NAMES))

HOOKS = Section(
    "HooksSection",
    "Commands around sessions and runs, timed separately.",
    {
        "setup": Key(STEPS, "before each session, and again when it is resumed"),
        "cleanup": Key(STEPS, "after each session, however it ended"),
        "before": Key(STEPS, "before each run"),
        "after": Key(STEPS, "after each run"),
        "finish": Key(STEPS, "once, at the end, with the status; for notifications"),
        "timeout": Key(TIMEOUT, "longest time of one hook command"),
    },
    model=Hooks,
)


STOP = Section(
    "StopSection",
    "When a session has enough runs; looked at between blocks.",
    {
        "width": Key(
            share(10),
            "largest relative width of the 95 % interval, within this session, of each"
            " variant's speedup over the suite; `stop` takes the place of `runs`",
            required=True,
        ),
        "min_runs": Key(whole(3, 10**6), "runs of each cell in a session, at least; 3 or more"),
        "max_runs": Key(_RUNS, "runs of each cell in a session, at most"),
        "max_time": Key(
            TIMEOUT, "longest time of a session; it ends after the block in which that has passed"
        ),
    },
    model=StopRule,
)


def _one_number_of_runs(given: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    if "stop" in given and "runs" in given:
        fix = "delete it, or write its number as stop.max_runs"
        yield "runs", "cannot stand beside 'stop', which decides how many there are", fix
    if "stop" in given and given.get("order") == "sequential":
        what = "has no blocks, between which 'stop' could look"
        yield "order", what, "use 'shuffled' or 'interleaved'"


PROTOCOL = Section(
    "ProtocolSection",
    "How often, in which order, and when to stop.",
    {
        "sessions": Key(_RUNS, "passes of the plan, each in an order of its own"),
        "runs": Key(_RUNS, "runs of each cell in a session; not beside `stop`"),
        "warmup": Key(whole(0, 10**6), "runs of each cell before them; kept, and flagged"),
        "warmup_sessions": Key(
            choice(*get_args(WarmupSessions)),
            "which sessions begin with warm-ups: `all`, or the `first` alone, for commands"
            " that take long",
        ),
        "order": Key(
            choice(*get_args(Order)),
            "`shuffled`: each block in a new order; `interleaved`: each in the same;"
            " `alternating`: forwards and backwards by turns, and so the sessions; `drawn-start`:"
            " the same from a start drawn in each session; `sequential`: no blocks",
        ),
        "cooldown": Key(duration(), "pause before each run"),
        "pause": Key(duration(), "pause between sessions"),
        "timeout": Key(TIMEOUT, "longest time of a run"),
        "grace": Key(duration(), "time between SIGTERM and SIGKILL after a timeout"),
        "build_timeout": Key(TIMEOUT, "longest time of one build step"),
        "max_runs": Key(whole(1, 10**9), "stop after so many runs"),
        "max_time": Key(TIMEOUT, "stop after so much time"),
        "give_up": Key(
            whole(1, 10**6),
            "after so many failed runs of a cell in a row, its session goes on without it",
        ),
        "never_ok": Key(
            choice(*get_args(OnNeverOk)),
            "a cell without an ok run in the first session's warm-ups (without them: in its first"
            " block): `skip` it in all of the trial, `stop` the trial, or `go_on`",
        ),
        "disturbed": Key(
            choice(*get_args(OnDisturbance)),
            "runs that waited for a CPU: `keep` them, or `repeat` each at most twice at the end"
            " of its block",
        ),
        "stop": Key(STOP, "when each session has enough runs, in place of `runs`"),
    },
    model=Protocol,
    rules=[_one_number_of_runs],
    more={
        "dependentSchemas": {
            "stop": {
                "not": {"required": ["runs"]},
                "properties": {
                    "order": {"enum": [o for o in get_args(Order) if o != "sequential"]}
                },
            }
        }
    },
)

KEPT_ENVIRONMENT = Section(
    "KeptEnvironment",
    "Which environment variables a run sees.",
    {
        "keep": Key(
            Forms("all, none or a list of names", text=choice("all", "none"), items=Listed(TEXT)),
            "variables of fairtrial's own environment: `all`, `none` or names; a trailing"
            " `*` stands for any end",
            field="keep_environment",
        ),
        "set": Key(
            ENVIRONMENT,
            "variables for every run: name -> text; a benchmark's and a variant's `env` win",
            field="set_environment",
        ),
    },
    model=Isolation,
)

LIMITS = Section(
    "LimitsSection",
    "Limits of a run: `memory` and `pids` of all its processes together, the others of each, as soft "
    "limits of setrlimit(2).",
    {
        "as": Key(size(), "address space (size)"),
        "core": Key(size(), "core file (size)"),
        "cpu": Key(whole(1, 10**6), "CPU time, in whole seconds"),
        "data": Key(size(), "data segment (size)"),
        "fsize": Key(size(), "a written file (size)"),
        "memlock": Key(size(), "locked memory (size)"),
        "memory": Key(
            size(positive=True), "memory of all processes of a run together (size); needs a cgroup"
        ),
        "nofile": Key(whole(0, 10**9), "open files (number)"),
        "nproc": Key(whole(0, 10**9), "processes of the user (number)"),
        "pids": Key(
            whole(1, 2**22), "processes and threads of a run at a time (number); needs a cgroup"
        ),
        "stack": Key(size(), "stack (size)"),
    },
)


def _fifo_priority(given: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    if "priority" in given and given.get("scheduling") != "fifo":
        yield "priority", "is only for 'scheduling: fifo'", "delete it"


ISOLATION = Section(
    "IsolationSection",
    "The settings of a run's process.",
    {
        "cpus": Key(cpus("auto", "none"), "`auto`, `none`, a CPU, `[2, 3]` or `2-3`"),
        "nice": Key(whole(-20, 19), "nice value, -20 to 19; inherited when not set"),
        "scheduling": Key(choice("other", "batch", "fifo"), "`other`, `batch` or `fifo`"),
        "priority": Key(whole(1, 97), "1 to 97, only with `fifo`", otherwise="`1` (with `fifo`)"),
        "aslr": Key(switch(), "address space layout randomization"),
        "padding": Key(
            either(choice("random", "off"), whole(0, 65536)),
            "bytes added to the environment: `random`, `off`, or 0 to 65536",
        ),
        "environment": Key(KEPT_ENVIRONMENT, "which variables a run sees"),
        "limits": Key(LIMITS, "resource limits"),
        "containment": Key(
            choice("auto", "none"),
            "`auto`: a PID namespace and a cgroup, each where it can be had; or `none`",
        ),
        "output_limit": Key(
            size(positive=True),
            "most bytes that a run, a build, a hook or a service may write to each of its outputs, and of a metric's file",
        ),
        "kept_outputs": Key(
            size(), "most bytes that are kept of what the runs of a trial wrote, all together"
        ),
    },
    model=Isolation,
    rules=[_fifo_priority],
    more={
        "dependentSchemas": {
            "priority": {
                "properties": {"scheduling": {"const": "fifo"}},
                "required": ["scheduling"],
            }
        }
    },
)

CHECKS = Section(
    "ChecksSection",
    "Which host checks are required, and which only warn.",
    {
        "require": Key(_CHECKS, "host checks that stop a strict trial"),
        "warn": Key(_CHECKS, "host checks that only warn"),
        "probe": Key(
            duration(),
            "how long it is looked before each session what takes the measured CPUs away "
            "(check `gaps`); 0s for not at all",
        ),
    },
    model=CheckPolicy,
)

RAW_EVENT = Section(
    "RawEvent",
    "An event that has no name here.",
    {
        "raw": Key(TEXT, "the event as perf writes it, such as `cpu/event=0x3c/`", required=True),
        "name": Key(name(), "what its metric is called", required=True),
    },
)
_EVENT = Forms(
    "the name of an event or {raw: TEXT, name: NAME}", text=choice(*EVENTS), mapping=RAW_EVENT
)
_EVENTS = Listed(_EVENT, least=1, most=32)

COUNTERS = Section(
    "CountersSection",
    "Events of processor and kernel that are counted during runs.",
    {
        "events": Key(
            _EVENTS,
            "what is counted: [names](counters.md#events), or `{raw: ..., name: ...}`",
            required=True,
        ),
        "every": Key(
            _RUNS, "counts in each so many-th block; from 2 on, times come from the other blocks"
        ),
        "multiplex": Key(
            choice("refuse", "allow"),
            "events for which the processor has no counter left: `refuse` them, or `allow` all"
            " to take turns",
        ),
    },
    model=Counting,
)

CAMPAIGN = Section(
    "Campaign",
    "A campaign: what is compared, on what, and how.",
    {
        "name": Key(name(), "becomes part of the trial's name", required=True),
        "description": Key(TEXT, "for people"),
        "seed": Key(
            whole(0, 2**63 - 1), "order, padding and everything else that is random; 0 to 2^63 - 1"
        ),
        "build": Key(
            BUILD_STEPS,
            "steps that build a variant, logged, not timed; or [a mapping](#builds) that says when",
        ),
        "variants": Key(
            Mapped(VARIANT, key=name(), names=NAMES, least=1, may_be_empty=True),
            "what is compared: name -> variant",
            required=True,
        ),
        "baseline": Key(
            name(), "the variant that the others are compared with", otherwise="the first variant"
        ),
        "benchmarks": Key(
            Mapped(BENCHMARK, key=name(), names=NAMES, least=1, may_be_empty=True),
            "on what it is compared: name -> benchmark",
            required=True,
        ),
        "judge": Key(
            Forms(
                "the name of a metric or a list of them",
                text=name(),
                items=Listed(name(), least=1, distinct=True),
            ),
            "the metric that is the question, which every command judges unless `--metric` names"
            " another; of a list the first decides, and each of the others has a screen of its own",
            otherwise="`wall`",
        ),
        "series": Key(
            switch(),
            "whether the variants, three at least, are versions of one thing in the order in which they are"
            " written",
        ),
        "commit": Key(
            TEXT,
            "the commit of each variant, such as `{rev}`, a value of the variant",
            otherwise="that of the work tree in which its program lies",
        ),
        "services": Key(
            SERVICES,
            "long-lived processes beside the runs, such as servers: name -> service; one that uses a value of the"
            " variants exists once for each",
        ),
        "inputs": Key(INPUTS, "files that all runs read, and that must not change under a trial"),
        "hooks": Key(HOOKS, "commands around sessions and runs"),
        "protocol": Key(PROTOCOL, "how often, in which order, and when to stop"),
        "isolation": Key(ISOLATION, "the settings of a run's process"),
        "checks": Key(CHECKS, "which host checks are required, and which only warn"),
        "counters": Key(
            Forms("a list of events or a mapping with 'events'", items=_EVENTS, mapping=COUNTERS),
            "events of processor and kernel that are counted during runs; a list is short for"
            " `events`",
        ),
        "energy": Key(
            switch(),
            "whether the energy of each run is recorded, where the processor counts it;"
            " before and after each session 10 s pass without a run",
        ),
        "share": Key(
            switch(),
            "whether others may read a new trial, as far as your umask lets them; it is yours"
            " alone otherwise",
        ),
    },
    model=Campaign,
)


def check_shape(document: Document) -> tuple[dict[str, Any] | None, Faults]:
    """Hold the document against the shape of a campaign; give the keys that are there and right.

    None when too few of them are.
    """
    faults = Faults(document)
    if not isinstance(document.value, dict):
        what = f"a campaign is a mapping of keys, not {described(document.value)}"
        fix = "begin with 'name: ...'; 'fairtrial init' writes one"
        faults.report((), what, fix)
        return None, faults
    given = CAMPAIGN.right_keys(document.value, (), faults)
    if "name" not in given:  # the rest is looked at all the same
        faults.places.append(())
        given["name"] = "campaign"
    return given if {"variants", "benchmarks"} <= given.keys() else None, faults


def known_keys(path: Location) -> tuple[str, ...]:
    """Give the keys that may stand in the mapping at `path`."""
    return tuple(section_at(path).keys)


def section_at(path: Location) -> Section:
    """Find the section of the mapping at `path`."""
    kind: Kind | None = CAMPAIGN
    for step in path:
        if isinstance(kind, Forms):
            kind = kind.items if isinstance(step, int) else kind.mapping
        if isinstance(kind, Section):
            key = kind.keys.get(str(step))
            kind = key.kind if key else kind.free
        else:
            kind = kind.item if isinstance(kind, Listed | Mapped) else None
    if isinstance(kind, Forms):
        kind = kind.mapping
    assert isinstance(kind, Section), "only a section has keys to tell"
    return kind


def editor_schema() -> dict[str, Any]:
    """Give the schema (draft 2020-12), generated from the shape that the loader uses."""
    sections: dict[str, dict[str, Any]] = {"Name": {"pattern": f"^{NAME.pattern}$"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fairtrial campaign",
        **CAMPAIGN.body(sections),
        "$defs": sections,
    }


def schema_text() -> str:
    """Give the schema as the text of its file."""
    return json.dumps(editor_schema(), indent=2, sort_keys=True) + "\n"
