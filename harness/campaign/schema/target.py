"""The shape of what a campaign compares and on what: commands, expectations, metrics, values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.run_numbers import RESERVED_METRICS

from ..model import Cell, Expect, MetricRule
from ..source.excerpt import quote
from ..source.templates import VALUE_NAME
from .kinds import NAMES, choice, name, pattern, text
from .quantities import duration, whole
from .section import Key, Section
from .shapes import Forms, Listed, Mapped

# Names that a value for templates cannot have: each has a meaning of its own.
PREDEFINED = ("variant", "benchmark")

TEXT = text()
_VALUE_NAMES = {"pattern": f"^{VALUE_NAME.pattern}$", "not": {"enum": [*PREDEFINED]}}
_ENVIRONMENT_NAME = "[^=\\u0000]+"

SHELL = Section(
    "Shell",
    "A text for the shell, asked for by name.",
    {
        "shell": Key(
            kind=TEXT,
            meaning="executed as /bin/sh -c TEXT, inside the measured time",
            required=True,
        )
    },
)
_ARGUMENTS = Listed(item=TEXT, least=1)
COMMAND = Forms(
    needs="a list of arguments, a text or {shell: TEXT}", text=TEXT, items=_ARGUMENTS, mapping=SHELL
)
_STEP = Forms(needs="a list of arguments or {shell: TEXT}", items=_ARGUMENTS, mapping=SHELL)
STEPS = Forms(
    needs="a list of commands, a text or {shell: TEXT}",
    text=TEXT,
    items=Listed(item=_STEP),
    mapping=SHELL,
    of_commands=True,
)
ENVIRONMENT = Mapped(
    item=TEXT,
    key=pattern(_ENVIRONMENT_NAME, "a name without '='"),
    names={"pattern": f"^{_ENVIRONMENT_NAME}$"},
)
INPUTS = Listed(item=TEXT)
TIMEOUT = duration(positive=True)
_SINK = choice("file", "discard", "keep")
_EXIT_CODE = whole(0, 255)


def _value_name(given: str) -> tuple[str, str] | None:
    """Refuse what cannot be the name of a value for templates."""
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


def _one_way_to_parse(given: Mapping[str, Any]) -> Iterable[tuple[str, str, str]]:
    if ("regex" in given) == ("json" in given):
        yield "", "needs exactly one of 'regex' and 'json'", ""


EXPECT = Section(
    "ExpectSection",
    "What a run must do to count as ok.",
    {
        "exit": Key(
            kind=Forms(
                needs="an exit code or a list of them",
                text=_EXIT_CODE,
                items=Listed(item=_EXIT_CODE, least=1),
            ),
            meaning="the exit code of a good run, or a list of them",
            field="exit_codes",
        ),
        "sha256": Key(
            kind=pattern("[0-9A-Fa-f]{64}", "64 hexadecimal digits"),
            meaning="SHA-256 of the standard output",
            field="stdout_sha256",
        ),
        "regex": Key(
            kind=TEXT,
            meaning="a regular expression that matches somewhere in the standard output",
            field="stdout_regex",
        ),
        "file": Key(
            kind=TEXT, meaning="a file that equals the standard output", field="stdout_file"
        ),
    },
    model=Expect,
)

METRIC = Section(
    "MetricSection",
    "A metric that is parsed from what a run wrote.",
    {
        "regex": Key(
            kind=TEXT,
            meaning="a regular expression with one group, or one named 'value'; each match is an"
            " iteration",
        ),
        "json": Key(
            kind=TEXT,
            meaning="a path into JSON output such as `results[*].time`, instead of `regex`",
        ),
        "from": Key(
            kind=TEXT,
            meaning="`stdout`, `stderr`, or a file relative to `cwd`",
            field="source",
        ),
        "unit": Key(kind=TEXT, meaning="the unit of the values", required=True),
        "better": Key(
            kind=choice("lower", "higher"),
            meaning="`lower` or `higher`: which values are better",
            required=True,
        ),
    },
    model=MetricRule,
    rules=[_one_way_to_parse],
    more={"oneOf": [{"required": ["regex"]}, {"required": ["json"]}]},
)

_KEYS = {
    "command": Key(
        kind=COMMAND,
        meaning="the program and its arguments; every cell needs one, and a variant's takes the"
        " place of its benchmark's",
    ),
    "cwd": Key(
        kind=TEXT,
        meaning="working directory, relative to the campaign file's folder",
        otherwise="the file's folder",
    ),
    "env": Key(
        kind=ENVIRONMENT,
        meaning="environment variables: name -> text; a variant's are added to its benchmark's and"
        " win",
    ),
    "stdin": Key(kind=TEXT, meaning="file for the standard input; without it, `/dev/null`"),
    "inputs": Key(
        kind=INPUTS,
        meaning="further files that the runs read; added to the campaign's, a variant's to its"
        " benchmark's too",
    ),
    "stdout": Key(
        kind=_SINK,
        meaning="`file`: examined, and kept when the run failed; `keep`: always kept; `discard`:"
        " never seen",
    ),
    "stderr": Key(kind=_SINK, meaning="as `stdout`"),
    "timeout": Key(
        kind=TIMEOUT,
        meaning="longest time of a run; takes the place of `protocol.timeout`",
        otherwise="`protocol.timeout`",
    ),
    "expect": Key(
        kind=EXPECT, meaning="what a run must do to count as ok", otherwise="exit code 0"
    ),
    "metrics": Key(
        kind=Mapped(
            item=METRIC,
            key=name(),
            refuses=_metric_name,
            names=NAMES | {"not": {"enum": [*RESERVED_METRICS]}},
        ),
        meaning="metrics to parse from output: name -> rule; a variant's are added to its"
        " benchmark's and win",
    ),
    "matrix": Key(
        kind=Mapped(
            item=Listed(item=TEXT, least=1), refuses=_value_name, names=_VALUE_NAMES, least=1
        ),
        meaning="lists of values; one variant or benchmark for each combination",
    ),
}


VARIANT = Section(
    "VariantSection",
    "One of the things that are compared.",
    _KEYS
    | {
        "build": Key(
            kind=STEPS,
            meaning="build steps of this variant; variants only",
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
