"""Estimates, standard errors and degrees of freedom, of benchmarks and of the suite.

Everything is on the log scale and works along the last axes, so that many trials can be judged at
once. A table has a row for each session (or block, or run) and a column for each benchmark; nan
where a benchmark has no value.

References
----------
.. [1] B. L. Welch, "The generalization of 'Student's' problem when several different population
   variances are involved", Biometrika 34, 1947.
.. [2] F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
   Biometrics Bulletin 2, 1946.
.. [3] S. K. Banerjee, "Approximate confidence interval for linear functions of means of k populations
   when the population variances are not equal", Sankhya 22, 1960.

"These" asks what the same benchmarks would give in other sessions: the sessions vary, the benchmarks
stay. "Others like them" adds that other benchmarks would have been chosen. Both have one estimate,
the mean over the benchmarks' log ratios. Tables are those of `estimates`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit, xlogy

from ...pages.number_format import Word, is_time
from ...stats.samples import Array, Flags, Integers
from .design import PAIRS, Design, Layout, Tables, judged_runs

FLAT = 1e-12  # logs that differ by less from their mean do not vary


LawName = Literal["t", "welch", "banerjee", "satterthwaite", "grouped", "identity"]


class ErrorParts(NamedTuple):
    """Independent parts of standard errors, arrays of shape (..., parts).

    Where an estimate has fewer parts than others, some have error 0 and infinite freedom.
    """

    errors: Array
    freedoms: Array

    def of(self, k: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Give the errors and freedoms of the parts of estimate `k`."""
        there = np.isfinite(self.freedoms[k])
        return tuple(self.errors[k][there].tolist()), tuple(self.freedoms[k][there].tolist())


class Estimates(NamedTuple):
    """An estimate with its standard error and degrees of freedom, arrays of one shape.

    `error` and `freedom` are nan where fewer than two values leave them unknown; `error` is 0 where
    the values do not vary. `values` is how many there are, on both sides together. Where an error is
    known and `freedom` is nan, no single one fits: each of its `parts` has a quantile of its own.
    `laws` names what holds where there is a single one, and where there is none. `step` is what the
    clock adds to each half-width, None for nothing. `chance` is the p-value of counts that do not vary, nan of others.
    """

    estimate: Array
    error: Array
    freedom: Array
    values: Integers
    parts: ErrorParts | None = None
    laws: tuple[LawName, LawName] = ("t", "t")
    step: Array | None = None
    chance: Array | None = None

    def changed(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Estimates:
        """Give what a function makes of the leading axes of each of the arrays."""
        names = ("estimate", "error", "freedom", "values", "step", "chance")
        own: dict[str, Any] = {
            name: change(part) for name in names if (part := getattr(self, name)) is not None
        }
        parts = None if self.parts is None else ErrorParts(*map(change, self.parts))
        return self._replace(**own, parts=parts)

    @property
    def widening(self) -> Array:
        """What the clock adds to each half-width."""
        return np.zeros(np.shape(self.estimate)) if self.step is None else self.step

    def own_parts(self) -> ErrorParts:
        """Give the parts that have a quantile of their own: one where a single freedom fits."""
        one = ErrorParts(self.error[..., None], self.freedom[..., None])
        apart = np.isnan(one.freedoms)
        if self.parts is None or not apart.any():
            return one
        later = np.arange(self.parts.errors.shape[-1]) > 0
        return ErrorParts(
            np.where(apart, self.parts.errors, np.where(later, 0.0, one.errors)),
            np.where(apart, self.parts.freedoms, np.where(later, np.inf, one.freedoms)),
        )


def number_of(value: float, needed: float = 0.0) -> float | None:
    """Give a number, None for nan, or where what it belongs to is nan."""
    return None if math.isnan(value) or math.isnan(needed) else float(value)


def of_differences(values: Array) -> Estimates:
    """Give the mean of the columns of differences: t with as many degrees of freedom as values less 1."""
    there = ~np.isnan(values)
    count = there.sum(axis=-2)
    total = np.where(there, values, 0.0).sum(axis=-2)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    apart = np.where(there, values - mean[..., None, :], 0.0)
    varies = (np.abs(apart) >= FLAT).any(axis=-2)
    square = (apart**2).sum(axis=-2) / np.maximum(count - 1, 1) / np.maximum(count, 1)
    enough = count >= 2
    return Estimates(
        estimate=mean,
        error=np.where(enough, np.where(varies, np.sqrt(square), 0.0), np.nan),
        freedom=np.where(enough, count - 1.0, np.nan),
        values=count,
    )


def of_sides(ours: Estimates, theirs: Estimates) -> Estimates:
    """Give the difference of two independent estimates.

    Where both have the same degrees of freedom: Welch's t with Satterthwaite's ([1]_, [2]_). Its far
    tail, which a correction for many benchmarks needs, is wrong where one side is much shorter: with 10
    and 2 sessions it rejects at level .05 / 8 up to 10 times too often. There Banerjee's bound ([3]_)
    takes its place: the half-width sqrt(t1^2 e1^2 + t2^2 e2^2), with each part's own quantile of t,
    which holds its level whatever the variances are.
    """
    sides = [side.own_parts() for side in (ours, theirs)]
    parts = ErrorParts(*(np.concatenate(both, axis=-1) for both in zip(*sides, strict=True)))
    equal = np.abs(ours.freedom - theirs.freedom) < FLAT
    return Estimates(
        estimate=ours.estimate - theirs.estimate,
        error=np.hypot(ours.error, theirs.error),
        freedom=np.where(equal, satterthwaite(*parts), np.nan),
        values=ours.values + theirs.values,
        parts=parts,
        laws=("welch", "banerjee"),
    )


def in_groups(errors: Array, freedoms: Array, groups: Integers) -> tuple[Array, ErrorParts]:
    """Put errors together: Satterthwaite's freedom within a group, a quantile for each group.

    Satterthwaite's t has too light a tail where a part of few degrees of freedom meets one of many; so
    only parts of equally many values share a freedom, and groups are parts of Banerjee's bound ([3]_).
    """
    numbers = np.unique(groups[groups >= 0])
    mine = groups[..., None, :] == numbers[:, None]
    there = mine.any(axis=-1)
    each = np.where(mine, errors[..., None, :], 0.0)
    found = satterthwaite(each, np.where(mine, freedoms[..., None, :], np.inf))
    parts = ErrorParts(np.sqrt((each**2).sum(axis=-1)), np.where(there, found, np.inf))
    one = there.sum(axis=-1) == 1
    return np.where(one, np.where(there, found, 0.0).sum(axis=-1), np.nan), parts


def floored(found: Estimates, floor: Array) -> Estimates:
    """Give the estimates with errors of at least the floor, where one is known."""
    least = np.where(np.isnan(floor), 0.0, floor)
    return found._replace(error=np.maximum(found.error, least))


def satterthwaite(errors: Array, freedoms: Array) -> Array:
    """Give the degrees of freedom of the root of the sum of squares of errors ([1]_, [2]_)."""
    largest = errors.max(axis=-1, keepdims=True)
    varies = np.asarray(largest[..., 0] > 0)
    with np.errstate(invalid="ignore"):
        share = (errors / np.where(largest > 0, largest, 1.0)) ** 2
        spent = (share**2 / freedoms).sum(axis=-1)
        found = share.sum(axis=-1) ** 2 / np.where(varies, spent, 1.0)
    counted = np.where(np.isinf(freedoms), 0.0, freedoms).sum(axis=-1)
    flat = np.where(np.isnan(largest[..., 0]), np.nan, counted)
    return np.asarray(np.where(varies, found, flat))


Source = Literal["runs", "others"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resolution:
    """The clock's step and what follows from it, arrays over the benchmarks; nan where it is unknown.

    `step`: The greatest that divides all differences within each side, in their unit. `sources` (tuple
    of {"runs", "others"} or None): How it is known. `log`: The same on the log scale, at the
    smaller of both means. `floor_ours`, `floor_theirs`: The least standard error of each side's
    mean. `added`: What is added to half-widths: 0 or `log`.
    """

    step: Array
    sources: tuple[Source | None, ...]
    log: Array
    floor_ours: Array
    floor_theirs: Array
    added: Array

    @property
    def floor(self) -> Array:
        """The least standard error of the difference."""
        return np.hypot(self.floor_ours, self.floor_theirs)


Floors = tuple[Array, Array]  # of both sides, shape (benchmarks,)


def suite_of_differences(
    values: Array, weights: Array, floor: Array | None = None, lent: Array | float = 0.0
) -> Estimates:
    """Give the mean over the benchmarks of paired differences, whole sessions as clusters; `lent` is what these do not show of the error."""
    each = of_differences(values)
    share = shares_of(each.estimate, weights)
    there = ~np.isnan(values)
    apart = np.where(there, values - each.estimate[..., None, :], 0.0)
    scale = share / np.maximum(each.values, 1)
    residual = (apart * scale[..., None, :]).sum(axis=-1)
    sessions = (there & (share > 0)[..., None, :]).any(axis=-1).sum(axis=-1)
    used = np.where(share > 0, each.values, np.iinfo(np.int64).max)
    freedom = np.minimum(used.min(axis=-1), sessions) - 1.0
    enough = freedom >= 1
    varies = (np.abs(residual) >= FLAT).any(axis=-1)
    variance = sessions / np.maximum(sessions - 1, 1) * (residual**2).sum(axis=-1)
    error = np.hypot(np.where(varies, np.sqrt(variance), 0.0), lent)
    if floor is not None:
        error = np.maximum(error, np.sqrt(np.nansum((share * floor) ** 2, axis=-1)))
    return Estimates(
        estimate=_mean(each.estimate, share),
        error=np.where(enough, error, np.nan),
        freedom=np.where(enough, freedom, np.nan),
        values=sessions,
    )


def suite_of_means(
    ours: Array,
    theirs: Array,
    weights: Array,
    floors: Floors | None = None,
    alone: Flags | None = None,
) -> Estimates:
    """Give the same for sides of different sessions: V = V_c + V_b, by the law of two sides; of one constant `alone` the other's."""
    a_each, b_each = of_differences(ours).estimate, of_differences(theirs).estimate
    known = np.where(np.isnan(a_each - b_each), 0.0, weights)
    sides = []
    for k, (table, other) in enumerate(((ours, theirs), (theirs, ours))):
        some, lent = np.zeros(1) if alone is None else np.where(alone[k], known, 0.0), np.zeros(())
        if some.any():
            found = suite_of_differences(other, some)
            lent = found.error * np.sqrt(found.values / len(table)) * some.sum() / known.sum()
        sides.append(suite_of_differences(table, known, floors and floors[k], lent))
    return of_sides(*sides)


def suite_of_cells(
    ours: Array, theirs: Array, weights: Array, floors: Floors | None = None
) -> Estimates:
    """Give the same with every cell a stratum of its own: single runs that nothing ties together."""
    a, b = of_differences(ours), of_differences(theirs)
    if floors is not None:
        a, b = (floored(side, floor) for side, floor in zip((a, b), floors, strict=True))
    each = a.estimate - b.estimate
    share = shares_of(each, weights)
    left_out = share == 0
    errors = np.concatenate(
        [np.where(left_out, 0.0, side.error * share) for side in (a, b)], axis=-1
    )
    freedoms = np.concatenate([np.where(left_out, 1.0, side.freedom) for side in (a, b)], axis=-1)
    unequal = ((a.values != b.values) & ~left_out).any(axis=-1, keepdims=True)
    runs = [np.where(left_out, -1, np.where(unequal, side.values, 0)) for side in (a, b)]
    error = np.sqrt((errors**2).sum(axis=-1))
    freedom, parts = in_groups(errors, freedoms, np.concatenate(runs, axis=-1))
    return Estimates(
        estimate=_mean(each, share),
        error=error,
        freedom=np.where(np.isnan(error), np.nan, freedom),
        values=np.where(left_out, 0, a.values + b.values).sum(axis=-1),
        parts=parts,
        laws=("satterthwaite", "grouped"),
    )


def similar_half(each: Array, weights: Array, half: Array, alpha: float) -> Array:
    """Give the half-width for others like these benchmarks; nan where nothing varies, neither sessions nor benchmarks."""
    share = shares_of(each, weights)
    squares = np.asarray((share**2).sum(axis=-1))
    several = squares < 1  # one benchmark, or one that outweighs all others, has no spread
    mean = _mean(each, share)
    apart = np.where(share > 0, each - mean[..., None], 0.0)
    # for equal weights s_m^2 = sum(apart^2) / (B - 1), and squares = 1 / B
    variance = (share * apart**2).sum(axis=-1) / np.where(several, 1.0 - squares, 1.0)
    freedom = np.where(several, 1.0 / np.where(squares > 0, squares, 1.0) - 1.0, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.hypot(-stdtrit(freedom, alpha / 2) * np.sqrt(variance * squares), half)
    return np.asarray(np.where(np.isfinite(found) & (found > FLAT), found, np.nan))


def shares_of(each: Array, weights: Array) -> Array:
    """Give the weights of the benchmarks that have an estimate, summing to 1 (0 where none has)."""
    known = np.where(np.isnan(each), 0.0, weights)
    total = known.sum(axis=-1, keepdims=True)
    return np.asarray(known / np.where(total > 0, total, 1.0))


def _mean(each: Array, share: Array) -> Array:
    total = np.where(share > 0, each * share, 0.0).sum(axis=-1)
    return np.asarray(np.where((share > 0).any(axis=-1), total, np.nan))


# --- What is counted: whole numbers are exact, so what does not vary is decided, and zero is a value.
#
# A side that is constant in n1 cells (sessions, or runs of one session), the other constant at another value
# in n2: whatever one law all cells have, that happens by chance with at most (identity)
#
#     p = 2 n1^n1 n2^n2 / (n1 + n2)^(n1 + n2)                                                             (1)
#
# With a 0 among the runs ratios have no logarithm. There tables hold values instead of logs, and t is taken of
# E(r) = c - r b: r = 1 for a difference, the margin or a gate's limit for the others (arithmetic).

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
    """Give (1) for the cells of both sides; nan for fewer than three."""
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
        """The benchmarks where neither side varies."""
        return np.asarray(~np.isnan(self.values).any(axis=0))

    @property
    def alone(self) -> Flags:
        """The benchmarks where a side is the only one that does not vary."""
        return np.asarray(~np.isnan(self.values) & ~self.constant)

    def identity(self, k: int) -> Identity | None:
        """Give the numbers of a benchmark where neither side varies."""
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
        if not all(exact_values(unit, one) for one, _ in sides):
            continue
        flags[k], runs[k] = True, sum(one.size for one, _ in sides)
        for number, (one, session) in enumerate(sides):
            cells[number, k] = one.size if alone else np.unique(session).size
            if one.size and np.ptp(one) == 0 and layout.design != "confounded":
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
    error = np.where(exact.constant, 0.0, found.error)  # whatever step other runs show
    found = found._replace(error=error, step=added, chance=chance)
    return unjudged(found) if design == "confounded" else found


def sides_of(tables: Tables, resolution: Resolution, exact: Exact) -> tuple[Estimates, Estimates]:
    """Give the mean of each side, with its own floor."""
    ours, theirs = of_differences(tables.ours), of_differences(tables.theirs)
    a, b = as_the_other(ours, theirs, exact.alone[0]), as_the_other(theirs, ours, exact.alone[1])
    return floored(a, resolution.floor_ours), floored(b, resolution.floor_theirs)


def unjudged(found: Estimates) -> Estimates:
    """Give the estimates without their errors."""
    nothing = np.full(found.estimate.shape, np.nan)
    return found._replace(error=nothing, freedom=nothing, parts=None)
