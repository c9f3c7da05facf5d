"""The plain values of the compact table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...pages.model import Value
    from ...pages.number_format import Word

__all__ = ["Against", "Brief", "Mean", "Row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """One side on one benchmark, by itself.

    Attributes
    ----------
    mean : Value
        Geometric mean of its runs, sessions weighing equally.
    half : Value
        Half the width of its own interval, as a share of the mean; "" and None where there is none.
    """

    mean: Value
    half: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A benchmark, or one of the suite's lines.

    Attributes
    ----------
    name : str
        The benchmark, "these" or "similar".
    label : str
        How the line is called on a screen.
    candidate, baseline : Mean or None
        Both sides; None in the suite's lines.
    speedup, low, high : Value
        As everywhere in the report.
    outcome : {"faster", "slower", "equivalent", "undecided"}
        What the candidate is.
    word : str
        The same for a screen: of a metric that is neither time nor rate better or worse.
    advice : str
        Why it is undecided, or what would settle it.
    """

    name: str
    label: str
    candidate: Mean | None
    baseline: Mean | None
    speedup: Value
    low: Value
    high: Value
    outcome: Word
    word: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """One candidate: a row for each benchmark as the report lists them, then the suite's lines.

    `rows` is empty where nothing could be compared.
    """

    variant: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The answer for one metric.

    Attributes
    ----------
    heading : str
        What was measured, in one line.
    metric, unit, baseline : str
        What was judged, in what, and against which side.
    level : Value
        The level of all intervals.
    rests_on : str
        What the sides' own intervals rest on: "sessions", "hosts", "blocks" or "runs", or "" where there are
        none.
    candidates : tuple of Against
        In the trial's order; empty where there is nothing to compare.
    alone : tuple of (str, Mean, Value)
        Of one side alone: each benchmark, its mean and its number of runs.
    """

    heading: str
    metric: str
    unit: str
    baseline: str
    level: Value
    rests_on: str
    candidates: tuple[Against, ...]
    alone: tuple[tuple[str, Mean, Value], ...]
