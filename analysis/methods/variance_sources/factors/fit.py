"""Every suspected factor of every benchmark and variant: effect, interval, p-value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....errors import InsufficientDataError
from ....report import Caution, figures
from ....stats import Progress, in_order, stream
from ..covariates import AS_LEVELS, Covariate, as_levels
from ..result import Factor
from ..runs import Runs
from .between import between_sessions
from .cells import LEAST_IN_ROW, LEAST_RUNS, Cell, cell_of
from .columns import Columns, columns_of
from .effects import Effect, effect_of, spread_within
from .family import Family, pvalue, surprise
from .orders import Directions, Fits, Shifts, Shuffles
from .rates import Witnesses, beside_its_count, witnesses

__all__ = ["factors_of"]

Floats = NDArray[np.float64]
_SAME = 1e-9  # of a factor's range: what differs by less within sessions does not


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Suspect:
    """A factor that a cell can tell something of; of a rate, it and what it was made of."""

    covariate: Covariate
    columns: Columns
    found: Directions
    witnesses: Witnesses | None = None

    @property
    def directions(self) -> tuple[Directions, ...]:
        """All directions of which it is asked how well they fit."""
        if self.witnesses is None:
            return (self.found,)
        return self.found, self.witnesses.rate, self.witnesses.count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tested:
    """What is told of a factor, before it is adjusted for the number of all."""

    factor: Factor
    surprise: float
    drawn: Floats | None  # None where the design cannot tell


def factors_of(
    runs: Runs, *, permutations: int, confidence: float, root: int, workers: int | None = None
) -> tuple[tuple[Factor, ...], tuple[Caution, ...]]:
    """Test every covariate of every benchmark and variant, and adjust for all of them together.

    Parameters
    ----------
    runs : Runs
        The runs.
    permutations : int
        How many other orders.
    confidence : float
        Of the intervals.
    root : int
        The seed of the orders; each benchmark and variant has a stream of its own.
    workers : int, optional
        Benchmarks and variants at the same time, as in `in_order`.

    Returns
    -------
    factors : tuple of Factor
        In the order of the cells, of each the randomized ones first.
    cautions : tuple of Caution
        What could not be told.

    Raises
    ------
    InsufficientDataError
        If no benchmark and variant has enough runs.
    """
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
    suspects = [wide for one in runs.covariates.values() for wide in _forms(one)]
    by_cell = in_order(
        partial(_told_of, permutations=permutations, confidence=confidence, root=root),
        ((cell.alone(), [one.of(cell.rows) for one in suspects]) for cell in cells),
        workers=workers,
        prefer="processes",
    )
    told = [one for of_cell in by_cell for one in of_cell]
    family = Family(permutations)
    for one in told:
        if one.drawn is not None:
            family.add(one.surprise, one.drawn)
    adjusted = iter(family.adjusted())
    factors = tuple(
        one.factor if one.drawn is None else _with_adjusted(one.factor, next(adjusted))
        for one in told
    )
    return factors, tuple(_cautions(runs, factors, short))


def _forms(covariate: Covariate) -> Iterator[Covariate]:
    """Give a covariate, and once more with whole numbers as categories."""
    yield covariate
    if (levels := as_levels(covariate)) is not None:
        yield levels


def _with_adjusted(factor: Factor, p: float) -> Factor:
    return replace(factor, pvalue_adjusted=max(p, factor.pvalue or 0.0))


def _told_of(
    asked: tuple[Cell, list[Covariate]],
    _going_on: Progress,
    *,
    permutations: int,
    confidence: float,
    root: int,
) -> list[_Tested]:
    """Give what is told of the factors of one cell."""
    cell, suspects = asked
    return list(_of_cell(cell, suspects, permutations, confidence=confidence, root=root))


def _of_cell(
    cell: Cell,
    suspects: Sequence[Covariate],
    permutations: int,
    *,
    confidence: float,
    root: int,
) -> Iterator[_Tested]:
    def streamed(what: str) -> np.random.Generator:
        return stream(root, what, cell.benchmark, cell.variant)

    shuffles = Shuffles(cell, permutations, streamed("shuffles"))
    shifts = Shifts(cell, permutations, streamed("shifts"))
    drawn: list[_Suspect] = []
    seen: list[_Suspect] = []
    apart: list[tuple[Covariate, Columns]] = []
    for covariate in suspects:
        columns = columns_of(covariate, cell.rows)
        if columns is None or _twice(covariate, columns, cell):
            continue
        randomized = covariate.kind == "randomized"
        orders = shuffles if randomized else shifts
        if covariate.of_session or not _varies_within(columns, cell):
            apart.append((covariate, columns))
            continue
        found = orders.prepared(columns.table, columns.known, either=columns.either)
        if found is None or (not found.either and found.basis.shape[1] > _room(cell)):
            continue  # nothing is left without its trend, or it has a level for every few runs
        both = witnesses(covariate, cell, shifts)
        if covariate.count is not None and both is None:
            continue  # the count is constant: its rate is nothing but the run's time
        one = _Suspect(covariate=covariate, columns=columns, found=found, witnesses=both)
        (drawn if randomized else seen).append(one)
    for those, orders in ((drawn, shuffles), (seen, shifts)):
        fits = iter(orders.fits([direction for one in those for direction in one.directions]))
        for one in those:
            yield _tested(cell, one, [next(fits) for _ in one.directions], confidence)
    for covariate, columns in apart:
        rng = stream(root, "sessions", cell.benchmark, cell.variant, covariate.name)
        told = _between(cell, covariate, columns, permutations, confidence, rng)
        if told is not None:
            yield told


def _varies_within(columns: Columns, cell: Cell) -> bool:
    """Tell whether a factor differs between the runs of some session."""
    whole = float(np.ptp(columns.table[columns.known], axis=0).max())
    there = [mine[columns.known[mine]] for mine in cell.sessions]
    inside = [float(np.ptp(columns.table[mine], axis=0).max()) for mine in there if mine.size > 1]
    return max(inside, default=0.0) > _SAME * whole


def _room(cell: Cell) -> int:
    """Give how many directions a factor may have: more would explain anything."""
    return (cell.rows.size - len(cell.sessions)) // 2


def _twice(covariate: Covariate, columns: Columns, cell: Cell) -> bool:
    """Tell whether levels of whole numbers are what the number itself has been taken as already."""
    made = covariate.name.endswith(AS_LEVELS)
    return made and np.unique(covariate.values[cell.rows][columns.known]).size == 2


def _tested(cell: Cell, one: _Suspect, fits: Sequence[Fits], confidence: float) -> _Tested:
    own = fits[0]
    spread = spread_within(one.columns.table[:, 0], one.columns.known, cell.sessions)
    effect = effect_of(
        one.columns, one.found, own.along, spread=spread, fits=own, confidence=confidence
    )
    told = own
    if one.witnesses is not None:
        told = beside_its_count(one.witnesses, fits[1], fits[2])
    found, drawn = surprise(told, own)
    return _Tested(
        factor=_factor(cell, one.covariate, one.columns, effect, pvalue(told)),
        surprise=found,
        drawn=drawn,
    )


def _between(  # noqa: PLR0917 - one factor of what `_of_cell` was asked
    cell: Cell,
    covariate: Covariate,
    columns: Columns,
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
    effect = effect_of(
        columns,
        told.along,
        told.coordinates,
        spread=told.spread,
        fits=fits,
        confidence=confidence,
    )
    p = None if fits is None else pvalue(fits)
    if fits is None and columns.effect_of != "levels":  # a slope through so few sessions is none
        effect = replace(effect, ratio=None, lowest=None, highest=None)
    return _Tested(factor=_factor(cell, covariate, columns, effect, p), surprise=found, drawn=drawn)


def _factor(
    cell: Cell, covariate: Covariate, columns: Columns, effect: Effect, p: float | None
) -> Factor:
    return Factor(
        benchmark=cell.benchmark,
        variant=cell.variant,
        factor=covariate.name,
        kind=covariate.kind,
        effect=effect.ratio,
        effect_of=columns.effect_of,
        low=effect.low,
        high=effect.high,
        lowest=effect.lowest,
        highest=effect.highest,
        runs=int(columns.known.sum()),
        pvalue=p,
        pvalue_adjusted=None,
        known_before=covariate.known_before,
        causal=covariate.kind == "randomized",
        may_follow=covariate.may_follow,
    )


def _varies(runs: Runs, covariate: Covariate) -> bool:
    """Tell whether a covariate differs between the runs of some cell."""
    return any(
        np.unique(values[np.isfinite(values)]).size > 1
        for _, _, rows in runs.cells()
        if (
            values := (covariate.count if covariate.count is not None else covariate.values)[rows]
        ).size
    )


def _cautions(runs: Runs, factors: Sequence[Factor], short: Sequence[str]) -> Iterator[Caution]:
    if short:
        said = (
            f"too few runs that differ ({LEAST_RUNS} in sessions of two or more are needed) to look "
            f"for factors: {figures.listed(short)}"
        )
        yield Caution("cells-too-short", said, tuple(short))
    looked = {one.factor for one in factors}
    others = [one for name, one in runs.covariates.items() if name not in looked]
    constant = [one.name for one in others if not _varies(runs, one)]
    if constant:
        said = f"not tested, because they do not vary: {figures.listed(constant, 12)}"
        yield Caution("factor-constant", said, tuple(constant))
    untested = [one.name for one in others if _varies(runs, one)]
    if untested:
        said = (
            f"not tested: {figures.listed(untested, 12)}; what is only seen of the runs needs sessions of "
            f"{LEAST_IN_ROW} runs of a cell, no more levels than half of the runs, and values that are no "
            "straight line in time"
        )
        yield Caution("factor-untested", said, tuple(untested))
    untold = dict.fromkeys(one.factor for one in factors if one.pvalue is None)
    apart = [name for name in untold if name != "session"]
    if apart:
        sessions = int(np.unique(runs.session).size)
        said = (
            f"cannot tell: in {sessions} session{'s' * (sessions > 1)}, what differs between sessions "
            f"only is not told from the sessions themselves: {figures.listed(apart, 12)}"
        )
        yield Caution("session-level-factor", said, tuple(apart))
