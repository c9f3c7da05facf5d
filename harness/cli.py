"""The one command line: the only place that prints or exits.

Start-up matters to people and scripts: nothing but argparse is imported before a command runs.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.machinery
import io
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from . import __version__

if TYPE_CHECKING:
    from analysis.errors import FairtrialError

    from .screen import View
    from .trial import Ending, Options

    # argparse gives no public name to what add_subparsers() returns
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

_EPILOG = """\
first steps:
  fairtrial compare 'gzip -6 -k -c data' 'gzip -1 -k -c data'    measure two commands now
  fairtrial init campaign.yaml                                   write a campaign to start from
  fairtrial run campaign.yaml                                    execute it
  fairtrial verdict runs/NAME                                    what the evidence supports

exit codes: 0 done; 1 done, but runs failed or a gate said no; 2 usage or campaign; 3 host;
4 launch or build; 5 trial directory; 6 analysis; 70 a bug; 130 interrupted, everything kept.
"""


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
    sys.exit(main(sys.argv[1:], sys.stdout, sys.stderr))


def main(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Execute one command line; give its exit code.

    Parameters
    ----------
    argv : sequence of str
        The arguments without the program's name.
    out, err : TextIO
        Results go to `out`, everything else to `err`.
    """
    intruder = _other_analysis()
    if intruder is not None:
        err.write(
            f"fairtrial: another package named 'analysis' is found first: {intruder}\n"
            "  fix: use the 'fairtrial' command, or 'python -P -m harness', from another folder\n"
        )
        return 2
    from analysis.errors import FairtrialError

    try:
        args = _parser().parse_args(argv)
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else 2
    code: int = 0
    try:
        code = args.run(args, out, err)
        out.flush()
    except FairtrialError as error:
        _complain(error, err)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has gone: nothing is left to say
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        return code
    except Exception as error:  # noqa: BLE001 - the last line of defence says whose fault it is
        from .launch import Interrupted

        if isinstance(error, Interrupted):  # before there was a trial to close
            return 130
        with contextlib.suppress(OSError):
            traceback.print_exc(file=err)
            err.write("fairtrial: this is a bug in fairtrial; please report the lines above\n")
        return 70
    return code


def _complain(error: FairtrialError, err: TextIO) -> None:
    with contextlib.suppress(OSError):  # nobody may be there to read it
        err.write(f"fairtrial: {error}\n" if error.exit_code != 2 else f"{error}\n")
        _more_findings(error, err)
        err.flush()


def _other_analysis() -> str | None:
    """Find a foreign package that took the name of our second half."""
    spec = importlib.machinery.PathFinder.find_spec("analysis")
    origin = spec.origin if spec else None
    if origin is None or Path(origin).parent.parent == Path(__file__).parent.parent:
        return None
    return origin


def _more_findings(error: FairtrialError, err: TextIO) -> None:
    for finding in getattr(error, "findings", ())[1:]:
        err.write(f"  {finding.status} {finding.check}: {finding.what}\n")
        if finding.fix:
            err.write(f"       fix: {finding.fix}\n")


def _parser() -> argparse.ArgumentParser:
    import analysis.cli

    parser = argparse.ArgumentParser(
        prog="fairtrial",
        description="Measure programs repeatedly and independently, and claim only the speedups "
        "that the evidence supports.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"fairtrial {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_init(commands)
    _add_doctor(commands)
    _add_run(commands)
    _add_compare(commands)
    _add_status(commands)
    analysis.cli.register(commands)
    return parser


def _add_init(commands: Commands) -> None:
    parser = commands.add_parser("init", help="write a commented campaign to start from")
    parser.add_argument("path", nargs="?", default="campaign.yaml", type=Path)
    parser.set_defaults(run=_init)


def _add_doctor(commands: Commands) -> None:
    parser = commands.add_parser("doctor", help="check this host, and say how to mend it")
    parser.add_argument("campaign", nargs="?", type=Path, help="check for this campaign")
    parser.add_argument("--strict", action="store_true", help="warnings give exit code 3")
    parser.add_argument("--dir", type=Path, default=Path("runs"), help="folder of trials")
    _add_talk(parser)
    parser.set_defaults(run=_doctor)


def _add_run(commands: Commands) -> None:
    parser = commands.add_parser("run", help="execute a campaign")
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--dir", type=Path, default=Path("runs"), help="folder of trials")
    parser.add_argument("--dry-run", action="store_true", help="show plan, CPUs, checks and time")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the newest unfinished trial"
    )
    parser.add_argument("--trial", type=Path, help="go on with this trial (with --resume)")
    parser.add_argument(
        "--sessions", type=_positive, help="sessions in all; with --resume more can be appended"
    )
    parser.add_argument("--seed", type=int, help="in place of the campaign's seed")
    parser.add_argument(
        "--strict", action="store_true", help="warnings of required checks are fatal (exit 3)"
    )
    parser.add_argument(
        "--accept-drift",
        action="store_true",
        help="with --resume: go on although something has changed, and record it",
    )
    _add_talk(parser)
    parser.set_defaults(run=_run)


def _add_compare(commands: Commands) -> None:
    parser = commands.add_parser("compare", help="measure commands now; the first is the baseline")
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    parser.add_argument("-n", "--name", action="append", default=[], help="one for each command")
    parser.add_argument("--runs", type=_positive, help="per command and session (default: by time)")
    parser.add_argument("--sessions", type=_positive, default=3)
    parser.add_argument("--warmup", type=_count, default=1, help="per command and session")
    parser.add_argument("--timeout", type=float, metavar="SECONDS")
    parser.add_argument("--shell", action="store_true", help="execute each with /bin/sh -c")
    parser.add_argument("--stdin", type=Path, metavar="FILE")
    parser.add_argument("--prepare", metavar="COMMAND", help="by a shell, before each run, untimed")
    parser.add_argument("--exit", type=int, action="append", metavar="CODE", help="expected code")
    parser.add_argument("--cpus", default="auto", help="auto, none or a list such as 2,3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", type=Path, default=Path("runs"), help="folder of trials")
    _add_talk(parser)
    parser.set_defaults(run=_compare)


def _add_status(commands: Commands) -> None:
    parser = commands.add_parser("status", help="how far a trial is, from any terminal")
    parser.add_argument("trial", nargs="?", type=Path, help="default: all below --dir")
    parser.add_argument("--dir", type=Path, default=Path("runs"), help="folder of trials")
    parser.add_argument(
        "--diff",
        nargs="?",
        const="",
        metavar="OTHER",
        help="what changed in the environment: between the trial's sessions, or to another trial",
    )
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_status)


def _add_talk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def _count(text: str) -> int:
    return 0 if text == "0" else _positive(text)


def _init(args: argparse.Namespace, _out: TextIO, err: TextIO) -> int:
    from .campaign import starter_text
    from .errors import UsageError

    path: Path = args.path
    if path.is_dir():
        path = path / "campaign.yaml"
    text = starter_text(path.stem)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError("there is a file already", str(path), "choose another name") from None
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", str(path)) from error
    err.write(f"wrote {path}\nnext: fairtrial run {path} --dry-run\n")
    return 0


def _doctor(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from .screen import check_up

    checkup = check_up(args.campaign, args.dir, strict=args.strict)
    if args.json:
        _print_json(checkup.to_dict(), out)
    else:
        out.write(checkup.text(colour=out.isatty(), verbose=args.verbose) + "\n")
    return 3 if checkup.fatal else 0


def _run(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    import shlex

    from .campaign import load_campaign
    from .errors import UsageError
    from .screen import View, preview, scale
    from .trial import Options, resume, start

    if (args.trial or args.accept_drift) and not args.resume:
        raise UsageError("--trial and --accept-drift go with --resume")
    campaign = load_campaign(args.campaign, seed=args.seed)
    view = View(err, quiet=args.quiet, verbose=args.verbose)
    options = Options(
        folder=args.dir,
        strict=args.strict,
        accept_drift=args.accept_drift,
        sessions=args.sessions,
        trial=args.trial,
        seed=args.seed,
    )
    shown = preview(campaign, options)
    if args.dry_run:
        out.write(str(shown) + "\n") if not args.json else _print_json(shown.to_dict(), out)
        return 0
    view.say(scale(campaign, shown.sessions, shown.seconds))
    ending = resume(campaign, options, view) if args.resume else start(campaign, options, view)
    again = f"fairtrial run {shlex.quote(str(args.campaign))} --resume"
    if args.seed is not None:
        again += f" --seed {args.seed}"
    if args.trial is not None:
        again += f" --trial {shlex.quote(str(args.trial))}"
    elif args.dir != Path("runs"):
        again += f" --dir {shlex.quote(str(args.dir))}"
    return _ended(ending, args, out, view, again=again)


def _compare(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    import shlex
    import tempfile

    from .commands.compare_campaign import CompareOptions, campaign_of
    from .screen import View, scale
    from .trial import Options, start

    compared = CompareOptions(
        commands=tuple(args.commands),
        names=tuple(args.name),
        sessions=args.sessions,
        runs=args.runs,
        warmup=args.warmup,
        timeout_s=args.timeout,
        shell=args.shell,
        stdin=args.stdin,
        prepare=args.prepare,
        exit_codes=tuple(args.exit or [0]),
        cpus=args.cpus,
        seed=args.seed,
    )
    view = View(err, quiet=args.quiet, verbose=args.verbose)
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as place:
        campaign = campaign_of(compared, Path.cwd(), Path(place))
        view.say(scale(campaign, campaign.protocol.sessions, None))
        options: Options = Options(folder=args.dir, passing=True)
        ending = start(campaign, options, view)
    trial = shlex.quote(str(ending.trial))
    again = f"fairtrial run {trial}/campaign.yaml --resume --trial {trial}"
    code = _ended(ending, argparse.Namespace(json=False), out, view, again=again)
    if ending.done < 2 * len(campaign.cells):
        return code
    verdict = ["verdict", str(ending.trial)] + (["--json"] if args.json else [])
    return max(code, main(verdict, out, err))


def _ended(ending: Ending, args: argparse.Namespace, out: TextIO, view: View, *, again: str) -> int:
    """Say how a trial ended and what comes next; give the exit code."""
    if args.json:
        with contextlib.suppress(BrokenPipeError):  # the exit code is still to be told
            _print_json(ending.to_dict(), out)
    for line in ending.lines(again):
        view.say(line)
    if ending.status == "interrupted":
        return 130
    return 1 if ending.failed else 0


def _status(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from .errors import StoreError, UsageError
    from .screen import read_progress

    if args.diff is not None:
        from .environment import compare_environments

        if args.trial is None:
            raise UsageError("--diff needs a trial", None, "fairtrial status TRIAL --diff [OTHER]")
        found_changes = compare_environments(args.trial, Path(args.diff) if args.diff else None)
        if args.json:
            _print_json(found_changes.to_dict(), out)
        else:
            out.write(str(found_changes) + "\n")
        return 0
    found = []
    if args.trial is not None:
        found.append(read_progress(args.trial))
    else:
        for path in sorted(args.dir.glob("*/manifest.json")):
            try:
                found.append(read_progress(path.parent))
            except StoreError as error:  # one damaged trial hides no other
                err.write(f"fairtrial: {error}\n")
    if args.json:
        _print_json([progress.to_dict() for progress in found], out)
    elif not found:
        out.write(f"no trials in {args.dir}\n")
    else:
        newest = sorted(found, key=lambda progress: progress.started, reverse=True)
        out.write("\n".join(map(str, newest)) + "\n")
    return 0


def _print_json(data: object, out: TextIO) -> None:
    import json

    out.write(json.dumps(data, indent=2, allow_nan=False) + "\n")
