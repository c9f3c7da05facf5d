"""The subcommand ``why``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TextIO

from .options import add_command, add_talk, add_wait, positive

if TYPE_CHECKING:
    from .options import Subparsers

_TO_EXECUTE = ("sessions", "frequency", "chains")
_INTERRUPTED = 130


def add(subparsers: Subparsers) -> None:
    """Add ``why``."""
    parser = add_command(
        subparsers,
        "why",
        description="Execute two variants of a trial again under a profiler, and say for each function how "
        "much longer\nit takes, with an interval over sessions. The trial is not changed; what is recorded "
        "lies beside it,\nin runs/TRIAL.why, and is part of no verdict. It needs Linux's perf.",
        examples="""
                                   the newest trial: all that its verdict calls slower
runs/x:new --benchmark parse       one variant, one benchmark
runs/x:new --stored                what was found last; executes nothing
runs/x:new --stored --rename qsort_cmp=compare_keys
""",
    )
    parser.add_argument(
        "trial",
        metavar="TRIAL",
        nargs="?",
        help="a trial, or a variant of it: runs/NAME:VARIANT (default: the newest in runs/; without a "
        "variant all that the verdict calls slower)",
    )
    parser.add_argument(
        "--benchmark",
        action="append",
        type=_name,
        metavar="B",
        help="only this benchmark; may be repeated (default: those on which it is slower; of a named "
        "variant those that are decided, else all)",
    )
    parser.add_argument(
        "--sessions", type=positive, metavar="N", help="sessions to execute (default: 6)"
    )
    parser.add_argument(
        "--frequency",
        type=positive,
        metavar="HZ",
        help="samples a second (default: 4999; 999 with --chains dwarf)",
    )
    parser.add_argument(
        "--chains",
        choices=("fp", "dwarf"),
        help="record who called, too: by frame pointers, or by copies of the stack, which every program has",
    )
    parser.add_argument(
        "--rename",
        action="append",
        type=_rename,
        metavar="OLD=NEW",
        help="NEW is what the candidate calls the baseline's function OLD; may be repeated",
    )
    parser.add_argument(
        "--folded",
        metavar="FILE",
        help="also write the stacks of both variants, for speedscope and flamegraph.pl; callers need --chains",
    )
    parser.add_argument(
        "--any",
        action="store_true",
        help="name functions although the whole difference is not there again",
    )
    parser.add_argument(
        "--require", action="store_true", help="exit code 1 where no function can be named"
    )
    parser.add_argument(
        "--stored", action="store_true", help="show what was recorded last; execute nothing"
    )
    add_wait(parser)
    add_talk(parser, markdown=True)
    parser.set_defaults(run=_why)


def _name(text: str) -> str:
    """Read a name, which trials store in its normal form (NFC)."""
    from analysis.words import normal

    return normal(text)


def _rename(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (old and equals and new) or "=" in new:
        raise argparse.ArgumentTypeError(f"must be OLD=NEW, two names of functions, not {text!r}")
    return old, new


def _check(args: argparse.Namespace) -> None:
    """Refuse options that do not go together, before anything is executed."""
    from analysis.errors import UsageError

    if args.stored:
        for name in _TO_EXECUTE:
            if getattr(args, name) is not None:
                what = f"--{name} is for programs that are executed, and --stored executes none"
                raise UsageError(what, None, f"leave --stored out, or --{name}")
    if args.folded is not None:
        from analysis.commands.why import check_folded

        check_folded(args.folded)


def _why(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from analysis.commands.options import show
    from analysis.commands.why import (
        Explaining,
        exit_code_of,
        explained,
        place_of,
        stored_profiles,
        targets_of,
        write_folded,
    )

    from ..launch.matching import Interrupted
    from .why_answering import Request, WhyView, recorded

    _check(args)
    folder, variant = place_of(args.trial)
    how = Explaining(
        benchmarks=tuple(args.benchmark or ()),
        renames=dict(args.rename or ()),
        any_total=args.any,
    )
    if args.stored:
        profiles = stored_profiles(folder, variant)
    else:
        targets = targets_of(folder, variant, how.benchmarks)
        view = WhyView(err, quiet=args.quiet, verbose=args.verbose)
        request = Request(
            sessions=args.sessions,
            frequency_hz=args.frequency,
            chains=args.chains,
            wait_s=args.wait_for_lock,
        )
        try:
            profiles = recorded(targets, request, view)
        except Interrupted:
            view.insist("stopped by you; nothing of it is kept, and the trial is as it was")
            return _INTERRUPTED
    answer = explained(profiles, how)
    show(answer, out, as_json=args.json, markdown=args.format == "md")
    if args.folded is not None:
        out.flush()
        write_folded(profiles, answer, args.folded)
        err.write(f"wrote {args.folded}\n")
    return exit_code_of(answer, require=args.require)
