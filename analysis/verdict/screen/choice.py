"""Which benchmarks a first screen shows: all of a few; of many the ends, and what has cautions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Choice", "chosen"]

_ALL = 12  # rows that are all shown
_ENDS = 4  # of the fastest, and of the slowest
_CAUTIONED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The benchmarks shown, in the trial's order, and how many are not."""

    shown: tuple[str, ...]
    hidden: int


def chosen(
    benchmarks: Sequence[str],
    speedups: Mapping[str, float | None],
    cautioned: Collection[str],
    *,
    whole: bool,
) -> Choice:
    """Choose the rows of a screen.

    Parameters
    ----------
    benchmarks : sequence of str
        All of them, in their order.
    speedups : mapping of str to float or None
        What they are sorted by; those without are neither fastest nor slowest.
    cautioned : collection of str
        Those that a caution is about.
    whole : bool
        Show all.
    """
    if whole or len(benchmarks) <= _ALL:
        return Choice(shown=tuple(benchmarks), hidden=0)
    known = [(value, bench) for bench in benchmarks if (value := speedups.get(bench)) is not None]
    known.sort(key=lambda pair: pair[0])
    ends = {bench for _, bench in (*known[:_ENDS], *known[-_ENDS:])}
    marked = [bench for bench in benchmarks if bench in cautioned and bench not in ends]
    kept = ends | set(marked[:_CAUTIONED])
    shown = tuple(bench for bench in benchmarks if bench in kept)
    return Choice(shown=shown, hidden=len(benchmarks) - len(shown))
