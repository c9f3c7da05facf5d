"""The shape of what a campaign compares and on what: commands, expectations, metrics, values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic.config import JsonDict

from analysis.run_numbers import RESERVED_METRICS

from ..model import Sink
from ..source.templates import VALUE_NAME
from .kinds import NAME, Choice, Given, Key, Name, Pattern, Text, wrong
from .quantities import Duration, Whole

# Names that a value for templates cannot have: each has a meaning of its own.
PREDEFINED = ("variant", "benchmark")

LIST, TEXT, MAPPING = "<list>", "<text>", "<mapping>"


def _form(value: object) -> str:
    """Tell the forms of a value apart; pydantic shows these tags in an error's path."""
    if isinstance(value, BaseModel | dict):
        return MAPPING
    return LIST if isinstance(value, list) else TEXT


def _steps_form(value: object) -> str:
    """Tell the forms apart, and one list of arguments from a list of commands."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "<arguments>"
    return _form(value)


def forms(needs: str, form: Callable[[object], str] = _form) -> Discriminator:
    """Choose among the forms of a value; `needs` says which there are, after 'must be'."""
    return Discriminator(form, custom_error_type="form", custom_error_message=needs)


TextField = Annotated[str, Text()]
NameField = Annotated[str, Name()]
NameKey = Annotated[str, Key(Name())]
NAMES: JsonDict = {"propertyNames": {"pattern": f"^{NAME.pattern}$"}}
_ENVIRONMENT_NAME = "[^=\\u0000]+"
_VALUE_NAMES: JsonDict = {
    "propertyNames": {
        "pattern": f"^{VALUE_NAME.pattern}$",
        "not": {"enum": list(PREDEFINED)},
    }
}


class Section(BaseModel):
    """A mapping whose keys are all known."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Shell(Section):
    """A text for the shell, asked for by name."""

    shell: TextField
    """Executed as /bin/sh -c TEXT, inside the measured time."""


_Arguments = Annotated[list[TextField], Field(min_length=1)]
CommandField = Annotated[
    Annotated[TextField, Tag(TEXT)]
    | Annotated[_Arguments, Tag(LIST)]
    | Annotated[Shell, Tag(MAPPING)],
    forms("a list of arguments, a text or {shell: TEXT}"),
]
_StepField = Annotated[
    Annotated[_Arguments, Tag(LIST)] | Annotated[Shell, Tag(MAPPING)],
    forms("a list of arguments or {shell: TEXT}"),
]
StepsField = Annotated[
    Annotated[TextField, Tag(TEXT)]
    | Annotated[list[_StepField], Tag(LIST)]
    | Annotated[Shell, Tag(MAPPING)],
    forms("a list of commands, a text or {shell: TEXT}", _steps_form),
]
EnvironmentField = Annotated[
    dict[Annotated[str, Key(Pattern(_ENVIRONMENT_NAME, "a name without '='"))], TextField],
    Field(json_schema_extra={"propertyNames": {"pattern": f"^{_ENVIRONMENT_NAME}$"}}),
]
_SinkField = Annotated[Sink, Choice(("file", "discard", "keep"))]
TimeoutField = Annotated[float, Duration(positive=True)]
_ExitCode = Annotated[int, Whole(0, 255)]


class ExpectSection(Section):
    """What a run must do to count as ok."""

    exit: Annotated[
        Annotated[_ExitCode, Tag(TEXT)]
        | Annotated[list[_ExitCode], Field(min_length=1), Tag(LIST)],
        forms("an exit code or a list of them"),
    ] = 0
    """The exit code, or the exit codes, of a good run."""
    sha256: Annotated[
        Annotated[str, Pattern("[0-9A-Fa-f]{64}", "64 hexadecimal digits")] | None, Given()
    ] = None
    """SHA-256 of the standard output."""
    regex: Annotated[TextField | None, Given()] = None
    """A regular expression that matches somewhere in the standard output."""
    file: Annotated[TextField | None, Given()] = None
    """A file that equals the standard output."""


class MetricSection(Section):
    """A metric that is parsed from what a run wrote."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["regex"]}, {"required": ["json"]}]}
    )

    regex: Annotated[TextField | None, Given()] = None
    """A regular expression with one group, or one named 'value'; each match is an iteration."""
    json_path: Annotated[TextField | None, Given()] = Field(default=None, alias="json")
    """A path into JSON output, such as results[*].time."""
    source: TextField = Field(default="stdout", alias="from")
    """stdout, stderr, or a file (relative to the working directory)."""
    unit: TextField
    """The unit of the values."""
    better: Annotated[Literal["lower", "higher"], Choice(("lower", "higher"))]
    """Which values are better."""

    @model_validator(mode="after")
    def _one_rule(self) -> MetricSection:
        if (self.regex is None) == (self.json_path is None):
            raise wrong("needs exactly one of 'regex' and 'json'")
        return self


_MetricsField = Annotated[
    dict[NameKey, MetricSection],
    Field(
        json_schema_extra={
            "propertyNames": {"pattern": f"^{NAME.pattern}$", "not": {"enum": [*RESERVED_METRICS]}}
        }
    ),
]
_MatrixField = Annotated[
    dict[str, Annotated[list[TextField], Field(min_length=1)]],
    Field(min_length=1, json_schema_extra=_VALUE_NAMES),
]


class Target(BaseModel):
    """What a variant and a benchmark have in common; other keys are values for templates."""

    model_config = ConfigDict(
        extra="allow", use_attribute_docstrings=True, json_schema_extra=_VALUE_NAMES
    )
    __pydantic_extra__: dict[str, TextField] = Field(init=False)

    command: Annotated[CommandField | None, Given()] = None
    """The program and its arguments; a variant's command takes the place of its benchmark's."""
    cwd: Annotated[TextField | None, Given()] = None
    """Working directory, relative to the campaign file's folder."""
    env: Annotated[EnvironmentField | None, Given()] = None
    """Environment variables; a variant's are added to its benchmark's and win."""
    stdin: Annotated[TextField | None, Given()] = None
    """File for the standard input; without it there is none (/dev/null)."""
    stdout: Annotated[_SinkField | None, Given()] = None
    """file: examined, kept when the run failed; keep: always kept; discard: never seen."""
    stderr: Annotated[_SinkField | None, Given()] = None
    """As stdout."""
    timeout: Annotated[TimeoutField | None, Given()] = None
    """Longest time of a run; takes the place of protocol.timeout."""
    expect: Annotated[ExpectSection | None, Given()] = None
    """What a run must do to count as ok."""
    metrics: Annotated[_MetricsField | None, Given()] = None
    """Metrics to parse from output, by name; a variant's are added to its benchmark's and win."""
    matrix: Annotated[_MatrixField | None, Given()] = None
    """Lists of values; one variant or benchmark for each combination."""


class VariantSection(Target):
    """One of the things that are compared."""

    build: Annotated[StepsField | None, Given()] = None
    """Build steps of this variant; they take the place of the campaign's."""


class BenchmarkSection(Target):
    """A program with its input."""

    model_config = ConfigDict(
        json_schema_extra={**_VALUE_NAMES, "not": {"required": ["build"]}},
    )
