"""What is resampled together: single runs, whole rounds, or whole sessions.

A resampling method is honest only when what it moves is independent of the rest. Runs of several
benchmarks in one round share the machine's state, and often a process; rounds of one session share
its memory layout and neighbours. So the unit is a choice with consequences, and every result says
which one was used and what the data cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from ...data.pair import match, speedup_of, suite_mean
from ...errors import UsageError
from ...pages import number_format as figures
from ...stats.samples import Indices, Integers, read_only

if TYPE_CHECKING:
    from ...data.levels import Unit as Outermost
    from ...data.matrix import PerformanceMatrix
    from ...data.pair import Centre, Match, Mean

Unit = Literal["run", "block", "session"]
UNITS: tuple[Unit, ...] = get_args(Unit)
SESSIONS = 5  # that both sides have: from so many on they are what is moved, unless asked
_NOUN = {"run": "run", "block": "round"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
        ours, theirs = (
            suite_mean(matrix, mean=self.mean, centre=self.centre)
            for matrix in (self.pair.candidate, self.pair.baseline)
        )
        return speedup_of(ours, theirs, self.pair.candidate.better)

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
    return ResamplingQuestion(
        pair, exchangeable_units(pair.candidate, pair.baseline, unit), mean, centre
    )


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
    if unit is not None:
        used = unit
    elif len(ours & theirs) >= SESSIONS:
        used = "session"
    else:
        used = "run" if candidate.blocks is None or baseline.blocks is None else "block"
    numbers = (
        _single_runs(candidate, baseline)
        if used == "run"
        else _numbered(_keys(candidate, baseline, used))
    )
    known = candidate.sessions is not None and baseline.sessions is not None
    return Units(
        unit=used,
        chosen=unit is None,
        candidate=numbers[0],
        baseline=numbers[1],
        sides=numbers[2],
        sessions=len(ours | theirs) if known else None,
        outermost=candidate.outermost if candidate.outermost == baseline.outermost else "session",
    )


def _sessions(matrix: PerformanceMatrix) -> set[Any]:
    return {label for row in matrix.sessions or () for label in row.tolist()}


Keys = list[list[Any]]


def _keys(a: PerformanceMatrix, b: PerformanceMatrix, unit: Unit) -> tuple[Keys, Keys]:
    """Give the identity of each run's unit, for both sides."""
    kind = f"{unit}s"
    missing = [matrix.name for matrix in (a, b) if getattr(matrix, kind) is None]
    if missing:
        raise UsageError(
            f"unit={unit!r} needs to know each run's {unit}, and does not for "
            f"{' and '.join(map(repr, missing))}",
            fix=f"take another unit, or give data that say it: a variant of a trial, or {kind} beside "
            "the values (a JSON matrix file, PerformanceMatrix.from_samples)",
        )
    with_sessions = unit == "block" and a.sessions is not None and b.sessions is not None

    def of(matrix: PerformanceMatrix) -> Keys:
        rows = [row.tolist() for row in getattr(matrix, kind)]
        if with_sessions:
            assert matrix.sessions is not None
            rows = [
                list(zip(session.tolist(), row, strict=True))
                for session, row in zip(matrix.sessions, rows, strict=True)
            ]
        return rows

    return of(a), of(b)


def _numbered(
    keys: tuple[Keys, Keys],
) -> tuple[tuple[Integers, ...], tuple[Integers, ...], Integers]:

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


def _single_runs(
    a: PerformanceMatrix, b: PerformanceMatrix
) -> tuple[tuple[Integers, ...], tuple[Integers, ...], Integers]:
    ours = tuple(read_only(np.arange(m, dtype=np.int64)) for m in a.runs)
    theirs = tuple(
        read_only(np.arange(m, m + k, dtype=np.int64)) for m, k in zip(a.runs, b.runs, strict=True)
    )
    return ours, theirs, read_only(np.empty(0, dtype=np.int64))
