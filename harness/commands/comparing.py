"""The one try of each command before anything is measured: whether it works, and how long it takes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TextIO

from analysis.errors import StoreError, UsageError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import RESTORE
from analysis.record.trial_files import CAMPAIGN
from analysis.words import shown

from ..campaign.model import Campaign, Isolation
from ..campaign.resolve import load_campaign
from ..errors import LaunchError, duration
from ..host.reader import Host
from ..launch.client import LauncherClient, drain, sink_of, waiting
from ..launch.commands import base_environment, resolve
from ..launch.exchange import Execution, LaunchRequest
from ..launch.matching import Interrupts, last_output
from .options import Comparing, WantedCommand, named_variants, wanted_commands

_SHORT_S = 0.02  # what takes less is tried once more: the first run in a launcher takes longer
NOTICED = 1.3  # times as long into a pipe: it notices /dev/null
_LOOK_S = 0.02  # between two looks at its threads
_SHOWN = 3  # last lines of what it said
# What a shell would not take for an argument: outside quotes, or outside single quotes.
_OPERATOR = re.compile(r"((?:(?<=\s)|^)\d?[<>|&;]+|;+(?=\s|$)|[*?])")
_EXPANDED = re.compile(r"(\$[\w{(]|`)")
_SINGLE, _DOUBLE = re.compile(r"\\.|'[^']*'"), re.compile(r'"[^"]*"')
_ASSIGNMENT = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*=\S*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How all commands are executed: where, for how long, and what counts as good.

    `codes`: The exit codes of a good run. `output`: Where they print, as a campaign has it; None: as the tries tell.
    """

    folder: Path
    timeout_s: float | None = None
    codes: tuple[int, ...] = (0,)
    output: str | None = None


def argv_of(one: WantedCommand) -> list[str]:
    """Split a command into arguments, or hand it to its shell as one.

    Raises
    ------
    UsageError
        If it is empty, or a quote is left open.
    """
    if one.shell is not None:
        return [*shlex.split(one.shell), "-c", one.command]
    try:
        parts = shlex.split(one.command)
    except ValueError as error:
        what = f"the command cannot be split: {error}"
        raise UsageError(what, one.command, "close the quote") from error
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


def check_programs(wanted: Sequence[WantedCommand], folder: Path) -> None:
    """Refuse commands whose program is not there, by the words that were typed."""
    environment = base_environment(Isolation(), os.environ)
    for one in wanted:
        try:
            resolve(argv_of(one)[0], folder, environment)
        except LaunchError as error:
            sign = None if one.shell else shell_sign(one.command)
            raise LaunchError(error.what, one.command, sign or error.fix) from None


class Tried(NamedTuple):
    """What one try of a command showed: its seconds, the most threads that were seen, and its seconds into a pipe."""

    seconds: float
    threads: int
    piped: float

    @property
    def factor(self) -> float:
        """How many times as long it takes into a pipe."""
        return self.piped / self.seconds


def try_commands(wanted: Sequence[WantedCommand], manner: Manner) -> list[Tried]:
    """Execute each command once, unrecorded; give how long each took, and with how many threads.

    A command that prints is executed once more, for the difference between ``/dev/null`` and a pipe.

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
        pipe = drain()
        launcher = LauncherClient(plain, None, interrupts)
        threads = 1

        def look() -> str | None:
            nonlocal threads
            counts = (host.thread_count(pid) for pid in launcher.targets())
            threads = max(threads, *(count or 0 for count in counts), 1)
            floods = output.exists() and output.lstat().st_size > plain.output_limit_bytes
            return "output-limit" if floods else None

        def execute(
            argv: Sequence[str], one: WantedCommand, sink: str, *, measured: bool = True
        ) -> float:
            request = LaunchRequest(
                path=str(resolve(argv[0], manner.folder, environment)),
                argv=tuple(argv),
                env=variables,
                cwd=manner.folder,
                stdin=one.stdin if measured else None,
                stdout=sink_of(sink) if measured else None,
                stderr=output,
                timeout_s=manner.timeout_s if measured else None,
            )
            execution = launcher.execute(request, look, _LOOK_S)
            good = manner.codes if measured else (0,)
            if execution.killed or execution.exit_code not in good:
                raise _failed(one, execution, manner, output, measured=measured)
            return execution.wall_ns / 1e9

        def shortest(one: WantedCommand, sink: str) -> float:
            spent: list[float] = []
            while not spent or (len(spent) < 2 and spent[0] < _SHORT_S):
                if one.prepare is not None:
                    execute(["/bin/sh", "-c", one.prepare], one, sink, measured=False)
                spent.append(execute(argv_of(one), one, sink))
            return min(spent)

        try:
            for one in wanted:
                threads, before = 1, pipe.written()
                seconds = piped = shortest(one, manner.output or "pipe")
                if manner.output is None and pipe.written() > before:
                    seconds = shortest(one, "discard")
                    if piped > NOTICED * seconds:  # it may have been the first, with nothing cached
                        piped = min(piped, shortest(one, "pipe"))
                found.append(Tried(seconds, threads, piped))
        finally:
            launcher.close()
    return found


def output_note(wanted: Sequence[WantedCommand], tried: Sequence[Tried]) -> str | None:
    """Say which command notices ``/dev/null`` most, and that all print into a pipe then; None if none does."""
    one, most = max(zip(wanted, tried, strict=True), key=lambda pair: pair[1].factor)
    if most.factor <= NOTICED:
        return None
    return (
        f"{one.name or one.command!r} takes {most.factor:.2g} times as long into a pipe as into /dev/null: "
        "all print into a pipe (--output=null: into /dev/null)"
    )


def _failed(
    one: WantedCommand, execution: Execution, manner: Manner, output: Path, *, measured: bool
) -> LaunchError:
    """Say how a command ended, what it wrote last, and what to do about it."""
    command = one.command if measured else one.prepare or ""
    if execution.killed == "output-limit":
        what = f"{command!r} wrote more than {Isolation().output_limit_bytes} bytes to its standard error; nothing measured"
        return LaunchError(what, None, "let it write less: 2>/dev/null with --shell")
    if execution.killed and manner.timeout_s is not None:
        what = f"{command!r} was ended after {spelled(manner.timeout_s)} s; nothing measured"
        return LaunchError(what, None, "give it more with --timeout")
    code, signal = execution.exit_code, execution.signal
    ending = f"exit code {code}" if signal is None else f"signal {signal}"
    said = last_output(output).strip().splitlines()[-_SHOWN:]
    text = "".join(f"\n    {line}" for line in said)
    sign = None if one.shell or not measured else shell_sign(command)
    fix = f"{sign}; or correct it" if sign else "correct it"
    if code is not None and measured:
        fix += f", or count such runs: -i (or only this code: --exit {code})"
    shown = f"'{command}'" if "'" not in command else repr(command)
    what = f"{shown} ends with {ending}; nothing measured{text}"
    return LaunchError(what, None if measured else "--prepare", fix)


def spelled(seconds: float) -> str:
    """Write a number of seconds as a campaign has it, unrounded."""
    return repr(float(seconds)).removesuffix(".0")


def unread_input(stream: TextIO | None) -> bool:
    """Tell whether something was piped to this process."""
    try:
        return stream is not None and not stream.isatty() and waiting(stream.fileno()) > 0
    except (OSError, ValueError):  # it is closed, or nothing that can be read
        return False


# --- Executing a command once where its output is seen, to find out whether it does what one means.


def attempt(args: Comparing, err: TextIO) -> int:
    """Execute ``--try COMMAND`` with the environment and the input of measured runs; give 0, or 1 if it failed.

    Raises
    ------
    LaunchError
        If its program is not there.
    """
    (one,) = wanted_commands(Comparing(**vars(args) | {"commands": [args.attempt]}))
    argv = argv_of(one)
    environment = base_environment(Isolation(), os.environ)
    program = resolve(argv[0], Path.cwd(), environment)
    source = one.stdin or os.devnull
    began = time.monotonic()
    with Path(source).open("rb") as stdin:
        done = subprocess.run(
            argv, executable=str(program), env=environment, stdin=stdin, check=False
        )
    took = time.monotonic() - began
    ending = (
        f"exit code {done.returncode}" if done.returncode >= 0 else f"signal {-done.returncode}"
    )
    err.write(f"{ending} after {duration(took)}\n")
    codes = args.exit or (0,)
    return 0 if args.ignore_failure or done.returncode in codes else 1


# --- The commands of a comparison that is stored: its campaign's description is the command
# line that measured it.


def stored_commands(trial: Path) -> tuple[tuple[WantedCommand, ...], tuple[str, ...]]:
    """Give the commands of a comparison's trial as they were typed, and the words that measure them anew.

    A trial whose description was changed gives its arguments, set as a shell would read them.
    """
    manifest = read_manifest(trial)
    campaign = load_campaign(trial / CAMPAIGN, seed=manifest.seed)
    words = _words(campaign)
    typed = _typed(words, len(manifest.variants))
    if typed is not None and tuple(one.variant for one in typed) == manifest.variants:
        return typed, words[2:]
    found = {cell.variant: shlex.join(cell.command.argv) for cell in campaign.cells}
    if lacking := [name for name in manifest.variants if name not in found]:
        what = f"its manifest names commands that its campaign has not: {', '.join(map(shown, lacking))}"
        raise StoreError(what, str(trial), RESTORE)
    wanted = tuple(WantedCommand(command=found[name], variant=name) for name in manifest.variants)
    return wanted, tuple(one.command for one in wanted)


def _words(campaign: Campaign) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(campaign.description))
    except ValueError:
        return ()


def _typed(words: tuple[str, ...], count: int) -> tuple[WantedCommand, ...] | None:
    """Take the commands and names from the end of a command line; None where it is none of ours."""
    if words[:2] != ("fairtrial", "compare") or len(words) < 2 + count:
        return None
    names = [words[k + 1] for k, word in enumerate(words[:-count]) if word == "-n"]
    given = names if len(names) == count else [None] * count
    commands = words[-count:]
    return named_variants(
        [
            WantedCommand(command=command, name=name)
            for command, name in zip(commands, given, strict=True)
        ]
    )
