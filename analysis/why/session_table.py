"""From samples and timed runs to milliseconds: a row a session and a column a function, for both variants.

A function's time in a session is its share of the profiled runs' samples, times the mean time on the processors
of the session's timed runs, which no profiler disturbed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.trial import Trial
from ..errors import InsufficientDataError, UsageError
from ..pages.number_format import listed
from ..record.profiles import SampledCell, StoredProfile
from ..stats.samples import Array
from .names import FunctionName, FunctionNames

_KNOWN = 12  # functions that a message names


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """One variant, an entry a session; times are means of its timed runs, in milliseconds a run.

    `counts` (shape (sessions, functions)) are samples, `samples` their sums, `runs` the profiled runs. `sampled` is the
    time that shares multiply, `unseen` what of the time on the processors no sample shows. `waiting` is how long it
    was ready and had no processor, nan where nobody knows.
    """

    counts: NDArray[np.int64]
    samples: NDArray[np.int64]
    runs: NDArray[np.int64]
    sampled: Array
    unseen: Array
    wall: Array
    waiting: Array

    @property
    def on_cpu(self) -> Array:
        """The time on the processors, user and system."""
        return self.sampled + self.unseen

    @property
    def shares(self) -> Array:
        """The functions' shares of the samples, a row a session."""
        found: Array = self.counts / self.samples[:, None]
        return found

    @property
    def functions(self) -> Array:
        """The functions' times, a row a session."""
        return self.shares * self.sampled[:, None]

    @property
    def step(self) -> Array:
        """The time that one sample stands for, in each session."""
        found: Array = self.sampled / self.samples
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionTable:
    """Both variants in the same sessions and functions; `left_out` are sessions that one of them lacks.

    `was` has the baseline's names of functions that were renamed; `unused` are renames of which neither name is here.
    """

    names: tuple[FunctionName, ...]
    sessions: tuple[int, ...]
    left_out: tuple[int, ...]
    baseline: Side
    candidate: Side
    was: Mapping[FunctionName, str]
    unused: tuple[str, ...]


def table_of(
    stored: StoredProfile, trial: Trial, benchmark: str, renames: Mapping[str, str]
) -> SessionTable:
    """Put samples and timed runs together, for the sessions that have both of both variants.

    Raises
    ------
    UsageError
        If the profile does not have the benchmark, or a rename does not fit the functions.
    InsufficientDataError
        If there is no such session.
    """
    profile = stored.profile
    if benchmark not in profile.benchmarks:
        raise UsageError(
            f"the profile has no benchmark {benchmark!r}",
            str(stored.timed.parent),
            f"known here: {', '.join(profile.benchmarks)}",
        )
    sides = (profile.baseline, profile.variant)
    cells = [
        {
            one.session: one
            for one in stored.cells
            if (one.benchmark, one.variant) == (benchmark, side)
        }
        for side in sides
    ]
    means = [_means(trial, benchmark, side) for side in sides]
    # not as many as the profile says: a damaged one may say any number
    there = sorted({*cells[0], *cells[1], *means[0], *means[1]})
    kept = tuple(
        session
        for session in sorted(cells[0].keys() & cells[1].keys())
        if all(one[session].samples > 0 for one in cells) and all(session in one for one in means)
    )
    if not kept:
        raise InsufficientDataError(
            f"no session of the profile has samples and timed runs of both variants of {benchmark!r}",
            str(stored.timed.parent),
            "record it anew, with a higher --frequency where the program is short",
            n=0,
            needed=1,
        )
    names = FunctionNames.of(stored, benchmark)
    counts = [[_counted(one[session], names) for session in kept] for one in cells]
    moved, unused = _moves(counts, renames, str(stored.timed.parent))
    counts[0] = [_moved(one, moved) for one in counts[0]]
    every = sorted({name for side in counts for one in side for name in one})
    built = [
        _side(
            side,
            [one[session] for session in kept],
            every,
            [mean[session] for session in kept],
            sees_kernel=profile.sees_kernel,
        )
        for side, one, mean in zip(counts, cells, means, strict=True)
    ]
    return SessionTable(
        names=tuple(every),
        sessions=kept,
        left_out=tuple(session for session in there if session not in kept),
        baseline=built[0],
        candidate=built[1],
        was={new: old.function for old, new in moved.items()},
        unused=unused,
    )


_Times = tuple[float, float, float, float]  # user, system, wall and waiting, in ms


def _means(trial: Trial, benchmark: str, variant: str) -> dict[int, _Times]:
    """Give each session's mean times of a cell's timed runs."""
    manifest = trial.manifest
    for kind, name, known in (
        ("benchmark", benchmark, manifest.benchmarks),
        ("variant", variant, manifest.variants),
    ):
        if name not in known:
            what = f"the timed trial has no {kind} {name!r}"
            raise UsageError(what, str(trial.path), "record the profile anew: fairtrial why")
    times = [trial.values(name) for name in ("user", "system", "wall")]
    mine = trial.measured & ~trial.apart("wall")
    mine &= trial.benchmark == manifest.benchmarks.index(benchmark)
    mine &= trial.variant == manifest.variants.index(variant)
    for column in times:
        mine &= np.isfinite(column)
    times.append(trial.waited_ns / 1e9)
    found: dict[int, _Times] = {}
    for session in np.unique(trial.session[mine]).tolist():
        runs = mine & (trial.session == session)
        user, system, wall, waiting = (1e3 * float(column[runs].mean()) for column in times)
        found[session] = user, system, wall, waiting
    return found


Counted = dict[FunctionName, int]


def _counted(cell: SampledCell, names: FunctionNames) -> Counted:
    found: Counted = {}
    for one in cell.functions:
        if one.samples:
            name = names.name_of(one.symbol, one.object)
            found[name] = found.get(name, 0) + one.samples
    return found


def _moved(counted: Counted, moves: Mapping[FunctionName, FunctionName]) -> Counted:
    found: Counted = {}
    for name, samples in counted.items():
        to = moves.get(name, name)
        found[to] = found.get(to, 0) + samples
    return found


def _moves(
    counts: list[list[Counted]], renames: Mapping[str, str], where: str
) -> tuple[dict[FunctionName, FunctionName], tuple[str, ...]]:
    """Give what each renamed function of the baseline is called in the candidate, and the renames of others."""
    before, after = ({name for one in side for name in one} for side in counts)
    moves: dict[FunctionName, FunctionName] = {}
    unused = []
    for old, new in renames.items():
        olds = [name for name in before if name.function == old]
        news = [name for name in after if name.function == new]
        if not olds and not news:
            unused.append(f"{old}={new}")
            continue
        if not olds or not news:
            side, lacking, known = (
                ("the candidate", new, after) if olds else ("the baseline", old, before)
            )
            what = f"no sample of {side} is in a function {lacking!r}"
            raise UsageError(what, where, _known(known))
        if any(name.function == old for name in after):
            raise UsageError(
                f"{old!r} is not renamed: the candidate has samples in it too",
                where,
                f"leave out --rename {old}={new}",
            )
        for name in olds:
            same = [one for one in news if one.object == name.object]
            if not same and len(news) > 1:
                places = listed([one.object for one in sorted(news)])
                raise UsageError(
                    f"{new!r} stands in several files: {places}", where, "leave it out"
                )
            moves[name] = (same or news)[0]
    return moves, tuple(unused)


def _known(names: Iterable[FunctionName]) -> str:
    return f"known here: {listed(sorted({one.function for one in names}), _KNOWN)}"


def _side(
    counts: list[Counted],
    cells: list[SampledCell],
    names: list[FunctionName],
    means: list[_Times],
    *,
    sees_kernel: bool,
) -> Side:
    user, system, wall, waiting = np.array(means, dtype=np.float64).T
    table = np.array([[one.get(name, 0) for name in names] for one in counts], dtype=np.int64)
    return Side(
        counts=table,
        samples=table.sum(axis=1),
        runs=np.array([one.runs for one in cells], dtype=np.int64),
        sampled=user + system if sees_kernel else user,
        unseen=np.zeros_like(system) if sees_kernel else system,
        wall=wall,
        waiting=waiting,
    )
