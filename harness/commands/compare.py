"""The subcommand ``compare``: measure, then judge."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import (
    add_command,
    add_folder,
    add_share,
    add_talk,
    add_wait,
    not_negative,
    positive,
    report_ending,
)

if TYPE_CHECKING:
    from .arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``compare``."""
    parser = add_command(
        subparsers,
        "compare",
        description="Measure commands now, in shuffled blocks, and judge them. The first one is the "
        "baseline.\nNo shell reads them, unless --shell is given.",
        examples="""
'gzip -6 -k -c data' 'gzip -1 -k -c data'
--shell 'sort f | uniq' 'sort -u f'
-n C -n UTF-8 'env LC_ALL=C sort f' 'env LC_ALL=C.UTF-8 sort f'
""",
    )
    parser.add_argument("commands", nargs="+", metavar="COMMAND", help="a program with arguments")
    parser.add_argument(
        "-n", "--name", action="append", default=[], help="one for each command (default: from it)"
    )
    parser.add_argument("--runs", type=positive, help="per command and session (default: by time)")
    parser.add_argument("--sessions", type=positive, default=6, help="(default: 6)")
    parser.add_argument(
        "--warmup",
        type=not_negative,
        help="per command and session (default: 1; where commands take long, in the first only)",
    )
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="longest time of a run (default: none)"
    )
    parser.add_argument("--shell", action="store_true", help="execute each with /bin/sh -c")
    parser.add_argument(
        "--stdin", type=Path, metavar="FILE", help="standard input (default: /dev/null)"
    )
    parser.add_argument("--prepare", metavar="COMMAND", help="by a shell, before each run, untimed")
    parser.add_argument(
        "--exit",
        type=int,
        action="append",
        metavar="CODE",
        help="an expected exit code; may be given again (default: 0)",
    )
    parser.add_argument("--cpus", help="auto, none or a list such as 2,3 (default: auto)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (default: 1)")
    add_folder(parser)
    add_wait(parser)
    add_share(parser)
    add_talk(parser)
    parser.set_defaults(run=_compare)


def _compare(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    import tempfile

    from analysis.commands.verdict import write_verdict
    from analysis.errors import FairtrialError

    from ..trial.execution import Options, start
    from .compare_campaign import campaign_of
    from .live_view import View, scale

    view = View(err, quiet=args.quiet, verbose=args.verbose)
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as place:
        campaign = campaign_of(args, Path.cwd(), Path(place))
        view.say(scale(campaign, campaign.protocol.sessions, None))
        options = Options(
            folder=args.dir,
            passing=True,
            share=args.share,
            wait_s=args.wait_for_lock,
            cpus_named_by="--cpus",
        )
        ending = start(campaign, options, view)
    campaign_file = str(ending.trial / "campaign.yaml")
    again = ("fairtrial", "run", campaign_file, "--resume", "--trial", str(ending.trial))
    code = report_ending(ending, view, again=again)
    if ending.done < 2 * len(campaign.cells):
        return code
    try:
        with contextlib.suppress(BrokenPipeError):  # the exit code is still to be told
            write_verdict(ending.trial, out, as_json=args.json)
    except FairtrialError as error:
        if error.exit_code > code:
            raise
        err.write(f"fairtrial: {error}\n")  # that it was interrupted says more
    return code
