"""Which iterations of each run are judged: all, those behind the first N, or those of its steady state.

With ``auto`` a run without a steady state keeps all its iterations: nothing tells which of them would be
left out. Where more than a tenth of a cell's runs have none, or the two sides of a comparison differ in how many
have none (Fisher's exact test, two-sided, 5 %), the comparison has no word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from ..announcing import doing
from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence
from ..record.manifest import WarmupIterations, rank_of
from ..stats.samples import read_only
from ..stats.steady_state import FEWEST, State, steady_state
from .columns import Flags, Floats, Integers, MetricColumn
from .session_quantiles import Why, put_together, values_in_run
from .stored_iterations import MOST_AT_ONCE, StoredRun

if TYPE_CHECKING:
    from .trial import Trial

# --- All values of several runs together, as they are needed for a distribution: values, or
# histograms of them.


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """Distinct values in ascending order, and how many values are at most each."""

    values: Floats
    reached: Floats

    @property
    def total(self) -> int:
        """How many values there are."""
        return int(self.reached[-1]) if self.reached.size else 0

    def quantile(self, share: float) -> float | None:
        """Give a quantile; None of too few values."""
        rank = rank_of(share, self.total)
        return None if rank is None else self.at(rank)

    def at(self, rank: int) -> float:
        """Give the value at a place from 1, in ascending order."""
        return float(self.values[np.searchsorted(self.reached, rank)])


def pooled(trial: Trial, metric: str, rows: Integers) -> Pooled | Why:
    """Put the judged values of these runs together, or say why they cannot be.

    Raises AnalysisError where they are too many, StoreError where they cannot be read.
    """
    parts, size = [], 0
    for row in rows.tolist():
        given = values_in_run(trial, metric, row)
        if isinstance(given, str):
            return given
        parts.append(given.judged)
        size += parts[-1].values.size
        if size > MOST_AT_ONCE:
            raise AnalysisError(f"more than {MOST_AT_ONCE:,} values of {metric}", str(trial.path))
    if not parts:
        return Pooled(np.empty(0), np.empty(0))
    values, counts = put_together(parts)
    distinct, place = np.unique(values, return_inverse=True)
    return Pooled(distinct, np.cumsum(np.bincount(place, weights=counts)))


STATES: Final[tuple[State, ...]] = get_args(State)
STEADY: Final = 3  # the first so many of them have a steady state
MOST_WITHOUT: Final = 0.1  # share of a cell's runs that may have none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedIterations:
    """The iterations that are judged, and how many each run left out.

    `state` is a place in `STATES` for each run, -1 where nobody looked; None unless the setting is ``auto``.
    """

    setting: WarmupIterations
    column: MetricColumn
    left_out: Integers
    state: NDArray[np.int8] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationsOfCell:
    """What became of the iterations of the runs of a benchmark and variant.

    `left_out` are the fewest, the median and the most iterations of a run that are not judged. With the setting
    ``auto``, `states` counts its runs by what they are called; else it is None. `host` is set in a fleet.
    """

    benchmark: str
    variant: str
    setting: WarmupIterations
    runs: int
    left_out: tuple[int, float, int]
    states: Mapping[State, int] | None = None
    host: str | None = None

    @property
    def without(self) -> int:
        """How many runs have no steady state, as far as is known."""
        return sum((self.states or {}).get(state, 0) for state in STATES[STEADY:])

    @property
    def unsteady(self) -> bool:
        """Whether so many have none that the cell's iterations cannot be judged."""
        return self.without > MOST_WITHOUT * self.runs

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        states = None if self.states is None else {one: self.states.get(one, 0) for one in STATES}
        return {
            "host": self.host,
            "benchmark": self.benchmark,
            "variant": self.variant,
            "setting": self.setting,
            "runs": self.runs,
            "left_out": dict(zip(("least", "median", "most"), self.left_out, strict=True)),
            "states": states,
        }


def without_warmup(
    column: MetricColumn,
    setting: WarmupIterations,
    looked_at: Flags,
    *,
    higher: bool,
    stored: Mapping[int, StoredRun] | None = None,
    quantile: tuple[MetricColumn, float] | None = None,
) -> JudgedIterations:
    """Leave out the warm-up of each run.

    Parameters
    ----------
    column : MetricColumn
        All iterations.
    setting : int or "auto"
        How many are left out, or that each run's own change point says it. A run of no more than so many
        keeps none.
    looked_at : array of bool
        The runs whose steady state is looked for: others keep all their iterations under ``auto``, and all do
        where no run has two.
    higher : bool
        Whether higher values are better.
    stored : mapping of int to StoredRun
        The runs whose iterations stand in files, in the place of which the column has one value, their mean.
        They are read one after the other, and only where something is left out.
    quantile : tuple of MetricColumn and float
        The runs are judged by this quantile of their judged iterations; the column has that of all they printed.

    Raises
    ------
    StoreError
        If iterations that stand in a file cannot be read.
    """
    counts = np.diff(column.offsets)
    several = counts.max(initial=0) > 1 or any(one.iterations for one in (stored or {}).values())
    if setting == "auto" and not several:
        setting = 0
    if setting == 0:
        nothing = read_only(np.zeros_like(counts))
        return JudgedIterations(setting=setting, column=column, left_out=nothing)
    stored = stored or {}
    printed = counts.copy()
    for row, one in stored.items():
        printed[row] = (
            one.iterations
        )  # of one that tells only how they are distributed nothing can be left out
    left = np.zeros_like(counts) if setting == "auto" else np.minimum(printed, setting)
    state = np.full(counts.size, -1, dtype=np.int8)
    values: dict[int, float | None] = {}
    rows = np.flatnonzero(looked_at & (printed > 0))
    if setting != "auto" and quantile is None:  # all others are taken from the column together
        rows = np.array([row for row in rows.tolist() if row in stored], dtype=np.int64)
    for number, row in enumerate(rows.tolist()):
        doing("looking at iterations", number, rows.size, "runs")
        inside = column.values[column.offsets[row] : column.offsets[row + 1]]
        iterations = stored[row].values() if row in stored else inside
        if setting == "auto":
            steady = steady_state(iterations, higher=higher)
            left[row], state[row] = steady.first, STATES.index(steady.state)
        rest = iterations[left[row] :]
        if quantile is not None:
            values[row] = _quantile(rest, quantile[1])
        elif row in stored:
            values[row] = None if not rest.size else float(rest[0] + (rest - rest[0]).mean())
    here = left.copy()
    here[list(stored)] = 0
    kept = _behind(column, counts, here) if quantile is None else quantile[0]
    return JudgedIterations(
        setting=setting,
        column=_instead(kept, values) if values else kept,
        left_out=read_only(left),
        state=read_only(state) if setting == "auto" else None,
    )


def _quantile(values: Floats, share: float) -> float | None:
    rank = rank_of(share, values.size)
    return None if rank is None else float(np.partition(values, rank - 1)[rank - 1])


def _instead(column: MetricColumn, values: Mapping[int, float | None]) -> MetricColumn:
    """Give a column in which these runs have one value, or none."""
    parts = np.split(column.values, column.offsets[1:-1])
    for row, value in values.items():
        parts[row] = np.array([] if value is None else [value])
    counts = [part.size for part in parts]
    return MetricColumn(
        values=read_only(np.concatenate(parts)),
        offsets=read_only(np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))),
    )


def _behind(column: MetricColumn, counts: Integers, left: Integers) -> MetricColumn:
    """Give a column without the first iterations of each run."""
    within = np.arange(column.values.size) - np.repeat(column.offsets[:-1], counts)
    return MetricColumn(
        values=read_only(column.values[within >= np.repeat(left, counts)]),
        offsets=read_only(np.concatenate(([0], np.cumsum(counts - left)))),
    )


def of_cells(
    judged: JudgedIterations | None, variant: str, rows: Mapping[str, Integers]
) -> dict[str, IterationsOfCell]:
    """Say of the runs of a variant, benchmark by benchmark, what became of their iterations; nothing where all are judged."""
    if judged is None or judged.setting == 0:
        return {}
    found = {}
    for name, every in rows.items():
        row, states = every, None
        if judged.state is not None:
            row = every[judged.state[every] >= 0]  # the others told only how they are distributed
            counts = np.bincount(judged.state[row].astype(np.int64), minlength=len(STATES))
            states = dict(zip(STATES, counts.tolist(), strict=True))
        if not row.size:
            continue
        left = judged.left_out[row]
        found[name] = IterationsOfCell(
            benchmark=name,
            variant=variant,
            setting=judged.setting,
            runs=int(row.size),
            left_out=(int(left.min()), float(np.median(left)), int(left.max())),
            states=states,
        )
    return found


def iteration_cautions(
    cells: Mapping[str, IterationsOfCell], *, emptied: int, metric: str
) -> Iterator[Caution]:
    """Say of a variant which iterations are not judged, and where runs have no steady state."""
    if emptied:
        yield Caution(
            "no-iteration-left",
            f"{figures.counted(emptied, 'run')} printed no more iterations of {metric} than are "
            "left out as warm-up, and count as without it",
            short=ShortSentence.of(
                f"{figures.counted(emptied, 'run')} had no iteration behind the warm-up"
            ),
        )
    if not cells:
        return
    lost = {name: one for name, one in cells.items() if one.unsteady}
    yield Caution(
        "iterations-left-out",
        f"of each run {_what(cells)}: {_told(cells)}",
        short=None if lost else ShortSentence.of(_what(cells)),
    )
    if lost:
        few = all(one.without == (one.states or {}).get(STATES[-1]) for one in lost.values())
        why = (
            f"too few iterations ({FEWEST} are needed): name a number with --warmup-iterations"
            if few
            else "runs that keep changing have no speed of their own: look at them with 'fairtrial plot', let "
            "them run longer, or name a number with --warmup-iterations"
        )
        told = ", ".join(f"{name} {one.without} of {one.runs} runs" for name, one in lost.items())
        yield Caution(
            "no-steady-state",
            f"no steady state is known: {told}; {why}",
            tuple(lost),
            ShortSentence.of("no word on {}: too many runs reach no steady state", tuple(lost)),
        )


def _told(cells: Mapping[str, IterationsOfCell]) -> str:
    parts = []
    for name, one in cells.items():
        least, middle, most = one.left_out
        left = f"{least}" if least == most else f"{least} to {most}, median {middle:g}"
        kinds = [f"{n} {state}" for state, n in (one.states or {}).items() if n]
        parts.append(f"{name} {left}" + (f" ({', '.join(kinds)})" if kinds else ""))
    return figures.listed(parts, 4, mark="; ", last="; and")


def _what(cells: Mapping[str, IterationsOfCell]) -> str:
    least = min(one.left_out[0] for one in cells.values())
    most = max(one.left_out[2] for one in cells.values())
    if most == 0:
        return "all iterations are judged"
    if most == 1:
        return (
            "the first iteration is not judged" if least else "at most one iteration is not judged"
        )
    return f"the first {most if least == most else f'{least} to {most}'} iterations are not judged"
