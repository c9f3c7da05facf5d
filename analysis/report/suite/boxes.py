"""Five numbers of each benchmark: its runs over the median of the baseline's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...pages import number_format as figures
from ...pages.model import Value
from ...pages.number_format import said
from ...plots.palette import style_of
from ...stats.samples import median
from .result import BoxBand, BoxColumn, BoxRow, FiveNumbers

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...record.run_numbers import Better
    from ..subject import Subject

__all__ = ["columns_of", "five_numbers"]

Array = NDArray[np.float64]

_LISTED = 60  # more benchmarks are not listed one by one
_ENDS = 15  # of the first, and of the last
_CAUTIONED = 30
_BANDS = 24
_WIDE = 1.5  # a column that spans more has two decimals
_QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
_POOLED = (0.05, 0.25, 0.5, 0.75, 0.95)


def columns_of(subject: Subject) -> tuple[BoxColumn, ...]:
    """Give a column of boxes for each candidate, or for the only variant.

    Benchmarks that one side lacks are not in it, and neither are those with runs of 0.
    """
    base = subject.matrices.get(subject.baseline)
    if base is None or not base.benchmarks:
        return ()
    if not subject.candidates:
        return (_column(subject, base, base, {}),)
    found = []
    for one in subject.candidates:
        matrix = subject.matrices.get(one.variant)
        if matrix is None or one.multilevel is None:
            continue
        words = {
            line.name: said(line.outcome, timed=one.multilevel.timed)
            for line in one.multilevel.benchmarks
        }
        column = _column(subject, matrix, base, words)
        if column.rows:
            found.append(column)
    return tuple(found)


def five_numbers(
    values: Array,
    over: float = 1.0,
    *,
    better: Better = "higher",
    digits: int | None = None,
    at: Sequence[float] = _QUARTILES,
) -> FiveNumbers:
    """Give quantiles of runs, by linear interpolation between neighbours, as ratios.

    Parameters
    ----------
    values : array, shape (n,)
        At least one positive number.
    over : float
        What the runs are compared with; a ratio above 1 is better than that.
    better : {"lower", "higher"}
        Which values are better.
    digits : int, optional
        Decimals of all five; by default as many as these five need.
    at : sequence of float
        Which quantiles, the worst first: the five numbers of a box.

    References
    ----------
    .. [1] R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The American
       Statistician 50(4), 1996, definition 7.
    """
    places = np.array(at) if better == "higher" else 1 - np.array(at)
    found = np.quantile(values, places)
    five = (found / over if better == "higher" else over / found).tolist()
    decimals = _digits(five) if digits is None else digits
    worst, q1, middle, q3, best = (_value(number, decimals) for number in five)
    return FiveNumbers(runs=int(values.size), worst=worst, q1=q1, median=middle, q3=q3, best=best)


def _column(
    subject: Subject,
    matrix: PerformanceMatrix,
    base: PerformanceMatrix,
    words: Mapping[str, str],
) -> BoxColumn:
    alone = matrix is base
    both = set(matrix.benchmarks) & set(base.benchmarks)
    names = [bench for bench in subject.order if bench in both]
    middles = {bench: float(median(base.values(bench))) for bench in names}
    digits = _digits(_ratios(matrix, bench, middles[bench], middle=True)[0] for bench in names)

    def numbers(side: PerformanceMatrix, bench: str) -> FiveNumbers:
        return five_numbers(side.values(bench), middles[bench], better=base.better, digits=digits)

    rows = tuple(
        BoxRow(
            benchmark=bench,
            link=subject.anchor("benchmark", bench),
            word=words.get(bench, ""),
            style="baseline" if alone else style_of(words.get(bench, "undecided")),
            baseline=numbers(base, bench),
            candidate=None if alone else numbers(matrix, bench),
        )
        for bench in names
    )
    listed = _listed(subject, names)
    hidden = [bench for bench in names if bench not in listed]
    return BoxColumn(
        candidate=matrix.name,
        rows=rows,
        listed=tuple(bench for bench in names if bench in listed),
        bands=tuple(
            _bands(
                hidden, {bench: _ratios(matrix, bench, middles[bench]) for bench in hidden}, digits
            )
        ),
        apart=sum(
            row.candidate is not None and _apart(row.candidate, row.baseline) for row in rows
        ),
        compared=0 if alone else len(rows),
    )


def _ratios(matrix: PerformanceMatrix, bench: str, over: float, *, middle: bool = False) -> Array:
    """Give the runs on the scale of speedups, or their median only."""
    values = matrix.values(bench)
    chosen = np.array([median(values)]) if middle else values
    return np.asarray(over / chosen if matrix.better == "lower" else chosen / over)


def _listed(subject: Subject, names: Sequence[str]) -> set[str]:
    """Choose who is shown one by one: all, or both ends and what cautions name."""
    if len(names) <= _LISTED:
        return set(names)
    about = {name for caution in subject.verdict.cautions for name in caution.about}
    some = [name for name in names if name in about][:_CAUTIONED]
    return {*names[:_ENDS], *names[-_ENDS:], *some}


def _bands(hidden: Sequence[str], ratios: Mapping[str, Array], digits: int) -> Iterator[BoxBand]:
    count = min(_BANDS, len(hidden))
    ends = [len(hidden) * k // count for k in range(count + 1)] if count else []
    for start, end in itertools.pairwise(ends):
        names = hidden[start:end]
        together = np.concatenate([ratios[name] for name in names])
        yield BoxBand(
            benchmarks=len(names),
            first=names[0],
            last=names[-1],
            numbers=five_numbers(together, digits=digits, at=_POOLED),
        )


def _apart(one: FiveNumbers, other: FiveNumbers) -> bool:
    """Whether two boxes have nothing in common."""
    _, low, _, high, _ = one.numbers
    _, least, _, most, _ = other.numbers
    return high < least or most < low


def _digits(numbers: Iterable[float]) -> int:
    """Give the decimals of a column: two where it spans more than a factor of 1.5, else three."""
    known = list(numbers)
    if not known:
        return 3
    return 2 if max(known) > _WIDE and max(known) / min(known) > _WIDE else 3


def _value(number: float, digits: int) -> Value:
    """Write a ratio; far from 1 three significant digits decide."""
    if 0.0995 <= number < 9.995:
        return Value(f"{number:.{digits}f}", number)
    far = math.isinf(number) or not 1e-4 <= number < 1e7
    return Value(f"{number:.2e}" if far else figures.significant(number), number)
