"""The subcommand ``run``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .options import (
    add_command,
    add_folder,
    add_share,
    add_talk,
    add_wait,
    report_ending,
    sessions_or_more,
    write_result,
)

if TYPE_CHECKING:
    from ..campaign.model import Campaign
    from ..trial.execution import Options
    from .live_view import View
    from .options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``run``."""
    parser = add_command(
        subparsers,
        "run",
        description="Execute a campaign as a new trial, a folder below runs/, or go on with an "
        "unfinished one.\nEvery run that was made is kept, however the trial ends.",
        examples="""
campaign.yaml --dry-run            plan, CPUs, checks and time; executes nothing
campaign.yaml --only numbers-50000:gzip-1   try one cell, and see what it prints
campaign.yaml                      measure
campaign.yaml --resume             go on after Ctrl-C, a kill or a power failure
campaign.yaml --resume --sessions +2   append two sessions to the newest trial
""",
    )
    parser.add_argument("campaign", type=Path, help="the campaign, a YAML file")
    add_folder(parser)
    parser.add_argument("--dry-run", action="store_true", help="show plan, CPUs, checks and time")
    parser.add_argument(
        "--probe",
        action="store_true",
        help="with --dry-run: execute the first block once, to estimate the time; keep nothing of it",
    )
    parser.add_argument(
        "--only",
        type=_name,
        metavar="BENCHMARK:VARIANT",
        help="execute this cell alone, a warm-up and a run, and show its output; nothing is stored",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with the newest unfinished trial"
    )
    parser.add_argument(
        "--trial",
        type=Path,
        help="with --resume: go on with this trial, or start it there if no run was ever made there",
    )
    parser.add_argument(
        "--sessions",
        type=sessions_or_more,
        metavar="N",
        help="sessions in all (default: the campaign's); with --resume more can be appended, and +N "
        "adds N to those that are planned",
    )
    parser.add_argument("--seed", type=int, help="in place of the campaign's (default: that)")
    parser.add_argument(
        "--strict", action="store_true", help="warnings of required checks are fatal (exit 3)"
    )
    parser.add_argument(
        "--accept-drift",
        action="store_true",
        help="with --resume: go on although something has changed, and record it",
    )
    parser.add_argument(
        "--built",
        action="store_true",
        help="the programs are there already, as for the hosts of a fleet: build nothing",
    )
    parser.add_argument(
        "--measure-once",
        action="store_true",
        help="of a series of variants (series: on): do not measure again what is the same program as its neighbour; a trial that goes on keeps to how it began",
    )
    add_wait(parser)
    add_share(parser)
    add_talk(parser)
    parser.set_defaults(run=_run)


def _name(text: str) -> str:
    """Read names, which trials store in their normal form (NFC)."""
    from analysis.words import normal

    return normal(text)


def _run(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from analysis.errors import UsageError

    from ..campaign.defaults import own_defaults
    from ..campaign.resolve import load_campaign
    from ..trial.execution import Options, start
    from .dry_run import preview
    from .going_on import said_of_going_on
    from .live_view import View

    if (args.trial or args.accept_drift) and not args.resume:
        raise UsageError("--trial and --accept-drift go with --resume")
    _check_tries(args)
    begun = member = None
    count, more = _sessions(args)
    if args.trial is not None:
        from ..fleet.node_trial import membership_of

        member = membership_of(args.trial)
    place = _place(args, more) if args.resume else None
    if args.resume and place is None:
        from ..trial.resume import resume, trial_begun

        begun = trial_begun(
            args.campaign,
            args.dir,
            named=args.trial,
            sessions=count,
            more=more,
            seed=args.seed,
        )
    campaign = (
        begun.campaign
        if begun
        else load_campaign(args.campaign, seed=args.seed, own=own_defaults())
    )
    node = None if member is None else member.require(campaign)
    view = View(err, quiet=args.quiet, verbose=args.verbose)
    options = Options(
        folder=args.dir if place is None else place.parent,
        name=None if place is None else place.name,
        strict=args.strict,
        accept_drift=args.accept_drift,
        share=args.share,
        sessions=begun.sessions if begun else count,
        wait_s=args.wait_for_lock,
        node=node,
        built=args.built,
        measure_once=args.measure_once,
    )
    if args.only is not None:
        from .dry_run import execute_only

        return execute_only(campaign, args.only, out, _aside(args, err))
    probed = None
    if args.probe:
        from .dry_run import probe

        probed = probe(campaign, _aside(args, err))
        if probed.interrupted:
            return 130
    for reason in begun.passed_over if begun else ():
        view.say(f"passed over  {reason.where}: {reason.what}")
    if args.dry_run:
        shown = preview(campaign, options, begun.path if begun else None, probed=probed)
        write_result(shown, out, as_json=args.json)
        return 0
    if begun:
        view.begin_with(said_of_going_on(begun))  # once it is known that it does
    else:
        _say_what_begins(args, campaign, options, view)
    ending = resume(begun, options, view) if begun else start(campaign, options, view)
    again = _again(args, ending.trial)
    return report_ending(ending, view, again=again, json_to=out if args.json else None)


def _sessions(args: argparse.Namespace) -> tuple[int | None, int]:
    from analysis.errors import UsageError

    if not args.sessions:
        return None, 0
    number: int = args.sessions.number
    if not args.sessions.more:
        return number, 0
    if not args.resume:
        what = f"+{number} adds to the sessions of a trial that there is"
        raise UsageError(what, "--sessions", f"add --resume, or write --sessions {number}")
    return None, number


def _say_what_begins(
    args: argparse.Namespace, campaign: Campaign, options: Options, view: View
) -> None:
    """Say how large a new trial is, and which other one could be gone on with."""
    from .dry_run import how_long
    from .live_view import scale

    if args.trial is not None:
        view.say(f"starting a new trial in {args.trial}")
    else:
        _say_unfinished(args.dir, campaign.name, view)
    sessions = options.sessions or campaign.protocol.sessions
    view.say(scale(campaign, sessions, how_long(campaign, options, sessions)))


def _say_unfinished(folder: Path, campaign: str, view: View) -> None:
    from analysis.words import WIDTH, next_lines

    from ..errors import wrapped
    from ..trial.ending import command_to_continue, done_first
    from ..trial.progress import unfinished_trial

    unfinished = unfinished_trial(folder, campaign)
    if unfinished is not None:
        path, manifest = unfinished
        text = f"{path} of this campaign is unfinished; this is a new trial"
        for line in wrapped(text, "note    ", " " * 8, WIDTH):
            view.say(line)
        again = command_to_continue(manifest, path)
        for line in next_lines(again, done_first(manifest, path) or "goes on with it"):
            view.say(line)


def _place(args: argparse.Namespace, more: int) -> Path | None:
    """Give the folder in which ``--resume --trial`` starts a new trial; None where it goes on.

    Drift is accepted of, and sessions are added to, a trial that there is.
    """
    from ..campaign.resolve import campaign_name
    from ..trial.execution import begins_there

    if args.trial is None or args.accept_drift or more:
        return None
    begins = begins_there(args.trial, campaign_name(args.campaign))
    return args.trial.resolve() if begins else None


def _check_tries(args: argparse.Namespace) -> None:
    from analysis.errors import UsageError

    if args.probe and not args.dry_run:
        fix = "add --dry-run, or leave out --probe"
        raise UsageError("--probe goes with --dry-run", None, fix)
    if args.only is not None:
        for name in ("dry_run", "resume", "json", "sessions", "share"):
            if getattr(args, name):
                option = name.replace("_", "-")
                raise UsageError(f"--only stores nothing: it goes without --{option}")


def _aside(args: argparse.Namespace, err: TextIO) -> View:
    """Make who follows an execution that only tries something: what it says is not the result."""
    from .live_view import View

    return View(err, quiet=not args.verbose, verbose=args.verbose)


def _again(args: argparse.Namespace, trial: Path) -> list[str]:
    """Give the words of the command that goes on with a trial."""
    return ["fairtrial", "run", str(args.campaign), "--resume", "--trial", str(trial)]
