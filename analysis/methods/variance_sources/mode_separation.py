"""How well one covariate separates the modes of a cell, and how often chance does as well.

The statistic is the J of the best rule (`rules`), the largest over the modes where there are several.

A count that may follow from a long run is another matter. As it is, it is larger in the slower mode where
it only grows with time; per second, it is smaller there where it is always the same. And where a run has
one switch or none, the rate of one that has it says how long it was. So only means are compared, each
against its own spread, which holds its level where spreads differ [1]_; and count and rate must both
differ, in the same direction: the p-value is the larger one.

Most covariates have nothing to do with the modes, and few orders show that: what 499 of them leave above
5 %, or 4,999 above 1 %, is held against no more. Going on only ever follows a p-value below these bounds, so
none is smaller than it may be.

References
----------
.. [1] A. Janssen, "Studentized permutation tests for non-i.i.d. hypotheses and the generalized
       Behrens-Fisher problem", Statistics & Probability Letters 36, 1997.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...stats.samples import Array, Flags, Indices, Integers
from .mode_rules import (
    Rule,
    Shape,
    best_rule,
    detrended,
    largest_j,
    permuted,
    places_of,
    turned,
    within,
)

if TYPE_CHECKING:
    from .covariates import Covariate

Labels = NDArray[np.int8]
LEAST = 10  # runs of a mode, or nothing is said of it
_STEPS = ((499, 0.05), (4_999, 0.01))  # orders, and the p-value beyond which no more are drawn
_SHAPES: Mapping[str, Shape] = {"numeric": "threshold", "circular": "arc", "levels": "levels"}
_CHUNK = 4_000_000  # labels held at a time
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labelled:
    """The runs of a cell in their order: the session of each, and its mode.

    Modes are counted from 0 by mean; -1 of a run that belongs to none.
    """

    sessions: Integers
    labels: Labels

    @property
    def modes(self) -> tuple[int, ...]:
        """The modes to be told from the others: all, or the rarer one of two."""
        counts = np.bincount(self.labels[self.labels >= 0])
        if counts.size == 2:
            return (0,) if counts[0] < counts[1] else (1,)
        return tuple(range(counts.size))


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """What a covariate is worth: how well it tells `mode` from the others.

    `j` is Youden's J of the best `rule`, `pvalue` the share of orders with as large a statistic,
    (k + 1) / (N + 1). `inside` and `outside` are the shares of the mode's runs, and of the others, that the
    rule names; `means` those of the covariate in both. `accuracy`, held out, is the mean of the shares of
    the mode's runs and of the others that are told rightly, by a rule that was found without their session:
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
    cell: Labelled, suspect: Covariate, *, permutations: int, rng: np.random.Generator
) -> Separation | None:
    """Measure how well a covariate of a cell's runs separates the modes, against other orders of them."""
    sessions = within(cell.sessions)
    tested = suspect.values
    if _SHAPES[suspect.scale] == "threshold" and suspect.kind != "randomized":
        tested = detrended(tested, sessions)
    if not _varies(tested, sessions) or not _enough(cell, tested):
        return None
    statistics = _statistics(cell, suspect, tested, sessions)
    observed = [one(cell.labels[None])[0] for one in statistics]
    draw = permuted if suspect.kind == "randomized" else turned
    k, done, pvalue = np.zeros(len(statistics), dtype=np.int64), 0, 0.0
    for wanted, hopeless in (*_STEPS, (permutations, 1.0)):
        while done < min(wanted, permutations):
            rows = min(min(wanted, permutations) - done, max(1, _CHUNK // cell.labels.size))
            orders = draw(cell.labels, sessions, rows, rng)
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


def _sides(cell: Labelled, values: Array, mode: int) -> tuple[Flags, Flags]:
    """Give the runs of a mode, and those of the others, of which the value is known."""
    known = np.isfinite(values)
    return (cell.labels == mode) & known, (cell.labels >= 0) & (cell.labels != mode) & known


def _varies(values: Array, sessions: Sequence[Indices]) -> bool:
    """Tell whether any session has two values; between sessions nothing is tested."""
    inside = (values[runs][np.isfinite(values[runs])] for runs in sessions)
    return any(known.size and known.max() > known.min() for known in inside)


def _enough(cell: Labelled, values: Array) -> bool:
    known = cell.labels[(cell.labels >= 0) & np.isfinite(values)]
    counts = np.bincount(known, minlength=int(cell.labels.max()) + 1)
    return bool(counts.min() >= LEAST)


def _statistics(
    cell: Labelled, suspect: Covariate, tested: Array, sessions: Sequence[Indices]
) -> tuple[Callable[[Labels], Array], ...]:
    """Give what is to be as large in other orders: for each labelling, the largest over the modes."""
    places = places_of(tested, _SHAPES[suspect.scale], suspect.period)

    def best(labels: Labels, each: Callable[[Flags, Flags], Array]) -> Array:
        found = [each(labels == mode, (labels >= 0) & (labels != mode)) for mode in cell.modes]
        return np.asarray(np.max(found, axis=0), dtype=np.float64)

    if suspect.count is None:
        return (lambda labels: best(labels, partial(largest_j, places)),)
    count = detrended(suspect.count, sessions)
    return (
        lambda labels: best(labels, partial(_apart, tested)),
        lambda labels: best(labels, partial(_apart, count)),
    )


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
    cell: Labelled, suspect: Covariate, sessions: Sequence[Indices], pvalue: float
) -> Separation | None:
    """Find the mode that the covariate tells best, as it was measured, and say how well."""
    places = places_of(suspect.values, _SHAPES[suspect.scale], suspect.period)
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
        places = places_of(taken, _SHAPES[suspect.scale], suspect.period)
        rule = best_rule(places, inside & ~held, outside & ~held)
        if rule is None:
            continue  # names no run
        named = rule.names(suspect.values)
        right += int((named & inside & held).sum())
        wrong += int((named & outside & held).sum())
    told = right / max(1, int(inside.sum()))
    spared = 1 - wrong / max(1, int(outside.sum()))
    return (told + spared) / 2
