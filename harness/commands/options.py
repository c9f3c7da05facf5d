"""The options of ``compare``: its own, and those of hyperfine, which mean the same or are answered."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TextIO

from analysis.errors import UsageError
from analysis.options import Given, positive, share
from analysis.record.printer import write_json

from ..errors import counted

RUNS = Path("runs")


class Placed(Given):
    """Where a trial goes, who may read it, and whether it waits for others."""

    dir: Path
    share: bool
    wait_for_lock: float


class Talk(Given):
    """How much is printed."""

    json: bool
    quiet: bool
    verbose: bool


def not_negative(text: str) -> int:
    """Read a whole number, 0 or more."""
    return 0 if text == "0" else positive(text)


def write_result(result: Any, out: TextIO, *, as_json: bool) -> None:  # noqa: ANN401 - with to_dict()
    """Write what a command found: for a person, or as JSON."""
    write_json(result.to_dict(), out) if as_json else out.write(f"{result}\n")


SHELL = "/bin/sh"
EVENTS = ("instructions", "cycles", "branch-misses", "page-faults")
_LONGEST_S = 1e6
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|min|h)?")

# options of hyperfine that cannot be here, and what to write instead
ELSEWHERE: Mapping[str, str] = {
    "--export-asciidoc": "not here; --export-markdown FILE, or fairtrial report --format md",
    "--export-orgmode": "not here; --export-markdown FILE, or fairtrial report --format md",
    "--show-output": "not here; to see it once: fairtrial compare --try COMMAND",
    "--reference": "here it is --baseline COMMAND",
}
# options of hyperfine that are accepted, and have nothing to do
_IGNORED: Mapping[str, str] = {
    "style": "--style: not needed; -q prints the answer only",
    "sort": "--sort: not needed; commands stand as they were typed",
}


class Comparing(Placed, Talk):
    """The options of ``compare``."""

    commands: list[str]
    baseline: str | None
    name: list[str] | None
    parameter_list: list[list[str]] | None
    parameter_scan: list[list[str]] | None
    parameter_step_size: str | None
    attempt: str | None
    for_s: float | None
    margin: float | None
    open: bool
    resume: str | None
    warmup: int | None
    runs: int | None
    min_runs: int | None
    max_runs: int | None
    sessions: int | None
    shell: list[str] | None
    no_shell: bool
    ignore_failure: bool
    exit: list[int] | None
    prepare: list[str] | None
    setup: str | None
    cleanup: str | None
    stdin: list[Path] | None
    output: str | None
    timeout: float | None
    cpus: str | None
    seed: int
    counters: str | None
    time_unit: str | None
    export_json: str | None
    export_csv: str | None
    export_markdown: str | None
    style: str | None
    sort: str | None


def remarks(args: Comparing) -> Iterator[str]:
    """Say which options of hyperfine had nothing to do."""
    if args.resume is None and (args.no_shell or args.shell == ["none"]):
        yield f"{'-N' if args.no_shell else '--shell=none'}: no shell is started anyway"
    for name, text in _IGNORED.items():
        if getattr(args, name) is not None:
            yield text


# options of `compare` that a further sitting has too
_OF_A_SITTING = (
    *("commands", "resume", "for_s", "min_runs", "max_runs", "dir", "share", "wait_for_lock"),
    *("json", "quiet", "verbose", "time_unit", "export_json", "export_csv", "export_markdown"),
    *("style", "sort"),
)
# what of a command line ``--try`` takes
_OF_A_TRY = (
    *("attempt", "shell", "no_shell", "ignore_failure", "exit", "stdin"),
    *("quiet", "verbose"),
)
_USUAL = {"dir": RUNS, "wait_for_lock": 0.0, "seed": 1, "warmup": 0}  # options with a default


def begun_with(args: Comparing, others: Sequence[str] = _OF_A_SITTING) -> Iterator[str]:
    """Name the options that were given and are none of the `others`: by default those chosen when a comparison begins."""
    usual = {name: None for name, value in _USUAL.items() if getattr(args, name) == value}
    found = Comparing(**{**vars(args), **usual})
    yield from found.given(*(name for name in vars(args) if name not in others))


def refuse_beside_try(args: Comparing) -> None:
    """Refuse what a single try has nothing to do with."""
    for option in begun_with(args, _OF_A_TRY):
        what = {"--commands": "further commands", "--for-s": "--for"}.get(option, option)
        fix = "leave it out, or leave out --try to measure"
        raise UsageError(f"--try executes one command once, without {what}", None, fix)


def output_of(given: str | None) -> str | None:
    """Give what ``--output`` names as a campaign has it; None where nothing is named."""
    known = {None: None, "pipe": "pipe", "inherit": "inherit", "null": "discard"}
    return known[given] if given in known else str(Path(given or "").absolute())


def duration(text: str) -> float:
    """Read a time such as ``90s``, ``5m`` or ``1h``; a bare number are seconds. Gives seconds."""
    found = _TIME.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2] or "s"] if found else math.nan
    if not 0 < seconds <= _LONGEST_S:
        raise argparse.ArgumentTypeError(f"must be a time such as 90s or 5m, not {text!r}")
    return seconds


def margin(text: str) -> float:
    """Read ``3%`` or ``0.03``, above 0 and at most half; gives a share."""
    with contextlib.suppress(argparse.ArgumentTypeError):
        if 0 < share(text) <= 0.5:
            return share(text)
    raise argparse.ArgumentTypeError(f"must be per cent such as 3%, not {text!r}")


def input_file(text: str) -> Path:
    """Read the name of a file that each run reads."""
    if text == "-":
        raise argparse.ArgumentTypeError("each run reads anew, '-' once: cat > FILE, --stdin FILE")
    return Path(text)


def unit(text: str) -> str:
    """Read a unit of time."""
    known = {
        **dict.fromkeys(("s", "second", "seconds"), "s"),
        **dict.fromkeys(("ms", "millisecond", "milliseconds"), "ms"),
        **dict.fromkeys(("us", "µs", "microsecond", "microseconds"), "us"),
    }
    if text not in known:
        raise argparse.ArgumentTypeError(f"must be s, ms or us, not {text!r}")
    return known[text]


# --- Which commands a comparison measures: those that were typed, with each value of their parameters.


MOST_COMMANDS = 50
_MOST_DIGITS = 300  # before or behind the point of a number
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SLUG = 40  # characters of a variant's name
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCommand:
    """One command with its parameters filled in.

    `name`: What it is called instead, by the user or by its parameters. `variant`: Its name in the trial.
    `shell` reads it, or None; `prepare` is a line for a shell, before each run.
    """

    command: str
    name: str | None = None
    variant: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    shell: str | None = None
    stdin: Path | None = None
    prepare: str | None = None


def wanted_commands(args: Comparing) -> tuple[WantedCommand, ...]:
    """Give all commands of a command line, the baseline first.

    Raises UsageError if parameters, names or the baseline do not fit the commands.
    """
    parameters = dict(_parameters(args))
    each = itertools.product(*parameters.values())
    filled = [dict(zip(parameters, values, strict=True)) for values in each]
    pairs = [(typed, values) for typed in args.commands for values in filled]
    counts = len(pairs), len(args.commands)
    shells = None if args.no_shell else args.shell
    given = {"-S": shells, "--stdin": args.stdin, "--prepare": args.prepare}
    dealt = zip(pairs, *(_for_each(*one, *counts) for one in given.items()), strict=True)
    found = [
        WantedCommand(
            command=_filled(typed, values),
            name=_called(typed, values, args),
            parameters=values,
            shell=None if shell in (None, "none") else shell or SHELL,
            stdin=stdin,
            prepare=prepare and _filled(prepare, values),
        )
        for (typed, values), shell, stdin, prepare in dealt
    ]
    for name in parameters:
        if not any(f"{{{name}}}" in text for text in (*args.commands, *(args.prepare or ()))):
            fix = f"write it where its values belong: 'gzip -{{{name}}} file'"
            raise UsageError(f"no command has the parameter {{{name}}}", "-L, -P", fix)
    if len(found) > MOST_COMMANDS:
        what = f"that makes {len(found)} commands, more than {MOST_COMMANDS}"
        raise UsageError(what, "-L, -P", "name fewer values, or write a campaign: fairtrial init")
    return _baseline_first(named_variants(_named(found, args.name or ())), args.baseline)


def _parameters(args: Comparing) -> Iterator[tuple[str, list[str]]]:
    seen: set[str] = set()
    for option, given in (("-L", args.parameter_list), ("-P", args.parameter_scan)):
        for name, *values in given or ():
            if not _PARAMETER.fullmatch(name):
                what = f"{name!r} cannot be the name of a parameter"
                raise UsageError(what, option, "use letters, digits and _: -L level 1,6,9")
            if name in seen:
                raise UsageError(f"the parameter {name!r} is given twice", option, "name it once")
            seen.add(name)
            yield name, _listed(values[0]) if option == "-L" else _scanned(values, args, name)
    if args.parameter_step_size is not None and not args.parameter_scan:
        raise UsageError("-D says the step of -P, which is missing", "-D", "add -P NAME FIRST LAST")


def _listed(text: str) -> list[str]:
    r"""Split values at commas; ``\,`` is a comma."""
    values = [one.replace("\0", ",") for one in text.replace("\\,", "\0").split(",")]
    doubled = [value for value in values if values.count(value) > 1]
    if doubled:
        raise UsageError(f"the value {doubled[0]!r} stands twice in {text!r}", "-L", "name it once")
    return values


def _scanned(values: Sequence[str], args: Comparing, name: str) -> list[str]:
    """Give the numbers from the first to the last, by steps of ``-D``, exactly as decimals."""
    first, last = (_decimal(value, "-P") for value in values)
    step = Decimal(1)
    if args.parameter_step_size is not None:
        step = _decimal(args.parameter_step_size, "-D")
    if step <= 0 or last < first:
        what = f"{name} goes from {first} to {last} by steps of {step}: that is no value"
        raise UsageError(what, "-P, -D", "name the smaller number first, and a step above 0")
    count = int((last - first) / step) + 1
    if count > MOST_COMMANDS:
        what = f"{name} has {count} values, more than {MOST_COMMANDS}"
        raise UsageError(what, "-P", "take a larger step: -D")
    return [str(first + k * step) for k in range(count)]


def _decimal(text: str, option: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite() or abs(value.adjusted()) > _MOST_DIGITS:
        what = f"{text!r} is not a number{' of ordinary size' * value.is_finite()}"
        raise UsageError(what, option, "write it like -P threads 1 8")
    return value


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _called(typed: str, values: Mapping[str, str], args: Comparing) -> str | None:
    """Name a command by its parameters: the only one by all, another by those that it does not show."""
    alone = len(args.commands) == 1
    named = [
        f"{name}={value}" for name, value in values.items() if alone or f"{{{name}}}" not in typed
    ]
    if not named:
        return None
    return " ".join(named if alone else [_filled(typed, values), *named])


def _for_each(option: str, given: Sequence[Any] | None, count: int, typed: int) -> list[Any]:
    """Deal what an option was given to the commands: none, one for all, or one for each."""
    given = given or [None]
    if len(given) not in (1, count, typed):
        fix = f"give one for all, or {count} in the order of the commands"
        raise UsageError(f"{len(given)} {option} for {counted(count, 'command')}", option, fix)
    return [one for one in given for _ in range(count // len(given))]


def _named(found: list[WantedCommand], names: Sequence[str]) -> list[WantedCommand]:
    if not names:
        return found
    if len(names) != len(found):
        what = f"{counted(len(names), 'name')} for {counted(len(found), 'command')}"
        raise UsageError(what, "--name", "give one --name for each command, in their order")
    return [replace(one, name=name) for one, name in zip(found, names, strict=True)]


def named_variants(wanted: Sequence[WantedCommand]) -> tuple[WantedCommand, ...]:
    """Give each command the name of its variant: letters and digits of what it is called.

    Raises UsageError if two have one name.
    """
    found: list[WantedCommand] = []
    for one in wanted:
        if one.name is not None and one.name in (other.name for other in found):
            raise UsageError(f"two commands are named {one.name!r}", "--name", "name them apart")
        base = one.name
        if base is None or not _NAME.fullmatch(base):
            plain = re.sub(r"[^A-Za-z0-9._+]+", "-", one.name or one.command)
            base = plain.strip("-._+")[:_SLUG].strip("-._+") or "command"
        name, number = base, 2
        while name in (other.variant for other in found):
            name, number = f"{base}-{number}", number + 1
        found.append(replace(one, variant=name))
    return tuple(found)


def _baseline_first(
    found: tuple[WantedCommand, ...], baseline: str | None
) -> tuple[WantedCommand, ...]:
    if baseline is None:
        return found
    for one in found:
        if baseline in (one.command, one.name, one.variant):
            return (one, *(other for other in found if other is not one))
    known = ", ".join(one.name or repr(one.command) for one in found[:4])
    raise UsageError(f"no command is {baseline!r}", "--baseline", f"name one of: {known}")
