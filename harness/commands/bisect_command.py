"""The subcommand ``bisect``."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from analysis.options import command, positive
from analysis.record.printer import write_json

from .options import Placed, Talk, write_result

if TYPE_CHECKING:
    from analysis.history.bisection import Bisection
    from analysis.record.manifest import WarmupIterations

    from ..bisect.bisecting import Question, Request
    from .bisect_view import BisectView

NEWEST = Path()  # what --resume alone stands for


class _Options(Placed, Talk):
    good: str | None
    bad: str | None
    campaign: Path | None
    benchmark: list[str] | None
    metric: str | None
    warmup_iterations: WarmupIterations | None
    variant: str | None
    margin: float | None
    risk: float | None
    looks: tuple[int, ...] | None
    sessions_max: int | None
    all: bool
    work_dir: Path | None
    resume: Path | None
    dry_run: bool
    strict: bool
    why: bool
    format: str


def growing_looks(text: str) -> tuple[int, ...]:
    """Read numbers of sessions that grow."""
    numbers = tuple(positive(part.strip()) for part in text.split(","))
    if numbers[0] < 2 or any(a >= b for a, b in itertools.pairwise(numbers)):
        raise argparse.ArgumentTypeError(
            f"must be numbers of sessions that grow from 2 or more, such as 6,12,24, not {text!r}"
        )
    return numbers


def request_of(args: _Options) -> Request:
    """Give what a command line of ``bisect`` asks."""
    from ..bisect.bisecting import Request
    from ..bisect.journal import newest_unfinished

    resume = args.resume
    if resume == NEWEST and args.good is not None and args.bad is None:
        resume, args.good = Path(args.good), None  # its folder stands behind the option
    if resume == NEWEST:
        asked = None if args.campaign is None else str(args.campaign.absolute())
        resume = newest_unfinished(args.dir, asked)
    said = args.some("good", "bad", "campaign", "metric", "margin", "risk", "looks", "variant")
    said |= args.some("sessions_max", "work_dir", "warmup_iterations")
    said |= {"benchmarks": tuple(args.benchmark or ()), "every": args.all or None}
    return Request(
        terms={name: one for name, one in said.items() if one not in (None, "", ())},
        folder=args.dir,
        resume=resume,
        wait_s=args.wait_for_lock,
        **args.some("strict", "share"),
    )


@command("bisect", "json", "format")
def bisect(*, args: _Options, out: TextIO, err: TextIO) -> int:
    """Find the commit between GOOD and BAD that made a program slower or faster, and prove it.

    Commits are built in a clone and measured together with GOOD and BAD; a culprit is named only after a proof
    on sessions of its own. Builds execute what the commits contain, with your rights.

    Examples
    --------
    v1.4 v1.5 --dry-run                commits, builds, sessions and hours to be expected
    v1.4 v1.5                          by campaign.yaml: its baseline's keys hold for every commit
    HEAD~40 HEAD --benchmark parse     one benchmark only
    v1.4 v1.5 --metric max_rss         the commit that needs more memory
    --resume                           go on after Ctrl-C, a kill or a power failure
    """
    from analysis.record.manifest import judging_with

    from ..bisect.bisecting import question_of

    question = question_of(request_of(args))
    with judging_with(question.asked.warmup_iterations):  # of a resumed one, as it was asked
        return _search(question, args, out, err)


def _search(question: Question, args: _Options, out: TextIO, err: TextIO) -> int:
    from analysis.option_groups import show

    from ..bisect.bisecting import bisect as search
    from ..launch.matching import Interrupted
    from .bisect_view import BisectView

    if args.dry_run:
        from ..bisect.bisecting import expected

        write_result(expected(question), out, as_json=args.json)
        return 0
    listener = BisectView(err, quiet=args.quiet, verbose=args.verbose)
    try:
        found = search(question, listener)
    except Interrupted:
        return _stopped(listener)
    finally:
        listener.close()
    if args.why:
        _write_with_why(args, found, out, err)
    else:
        show(found, out, as_json=args.json, markdown=args.format == "md")
    assert found.exit_code is not None, "it is ended"
    return found.exit_code


def _stopped(listener: BisectView) -> int:
    """Say what is kept after a signal, and how to go on; give the exit code."""
    from analysis.words import next_lines

    from ..errors import counted

    folder, sessions = listener.folder, listener.sessions
    if folder is None:
        return 130
    listener.insist(f"stopped by you after {counted(sessions, 'session')}; all of them are kept")
    for line in next_lines(("fairtrial", "bisect", "--resume", str(folder)), "goes on"):
        listener.insist(line)
    return 130


def _write_with_why(args: _Options, found: Bisection, out: TextIO, err: TextIO) -> None:
    """Write the answer, and behind it why each culprit differs; JSON has that as its key ``why``.

    What stops the second changes nothing of the first: it is said, and JSON has null.
    """
    from analysis.errors import FairtrialError
    from analysis.option_groups import show

    from ..launch.matching import Interrupted
    from .bisect_view import why_of

    markdown = args.format == "md"
    if not args.json:
        show(found, out, as_json=False, markdown=markdown)
        out.flush()
    text = None
    try:
        quiet, verbose, wait_s = args.quiet, args.verbose, args.wait_for_lock
        text = why_of(found, err, quiet=quiet, verbose=verbose, wait_s=wait_s)
    except FairtrialError as error:
        err.write(f"fairtrial: no answer to --why: {error}\n")
    except Interrupted:
        err.write("--why was stopped by you; the bisection is complete\n")
    if args.json:
        write_json({**found.to_dict(), "why": None if text is None else text.to_dict()}, out)
    elif text is not None:
        out.write("\n")
        show(text, out, as_json=False, markdown=markdown)
