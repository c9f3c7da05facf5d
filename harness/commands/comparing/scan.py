"""Which commands a comparison measures: those that were typed, with each value of their parameters."""

from __future__ import annotations

import itertools
import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from analysis.errors import UsageError

from .options import shell_of

MOST_COMMANDS = 50
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


def wanted_commands(args: Namespace) -> tuple[WantedCommand, ...]:
    """Give all commands of a command line, the baseline first.

    Raises
    ------
    UsageError
        If parameters, names or the baseline do not fit the commands.
    """
    parameters = dict(_parameters(args))
    pairs = [(typed, values) for typed in args.commands for values in _combinations(parameters)]
    counts = len(pairs), len(args.commands)
    shells = None if args.no_shell else args.shell
    given = (("-S", shells), ("--stdin", args.stdin), ("--prepare", args.prepare))
    dealt = zip(pairs, *(_for_each(*one, *counts) for one in given), strict=True)
    found = [
        WantedCommand(
            command=_filled(typed, values),
            name=_called(typed, values, args),
            parameters=values,
            shell=shell_of(shell),
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
    return _baseline_first(named_variants(_named(found, args.name)), args.baseline)


def _parameters(args: Namespace) -> Iterator[tuple[str, list[str]]]:
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


def _scanned(values: Sequence[str], args: Namespace, name: str) -> list[str]:
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
    if not value.is_finite():
        raise UsageError(f"{text!r} is not a number", option, "write it like -P threads 1 8")
    return value


def _combinations(parameters: Mapping[str, list[str]]) -> Iterator[dict[str, str]]:
    """Give all combinations of values; the last parameter changes first."""
    for values in itertools.product(*parameters.values()):
        yield dict(zip(parameters, values, strict=True))


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _called(typed: str, values: Mapping[str, str], args: Namespace) -> str | None:
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
        raise UsageError(f"{len(given)} {option} for {count} commands", option, fix)
    return [one for one in given for _ in range(count // len(given))]


def _named(found: list[WantedCommand], names: Sequence[str]) -> list[WantedCommand]:
    if not names:
        return found
    if len(names) != len(found):
        what = f"{len(names)} name{'s' * (len(names) != 1)} for {len(found)} commands"
        raise UsageError(what, "--name", "give one --name for each command, in their order")
    return [replace(one, name=name) for one, name in zip(found, names, strict=True)]


def named_variants(wanted: Sequence[WantedCommand]) -> tuple[WantedCommand, ...]:
    """Give each command the name of its variant: letters and digits of what it is called.

    Raises
    ------
    UsageError
        If two have one name.
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
    """Put the baseline before the others, which keep their order."""
    if baseline is None:
        return found
    for one in found:
        if baseline in (one.command, one.name, one.variant):
            return (one, *(other for other in found if other is not one))
    known = ", ".join(one.name or repr(one.command) for one in found[:4])
    raise UsageError(f"no command is {baseline!r}", "--baseline", f"name one of: {known}")
