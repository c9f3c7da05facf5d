"""The subcommand ``compare``: measure until the answer is certain, and say it in one sentence."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

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
from .options import (
    RUNS,
    WantedCommand,
    add_command,
    add_options,
    named_variants,
    remarks,
    wanted_commands,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analysis.record.printer import Printer

    from ..trial.sitting import SittingEnding
    from .compare_campaign import CompareView
    from .options import Subparsers

_CPUS_KEY = "isolation.cpus"
_INTERRUPTED = 130
CAP_S = 20.0  # of measuring, for two commands
_MILLI_S, _WHOLE_S = 0.0095, 9.5  # below it a time is in milliseconds; above it without decimals


def add(subparsers: Subparsers) -> None:
    """Add ``compare``."""
    parser = add_command(
        subparsers,
        "compare",
        description="Measure commands in turns until it is certain which is faster, and say so. "
        "The first one is the baseline.\nNo shell reads them, unless --shell is given.",
        examples="""
'gzip -6 -k -c data' 'gzip -1 -k -c data'
--shell 'sort f | uniq' 'sort -u f'
-n C -n UTF-8 'env LC_ALL=C sort f' 'env LC_ALL=C.UTF-8 sort f'
-L level 1,6,9 'gzip -{level} -k -c data'
--resume --for 90s
""",
    )
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="a program with arguments")
    add_options(parser)
    parser.set_defaults(run=_compare)


def _compare(args: argparse.Namespace, out: Printer, err: TextIO) -> int:
    from analysis.errors import UsageError

    if args.attempt is not None:
        return _attempt(args, err)
    if args.resume is not None:
        if len(args.commands) > (not args.resume):  # one word is the trial: --resume TRIAL
            what = "--resume goes on with the commands of its trial, so there is none to name"
            raise UsageError(what, args.commands[0], "leave the commands out, or --resume")
        args.resume = args.resume or "".join(args.commands)
        return _resume(args, out, err)
    if not args.commands:
        what = "there is no command to measure"
        raise UsageError(what, "fairtrial compare", "fairtrial compare 'sort a' './sort a'")
    return _measure(args, out, err)


def _measure(args: argparse.Namespace, out: Printer, err: TextIO) -> int:
    from .options import wanted_commands

    wanted = wanted_commands(args)
    if not args.quiet:  # before anything that takes time to import
        for remark in remarks(args):
            err.write(f"{remark}\n")
        err.write(f"{_first_line(args, len(wanted))}\n")
        err.flush()
    import tempfile

    from ..trial.execution import Options
    from ..trial.sitting import measure, plan_sitting
    from .compare_campaign import CompareView, again_words, campaign_of, manner_of, shell_notes

    view = CompareView(err, quiet=args.quiet, verbose=args.verbose)
    manner = manner_of(args, wanted, Path.cwd())
    for note in shell_notes(wanted):
        view.say(note)
    tried = try_commands(wanted, manner)
    noticed = output_note(wanted, tried)
    if noticed is not None:
        args.output, manner = "pipe", dataclasses.replace(manner, output="pipe")
        view.say(noticed)
    if args.stdin is None and unread_input(sys.stdin):
        view.say("no command reads standard input: write it to a file, and name that with --stdin")
    seconds = [one.seconds if noticed is None else one.piped for one in tried]
    sitting = plan_sitting(
        seconds,
        runs=args.runs,
        sessions=args.sessions,
        least_runs=args.min_runs,
        most_runs=args.max_runs,
        for_s=args.for_s,
        open_list=args.open,
        margin=0.01 if args.margin is None else args.margin,
        threads={
            one.variant: found.threads
            for one, found in zip(wanted, tried, strict=True)
            if found.threads > 1
        },
    )
    for note in sitting.noted:
        view.say(note)
    shells = sorted({one.shell or "" for one in wanted})
    least_s = sum(seconds) * sitting.runs * sitting.least_sessions
    view.of(wanted, _tried(seconds, shells, least_s, sitting.cap_s), sitting.cap_s)
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as place:
        campaign = campaign_of(args, wanted, manner, Path(place), runs=sitting.runs)
        options = Options(
            folder=args.dir, passing=True, share=args.share, wait_s=args.wait_for_lock
        )
        with _by_option_names():
            ended = measure(campaign, sitting, options, view)
    again = again_words(args, wanted)
    return _answer(args, ended, wanted, again, view=view, out=out, err=err)


def _resume(args: argparse.Namespace, out: Printer, err: TextIO) -> int:
    from analysis.errors import UsageError

    named = Path(args.resume) if args.resume else None
    for option in ("runs", "sessions", "margin", "open", "warmup"):
        if getattr(args, option):
            raise UsageError(
                f"--{option} is chosen when a comparison begins",
                "--resume",
                f"leave it out, or measure anew with --{option}",
            )
    if not args.quiet:
        which = "the newest comparison" if named is None else str(named)
        cap = "" if args.for_s is None else f", at most about {_time(args.for_s)} more"
        err.write(f"going on with {which}{cap} (Ctrl-C keeps what is there)\n")
        err.flush()
    from analysis.record.manifest import read_manifest

    from ..trial.execution import Options
    from ..trial.sitting import comparison_to_resume, resume_sitting
    from .compare_campaign import CompareView

    trial = comparison_to_resume(args.dir, named)
    wanted, again = stored_commands(trial)
    earlier = read_manifest(trial).sessions
    view = CompareView(err, quiet=args.quiet, verbose=args.verbose)
    cap_s = args.for_s or CAP_S * len(wanted) / 2
    view.of(wanted, "", cap_s)
    options = Options(folder=args.dir, share=args.share, wait_s=args.wait_for_lock)
    with _by_option_names():
        ended = resume_sitting(
            trial,
            options,
            view,
            for_s=args.for_s,
            least_runs=args.min_runs,
            most_runs=args.max_runs,
        )
    return _answer(args, ended, wanted, again, view=view, out=out, err=err, earlier=earlier)


def _answer(
    args: argparse.Namespace,
    ended: SittingEnding,
    wanted: Sequence[WantedCommand],
    again: tuple[str, ...],
    *,
    view: CompareView,
    out: Printer,
    err: TextIO,
    earlier: int = 0,
) -> int:
    """Judge what was measured and say it; give the exit code."""
    from analysis.commands.compared import answered, write_answer, write_files
    from analysis.errors import FairtrialError, InsufficientDataError

    ending = ended.ending
    code = _INTERRUPTED if ending.status == "interrupted" else 1 if ending.failed else 0
    default = args.dir == RUNS and not args.resume
    asked = {"json": args.export_json, "csv": args.export_csv, "markdown": args.export_markdown}
    try:
        answer = answered(
            ending.trial,
            wanted,
            ended.look,
            measured_s=ended.measured_s,
            earlier=earlier,
            exit_codes=view.exit_codes,
            counters=args.counters is not None,
            again=again,
            folder="" if default else str(args.dir),
            units=args.time_unit,
        )
        with contextlib.suppress(BrokenPipeError):  # the exit code is still to be told
            write_answer(
                answer,
                out,
                as_json=args.json,
                short=args.quiet,
                width=_columns(),
                colours=_colours(out),
            )
        write_files(answer, {kind: path for kind, path in asked.items() if path is not None})
    except InsufficientDataError:
        if code != _INTERRUPTED:
            raise
        here = f"{ending.done} run{'s' * (ending.done != 1)}"
        err.write(f"stopped by you after {here}, before anything could be said; all are kept\n")
        err.write("next  fairtrial compare --resume    goes on\n")
    except FairtrialError as error:
        if error.exit_code > code:
            raise
        err.write(
            f"fairtrial: {error}\n"
        )  # that runs failed, or that it was interrupted, says more
    return code


def _attempt(args: argparse.Namespace, err: TextIO) -> int:
    """Execute a command once, with what it prints; say how it ended."""
    return attempt(args, err)


@contextlib.contextmanager
def _by_option_names() -> Iterator[None]:
    """Let errors of the host speak of ``--cpus``, which was typed, and of no key of a campaign."""
    from ..errors import HostError

    try:
        yield
    except HostError as error:
        if error.where != _CPUS_KEY:
            raise
        fix = (
            (error.fix or "")
            .replace(f"under {_CPUS_KEY}", "by --cpus")
            .replace(_CPUS_KEY, "--cpus")
        )
        raise HostError(error.what, "--cpus", fix) from None


def _first_line(args: argparse.Namespace, count: int) -> str:
    what = f"comparing {count} commands" if count > 1 else "measuring 1 command"
    if args.runs is not None:
        each = " each" if count > 1 else ""
        much = f"{args.runs} run{'s' * (args.runs != 1)}{each}"
        much += " a session" if args.sessions is not None else ""
    elif args.sessions is not None:
        much = f"{args.sessions} session{'s' * (args.sessions != 1)}"
    else:
        much = f"at most about {_time(args.for_s or CAP_S * count / 2)}"
    return f"{what}, {much} (Ctrl-C keeps what is there)"


def _tried(seconds: Sequence[float], shells: Sequence[str], least_s: float, cap_s: float) -> str:
    """Say what the tries told; ``CPU`` is filled in once it is known."""
    if len(seconds) == 1:
        took = f"takes about {_short(seconds[0])}"
    elif len(seconds) == 2:
        took = f"each takes about {_short(seconds[0])} and {_short(seconds[1])}"
    else:
        took = f"each takes about {_short(min(seconds))} to {_short(max(seconds))}"
    parts = [took, "CPU", " and ".join(f"by {one} -c" if one else "no shell" for one in shells)]
    if least_s > cap_s:
        parts.append(f"at least {_time(least_s)}")
    return " · ".join(parts)


def _short(seconds: float) -> str:
    if seconds < _MILLI_S:
        return f"{1000 * seconds:.2g} ms"
    return f"{seconds:.2g} s" if seconds < _WHOLE_S else f"{seconds:.0f} s"


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _columns() -> int:
    """Give the columns of the screen: COLUMNS if it is set, else 80 at the most."""
    import shutil

    told = os.environ.get("COLUMNS", "")
    columns = shutil.get_terminal_size((80, 24)).columns
    return columns if told.isdecimal() and int(told) else min(80, columns)


def _colours(out: Any) -> bool:  # noqa: ANN401 - a Printer, or what a test hands over
    """Tell whether the answer may be coloured: by a terminal that nobody asked to be plain."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return bool(out.isatty()) and not plain


# --- The one try of each command before anything is measured: whether it works, and how long it takes.


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


def attempt(args: argparse.Namespace, err: TextIO) -> int:
    """Execute ``--try COMMAND`` with the environment and the input of measured runs; give 0, or 1 if it failed.

    Raises
    ------
    LaunchError
        If its program is not there.
    """
    (one,) = wanted_commands(argparse.Namespace(**vars(args) | {"commands": [args.attempt]}))
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
