"""The subcommand ``run``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import RUNS, add_folder, add_talk, positive, report_ending, write_json

if TYPE_CHECKING:
    from .arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``run``."""
    parser = subparsers.add_parser("run", help="execute a campaign")
    parser.add_argument("campaign", type=Path)
    add_folder(parser)
    parser.add_argument("--dry-run", action="store_true", help="show plan, CPUs, checks and time")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the newest unfinished trial"
    )
    parser.add_argument("--trial", type=Path, help="go on with this trial (with --resume)")
    parser.add_argument(
        "--sessions", type=positive, help="sessions in all; with --resume more can be appended"
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
    add_talk(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from ..campaign import load_campaign
    from ..errors import UsageError
    from ..screen import View, preview, scale
    from ..trial import Options, resume, start, trial_begun

    if (args.trial or args.accept_drift) and not args.resume:
        raise UsageError("--trial and --accept-drift go with --resume")
    begun = None
    if args.resume:
        begun = trial_begun(
            args.campaign, args.dir, named=args.trial, sessions=args.sessions, seed=args.seed
        )
    campaign = begun.campaign if begun else load_campaign(args.campaign, seed=args.seed)
    view = View(err, quiet=args.quiet, verbose=args.verbose)
    options = Options(
        folder=args.dir,
        strict=args.strict,
        accept_drift=args.accept_drift,
        sessions=begun.sessions if begun else args.sessions,
    )
    shown = preview(campaign, options)
    if args.dry_run:
        out.write(str(shown) + "\n") if not args.json else write_json(shown.to_dict(), out)
        return 0
    view.say(scale(campaign, shown.sessions, shown.seconds))
    ending = resume(begun, options, view) if begun else start(campaign, options, view)
    return report_ending(ending, view, again=_again(args), json_to=out if args.json else None)


def _again(args: argparse.Namespace) -> str:
    """Give the command that goes on with the trial."""
    import shlex

    again = f"fairtrial run {shlex.quote(str(args.campaign))} --resume"
    if args.seed is not None:
        again += f" --seed {args.seed}"
    if args.trial is not None:
        again += f" --trial {shlex.quote(str(args.trial))}"
    elif args.dir != RUNS:
        again += f" --dir {shlex.quote(str(args.dir))}"
    return again
