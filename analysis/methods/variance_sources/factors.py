"""Every suspected factor of every benchmark and variant: effect, interval, p-value.

A count c of a run that took w may go with w as c = rate x w, whatever made it long: it accumulates. It may
not grow at all, as the page faults of a start: then its rate c / w falls with w. Neither shows that the count
has to do with the run's length. A rate and a count that both go with it, in one direction, do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import InsufficientDataError
from ...pages import number_format as figures
from ...pages.model import Caution, cautions_of
from ...stats.arguments import stream
from ...stats.samples import Array, Flags, Integers
from ...stats.workers import Progress, in_order
from .covariates import AS_LEVELS, Covariate, as_levels
from .factor_orders import (
    LEAST_IN_ROW,
    LEAST_RUNS,
    CellRuns,
    CovariateColumns,
    Directions,
    FamilyOfTests,
    Fits,
    Shifts,
    Shuffles,
    between_sessions,
    cell_of,
    columns_of,
    pvalue,
    surprise,
)
from .result import ELSEWHERE, Factor

if TYPE_CHECKING:
    from .covariates import CovariateRuns

_LARGEST = 700.0  # of a logarithm


def effect_of(
    columns: CovariateColumns,
    found: Directions,
    along: Array,
    *,
    spread: float,
    fits: Fits | None,
    confidence: float,
) -> dict[str, Any]:
    """Compare the level with the highest values to that with the lowest, or a step of one deviation."""
    lowest: str | None
    highest: str | None
    if columns.effect_of == "sd":
        step, lowest, highest = np.array([spread]), None, None
    elif columns.either:
        best = int(np.abs(along).argmax())
        more = float(along[best]) > 0
        step = np.zeros(along.size)
        step[best] = 1.0 if more else -1.0
        lowest, highest = ELSEWHERE, columns.labels[best]
        if not more:
            lowest, highest = highest, lowest
    else:
        fitted = columns.places @ (found.back.T @ along)
        top, bottom = int(fitted.argmax()), int(fitted.argmin())
        step = columns.places[top] - columns.places[bottom]
        lowest, highest = columns.labels[bottom], columns.labels[top]
    turned = found.back @ step
    log = float(turned @ along)
    low = high = None
    if fits is not None:
        far = float(np.quantile(fits.drawn, confidence, method="higher"))
        left = max(1 - fits.found, 0.0) * fits.length**2
        half = math.inf
        if far < 1 - 1e-9:  # a share that is nearer to 1 leaves nothing
            half = math.sqrt(float(turned @ turned) * left * far / (1 - far))
        low, high = _ratio(log - half), _ratio(log + half)
    found_at = {"lowest": lowest, "highest": highest}
    return {"effect": _ratio(log), "low": low, "high": high, **found_at}


def spread_within(column: Array, known: Flags, sessions: tuple[Integers, ...]) -> float:
    """Give the standard deviation of a column within sessions."""
    squares, freedom = 0.0, 0
    for mine in sessions:
        there = column[mine[known[mine]]]
        if there.size > 1:
            squares += float(((there - there.mean()) ** 2).sum())
            freedom += there.size - 1
    return math.sqrt(squares / freedom) if freedom else 0.0


def _ratio(log: float) -> float:
    return math.exp(min(max(log, -_LARGEST), _LARGEST))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Witnesses:
    """A rate and its count, each over its mean: so they differ by the logarithm of the run's time."""

    rate: Directions
    count: Directions


def witnesses(covariate: Covariate, cell: CellRuns, shifts: Shifts) -> Witnesses | None:
    """Prepare a rate and its count; None where the count is constant: its rate is only the run's time."""
    if covariate.count is None:
        return None
    count = replace(covariate, values=covariate.count, count=None)
    if columns_of(count, cell.rows) is None:
        return None
    found = []
    for one in (covariate, count):
        values = one.values[cell.rows]
        known = np.isfinite(values)
        column = np.where(known, values, 0.0) / float(values[known].mean())
        found.append(shifts.prepared(column[:, None], known))
    rate, of_count = found
    return None if rate is None or of_count is None else Witnesses(rate=rate, count=of_count)


def beside_its_count(both: Witnesses, rate: Fits, count: Fits) -> Fits:
    """Give the smaller of the two shares where both go with the runs in one direction, else 0."""
    of_rate = _signed(both.rate, rate.along) / rate.length
    of_count = _signed(both.count, count.along) / count.length
    found = float(_common(of_rate, of_count)[0])
    grows = _drawn(both.rate, rate, 1.0)
    stays = _drawn(both.count, count, -1.0)
    larger = max((grows, stays), key=lambda shares: int((shares >= found).sum()))
    return replace(rate, found=found, drawn=larger)


def _signed(one: Directions, values: Array) -> Array:
    """Turn values along a direction so that more of the column is positive."""
    return np.asarray(values * float(np.sign(one.back[0, 0])))


def _drawn(one: Directions, fits: Fits, sign: float) -> Array:
    """Give the common share of one witness in other orders, and of the other, which follows the runs."""
    own = _signed(one, fits.signed)
    size = 1 / abs(float(one.back[0, 0]))
    product = own * size * fits.lengths
    squares = size**2 + 2 * sign * product + fits.lengths**2
    with np.errstate(divide="ignore", invalid="ignore"):
        other = (product + sign * fits.lengths**2) / (fits.lengths * np.sqrt(squares))
    return _common(own, np.nan_to_num(other))


def _common(a: Array, b: Array) -> Array:
    return np.asarray(np.where(a * b > 0, np.minimum(np.abs(a), np.abs(b)) ** 2, 0.0))


class _Suspect(NamedTuple):
    """A factor that a cell can tell something of; of a rate, it and what it was made of."""

    covariate: Covariate
    columns: CovariateColumns
    found: Directions
    witnesses: Witnesses | None

    @property
    def directions(self) -> tuple[Directions, ...]:
        """All directions of which it is asked how well they fit."""
        both = self.witnesses
        return (self.found,) if both is None else (self.found, both.rate, both.count)


class _Tested(NamedTuple):
    """What is told of a factor, before it is adjusted for the number of all."""

    factor: Factor
    surprise: float
    drawn: Array | None  # None where the design cannot tell


def factors_of(
    runs: CovariateRuns,
    *,
    permutations: int,
    confidence: float,
    root: int,
    workers: int | None = None,
) -> tuple[tuple[Factor, ...], tuple[Caution, ...]]:
    """Test every covariate of every benchmark and variant, and adjust for all of them together."""
    cells, short = [], []
    for benchmark, variant, rows in runs.cells():
        cell = cell_of(runs, benchmark, variant, rows)
        if cell is None:
            short.append(f"{benchmark} / {variant}")
        else:
            cells.append(cell)
    if not cells:
        most = max((rows.size for _, _, rows in runs.cells()), default=0)
        raise InsufficientDataError(
            f"no benchmark has {LEAST_RUNS} runs that differ, in sessions of two or more",
            ", ".join(runs.trials[:3]),
            f"measure more: protocol: {{sessions: 3, runs: {LEAST_RUNS}}} is a beginning",
            n=most,
            needed=LEAST_RUNS,
        )
    # each covariate, and once more with whole numbers as categories
    forms = ((one, as_levels(one)) for one in runs.covariates.values())
    suspects = [one for both in forms for one in both if one is not None]
    by_cell = in_order(
        partial(_of_cell, permutations=permutations, confidence=confidence, root=root),
        ((cell.alone(), [one.of(cell.rows) for one in suspects]) for cell in cells),
        workers=workers,
        prefer="processes",
    )
    told = [one for of_cell in by_cell for one in of_cell]
    family = FamilyOfTests(permutations)
    for one in told:
        if one.drawn is not None:
            family.add(one.surprise, one.drawn)
    adjusted = iter(family.adjusted())
    factors = tuple(
        one.factor
        if one.drawn is None
        else replace(one.factor, pvalue_adjusted=max(next(adjusted), one.factor.pvalue or 0.0))
        for one in told
    )
    return factors, _cautions(runs, factors, short)


def _of_cell(
    asked: tuple[CellRuns, list[Covariate]],
    _going_on: Progress,
    *,
    permutations: int,
    confidence: float,
    root: int,
) -> list[_Tested]:
    """Give what is told of the factors of one cell."""
    cell, suspects = asked

    def streamed(what: str, *factor: str) -> np.random.Generator:
        return stream(root, what, cell.benchmark, cell.variant, *factor)

    shuffles = Shuffles(cell, permutations, streamed("shuffles"))
    shifts = Shifts(cell, permutations, streamed("shifts"))
    drawn: list[_Suspect] = []
    seen: list[_Suspect] = []
    apart: list[tuple[Covariate, CovariateColumns]] = []
    for covariate in suspects:
        columns = _columns(covariate, cell)
        if columns is None:
            continue
        randomized = covariate.kind == "randomized"
        orders = shuffles if randomized else shifts
        if covariate.of_session or not columns.vary_within(cell.sessions):
            apart.append((covariate, columns))
            continue
        found = orders.prepared(columns.table, columns.known, either=columns.either)
        room = (cell.rows.size - len(cell.sessions)) // 2  # more directions would explain anything
        if found is None or (not found.either and found.basis.shape[1] > room):
            continue  # nothing is left without its trend, or it has a level for every few runs
        both = witnesses(covariate, cell, shifts)
        if covariate.count is not None and both is None:
            continue  # the count is constant: its rate is nothing but the run's time
        (drawn if randomized else seen).append(_Suspect(covariate, columns, found, both))
    tested: list[_Tested | None] = []
    for those, orders in ((drawn, shuffles), (seen, shifts)):
        fits = iter(orders.fits([direction for one in those for direction in one.directions]))
        for one in those:
            mine = [next(fits) for _ in one.directions]
            tested.append(_tested(cell, one, mine, confidence))
    for covariate, columns in apart:
        rng = streamed("sessions", covariate.name)
        tested.append(_between(cell, covariate, columns, permutations, confidence, rng))
    return [one for one in tested if one is not None]


def _columns(covariate: Covariate, cell: CellRuns) -> CovariateColumns | None:
    columns = columns_of(covariate, cell.rows)
    if columns is None or not covariate.name.endswith(AS_LEVELS):
        return columns
    # of two whole numbers the number itself has been taken as two levels already
    two = np.unique(covariate.values[cell.rows][columns.known]).size == 2
    return None if two else columns


def _tested(cell: CellRuns, one: _Suspect, fits: Sequence[Fits], confidence: float) -> _Tested:
    own = fits[0]
    spread = spread_within(one.columns.table[:, 0], one.columns.known, cell.sessions)
    effect = effect_of(
        one.columns, one.found, own.along, spread=spread, fits=own, confidence=confidence
    )
    told = own
    if one.witnesses is not None:
        told = beside_its_count(one.witnesses, fits[1], fits[2])
    found, drawn = surprise(told, own)
    factor = _factor(cell, one.covariate, one.columns, effect, pvalue(told))
    return _Tested(factor, found, drawn)


def _between(  # noqa: PLR0917 - one factor of what `_of_cell` was asked
    cell: CellRuns,
    covariate: Covariate,
    columns: CovariateColumns,
    permutations: int,
    confidence: float,
    rng: np.random.Generator,
) -> _Tested | None:
    # windows of a circle are for runs: sessions are too few for so many
    told = None if columns.either else between_sessions(cell, columns, permutations, rng)
    if told is None:
        return None
    fits = None if covariate.name == "session" else told.fits
    found, drawn = (0.0, None) if fits is None else surprise(fits)
    along, coordinates = told.along, told.coordinates
    effect = effect_of(
        columns, along, coordinates, spread=told.spread, fits=fits, confidence=confidence
    )
    p = None if fits is None else pvalue(fits)
    if fits is None and columns.effect_of != "levels":  # a slope through so few sessions is none
        effect |= dict.fromkeys(("effect", "lowest", "highest"))
    return _Tested(_factor(cell, covariate, columns, effect, p), found, drawn)


def _factor(
    cell: CellRuns,
    covariate: Covariate,
    columns: CovariateColumns,
    effect: Mapping[str, Any],
    p: float | None,
) -> Factor:
    return Factor(
        benchmark=cell.benchmark,
        variant=cell.variant,
        factor=covariate.name,
        kind=covariate.kind,
        effect_of=columns.effect_of,
        **effect,
        runs=int(columns.known.sum()),
        pvalue=p,
        pvalue_adjusted=None,
        known_before=covariate.known_before,
        causal=covariate.kind == "randomized",
        may_follow=covariate.may_follow,
    )


def _varies(runs: CovariateRuns, covariate: Covariate) -> bool:
    values = covariate.values if covariate.count is None else covariate.count
    return any(
        np.unique(values[rows][np.isfinite(values[rows])]).size > 1 for _, _, rows in runs.cells()
    )


def _cautions(
    runs: CovariateRuns, factors: Sequence[Factor], short: Sequence[str]
) -> tuple[Caution, ...]:
    looked = {one.factor for one in factors}
    unlooked = [one for name, one in runs.covariates.items() if name not in looked]
    varying = [_varies(runs, one) for one in unlooked]
    constant = [one.name for one, varies in zip(unlooked, varying, strict=True) if not varies]
    untested = [one.name for one, varies in zip(unlooked, varying, strict=True) if varies]
    untold = dict.fromkeys(one.factor for one in factors if one.pvalue is None)
    apart = [name for name in untold if name != "session"]
    sessions = figures.counted(int(np.unique(runs.session).size), "session")
    said = cautions_of(
        {
            "cells-too-short": short != []
            and f"too few runs that differ ({LEAST_RUNS} in sessions of two or more are needed) to "
            f"look for factors: {figures.listed(short)}",
            "factor-constant": constant != []
            and f"not tested, because they do not vary: {figures.listed(constant, 12)}",
            "factor-untested": untested != []
            and f"not tested: {figures.listed(untested, 12)}; what is only seen of the runs needs "
            f"sessions of {LEAST_IN_ROW} runs of a cell, no more levels than half of the runs, and "
            "values that are no straight line in time",
            "session-level-factor": apart != []
            and f"cannot tell: in {sessions}, what differs between sessions only is not told from "
            f"the sessions themselves: {figures.listed(apart, 12)}",
        }
    )
    about = (names for names in (short, constant, untested, apart) if names)
    return tuple(replace(one, about=tuple(names)) for one, names in zip(said, about, strict=True))
