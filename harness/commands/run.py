"""The subcommand ``run``."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from analysis.errors import UsageError
from analysis.options import command, positive
from analysis.record.printer import write_json
from analysis.words import WIDTH, next_lines, quoted

from ..errors import about_exactly, counted, wrapped
from .options import RUNS, Placed, Talk, write_result

if TYPE_CHECKING:
    from ..campaign.model import Campaign
    from ..trial.ending import Ending
    from ..trial.execution import Begun, Options
    from .live_view import View


class Sessions(NamedTuple):
    """What ``--sessions`` says: a number in all, or a number more than are planned."""

    number: int
    more: bool


def sessions_or_more(text: str) -> Sessions:
    """Read ``6`` or ``+2``."""
    return Sessions(positive(text.removeprefix("+")), text.startswith("+"))


class _Options(Placed, Talk):
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
def run(*, args: _Options, out: TextIO, err: TextIO) -> int:
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
    from ..campaign.resolve import load_campaign
    from ..trial.execution import Options, start
    from .dry_run import preview
    from .live_view import View

    _check(args)
    begun = member = None
    count, more = _sessions(args)
    if args.trial is not None:
        from ..fleet.slurm import membership_of

        member = membership_of(args.trial)
    place = _place(args, more) if args.resume else None
    if args.resume and place is None:
        from ..trial.execution import resume, trial_begun

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
    folder = begun.path.parent if begun else place.parent if place else args.dir
    options = Options(
        folder=folder,
        name=None if place is None else place.name,
        sessions=begun.sessions if begun else count,
        wait_s=args.wait_for_lock,
        node=node,
        **args.some("strict", "accept_drift", "share", "built"),
    )
    if args.only is not None:
        from .dry_run import execute_only

        return execute_only(campaign, args.only, options, out, _aside(args, err))
    probed = None
    if args.probe:
        from .dry_run import probe

        probed = probe(campaign, options, _aside(args, err))
        if probed.interrupted:
            return 130
    if begun and count is not None and count < begun.manifest.sessions:
        planned = counted(begun.manifest.sessions, "session")
        view.say(f"note    --sessions {count} changes nothing: the trial has {planned}")
    for reason in begun.passed_over if begun else ():
        view.say(f"passed over  {reason.where}: {reason.what}")
    if args.dry_run:
        shown = preview(campaign, options, begun.path if begun else None, probed=probed)
        at = None
        if begun:
            at = going_on_text(begun) or f"nothing is left: {begun.path} is complete"
        write_result(dataclasses.replace(shown, resumed=at), out, as_json=args.json)
        return 0
    if begun:
        view.begin_with(going_on_text(begun))  # once it is known that it does
    else:
        _say_what_begins(args, campaign, options, view)
    ending = resume(begun, options, view) if begun else start(campaign, options, view)
    again = ["fairtrial", "run", str(args.campaign), "--resume", "--trial", str(ending.trial)]
    return report_ending(ending, view, again=again, json_to=out if args.json else None)


def report_ending(
    ending: Ending, view: View, *, again: Sequence[str], json_to: TextIO | None = None
) -> int:
    """Say how a trial ended and what comes next, also as JSON to `json_to`; give the exit code.

    `again` are the words of the command that goes on with the trial.
    """
    if json_to is not None:
        with contextlib.suppress(BrokenPipeError):  # the exit code is still to come
            write_json(ending.to_dict(), json_to)
    # what the exit code says is said in any case
    say = view.insist if ending.capped or ending.failed else view.say
    for line in ending.head(took_s=view.took_s, fresh=view.fresh):
        say(line)
    for line in ending.further(again):
        view.say(line)
    if ending.status == "interrupted":
        return 130
    return 1 if ending.failed or ending.unmeasured else 0


def _sessions(args: _Options) -> tuple[int | None, int]:
    if not args.sessions:
        return None, 0
    number: int = args.sessions.number
    if not args.sessions.more:
        return number, 0
    if not args.resume:
        what = f"+{number} adds to the sessions of a trial that there is"
        raise UsageError(what, "--sessions", f"add --resume, or write --sessions {number}")
    return None, number


def _say_what_begins(args: _Options, campaign: Campaign, options: Options, view: View) -> None:
    """Say how large a new trial is, and which other one could be gone on with."""
    from .dry_run import how_long
    from .live_view import scale

    if args.trial is not None:
        view.say(f"starting a new trial in {args.trial}")
    else:
        _say_unfinished(args.dir, campaign, view)
    sessions = options.sessions or campaign.protocol.sessions
    view.say(scale(campaign, sessions, how_long(campaign, options, sessions)))


def _say_unfinished(folder: Path, campaign: Campaign, view: View) -> None:
    from analysis.record.manifest import is_here

    from ..trial.ending import command_to_continue, done_first
    from ..trial.progress import unfinished_trial

    unfinished = unfinished_trial(folder, campaign.name)
    if unfinished is not None:
        path, manifest = unfinished
        if not is_here(manifest.campaign_path):
            manifest = dataclasses.replace(manifest, campaign_path=str(campaign.source))
        text = f"{path} of this campaign is unfinished; this is a new trial"
        for line in wrapped(text, "note    ", " " * 8, WIDTH):
            view.say(line)
        again = command_to_continue(manifest, path)
        for line in next_lines(again, done_first(manifest, path) or "goes on with it"):
            view.say(line)


def _place(args: _Options, more: int) -> Path | None:
    """Give the folder in which ``--resume --trial`` starts a new trial; None where it goes on.

    Drift is accepted of, and sessions are added to, a trial that there is.
    """
    from ..campaign.resolve import campaign_name
    from ..trial.execution import begins_there

    if args.trial is None or args.accept_drift or more:
        return None
    begins = begins_there(args.trial, campaign_name(args.campaign))
    return args.trial.resolve() if begins else None


def _check(args: _Options) -> None:
    """Refuse options that contradict each other, or would do nothing."""
    for option in args.given("trial", "accept_drift") if not args.resume else ():
        raise UsageError(f"{option} is for --resume", None, f"add --resume, or leave out {option}")
    if args.trial is not None and args.dir not in {RUNS, args.trial.parent}:
        fix = f"leave out --dir: {quoted(f'--trial={args.dir / args.trial.name}')}"
        raise UsageError("--dir and --trial both say where the trial is", None, fix)
    if args.probe and not args.dry_run:
        fix = "add --dry-run, or leave out --probe"
        raise UsageError("--probe goes with --dry-run", None, fix)
    if args.only is not None:
        for option in args.given("dry_run", "resume", "json", "sessions", "share"):
            fix = f"leave out {option}, or --only"
            raise UsageError(f"--only stores nothing, so {option} does nothing", None, fix)


def _aside(args: _Options, err: TextIO) -> View:
    """Make who follows an execution that only tries something: what it says is not the result."""
    from .live_view import View

    return View(err, quiet=not args.verbose, verbose=args.verbose)


# --- What ``run --resume`` says first: where a trial goes on, or what is added to it.


def going_on_text(begun: Begun) -> str | None:
    """Say where a trial goes on and how long that takes; None of one that is complete and stays so."""
    from ..trial.plan import planned_runs
    from ..trial.progress import read_progress, time_left

    manifest, campaign = begun.manifest, begun.campaign
    more = begun.sessions - manifest.sessions
    progress = read_progress(begun.path)
    whole = manifest.status == "complete" or progress.done >= manifest.needed
    if manifest.status == "complete" and not more:
        return None
    planned = planned_runs(campaign, begun.sessions)
    then = dataclasses.replace(manifest, planned=planned, sessions=begun.sessions)
    left = time_left(begun.path, then)
    most = "at most " if campaign.protocol.stop is not None else ""
    time = "" if left is None else f", {most}{about_exactly(left)}"
    first = manifest.sessions + 1
    added = f"session {first}" if more == 1 else f"sessions {first} to {begun.sessions}"
    if whole and more:
        runs = counted(planned - manifest.planned, "run")
        return (
            f"adding {added}: {most}{runs}{time}; look {len(manifest.appended) + 2} at this trial"
        )
    at = f"run {min(progress.done + 1, then.needed):,} of {most}{then.needed:,}"
    session = _session(begun, progress.done)
    text = f"going on at {at} (session {session} of {begun.sessions}){time}"
    return f"{text}; {added} {'is' if more == 1 else 'are'} added" if more else text


def _session(begun: Begun, done: int) -> int:
    """Give the session in which the next run stands, where sessions have all their runs."""
    protocol, cells = begun.campaign.protocol, len(begun.campaign.cells)
    for session in range(1, begun.sessions):
        if done < protocol.passes(session) * cells:
            return session
    return begun.sessions


# --- What a mistyped name was meant to be: a command, an option, a trial.
#
# Imported when something was not found: whoever types well pays nothing for it.


_CUTOFF = 0.6  # of difflib: 'verdct' has 0.92 with 'verdict', 'frobnicate' 0.47 with the nearest
_MARKS = ("manifest.json", "fleet.json")  # what makes a folder a trial, or a fleet


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known name that is most like a word; None where none is like it."""
    near = get_close_matches(word, list(known), n=1, cutoff=_CUTOFF)
    return near[0] if near else None


def nearest_trial(text: str) -> str | None:
    """Give the trial that was meant by a path, or by PATH:VARIANT, that is not there.

    None where the path is there, or where no trial or fleet in its folder has such a name.
    """
    folder, slash, name = text.rstrip("/").rpartition("/")
    name, colon, variant = name.partition(":")
    place = Path(f"{folder}{slash}" or ".")
    try:
        if not name or os.path.lexists(text) or os.path.lexists(place / name):
            return None
        known = [one.name for one in place.iterdir() if any((one / m).exists() for m in _MARKS)]
    except (OSError, ValueError):  # no such folder, or no name that a path can have
        return None
    near = nearest(name, sorted(known))
    return None if near is None else f"{folder}{slash}{near}{colon}{variant}"
