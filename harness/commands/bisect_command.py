"""The subcommand ``bisect``."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from analysis.commands.options import add_warmup

from .command_parser import by_equals
from .options import add_command, add_folder, add_share, add_talk, add_wait, positive, write_result

if TYPE_CHECKING:
    from analysis.history.bisection import Bisection

    from ..bisect.bisecting import Question, Request
    from .bisect_view import BisectView
    from .options import Subparsers

NEWEST = Path()  # what --resume alone stands for


def add(subparsers: Subparsers) -> None:
    """Add ``bisect``."""
    parser = add_command(
        subparsers,
        "bisect",
        description="Find the commit between GOOD and BAD that made a program slower or faster, and "
        "prove it.\nCommits are built in a clone and measured beside GOOD and BAD; a culprit is named only "
        "after a\nproof on sessions of its own. Builds execute what the commits contain, with your rights.",
        examples="""
v1.4 v1.5 --dry-run                commits, builds, sessions and hours to be expected
v1.4 v1.5                          by campaign.yaml: its baseline's keys hold for every commit
HEAD~40 HEAD --benchmark parse     one benchmark only
v1.4 v1.5 --metric max_rss         the commit that needs more memory
--resume                           go on after Ctrl-C, a kill or a power failure
""",
    )
    parser.add_argument("good", metavar="GOOD", nargs="?", help="the older commit: a tag or a SHA")
    parser.add_argument("bad", metavar="BAD", nargs="?", help="the newer commit")
    parser.add_argument(
        "--campaign", type=Path, metavar="FILE", help="how it is measured (default: campaign.yaml)"
    )
    parser.add_argument(
        "--benchmark", action="append", metavar="NAME", help="only this one; may be repeated"
    )
    parser.add_argument(
        "--metric",
        metavar="NAME",
        help="what is compared (default: the campaign's judge, else wall)",
    )
    add_warmup(parser)
    parser.add_argument(
        "--variant",
        metavar="NAME",
        help="whose keys hold for every commit (default: the campaign's baseline)",
    )
    parser.add_argument(
        "--margin",
        type=_share,
        metavar="M",
        help="differences smaller than this count as none (default: 0.01)",
    )
    parser.add_argument(
        "--risk",
        type=_share,
        metavar="P",
        help="that a commit is named falsely, all proofs together (default: 0.05)",
    )
    parser.add_argument(
        "--looks",
        type=_looks,
        metavar="LIST",
        help="after so many sessions a pair is judged (default: 6,12,24)",
    )
    parser.add_argument(
        "--sessions-max", type=positive, metavar="N", help="sessions in all (default: no limit)"
    )
    parser.add_argument(
        "--all", action="store_true", help="also where there are more than 1,000 commits"
    )
    add_folder(parser)
    parser.add_argument(
        "--work-dir",
        type=Path,
        metavar="DIR",
        help="where commits are built and programs kept (default: in ~/.cache/fairtrial)",
    )
    resuming = parser.add_argument(
        "--resume",
        type=Path,
        nargs="?",
        const=NEWEST,
        metavar="FOLDER",
        help="go on with this bisection (default: the newest that is not ended)",
    )
    by_equals(resuming)
    parser.add_argument(
        "--dry-run", action="store_true", help="show what is to be expected; build nothing"
    )
    parser.add_argument(
        "--strict", action="store_true", help="warnings of required checks are fatal (exit 3)"
    )
    parser.add_argument(
        "--why",
        action="store_true",
        help="then ask of each culprit in which functions it differs from its parent, as 'fairtrial why'",
    )
    add_wait(parser)
    add_share(parser)
    add_talk(parser, markdown=True)
    parser.set_defaults(run=_run)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(
            f"must be a number from 0 to below 1, such as 0.01, not {text!r}"
        )
    return value


def _looks(text: str) -> tuple[int, ...]:
    numbers = tuple(positive(part.strip()) for part in text.split(","))
    if numbers[0] < 2 or any(a >= b for a, b in itertools.pairwise(numbers)):
        raise argparse.ArgumentTypeError(
            f"must be numbers of sessions that grow from 2 or more, such as 6,12,24, not {text!r}"
        )
    return numbers


def request_of(args: argparse.Namespace) -> Request:
    """Give what a command line of ``bisect`` asks."""
    from ..bisect.bisecting import Request
    from ..bisect.journal import newest_unfinished

    resume = args.resume
    if resume == NEWEST and args.good is not None and args.bad is None:
        resume, args.good = Path(args.good), None  # its folder stands behind the option
    if resume == NEWEST:
        asked = None if args.campaign is None else str(args.campaign.absolute())
        resume = newest_unfinished(args.dir, asked)
    return Request(
        good=args.good,
        bad=args.bad,
        campaign=args.campaign,
        benchmarks=tuple(args.benchmark or ()),
        metric=args.metric,
        margin=args.margin,
        risk=args.risk,
        looks=args.looks,
        sessions_max=args.sessions_max,
        folder=args.dir,
        work_dir=args.work_dir,
        variant=args.variant,
        every=args.all,
        resume=resume,
        strict=args.strict,
        share=args.share,
        wait_s=args.wait_for_lock,
        warmup_iterations=args.warmup_iterations,
    )


def _run(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from analysis.record.manifest import judging_with

    from ..bisect.bisecting import question_of

    request = request_of(args)
    question = question_of(request)
    with judging_with(question.asked.warmup_iterations):  # of a resumed one, as it was asked
        return _asked(question, request, args, out, err)


def _asked(
    question: Question, request: Request, args: argparse.Namespace, out: TextIO, err: TextIO
) -> int:
    from analysis.commands.options import show

    from ..bisect.bisecting import bisect
    from ..launch.matching import Interrupted
    from .bisect_view import BisectView

    if args.dry_run:
        from ..bisect.expecting import expected

        write_result(expected(question, request), out, as_json=args.json)
        return 0
    listener = BisectView(err, quiet=args.quiet, verbose=args.verbose)
    try:
        found = bisect(question, request, listener, listener)
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


def _write_with_why(args: argparse.Namespace, found: Bisection, out: TextIO, err: TextIO) -> None:
    """Write the answer, and behind it why each culprit differs; JSON has that as its key ``why``.

    What stops the second changes nothing of the first: it is said, and JSON has null.
    """
    from analysis.commands.options import show
    from analysis.errors import FairtrialError

    from ..launch.matching import Interrupted
    from .bisect_view import why_of
    from .options import write_json

    markdown = args.format == "md"
    if not args.json:
        show(found, out, as_json=False, markdown=markdown)
        out.flush()
    told = None
    try:
        told = why_of(found, args, err)
    except FairtrialError as error:
        err.write(f"fairtrial: no answer to --why: {error}\n")
    except Interrupted:
        err.write("--why was stopped by you; the bisection is complete\n")
    if args.json:
        write_json({**found.to_dict(), "why": None if told is None else told.to_dict()}, out)
    elif told is not None:
        out.write("\n")
        show(told, out, as_json=False, markdown=markdown)
