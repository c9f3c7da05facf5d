"""What a reader should know of the sessions themselves: two speeds, few of them, or each like the last."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ....report import Caution, figures
from ..contrast import Tables
from ..design import Layout
from ..result import BenchmarkLine, Line
from .dependence import Dependence
from .two_speeds import speeds_of

__all__ = ["session_cautions"]

_FEW = 3  # sessions
_ENOUGH = 6


def session_cautions(
    layout: Layout,
    tables: Tables,
    *,
    zeroed: NDArray[np.bool_],
    lines: Sequence[BenchmarkLine],
    these: Line | None,
    dependence: Dependence | None,
) -> Iterator[Caution]:
    """Say where session values are no such values as t takes them for.

    Parameters
    ----------
    layout, tables : Layout, Tables
        Of both sides.
    zeroed : bool array, shape (benchmarks,)
        Benchmarks that have runs of 0.
    lines : sequence of BenchmarkLine
        Of the benchmarks, in the order of the tables' columns.
    these : Line or None
        Of the suite.
    dependence : Dependence or None
        What is known of neighbours.
    """
    if layout.design not in ("paired", "separate"):
        return
    ours, theirs = ((~np.isnan(table)).sum(axis=0) for table in (tables.ours, tables.theirs))
    least = np.minimum(ours, theirs).tolist()
    yield from _two_speeds(layout, zeroed, lines, (ours + theirs).tolist())
    yield from _few(layout, lines, these, least)
    if dependence is not None and dependence.warned:
        yield _depending(dependence)


def _two_speeds(
    layout: Layout,
    zeroed: NDArray[np.bool_],
    lines: Sequence[BenchmarkLine],
    cells: Sequence[int],
) -> Iterator[Caution]:
    found = speeds_of(layout, zeroed)
    if not found:
        return
    told = []
    for by_side in (False, True):
        those = {k: one.distance for k, one in found.items() if one.by_side == by_side}
        if those:
            named = figures.listed([lines[k].name for k in those])
            told.append(
                _said(named, _percent(those.values()), min(cells[k] for k in those), by_side)
            )
    yield Caution("two-speeds", "; ".join(told), tuple(lines[k].name for k in found))


def _percent(distances: Collection[float]) -> str:
    apart = [f"{100 * math.expm1(one):.2g}" for one in (min(distances), max(distances))]
    return apart[0] if apart[0] == apart[1] else f"{apart[0]} to {apart[1]}"


def _said(named: str, apart: str, cells: int, by_side: bool) -> str:  # noqa: FBT001 - a fact
    chance = f"{100 * 2.0 ** (1 - cells):.3g} % of trials"
    more = f"Measure {_ENOUGH} sessions or more"
    if by_side:
        return (
            f"{named}: each variant keeps one speed ({apart} % apart), and so few sessions would show that "
            f"in {chance} too if every session and variant had one of two speeds by chance. {more}"
        )
    text = f"{named}: sessions lie at one of two speeds ({apart} % apart), between which their runs do not change"
    if cells >= 2 * _ENOUGH:
        return f"{text}; fairtrial diagnose shows which"
    return f"{text}: by chance all of one variant are at one of them in {chance}. {more}"


def _few(
    layout: Layout, lines: Sequence[BenchmarkLine], these: Line | None, least: Sequence[int]
) -> Iterator[Caution]:
    judged = [n for n in least if n >= 2]
    names = tuple(
        line.name
        for line, n in zip(lines, least, strict=False)
        if 2 <= n <= _FEW and line.outcome != "undecided"
    )
    suite = these is not None and these.outcome != "undecided" and min(judged, default=9) <= _FEW
    if names or suite:
        fewest, noun = min(judged), layout.outermost
        yield Caution(
            "few-sessions",
            f"{fewest} {noun}s: what is decided rests on {noun} values being about normal. Measure "
            f"{_ENOUGH} or more",
            names if max(judged) > _FEW else (),  # of all benchmarks none is named
        )


def _depending(found: Dependence) -> Caution:
    whose = "" if found.side is None else f" of the {found.side}"
    return Caution(
        "sessions-depend",
        f"sessions{whose} resemble the ones before them (lag 1 = {found.lag1:.2f}, p "
        f"{figures.pvalue(found.pvalue)}): intervals are too narrow, by a factor of about "
        f"{figures.significant(found.factor, 2)}, and words come too easily. Spread the sessions over days",
    )
