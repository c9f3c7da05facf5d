"""What plans of sessions and of hosts say alike: their goal, their times, their tables' cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from ..report import Value, figures

__all__ = [
    "NAME",
    "against",
    "costs_text",
    "count_value",
    "detectable_value",
    "goal_text",
    "range_text",
    "share_value",
    "shown_rows",
    "time_text",
    "time_value",
    "width_value",
]

NAME = 30  # columns for a name
_HUGE = 10  # no speedup from there on is worth four decimals


class _Asked(Protocol):
    """What a plan was asked for."""

    @property
    def on(self) -> str: ...
    @property
    def width(self) -> float | None: ...
    @property
    def effect(self) -> float | None: ...
    @property
    def power(self) -> float: ...
    @property
    def confidence(self) -> float: ...


class _Costs(Protocol):
    """What the pilot's runs took, in seconds."""

    @property
    def block_s(self) -> float: ...
    @property
    def warmup_s(self) -> float: ...


class _Planned(Protocol):
    """A row of the table: its runs, None where no number of them will do."""

    @property
    def runs(self) -> int | None: ...


_Row = TypeVar("_Row", bound=_Planned)


def against(candidate: str, baseline: str) -> str:
    """Name the two sides."""
    return " against ".join(figures.shorten(name, NAME) for name in (candidate, baseline))


def goal_text(plan: _Asked, lines: int) -> str:
    """Say what is asked for, and whether of each of so many lines."""
    each = "" if plan.on == "suite" or lines == 1 else " for every benchmark"
    goals = []
    if plan.width is not None:
        goals.append(f"a {100 * plan.confidence:g} % interval of width {plan.width:g}")
    if plan.effect is not None:
        goals.append(f"to tell a speedup of {plan.effect:g}x with probability {plan.power:g}")
    return f"{' and '.join(goals)}{each}"


def range_text(low: int | None, high: int | None, most: int) -> str:
    """Say from how many to how many; None is more than `most`, the most that were looked at."""
    upper = f"more than {most}" if high is None else f"{high}"
    return upper if low in (None, high) else f"{low} to {upper}"


def shown_rows(rows: Sequence[_Row]) -> tuple[_Row, ...]:
    """Leave out what is not enough, but for the last such row."""
    short = [row for row in rows if row.runs is None]
    return (*short[-1:], *(row for row in rows if row.runs is not None))


def costs_text(costs: _Costs) -> str:
    """Say what runs of the pilot took."""
    return (
        f"a run of every cell took {time_text(costs.block_s)}, a session's warm-up "
        f"{time_text(costs.warmup_s)}"
    )


def count_value(count: int | None) -> Value:
    """Set a number of sessions, runs or hosts."""
    return Value("-" if count is None else str(count), count)


def share_value(sd: float | None) -> Value:
    """Set a standard deviation of logs as a share of the value."""
    return Value("-" if sd is None else f"{figures.significant(100 * sd, 2)} %", sd)


def width_value(width: float | None) -> Value:
    """Set the relative width of an interval."""
    return Value("-" if width is None else figures.significant(width), width)


def detectable_value(speedup: float | None) -> Value:
    """Set the speedup that is told from 1."""
    text = f"{speedup:.4f}x" if speedup is not None and speedup < _HUGE else "-"
    return Value(text, speedup)


def time_value(seconds: float | None) -> Value:
    """Set a time."""
    return Value("-" if seconds is None else time_text(seconds), seconds)


def time_text(seconds: float) -> str:
    """Write a time as hours from an hour and a half on, then minutes, then seconds."""
    if seconds >= 5400:
        return f"{figures.significant(seconds / 3600, 2)} h"
    if seconds >= 100:
        return f"{seconds / 60:.0f} min"
    return figures.quantity(seconds, "s")
