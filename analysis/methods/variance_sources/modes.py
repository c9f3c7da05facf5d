"""Which covariate separates the modes of each cell, if any does.

All covariates of all cells are one family: where nothing separates anything, a sentence is said in 5 % of
trials at most. What may follow from a long run stands back: it is named only where nothing else is, and
only where its rates lie far apart.

A factor that was drawn for each run may be held against any order of the labels. Of an observed one only
the whole session is turned, so that neighbours stay neighbours: labels and covariate keep the dependence
that each has in itself, and lose only that between them.

A rule names a set of the covariate's values: an arc of a circle, all from a threshold on or up to one, or
some levels of a category. What it is worth is Youden's J, the share of the runs inside that it names less
the share of those outside [1]_. The largest J over all arcs is Kuiper's statistic, over all thresholds
Kolmogorov's and Smirnov's, over all sets of levels the total variation distance: so the best rule is
found from counts alone, for many labellings at a time.

References
----------
.. [1] W. J. Youden, "Index for rating diagnostic tests", Cancer 3, 1950.
.. [2] A. Janssen, "Studentized permutation tests for non-i.i.d. hypotheses and the generalized
       Behrens-Fisher problem", Statistics & Probability Letters 36, 1997.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...data.columns import cpu_of
from ...pages import number_format as figures
from ...record.run_numbers import NUMBERS
from ...stats.arguments import stream
from ...stats.multiplicity import adjusted
from ...stats.samples import Array, Flags, Indices, Integers
from ...stats.workers import Progress, in_order
from .covariates import AS_LEVELS, Covariate, Kind, Scale, as_levels, spoken
from .result import ClassesBy, Mode, ModeClass

Labels = NDArray[np.int8]
_NOTHING = 1e-9  # of the spread: what rounding leaves of a straight line


def within(sessions: Integers) -> tuple[Indices, ...]:
    """Give the runs of each session, in their order."""
    return tuple(np.flatnonzero(sessions == one) for one in dict.fromkeys(sessions.tolist()))


def other_orders(
    labels: Labels, sessions: Sequence[Indices], count: int, rng: np.random.Generator, kind: Kind
) -> Labels:
    """Give `count` orders of the labels, drawn within the sessions: of what was seen each session is turned."""
    found = np.empty((count, labels.size), dtype=np.int8)
    for runs in sessions:
        if kind == "randomized":
            places = np.argsort(rng.random((count, runs.size)), axis=1)
        else:
            by = rng.integers(runs.size, size=(count, 1))
            places = (np.arange(runs.size) + by) % runs.size
        found[:, runs] = labels[runs][places]
    return found


def detrended(values: Array, sessions: Sequence[Indices]) -> Array:
    """Take the straight line out of each session, and leave its mean; unknown values stay nan."""
    found = values.copy()
    for runs in sessions:
        known = np.isfinite(values[runs])
        if known.sum() < 3:
            continue
        x = np.flatnonzero(known) - np.flatnonzero(known).mean()
        y = values[runs][known] - values[runs][known].mean()
        rest = y - x * (x @ y) / (x @ x)
        if np.abs(rest).max() <= _NOTHING * np.abs(values[runs][known]).max():
            rest = np.zeros_like(rest)
        found[runs[known]] = values[runs][known].mean() + rest
    return found


_NO_SHARE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class OrderedValues:
    """The values of a covariate, put in order once for all labellings.

    `known` are the runs whose value is known, by value; each of the `different` values, ascending, begins
    at one of `starts` in it. `period` is that of a circle.
    """

    scale: Scale
    period: float | None
    known: Indices
    starts: Indices
    different: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A set of values of a covariate.

    `first` and `last` are the outermost observed values inside, None on the open side of a threshold; of an
    arc `first` may be the larger one: it then goes through 0. `low` and `high` are the borders, halfway to
    the next value outside; `levels` those of a category, `period` that of a circle.
    """

    scale: Scale
    first: float | None = None
    last: float | None = None
    low: float | None = None
    high: float | None = None
    levels: tuple[float, ...] = ()
    period: float | None = None

    def names(self, values: Array) -> Flags:
        """Tell which values are in the set; an unknown one (nan) never is."""
        if self.scale == "levels":
            return np.isin(values, self.levels)
        with np.errstate(invalid="ignore"):
            if self.scale == "numeric":
                low = -np.inf if self.low is None else self.low
                high = np.inf if self.high is None else self.high
                inside: Flags = (values >= low) & (values < high)
            else:
                low, high, period = self.low or 0.0, self.high or 0.0, self.period or 1.0
                inside = np.mod(values - low, period) < np.mod(high - low, period)
        return inside


def places_of(values: Array, scale: Scale, period: float | None = None) -> OrderedValues:
    """Put the values of a covariate in order; unknown ones (nan) are left out."""
    taken = values if scale != "circular" or period is None else np.mod(values, period)
    known = np.flatnonzero(np.isfinite(taken))
    known = known[np.argsort(taken[known], kind="stable")]
    different, starts = np.unique(taken[known], return_index=True)
    return OrderedValues(scale, period, known, starts, different)


def _sums(places: OrderedValues, inside: Flags, outside: Flags) -> Array:
    """Give the share of the runs inside that have each value or less, less that of those outside."""
    ends = np.append(places.starts[1:], places.known.size) - 1
    mine = np.cumsum(inside[:, places.known], axis=1, dtype=np.int32)[:, ends]
    if (inside ^ outside).all():
        others = (ends + 1).astype(np.int32) - mine
    else:
        others = np.cumsum(outside[:, places.known], axis=1, dtype=np.int32)[:, ends]
    found: Array = mine / np.maximum(mine[:, -1:], 1) - others / np.maximum(others[:, -1:], 1)
    found[(mine[:, -1] == 0) | (others[:, -1] == 0)] = 0.0
    return found


def largest_j(places: OrderedValues, inside: Flags, outside: Flags) -> Array:
    """Give the J of the best rule for each of several labellings."""
    if places.different.size < 2:
        return np.zeros(inside.shape[0])
    sums = _sums(places, inside, outside)
    if places.scale == "levels":
        return np.asarray(np.maximum(np.diff(sums, axis=1, prepend=0.0), 0.0).sum(axis=1))
    if places.scale == "numeric":
        return np.asarray(np.abs(sums[:, :-1]).max(axis=1))
    return np.asarray(np.maximum(sums.max(axis=1), 0.0) - np.minimum(sums.min(axis=1), 0.0))


def best_rule(places: OrderedValues, inside: Flags, outside: Flags) -> Rule | None:
    """Find the rule with the largest J; None where no rule names some runs and not others."""
    values = places.different
    if values.size < 2:
        return None
    sums = _sums(places, inside[None], outside[None])[0]
    if places.scale == "levels":
        levels = tuple(values[np.diff(sums, prepend=0.0) > _NO_SHARE].tolist())
        return Rule(scale="levels", levels=levels) if levels else None
    sums = sums[:-1]
    if not np.abs(sums).max() > _NO_SHARE:
        return None
    if places.scale == "numeric":
        at = int(np.abs(sums).argmax())
        border = float(values[at] + values[at + 1]) / 2
        if sums[at] > 0:
            return Rule(scale="numeric", last=float(values[at]), high=border)
        return Rule(scale="numeric", first=float(values[at + 1]), low=border)
    return _arc(places, np.concatenate(([0.0], sums)))


def _arc(places: OrderedValues, before: Array) -> Rule:
    """Give the arc from the least to the largest sum of what lies before each value."""
    values, n = places.different, places.different.size
    period = places.period or 1.0
    first, after = int(before.argmin()), int(before.argmax())
    last = (after - 1) % n

    def border(at: int) -> float:
        left, right = float(values[at - 1]), float(values[at])
        gap = (right - left) % period or period
        return (right - gap / 2) % period

    return Rule(
        scale="circular",
        first=float(values[first]),
        last=float(values[last]),
        low=border(first),
        high=border((last + 1) % n),
        period=period,
    )


# --- How well one covariate separates the modes of a cell, and how often chance does as well.
#
# The statistic is the J of the best rule, the largest over the modes where there are several.
#
# A count that may follow from a long run is another matter. As it is, it is larger in the slower mode where
# it only grows with time; per second, it is smaller there where it is always the same. And where a run has
# one switch or none, the rate of one that has it says how long it was. So only means are compared, each
# against its own spread, which holds its level where spreads differ [2]_; and count and rate must both
# differ, in the same direction: the p-value is the larger one.
#
# Most covariates have nothing to do with the modes, and few orders show that: what 499 of them
# leave above 5 %, or 4,999 above 1 %, is held against no more. Going on only ever follows a p-value
# below these bounds, so none is smaller than it may be.


LEAST = 10  # runs of a mode, or nothing is said of it
# orders, and the p-value beyond which no more are drawn
_PERMUTATION_STEPS = ((499, 0.05), (4_999, 0.01))
_CHUNK = 4_000_000  # labels held at a time
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ModalRuns:
    """The runs of one cell that have modes, in the order of execution.

    `rows` are theirs in the trial, `values` in the metric's unit, `sessions` the session of each, `labels`
    its mode, counted from 0 by mean (-1: it belongs to none), which `by` tells apart. `covariates` are of
    all rows of the trial.
    """

    benchmark: str
    variant: str
    trial: str
    rows: Indices
    values: Array
    sessions: Integers
    labels: NDArray[np.int8]
    by: ClassesBy
    covariates: Mapping[str, Covariate]

    @property
    def modes(self) -> tuple[int, ...]:
        """The modes to be separated from the others: all, or the rarer one of two."""
        counts = np.bincount(self.labels[self.labels >= 0])
        if counts.size == 2:
            return (0,) if counts[0] < counts[1] else (1,)
        return tuple(range(counts.size))

    def plain(self) -> Mode:
        """Give the modes as they are, before any factor is looked at."""
        each = (self.labels == k for k in range(int(self.labels.max()) + 1))
        classes = tuple(
            ModeClass(mean=float(self.values[own].mean()), share=float(own.sum()) / own.size)
            for own in each
        )
        return Mode(
            benchmark=self.benchmark,
            variant=self.variant,
            trial=self.trial,
            classes=classes,
            classes_by=self.by,
            aside=int((self.labels < 0).sum()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """What a covariate is worth: how well it tells `mode` from the others.

    `j` is Youden's J of the best `rule`, `pvalue` the share of orders with as large a statistic,
    (k + 1) / (N + 1). `inside` and `outside` are the shares of the mode's runs, and of the others, that the
    rule names; `means` those of the covariate in both. `accuracy`, held out, is the mean of the shares of
    the mode's runs and of the others that are classified rightly, by a rule that was found without their session:
    guessing gives 0.5.
    """

    mode: int
    j: float
    pvalue: float
    rule: Rule
    inside: float
    outside: float
    accuracy: float
    means: tuple[float, float]


def separation(
    cell: ModalRuns, suspect: Covariate, *, permutations: int, rng: np.random.Generator
) -> Separation | None:
    """Measure how well a covariate of a cell's runs separates the modes, against other orders of them."""
    sessions = within(cell.sessions)
    tested = suspect.values
    if suspect.scale == "numeric" and suspect.kind != "randomized":
        tested = detrended(tested, sessions)
    known = cell.labels[(cell.labels >= 0) & np.isfinite(tested)]
    counts = np.bincount(known, minlength=int(cell.labels.max()) + 1)
    if not _differs(tested, cell.sessions) or counts.min() < LEAST:
        return None
    statistics = _statistics(cell, suspect, tested, sessions)
    observed = [one(cell.labels[None])[0] for one in statistics]
    k, done, pvalue = np.zeros(len(statistics), dtype=np.int64), 0, 0.0
    for wanted, hopeless in (*_PERMUTATION_STEPS, (permutations, 1.0)):
        while done < min(wanted, permutations):
            rows = min(min(wanted, permutations) - done, max(1, _CHUNK // cell.labels.size))
            orders = other_orders(cell.labels, sessions, rows, rng, suspect.kind)
            k += [
                int((one(orders) >= least - _ROUNDING).sum())
                for one, least in zip(statistics, observed, strict=True)
            ]
            done += rows
            pvalue = float(k.max() + 1) / (done + 1)
        if pvalue > hopeless:
            break
    found = _described(cell, suspect, sessions, pvalue)
    if found is None or suspect.count is None:
        return found
    # has the mode more both of the count and of the rate, or less of both?
    inside, outside = _sides(cell, suspect.values, found.mode)
    count = float(suspect.count[inside].mean() - suspect.count[outside].mean())
    if count * (found.means[0] - found.means[1]) > 0:
        return found
    return replace(found, pvalue=1.0)


def _sides(cell: ModalRuns, values: Array, mode: int) -> tuple[Flags, Flags]:
    known = np.isfinite(values)
    return (cell.labels == mode) & known, (cell.labels >= 0) & (cell.labels != mode) & known


def _statistics(
    cell: ModalRuns, suspect: Covariate, tested: Array, sessions: Sequence[Indices]
) -> list[Callable[[Labels], Array]]:
    """Give what is to be as large in other orders: for each labelling, the largest over the modes."""
    each = [partial(largest_j, places_of(tested, suspect.scale, suspect.period))]
    if suspect.count is not None:
        each = [partial(_apart, x) for x in (tested, detrended(suspect.count, sessions))]

    def best(labels: Labels, one: Callable[[Flags, Flags], Array]) -> Array:
        found = [one(labels == mode, (labels >= 0) & (labels != mode)) for mode in cell.modes]
        return np.asarray(np.max(found, axis=0), dtype=np.float64)

    return [partial(best, one=one) for one in each]


def _apart(values: Array, inside: Flags, outside: Flags) -> Array:
    """Give how far the means of two sets of runs are apart, in their own standard errors."""
    known = np.isfinite(values)
    x = values[known] - values[known].mean()
    means, errors = [], []
    for flags in (inside[:, known], outside[:, known]):
        mine = flags.astype(np.float64)
        n = np.maximum(mine.sum(axis=1), 2.0)
        mean = mine @ x / n
        means.append(mean)
        errors.append(np.maximum(mine @ (x * x) / n - mean**2, 0.0) / (n - 1))
    # equal values within each set: any difference is infinitely far
    least = np.finfo(np.float64).tiny + _ROUNDING * float(x @ x) / x.size**2
    return np.asarray(np.abs(means[0] - means[1]) / np.sqrt(errors[0] + errors[1] + least))


def _described(
    cell: ModalRuns, suspect: Covariate, sessions: Sequence[Indices], pvalue: float
) -> Separation | None:
    places = places_of(suspect.values, suspect.scale, suspect.period)
    sides = {mode: _sides(cell, suspect.values, mode) for mode in cell.modes}
    worth = {mode: float(largest_j(places, a[None], b[None])[0]) for mode, (a, b) in sides.items()}
    if not worth:
        return None
    mode = max(worth, key=worth.__getitem__)
    inside, outside = sides[mode]
    rule = best_rule(places, inside, outside)
    if rule is None:
        return None
    named = rule.names(suspect.values)
    return Separation(
        mode=mode,
        j=worth[mode],
        pvalue=pvalue,
        rule=rule,
        inside=float(named[inside].mean()),
        outside=float(named[outside].mean()),
        accuracy=_held_out(suspect, inside, outside, sessions),
        means=(float(suspect.values[inside].mean()), float(suspect.values[outside].mean())),
    )


def _held_out(
    suspect: Covariate, inside: Flags, outside: Flags, sessions: Sequence[Indices]
) -> float:
    """Tell the runs of each session, or of each fifth of one, by a rule from the others."""
    parts = sessions if len(sessions) > 1 else np.array_split(sessions[0], 5)  # of a single session
    right = wrong = 0
    for part in parts:
        held = np.zeros(inside.size, dtype=np.bool_)
        held[part] = True
        taken = suspect.values.copy()
        taken[held] = np.nan
        places = places_of(taken, suspect.scale, suspect.period)
        rule = best_rule(places, inside & ~held, outside & ~held)
        if rule is None:
            continue  # names no run
        named = rule.names(suspect.values)
        right += int((named & inside & held).sum())
        wrong += int((named & outside & held).sum())
    found = right / max(1, int(inside.sum()))
    spared = 1 - wrong / max(1, int(outside.sum()))
    return (found + spared) / 2


_UNITS = {"khz": "kHz", "c": "°C", "bytes": "B"}  # as the names of numbers end


def sentence_of(mode: Mode, covariate: Covariate, found: Separation) -> str:
    """Say which values go with a mode, in how many of its runs and of the others."""
    share = mode.classes[found.mode].share
    begin = f"mode {found.mode + 1}, {_percent(share)} of runs: "
    if covariate.may_follow:
        inside, outside = (_number(mean, covariate.unit) for mean in found.means)
        name = spoken(covariate.name)
        several = name.partition(" per ")[0].endswith("s")
        return (
            f"{begin}nothing that was fixed before the run separates it; {name} "
            f"differ{'' if several else 's'}, {inside} in it and {outside} in the others, which may be "
            "its cause or follow from it"
        )
    text = (
        f"{begin}{values_of(covariate, found.rule)} in {_percent(found.inside)} of them, "
        f"{_percent(found.outside)} of the others"
    )
    if covariate.kind == "randomized":
        return f"{text}; the runner drew it for each run, so it is a cause"
    return f"{text}; it was seen, not drawn: it goes with the mode, and need not be the cause"


def values_of(covariate: Covariate, rule: Rule) -> str:
    """Say what a covariate's values are inside a rule: ``padding of 13 to 28 modulo 64``."""
    whole = spoken(covariate.name)
    if rule.scale == "levels":
        labels = [covariate.labels[int(level)] for level in rule.levels]
        names = [one if one.replace(",", "").isdigit() else f"'{one}'" for one in labels]
        if 1 < len(names) <= 5:
            return f"{whole} {', '.join(names[:-1])} or {names[-1]}"
        return f"{whole} {figures.listed(names, 5)}"
    name, modulo, period = whole.partition(" modulo ")
    if rule.scale == "circular":
        unit = "" if modulo else covariate.unit
        first, last = (_number(end or 0.0, unit) for end in (rule.first, rule.last))
        return f"{name} of {first if first == last else f'{first} to {last}'}{modulo}{period}"
    if rule.first is not None:
        return f"{whole} of {_number(rule.first, covariate.unit)} or more"
    return f"{whole} of {_number(rule.last or 0.0, covariate.unit)} or less"


def _number(value: float, unit: str) -> str:
    if unit in {"s", "B", "bytes"} and value != round(value):
        return figures.quantity(value, _UNITS.get(unit, unit))
    text = f"{value:,.0f}" if value == round(value) else figures.significant(value, 4)
    return text if unit in {"", "1", "/s"} else f"{text} {_UNITS.get(unit, unit)}"


def _percent(share: float) -> str:
    """Write a share; what is not all or nothing is not rounded to it."""
    text = f"{100 * share:.0f}"
    if (text == "100" and share < 1) or (text == "0" and share > 0):
        text = f"{100 * share:.1f}"
    return f"{text} %"


_SEPARATES = 0.7  # held out: less is an effect on the shares of the modes, and separates nothing
_NEARLY = 0.1  # of accuracy: what was fixed before the run may tell so much less
_AS_WELL = 0.02  # of accuracy: no difference
_STEPS = 2  # orders in one of the smallest adjusted p-value that counts
_MOST = 200_000


class _Tested(NamedTuple):
    covariate: Covariate
    found: Separation
    pvalue: float


def explained(
    cells: Sequence[ModalRuns],
    *,
    risk: float,
    permutations: int,
    rng: np.random.Generator,
    workers: int | None = None,
) -> tuple[Mode, ...]:
    """Say of each cell which covariate separates its modes."""
    root = int(rng.integers(2**63))
    asked = [(place, one) for place, cell in enumerate(cells) for one in _suspects(cell)]
    orders = max(permutations, min(_MOST, math.ceil(_STEPS * len(asked) / risk)))
    alone = [replace(cell, covariates={}) for cell in cells]
    answers = in_order(
        partial(_separated, permutations=orders, root=root),
        ((alone[place], one.of(cells[place].rows)) for place, one in asked),
        workers=workers,
        prefer="processes",
    )
    tested = [(*both, x) for both, x in zip(asked, answers, strict=True) if x is not None]
    by_cell: list[list[_Tested]] = [[] for _ in cells]
    raised = adjusted([found.pvalue for *_, found in tested]).tolist()
    for (place, covariate, found), pvalue in zip(tested, raised, strict=True):
        if pvalue <= risk:
            by_cell[place].append(_Tested(covariate, found, pvalue))
    return tuple(map(_explained, cells, by_cell))


def _separated(
    asked: tuple[ModalRuns, Covariate], _going_on: Progress, *, permutations: int, root: int
) -> Separation | None:
    cell, suspect = asked
    rng = stream(root, cell.trial, cell.benchmark, cell.variant, suspect.name)
    return separation(cell, suspect, permutations=permutations, rng=rng)


def _suspects(cell: ModalRuns) -> Iterator[Covariate]:
    """Give the covariates that differ within a session of the cell; numbers of few values as levels too."""
    if np.bincount(cell.labels[cell.labels >= 0]).min() < LEAST:
        return
    for one in cell.covariates.values():
        if one.of_session or (one.may_follow and one.count is None):
            continue  # a rate such as 1/s is what the program made of its time: the time again
        if _differs(one.values[cell.rows], cell.sessions):
            yield one
            levels = None if one.may_follow else as_levels(one)
            if levels is not None:
                yield levels


def _differs(values: Array, sessions: Integers) -> bool:
    """Tell whether any session has two values; between sessions nothing is tested."""
    known = np.isfinite(values)
    _, of = np.unique(sessions[known], return_inverse=True)
    if not of.size:
        return False
    least, most = np.full(of.max() + 1, np.inf), np.full(of.max() + 1, -np.inf)
    np.minimum.at(least, of, values[known])
    np.maximum.at(most, of, values[known])
    return bool((most > least).any())


def _explained(cell: ModalRuns, tested: Sequence[_Tested]) -> Mode:
    plain = cell.plain()
    apart = [
        one for one in tested if not one.covariate.may_follow and one.found.accuracy >= _SEPARATES
    ]
    following = [one for one in tested if one.covariate.may_follow and _far_apart(one.found.means)]
    if not apart and not following:
        return plain
    head = _best(apart) if apart else min(following, key=lambda one: one.pvalue)
    covariate, found = head.covariate, head.found
    others = dict.fromkeys(_base(one.covariate) for one in (apart or following))
    others.pop(_base(covariate), None)
    return replace(
        plain,
        mode=found.mode + 1,
        factor=covariate.name,
        causal=covariate.kind == "randomized",
        **{name: getattr(covariate, name) for name in ("kind", "may_follow")},
        **{name: getattr(found, name) for name in ("inside", "outside", "accuracy")},
        chance=0.5,
        pvalue=head.pvalue,
        sentence=sentence_of(plain, covariate, found),
        others=tuple(others),
    )


def _base(covariate: Covariate) -> str:
    """Give the name of what was recorded, however it is compared."""
    return covariate.name.removesuffix(AS_LEVELS).partition(" mod ")[0]


def _far_apart(means: tuple[float, float]) -> bool:
    """Tell whether the means of a rate differ by more than what a start of the same length makes."""
    low, high = sorted(map(abs, means))
    return high >= 1.5 * low  # times: the mean rates in a mode and in the others


def _best(apart: Sequence[_Tested]) -> _Tested:
    """Take the one that tells most runs rightly; what was fixed before the run may tell somewhat fewer."""
    most = max(one.found.accuracy for one in apart)
    fixed = [one for one in apart if one.covariate.known_before]
    if fixed and max(one.found.accuracy for one in fixed) >= most - _NEARLY:
        apart, most = fixed, max(one.found.accuracy for one in fixed)
    equal = [one for one in apart if one.found.accuracy >= most - _AS_WELL]

    def order(one: _Tested) -> tuple[bool, bool, float]:
        drawn, name = one.covariate.kind == "randomized", _base(one.covariate)
        return not drawn, name in NUMBERS or cpu_of(name) is not None, -one.found.j

    return min(equal, key=order)
