"""What the randomization test reassigns, and its loops by numpy alone: the same numbers as compiled.

The functions are those of `kernel`, of the same names: they draw the same random numbers and add in the
same order, over all assignments at once. Of few runs they take less time than loading the kernels.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ...data.pair import Centre, Match, Mean, match, speedup_of, suite_mean
from ...errors import UsageError
from ...pages import number_format as figures
from ...pages.model import Caution, cautions_of
from ...registry import shipped
from ...stats.samples import Array, Flags, Indices, Integers, read_only

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.runs import Unit as Outermost

IDENTITY, LOGARITHM, RECIPROCAL = 0, 1, 2
TRIES = 100  # draws for each assignment wanted, before missing runs are called too many
Marks = NDArray[np.uint8]


class PooledRuns(NamedTuple):
    """The pooled runs of both sides, benchmark after benchmark.

    `values`: Inside each benchmark in ascending order, for the medians. `owner`: For each value,
    what is assigned with it: its place among the labels. `starts`: Where each benchmark starts, and
    where the last one ends. `median`: Whether a benchmark's centre is its median; otherwise its
    mean. `outer`: What happens to a centre before it is summed: one of the three codes above.
    """

    values: Array
    owner: Integers
    starts: Integers
    median: bool
    outer: int


class Exchange(NamedTuple):
    """What trades places: the first `pool` labels; `size` of them are the candidate's.

    Then come the candidate's and the baseline's half of each of `pairs` pairs.
    """

    pool: int
    size: int
    pairs: int


def _transformed(centres: Array, outer: int) -> Array:
    if outer == LOGARITHM:  # one by one: numpy's differ from the kernel's in the last digit
        return np.array([math.log(c) if c > 0 else -math.inf for c in centres])
    return 1.0 / centres if outer == RECIPROCAL else centres


def _medians(values: Array, upto: Integers) -> Array:
    """Give the medians of the values taken; `upto` counts those up to each one."""
    number = upto[-1]
    last = values.size - 1
    low = values[np.minimum((upto <= (number - 1) // 2).sum(axis=0), last)]
    high = values[np.minimum((upto <= number // 2).sum(axis=0), last)]
    return np.asarray(np.where(number % 2 == 0, 0.5 * low + 0.5 * high, low))


@np.errstate(all="ignore")  # of benchmarks without runs on one side, which are reported
def _joint(runs: PooledRuns, taken: Marks) -> tuple[Array, Array, Flags]:
    """Sum both sides' centres over the benchmarks, by assignment; tell where none lacks runs.

    `taken` has a row for each label, 1 where it is the candidate's, and a column an assignment.
    """
    a, b = np.zeros(taken.shape[1]), np.zeros(taken.shape[1])
    whole = np.ones(taken.shape[1], dtype=bool)
    for start, stop in itertools.pairwise(runs.starts.tolist()):
        values, flags = runs.values[start:stop], taken[runs.owner[start:stop]]
        ours = flags.sum(axis=0, dtype=np.int64)
        theirs = stop - start - ours
        whole &= (ours > 0) & (theirs > 0)
        if runs.median:
            upto = np.cumsum(flags, axis=0, dtype=np.int64)
            rest = np.arange(1, stop - start + 1)[:, None] - upto
            centres = _medians(values, upto), _medians(values, rest)
        else:
            sums = np.zeros((2, taken.shape[1]))
            for value, flag in zip(values.tolist(), flags, strict=True):  # in the kernel's order
                sums[0] += value * flag
                sums[1] += value * (1 - flag)
            centres = sums[0] / ours, sums[1] / theirs
        a += _transformed(centres[0], runs.outer)
        b += _transformed(centres[1], runs.outer)
    return a, b, whole


def _chosen(total: int, size: int) -> Marks:
    """Give all choices of `size` from `total` in the order of the alphabet, a column each."""
    choices = np.array([*itertools.combinations(range(total), size)], dtype=np.intp)
    taken = np.zeros((total, len(choices)), np.uint8)
    taken[choices.T, np.arange(len(choices))] = 1
    return taken


def _shuffled(draws: Array, order: Integers, size: int) -> Marks:
    """Give random choices of `size`, a column for each row of `draws`; the order is moved on.

    A choice takes the first steps of a shuffle of the order that the last one left. Which places
    they exchange does not depend on what stands there.
    """
    count, total = len(draws), order.size
    rows, places = np.arange(count), np.tile(np.arange(total), (count, 1))
    for k in range(size):
        other = k + (draws[:, k] * (total - k)).astype(np.intp)
        moved = places[rows, other]
        places[rows, other] = places[:, k]
        places[:, k] = moved
    taken = np.zeros((total, count), np.uint8)
    for r in range(count if size else 0):
        order[:] = order[places[r]]
        taken[order[:size], r] = 1
    return taken


def _swapped(swaps: NDArray[np.bool_]) -> Marks:
    """Give both halves of each pair, a row each: the baseline's is the candidate's where swapped."""
    marks = np.repeat(swaps, 2, axis=0).astype(np.uint8)
    marks[::2] = 1 - marks[::2]
    return marks


def all_splits(runs: PooledRuns, size: int, out_a: Array, out_b: Array) -> None:
    """Fill in every split of one benchmark's runs that gives the candidate `size` of them."""
    out_a[:], out_b[:], _ = _joint(runs, _chosen(runs.values.size, size))


def add_shuffled(
    rng: np.random.Generator, runs: PooledRuns, size: int, out_a: Array, out_b: Array
) -> None:
    """Add random splits of one benchmark's runs that give the candidate `size` of them."""
    order = np.arange(runs.values.size)
    a, b, _ = _joint(runs, _shuffled(rng.random((out_a.size, size)), order, size))
    out_a += a
    out_b += b


def joint_all(runs: PooledRuns, design: Exchange, out_a: Array, out_b: Array) -> int:
    """Fill in every assignment of the units that leaves no benchmark empty; give their number."""
    choices = _chosen(design.pool, design.size)
    swaps = np.arange(1 << design.pairs) >> np.arange(design.pairs)[:, None] & 1
    halves = _swapped(swaps.astype(bool))
    taken = np.concatenate(
        [np.repeat(choices, halves.shape[1], axis=1), np.tile(halves, (1, choices.shape[1]))]
    )
    return _filled(_joint(runs, taken), 0, out_a, out_b)


def joint_shuffled(
    rng: np.random.Generator, runs: PooledRuns, design: Exchange, out_a: Array, out_b: Array
) -> int:
    """Fill in random assignments of the units that leave no benchmark empty; give their number.

    That number is smaller than the arrays only when `TRIES` draws for each were not enough.
    """
    pool, size, pairs = design
    order, done = np.arange(pool), 0
    bit = np.arange(pairs)
    for _ in range(TRIES):
        draws = rng.random((out_a.size, size + -(-pairs // 32)))
        found = (draws[:, size:] * 4294967296.0).astype(np.int64)
        swaps = found[:, bit // 32].T >> (bit % 32)[:, None] & 1
        taken = np.concatenate([_shuffled(draws, order, size), _swapped(swaps.astype(bool))])
        done = _filled(_joint(runs, taken), done, out_a, out_b)
        if done == out_a.size:
            break
    return done


def _filled(found: tuple[Array, Array, Flags], done: int, out_a: Array, out_b: Array) -> int:
    """Write what leaves no benchmark empty from place `done` on; give the next place."""
    where = np.flatnonzero(found[2])[: out_a.size - done]
    out_a[done : done + where.size] = found[0][where]
    out_b[done : done + where.size] = found[1][where]
    return done + where.size


# --- What the bootstrap intervals really cover, read from a table made by simulation.
#
# The table lies next to this file, with the settings, the seed and the Monte Carlo error that belong
# to it; ``tests/calibration/make_coverage_table.py`` makes it anew from the intervals themselves.


Design = Literal["runs", "units", "pairs"]
_TABLE = "analysis/methods/resampling/coverage.json"


@dataclass(frozen=True, slots=True)
class KnownCoverage:
    """The coverage of an interval in the largest cell of the table that promises no more.

    `coverage`: The share of simulated suites whose interval held the truth, under the noise that
    gave less. `suites`: How many were simulated.
    `benchmarks`, `runs`: The cell. For whole units `runs` is their number (on each side, or
    together where each holds both variants) and `benchmarks` is 1, because the suite moves as one.
    `design` ({"runs", "units", "pairs"}): What was resampled. `others`: The coverage under each
    noise that was simulated.
    """

    coverage: float
    suites: int
    benchmarks: int
    runs: int
    design: Design
    others: tuple[tuple[str, float], ...]


@cache
def _table() -> dict[str, Any]:
    return dict(json.loads(shipped(_TABLE).read_text(encoding="utf-8")))


def known_coverage(
    interval: str,
    *,
    centre: str,
    design: Design,
    benchmarks: int,
    runs: float,
    confidence: float,
    two_sided: bool,
) -> KnownCoverage | None:
    """Read the coverage in the largest cell with no more runs and benchmarks than these.

    Coverage grows with the runs, so a larger cell would promise too much.
    """
    table = _table()
    tail = (1 - confidence) / (2 if two_sided else 1)
    place = next((k for k, t in enumerate(table["tails"]) if math.isclose(t, tail)), None)
    kind = "median" if centre == "median" else "mean"
    # whole units of one side move the suite as one: a suite of one benchmark
    like = "runs" if design == "units" else design
    if place is None:
        return None
    cells = [
        cell
        for cell in table["cells"]
        if cell["design"] == like
        and cell["centre"] == kind
        and cell["runs"] <= runs
        and cell["benchmarks"] <= benchmarks
        and cell["misses"].get(interval, {place: None})[place] is not None
    ]
    if not cells:
        return None
    largest = max(cells, key=lambda cell: (cell["runs"], cell["benchmarks"]))
    size = (largest["benchmarks"], largest["runs"])
    here = [cell for cell in cells if (cell["benchmarks"], cell["runs"]) == size]
    found = {
        cell["noise"]: round(1 - cell["misses"][interval][place] * (2 if two_sided else 1), 6)
        for cell in here
    }
    least, suites = min(found.values()), min(cell["suites"] for cell in here)
    return KnownCoverage(least, suites, *size, design, tuple(found.items()))


def not_covered(kind: Literal["session", "benchmarks"]) -> list[tuple[str, str]]:
    """Give what nominal 0.95 percentile intervals held of what they do not draw, and the runs."""
    rows = (row for row in _table()["not_covered"] if row["kind"] == kind)
    return [(f"{row['coverage']:.2f}", f"{row['runs']}") for row in rows]


# --- What is resampled together: single runs, whole rounds, or whole sessions.
#
# A resampling method is honest only when what it moves is independent of the rest. Runs of several
# benchmarks in one round share the machine's state, and often a process; rounds of one session share
# its memory layout and neighbours. So the unit is a choice with consequences, and every result says
# which one was used and what the data cannot tell.


Unit = Literal["run", "block", "session"]
UNITS: tuple[Unit, ...] = get_args(Unit)
SESSIONS = 5  # that both sides have: from this number on they are what is moved, unless asked
_NOUN = {"run": "run", "block": "round"}


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """To which unit each run of two matched matrices belongs.

    `chosen` tells that the unit was not asked for, but follows from what the data know. `candidate`
    and `baseline` hold the number of each run's unit, in the shape of the samples. For "block" and
    "session" the numbers run over both sides and all benchmarks together, and a number that stands
    on both sides is a unit that holds both variants. For "run" they run over both sides of one
    benchmark: first the candidate's runs, then the baseline's. `sides` is 0 for each unit with runs
    of the candidate only, 1 of the baseline only, 2 of both; empty for "run". `sessions` counts
    those of the runs, None when they are not known on both sides; `outermost` is what is taken as
    one: hosts only where they are on both sides.
    """

    unit: Unit
    chosen: bool
    candidate: tuple[Integers, ...]
    baseline: tuple[Integers, ...]
    sides: Integers
    sessions: int | None
    outermost: Outermost = "session"

    @property
    def noun(self) -> str:
        """What a unit is called: run, round, session, or host where hosts are taken as sessions."""
        return _NOUN.get(self.unit, self.outermost)

    @property
    def words(self) -> str:
        """What is moved, for a reader."""
        if self.unit == "run":
            return "single runs, each benchmark on its own"
        return f"whole {self.noun}s, jointly over all benchmarks"

    @property
    def counts(self) -> str:
        """How many units hold which variants, for a reader; empty for single runs."""
        kinds = (
            (self.both, "with both variants"),
            (self.only_candidate, "with the candidate only"),
            (self.only_baseline, "with the baseline only"),
        )
        return ", ".join(f"{count} {text}" for count, text in kinds if count)

    @property
    def strata(self) -> list[Indices]:
        """The units that are drawn among each other: all where some hold both variants, else by side."""
        if self.both:
            return [np.arange(self.sides.size)]
        return [np.flatnonzero(self.sides == 0), np.flatnonzero(self.sides == 1)]

    @property
    def several_sessions(self) -> bool:
        """Whether units smaller than sessions stem from several: they count as independent."""
        return self.unit != "session" and self.sessions is not None and self.sessions > 1

    @property
    def only_candidate(self) -> int:
        """How many units hold runs of the candidate only."""
        return int((self.sides == 0).sum())

    @property
    def only_baseline(self) -> int:
        """How many units hold runs of the baseline only."""
        return int((self.sides == 1).sum())

    @property
    def both(self) -> int:
        """How many units hold runs of both."""
        return int((self.sides == 2).sum())


class ResamplingQuestion(NamedTuple):
    """What is resampled, for the test and the interval: two matched matrices and their units."""

    pair: Match
    units: Units
    mean: Mean
    centre: Centre

    @property
    def ratio(self) -> float:
        """The observed ratio of suite means, above 1 where the candidate is better."""
        a, b = self.pair.candidate, self.pair.baseline
        ours, theirs = (suite_mean(m, mean=self.mean, centre=self.centre) for m in (a, b))
        return speedup_of(ours, theirs, a.better)

    def answered(self) -> dict[str, Any]:
        """Give the fields that every result repeats from its question."""
        a, b = self.pair.candidate, self.pair.baseline
        return {
            "candidate": a.name,
            "baseline": b.name,
            "mean": self.mean,
            "centre": self.centre,
            "unit": self.units.unit,
            "unit_counts": self.units.counts,
            "benchmarks": a.benchmarks,
            "runs_candidate": a.runs,
            "runs_baseline": b.runs,
            "timed": figures.timed(a.unit),
        }


def ask(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    unit: Unit | None,
    mean: Mean,
    centre: Centre,
) -> ResamplingQuestion:
    """Match two matrices and find their units."""
    pair = match(candidate, baseline)
    units = exchangeable_units(pair.candidate, pair.baseline, unit)
    return ResamplingQuestion(pair, units, mean, centre)


def exchangeable_units(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, unit: Unit | None = None
) -> Units:
    """Find the units of two matrices with the same benchmarks in the same order.

    Equal block ids on both sides mean one round that holds both variants, equal session ids one
    session. Matrices of different trials must not share ids by accident: see `set_apart`. Where
    sessions are known on both sides, a round is known by its session and its block id together.
    """
    if unit is not None and unit not in UNITS:
        raise UsageError(f"unit must be 'run', 'block', 'session' or None, not {unit!r}")
    ours, theirs = _sessions(candidate), _sessions(baseline)
    smaller: Unit = "run" if candidate.blocks is None or baseline.blocks is None else "block"
    used = unit or ("session" if len(ours & theirs) >= SESSIONS else smaller)
    both = candidate, baseline
    numbers = _single_runs(*both) if used == "run" else _numbered(_keys(*both, used))
    known = candidate.sessions is not None and baseline.sessions is not None
    sessions = len(ours | theirs) if known else None
    outermost = candidate.outermost if candidate.outermost == baseline.outermost else "session"
    return Units(used, unit is None, *numbers, sessions, outermost)


def _sessions(matrix: PerformanceMatrix) -> set[Any]:
    return {label for row in matrix.sessions or () for label in row.tolist()}


Keys = list[list[Any]]
_Numbers = tuple[tuple[Integers, ...], tuple[Integers, ...], Integers]  # the last three of `Units`


def _keys(a: PerformanceMatrix, b: PerformanceMatrix, unit: Unit) -> tuple[Keys, Keys]:
    """Give the identity of each run's unit, for both sides."""
    kind = f"{unit}s"
    missing = [matrix.name for matrix in (a, b) if getattr(matrix, kind) is None]
    if missing:
        whose = " and ".join(map(repr, missing))
        what = f"unit={unit!r} needs to know each run's {unit}, and does not for {whose}"
        say = f"a variant of a trial, or {kind} with the values (a JSON matrix file, PerformanceMatrix.from_samples)"
        raise UsageError(what, fix=f"take another unit, or give data that say it: {say}")
    with_sessions = unit == "block" and a.sessions is not None and b.sessions is not None

    def of(matrix: PerformanceMatrix) -> Keys:
        rows = [row.tolist() for row in getattr(matrix, kind)]
        if not with_sessions:
            return rows
        sessions = (row.tolist() for row in matrix.sessions or ())
        return [list(zip(*both, strict=True)) for both in zip(sessions, rows, strict=True)]

    return of(a), of(b)


def _numbered(keys: tuple[Keys, Keys]) -> _Numbers:
    def place(key: Any) -> tuple[Any, ...]:  # noqa: ANN401 - an id is a number, a name, or a pair
        parts = key if isinstance(key, tuple) else (key,)
        return tuple((isinstance(part, str), part) for part in parts)

    ours, theirs = ({key for row in rows for key in row} for rows in keys)
    # An order that depends on neither the benchmarks nor the runs: same data, same draws. Integers
    # and names may stand side by side.
    number = {key: k for k, key in enumerate(sorted(ours | theirs, key=place))}
    a, b = (
        tuple(read_only(np.array([number[key] for key in row], dtype=np.int64)) for row in rows)
        for rows in keys
    )
    sides = np.array([2 if key in ours and key in theirs else key in theirs for key in number])
    return a, b, read_only(sides.astype(np.int64))


def _single_runs(a: PerformanceMatrix, b: PerformanceMatrix) -> _Numbers:
    ends = [(m, m + k) for m, k in zip(a.runs, b.runs, strict=True)]
    ours = tuple(read_only(np.arange(m, dtype=np.int64)) for m, _ in ends)
    theirs = tuple(read_only(np.arange(*both, dtype=np.int64)) for both in ends)
    return ours, theirs, read_only(np.empty(0, dtype=np.int64))


def unit_cautions(pair: Match, units: Units) -> tuple[Caution, ...]:
    """Say what the choice of units takes for granted, and what the data cannot tell."""
    a, b = pair.candidate, pair.baseline
    why = "which runs of different benchmarks belong to one round is not known"
    if a.blocks is not None and b.blocks is not None:
        why = "rounds are known, but single runs were asked for"
    where = _one_side("blocks", a, b) if units.chosen else ""
    labels = ({label for row in m.sessions or () for label in row.tolist()} for m in (a, b))
    apart = not set.intersection(*labels)
    texts = {
        "runs-as-units": units.unit == "run"
        and f"{why}{where}: the runs of one benchmark count as independent of those of the others. "
        "Benchmarks that share a process or a busy moment break that, and the answer is then "
        "too sure",
        "sessions-unknown": units.sessions is None
        and f"the sessions of the runs are not known{_one_side('sessions', a, b)}: the outcome "
        "holds within one session only",
        "one-session": units.sessions == 1
        and "all runs stem from one session and share its memory layout, frequencies and "
        "neighbours: the outcome holds within one session only; measure 3 or more",
        "sessions-apart": units.several_sessions
        and apart
        and "no session holds both variants: a difference between sessions looks like one between "
        f"the variants, and {units.noun}s cannot tell them apart. Take unit 'session', and "
        "measure both variants in every session",
        "sessions-pooled": units.several_sessions
        and not apart
        and f"{units.noun}s of one session are not independent replications, and all of the "
        f"{units.sessions} sessions count as if they were: the answer is too sure where sessions "
        "shift the variants differently. Unit 'session' asks that question",
    }
    return cautions_of(texts)


def _one_side(kind: str, a: PerformanceMatrix, b: PerformanceMatrix) -> str:
    known = [matrix.name for matrix in (a, b) if getattr(matrix, kind) is not None]
    return f" (for {known[0]!r} alone they are)" if len(known) == 1 else ""
