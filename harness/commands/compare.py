"""The subcommand ``compare``: measure until the answer is certain, and say it in one sentence."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from analysis.errors import UsageError
from analysis.options import command
from analysis.record.printer import check_files

from ..errors import HostError, LaunchError, about_exactly, counted
from .options import ELSEWHERE, Comparing, WantedCommand, begun_with, remarks, wanted_commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analysis.record.printer import Printer

    from ..trial.sitting import SittingEnding
    from .live_view import CompareView

_CPUS_KEY = "isolation.cpus"
_INTERRUPTED = 130
CAP_S = 20.0  # of measuring, for two commands
_SECOND_S, _WHOLE_S = 0.995, 9.5  # below it a time is in milliseconds; above it without decimals


@command("compare", elsewhere=ELSEWHERE)
def compare(*, args: Comparing, out: Printer, err: TextIO) -> int:
    """Measure commands in turns until it is certain which is faster, and say so.

    The first one is the baseline. No shell reads them, unless --shell is given.

    Examples
    --------
    'gzip -6 -k -c data' 'gzip -1 -k -c data'
    --shell 'sort f | uniq' 'sort -u f'
    -n C -n UTF-8 'env LC_ALL=C sort f' 'env LC_ALL=C.UTF-8 sort f'
    -L level 1,6,9 'gzip -{level} -k -c data'
    --resume --for 90s
    """
    check_files(args.export_json, args.export_csv, args.export_markdown)
    if args.attempt is not None:
        from .comparing import attempt

        return attempt(args, err)
    err.writelines(f"{remark}\n" for remark in (remarks(args) if not args.quiet else ()))
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


def _measure(args: Comparing, out: Printer, err: TextIO) -> int:
    wanted = wanted_commands(args)
    if not args.quiet:  # before anything that takes time to import
        err.write(f"{_first_line(args, len(wanted))}\n")
        err.flush()
    import tempfile

    from ..trial.execution import Options
    from ..trial.sitting import measure, plan_sitting
    from .comparing import (
        campaign_of,
        manner_of,
        output_note,
        shell_notes,
        try_commands,
        unread_input,
    )
    from .live_view import CompareView

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
    threads = {one.variant: found.threads for one, found in zip(wanted, tried, strict=True)}
    sitting = plan_sitting(
        seconds,
        runs=args.runs,
        sessions=args.sessions,
        least_runs=args.min_runs,
        most_runs=args.max_runs,
        for_s=args.for_s,
        open_list=args.open,
        margin=0.01 if args.margin is None else args.margin,
        threads={variant: count for variant, count in threads.items() if count > 1},
    )
    for note in sitting.noted:
        view.say(note)
    least_s = sum(seconds) * sitting.runs * sitting.least_sessions
    view.of(wanted, _tried(seconds, wanted, least_s, sitting.cap_s), sitting.cap_s)
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as place:
        campaign = campaign_of(args, wanted, manner, Path(place), runs=sitting.runs)
        options = Options(
            folder=args.dir, passing=True, share=args.share, wait_s=args.wait_for_lock
        )
        with _by_option_names():
            ended = measure(campaign, sitting, options, view)
    return _answer(args, ended, wanted, view=view, out=out, err=err)


def _resume(args: Comparing, out: Printer, err: TextIO) -> int:
    for option in begun_with(args):
        what = f"{option} is chosen when a comparison begins"
        fix = f"leave it out, or measure anew with {option}"
        raise UsageError(what, "--resume", fix)
    if not args.quiet:
        which = args.resume or "the newest comparison"
        cap = "" if args.for_s is None else f", at most {about_exactly(args.for_s)} more"
        err.write(f"going on with {which}{cap} (Ctrl-C keeps what is there)\n")
        err.flush()
    from analysis.record.manifest import read_manifest

    from ..trial.execution import Options
    from ..trial.sitting import comparison_to_resume, resume_sitting
    from .comparing import stored_commands
    from .live_view import CompareView

    trial = comparison_to_resume(args.dir, Path(args.resume) if args.resume else None)
    wanted = stored_commands(trial)
    earlier = read_manifest(trial).sessions
    view = CompareView(err, quiet=args.quiet, verbose=args.verbose)
    view.of(wanted, "", args.for_s or CAP_S * len(wanted) / 2)
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
    return _answer(args, ended, wanted, view=view, out=out, err=err, earlier=earlier)


def _answer(
    args: Comparing,
    ended: SittingEnding,
    wanted: Sequence[WantedCommand],
    *,
    view: CompareView,
    out: Printer,
    err: TextIO,
    earlier: int = 0,
) -> int:
    """Judge what was measured and say it; give the exit code. `earlier`: Sessions of the sittings before."""
    from analysis.commands.compared import answered, write_answer, write_exports
    from analysis.errors import FairtrialError, InsufficientDataError
    from analysis.words import next_lines

    ending = ended.ending
    code = _INTERRUPTED if ending.status == "interrupted" else 1 if ending.failed else 0
    try:
        answer = answered(
            ending.trial,
            wanted,
            ended.look,
            measured_s=ended.measured_s,
            earlier=earlier,
            exit_codes=view.exit_codes,
            counters=args.counters is not None,
            units=args.time_unit,
        )
        with contextlib.suppress(BrokenPipeError):  # the exit code is still to come
            write_answer(answer, out, as_json=args.json, short=args.quiet, width=_columns())
        asked = {"json": args.export_json, "csv": args.export_csv, "markdown": args.export_markdown}
        write_exports(answer, {kind: path for kind, path in asked.items() if path is not None}, out)
    except InsufficientDataError:
        if code != _INTERRUPTED:
            raise
        here = counted(ending.done, "run")
        err.write(f"stopped by you after {here}, before anything could be said; all are kept\n")
        words = ("fairtrial", "compare", "--resume", str(ending.trial))
        err.write("\n".join(next_lines(words, "goes on")) + "\n")
    except FairtrialError as error:
        if error.exit_code > code:
            raise
        err.write(f"fairtrial: {error}\n")  # failed runs, or an interrupt, say more
    return code


@contextlib.contextmanager
def _by_option_names() -> Iterator[None]:
    """Let errors speak of what was typed, and of no key of a campaign."""
    try:
        yield
    except LaunchError as error:
        error.fix = re.sub(r"; if it needs .*", "", error.fix or "") or None
        raise
    except HostError as error:
        where = error.where or ""
        if not where.startswith(_CPUS_KEY):
            raise
        fix = (
            (error.fix or "")
            .replace(f"under {_CPUS_KEY}", "with --cpus")
            .replace(_CPUS_KEY, "--cpus")
        )
        raise HostError(error.what, where.replace(_CPUS_KEY, "--cpus", 1), fix) from None


def _first_line(args: Comparing, count: int) -> str:
    what = f"comparing {count} commands" if count > 1 else "measuring 1 command"
    much = f"at most {about_exactly(args.for_s or CAP_S * count / 2)}"
    if args.runs is not None:
        much = f"{counted(args.runs, 'run')}{' each' * (count > 1)}"
        much += " a session" * (args.sessions is not None)
    elif args.sessions is not None:
        much = counted(args.sessions, "session")
    return f"{what}, {much} (Ctrl-C keeps what is there)"


def _tried(
    seconds: Sequence[float], wanted: Sequence[WantedCommand], least_s: float, cap_s: float
) -> str:
    """Say what the tries showed; ``CPU`` is filled in once it is known."""
    took = " to ".join(dict.fromkeys((_short(min(seconds)), _short(max(seconds)))))
    shells = sorted({f"by {one.shell} -c" if one.shell else "no shell" for one in wanted})
    parts = [f"takes about {took}", "CPU", " and ".join(shells)]
    if least_s > cap_s:
        parts.append(about_exactly(least_s).replace("about", "at least"))
    return " · ".join(parts)


def _short(seconds: float) -> str:
    if seconds < _SECOND_S:
        return f"{float(f'{1000 * seconds:.2g}'):g} ms"
    return f"{seconds:.2g} s" if seconds < _WHOLE_S else f"{seconds:.0f} s"


def _columns() -> int:
    """Give the columns of the screen: COLUMNS if it is set, else 80 at the most."""
    import shutil

    found = os.environ.get("COLUMNS", "")
    columns = shutil.get_terminal_size((80, 24)).columns
    return columns if found.isdecimal() and int(found) else min(80, columns)
