"""The one try of each command before anything is measured: whether it works, and how long it takes."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from analysis.errors import UsageError

from ...campaign.model import Isolation
from ...errors import LaunchError
from ...host.reader import Host
from ...launch.client import LauncherClient
from ...launch.commands import base_environment, resolve
from ...launch.exchange import Execution, LaunchRequest
from ...launch.interrupts import Interrupts

_SHORT_S = 0.02  # what takes less is tried once more: the first run in a launcher takes longer
_LOOK_S = 0.02  # between two looks at its threads
_SHOWN = 3  # last lines of what it said
# What a shell would not take for an argument: outside quotes, or outside single quotes.
_OPERATOR = re.compile(r"((?:(?<=\s)|^)\d?[<>|&;]+|;+(?=\s|$)|[*?])")
_EXPANDED = re.compile(r"(\$[\w{(]|`)")
_SINGLE, _DOUBLE = re.compile(r"\\.|'[^']*'"), re.compile(r'"[^"]*"')
_ASSIGNMENT = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*=\S*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How each command is executed: the shell that reads it, or None; what it is fed, and what counts as good.

    `codes`: The exit codes of a good run. `prepare`: A line for a shell, before each run.
    """

    folder: Path
    shell: str | None = None
    stdin: Path | None = None
    timeout_s: float | None = None
    codes: tuple[int, ...] = (0,)
    prepare: str | None = None

    def argv(self, command: str) -> list[str]:
        """Split a command into arguments, or hand it to the shell as one.

        Raises
        ------
        UsageError
            If it is empty, or a quote is left open.
        """
        if self.shell is not None:
            return [*shlex.split(self.shell), "-c", command]
        try:
            parts = shlex.split(command)
        except ValueError as error:
            raise UsageError(
                f"the command cannot be split: {error}", command, "close the quote"
            ) from error
        if not parts:
            raise UsageError("a command is empty", None, "write a program's name")
        return parts


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


def check_programs(commands: Sequence[str], manner: Manner) -> None:
    """Refuse commands whose program is not there, by the words that were typed."""
    environment = base_environment(Isolation(), os.environ)
    for command in commands:
        try:
            resolve(manner.argv(command)[0], manner.folder, environment)
        except LaunchError as error:
            sign = None if manner.shell else shell_sign(command)
            raise LaunchError(error.what, command, sign or error.fix) from None


class Tried(NamedTuple):
    """What one try of a command showed: its seconds, and the most threads that were seen."""

    seconds: float
    threads: int


def try_commands(commands: Sequence[str], manner: Manner) -> list[Tried]:
    """Execute each command once, unrecorded; give how long each took, and with how many threads.

    Raises
    ------
    LaunchError
        If one fails: with the last lines that it wrote to its standard error.
    """
    plain = Isolation()
    environment = base_environment(plain, os.environ)
    variables = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
    found: list[Tried] = []
    with (
        tempfile.TemporaryDirectory(prefix="fairtrial-") as place,
        Interrupts() as interrupts,
        Host() as host,
    ):
        output = Path(place) / "stderr"
        launcher = LauncherClient(plain, None, interrupts)
        threads = 1

        def look() -> None:
            nonlocal threads
            counts = (host.thread_count(pid) for pid in launcher.targets())
            threads = max(threads, *(count or 0 for count in counts), 1)

        def execute(argv: Sequence[str], command: str, *, measured: bool = True) -> Execution:
            request = LaunchRequest(
                path=str(resolve(argv[0], manner.folder, environment)),
                argv=tuple(argv),
                env=variables,
                cwd=manner.folder,
                stdin=manner.stdin if measured else None,
                stderr=output,
                timeout_s=manner.timeout_s if measured else None,
            )
            execution = launcher.execute(request, look if measured else None, _LOOK_S)
            good = manner.codes if measured else (0,)
            if execution.killed or execution.exit_code not in good:
                raise _failed(command, execution, manner, output, measured=measured)
            return execution

        try:
            for command in commands:
                argv = manner.argv(command)
                spent: list[float] = []
                threads = 1
                while not spent or (len(spent) < 2 and spent[0] < _SHORT_S):
                    if manner.prepare is not None:
                        words = ["/bin/sh", "-c", manner.prepare]
                        execute(words, manner.prepare, measured=False)
                    spent.append(execute(argv, command).wall_ns / 1e9)
                found.append(Tried(min(spent), threads))
        finally:
            launcher.close()
    return found


def _failed(
    command: str, execution: Execution, manner: Manner, output: Path, *, measured: bool
) -> LaunchError:
    """Say how a command ended, what it wrote last, and what to do about it."""
    if execution.killed and manner.timeout_s is not None:
        return LaunchError(
            f"{command!r} was ended after {spelled(manner.timeout_s)} s; nothing measured",
            None,
            "give it more with --timeout",
        )
    code, signal = execution.exit_code, execution.signal
    ending = f"exit code {code}" if signal is None else f"signal {signal}"
    said = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-_SHOWN:]
    text = "".join(f"\n    {line}" for line in said)
    sign = None if manner.shell or not measured else shell_sign(command)
    fix = f"{sign}; or correct it" if sign else "correct it"
    if code is not None and measured:
        fix += f", or count such runs: -i (or only this code: --exit {code})"
    shown = f"'{command}'" if "'" not in command else repr(command)
    what = f"{shown} ends with {ending}; nothing measured{text}"
    return LaunchError(what, None if measured else "--prepare", fix)


def spelled(seconds: float) -> str:
    """Write a number of seconds as a campaign has it, unrounded."""
    return repr(float(seconds)).removesuffix(".0")
