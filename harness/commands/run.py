"""The subcommand ``run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from analysis.options import command, positive

from .options import Placed, Talk, report_ending, write_result

if TYPE_CHECKING:
    from ..campaign.model import Campaign
    from ..trial.execution import Options
    from .live_view import View


class Sessions(NamedTuple):
    """What ``--sessions`` says: so many in all, or so many more than are planned."""

    number: int
    more: bool


def sessions_or_more(text: str) -> Sessions:
    """Read ``6`` or ``+2``."""
    return Sessions(positive(text.removeprefix("+")), text.startswith("+"))


class _Asked(Placed, Talk):
    campaign: Path
    dry_run: bool
    probe: bool
    only: str | None
    resume: bool
    trial: Path | None
    sessions: Sessions | None
    seed: int | None
    strict: bool
    accept_drift: bool
    built: bool


@command("run")
def run(*, args: _Asked, out: TextIO, err: TextIO) -> int:
    """Execute a campaign as a new trial, a folder below runs/, or go on with an unfinished one.

    Every run that was made is kept, however the trial ends.

    Examples
    --------
    campaign.yaml --dry-run            plan, CPUs, checks and time; executes nothing
    campaign.yaml --only numbers-50000:gzip-1   try one cell, and see what it prints
    campaign.yaml                      measure
    campaign.yaml --resume             go on after Ctrl-C, a kill or a power failure
    campaign.yaml --resume --sessions +2   append two sessions to the newest trial
    """
    from analysis.errors import UsageError

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
    campaign = begun.campaign if begun else load_campaign(args.campaign, seed=args.seed)
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


def _sessions(args: _Asked) -> tuple[int | None, int]:
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


def _say_what_begins(args: _Asked, campaign: Campaign, options: Options, view: View) -> None:
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


def _place(args: _Asked, more: int) -> Path | None:
    """Give the folder in which ``--resume --trial`` starts a new trial; None where it goes on.

    Drift is accepted of, and sessions are added to, a trial that there is.
    """
    from ..campaign.resolve import campaign_name
    from ..trial.execution import begins_there

    if args.trial is None or args.accept_drift or more:
        return None
    begins = begins_there(args.trial, campaign_name(args.campaign))
    return args.trial.resolve() if begins else None


def _check_tries(args: _Asked) -> None:
    from analysis.errors import UsageError

    if args.probe and not args.dry_run:
        fix = "add --dry-run, or leave out --probe"
        raise UsageError("--probe goes with --dry-run", None, fix)
    if args.only is not None:
        for option in args.given("dry_run", "resume", "json", "sessions", "share"):
            raise UsageError(f"--only stores nothing: it goes without {option}")


def _aside(args: _Asked, err: TextIO) -> View:
    """Make who follows an execution that only tries something: what it says is not the result."""
    from .live_view import View

    return View(err, quiet=not args.verbose, verbose=args.verbose)


def _again(args: _Asked, trial: Path) -> list[str]:
    """Give the words of the command that goes on with a trial."""
    return ["fairtrial", "run", str(args.campaign), "--resume", "--trial", str(trial)]
