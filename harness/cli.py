"""The one command line: with its commands the only place that writes to a stream, or exits.

Start-up matters to people and scripts: nothing but argparse is imported before a command runs.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import importlib.machinery
import io
import os
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

if TYPE_CHECKING:
    from argparse import Namespace
    from types import FrameType

    from analysis.errors import FairtrialError
    from analysis.record.printer import Printer


# what a command of the judge says to be under way until it says more
_BEGINNINGS = {
    **dict.fromkeys(("verdict", "gate", "hpt", "speedup-test", "report"), "reading and judging"),
    **dict.fromkeys(("diff", "merge", "export", "import", "plot"), "reading"),
    **dict.fromkeys(("diagnose", "sources"), "reading and looking"),
    **dict.fromkeys(("resample", "mixture", "study"), "reading"),
    "plan": "planning",
    "calibrate": "calibrating",
    "bundle": "packing",
    "reproduce": "checking",
}


def console() -> None:
    """Be the installed command ``fairtrial``."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # started with one of the three closed
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # one that knows no '·' is no reason to stop
            stream.reconfigure(errors="backslashreplace")
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        sys.dont_write_bytecode = True  # Python would keep what the limit leaves of a module
    # ignored by whoever started us, a git or a build that fails would count as one that succeeds
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # whoever ignored it (nohup) meant it
            signal.signal(number, _stop)
            # Python's own end comes later: what has an exit code keeps it
            atexit.register(signal.signal, number, signal.SIG_IGN)
    try:
        code = main(sys.argv[1:], sys.stdout, sys.stderr)
    except KeyboardInterrupt:  # so early that there was nothing to stop
        code = 130
    except (OSError, ImportError, MemoryError) as error:
        lack = _lack_of(error)
        if lack is None:
            raise
        sys.stderr.write(f"fairtrial: {lack}; a trial under way goes on with --resume\n")
        code = 3
    sys.exit(code)


class _Stopped(KeyboardInterrupt):
    """A signal asked to stop; after the plain one Python may end itself by SIGINT, although it was caught."""


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _Stopped


def _lack_of(error: BaseException) -> str | None:
    """Say what was lacking, and the remedy: no module can be loaded any more, to say it in."""
    number, text = getattr(error, "errno", None), str(error)
    loading = text if isinstance(error, ImportError) else ""  # a module's library: not by Python

    def lacks(*numbers: int) -> bool:
        return number in numbers or any(os.strerror(one) in loading for one in numbers)

    if lacks(errno.EMFILE, errno.ENFILE):
        fix = "raise the limit (ulimit -n 1024), or close other open files"
        return f"no more files can be opened: {error}\n  fix: {fix}"
    if isinstance(error, MemoryError) or lacks(errno.ENOMEM) or "to map segment" in loading:
        fix = "raise the limit (ulimit -v unlimited), or end what else takes memory"
        return f"there is no more memory\n  fix: {fix}"
    if lacks(errno.ENOSPC, errno.EDQUOT) or "usable temporary directory" in text:
        fix = "free some space, or set TMPDIR to a folder that can be written"
        return f"a temporary file cannot be written: {error}\n  fix: {fix}"
    os.umask(mask := os.umask(0o077))
    if isinstance(error, PermissionError) and mask & 0o700:
        fix = "set another one, such as 'umask 077'"
        return f"the umask {mask:03o} takes the rights of new files from their owner\n  fix: {fix}"
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()  # noqa: PTH109 - as the rest
        except OSError:
            return "the current folder was removed\n  fix: go to another one (cd)"
    return None


@contextlib.contextmanager
def _reading(args: Namespace) -> Iterator[None]:
    """Read without the warm-up iterations, with the columns of tables in the roles that are asked; the next commands ask the same."""
    warmup, columns = getattr(args, "warmup_iterations", None), getattr(args, "columns", None)
    asked = {name: getattr(args, name, None) for name in ("better", "layout", "decimal", "level")}
    stated = {name: value for name, value in asked.items() if value not in (None, "process")}
    if warmup is None and columns is None and not stated:
        yield
        return
    from analysis.record.manifest import COLUMNS_ASKED, OPTIONS_ASKED, asking, judging_with

    with judging_with(warmup), asking(COLUMNS_ASKED, columns), asking(OPTIONS_ASKED, stated):
        yield


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
    from analysis.announcing import announced, doing
    from analysis.errors import FairtrialError
    from analysis.registry import load

    code: int = 0
    try:
        page = _page(argv)
        if page is not None:
            out.write(page)
        else:
            found = [*argv[1:], "--help"] if argv[0] == "help" else argv
            args = load("harness.commands.command_parser").parser_for(found[0]).read(found)
            with announced(err, found[0], quiet=getattr(args, "quiet", False)):
                if found[0] in _BEGINNINGS:  # before anything that takes time to import
                    doing(_BEGINNINGS[found[0]])
                with _reading(args):
                    code = args.run(args, out, err)
        out.flush()
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else 2
    except FairtrialError as error:
        err.write(_error_text(error, argv))
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
        if _lack_of(error):
            raise
        import traceback

        from .launch.matching import Interrupted

        if isinstance(error, Interrupted):  # before there was a trial to close
            return 130
        err.write(traceback.format_exc())
        err.write("fairtrial: this is a bug in fairtrial; please report the lines above\n")
        return 70
    return code


def _error_text(error: FairtrialError, argv: Sequence[str]) -> str:
    """Give an error as it is printed; for a named trial that is not there, also which one was meant."""
    if error.where is not None and error.where in argv:
        from analysis.registry import load

        near = load("harness.commands.run").nearest_trial(error.where)
        if near is not None:
            return f"no trial '{error.where}': did you mean {near}?\n"
    name = error.what.partition(" ")[0]
    option = f"--{name.replace('_', '-')}"  # what was typed is said, and no name of Python's
    if "_" in name and any(word.startswith(option) for word in argv):
        error.what = error.what.replace(name, option, 1)
    return f"{error}\n" if error.exit_code == 2 else f"fairtrial: {error}\n"


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


def _page(argv: Sequence[str]) -> str | None:
    """Give the page that a command line asks for without a command; None where it has one."""
    from analysis.registry import load

    asks = ("-h", "--help", "help", "--version")
    if argv and argv[0] not in asks:
        return None
    pages = load("harness.commands.command_parser")
    page: str | None = None
    match list(argv):
        case []:
            page = pages.first_screen(Path("runs"))
        case ["-h" | "--help", *_] | ["help"]:
            page = pages.whole_help()
        case ["help", "exit-codes"]:
            page = pages.exit_codes()
        case ["help", "json", *words]:
            page = load("harness.commands.first_steps").schema(" ".join(words))
        case ["--version", *_]:
            page = f"fairtrial {load('analysis.version').VERSION}\n"
    return page
