"""Which covariate separates the modes of each cell, if any does.

All covariates of all cells are one family: where nothing separates anything, a sentence is said in 5 % of
trials at most. What may follow from a long run stands back: it is named only where nothing else is, and
only where its rates lie far apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....run_numbers import NUMBERS
from ....stats import Progress, adjusted, in_order, stream
from ..covariates import AS_LEVELS, Covariate, as_levels
from ..result import ClassesBy, Mode, ModeClass
from .rules import Rule, Shape
from .sentence import sentence_of
from .separation import LEAST, Labelled, Separation, Suspect, separation

__all__ = ["Explained", "ModalRuns", "explained"]

Floats = NDArray[np.float64]
_SEPARATES = 0.7  # held out: less is an effect on the shares of the modes, and separates nothing
_FAR_APART = 1.5  # times: the mean rates in a mode and in the others
_NEARLY = 0.1  # of accuracy: what was fixed before the run may tell so much less
_AS_WELL = 0.02  # of accuracy: no difference
_STEPS = 2  # so many orders in one of the smallest adjusted p-value that counts
_MOST = 200_000
CHANCE = 0.5
_SHAPES: Mapping[str, Shape] = {"numeric": "threshold", "circular": "arc", "levels": "levels"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModalRuns:
    """The runs of one cell that have modes.

    Attributes
    ----------
    benchmark, variant, trial : str
        Whose they are.
    rows : array of int, shape (n,)
        Their rows in the trial, in the order of execution.
    values : array of float, shape (n,)
        In the metric's unit.
    sessions : array of int, shape (n,)
        The session of each.
    labels : array of int, shape (n,)
        The mode of each, counted from 0 by mean; -1 of a run that belongs to none.
    by : {"values", "order"}
        What tells the modes apart.
    covariates : mapping of str to Covariate
        Of all rows of the trial.
    """

    benchmark: str
    variant: str
    trial: str
    rows: NDArray[np.intp]
    values: Floats
    sessions: NDArray[np.int64]
    labels: NDArray[np.int8]
    by: ClassesBy
    covariates: Mapping[str, Covariate]

    def plain(self) -> Mode:
        """Give the modes as they are, before any factor is looked at."""
        n = self.labels.size
        return Mode(
            benchmark=self.benchmark,
            variant=self.variant,
            trial=self.trial,
            classes=tuple(
                ModeClass(
                    mean=float(self.values[self.labels == k].mean()),
                    share=float((self.labels == k).sum()) / n,
                )
                for k in range(int(self.labels.max()) + 1)
            ),
            classes_by=self.by,
            aside=int((self.labels < 0).sum()),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explained:
    """The modes of a cell, with the covariate that separates them and by which of its values.

    `covariate` and `rule` are None where none does.
    """

    runs: ModalRuns
    mode: Mode
    covariate: Covariate | None = None
    rule: Rule | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tested:
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
) -> tuple[Explained, ...]:
    """Say of each cell which covariate separates its modes.

    Parameters
    ----------
    cells : sequence of ModalRuns
        Those that have modes; one with fewer than 10 runs in one of them is not looked into.
    risk : float
        Family-wise: of any sentence where no covariate has to do with any mode.
    permutations : int
        How many orders each covariate is held against at least; more where the family is so large
        that they could not decide.
    rng : numpy.random.Generator
        One number of it seeds the streams, one for each cell and covariate.
    workers : int, optional
        Covariates at the same time, as in `in_order`.

    Returns
    -------
    tuple of Explained
        One for each cell, in their order.
    """
    root = int(rng.integers(2**63))
    suspects = [list(_suspects(cell)) for cell in cells]
    family = sum(map(len, suspects))
    orders = max(permutations, min(_MOST, math.ceil(_STEPS * family / risk)))
    places = [(place, one) for place, mine in enumerate(suspects) for one in mine]
    answers = in_order(
        partial(_separated, permutations=orders, root=root),
        (_asked(cells[place], one) for place, one in places),
        workers=workers,
        prefer="processes",
    )
    tested = [
        (place, covariate, found)
        for (place, covariate), found in zip(places, answers, strict=True)
        if found is not None
    ]
    raised = adjusted([found.pvalue for *_, found in tested]).tolist()
    by_cell: dict[int, list[_Tested]] = {}
    for (place, covariate, found), pvalue in zip(tested, raised, strict=True):
        if pvalue <= risk:
            by_cell.setdefault(place, []).append(
                _Tested(covariate=covariate, found=found, pvalue=pvalue)
            )
    return tuple(_told(cell, by_cell.get(place, [])) for place, cell in enumerate(cells))


_Asked = tuple[Labelled, Suspect, tuple[str, ...]]  # the names of its stream


def _asked(cell: ModalRuns, covariate: Covariate) -> _Asked:
    names = (cell.trial, cell.benchmark, cell.variant, covariate.name)
    labelled = Labelled(sessions=cell.sessions, labels=cell.labels)
    return labelled, _suspect(covariate, cell.rows), names


def _separated(
    asked: _Asked, _going_on: Progress, *, permutations: int, root: int
) -> Separation | None:
    """Ask how well one covariate separates the modes of one cell."""
    labelled, suspect, names = asked
    return separation(labelled, suspect, permutations=permutations, rng=stream(root, *names))


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


def _differs(values: Floats, sessions: NDArray[np.int64]) -> bool:
    known = np.isfinite(values)
    _, of = np.unique(sessions[known], return_inverse=True)
    if not of.size:
        return False
    least, most = np.full(of.max() + 1, np.inf), np.full(of.max() + 1, -np.inf)
    np.minimum.at(least, of, values[known])
    np.maximum.at(most, of, values[known])
    return bool((most > least).any())


def _suspect(covariate: Covariate, rows: NDArray[np.intp]) -> Suspect:
    return Suspect(
        values=covariate.values[rows],
        shape=_SHAPES[covariate.scale],
        period=covariate.period,
        randomized=covariate.kind == "randomized",
        count=covariate.count[rows]
        if covariate.may_follow and covariate.count is not None
        else None,
    )


def _told(cell: ModalRuns, tested: Sequence[_Tested]) -> Explained:
    plain = cell.plain()
    apart = [
        one for one in tested if not one.covariate.may_follow and one.found.accuracy >= _SEPARATES
    ]
    following = [one for one in tested if one.covariate.may_follow and _matters(one.found)]
    if not apart and not following:
        return Explained(runs=cell, mode=plain)
    head = _best(apart) if apart else min(following, key=lambda one: one.pvalue)
    covariate, found = head.covariate, head.found
    others = dict.fromkeys(_base(one.covariate) for one in (apart or following))
    others.pop(_base(covariate), None)
    mode = replace(
        plain,
        mode=found.mode + 1,
        factor=covariate.name,
        kind=covariate.kind,
        causal=covariate.kind == "randomized",
        may_follow=covariate.may_follow,
        inside=found.inside,
        outside=found.outside,
        accuracy=found.accuracy,
        chance=CHANCE,
        pvalue=head.pvalue,
        sentence=sentence_of(plain, covariate, found),
        others=tuple(others),
    )
    return Explained(runs=cell, mode=mode, covariate=covariate, rule=found.rule)


def _base(covariate: Covariate) -> str:
    """Give the name of what was recorded, however it is compared."""
    return covariate.name.removesuffix(AS_LEVELS).partition(" mod ")[0]


def _matters(found: Separation) -> bool:
    """Tell whether the means of a rate differ by more than what a start of the same length makes."""
    low, high = sorted(map(abs, found.means))
    return high >= _FAR_APART * low


def _best(apart: Sequence[_Tested]) -> _Tested:
    """Take the one that tells most runs rightly; what was fixed before the run may tell somewhat fewer.

    For what was seen after it may be how the cause works: the misses of a cache beside the place in it. Among
    equals what was drawn comes first, and what the program says of itself before what is seen from outside.
    """
    most = max(one.found.accuracy for one in apart)
    fixed = [one for one in apart if one.covariate.known_before]
    if fixed and max(one.found.accuracy for one in fixed) >= most - _NEARLY:
        apart, most = fixed, max(one.found.accuracy for one in fixed)
    equal = [one for one in apart if one.found.accuracy >= most - _AS_WELL]

    def order(one: _Tested) -> tuple[bool, bool, float]:
        drawn = one.covariate.kind == "randomized"
        return not drawn, _base(one.covariate) in NUMBERS, -one.found.j

    return min(equal, key=order)
