"""What is resampled together: single runs, whole rounds, or whole sessions.

A resampling method is honest only when what it moves is independent of the rest. Runs of several
benchmarks in one round share the machine's state, and often a process; rounds of one session share
its memory layout and neighbours. So the unit is a choice with consequences, and every result says
which one was used and what the data cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix, Unit as Outermost, set_apart
from ...errors import UsageError
from ...stats import read_only

__all__ = ["SESSIONS", "UNITS", "Unit", "Units", "exchangeable_units", "set_apart"]

Unit = Literal["run", "block", "session"]
UNITS: tuple[Unit, ...] = get_args(Unit)
Numbers = NDArray[np.int64]
SESSIONS = 5  # that both sides have: from so many on they are what is moved, unless asked
_NOUN = {"run": "run", "block": "round"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """To which unit each run of two matched matrices belongs.

    Attributes
    ----------
    unit : {"run", "block", "session"}
        What a unit is.
    chosen : bool
        The unit was not asked for, but follows from what the data know.
    candidate, baseline : tuple of read-only int arrays
        In the shape of the samples: the number of each run's unit. For "block" and "session" the
        numbers run over both sides and all benchmarks together, and a number that stands on both
        sides is a unit that holds both variants. For "run" they run over both sides of one
        benchmark: first the candidate's runs, then the baseline's.
    sides : read-only int array
        For each unit: 0 when it holds runs of the candidate only, 1 of the baseline only, 2 of
        both. Empty for "run".
    sessions : int or None
        How many sessions the runs stem from; None when that is not known on both sides.
    outermost : {"session", "host"}
        What is taken as a session; hosts only where they are on both sides.
    """

    unit: Unit
    chosen: bool
    candidate: tuple[Numbers, ...]
    baseline: tuple[Numbers, ...]
    sides: Numbers
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


def exchangeable_units(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, unit: Unit | None = None
) -> Units:
    """Find the units of two matrices with the same benchmarks in the same order.

    Equal block ids on both sides mean one round that holds both variants, equal session ids one
    session. Matrices of different trials must not share ids by accident: see `set_apart`. Where
    sessions are known on both sides, a round is known by its session and its block id together.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        As `analysis.data.match` gives them.
    unit : {"run", "block", "session"}, optional
        What is moved together. None takes "session" when both sides have five or more sessions in
        common, otherwise "block" when block ids are known on both sides, otherwise "run".

    Raises
    ------
    UsageError
        If `unit` is unknown, or its ids are not known on both sides.
    """
    if unit is not None and unit not in UNITS:
        raise UsageError(f"unit must be 'run', 'block', 'session' or None, not {unit!r}")
    used = unit or _by_default(candidate, baseline)
    if used == "run":
        ours, theirs, sides = _single_runs(candidate, baseline)
    else:
        ours, theirs, sides = _numbered(_keys(candidate, baseline, used))
    return Units(
        unit=used,
        chosen=unit is None,
        candidate=ours,
        baseline=theirs,
        sides=sides,
        sessions=_session_count(candidate, baseline),
        outermost=candidate.outermost if candidate.outermost == baseline.outermost else "session",
    )


def _by_default(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> Unit:
    """Choose the largest unit that the data know, and know often enough."""
    if len(_sessions(candidate) & _sessions(baseline)) >= SESSIONS:
        return "session"
    return "run" if candidate.blocks is None or baseline.blocks is None else "block"


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
) -> tuple[tuple[Numbers, ...], tuple[Numbers, ...], Numbers]:
    ours, theirs = ({key for row in rows for key in row} for rows in keys)
    # An order that depends on neither the benchmarks nor the runs: same data, same draws. Numbers
    # and names may stand side by side.
    number = {key: k for k, key in enumerate(sorted(ours | theirs, key=_rank))}
    a, b = (
        tuple(read_only(np.array([number[key] for key in row], dtype=np.int64)) for row in rows)
        for rows in keys
    )
    sides = np.array([2 if key in ours and key in theirs else key in theirs for key in number])
    return a, b, read_only(sides.astype(np.int64))


def _rank(key: Any) -> tuple[Any, ...]:  # noqa: ANN401 - an id is a number, a name, or a pair
    parts = key if isinstance(key, tuple) else (key,)
    return tuple((isinstance(part, str), part) for part in parts)


def _single_runs(
    a: PerformanceMatrix, b: PerformanceMatrix
) -> tuple[tuple[Numbers, ...], tuple[Numbers, ...], Numbers]:
    ours = tuple(read_only(np.arange(m, dtype=np.int64)) for m in a.runs)
    theirs = tuple(
        read_only(np.arange(m, m + k, dtype=np.int64)) for m, k in zip(a.runs, b.runs, strict=True)
    )
    return ours, theirs, read_only(np.empty(0, dtype=np.int64))


def _session_count(a: PerformanceMatrix, b: PerformanceMatrix) -> int | None:
    if a.sessions is None or b.sessions is None:
        return None
    return len(_sessions(a) | _sessions(b))


def _sessions(matrix: PerformanceMatrix) -> set[Any]:
    return {label for row in matrix.sessions or () for label in row.tolist()}
