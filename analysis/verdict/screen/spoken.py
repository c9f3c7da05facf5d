"""How a line of `multilevel` is written: speedup, interval, word, and what would settle it."""

from __future__ import annotations

from ...methods.multilevel import BenchmarkLine, Line, Multilevel, advice_text, reason_text
from ...report import Value, figures, said

__all__ = [
    "advice",
    "interval_text",
    "quantity",
    "ratio_text",
    "share",
    "speedup",
    "word",
]


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
        if line.reason is not None:
            return reason_text(line)
        if line.outcome == "undecided" and line.outcome_uncorrected != "undecided":
            return f"after correction for {len(result.benchmarks)}"
    return advice_text(line, result.outermost, short=True)
