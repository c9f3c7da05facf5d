"""How a line's numbers and its advice are written, wherever they are shown."""

from __future__ import annotations

import math

from ...data import Unit
from ...report import figures
from .failing import failed_text
from .result import BenchmarkLine, Line, MoreSessions

__all__ = ["advice_text", "interval_text", "needed_text", "reason_text", "speedup_text"]

_BEYOND = "> 100"  # of a number that nobody would go on to


def speedup_text(line: Line) -> str:
    """Write the speedup with as many decimals as its interval deserves."""
    if line.speedup is None:
        return "-"
    return (
        f"{line.speedup:.{digits}f}x"
        if (digits := _decimals(line))
        else figures.ratio(line.speedup)
    )


def interval_text(line: Line) -> str:
    """Write the interval, such as ``[1.02, 1.05]``; empty where there is none."""
    if line.low is None or line.high is None:
        return ""
    digits = _decimals(line)
    ends = (
        f"{end:.{digits}f}" if digits else figures.ratio(end)[:-1] for end in (line.low, line.high)
    )
    return f"[{', '.join(ends)}]"


def _decimals(line: Line) -> int:
    """Give the decimals, 2 to 4; 0 where significant digits are to decide.

    No end is rounded onto 1, or onto the other end, where three or four decimals tell them apart.
    """
    if line.speedup is None or not 0.095 <= line.speedup < 9.995:
        return 0
    if line.low is None or line.high is None:
        return 2
    if line.high >= 99.5 or line.low < 0.0095:
        return 0
    for digits in (2, 3):
        unit = 10.0**-digits
        if line.high - line.low >= 1.5 * unit and all(
            abs(end - 1) >= unit / 2 or math.isclose(end, 1) for end in (line.low, line.high)
        ):
            return digits
    return 2 if line.high == line.low else 4


def reason_text(line: Line) -> str:
    """Say why a benchmark is undecided whatever its interval is, and how many runs failed.

    Empty without either, and where sides are confounded: that is said of all of them.
    """
    if not isinstance(line, BenchmarkLine):
        return ""
    if line.reason == "below-resolution":
        return "; ".join(
            text for text in ("below the clock's resolution", failed_text(line)) if text
        )
    told = ""
    if line.fails_proven:
        told = "gate stops: "
    elif line.reason == "fails-always":
        told = "no run succeeds: "
    return told + failed_text(line)


def advice_text(line: Line, noun: Unit, *, short: bool = False) -> str:
    """Write how much more would decide; empty where nothing is advised.

    Parameters
    ----------
    line : Line
        The line.
    noun : {"session", "host"}
        Of what there would have to be more: what is outermost in its result.
    short : bool
        Whether what holds of more runs is said elsewhere.
    """
    more = line.more_sessions
    if line.outcome != "undecided" or more is None:
        return ""
    if more.sessions is None:
        return f"{_BEYOND} more {noun}s: measure differently"
    text = needed_text(more.sessions, noun)
    if short:
        return f"{text} {_range(more)}"
    if not more.low == more.high == more.sessions:
        text += f" {_range(more)}"
    return f"{text}; more runs alone would not do" if more.runs_suffice is False else text


def needed_text(count: int, noun: Unit) -> str:
    """Write a number of further sessions, or hosts, such as ``about 4 more sessions``."""
    return f"about {count} more {noun}{'s' * (count != 1)}"


def _range(more: MoreSessions) -> str:
    low, high = (_BEYOND if end is None else str(end) for end in (more.low, more.high))
    return f"({low} to {high})"
