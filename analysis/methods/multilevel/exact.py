"""What is counted: whole numbers are exact, so what does not vary is decided, and zero is a value.

A side that is constant in n1 cells (sessions, or runs of one session), the other constant at another value
in n2: whatever one law all cells have, that happens by chance with at most (identity)

    p = 2 n1^n1 n2^n2 / (n1 + n2)^(n1 + n2)                                                             (1)

With a 0 among the runs ratios have no logarithm. There tables hold values instead of logs, and t is taken of
E(r) = c - r b: r = 1 for a difference, the margin or a gate's limit for the others (arithmetic).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import xlogy

from ...pages.number_format import Word, is_time
from ...stats.samples import Array, Flags
from .design import PAIRS, Design, Layout, Tables, judged_runs
from .estimates import Estimates, floored, number_of, of_differences, of_sides
from .result import MoreSessions

if TYPE_CHECKING:
    from .law import Decisions
    from .lines import LineParts
    from .values import Resolution

Scale = Literal["log", "arithmetic"]
_MOST = 2.0**53  # from which on doubles skip whole numbers
FAR = 16.0  # logs; an end of a ratio of counts that is farther off is none
IDENTICAL = "identical"  # the reason for a word that needs no test
FEWEST = 3  # cells of a side that does not vary, without which nothing is decided


def exact_values(unit: str, *sides: Array) -> bool:
    """Tell whether values are counted, not measured: whole numbers of what is neither a time, a rate, nor a share."""
    if is_time(unit) or unit == "%" or ("/" in unit and is_time(unit.rpartition("/")[2])):
        return False
    return all(bool(((one == np.rint(one)) & (np.abs(one) < _MOST)).all()) for one in sides)


def identity_pvalue(ours: Array | int, theirs: Array | int) -> Array:
    """Give (1) for so many cells of both sides; nan for fewer than three."""
    n, m = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    whole = np.maximum(n + m, 1.0)
    p = np.minimum(2.0 * np.exp(xlogy(n, n / whole) + xlogy(m, m / whole)), 1.0)
    return np.where(np.minimum(n, m) >= FEWEST, p, np.nan)


def identity_needs(ours: int, theirs: int, level: float) -> int:
    """Give how many more cells of each side bring (1) to a level, and both to three."""
    more = 0
    while not identity_pvalue(ours + more, theirs + more) <= level:
        more += 1
    return more


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Both sides of a benchmark are constant: their numbers, the sessions of the shorter side, the runs of both."""

    candidate: float
    baseline: float
    sessions: int
    runs: int


def identity_reason(found: Identity, word: Word) -> str | None:
    """Say what keeps an identity from a word, or that both sides are the same number."""
    if found.sessions < FEWEST:
        return "no-spread"
    if word == "undecided":
        return "few-sessions"
    return IDENTICAL if found.candidate == found.baseline else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exact:
    """What is counted, arrays over the benchmarks; of sides, shape (2, benchmarks), candidate first.

    `flags` tells which are, `arithmetic` which of them have a run of 0. `values` are those of sides that do not vary,
    nan else; `cells` counts sessions, or runs within one; `runs` those of both sides.
    """

    flags: Flags
    arithmetic: Flags
    values: Array
    cells: Array
    runs: Array

    @property
    def constant(self) -> Flags:
        """Of which benchmarks neither side varies."""
        return np.asarray(~np.isnan(self.values).any(axis=0))

    def identity(self, k: int) -> Identity | None:
        """Give the numbers of a benchmark of which neither side varies."""
        if not self.constant[k]:
            return None
        ours, theirs = self.values[:, k].tolist()
        least, runs = int(self.cells[:, k].min()), int(self.runs[k])
        return Identity(candidate=ours, baseline=theirs, sessions=least, runs=runs)


def exact_of(layout: Layout, unit: str, zeroed: Flags) -> Exact:
    """Look at all judged runs of a layout."""
    count, flags = layout.benchmarks, np.zeros(layout.benchmarks, dtype=np.bool_)
    values, cells, runs = np.full((2, count), np.nan), np.zeros((2, count)), np.zeros(count)
    alone = layout.design.startswith("one session")
    for k in range(count) if exact_values(unit) else ():
        sides = judged_runs(layout, k)
        if not all(one.size and exact_values(unit, one) for one, _ in sides):
            continue
        flags[k], runs[k] = True, sum(one.size for one, _ in sides)
        for number, (one, session) in enumerate(sides):
            cells[number, k] = one.size if alone else np.unique(session).size
            if np.ptp(one) == 0 and layout.design != "confounded":
                values[number, k] = one[0]
    return Exact(flags=flags, arithmetic=flags & zeroed, values=values, cells=cells, runs=runs)


def as_the_other(side: Estimates, other: Estimates, constant: Flags) -> Estimates:
    """Give a side that is constant, by chance perhaps, the spread of the other's values."""
    known = constant & (side.values > 1) & (other.values > 1)
    spread = other.error * np.sqrt(other.values / np.maximum(side.values, 1))
    return side._replace(error=np.where(known, spread, side.error))


def estimates_of(
    design: Design, tables: Tables, resolution: Resolution, exact: Exact, ratio: float = 1.0
) -> Estimates:
    """Give the estimate of each benchmark, with its error where the design has one; `ratio` is the r of E."""
    added = np.where(np.isnan(resolution.added), 0.0, resolution.added)
    if design in PAIRS:
        found = of_differences(tables.ours - ratio * tables.theirs)
        found = floored(found, np.hypot(resolution.floor_ours, ratio * resolution.floor_theirs))
    else:
        ours, theirs = sides_of(tables, resolution, exact)
        scaled = theirs._replace(estimate=ratio * theirs.estimate, error=ratio * theirs.error)
        found = of_sides(ours, scaled)
    chance = np.where(exact.constant, identity_pvalue(*exact.cells), np.nan)
    found = found._replace(step=added, chance=chance)
    return unjudged(found) if design == "confounded" else found


def sides_of(tables: Tables, resolution: Resolution, exact: Exact) -> tuple[Estimates, Estimates]:
    """Give the mean of each side, with its own floor."""
    ours, theirs = of_differences(tables.ours), of_differences(tables.theirs)
    alone = ~np.isnan(exact.values) & ~exact.constant
    return (
        floored(as_the_other(ours, theirs, alone[0]), resolution.floor_ours),
        floored(as_the_other(theirs, ours, alone[1]), resolution.floor_theirs),
    )


def above(judged: LineParts, k: int | slice, limit: float) -> Array:
    """Give the one-sided p of H0: the speedup is `limit` or less, of benchmarks that are arithmetic; nan of others."""
    exact = judged.exact
    if not exact.arithmetic.any():
        return np.full(exact.flags.shape, np.nan)[k]
    ratio = limit**judged.sign
    found = estimates_of(judged.design, judged.tables, judged.resolution, exact, ratio)
    return np.asarray(np.where(exact.arithmetic, judged.law.one_sided(found), np.nan)[k])


def unjudged(found: Estimates) -> Estimates:
    """Give the estimates without their errors."""
    nothing = np.full(found.estimate.shape, np.nan)
    return found._replace(error=nothing, freedom=nothing, parts=None)


def counted_fields(
    judged: LineParts, d: Decisions, k: int, means: Sequence[Sequence[float | None]]
) -> dict[str, Any]:
    """Give what a line of counts has else than others."""
    identity = judged.exact.identity(k)
    found: dict[str, Any] = {} if identity is None else {"law": "identity", "identity": identity}
    if not judged.exact.arithmetic[k]:
        return found
    middle, *ends = (judged.sign * one[k] for one in (judged.each.estimate, d.low, d.high))
    low, high = sorted(ends)
    ours, theirs = (side[k] for side in means)
    speedup = (ours / theirs) ** judged.sign if ours and theirs else None
    found |= dict.fromkeys(("low", "high", "error", "freedom", "errors", "freedoms"))
    found |= {} if speedup is None else _ends(judged, k, math.log(speedup))
    return found | {
        "scale": "arithmetic",
        "speedup": speedup,
        "difference": number_of(middle),
        "difference_low": number_of(low),
        "difference_high": number_of(high),
        "above": partial(above, judged, k),
    }


def _ends(judged: LineParts, k: int, middle: float) -> dict[str, float]:
    """Give the ends of the speedups that E does not reject; nothing where they go on without end."""
    from scipy.optimize import brentq  # a third of what a verdict takes to start

    def left(log: float, way: int) -> float:
        p = float(above(judged, k, math.exp(log)))
        return (p if way < 0 else 1.0 - p) - judged.law.alpha / 2

    try:
        ends = [math.exp(brentq(left, middle, middle + way * FAR, (way,))) for way in (-1, 1)]
    except ValueError:
        return {}
    return dict(zip(("low", "high"), ends, strict=True))


def advice_on_identities(
    judged: LineParts, reasons: Sequence[str | None], steps: Array
) -> dict[int, MoreSessions]:
    """Advise on what does not vary: so many more sessions decide, if they do not vary either."""
    found = {}
    for k, reason in enumerate(reasons):
        one, gap = judged.exact.identity(k), float(judged.each.estimate[k])
        if one is None or reason not in ("few-sessions", "no-spread"):
            continue
        margin = 0.0 if judged.exact.arithmetic[k] else judged.margin
        same = one.candidate == one.baseline or abs(gap) < margin
        level = 1.0 if same else judged.next_law.alpha / float(steps[k])
        n, m = judged.exact.cells[:, k].astype(int).tolist()
        more = identity_needs(n, m, level)
        target: Word = "equivalent" if same else "faster" if gap > 0 else "slower"
        found[k] = MoreSessions(
            sessions=more, low=more, high=more, chance=1.0, target=target, runs_suffice=False
        )
    return found if judged.design in ("paired", "separate") else {}
