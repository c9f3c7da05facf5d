"""What ``fairtrial compare`` measures: a small campaign, written as a person would write it.

The campaign is stored in the trial like any other, so the comparison can be repeated.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import shlex
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from analysis.errors import UsageError

from ..campaign.defaults import own_defaults
from ..campaign.load import MAX_SEED, load_campaign
from ..campaign.model import Campaign, Isolation
from ..campaign.scalar_kinds import MAX_SECONDS
from ..errors import CampaignError, LaunchError
from ..launch.client import LauncherClient
from ..launch.commands import base_environment, check_stdin, resolve
from ..launch.exchange import Execution, LaunchRequest
from ..launch.interrupts import Interrupts

_PROBES = 3
_PROBE_S = 1.0
_LEAST_S = 0.001  # the launcher counts a timeout in milliseconds
_MOST_CODE = 255
_BUDGET_S = 5.0  # of measuring, for each command
_LEAST_RUNS, _MOST_RUNS = 10, 150  # of a command, in all sessions
_LONG_S = 0.5  # from then on one warm-up in each session would cost more than it tells
# What a shell would not take for an argument: outside quotes, or outside single quotes.
_OPERATOR = re.compile(r"((?:(?<=\s)|^)\d?[<>|&;]+|;+(?=\s|$)|[*?])")
_EXPANDED = re.compile(r"(\$[\w{(]|`)")
_SINGLE, _DOUBLE = re.compile(r"\\.|'[^']*'"), re.compile(r'"[^"]*"')
_ASSIGNMENT = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*=\S*")
_CPUS = re.compile(r"auto|none|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")


def campaign_of(options: Namespace, folder: Path, place: Path) -> Campaign:
    """Make a campaign of one benchmark whose variants are the commands; the first is the baseline.

    `options` are those of the command line. Without a number of warm-ups it is one in each session, or
    in the first for what takes long.
    """
    _check_texts(options, folder)
    names = _names(options)
    _check_bounds(options)
    if options.stdin is not None:
        check_stdin(options.stdin)
    if options.cpus is not None and not _CPUS.fullmatch(options.cpus):
        raise UsageError(
            f"'{options.cpus}' names no CPUs", "--cpus", "write auto, none, or a list such as 2,3"
        )
    environment = base_environment(Isolation(), os.environ)
    for command in options.commands:  # refused by the words that were typed
        try:
            resolve(_argv(options, command)[0], folder, environment)
        except LaunchError as error:
            sign = None if options.shell else shell_sign(command)
            raise LaunchError(error.what, command, sign or error.fix) from None
    runs, long = options.runs, False
    if runs is None:
        seconds = max(_seconds(options, command, folder) for command in options.commands)
        runs, long = runs_for(seconds, options.sessions), seconds > _LONG_S
    text = _yaml(options, names, runs, folder, long=long)
    path = place / "campaign.yaml"
    path.write_text(text, encoding="utf-8")
    own = own_defaults()
    try:
        campaign = load_campaign(path, own=own)
    except CampaignError as error:  # the file is ours: what it is about is what was typed
        raise UsageError(error.what, "fairtrial compare", error.fix) from None
    typed = dict(zip(names, options.commands, strict=True))
    cells = tuple(
        dataclasses.replace(
            cell, command=dataclasses.replace(cell.command, mark=shlex.quote(typed[cell.variant]))
        )
        for cell in campaign.cells
    )
    signs = ((command, shell_sign(command)) for command in options.commands if not options.shell)
    notes = tuple(f"in {command!r}, {sign}" for command, sign in signs if sign)
    return dataclasses.replace(campaign, cells=cells, notes=campaign.notes + notes)


def shell_sign(command: str) -> str | None:
    """Say what in a command only a shell would understand, and how to have one; None if nothing is."""
    assignment = _ASSIGNMENT.match(command)
    if assignment:
        return (
            f"'{assignment[0].strip()}' sets a variable in a shell only: write "
            f"{shlex.quote('env ' + command.lstrip())}, or add --shell"
        )
    unquoted = _SINGLE.sub("", command)
    sign = _EXPANDED.search(unquoted) or _OPERATOR.search(_DOUBLE.sub("", unquoted))
    return None if sign is None else f"no shell reads '{sign[1]}': add --shell to have one"


def _check_texts(options: Namespace, folder: Path) -> None:
    """Refuse what cannot be written to the campaign, which is a UTF-8 text."""
    texts = [("the argument", text) for text in (*options.commands, *options.name)]
    texts += [("--prepare", text) for text in (options.prepare,) if text is not None]
    texts += [("--stdin", str(path.resolve())) for path in (options.stdin,) if path is not None]
    texts += [("the folder", str(folder))]
    for what, text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            # Bytes that are none of UTF-8 come from the command line as lone surrogates.
            shown = re.sub("[\udc80-\udcff]", lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", text)
            raise UsageError(
                f"{what} is not UTF-8 and cannot be written to a campaign",
                shown.encode("utf-8", "backslashreplace").decode("utf-8"),
                "write it in UTF-8, or put the command into a script and compare scripts"
                if what != "the folder"
                else "begin in a folder whose name is UTF-8",
            ) from None


def _exit_codes(options: Namespace) -> list[int]:
    return options.exit or [0]


def _check_bounds(options: Namespace) -> None:
    seconds = options.timeout
    if seconds is not None and not (math.isfinite(seconds) and _LEAST_S <= seconds <= MAX_SECONDS):
        raise UsageError(
            f"a timeout must be from {_LEAST_S:g} s to {MAX_SECONDS:,} s, not {_spelled(seconds)}",
            "--timeout",
            "give seconds such as 60 or 0.5",
        )
    if not 0 <= options.seed <= MAX_SEED:
        raise UsageError(
            f"a seed is a whole number from 0 to {MAX_SEED}, not {options.seed}", "--seed"
        )
    for code in _exit_codes(options):
        if not 0 <= code <= _MOST_CODE:
            raise UsageError(
                f"an exit code is a whole number from 0 to {_MOST_CODE}, not {code}", "--exit"
            )


def _spelled(seconds: float) -> str:
    return repr(float(seconds)).removesuffix(".0")


def _names(options: Namespace) -> tuple[str, ...]:
    if options.name and len(options.name) != len(options.commands):
        what = f"{len(options.name)} names for {len(options.commands)} commands"
        raise UsageError(what, "--name", "give one --name for each command, in their order")
    names = list(options.name)
    for command in options.commands if not names else ():
        base = re.sub(r"[^A-Za-z0-9._+]+", "-", command).strip("-._+")[:40].strip("-._+")
        name, number = base or "command", 2
        while name in names:
            name, number = f"{base or 'command'}-{number}", number + 1
        names.append(name)
    return tuple(names)


def _argv(options: Namespace, command: str) -> list[str]:
    if options.shell:
        return ["/bin/sh", "-c", command]
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise UsageError(
            f"the command cannot be split: {error}", command, "close the quote"
        ) from error
    if not parts:
        raise UsageError("a command is empty", None, "write a program's name")
    return parts


def _seconds(options: Namespace, command: str, folder: Path) -> float:
    """Execute a command a few times, unrecorded, to see that it works and how long it takes."""
    argv = _argv(options, command)
    plain = Isolation()
    environment = base_environment(plain, os.environ)
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as place, Interrupts() as interrupts:
        output = Path(place) / "stderr"
        request = LaunchRequest(
            path=str(resolve(argv[0], folder, environment)),
            argv=tuple(argv),
            env={os.fsencode(name): os.fsencode(value) for name, value in environment.items()},
            cwd=folder,
            stdin=options.stdin,
            stderr=output,
            timeout_s=options.timeout,
        )
        launcher = LauncherClient(plain, None, interrupts)
        try:
            spent: list[float] = []
            while len(spent) < _PROBES and sum(spent) < _PROBE_S:
                execution = launcher.execute(request)
                if execution.killed or execution.exit_code not in _exit_codes(options):
                    sign = None if options.shell else shell_sign(command)
                    raise _failed(command, execution, options.timeout, output, sign)
                spent.append(execution.wall_ns / 1e9)
        finally:
            launcher.close()
    return min(spent)


def _failed(
    command: str, execution: Execution, timeout_s: float | None, output: Path, sign: str | None
) -> LaunchError:
    if execution.killed and timeout_s is not None:
        what = f"the command was ended after {_spelled(timeout_s)} s"
        return LaunchError(what, command, "give it more with --timeout")
    code, signal = execution.exit_code, execution.signal
    ending = f"exit code {code}" if signal is None else f"signal {signal}"
    said = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:]
    text = "".join(f"\n    {line}" for line in said)
    fix = f"{sign}; or correct it" if sign else "correct it"
    if code is not None:
        fix += f", or say that this is as it should be: --exit {code}"
    return LaunchError(f"the command ends with {ending}{text}", command, fix)


def runs_for(seconds: float, sessions: int) -> int:
    """Choose the runs per session: as many as fit the budget, from 10 to 150 in all."""
    fit = round(_BUDGET_S / max(seconds, 1e-4) / sessions)
    return max(-(-_LEAST_RUNS // sessions), min(fit, _MOST_RUNS // sessions))


def _yaml(options: Namespace, names: Sequence[str], runs: int, folder: Path, *, long: bool) -> str:
    """Write the campaign; JSON strings are YAML strings."""

    def quoted(text: str) -> str:
        return json.dumps(text.replace("{", "{{").replace("}", "}}"), ensure_ascii=False)

    lines = ["name: compare", f"seed: {options.seed}", "variants:"]
    for name, command in zip(names, options.commands, strict=True):
        argv = ", ".join(quoted(part) for part in _argv(options, command))
        lines.append(f"  {json.dumps(name)}: {{command: [{argv}]}}")
    codes = ", ".join(map(str, _exit_codes(options)))
    lines += [
        f"baseline: {json.dumps(names[0])}",
        "benchmarks:",
        f"  command: {{cwd: {quoted(str(folder))}, stdout: discard, expect: {{exit: [{codes}]}}"
        + (f", stdin: {quoted(str(options.stdin.resolve()))}" if options.stdin else "")
        + "}",
        "protocol:",
        f"  sessions: {options.sessions}",
        f"  runs: {runs}",
        f"  warmup: {1 if options.warmup is None else options.warmup}",
    ]
    if long and options.warmup is None:
        lines.append("  warmup_sessions: first")
    if options.timeout is not None:
        lines.append(f"  timeout: {_spelled(options.timeout)}")
    if options.prepare is not None:
        prepare = f"cd {shlex.quote(str(folder))} || exit\n{options.prepare}"
        lines += ["hooks:", f"  before: [{{shell: {quoted(prepare)}}}]"]
    if options.cpus is not None:
        lines += ["isolation:", f"  cpus: {options.cpus}"]
    return "\n".join(lines) + "\n"
