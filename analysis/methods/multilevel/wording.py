"""How a line's numbers and its advice are written, wherever they are shown."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Protocol

from ...data import Unit
from ...report import figures
from .looks import LooksRule
from .result import BenchmarkLine, Line, MoreSessions

__all__ = [
    "Looked",
    "advice_text",
    "chance_heading",
    "chance_text",
    "interval_text",
    "level_text",
    "looks_text",
    "needed_text",
    "reason_text",
    "speedup_text",
]

_BEYOND = "> 100"  # of a number that nobody would go on to
_REASONS = {
    "below-resolution": "below the clock's resolution",
    "no-spread": "sessions do not differ, and the clock's step is unknown",
}
_TWO_SESSIONS = 2  # degrees of freedom that any side has of more sessions than two
_MANY = 4  # looks from which on a trial that grows had better have bounds for every look


class Looked(Protocol):
    """What has a look's level: a comparison, a verdict, a gate's candidate."""

    @property
    def looks(self) -> int:
        """Its number."""

    @property
    def look_alpha(self) -> float | None:
        """Its risk."""

    @property
    def looks_rule(self) -> LooksRule:
        """How looks share the risk."""

    @property
    def risk_total(self) -> float | None:
        """The most that all looks together risk."""


def level_text(risk: float) -> str:
    """Write the confidence of the intervals at a look of this risk, such as ``99.17 %``."""
    return f"{100.0 * (1.0 - risk):.4g} %"


def looks_text(one: Looked) -> str:
    """Say which look this is and what it risks; empty of a single one, or of none."""
    if one.looks_rule == "single" or one.look_alpha is None or one.risk_total is None:
        return ""
    if one.looks_rule == "always-valid":
        return "intervals hold however often one looks (a confidence sequence)"
    total = f"all looks together at most {_percent(one.risk_total)}"
    if one.looks_rule == "planned":
        each = f"{one.looks} looks are planned, each judged at {_percent(one.look_alpha)}"
        return f"{each} (alpha/{one.looks}); {total}"
    share = f"alpha/{one.looks * (one.looks + 1)}"
    text = f"look {one.looks} of a growing trial: judged at {_percent(one.look_alpha)} ({share}); {total}"
    if one.looks < _MANY:
        return text
    return f"{text}. For many looks plan --always-valid before the first: narrower from look 5 on"


def _percent(risk: float) -> str:
    """Write a risk, such as ``7.5 %`` and ``.42 %``."""
    return f"{100 * risk:.2g} %".removeprefix("0")


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
    """Say why a benchmark is undecided whatever its interval is.

    Empty without a reason, and where sides are confounded: that is said of all of them.
    """
    if not isinstance(line, BenchmarkLine):
        return ""
    if line.reason == "fails-more":
        runs = line.failed_candidate + line.runs_candidate
        return f"candidate fails {line.failed_candidate} of {runs}"
    return _REASONS.get(line.reason or "", "")


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
    text += f" decide{'s' * (more.sessions == 1)} with a chance {chance_text(line)}"
    if not more.low == more.high == more.sessions:
        text += f" {_range(more)}"
    return f"{text}; more runs alone would not do" if more.runs_suffice is False else text


def chance_text(line: Line) -> str:
    """Say how likely the advised number decides: from two sessions less than it should."""
    return "of rather 2 in 3 to 3 in 4" if _few(line) else "near 80 %"


def _few(line: Line) -> bool:
    return min(line.freedoms or (_TWO_SESSIONS,)) < _TWO_SESSIONS


def chance_heading(lines: Iterable[Line]) -> str:
    """Say above short advice how likely it decides; empty where no number is advised."""
    told = [one for one in lines if one.more_sessions and one.more_sessions.sessions is not None]
    if not told:
        return ""
    return f"would decide in {'2/3 to 3/4' if any(map(_few, told)) else 'about 80 %'}"


def needed_text(count: int, noun: Unit) -> str:
    """Write a number of further sessions, or hosts, such as ``about 4 more sessions``."""
    return f"about {count} more {noun}{'s' * (count != 1)}"


def _range(more: MoreSessions) -> str:
    low, high = (_BEYOND if end is None else str(end) for end in (more.low, more.high))
    return f"({low} to {high})"
