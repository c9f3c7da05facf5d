"""The iterations of each run: where they are stored, and which are judged.

All are judged, or those behind the first N, or those of the run's steady state (``auto``). With ``auto`` a run without a
steady state keeps all its iterations: nothing tells which of them would be left out. Where more than a tenth of a cell's runs
have none, or the two sides of a comparison differ in how many have none (Fisher's exact test, two-sided, 5 %), the comparison
has no word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np

from ..announcing import doing
from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence
from ..record.manifest import WarmupIterations, quantile_said, rank_of, warmup_of
from ..record.run_numbers import METRIC_NUMBERS, NUMBERS
from ..stats.samples import Array, Integers, read_only
from ..stats.steady_state import FEWEST, State, steady_state
from .columns import MetricColumn
from .metrics import apart_of, info_of, kind_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .runs import Runs

MOST_AT_ONCE: Final = 10_000_000  # values that are held together: some 1.2 GB while they are judged
STATES: Final[tuple[State, ...]] = get_args(State)
_STEADY: Final = 3  # the first so many of them have a steady state
_MOST_WITHOUT: Final = 0.1  # share of a cell's runs that may have none


# --- Which of them are judged.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedIterations:
    """The iterations that are judged, and how many each run left out.

    `state` is a place in `STATES` for each run, -1 where nobody looked; None unless the setting is ``auto``.
    """

    setting: WarmupIterations
    column: MetricColumn
    left_out: Integers
    state: NDArray[np.int8] | None = None


def judged_iterations(runs: Runs, metric: str) -> JudgedIterations | None:
    """Give the iterations of each run that are judged of a metric that was parsed from output.

    None for a metric that every run has. All that runs printed stand in `metrics`. Raises StoreError where iterations
    that stand in a file cannot be read.
    """
    column = runs.metrics.get(metric)
    if column is None:
        return None
    key = ("iterations", metric)
    if key not in runs.memo:
        about = runs.manifest.metrics[metric]
        setting = runs.warmup_iterations
        if setting is None or not kind_of(runs.manifest, metric).iterations:
            setting = warmup_of(about)
        of, share = metric, None
        if (said := quantile_said(about)) is not None and said[0] in runs.metrics:
            of, share = said
            base = judged_iterations(runs, of)
            setting = 0 if base is None else base.setting
        runs.memo[key] = _without_warmup(runs, metric, of, setting, share)
    found: JudgedIterations = runs.memo[key]
    return found


def _without_warmup(
    runs: Runs, metric: str, of: str, setting: WarmupIterations, share: float | None
) -> JudgedIterations:
    """Leave out the first `setting` values that each run printed of a metric, or those before its steady state.

    A run of no more than `setting` values keeps none. With `share` the runs are judged by that quantile of what is left of
    the metric `of`. Files are read only where something is left out.
    """
    printed, stored = runs.metrics[of], runs.stored.get(of, {})
    counts = np.diff(printed.offsets)
    several = counts.max(initial=0) > 1 or any(one.iterations for one in stored.values())
    if setting == 0 or (setting == "auto" and not several):
        nothing = read_only(np.zeros_like(counts))
        return JudgedIterations(setting=0, column=runs.metrics[metric], left_out=nothing)
    there = counts.copy()
    for row, one in stored.items():
        there[row] = one.iterations  # what tells only how they are distributed loses nothing
    left = np.zeros_like(counts) if setting == "auto" else np.minimum(there, setting)
    state = np.full(counts.size, -1, dtype=np.int8)
    values: dict[int, list[float]] = {}
    rows = np.flatnonzero(runs.measured & (there > 0)).tolist()
    if setting != "auto" and share is None:  # all others are taken from the column together
        rows = [row for row in rows if row in stored]
    higher = runs.manifest.metrics[metric]["better"] == "higher"
    for number, row in enumerate(rows):
        doing("looking at iterations", number, len(rows), "runs")
        found = stored[row].values() if row in stored else printed.of_run(row)
        if setting == "auto":
            steady = steady_state(found, higher=higher)
            left[row], state[row] = steady.first, STATES.index(steady.state)
        rest = found[left[row] :]
        if share is not None:
            quantile = quantile_in(rest, share)
            values[row] = [] if quantile is None else [quantile]
        elif row in stored:
            values[row] = [float(rest[0] + (rest - rest[0]).mean())] if rest.size else []
    kept = runs.metrics[metric]
    if share is None:
        here = left.copy()
        here[list(stored)] = 0
        kept = printed.behind(here)
    return JudgedIterations(
        setting=setting,
        column=kept.with_values(values) if values else kept,
        left_out=read_only(left),
        state=read_only(state) if setting == "auto" else None,
    )


def quantile_in(values: Array, share: float) -> float | None:
    """Give the quantile of values in any order; None of too few."""
    rank = rank_of(share, values.size)
    return None if rank is None else float(np.partition(values, rank - 1)[rank - 1])


def values_of(runs: Runs, metric: str) -> Array:
    """Give one value of a metric for each run, nan where it is unknown.

    A run's value of a metric with several iterations is their mean. Durations are seconds. Runs that stand apart for this
    metric have no value of it. Raises UsageError where the trial has no such metric.
    """
    info_of(runs, metric)
    if (judged := judged_iterations(runs, metric)) is not None:
        column = judged.column.per_run()
    else:
        number = METRIC_NUMBERS[metric]
        column = runs.numbers[number] / (1e9 if NUMBERS[number].unit == "ns" else 1)
    if runs.counted is None or kind_of(runs.manifest, metric).of == "build":
        return column
    return np.where(apart_of(runs, metric), np.nan, column)


def values_of_run(runs: Runs, metric: str, row: int) -> Array:
    """Give all values of a metric that a run printed, in their order, wherever they stand."""
    stored = runs.stored.get(metric, {}).get(row)
    if stored is not None and stored.iterations:
        return stored.values()
    return runs.metrics[metric].of_run(row)


def judged_counts(runs: Runs, metric: str) -> Integers:
    """Give how many iterations of each run are judged; nothing is read for it."""
    judged = judged_iterations(runs, metric)
    assert judged is not None, "every caller asks for a metric that was parsed from output"
    counts = np.diff(judged.column.offsets)
    for row, stored in runs.stored.get(metric, {}).items():
        if stored.iterations:
            counts[row] = stored.iterations - judged.left_out[row]
    return counts


def judged_values(runs: Runs, metric: str, rows: Integers) -> tuple[Array, Integers]:
    """Give the iterations of these runs that are judged, and for each the place of its run in `rows`.

    Raises AnalysisError where they are too many to be held together, StoreError where they cannot be read.
    """
    judged = judged_iterations(runs, metric)
    assert judged is not None, "every caller asks for a metric that was parsed from output"
    stored = runs.stored.get(metric, {})
    inside = [row for row in rows.tolist() if not (row in stored and stored[row].iterations)]
    if len(inside) == rows.size:
        return judged.column.of_runs(rows)
    counts = judged_counts(runs, metric)[rows]
    if counts.sum() > MOST_AT_ONCE:
        raise AnalysisError(
            f"{counts.sum():,} values of {metric} are more than can be held together ({MOST_AT_ONCE:,})",
            str(runs.path),
            "judge runs: leave '--level iteration' out",
        )
    parts = []
    for number, row in enumerate(rows.tolist()):
        doing("reading samples", number, rows.size, "runs")
        if row in stored and stored[row].iterations:
            parts.append(stored[row].values()[judged.left_out[row] :])
        else:
            parts.append(judged.column.of_run(row))
    return read_only(np.concatenate(parts)), np.repeat(np.arange(rows.size), counts)


# --- What became of them, in words.


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
        return sum((self.states or {}).get(state, 0) for state in STATES[_STEADY:])

    @property
    def unsteady(self) -> bool:
        """Whether so many have none that the cell's iterations cannot be judged."""
        return self.without > _MOST_WITHOUT * self.runs

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

    def __str__(self) -> str:
        least, middle, most = self.left_out
        left = f"{least}" if least == most else f"{least} to {most}, median {middle:g}"
        kinds = ", ".join(f"{n} {state}" for state, n in (self.states or {}).items() if n)
        return f"{self.benchmark} {left}" + (f" ({kinds})" if kinds else "")


def of_cells(
    judged: JudgedIterations | None, variant: str, rows: Mapping[str, Integers]
) -> dict[str, IterationsOfCell]:
    """Say of the runs of a variant, benchmark by benchmark, what became of their iterations; nothing where all are judged."""
    found: dict[str, IterationsOfCell] = {}
    if judged is None or judged.setting == 0:
        return found
    for name, every in rows.items():
        row, states = every, None
        if judged.state is not None:
            row = every[judged.state[every] >= 0]  # the others told only how they are distributed
            counts = np.bincount(judged.state[row].astype(np.int64), minlength=len(STATES))
            states = dict(zip(STATES, counts.tolist(), strict=True))
        if row.size:
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
        some = figures.counted(emptied, "run")
        yield Caution(
            "no-iteration-left",
            f"{some} printed no more iterations of {metric} than are left out as warm-up, and count as without it",
            short=ShortSentence.of(f"{some} had no iteration behind the warm-up"),
        )
    if not cells:
        return
    lost = {name: one for name, one in cells.items() if one.unsteady}
    span = figures.span(part for one in cells.values() for part in one.left_out[::2])
    said = f"iterations of a run that are left out as warm-up: {span}"
    told = figures.listed([*map(str, cells.values())], 4, mark="; ", last="; and")
    short = None if lost else ShortSentence.of(said)
    yield Caution("iterations-left-out", f"{said}: {told}", short=short)
    if lost:
        why = "let them run longer, or name a number with --warmup-iterations"
        if all(one.without == (one.states or {}).get(STATES[-1]) for one in lost.values()):
            why = (
                f"too few iterations ({FEWEST} are needed): name a number with --warmup-iterations"
            )
        told = ", ".join(f"{name} {one.without} of {one.runs} runs" for name, one in lost.items())
        yield Caution(
            "no-steady-state",
            f"no steady state is known: {told}; {why}",
            tuple(lost),
            ShortSentence.of("no word on {}: too many runs reach no steady state", tuple(lost)),
        )
