"""How a line of `multilevel` is written: speedup, interval, word, and what would settle it."""

from __future__ import annotations

from ...methods.multilevel import BenchmarkLine, Line, Multilevel
from ...report import Value, figures, said
from ..result import Verdict

__all__ = [
    "advice",
    "interval_text",
    "level_text",
    "quantity",
    "ratio_text",
    "share",
    "speedup",
    "word",
]

_LIMIT = 100  # sessions beyond which nobody is advised to go on
_REASONS = {
    "confounded": "",  # the heading says it of all
    "below-resolution": "below the clock's resolution",
}


def ratio_text(line: Line) -> str:
    """Write a line's speedup, with the decimals that its interval needs."""
    if line.speedup is None:
        return "-"
    return figures.ratio_within(line.speedup, line.low, line.high)


def interval_text(line: Line) -> str:
    """Write a line's interval; "-" where there is none."""
    if line.low is None or line.high is None:
        return "-"
    return figures.ends(line.low, line.high)


def level_text(verdict: Verdict) -> str:
    """Write the level that the intervals have: several looks share the risk."""
    looks = 1 if verdict.always_valid else verdict.looks
    return f"{100 * (1 - (1 - verdict.confidence) / looks):.4g} %"


def speedup(line: Line) -> Value:
    """Give a cell with a line's speedup."""
    return Value(ratio_text(line), line.speedup)


def quantity(value: float | None, unit: str) -> Value:
    """Give a cell with a mean in its unit."""
    return Value("-" if value is None else figures.quantity(value, unit), value)


def share(value: float | None) -> Value:
    """Give a cell with a relative spread."""
    return Value("-" if value is None else f"{figures.significant(100 * value, 2)} %", value)


def word(line: Line, unit: str) -> str:
    """Say what the candidate is: of a metric that is neither time nor rate, better or worse."""
    return said(line.outcome, timed=figures.timed(unit))


def advice(line: Line, result: Multilevel) -> str:
    """Say why a line is undecided, or what would settle it."""
    if isinstance(line, BenchmarkLine):
        if line.reason == "fails-more":
            total = line.failed_candidate + line.runs_candidate
            return f"candidate fails {line.failed_candidate} of {total}"
        if line.reason is not None:
            return _REASONS.get(line.reason, line.reason)
        if line.outcome == "undecided" and line.outcome_uncorrected != "undecided":
            return f"after correction for {len(result.benchmarks)}"
    more = line.more_sessions
    if line.outcome != "undecided" or more is None:
        return ""
    if more.sessions is None:
        return f"> {_LIMIT} more sessions: measure differently"
    plural = "s" * (more.sessions != 1)
    if more.low is None:
        return f"about {more.sessions} more session{plural}"
    high = f"> {_LIMIT}" if more.high is None else f"{more.high}"
    return f"about {more.sessions} more session{plural} ({more.low} to {high})"
