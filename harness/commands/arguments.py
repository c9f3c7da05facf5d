"""What the runner's subcommands share: options, and how a result is shown.

Importing a subcommand costs argparse only: it imports what it needs when it is executed.
"""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from .command_parser import HelpFormatter, by_equals

if TYPE_CHECKING:
    from ..trial.ending import Ending
    from .live_view import View

    # argparse gives no public name to what add_subparsers() returns
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

RUNS = Path("runs")
_SHORT_S = 60.0


def add_command(
    subparsers: Subparsers, name: str, *, description: str, examples: str
) -> argparse.ArgumentParser:
    """Add a subcommand with a description, and examples that begin with its name."""
    lines = "".join(f"\n  fairtrial {name} {line}" for line in examples.strip("\n").splitlines())
    return subparsers.add_parser(
        name,
        description=description,
        epilog=f"examples:{lines}",
        formatter_class=HelpFormatter,
    )


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add ``--dir``."""
    parser.add_argument(
        "--dir", type=Path, default=RUNS, help="the folder of trials (default: runs)"
    )


def add_share(parser: argparse.ArgumentParser) -> None:
    """Add ``--share``."""
    parser.add_argument(
        "--share", action="store_true", help="let others read the new trial (default: only you can)"
    )


def add_wait(parser: argparse.ArgumentParser) -> None:
    """Add ``--wait-for-lock``."""
    waiting = parser.add_argument(
        "--wait-for-lock",
        type=_patience,
        nargs="?",
        const=math.inf,
        default=0.0,
        metavar="SECONDS",
        help="wait until another trial on the same CPUs has ended, for at most so many seconds "
        "(default: do not wait; without a number: as long as it takes)",
    )
    by_equals(waiting)


def _patience(text: str) -> float:
    if not text:  # the option alone
        return math.inf
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise argparse.ArgumentTypeError(f"must be a number of seconds, not {text!r}")
    return seconds


def add_talk(parser: argparse.ArgumentParser, *, markdown: bool = False) -> None:
    """Add ``--json``, with `markdown` also ``--format``, ``--quiet`` and ``--verbose``."""
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print the result as JSON")
    if markdown:
        forms.add_argument(
            "--format",
            choices=("text", "md"),
            default="text",
            help="the form of the answer (default: text)",
        )
    parser.add_argument("-q", "--quiet", action="store_true", help="print only what is necessary")
    parser.add_argument("-v", "--verbose", action="store_true", help="print more")


def positive(text: str) -> int:
    """Read a whole number of at least 1; argparse reports what is none."""
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def short_time(text: str) -> float:
    """Read a duration as campaigns spell it, above 0 and at most a minute, in seconds."""
    from ..campaign.scalar_kinds import seconds_of

    seconds = seconds_of(text)
    if seconds is None or not 0 < seconds <= _SHORT_S:
        raise argparse.ArgumentTypeError(
            f"must be a duration such as 500ms or 2s, at most {_SHORT_S:g}s, not {text!r}"
        )
    return seconds


class Sessions(NamedTuple):
    """What ``--sessions`` says: so many in all, or so many more than are planned."""

    number: int
    more: bool


def sessions_or_more(text: str) -> Sessions:
    """Read ``6`` or ``+2``; argparse reports what is neither."""
    return Sessions(positive(text.removeprefix("+")), text.startswith("+"))


def not_negative(text: str) -> int:
    """Read a whole number, 0 or more; argparse reports what is none."""
    return 0 if text == "0" else positive(text)


def write_json(data: object, out: TextIO) -> None:
    """Write JSON types as a text that a person can read too."""
    import json

    out.write(json.dumps(data, indent=2, allow_nan=False) + "\n")


def write_result(result: Any, out: TextIO, *, as_json: bool) -> None:  # noqa: ANN401 - with to_dict()
    """Write what a command found: for a person, or as JSON."""
    write_json(result.to_dict(), out) if as_json else out.write(f"{result}\n")


def report_ending(
    ending: Ending, view: View, *, again: Sequence[str], json_to: TextIO | None = None
) -> int:
    """Say how a trial ended and what comes next, also as JSON to `json_to`; give the exit code.

    `again` are the words of the command that goes on with the trial.
    """
    if json_to is not None:
        with contextlib.suppress(BrokenPipeError):  # the exit code is still to be told
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
