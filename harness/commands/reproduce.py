"""The subcommand ``reproduce``: an artifact checked and computed anew, or measured again."""

from __future__ import annotations

import contextlib
import math
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from analysis.errors import FairtrialError, UsageError
from analysis.options import command
from analysis.record.printer import write_json

from .options import Talk

if TYPE_CHECKING:
    from .rerun_preview import Intent

_LIMITS = ("timeout", "max_memory")
_ALONE = ("sessions", "trial", "yes_execute", "metric", "confidence", "share", "verbose")


class _Options(Talk):
    artifact: Path
    into: Path | None
    md: bool
    max_entries: int
    max_bytes: int
    timeout: float | None
    max_memory: int | None
    rerun: bool
    yes_execute: bool
    sessions: int | None
    trial: list[str] | None
    metric: str | None
    confidence: float | None
    share: bool
    wait_for_lock: float


@command("reproduce", "json", "md")
def reproduce(*, args: _Options, out: TextIO, err: TextIO) -> int:
    """Check every hash of an artifact that 'fairtrial bundle' wrote, and compute its results again.

    Every stored result is computed from its raw rows, and the answer says for each number and claim
    whether it is the same. Nothing in the artifact is executed. With --rerun, its campaign is executed
    here, and the conclusions are compared.

    Examples
    --------
    artifact.zip                        check it: exit code 0, or 1 if it differs
    artifact.zip --md                   the same, for a review form
    artifact.zip -C FOLDER              keep the unpacked files
    --rerun artifact.zip                show what would be executed
    --rerun artifact.zip --yes-execute    execute it, in a new folder
    """
    if args.timeout is not None and not 0 < args.timeout < math.inf:
        fix = "write --timeout 600, or leave it out"
        raise UsageError("--timeout must be a time above 0", None, fix)
    if args.rerun:
        for option in args.given(*_LIMITS):
            fix = f"the campaign's own limits hold; leave {option} out"
            raise UsageError(f"{option} goes without --rerun", None, fix)
        return _rerun(args, out, err)
    for option in args.given(*_ALONE, *["wait_for_lock"] * bool(args.wait_for_lock)):
        raise UsageError(f"{option} goes with --rerun", None, "add --rerun, or leave it out")
    from analysis.commands.share import write_reproduction

    return write_reproduction(
        args.artifact,
        out,
        err,
        as_json=args.json,
        markdown=args.md,
        folder=args.into,
        timeout_s=args.timeout,
        **args.some("max_entries", "max_bytes", "max_memory", "quiet"),
    )


def size(text: str) -> int:
    """Read a number of bytes."""
    from analysis.commands.share import size_in_bytes

    return size_in_bytes(text)


def _rerun(args: _Options, out: TextIO, err: TextIO) -> int:
    from analysis.commands.share import unpack_artifact, write_rerun

    from ..trial.execution import Options, start
    from .live_view import View
    from .rerun_preview import intent_of, received_campaign

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
            **args.some("max_entries", "max_bytes"),
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
        except FairtrialError:
            shutil.rmtree(folder, ignore_errors=True)  # nothing was executed: nothing stays
            raise
        if not args.yes_execute:
            return _ask(args, intents, into, out, err)
        # quiet or not: it is what was consented to
        view.insist(f"executing in {into}, with your rights:")
        view.insist("\n".join(map(str, intents)))
        pairs = []
        runs = received.folder / "runs"
        for one, campaign, intent in zip(received.trials, campaigns, intents, strict=True):
            options = Options(
                folder=runs, sessions=intent.sessions, share=args.share, wait_s=args.wait_for_lock
            )
            try:
                ending = start(campaign, options, view)
            except FairtrialError:
                if not any(runs.glob("*")):  # nothing was executed: the same command may come again
                    shutil.rmtree(folder, ignore_errors=True)
                raise
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
            as_json=args.json,
            markdown=args.md,
            metric=args.metric,
            confidence=confidence,
        )


@contextlib.contextmanager
def _place(into: Path, *, consent: bool) -> Iterator[Path]:
    """Give the folder to unpack into: what is only shown leaves nothing behind."""
    if consent:
        yield into
        return
    from analysis.commands.share import passing_folder

    with passing_folder() as place:
        yield place / "artifact"


def _ask(args: _Options, intents: list[Intent], into: Path, out: TextIO, err: TextIO) -> int:
    """Show what would be executed; nothing is, so this is no success."""
    from analysis.version import VERSION

    if args.json:
        head = {"schema": 1, "method": "rerun-plan", "tool_version": VERSION}
        trials = [asdict(one) for one in intents]
        write_json({**head, "consent": False, "into": str(into), "trials": trials}, out)
    else:
        out.write(f"this would be executed in the new folder {into}, with your rights:\n")
        out.writelines(f"{intent}\n" for intent in intents)
    err.write(
        "fairtrial: nothing was executed\n"
        "  fix: read the commands above; if you trust them, add --yes-execute. They are not "
        "confined: "
        "a container or another user confines them\n"
    )
    return 2
