"""The shape of a campaign file: every key, its kind and what it is for.

The loader reads files by it; the schema for editors and the table of all keys in the documentation
are made from it. Defaults are those of the model. What a schema cannot say, such as "this template
uses a value that exists", is checked in `harness.campaign.resolve.campaign`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from analysis.record import StopRule

from ...checks import CHECK_NAMES
from ...meters.counters import EVENTS
from ..model import (
    Campaign,
    CheckPolicy,
    Counting,
    Hooks,
    Isolation,
    OnDisturbance,
    Order,
    Protocol,
    WarmupSessions,
)
from .kinds import choice, either, name, pattern
from .quantities import duration, share, size, switch, whole
from .section import Key, Section
from .shapes import Forms, Listed, Mapped
from .target import BENCHMARK, ENVIRONMENT, INPUTS, NAMES, STEPS, TEXT, TIMEOUT, VARIANT

_RUNS = whole(1, 10**6)
_CPU = whole(0, 4095)
MOST_EVENTS = 32
_CHECKS = Listed(item=choice(*CHECK_NAMES))

HOOKS = Section(
    "HooksSection",
    "Commands around sessions and runs, timed separately.",
    {
        "setup": Key(kind=STEPS, meaning="before each session, and again when it is resumed"),
        "cleanup": Key(kind=STEPS, meaning="after each session, however it ended"),
        "before": Key(kind=STEPS, meaning="before each run"),
        "after": Key(kind=STEPS, meaning="after each run"),
        "finish": Key(kind=STEPS, meaning="once, at the end, with the status; for notifications"),
        "timeout": Key(kind=TIMEOUT, meaning="longest time of one hook command"),
    },
    model=Hooks,
)


STOP = Section(
    "StopSection",
    "When a session has enough runs; looked at between blocks.",
    {
        "width": Key(
            kind=share(10),
            meaning="largest relative width of the 95 % interval, within this session, of each"
            " variant's speedup over the suite; `stop` takes the place of `runs`",
            required=True,
        ),
        "min_runs": Key(
            kind=whole(3, 10**6), meaning="runs of each cell in a session, at least; 3 or more"
        ),
        "max_runs": Key(kind=_RUNS, meaning="runs of each cell in a session, at most"),
        "max_time": Key(
            kind=TIMEOUT,
            meaning="longest time of a session; it ends after the block in which that has passed",
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
        "sessions": Key(kind=_RUNS, meaning="passes of the plan, each in an order of its own"),
        "runs": Key(kind=_RUNS, meaning="runs of each cell in a session; not beside `stop`"),
        "warmup": Key(
            kind=whole(0, 10**6), meaning="runs of each cell before them; kept, and flagged"
        ),
        "warmup_sessions": Key(
            kind=choice(*get_args(WarmupSessions)),
            meaning="which sessions begin with warm-ups: `all`, or the `first` alone, for commands"
            " that take long",
        ),
        "order": Key(
            kind=choice(*get_args(Order)),
            meaning="`shuffled`: each block in a new order; `interleaved`: each in the same;"
            " `sequential`: no blocks",
        ),
        "cooldown": Key(kind=duration(), meaning="pause before each run"),
        "pause": Key(kind=duration(), meaning="pause between sessions"),
        "timeout": Key(kind=TIMEOUT, meaning="longest time of a run"),
        "grace": Key(kind=duration(), meaning="time between SIGTERM and SIGKILL after a timeout"),
        "build_timeout": Key(kind=TIMEOUT, meaning="longest time of one build step"),
        "max_runs": Key(kind=whole(1, 10**9), meaning="stop after so many runs"),
        "max_time": Key(kind=TIMEOUT, meaning="stop after so much time"),
        "give_up": Key(
            kind=whole(1, 10**6),
            meaning="after so many failed runs of a cell in a row, its session goes on without it",
        ),
        "disturbed": Key(
            kind=choice(*get_args(OnDisturbance)),
            meaning="runs that waited for a CPU: `keep` them, or `repeat` each at most twice at the end"
            " of its block",
        ),
        "stop": Key(kind=STOP, meaning="when each session has enough runs, in place of `runs`"),
    },
    model=Protocol,
    rules=[_one_number_of_runs],
    more={
        "dependentSchemas": {
            "stop": {
                "not": {"required": ["runs"]},
                "properties": {"order": {"enum": ["shuffled", "interleaved"]}},
            }
        }
    },
)

KEPT_ENVIRONMENT = Section(
    "KeptEnvironment",
    "Which environment variables a run sees.",
    {
        "keep": Key(
            kind=Forms(
                needs="all, none or a list of names",
                text=choice("all", "none"),
                items=Listed(item=TEXT),
            ),
            meaning="variables of fairtrial's own environment: `all`, `none` or names; a trailing"
            " `*` stands for any end",
            field="keep_environment",
        ),
        "set": Key(
            kind=ENVIRONMENT,
            meaning="variables for every run: name -> text; a benchmark's and a variant's `env` win",
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
        "as": Key(kind=size(), meaning="address space (size)"),
        "core": Key(kind=size(), meaning="core file (size)"),
        "cpu": Key(kind=whole(1, 10**6), meaning="CPU time, in whole seconds"),
        "data": Key(kind=size(), meaning="data segment (size)"),
        "fsize": Key(kind=size(), meaning="a written file (size)"),
        "memlock": Key(kind=size(), meaning="locked memory (size)"),
        "memory": Key(
            kind=size(positive=True),
            meaning="memory of all processes of a run together (size); needs a cgroup",
        ),
        "nofile": Key(kind=whole(0, 10**9), meaning="open files (number)"),
        "nproc": Key(kind=whole(0, 10**9), meaning="processes of the user (number)"),
        "pids": Key(
            kind=whole(1, 2**22),
            meaning="processes and threads of a run at a time (number); needs a cgroup",
        ),
        "stack": Key(kind=size(), meaning="stack (size)"),
    },
)


def _fifo_priority(given: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    if "priority" in given and given.get("scheduling") != "fifo":
        yield "priority", "is only for 'scheduling: fifo'", "delete it"


ISOLATION = Section(
    "IsolationSection",
    "The settings of a run's process.",
    {
        "cpus": Key(
            kind=Forms(
                needs="auto, none, a CPU number or a list of them",
                text=either(
                    choice("auto", "none"),
                    _CPU,
                    pattern(
                        r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*",
                        "a list such as [2, 3] or 2-3",
                    ),
                ),
                items=Listed(item=_CPU, least=1, distinct=True),
            ),
            meaning="`auto`, `none`, a CPU, `[2, 3]` or `2-3`",
        ),
        "nice": Key(kind=whole(-20, 19), meaning="nice value, -20 to 19; inherited when not set"),
        "scheduling": Key(
            kind=choice("other", "batch", "fifo"), meaning="`other`, `batch` or `fifo`"
        ),
        "priority": Key(
            kind=whole(1, 97), meaning="1 to 97, only with `fifo`", otherwise="`1` (with `fifo`)"
        ),
        "aslr": Key(kind=switch(), meaning="address space layout randomization"),
        "padding": Key(
            kind=either(choice("random", "off"), whole(0, 65536)),
            meaning="bytes added to the environment: `random`, `off`, or 0 to 65536",
        ),
        "environment": Key(kind=KEPT_ENVIRONMENT, meaning="which variables a run sees"),
        "limits": Key(kind=LIMITS, meaning="resource limits"),
        "containment": Key(
            kind=choice("auto", "none"),
            meaning="`auto`: a PID namespace and a cgroup, each where it can be had; or `none`",
        ),
        "output_limit": Key(
            kind=size(positive=True),
            meaning="most bytes that a run may write to each of its outputs",
        ),
        "kept_outputs": Key(
            kind=size(),
            meaning="most bytes that are kept of what the runs of a trial wrote, all together",
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
        "require": Key(kind=_CHECKS, meaning="host checks that stop a strict trial"),
        "warn": Key(kind=_CHECKS, meaning="host checks that only warn"),
        "probe": Key(
            kind=duration(),
            meaning="how long it is looked before each session what takes the measured CPUs away "
            "(check `gaps`); 0s for not at all",
        ),
    },
    model=CheckPolicy,
)

RAW_EVENT = Section(
    "RawEvent",
    "An event that has no name here.",
    {
        "raw": Key(
            kind=TEXT,
            meaning="the event as perf writes it, such as `cpu/event=0x3c/`",
            required=True,
        ),
        "name": Key(kind=name(), meaning="what its metric is called", required=True),
    },
)
_EVENT = Forms(
    needs="the name of an event or {raw: TEXT, name: NAME}",
    text=choice(*EVENTS),
    mapping=RAW_EVENT,
)
_EVENTS = Listed(item=_EVENT, least=1, most=MOST_EVENTS)

COUNTERS = Section(
    "CountersSection",
    "Events of processor and kernel that are counted during runs.",
    {
        "events": Key(
            kind=_EVENTS,
            meaning="what is counted: [names](counters.md#events), or `{raw: ..., name: ...}`",
            required=True,
        ),
        "every": Key(
            kind=_RUNS,
            meaning="counts in each so many-th block; from 2 on, times come from the other blocks",
        ),
        "multiplex": Key(
            kind=choice("refuse", "allow"),
            meaning="events for which the processor has no counter left: `refuse` them, or `allow` all"
            " to take turns",
        ),
    },
    model=Counting,
)

CAMPAIGN = Section(
    "Campaign",
    "A campaign: what is compared, on what, and how.",
    {
        "name": Key(kind=name(), meaning="becomes part of the trial's name", required=True),
        "description": Key(kind=TEXT, meaning="for people"),
        "seed": Key(
            kind=whole(0, 2**63 - 1),
            meaning="order, padding and everything else that is random; 0 to 2^63 - 1",
        ),
        "build": Key(
            kind=STEPS, meaning="steps that build a variant; once per variant, logged, not timed"
        ),
        "variants": Key(
            kind=Mapped(item=VARIANT, key=name(), names=NAMES, least=1, may_be_empty=True),
            meaning="what is compared: name -> variant",
            required=True,
        ),
        "baseline": Key(
            kind=name(),
            meaning="the variant that the others are compared with",
            otherwise="the first variant",
        ),
        "benchmarks": Key(
            kind=Mapped(item=BENCHMARK, key=name(), names=NAMES, least=1, may_be_empty=True),
            meaning="on what it is compared: name -> benchmark",
            required=True,
        ),
        "judge": Key(
            kind=Forms(
                needs="the name of a metric or a list of them",
                text=name(),
                items=Listed(item=name(), least=1, distinct=True),
            ),
            meaning="the metric that is the question, which every command judges unless `--metric` names"
            " another; of a list the first decides, and each of the others has a screen of its own",
            otherwise="`wall`",
        ),
        "inputs": Key(
            kind=INPUTS, meaning="files that all runs read, and that must not change under a trial"
        ),
        "hooks": Key(kind=HOOKS, meaning="commands around sessions and runs"),
        "protocol": Key(kind=PROTOCOL, meaning="how often, in which order, and when to stop"),
        "isolation": Key(kind=ISOLATION, meaning="the settings of a run's process"),
        "checks": Key(kind=CHECKS, meaning="which host checks are required, and which only warn"),
        "counters": Key(
            kind=Forms(
                needs="a list of events or a mapping with 'events'",
                items=_EVENTS,
                mapping=COUNTERS,
            ),
            meaning="events of processor and kernel that are counted during runs; a list is short for"
            " `events`",
        ),
        "energy": Key(
            kind=switch(),
            meaning="whether the energy of each run is recorded, where the processor counts it;"
            " before and after each session 10 s pass without a run",
        ),
        "share": Key(
            kind=switch(),
            meaning="whether others may read a new trial, as far as your umask lets them; it is yours"
            " alone otherwise",
        ),
    },
    model=Campaign,
)
