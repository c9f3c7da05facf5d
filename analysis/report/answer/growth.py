"""How the forest grows: all benchmarks of a few, of many the ends, what cautions name, and bins."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from ...pages.model import Value
from ...plots.palette import style_of
from .result import Bin, Row

__all__ = ["DENSE", "LISTED", "grouped", "kept_of", "style_of_bin"]

DENSE = 12  # more benchmarks have one line of text each
LISTED = 60  # more are not listed one by one
_ENDS = 15  # of the fastest, and of the slowest
_CAUTIONED = 30
_BINS = 8
_FEW = 3  # rows between others that need no bin
_WORDS = ("faster", "better", "equivalent", "undecided", "slower", "worse", "")


def kept_of(order: Sequence[str], cautioned: Collection[str]) -> Collection[str]:
    """Choose the benchmarks that are listed: all up to 60, else both ends and what cautions name."""
    if len(order) <= LISTED:
        return set(order)
    some = [name for name in order if name in cautioned][:_CAUTIONED]
    return {*order[:_ENDS], *order[-_ENDS:], *some}


def grouped(rows: Sequence[Row], kept: Collection[str]) -> tuple[Row | Bin, ...]:
    """Put the rows that are not kept into bins, where they stand.

    Parameters
    ----------
    rows : sequence of Row
        In the order of the page, so that the bins are the same in each column.
    kept : collection of str
        Names of the benchmarks that stay.
    """
    hidden = sum(row.name.whole not in kept for row in rows)
    most = -(-hidden // _BINS)
    found: list[Row | Bin] = []
    waiting: list[Row] = []
    for row in rows:
        if row.name.whole in kept:
            found += _bins(waiting, most)
            waiting = []
            found.append(row)
        else:
            waiting.append(row)
    return (*found, *_bins(waiting, most))


def _bins(rows: Sequence[Row], most: int) -> Sequence[Row | Bin]:
    """Cut rows into bins of nearly equal size; very few stay as they are."""
    if len(rows) <= _FEW:
        return rows
    count = -(-len(rows) // most)
    ends = [len(rows) * k // count for k in range(count + 1)]
    return [_bin(rows[start:end]) for start, end in pairwise(ends)]


def _bin(rows: Sequence[Row]) -> Bin:
    known = sorted(
        (row.speedup for row in rows if row.speedup.value is not None),
        key=lambda value: value.value or 0.0,
    )
    counts = {word: sum(row.word == word for row in rows) for word in _WORDS}
    return Bin(
        count=len(rows),
        lowest=known[0] if known else Value("", None),
        highest=known[-1] if known else Value("", None),
        speedups=tuple(float(value.value) for value in known if value.value is not None),
        counts=tuple((word or "not compared", n) for word, n in counts.items() if n),
    )


def style_of_bin(one: Bin) -> str:
    """Give the role that a bin is drawn in: that of its only word, else neither."""
    return style_of(one.counts[0][0]) if len(one.counts) == 1 else "neither"
