"""The shape of what a campaign compares and on what: commands, expectations, metrics, values."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from analysis.record.manifest import MOST_WARMUP
from analysis.record.run_numbers import RESERVED_METRICS
from analysis.record.yaml_reader import quote

from .distributions import WITH_UNIT
from .model import (
    Bound,
    Build,
    Cell,
    Each,
    Expect,
    MetricRule,
    PercentileTable,
    Ready,
    Service,
    ServiceEach,
    StopSignal,
    When,
)
from .nested_kinds import Forms, Key, Listed, Mapped, Section, cpus
from .scalar_kinds import (
    NAMES,
    VALUE_NAME,
    choice,
    duration,
    either,
    holding,
    name,
    pattern,
    quantile,
    switch,
    text,
    whole,
)

# Names that a value for templates cannot have: each has a meaning of its own.
PREDEFINED = ("variant", "benchmark")

MOST_QUANTILES = 20  # of a metric
TEXT = text()
_VALUE_NAMES = {"pattern": f"^{VALUE_NAME.pattern}$", "not": {"enum": [*PREDEFINED]}}
_ENVIRONMENT_NAME = "[^=\\u0000]+"

SHELL = Section(
    "Shell",
    "A text for the shell, asked for by name.",
    {"shell": Key(TEXT, "executed as /bin/sh -c TEXT, inside the measured time", required=True)},
)
_ARGUMENTS = Listed(TEXT, least=1)
COMMAND = Forms(
    "a list of arguments, a text or {shell: TEXT}", text=TEXT, items=_ARGUMENTS, mapping=SHELL
)
_STEP = Forms("a list of arguments or {shell: TEXT}", items=_ARGUMENTS, mapping=SHELL)
STEPS = Forms(
    "a list of commands, a text or {shell: TEXT}",
    text=TEXT,
    items=Listed(_STEP),
    mapping=SHELL,
    of_commands=True,
)


def _shell_of_build(given: str) -> tuple[str, str] | None:
    if given == "shell":
        return "'shell' stands inside 'run' here", "write run: {shell: TEXT}"
    return None


_FILE = dataclasses.replace(
    TEXT,
    needs="the name of a file",
    parse=holding(bool),
    form=TEXT.form | {"pattern": "^[^\\u0000]+$"},
)
BUILD = Section(
    "BuildSection",
    "Steps that build a variant, when they are executed, and what they make.",
    {
        "run": Key(
            Forms(
                "a list of commands, a text or {shell: TEXT}",
                text=TEXT,
                items=Listed(_STEP, least=1),
                mapping=SHELL,
                of_commands=True,
            ),
            "the steps",
            required=True,
            field="steps",
        ),
        "each": Key(
            choice(*get_args(Each)),
            "`campaign`: once, before the first session; `session`: before each, with a `{layout_seed}`"
            " of its own",
        ),
        "artifacts": Key(
            Listed(_FILE),
            "files that the steps make, relative to the campaign file's folder; hashed and sized",
        ),
    },
    model=Build,
    refuses=_shell_of_build,
)
BUILD_STEPS = dataclasses.replace(
    STEPS,
    needs="a list of commands, a text, {shell: TEXT} or {run: STEPS, each: ..., artifacts: ...}",
    longer=BUILD,
)
ENVIRONMENT = Mapped(
    TEXT,
    key=pattern(_ENVIRONMENT_NAME, "a name without '='"),
    names={"pattern": f"^{_ENVIRONMENT_NAME}$"},
)
INPUTS = Listed(TEXT)
TIMEOUT = duration(positive=True)
_SINK = choice("file", "discard", "keep")
_STDOUT_SINK = either(
    choice("file", "discard", "keep", "pipe", "inherit"), pattern("/.+", "an absolute path")
)
_EXIT_CODE = whole(0, 255)


def _value_name(given: str) -> tuple[str, str] | None:
    if given in PREDEFINED:
        what = f"'{given}' cannot be a value: it is the name of the {given}"
        return what, "choose another name"
    if not VALUE_NAME.fullmatch(given):
        what = f"{quote(given)} cannot be the name of a value"
        return what, "use letters, digits, _ and -, beginning with a letter or _"
    return None


def _metric_name(given: str) -> tuple[str, str] | None:
    if given in RESERVED_METRICS:
        return f"the metric '{given}' is always measured", "choose another name"
    return None


_WAYS = ("regex", "json", "hlog", "percentiles")  # to find a metric's values


def _one_way_to_parse(given: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    if sum(way in given for way in _WAYS) != 1:
        yield "", "needs exactly one of 'regex', 'json', 'hlog' and 'percentiles'", ""
    if "tag" in given and "hlog" not in given:
        yield "tag", "chooses lines of an 'hlog', and there is none", "leave it out"


def _a_bound(given: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    if not given:
        yield "", "needs 'at_most' or 'at_least'", ""


_NUMBER = dataclasses.replace(
    pattern(WITH_UNIT, "a number, such as 5, 20ms or 0.1 %"),
    form={"anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^({WITH_UNIT})$"}]},
)
BOUND = Section(
    "BoundSection",
    "What each value of a metric must keep to.",
    {
        "at_most": Key(
            _NUMBER, "the largest value of a good run, in the metric's unit or with its own"
        ),
        "at_least": Key(_NUMBER, "the smallest one, likewise"),
    },
    model=Bound,
    rules=[_a_bound],
    more={"minProperties": 1},
)

EXPECT = Section(
    "ExpectSection",
    "What a run must do to count as ok.",
    {
        "exit": Key(
            Forms(
                "an exit code or a list of them", text=_EXIT_CODE, items=Listed(_EXIT_CODE, least=1)
            ),
            "the exit code of a good run, or a list of them",
            field="exit_codes",
        ),
        "sha256": Key(
            pattern("[0-9A-Fa-f]{64}", "64 hexadecimal digits"),
            "SHA-256 of the standard output",
            field="stdout_sha256",
        ),
        "regex": Key(
            TEXT,
            "a regular expression that matches somewhere in the standard output",
            field="stdout_regex",
        ),
        "file": Key(TEXT, "a file that equals the standard output", field="stdout_file"),
        "metrics": Key(
            Mapped(BOUND, key=name(), names=NAMES),
            "bounds of metrics that are declared: name -> bounds",
            field="bounds",
        ),
    },
    model=Expect,
)

METRIC = Section(
    "MetricSection",
    "A metric that is parsed from what a run wrote.",
    {
        "regex": Key(
            TEXT,
            "a regular expression with one group, or one named 'value', for the number, with or without its"
            " unit; each match is an iteration",
        ),
        "json": Key(TEXT, "a path into JSON output such as `results[*].time`, instead of `regex`"),
        "hlog": Key(
            choice("ns", "us", "ms", "s"),
            "the place is a log of HdrHistogram (version 2, compressed), whose numbers are in this unit, such as"
            " `us`; instead of `regex`",
        ),
        "tag": Key(TEXT, "lines of the log that count, where it has lines of several tags"),
        "percentiles": Key(
            choice(*get_args(PercentileTable)),
            "the table of latencies that `wrk` or wrk2 prints with `--latency`; instead of `regex`",
        ),
        "from": Key(TEXT, "`stdout`, `stderr`, or a file relative to `cwd`", field="source"),
        "when": Key(
            choice(*get_args(When)),
            "when it is read: after the `run`, `after` the hooks that follow it, or after the `build`, whose"
            " output is its `stdout`",
        ),
        "unit": Key(TEXT, "the unit of the values", required=True),
        "better": Key(
            choice("lower", "higher"), "`lower` or `higher`: which values are better", required=True
        ),
        "warmup_iterations": Key(
            either(choice("auto"), whole(0, MOST_WARMUP)),
            "iterations of each run that are stored and not judged: how many, or `auto`: up to where the"
            " run becomes steady",
        ),
        "quantiles": Key(
            Listed(quantile(), least=1, most=MOST_QUANTILES, distinct=True),
            "further metrics of each run: `[0.5, 0.99]` of `latency` are `latency.p50` and `latency.p99`",
        ),
    },
    model=MetricRule,
    rules=[_one_way_to_parse],
    more={
        "oneOf": [{"required": [way]} for way in _WAYS],
        "dependentRequired": {"tag": ["hlog"]},
    },
)

_KEYS = {
    "command": Key(
        COMMAND,
        "the program and its arguments; every cell needs one, and a variant's takes the"
        " place of its benchmark's",
    ),
    "cwd": Key(
        TEXT,
        "working directory, relative to the campaign file's folder",
        otherwise="the file's folder",
    ),
    "env": Key(
        ENVIRONMENT,
        "environment variables: name -> text; a variant's are added to its benchmark's and win",
    ),
    "stdin": Key(TEXT, "file for the standard input; without it, `/dev/null`"),
    "inputs": Key(
        INPUTS,
        "further files that the runs read; added to the campaign's, a variant's to its"
        " benchmark's too",
    ),
    "stdout": Key(
        _STDOUT_SINK,
        "`file`: examined, and kept when the run failed; `keep`: always kept; `discard`, `pipe` (thrown"
        " away), `inherit` (fairtrial's own) and the path of a file: never seen",
    ),
    "stderr": Key(_SINK, "`file`, `keep` or `discard`"),
    "timeout": Key(
        TIMEOUT,
        "longest time of a run; takes the place of `protocol.timeout`",
        otherwise="`protocol.timeout`",
    ),
    "expect": Key(EXPECT, "what a run must do to count as ok", otherwise="exit code 0"),
    "metrics": Key(
        Mapped(
            METRIC,
            key=name(),
            refuses=_metric_name,
            names=NAMES | {"not": {"enum": [*RESERVED_METRICS]}},
        ),
        "metrics to parse from output: name -> rule; a variant's are added to its"
        " benchmark's and win",
    ),
    "matrix": Key(
        Mapped(Listed(TEXT, least=1), refuses=_value_name, names=_VALUE_NAMES, least=1),
        "lists of values; one variant or benchmark for each combination",
    ),
}


VARIANT = Section(
    "VariantSection",
    "One of the things that are compared.",
    _KEYS
    | {
        "build": Key(
            BUILD_STEPS,
            "build steps of this variant; variants only",
            otherwise="the campaign's `build`",
        )
    },
    model=Cell,
    free=TEXT,
    refuses=_value_name,
    more={"propertyNames": _VALUE_NAMES},
)

BENCHMARK = Section(
    "BenchmarkSection",
    "A program with its input.",
    _KEYS,
    model=Cell,
    free=TEXT,
    refuses=_value_name,
    never_free=["build"],
    more={"propertyNames": _VALUE_NAMES, "not": {"required": ["build"]}},
)


# --- The shape of the services of a campaign: long-lived processes that the runs use.


_NAME = rf"{VALUE_NAME.pattern[:-1]}{{0,49}}"
_NAME_NEEDS = (
    "a name of letters, digits, _ and -, beginning with a letter or _: at most 50 characters"
)


def _one_sign(given: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    if "output" in given and "command" in given:
        yield "command", "cannot be combined with 'output'", "delete one: one sign is enough"


READY = Section(
    "ReadySection",
    "When a service is ready: as soon as a process of it listens on its port, unless this says otherwise.",
    {
        "output": Key(TEXT, "a regular expression that a line of its output matches"),
        "command": Key(
            COMMAND, "a command that ends with exit code 0; it is asked again until it does"
        ),
        "port": Key(TEXT, "a fixed port, 1 to 65535, in place of one that is free"),
        "timeout": Key(TIMEOUT, "longest time until it is ready"),
    },
    model=Ready,
    rules=[_one_sign],
    more={"not": {"required": ["output", "command"]}},
)

SERVICE = Section(
    "ServiceSection",
    "A long-lived process that the runs use.",
    {
        "command": Key(
            COMMAND,
            "the program and its arguments; it stays in the foreground",
            required=True,
        ),
        "cwd": Key(
            TEXT,
            "working directory, relative to the campaign file's folder",
            otherwise="the file's folder",
        ),
        "env": Key(ENVIRONMENT, "environment variables: name -> text"),
        "cpus": Key(
            cpus("auto"),
            "`auto`: those that neither runs nor fairtrial use; or a CPU, `[2, 3]` or `2-3`",
        ),
        "share_cpus": Key(
            switch(), "whether its CPUs may be those of the runs or of fairtrial itself"
        ),
        "ready": Key(READY, "when it is ready"),
        "stop": Key(
            choice(*get_args(StopSignal)), "the signal that asks it to end: `TERM`, `INT` or `QUIT`"
        ),
        "grace": Key(duration(), "time from that signal to SIGKILL"),
        "each": Key(
            choice(*get_args(ServiceEach)),
            "`session`: it stands during a session; `run`: it is started before and ended after"
            " each run of its variant",
        ),
    },
    model=Service,
)
SERVICES = Mapped(
    SERVICE,
    key=pattern(_NAME, _NAME_NEEDS),
    names={"pattern": f"^({_NAME})$"},
)
