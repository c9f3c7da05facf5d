"""The shape of a campaign file: every key, its kind and what it is for.

The loader reads files by it; the editors' schema and the documentation's table of keys are made from it.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

from analysis.errors import FairtrialError
from analysis.record.shapes import parse
from analysis.record.trial_files import StopRule
from analysis.record.yaml_reader import Document, Faults, Location, read_document
from analysis.registry import shipped

from ..host.checks import CHECK_NAMES
from ..host.counter_events import EVENTS
from .model import (
    NO_IDENTITY,
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
    content,
)
from .nested_kinds import Forms, Key, Listed, Mapped, Section, cpus, default_of
from .scalar_kinds import (
    NAME,
    NAMES,
    Kind,
    choice,
    described,
    duration,
    either,
    name as a_name,
    share,
    size,
    switch,
    whole,
)
from .target_schema import (
    BENCHMARK,
    BOUND,
    BUILD,
    BUILD_STEPS,
    ENVIRONMENT,
    EXPECT,
    INPUTS,
    METRIC,
    SERVICE,
    SERVICES,
    STEPS,
    TEXT,
    TIMEOUT,
    VARIANT,
)

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
        yield "runs", "cannot be combined with 'stop', which decides how many there are", fix
    if "stop" in given and given.get("order") == "sequential":
        what = "has no blocks, between which 'stop' could look"
        yield "order", what, "use 'shuffled' or 'interleaved'"


PROTOCOL = Section(
    "ProtocolSection",
    "How often, in which order, and when to stop.",
    {
        "sessions": Key(_RUNS, "passes of the plan, each in an order of its own"),
        "runs": Key(_RUNS, "runs of each cell in a session; not together with `stop`"),
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
        "max_runs": Key(whole(1, 10**9), "stop after this number of runs"),
        "max_time": Key(TIMEOUT, "stop after so much time"),
        "give_up": Key(
            whole(1, 10**6),
            "after this number of failed runs of a cell in a row, its session goes on without it",
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
            "how long fairtrial looks, before each session, for what takes the measured CPUs "
            "away (check `gaps`); 0s for not at all",
        ),
    },
    model=CheckPolicy,
)

RAW_EVENT = Section(
    "RawEvent",
    "An event that has no name here.",
    {
        "raw": Key(TEXT, "the event as perf writes it, such as `cpu/event=0x3c/`", required=True),
        "name": Key(a_name(), "what its metric is called", required=True),
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
            _RUNS, "N: counts in each Nth block; from 2 on, times come from the other blocks"
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
        "name": Key(a_name(), "becomes part of the trial's name", required=True),
        "description": Key(TEXT, "for people"),
        "seed": Key(
            whole(0, 2**63 - 1), "order, padding and everything else that is random; 0 to 2^63 - 1"
        ),
        "build": Key(
            BUILD_STEPS,
            "steps that build a variant, logged, not timed; or [a mapping](#builds) that says when",
        ),
        "variants": Key(
            Mapped(VARIANT, key=a_name(), names=NAMES, least=1, may_be_empty=True),
            "what is compared: name -> variant",
            required=True,
        ),
        "baseline": Key(
            a_name(), "the variant that the others are compared with", otherwise="the first variant"
        ),
        "benchmarks": Key(
            Mapped(BENCHMARK, key=a_name(), names=NAMES, least=1, may_be_empty=True),
            "on what it is compared: name -> benchmark",
            required=True,
        ),
        "judge": Key(
            Forms(
                "the name of a metric or a list of them",
                text=a_name(),
                items=Listed(a_name(), least=1, distinct=True),
            ),
            "the metric that is the question, which every command judges unless `--metric` names"
            " another; the first of a list decides, and each of the others has a screen of its own",
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
            "long-lived processes that the runs use, such as servers: name -> service; one that uses a value of the"
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
        faults.report((), what, "begin with 'name: ...'; 'fairtrial init' writes one")
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


# --- What holds for a key that a campaign leaves out, stored with each trial.
#
# A table maps each optional key by its name in the documentation (`protocol.sessions`) to its
# value as a JSON type: seconds, bytes, None for what is not set. A trial goes on under the table
# that it began with.


Table = Mapping[str, Any]


def _nested(prefix: str, section: Section) -> Iterator[tuple[str, Section]]:
    yield prefix, section
    for name, key in section.keys.items():
        if isinstance(key.kind, Section):
            yield from _nested(f"{prefix}{name}.", key.kind)


# What a key's name begins with in the documentation -> its section. A benchmark has the keys of a
# variant.
SECTIONS: Mapping[str, Section] = MappingProxyType(
    {
        "": CAMPAIGN,
        "variants.*.": VARIANT,
        "expect.": EXPECT,
        "expect.metrics.*.": BOUND,
        "metrics.*.": METRIC,
        **dict(_nested("", CAMPAIGN)),
        "counters.": COUNTERS,
        "build.": BUILD,
        **dict(_nested("services.*.", SERVICE)),
    }
)


def todays_defaults() -> Table:
    """Give the defaults of this version."""
    return MappingProxyType(
        {
            f"{prefix}{name}": key.default
            for prefix, section in SECTIONS.items()
            for name, key in section.keys.items()
            if not key.required and not isinstance(key.kind, Section)
        }
    )


# What held before there was a key whose default does something else: a trial that was begun then, and
# stored its defaults without the key, goes on as it began.
BEFORE: Table = MappingProxyType({"protocol.never_ok": "go_on"})


def is_default(name: str, value: object) -> bool:
    """Tell whether a key could ever have had this default; of a key that is not known here, any.

    It is read as a campaign file's value is, so that what a damaged table says goes no further.
    """
    prefix, key = next(
        (
            (prefix, section.keys[name.removeprefix(prefix)])
            for prefix, section in SECTIONS.items()
            if name.startswith(prefix) and name.removeprefix(prefix) in section.keys
        ),
        ("", None),
    )
    if key is None or isinstance(key.kind, Section) or _same(value, key.default):
        return True
    if isinstance(key.default, list) and not isinstance(value, list):
        return False  # a file may say one in place of a list, a table may not
    if value is None:
        model = SECTIONS[prefix].model
        known = {} if model is None or key.field is None else get_type_hints(model)
        return type(None) in get_args(known.get(str(key.field)))
    try:
        document = read_document(json.dumps({"default": key.kind.spelled(value)}), name)
        faults = Faults(document)
        assert isinstance(document.value, dict), "it was written as a mapping"
        found = key.kind.read(document.value["default"], ("default",), faults)
    except (FairtrialError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError):
        return False
    return not faults.problems and (_same(value, found) or _same(value, [found]))


def _same(one: object, other: object) -> bool:
    if type(one) is not type(other) or one != other:
        return False
    return not isinstance(one, list | dict) or json.dumps(one) == json.dumps(other)


def completed(prefix: str, given: Mapping[str, Any], defaults: Table) -> dict[str, Any]:
    """Give every key of a section: as it was given, or its default.

    A section that requires a key is None when it was left out.
    """
    values: dict[str, Any] = {}
    for name, key in SECTIONS[prefix].keys.items():
        if not isinstance(key.kind, Section):
            values[name] = given[name] if name in given else defaults.get(f"{prefix}{name}")
        elif name in given or not key.kind.is_optional:
            values[name] = completed(f"{prefix}{name}.", given.get(name, {}), defaults)
        else:
            values[name] = None
    return values


def fields_of(section: Section, values: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of the section's model, from the values of all its keys.

    A section within it becomes a part of its own when it has a model, a mapping when it has none,
    and fields of the same part when the model has no field for it.
    """
    fields: dict[str, Any] = {}
    for name, key in section.keys.items():
        value, kind = values[name], key.kind
        if not isinstance(kind, Section):
            if key.field is not None:
                fields[key.field] = tuple(value) if isinstance(value, list) else value
        elif key.field is None:
            fields |= fields_of(kind, value)
        elif kind.model is None:
            fields[key.field] = {name: item for name, item in value.items() if item is not None}
        else:
            fields[key.field] = None if value is None else kind.model(**fields_of(kind, value))
    return fields


# --- Whether two campaigns ask for the same experiment, and what a trial keeps of its
# campaign to tell that.
#
# The parsed content counts, without what equals its default: so a version with one more key gives every
# earlier campaign the identity that it had. The defaults of the version that began a trial are stored with
# it. Rule 1, the first version's, hashed the defaults too, with the keys that there were.


RULE = 2  # by which the identity of a new trial is made
_NONE = object()  # stands for the default of a field that has none


def identity_of(campaign: Campaign, rule: int = RULE) -> str:
    """Give a campaign's identity by a rule."""
    always: Mapping[str, list[str]] = _first_version()["fields"] if rule == 1 else {}
    defaults = _of_the_parts({**todays_defaults(), **campaign.defaults})

    def leaves_out(part: object, name: str, inside: object) -> bool:
        if name in NO_IDENTITY.get(type(part), ()):
            return True
        if name in always.get(type(part).__name__, ()):
            return False
        if inside == {} and dataclasses.is_dataclass(getattr(part, name)):
            return True
        known = defaults.get(type(part))
        if known is None:
            known = defaults[type(part)] = _of_the_class(type(part))
        return name in known and bool(known[name] == inside)

    found = content(campaign, campaign.source.parent, leaves_out)
    text = json.dumps(found, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def first_defaults() -> Table:
    """Give the defaults of the first version, whose trials do not store them."""
    table: Table = _first_version()["defaults"]
    return table


@functools.cache
def _first_version() -> dict[str, Any]:
    """Read what the campaigns of the first version could hold. The file never changes."""
    known: dict[str, Any] = json.loads(shipped("harness/campaign/first_version.json").read_bytes())
    return known


def _of_the_parts(table: Table) -> dict[type, dict[str, Any]]:
    parts: dict[type, dict[str, Any]] = {}
    for prefix, section in SECTIONS.items():
        if section.model is not None:
            part = parts.setdefault(section.model, _of_the_class(section.model))
            part |= _of_the_keys(prefix, section, table)
    return parts


def _of_the_keys(prefix: str, section: Section, table: Table) -> dict[str, Any]:
    found = {}
    for name, key in section.keys.items():
        if key.field is None or key.required:
            continue
        if not isinstance(key.kind, Section):
            found[key.field] = table.get(f"{prefix}{name}")
        elif key.kind.model is None:  # a mapping of those of its keys that are set
            inner = {item: table.get(f"{prefix}{name}.{item}") for item in key.kind.keys}
            found[key.field] = {item: value for item, value in inner.items() if value is not None}
    return found


def _of_the_class(part: type) -> dict[str, Any]:
    """Give the defaults of the fields that stand for no key, such as what a later version adds."""
    found = {field.name: default_of(field, _NONE) for field in dataclasses.fields(part)}
    return {name: value for name, value in found.items() if value is not _NONE}


def resolved_text(campaign: Campaign) -> bytes:
    """Give the text of ``resolved.json``."""
    stored: dict[str, Any] = {"defaults": dict(campaign.defaults)}
    if campaign.own_defaults:
        stored["own_defaults"] = dict(campaign.own_defaults)
    stored["campaign"] = campaign.to_dict()
    return json.dumps(stored, indent=2, allow_nan=False).encode() + b"\n"


def stored_defaults(text: bytes) -> tuple[Table, Table]:
    """Read the defaults back, and the own ones of whoever began a trial of version 0.2.0: none of any other trial."""
    stored: Any = parse(text.strip())
    if not isinstance(stored, dict) or stored.get("defaults") is None:
        raise ValueError("it holds no defaults")
    tables: list[Table] = []
    for name in ("defaults", "own_defaults"):
        table = {} if stored.get(name) is None else stored[name]
        if not isinstance(table, dict):
            raise ValueError(f"its {name} are not a table")  # noqa: TRY004 - one way out for every wrong text
        for key, value in table.items():
            if not is_default(key, value):
                raise ValueError(f"{key} cannot have had the default that stands there")
        tables.append(table)
    return tables[0], tables[1]
