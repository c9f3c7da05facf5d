"""The one command line: with its commands the only place that writes to a stream, or exits.

Start-up matters to people and scripts: nothing but argparse is imported before a command runs.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib.machinery
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from analysis.record.printer import Printer

_EPILOG = """\
first steps:
  fairtrial compare 'gzip -6 -k -c data' 'gzip -1 -k -c data'    measure two commands now
  fairtrial init campaign.yaml                                   write a campaign to start from
  fairtrial run campaign.yaml                                    execute it
  fairtrial verdict runs/NAME                                    what the evidence supports

exit codes: 0 done; 1 done, but runs failed, a cap left cells unmeasured, a gate said no or an artifact
differs; 2 usage or campaign; 3 host; 4 launch or build; 5 trial directory or artifact; 6 analysis; 7 a gate
or a rerun could not be decided; 70 a bug; 130 interrupted, everything kept.
"""


# the subcommands of the runner, in the order of the help: what adds each one, and its line there
RUNNER = {
    "init": ("harness.commands.first_steps:add_init", "write a commented campaign to start from"),
    "doctor": (
        "harness.commands.first_steps:add_doctor",
        "check this host, and say how to mend it",
    ),
    "tune": ("harness.commands.tune:add", "change what the doctor named, and put it back"),
    "run": ("harness.commands.run:add", "execute a campaign"),
    "compare": ("harness.commands.compare:add", "measure commands now; the first is the baseline"),
    "status": (
        "harness.commands.submit:add_status",
        "how far a trial or a fleet is, from any terminal",
    ),
    "submit": (
        "harness.commands.submit:add_submit",
        "execute a campaign on many hosts, through Slurm",
    ),
    "cancel": ("harness.commands.submit:add_cancel", "end the jobs of a fleet"),
    "reproduce": (
        "harness.commands.reproduce:add",
        "check an artifact and compute its numbers anew, or measure it again",
    ),
}


def console() -> None:
    """Be the installed command ``fairtrial``."""
    for number, mode in enumerate(("r", "w", "w")):  # started with one of the three closed
        if getattr(sys, ("stdin", "stdout", "stderr")[number]) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115, PTH123 - for good
            setattr(sys, ("stdin", "stdout", "stderr")[number], stream)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # a terminal that knows no '·' is no reason to stop
            stream.reconfigure(errors="backslashreplace")
    try:
        code = main(sys.argv[1:], sys.stdout, sys.stderr)
    except KeyboardInterrupt:  # so early that there was nothing to stop
        code = 130
    except (OSError, ImportError) as error:
        if not _no_more_files(error):
            raise
        sys.stderr.write(
            f"fairtrial: no more files can be opened: {error}\n"
            "  fix: raise the limit (ulimit -n 1024), or close what holds so many; a trial that was begun "
            "goes on with --resume\n"
        )
        code = 3
    sys.exit(code)


def _no_more_files(error: BaseException) -> bool:
    """Tell whether nothing more can be opened: then no module can be loaded either, to say it in."""
    codes = (errno.EMFILE, errno.ENFILE)
    told = tuple(map(os.strerror, codes))  # a library of a module is not opened by Python itself
    return getattr(error, "errno", None) in codes or (
        isinstance(error, ImportError) and any(one in str(error) for one in told)
    )


def main(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Execute one command line; give its exit code."""
    intruder = _other_analysis()
    if intruder is not None:
        err.write(
            f"fairtrial: another package named 'analysis' is found first: {intruder}\n"
            "  fix: use the 'fairtrial' command, or 'python -P -m harness', from another folder\n"
        )
        return 2
    from analysis.record.printer import Printer

    return _execute(argv, Printer(out, must=True), Printer(err))


def _execute(argv: Sequence[str], out: Printer, err: Printer) -> int:
    from analysis.errors import FairtrialError
    from analysis.record.announcing import announced

    code: int = 0
    try:
        parser = _parser(argv[0] if argv else "")
        if not argv:  # a first look: what there is helps more than what is missing
            err.write(parser.format_help())
            return 2
        args = parser.parse_args(argv)
        with announced(err, argv[0], quiet=getattr(args, "quiet", False)):
            code = args.run(args, out, err)
        out.flush()
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else 2
    except FairtrialError as error:
        err.write(f"fairtrial: {error}\n" if error.exit_code != 2 else f"{error}\n")
        for finding in getattr(error, "findings", ())[1:]:
            err.write(f"  {finding.status} {finding.check}: {finding.what}\n")
            if finding.fix:
                err.write(f"       fix: {finding.fix}\n")
        err.flush()
        _let_go(out)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has gone: nothing is left to say
        _let_go(out)
        return code
    except Exception as error:
        if _no_more_files(error):
            raise
        import traceback

        from .launch.interrupts import Interrupted

        if isinstance(error, Interrupted):  # before there was a trial to close
            return 130
        err.write(traceback.format_exc())
        err.write("fairtrial: this is a bug in fairtrial; please report the lines above\n")
        return 70
    return code


def _let_go(out: Printer) -> None:
    """Make room for what could not be written: Python would fail over it once more at its end."""
    try:
        out.beneath.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def _other_analysis() -> str | None:
    """Find a foreign package that took the name of our second half."""
    spec = importlib.machinery.PathFinder.find_spec("analysis")
    origin = spec.origin if spec else None
    if origin is None or Path(origin).parent.parent == Path(__file__).parent.parent:
        return None
    return origin


def _parser(wanted: str) -> argparse.ArgumentParser:
    from analysis.registry import COMMANDS, function
    from analysis.version import VERSION

    parser = argparse.ArgumentParser(
        prog="fairtrial",
        description="Measure programs repeatedly and independently, and claim only the speedups "
        "that the evidence supports.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"fairtrial {VERSION}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    commands = {**RUNNER, **COMMANDS}
    if wanted in commands:
        function(commands[wanted][0])(subparsers)
    else:
        for name, (_, summary) in commands.items():
            subparsers.add_parser(name, help=summary)
    return parser
