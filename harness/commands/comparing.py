"""What ``fairtrial compare`` measures: a small campaign, and the one try of each command before it.

The campaign is stored in the trial like any other. Its description is the command line that measured it, so
that a later sitting knows the commands as they were typed.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from analysis.errors import CampaignError, StoreError, UsageError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import RESTORE
from analysis.record.trial_files import CAMPAIGN

from ..campaign.model import Campaign, Isolation
from ..campaign.resolve import MAX_SEED, load_campaign
from ..campaign.scalar_kinds import MAX_SECONDS, words_of
from ..errors import LaunchError, duration
from ..host.activity import Host
from ..launch.client import LauncherClient, drain, sink_of, waiting
from ..launch.commands import base_environment, check_stdin, resolve
from ..launch.exchange import Execution, LaunchRequest, not_started
from ..launch.matching import Interrupts, last_output
from .options import (
    EVENTS,
    Comparing,
    WantedCommand,
    named_variants,
    output_of,
    refuse_beside_try,
    wanted_commands,
)

_SHORT_S = 0.02  # what takes less is tried once more: the first run in a launcher takes longer
NOTICED = 1.3  # times as long into a pipe: it notices /dev/null
_LOOK_S = 0.02  # between two looks at its threads
_SHOWN = 3  # last lines of what it said
_LEAST_S = 0.001  # the launcher counts a timeout in milliseconds
_MOST_CODE = 255
_CPUS = re.compile(r"auto|none|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")
_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
# What a shell would not take for an argument: outside quotes, or outside single quotes.
_OPERATOR = re.compile(r"((?:(?<=\s)|^)(?:\d?[<>|&;]+|[#~])|;+(?=\s|$)|[*?])")
_WORDS = r"[.!{]|\[\[|cd|exec|export|for|if|source|type|ulimit|while"
_EXPANDED = re.compile(rf"(\$[\w{{(]|`|^\s*(?:\(|(?:{_WORDS})(?=\s|$)))")
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

    Raises UsageError if it is empty, or a quote is left open.
    """
    try:
        if one.shell is not None:
            return [*words_of(one.shell), "-c", one.command]
        parts = words_of(one.command)
    except ValueError as error:
        what = f"the {'shell' if one.shell else 'command'} cannot be split: {error}"
        raise UsageError(what, one.shell or one.command, "close the quote") from error
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


def manner_of(options: Comparing, wanted: Sequence[WantedCommand], folder: Path) -> Manner:
    """Check the options about executing, and say how each command is executed in `folder`.

    Raises UsageError if an option is out of its bounds, or a text is not UTF-8; LaunchError if a
    program is not there, or the standard input is none.
    """
    _check_texts(options, wanted, folder)
    codes = tuple(options.exit or (0,))
    _check_bounds(options, codes)
    for path in filter(None, {one.stdin: None for one in wanted}):
        check_stdin(path)
    environment = base_environment(Isolation(), os.environ)
    for one in wanted:
        try:
            resolve(argv_of(one)[0], folder, environment)
        except LaunchError as error:
            sign = None if one.shell else shell_sign(one.command)
            raise LaunchError(error.what, one.command, sign or error.fix) from None
    return Manner(
        folder=folder,
        timeout_s=options.timeout,
        codes=tuple(range(_MOST_CODE + 1)) if options.ignore_failure else codes,
        output=output_of(options.output),
    )


def _check_texts(options: Comparing, wanted: Sequence[WantedCommand], folder: Path) -> None:
    """Refuse what cannot be written to the campaign, which is a UTF-8 text."""
    named = ("setup", "cleanup", "output", "counters")
    texts = [
        *((f"--{name}", getattr(options, name)) for name in named),
        *(("the argument", text) for one in wanted for text in (one.command, one.name)),
        *(("--prepare", one.prepare) for one in wanted),
        *(("--stdin", str(one.stdin.resolve())) for one in wanted if one.stdin is not None),
        ("the folder", str(folder)),
    ]
    for what, text in texts:
        try:
            (text or "").encode("utf-8")
        except UnicodeEncodeError:
            # Bytes that are none of UTF-8 come from the command line as lone surrogates.
            bad = re.compile("[\udc80-\udcff]")
            raise UsageError(
                f"{what} is not UTF-8 and cannot be written to a campaign",
                bad.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", text or ""),
                "write it in UTF-8: a name of a file or a folder, or a script that holds the command",
            ) from None


def _check_bounds(options: Comparing, codes: Sequence[int]) -> None:
    seconds = options.timeout
    if seconds is not None and not (math.isfinite(seconds) and _LEAST_S <= seconds <= MAX_SECONDS):
        what = (
            f"a timeout must be from {_LEAST_S:g} s to {MAX_SECONDS:,} s, not {_spelled(seconds)}"
        )
        raise UsageError(what, "--timeout", "give seconds such as 60 or 0.5")
    if options.cpus is not None and not _CPUS.fullmatch(options.cpus):
        what = f"'{options.cpus}' names no CPUs"
        raise UsageError(what, "--cpus", "write auto, none, or a list such as 2,3")
    numbers = [("a seed", "--seed", options.seed, MAX_SEED)]
    numbers += [("an exit code", "--exit", code, _MOST_CODE) for code in codes]
    for what, option, number, most in numbers:
        if not 0 <= number <= most:
            raise UsageError(f"{what} is a whole number from 0 to {most}, not {number}", option)


def _spelled(seconds: float) -> str:
    """Write a number of seconds as a campaign has it, unrounded."""
    return repr(float(seconds)).removesuffix(".0")


# --- The campaign.


def campaign_of(
    options: Comparing, wanted: Sequence[WantedCommand], manner: Manner, place: Path, *, runs: int
) -> Campaign:
    """Make a campaign of one benchmark whose variants are the commands; the first is the baseline.

    `runs` are those of each command in a session.
    """
    path = place / "campaign.yaml"
    path.write_text("\n".join(_yaml(options, wanted, manner, runs)) + "\n", encoding="utf-8")
    try:
        campaign = load_campaign(path)
    except CampaignError as error:  # the file is ours: what it is about is what was typed
        raise UsageError(error.what, "fairtrial compare", error.fix) from None
    typed = {one.variant: one.command for one in wanted}
    cells = tuple(
        dataclasses.replace(
            cell, command=dataclasses.replace(cell.command, mark=shlex.quote(typed[cell.variant]))
        )
        for cell in campaign.cells
    )
    setup, cleanup = (
        tuple(dataclasses.replace(one, mark=f"--{name}") for one in hooks)
        for name, hooks in (("setup", campaign.hooks.setup), ("cleanup", campaign.hooks.cleanup))
    )
    hooks = dataclasses.replace(campaign.hooks, setup=setup, cleanup=cleanup)
    return dataclasses.replace(campaign, cells=cells, hooks=hooks)


def again_words(options: Comparing, wanted: Sequence[WantedCommand]) -> tuple[str, ...]:
    """Give the words behind ``fairtrial compare`` that measure the same commands in the same way."""
    words: list[str] = []
    if any(one.shell for one in wanted):
        words += [f"--shell={shell}" for shell in _once([one.shell or "none" for one in wanted])]
    words += [] if options.output is None else [f"--output={options.output}"]
    words += ["-i"] if options.ignore_failure else []
    words += [part for code in options.exit or () for part in ("--exit", str(code))]
    for name in ("prepare", "stdin", "setup", "cleanup", "timeout", "cpus"):
        each = wanted if name in ("prepare", "stdin") else (options,)
        for value in _once([getattr(one, name) for one in each]):
            words += [] if value is None else _option(f"--{name}", str(value))
    if options.counters is not None:
        words += [f"--counters={options.counters}" if options.counters else "--counters"]
    if all(one.name is not None for one in wanted):
        words += [part for one in wanted for part in _option("-n", one.name or "")]
    words += ["--"] if any(one.command.startswith("-") for one in wanted) else []
    return (*words, *(one.command for one in wanted))


def _option(name: str, value: str) -> list[str]:
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def _once(given: list[Any]) -> list[Any]:
    return given[:1] if len(set(given)) == 1 else given


def _quoted(text: str) -> str:
    """Write a text as YAML: JSON strings are, and a brace that is none of ours is doubled."""
    return json.dumps(text.replace("{", "{{").replace("}", "}}"), ensure_ascii=False)


def _yaml(
    options: Comparing, wanted: Sequence[WantedCommand], manner: Manner, runs: int
) -> Iterator[str]:
    folder = manner.folder
    prepared = _once([one.prepare for one in wanted])
    inputs = _once([one.stdin for one in wanted])
    yield "name: compare"
    words = ("fairtrial", "compare", *again_words(options, wanted))
    yield f"description: {json.dumps(shlex.join(words), ensure_ascii=False)}"
    yield f"seed: {options.seed}"
    yield "variants:"
    for one in wanted:
        argv = ", ".join(_quoted(part) for part in argv_of(one))
        values = f", stdin: {_stdin(one.stdin)}" if len(inputs) > 1 and one.stdin else ""
        if len(prepared) > 1:
            values += f", prepare: {json.dumps(one.prepare, ensure_ascii=False)}"
        yield f"  {json.dumps(one.variant)}: {{command: [{argv}]{values}}}"
    yield f"baseline: {json.dumps(wanted[0].variant)}"
    yield "benchmarks:"
    codes = ", ".join(map(str, manner.codes))
    stdin = f", stdin: {_stdin(inputs[0])}" if len(inputs) == 1 and inputs[0] else ""
    output = json.dumps(manner.output or "discard", ensure_ascii=False)
    yield (
        f"  command: {{cwd: {_quoted(str(folder))}, stdout: {output}, expect: {{exit: [{codes}]}}{stdin}}}"
    )
    yield "protocol:"
    yield f"  runs: {runs}"
    yield f"  order: {'drawn-start' if len(wanted) == 2 else 'shuffled'}"
    yield f"  warmup: {options.warmup or 0}"
    if options.warmup:
        yield "  warmup_sessions: first"
    if options.timeout is not None:
        yield f"  timeout: {_spelled(options.timeout)}"
    yield from _hooks(options, folder, prepared, set(wanted[0].parameters))
    if options.cpus is not None:
        yield "isolation:"
        yield f"  cpus: {options.cpus}"
    if options.counters is not None:
        events = options.counters or ",".join(EVENTS)
        yield f"counters: [{', '.join(json.dumps(one.strip()) for one in events.split(','))}]"


def _stdin(path: Path) -> str:
    return _quoted(str(path.resolve()))


def _hooks(
    options: Comparing, folder: Path, prepared: Sequence[str | None], named: set[str]
) -> Iterator[str]:
    """Write what is executed around runs and sessions, each in the folder of the commands."""
    known = {"before": prepared[0], "setup": options.setup, "cleanup": options.cleanup}
    if any(text is not None for text in known.values()):
        yield "hooks:"
    for hook, text in known.items():
        if text is None:
            continue
        places = named & set(_PLACE.findall(text))
        if hook != "before" and places:
            what = f"--{hook} has the parameter {{{min(places)}}}, but is executed for all commands"
            fix = "use --prepare, which is executed before each run"
            raise UsageError(what, f"--{hook}", fix)
        begins = f"cd {shlex.quote(str(folder))} || exit\n"
        each = hook == "before" and len(prepared) > 1
        line = _quoted(begins)[:-1] + '{prepare}"' if each else _quoted(begins + text)
        yield f"  {hook}: [{{shell: {line}}}]"


# --- What is said, and tried, before anything is measured.


def shell_notes(wanted: Sequence[WantedCommand]) -> Iterator[str]:
    """Say of each command what in it only a shell would understand, where there is none."""
    for one in wanted:
        sign = None if one.shell else shell_sign(one.command)
        if sign:
            yield f"in {one.command!r}, {sign}"


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

    Raises LaunchError if one fails: with the last lines that it wrote to its standard error.
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
    command = one.command if measured else one.prepare or ""
    if execution.killed == "output-limit":
        what = f"{command!r} wrote more than {Isolation().output_limit_bytes} bytes to its standard error; nothing measured"
        return LaunchError(what, None, "let it write less: 2>/dev/null with --shell")
    if execution.killed and manner.timeout_s is not None:
        what = f"{command!r} was ended after {_spelled(manner.timeout_s)} s; nothing measured"
        return LaunchError(what, None, "give it more with --timeout")
    code, signal = execution.exit_code, execution.signal
    ending = f"exit code {code}" if signal is None else f"signal {signal}"
    found = last_output(output).strip().splitlines()[-_SHOWN:]
    text = "".join(f"\n    {line}" for line in found)
    sign = None if one.shell or not measured else shell_sign(command)
    fix = f"{sign}; or correct it" if sign else "correct it"
    if code is not None and measured:
        fix += f", or count such runs: -i (or only this code: --exit {code})"
    shown = f"'{command}'" if "'" not in command else repr(command)
    what = f"{shown} ends with {ending}; nothing measured{text}"
    return LaunchError(what, None if measured else "--prepare", fix)


def unread_input(stream: TextIO | None) -> bool:
    """Tell whether something was piped to this process."""
    try:
        return stream is not None and not stream.isatty() and waiting(stream.fileno()) > 0
    except (OSError, ValueError):  # it is closed, or nothing that can be read
        return False


# --- Executing a command once where its output is seen, to find out whether it does what one means.


def attempt(args: Comparing, err: TextIO) -> int:
    """Execute ``--try COMMAND`` with the environment and the input of measured runs; give 0, or 1 if it failed.

    Raises LaunchError if its program is not there.
    """
    refuse_beside_try(args)
    (one,) = wanted_commands(Comparing(**vars(args) | {"commands": [args.attempt]}))
    argv = argv_of(one)
    environment = base_environment(Isolation(), os.environ)
    program = resolve(argv[0], Path.cwd(), environment)
    source = one.stdin or os.devnull
    began = time.monotonic()
    with Path(source).open("rb") as stdin:
        try:
            done = subprocess.run(
                argv, executable=str(program), env=environment, stdin=stdin, check=False
            )
        except OSError as error:
            request = LaunchRequest(path=str(program), argv=tuple(argv), env={}, cwd=Path.cwd())
            raise not_started(request, "spawn", error.errno or 0) from None
    took = time.monotonic() - began
    ending = (
        f"exit code {done.returncode}" if done.returncode >= 0 else f"signal {-done.returncode}"
    )
    err.write(f"{ending} after {duration(took)}\n")
    codes = args.exit or (0,)
    return 0 if args.ignore_failure or done.returncode in codes else 1


# --- The commands of a comparison that is stored: its campaign's description is the command
# line that measured it.


def stored_commands(trial: Path) -> tuple[WantedCommand, ...]:
    """Give the commands of a comparison's trial as they were typed.

    A trial whose description was changed gives its arguments, set as a shell would read them.
    """
    manifest = read_manifest(trial)
    campaign = load_campaign(trial / CAMPAIGN, seed=manifest.seed)
    typed = _typed(campaign.description, len(manifest.variants))
    if tuple(one.variant for one in typed) == manifest.variants:
        return typed
    found = {cell.variant: shlex.join(cell.command.argv) for cell in campaign.cells}
    if lacking := [name for name in manifest.variants if name not in found]:
        what = f"its manifest names commands that its campaign has not: {', '.join(map(format, lacking))}"
        raise StoreError(what, str(trial), RESTORE)
    return tuple(WantedCommand(command=found[name], variant=name) for name in manifest.variants)


def _typed(description: str, count: int) -> tuple[WantedCommand, ...]:
    """Take the commands and names from the end of a command line; none where it is none of ours."""
    try:
        words = shlex.split(description)
    except ValueError:
        words = []
    if words[:2] != ["fairtrial", "compare"] or len(words) < 2 + count:
        return ()
    names = [
        word[3:] or words[k + 1]
        for k, word in enumerate(words[:-count])
        if word == "-n" or word.startswith("-n=")
    ]
    given = names if len(names) == count else [None] * count
    commands = words[-count:]
    return named_variants(
        [
            WantedCommand(command=command, name=name)
            for command, name in zip(commands, given, strict=True)
        ]
    )
