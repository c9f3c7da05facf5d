"""How a line's numbers and its advice are written, wherever they are shown."""

from __future__ import annotations

import math

from ...report import figures
from .result import Line, MoreSessions

__all__ = ["advice_text", "interval_text", "speedup_text"]


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


def advice_text(line: Line) -> str:
    """Write how many more sessions would decide; empty where nothing is advised."""
    more = line.more_sessions
    if more is None:
        return ""
    if more.sessions is None:
        return "> 100 more sessions: measure differently"
    text = f"about {more.sessions} more session{'s' * (more.sessions != 1)}{_range(more)}"
    return f"{text}; more runs alone would not do" if more.runs_suffice is False else text


def _range(more: MoreSessions) -> str:
    if more.low == more.high == more.sessions:
        return ""
    low, high = ("> 100" if end is None else str(end) for end in (more.low, more.high))
    return f" ({low} to {high})"
