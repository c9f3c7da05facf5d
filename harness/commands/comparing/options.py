"""The options of ``compare``: its own, and those of hyperfine, which mean the same or are answered."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..arguments import (
    add_folder,
    add_share,
    add_talk,
    add_wait,
    not_negative,
    positive,
)
from ..command_parser import by_equals

if TYPE_CHECKING:
    from collections.abc import Mapping

SHELL = "/bin/sh"
EVENTS = ("instructions", "cycles", "branch-misses", "page-faults")
_LONGEST_S = 1e6
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|min|h)?")

# options of hyperfine that cannot be here, and what to write instead
ELSEWHERE: Mapping[str, str] = {
    "--export-asciidoc": "not here; --export-markdown FILE, or fairtrial report --format md",
    "--export-orgmode": "not here; --export-markdown FILE, or fairtrial report --format md",
    "--show-output": "not here; to see it once: fairtrial compare --try COMMAND",
    "--reference": "here it is --baseline COMMAND",
}
# options of hyperfine that are accepted, and have nothing to do
_IGNORED: Mapping[str, str] = {
    "style": "--style: not needed; -q prints the answer only",
    "sort": "--sort: not needed; commands stand as they were typed",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options of ``compare``."""
    how = parser.add_argument_group("what is compared")
    how.add_argument(
        "--baseline", metavar="COMMAND", help="the command that the others are held against"
    )
    how.add_argument(
        "-n",
        "--name",
        "--command-name",
        action="append",
        default=[],
        metavar="NAME",
        help="what a command is called; one for each (default: the command itself)",
    )
    how.add_argument(
        "-L",
        "--parameter-list",
        nargs=2,
        action="append",
        metavar=("NAME", "VALUES"),
        help="fill {NAME} with each of the values, such as 1,6,9; given twice: all combinations",
    )
    how.add_argument(
        "-P",
        "--parameter-scan",
        nargs=3,
        action="append",
        metavar=("NAME", "FIRST", "LAST"),
        help="fill {NAME} with the numbers from FIRST to LAST",
    )
    how.add_argument(
        "-D", "--parameter-step-size", metavar="STEP", help="the step of -P (default: 1)"
    )
    how.add_argument(
        "--try", dest="attempt", metavar="COMMAND", help="execute it once, and show what it prints"
    )
    _add_amount(parser)
    _add_execution(parser)
    _add_answer(parser)
    add_folder(parser)
    add_wait(parser)
    add_share(parser)
    add_talk(parser)
    for name in _IGNORED:
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    vars(parser).setdefault("elsewhere", {}).update(ELSEWHERE)


def _add_amount(parser: argparse.ArgumentParser) -> None:
    much = parser.add_argument_group("how much is measured")
    much.add_argument(
        "--for",
        dest="for_s",
        type=duration,
        metavar="TIME",
        help="measure at most so long, such as 90s or 5m (default: 20 s for two commands)",
    )
    much.add_argument(
        "--margin",
        type=margin,
        metavar="PERCENT",
        help="the largest difference that counts as none (default: 1%%)",
    )
    much.add_argument(
        "--open", action="store_true", help="go on looking behind 108 sessions; more has to differ"
    )
    resume = much.add_argument(
        "--resume",
        nargs="?",
        const="",
        metavar="TRIAL",
        help="go on with a comparison: --resume TRIAL, or alone with the newest",
    )
    by_equals(resume)
    much.add_argument(
        "-w",
        "--warmup",
        type=not_negative,
        metavar="N",
        help="runs before those that count (default: the one try)",
    )
    much.add_argument(
        "-r",
        "--runs",
        type=positive,
        metavar="N",
        help="of each command, exactly; no stopping before",
    )
    much.add_argument(
        "-m", "--min-runs", type=positive, metavar="N", help="of each command, at least"
    )
    much.add_argument(
        "-M", "--max-runs", type=positive, metavar="N", help="of each command, at most"
    )
    much.add_argument(
        "--sessions",
        type=positive,
        metavar="N",
        help="exactly so many; -r counts runs of each then",
    )


def _add_execution(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("how commands are executed")
    what.add_argument("-S", dest="shell", action="append", metavar="SH", help="execute by SH -c")
    shell = what.add_argument(
        "--shell",
        nargs="?",
        const="",
        action="append",
        metavar="SH",
        help=f"the same; alone: {SHELL} -c (default: no shell)",
    )
    by_equals(shell)
    what.add_argument(
        "-N", dest="no_shell", action="store_true", help="no shell, which is the default"
    )
    what.add_argument(
        "-i", "--ignore-failure", action="store_true", help="every exit code counts as success"
    )
    what.add_argument(
        "--exit",
        type=int,
        action="append",
        metavar="CODE",
        help="an expected exit code; may be given again (default: 0)",
    )
    what.add_argument(
        "-p",
        "--prepare",
        action="append",
        metavar="COMMAND",
        help="by a shell, before each run, untimed; one for all commands, or one for each",
    )
    what.add_argument(
        "-s", "--setup", metavar="COMMAND", help="by a shell, before the first session"
    )
    what.add_argument(
        "-c", "--cleanup", metavar="COMMAND", help="by a shell, after the last session"
    )
    what.add_argument(
        "--stdin",
        "--input",
        type=_input,
        action="append",
        metavar="FILE",
        help="standard input, of all or of each (default: /dev/null)",
    )
    what.add_argument(
        "--output",
        metavar="WHERE",
        help="where they print: null, pipe, inherit or a FILE (default: null; pipe where the try "
        "shows that /dev/null changes the time)",
    )
    what.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="longest time of a run (default: none)"
    )
    what.add_argument("--cpus", help="auto, none or a list such as 2,3 (default: auto)")
    what.add_argument("--seed", type=int, default=1, help="of the order (default: 1)")
    counters = what.add_argument(
        "--counters",
        nargs="?",
        const="",
        metavar="EVENTS",
        help=f"count too, and show memory (default: {','.join(EVENTS)})",
    )
    by_equals(counters)


def _add_answer(parser: argparse.ArgumentParser) -> None:
    answer = parser.add_argument_group("the answer")
    answer.add_argument(
        "-u", "--time-unit", type=_unit, metavar="UNIT", help="of the table: s, ms or us"
    )
    answer.add_argument("--export-json", metavar="FILE", help="also write hyperfine's JSON")
    answer.add_argument("--export-csv", metavar="FILE", help="also write hyperfine's CSV")
    answer.add_argument(
        "--export-markdown", metavar="FILE", help="also write the answer as Markdown"
    )


def remarks(args: argparse.Namespace) -> Iterator[str]:
    """Say which options of hyperfine had nothing to do."""
    if args.no_shell or args.shell == ["none"]:
        yield f"{'-N' if args.no_shell else '--shell=none'}: no shell is started anyway"
    for name, said in _IGNORED.items():
        if getattr(args, name) is not None:
            yield said


def shell_of(given: str | None) -> str | None:
    """Give the shell that ``-S`` or ``--shell`` asks for; None for none."""
    return None if given in (None, "none") else given or SHELL


def output_of(given: str | None) -> str | None:
    """Give what ``--output`` names as a campaign has it; None where nothing is named."""
    known = {None: None, "pipe": "pipe", "inherit": "inherit", "null": "discard"}
    return known[given] if given in known else str(Path(given or "").absolute())


def duration(text: str) -> float:
    """Read a time such as ``90s``, ``5m`` or ``1h``; a bare number are seconds. Gives seconds."""
    found = _TIME.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2] or "s"] if found else math.nan
    if not 0 < seconds <= _LONGEST_S:
        raise argparse.ArgumentTypeError(f"must be a time such as 90s or 5m, not {text!r}")
    return seconds


def margin(text: str) -> float:
    """Read ``3%`` or ``0.03``, above 0 and at most half; gives a share."""
    percent = text.strip().endswith("%")
    try:
        share = float(text.strip().removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        share = math.nan
    if not 0 < share <= 0.5:
        raise argparse.ArgumentTypeError(f"must be per cent such as 3%, not {text!r}")
    return share


def _input(text: str) -> Path:
    if text == "-":
        raise argparse.ArgumentTypeError("each run reads anew, '-' once: cat > FILE, --stdin FILE")
    return Path(text)


def _unit(text: str) -> str:
    known = {
        **dict.fromkeys(("s", "second", "seconds"), "s"),
        **dict.fromkeys(("ms", "millisecond", "milliseconds"), "ms"),
        **dict.fromkeys(("us", "µs", "microsecond", "microseconds"), "us"),
    }
    if text not in known:
        raise argparse.ArgumentTypeError(f"must be s, ms or us, not {text!r}")
    return known[text]
