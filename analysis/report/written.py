"""How a line's speedup and interval are written on the whole page: decimals by column, not by cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..pages.model import Value
from ..pages.number_format import significant

if TYPE_CHECKING:
    from ..methods.multilevel.result import Line, Multilevel
    from ..verdict.result import Verdict
    from .subject import Subject

__all__ = [
    "Written",
    "all_written",
    "column_of",
    "decimals_of",
    "few_sessions",
    "written",
    "written_of",
]

_WIDE = 1.5  # a column that spans more has two decimals
_ROUGH = ((4.0, 0), (0.4, 1))  # half-widths above which a line has fewer
_SMALL = 0.0995  # below it decimals would leave fewer than three significant digits
_LARGE = 9.995  # and from here on more
_PLAIN = (1e-4, 1e7)  # numbers that are written without an exponent
_MOST = 12  # decimals that are tried to keep an end off 1
_APART = 4  # decimals that are tried to keep the ends apart


@dataclass(frozen=True, slots=True)
class Written:
    """A line as it is written: without the sign of a ratio and without brackets.

    Each text is "" where the number is None, which is where nobody knows it.
    """

    speedup: Value
    low: Value
    high: Value

    @property
    def interval(self) -> str:
        """Both ends, such as ``[2.68, 2.75]``; "" where there are none."""
        return f"[{self.low.text}, {self.high.text}]" if self.low.text else ""


def column_of(result: Multilevel) -> tuple[Line, ...]:
    """Give the lines that stand in one column: the benchmarks and the suite's two lines."""
    suite = (line for line in (result.these, result.similar) if line is not None)
    return (*result.benchmarks, *suite)


def written(line: Line, column: Sequence[Line]) -> Written:
    """Write the numbers of a line that stands in a column, which `column_of` gives.

    Two decimals where the column's speedups span more than a factor of 1.5 and reach above it, three
    elsewhere: below 1 the third decimal is the third significant digit. A line whose interval's
    half-width is above 0.4 has one, above 4 none. No end rounds to 1 unless it is 1, and the two
    ends do not look equal unless they are, up to four decimals: the whole line has as many as that
    takes. From 10 on, and below 0.1, three significant digits decide instead of the column. What
    would round to 0 has one significant digit.
    """
    return _written(line, decimals_of(one.speedup for one in column))


def all_written(column: Sequence[Line]) -> list[Written]:
    """Write all lines of a column."""
    usual = decimals_of(line.speedup for line in column)
    return [_written(line, usual) for line in column]


def written_of(subject: Subject) -> Mapping[str, Mapping[str, Written]]:
    """Write all lines of a subject: candidate, then the line's name, "these" and "similar" among them.

    These are the strings of the page: whatever shows such a number takes them.
    """
    columns = {
        one.variant: column_of(one.multilevel)
        for one in subject.candidates
        if one.multilevel is not None
    }
    return {
        variant: {line.name: told for line, told in zip(column, all_written(column), strict=True)}
        for variant, column in columns.items()
    }


def few_sessions(verdict: Verdict) -> bool:
    """Whether fewer than three sessions were recorded: half a width says nothing then, so no ± is shown.

    Intervals stand with both of their ends. Hosts of a fleet, and runs of a file, are no sessions.
    """
    recorded = verdict.session_runs is not None and verdict.outermost != "host"
    return recorded and verdict.sessions < 3


def _written(line: Line, usual: int) -> Written:
    digits = _decimals(line, usual)
    return Written(*(_value(number, digits) for number in (line.speedup, line.low, line.high)))


def decimals_of(speedups: Iterable[float | None]) -> int:
    """Give the decimals of a column of speedups: two where it spans much, else three."""
    known = [value for value in speedups if value is not None and value > 0]
    if not known:
        return 3
    return 2 if max(known) > _WIDE and max(known) / min(known) > _WIDE else 3


def _decimals(line: Line, usual: int) -> int:
    """Give the decimals of a line: the column's, fewer where it is rough, more where 1 is near."""
    if line.speedup is None:
        return usual
    digits = usual
    if not _SMALL <= line.speedup < _LARGE:
        digits = max(0, _significant(line.speedup))
    low, high = line.low, line.high
    if low is None or high is None:
        return digits
    half = (high - low) / 2
    digits = min([digits, *(few for limit, few in _ROUGH if half > limit)])
    while digits < _MOST and any(_hides_one(end, digits) for end in (low, high)):
        digits += 1
    while digits < _APART and low != high and round(low, digits) == round(high, digits):
        digits += 1
    return digits


def _significant(number: float) -> int:
    """Give the decimals at which a number has three significant digits; negative for large ones."""
    return 2 - math.floor(math.log10(number))


def _hides_one(end: float, digits: int) -> bool:
    return round(end, digits) == 1.0 and not math.isclose(end, 1.0, rel_tol=1e-12)


def _value(number: float | None, digits: int) -> Value:
    if number is None:
        return Value("", None)
    if not _PLAIN[0] <= number < _PLAIN[1]:
        return Value(significant(number), number)
    if number > 0 and round(number, digits) == 0:  # no speedup is 0
        return Value(f"{number:.1g}", number)
    return Value(f"{number:.{digits}f}", number)
