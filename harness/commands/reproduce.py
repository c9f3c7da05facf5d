"""The subcommand ``reproduce``: an artifact checked and computed anew, or measured again."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import math
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from analysis.errors import StoreError
from analysis.record.manifest import read_manifest
from analysis.record.shapes import opened, parse
from analysis.record.trial_files import RESOLVED, Manifest

from ..campaign.defaults import identity_of
from ..campaign.model import NO_IDENTITY, Campaign, Command, shown as with_placeholders
from ..campaign.resolve import load_campaign
from ..trial.plan import planned_runs
from ..trial.resume import defaults_of
from .options import add_command, add_share, positive, write_json
from .rerun_preview import Intent, Kind, PreviewedCommand, below, is_outside, leads_out, programs_of

if TYPE_CHECKING:
    from .live_view import View
    from .options import Subparsers

# --- The campaign that came with a trial: only the one that was measured is executed, and shown before.


def received_campaign(file: Path, trial: Path, root: Path, *, redacted: bool) -> Campaign:
    """Read the campaign of a trial that somebody else measured, to execute it as it was."""
    manifest = read_manifest(trial)
    if manifest.origin != "measured":
        raise StoreError(
            f"the trial was {manifest.origin}, not measured by a campaign: nothing can be executed",
            str(trial),
            "check it without --rerun",
        )
    defaults, own = defaults_of(trial, manifest)
    campaign = load_campaign(file, seed=manifest.seed, defaults=defaults, own=own)
    _hold_against(campaign, manifest, trial, redacted=redacted)
    outside = list(stays_inside(campaign, root))
    if outside:
        what = f"the campaign would work outside of its folder: {'; '.join(outside[:5])}"
        fix = "nothing was executed; read the campaign, and execute it by hand if you trust it"
        raise StoreError(what, str(file), fix)
    return campaign


def refuse_unsaid(intent: Intent, trial: Path, page: str) -> None:
    """Refuse to execute what the bundle's README does not name."""
    unsaid = intent.unsaid(page) if (trial / RESOLVED).exists() else []
    if unsaid:
        more = f" and {len(unsaid) - 3} more" if len(unsaid) > 3 else ""
        raise StoreError(
            f"the campaign would execute what README.md does not say: {'; '.join(unsaid[:3])}{more}",
            str(trial),
            "nothing was executed; ask who packed it",
        )


def _hold_against(campaign: Campaign, manifest: Manifest, trial: Path, *, redacted: bool) -> None:
    """Refuse a campaign that is not the one with which the trial was measured."""
    told = "which was measured; nothing was executed"
    fix = "ask who packed it for the campaign of the trial"
    if not redacted and (
        identity_of(campaign, manifest.campaign_identity) != manifest.campaign_sha256
    ):
        raise StoreError(f"this is not the campaign {told}", str(campaign.source), fix)
    if not (trial / RESOLVED).exists():  # of the first version: the identity is all there is
        if redacted:
            what = "names in this campaign were replaced, and nothing tells whether it is the one"
            raise StoreError(f"{what} {told}", str(campaign.source), fix)
        return
    with opened(trial / RESOLVED) as resolved:
        stored = parse(resolved.read().strip())
    ours = json.loads(json.dumps(campaign.to_dict()))
    theirs = stored.get("campaign") if isinstance(stored, dict) else None
    if not isinstance(theirs, dict):
        raise StoreError("it holds no campaign", str(trial / RESOLVED), fix)
    free = NO_IDENTITY[Campaign]
    other = [key for key, value in theirs.items() if ours.get(key) != value and key not in free]
    if other:
        what = f"the campaign says another thing than the one {told}: {', '.join(other[:8])}"
        raise StoreError(what, str(campaign.source), fix)


def stays_inside(campaign: Campaign, root: Path) -> Iterator[str]:
    """Say where a campaign would work or remove files outside of a folder."""
    for build in campaign.builds:
        if leads_out(build.cwd, root):
            yield f"the build of {build.variant} in {build.cwd}"
    for service in campaign.services:
        if leads_out(service.cwd, root):
            yield f"the service {service.label} in {service.cwd}"
    for cell in campaign.cells:
        of = f"{cell.benchmark} / {cell.variant}"
        if leads_out(cell.cwd, root):
            yield f"{of} in {cell.cwd}"
        for rule in cell.metrics:
            path = rule.source
            if isinstance(path, Path) and leads_out(path, root) and not _live(path):
                removed = "" if rule.when == "build" else ", which is removed first"
                yield f"the metric {rule.name} of {of} is read from {path}{removed}"


def _live(path: Path) -> bool:
    return any(Path(os.path.normpath(path)).is_relative_to(place) for place in ("/proc", "/sys"))


def intent_of(campaign: Campaign, trial: Path, root: Path, *, sessions: int | None) -> Intent:
    """Gather what a received campaign would execute. Nothing is executed to know it."""
    manifest = read_manifest(trial)
    count = manifest.sessions if sessions is None else sessions
    steps = tuple(_merged(_steps(campaign, root)))
    asked = ((cell.stdin, cell.expect.stdout_file, *cell.inputs) for cell in campaign.cells)
    named = [path for paths in asked for path in paths if path is not None]
    named += [path for build in campaign.builds for path in build.artifacts]
    return Intent(
        trial=trial.name,
        campaign=below(campaign.source, root),
        sessions=count,
        sessions_measured=manifest.sessions,
        runs=planned_runs(campaign, count),
        seconds=_seconds(manifest, count),
        steps=steps,
        programs=tuple(programs_of(campaign, manifest, root)),
        variables=dict(campaign.isolation.set_environment),
        keeps=campaign.isolation.keep_environment,
        reads=tuple(dict.fromkeys(str(path) for path in named if is_outside(path, root))),
    )


def _seconds(manifest: Manifest, sessions: int) -> float | None:
    """Scale the time from a trial's start to its end; it says nothing of a trial that was resumed."""
    if manifest.finished is None or manifest.appended or manifest.sessions < 1:
        return None
    try:
        begin, end = map(datetime.datetime.fromisoformat, (manifest.started, manifest.finished))
    except ValueError:
        return None
    took = (end - begin).total_seconds()
    return took * sessions / manifest.sessions if took > 0 else None


def _steps(campaign: Campaign, root: Path) -> Iterator[PreviewedCommand]:
    home = below(campaign.source.parent, root)  # where hooks are executed

    def hooks(kind: Kind, commands: Iterable[Command], *of: str) -> Iterator[PreviewedCommand]:
        for command in commands:
            argv = tuple(with_placeholders(command.argv))
            yield PreviewedCommand(kind=kind, of=of, argv=argv, cwd=home, variables={})

    for build in campaign.builds:
        for command in build.steps:
            yield PreviewedCommand(
                kind="build before each session" if build.each == "session" else "build",
                of=(build.variant,),
                argv=tuple(with_placeholders(command.argv)),
                cwd=below(build.cwd, root),
                variables=with_placeholders(build.env),
            )
    yield from hooks("setup", campaign.hooks.setup)
    for service in campaign.services:
        asked: list[tuple[Kind, Command | None]] = [
            ("service", service.command),
            ("is the service ready", service.ready.command),
        ]
        yield from (
            PreviewedCommand(
                kind=kind,
                of=(service.label,),
                argv=tuple(with_placeholders(wanted.argv)),
                cwd=below(service.cwd, root),
                variables=with_placeholders(service.env),
            )
            for kind, wanted in asked
            if wanted is not None
        )
    for cell in campaign.cells:
        of = f"{cell.benchmark}:{cell.variant}"
        yield from hooks("before each run", cell.before, of)
        yield PreviewedCommand(
            kind="run",
            of=(of,),
            argv=tuple(with_placeholders(cell.command.argv)),
            cwd=below(cell.cwd, root),
            stdin="" if cell.stdin is None else below(cell.stdin, root),
            variables=with_placeholders(cell.env),
        )
        yield from hooks("after each run", cell.after, of)
    yield from hooks("cleanup", campaign.hooks.cleanup)
    yield from hooks("finish", campaign.hooks.finish)


def _merged(steps: Iterable[PreviewedCommand]) -> Iterator[PreviewedCommand]:
    """Put what is the same for several cells together, at the place of the first."""
    whose: dict[object, list[str]] = {}
    first: dict[object, PreviewedCommand] = {}
    for step in steps:
        key = (step.kind, step.argv, step.cwd, step.stdin, tuple(step.variables.items()))
        first.setdefault(key, step)
        whose.setdefault(key, []).extend(step.of)
    for same, step in first.items():
        yield replace(step, of=tuple(dict.fromkeys(whose[same])))


_LIMITS = ("timeout", "timeout_each", "max_memory")
_ALONE = ("sessions", "trial", "yes_execute", "metric", "confidence", "share", "verbose")


def add(subparsers: Subparsers) -> None:
    """Add ``reproduce``."""
    parser = add_command(
        subparsers,
        "reproduce",
        description="Check every hash of an artifact that 'fairtrial bundle' wrote, compute "
        "every stored result again from its raw rows, and say for each number and claim whether "
        "it is the same. Nothing in the artifact is executed. With --rerun, its campaign is "
        "executed here, and the conclusions are compared.",
        examples="""
artifact.zip                        check it: exit code 0, or 1 if it differs
artifact.zip --md                   the same, for a review form
artifact.zip -C FOLDER              keep the unpacked files
--rerun artifact.zip                show what would be executed
--rerun artifact.zip --yes-execute    execute it, in a new folder
""",
    )
    parser.add_argument("artifact", type=Path, metavar="ARTIFACT", help="the artifact, a file")
    parser.add_argument(
        "-C",
        "-o",
        "--into",
        type=Path,
        metavar="FOLDER",
        help="unpack into this new folder, and keep it (default: keep nothing; with --rerun, a "
        "folder with the artifact's name and -rerun)",
    )
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="the result as JSON")
    forms.add_argument(
        "--md", action="store_true", help="the result as Markdown, for a review form"
    )
    parser.add_argument(
        "--max-entries",
        type=positive,
        metavar="N",
        help="accept at most this number of files (default: 10000)",
    )
    parser.add_argument(
        "--max-bytes",
        type=_size,
        metavar="N",
        help="accept at most this size, such as 20G (default: 10G)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="time limit for everything that is computed again (default: 600)",
    )
    parser.add_argument(
        "--timeout-each",
        type=float,
        metavar="SECONDS",
        help="time limit for each command (default: only that of --timeout)",
    )
    parser.add_argument(
        "--max-memory",
        type=_size,
        metavar="N",
        help="memory limit for all commands together, such as 8G (default: 4 GiB)",
    )
    again = parser.add_argument_group("measuring again")
    again.add_argument("--rerun", action="store_true", help="execute the campaign, and compare")
    again.add_argument(
        "--yes-execute",
        action="store_true",
        help="agree to the execution of what --rerun shows: builds, hooks and targets, with your "
        "rights",
    )
    again.add_argument(
        "--sessions",
        type=positive,
        metavar="N",
        help="sessions to measure (default: as many as the authors measured)",
    )
    again.add_argument(
        "--trial",
        action="append",
        metavar="NAME",
        help="only this trial of the artifact; may be repeated (default: all)",
    )
    again.add_argument(
        "--metric", metavar="M", help="the metric to compare (default: that of the verdict)"
    )
    again.add_argument(
        "--confidence", type=float, metavar="R", help="confidence of the intervals (default: 0.95)"
    )
    add_share(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="say only what must be said")
    again.add_argument("-v", "--verbose", action="store_true", help="say more")
    parser.set_defaults(run=_reproduce)


def _reproduce(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from analysis.errors import UsageError

    for name in ("timeout", "timeout_each"):
        seconds = getattr(args, name)
        if seconds is not None and not 0 < seconds < math.inf:
            fix = f"write {_option(name)} 600, or leave it out"
            raise UsageError(f"{_option(name)} must be a time above 0", None, fix)
    if args.rerun:
        for name in _LIMITS:
            if getattr(args, name) is not None:
                fix = f"the campaign's own limits hold; leave {_option(name)} out"
                raise UsageError(f"{_option(name)} goes without --rerun", None, fix)
        return _rerun(args, out, err)
    for name in _ALONE:
        if getattr(args, name):
            what = f"{_option(name)} goes with --rerun"
            raise UsageError(what, None, "add --rerun, or leave it out")
    from analysis.commands.bundle import write_reproduction

    return write_reproduction(
        args.artifact,
        out,
        err,
        form=_form(args),
        folder=args.into,
        max_entries=args.max_entries,
        max_bytes=args.max_bytes,
        timeout_s=args.timeout,
        timeout_each_s=args.timeout_each,
        max_memory=args.max_memory,
        quiet=args.quiet,
    )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _size(text: str) -> int:
    from analysis.commands.bundle import size_in_bytes

    return size_in_bytes(text)


def _form(args: argparse.Namespace) -> Any:  # noqa: ANN401 - one of three texts, for the judge
    return "json" if args.json else "md" if args.md else "text"


def _rerun(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from analysis.commands.bundle import unpack_artifact, write_rerun
    from analysis.errors import FairtrialError, UsageError

    from ..trial.execution import Options, start
    from .live_view import View

    confidence = 0.95 if args.confidence is None else args.confidence
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence!r}", "--confidence")
    view = View(err, quiet=args.quiet, verbose=args.verbose)
    into = args.into or Path(f"{args.artifact.stem}-rerun")
    with _place(into, consent=args.yes_execute) as folder:
        view.say(f"checking {args.artifact}")
        received = unpack_artifact(
            args.artifact,
            folder,
            trials=args.trial or (),
            max_entries=args.max_entries,
            max_bytes=args.max_bytes,
        )
        try:
            campaigns = [
                received_campaign(
                    one.campaign, one.path, received.folder, redacted=received.redacted
                )
                for one in received.trials
            ]
            intents = [
                intent_of(campaign, one.path, received.folder, sessions=args.sessions)
                for campaign, one in zip(campaigns, received.trials, strict=True)
            ]
            for intent, one in zip(intents, received.trials, strict=True):
                refuse_unsaid(intent, one.path, received.page)
        except FairtrialError:
            shutil.rmtree(folder, ignore_errors=True)  # nothing was executed: nothing stays
            raise
        if not args.yes_execute:
            return _ask(args, intents, into, out, err)
        _show(intents, view, into)
        pairs = []
        for one, campaign, intent in zip(received.trials, campaigns, intents, strict=True):
            options = Options(
                folder=received.folder / "runs", sessions=intent.sessions, share=args.share
            )
            ending = start(campaign, options, view)
            trial = str(ending.trial)
            again = ("fairtrial", "run", str(campaign.source), "--resume", "--trial", trial)
            for line in ending.lines(again, took_s=view.took_s):
                view.say(line)
            if ending.status == "interrupted":
                return 130
            pairs.append((one.name, one.path, ending.trial, one.campaign))
        return write_rerun(
            args.artifact.name,
            folder,
            pairs,
            out,
            form=_form(args),
            metric=args.metric,
            confidence=confidence,
        )


@contextlib.contextmanager
def _place(into: Path, *, consent: bool) -> Iterator[Path]:
    """Give the folder to unpack into: what is only shown leaves nothing behind."""
    if consent:
        yield into
        return
    from analysis.commands.bundle import passing_folder

    with passing_folder() as place:
        yield place / "artifact"


def _show(intents: list[Intent], view: View, into: Path) -> None:
    """Say what is about to be executed, quiet or not: it is what was consented to."""
    view.insist(f"executing in {into}, with your rights:")
    for intent in intents:
        for line in intent.lines():
            view.insist(line)


def _ask(
    args: argparse.Namespace, intents: list[Intent], into: Path, out: TextIO, err: TextIO
) -> int:
    """Show what would be executed; nothing is, so this is no success."""
    from analysis.version import VERSION

    if args.json:
        head = {"schema": 1, "method": "rerun-plan", "tool_version": VERSION}
        trials = [one.to_dict() for one in intents]
        write_json({**head, "consent": False, "into": str(into), "trials": trials}, out)
    else:
        out.write(f"this would be executed in the new folder {into}, with your rights:\n")
        for intent in intents:
            out.write(f"{intent}\n")
    err.write(
        "fairtrial: nothing was executed\n"
        "  fix: read the commands above; if you trust them, add --yes-execute. They are not "
        "confined: "
        "a container or another user confines them\n"
    )
    return 2
