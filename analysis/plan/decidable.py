"""What a plan can decide, before it is measured: the smallest difference that a verdict tells from none.

The verdict of a benchmark rests on one value a session, the log ratio of both variants, by Student's t with
Holm's correction over the benchmarks; that of the suite on the mean over the benchmarks, without one. So the
first step of Holm's decides: a difference of one benchmark alone is held against the risk divided by how many
there are. The noncentral t of the planner gives the difference that is told with a power.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.trial import Trial, read_trial
from ..errors import AnalysisError, InsufficientDataError, StoreError, UsageError
from ..methods.multilevel.exact import exact_values, identity_needs
from .components import variance_components
from .goal import Goal
from .result import ComponentLine
from .sessions import SessionSpread, brought, spread_of

ASSUMED = (0.01, 0.02, 0.05)  # spreads of a session's log ratio, where none was measured
_POWER = 0.8
_ALPHA = 0.05
_MOST = 1000  # sessions that half of a difference may need
_FEW = 5  # sessions of an earlier trial below which its spread is roughly known
_HARDLY = 9.0  # 900 %: what is larger is told as none


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadDecides:
    """What can be decided at a spread, the standard deviation of a session's log ratio of a benchmark.

    `benchmark` and `suite` are the smallest differences (0.04: 4 %) that are told with the power; `suite` is
    None of one benchmark, and either beyond all numbers. `half_sessions` tell half of `benchmark`.
    `candidate` names whose spread it is, None of an assumed one.
    """

    spread: float
    benchmark: float | None
    suite: float | None
    half_sessions: int | None
    candidate: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decidable:
    """What so many sessions can decide of a metric; `trial` is the earlier one whose spread was taken, if any."""

    sessions: int
    runs: int
    benchmarks: int
    at: tuple[SpreadDecides, ...]
    metric: str = "wall"
    trial: str | None = None
    trial_sessions: int | None = None
    confidence: float = 1 - _ALPHA
    power: float = _POWER

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        return asdict(self) | {"at": [asdict(one) for one in self.at]}

    def __str__(self) -> str:
        """Say it in a few sentences."""
        if self.sessions < 2:
            return (
                "1 session decides nothing: runs of one session are no repetition. Try 6 sessions"
            )
        shown = self.at
        if self.trial is not None:  # the candidate that can be decided least
            shown = (max(self.at, key=lambda one: one.spread),)
        many = "1 benchmark" if self.benchmarks == 1 else f"{self.benchmarks} benchmarks"
        many += "" if self.metric == "wall" else f" by {self.metric}"
        found = "hardly any difference of a benchmark can be decided"
        if not shown[0].spread:
            least = identity_needs(0, 0, _ALPHA / self.benchmarks)
            found = f"counts that do not vary, of which {least} sessions decide every difference"
        elif any(one.benchmark is not None and one.benchmark <= _HARDLY for one in shown):
            first, *others = shown
            suite = "" if first.suite is None else f", {_percent(first.suite)} of the suite"
            at = f"at a spread of {_percent(first.spread)}"
            found = f"differences below about {_percent(first.benchmark)} of a benchmark{suite} "
            found += "; ".join([f"cannot be decided {at}", *map(_shortly, others)])
        return f"{self.sessions} sessions, {many}: {found}{self._source(shown)}"

    def _source(self, shown: Sequence[SpreadDecides]) -> str:
        told = [one for one in shown if one.benchmark is not None and one.benchmark <= _HARDLY]
        half = max((one.half_sessions or 0 for one in told), default=0)
        needed = f". Half of that needs {half} sessions" if half else ""
        if self.trial is None:
            return f"{needed}. These spreads are assumed: once there is a trial of 2 sessions, its own are taken"
        roughly = ", so roughly known" if (self.trial_sessions or 0) < _FEW else ""
        return f", measured in {self.trial_sessions} sessions of {self.trial}{roughly}{needed}"


def _shortly(one: SpreadDecides) -> str:
    told = [_percent(share) for share in (one.benchmark, one.suite) if share is not None]
    return f"{', '.join(told)} at {_percent(one.spread)}"


def _percent(share: float | None) -> str:
    if share is None or share > _HARDLY:
        return "over 900 %"
    percent = 100 * share
    return f"{percent:.2g} %" if percent < 99.5 else f"{percent:.0f} %"


def decidable(sessions: int, runs: int, benchmarks: int, metric: str = "wall") -> Decidable:
    """Tell what a plan can decide at the assumed spreads; benchmarks are taken to vary independently.

    Parameters
    ----------
    sessions, runs, benchmarks : int
        Of the plan; `runs` are those of each cell in a session.
    metric : str
        That the verdict will judge first.
    """
    several = benchmarks > 1
    at = tuple(
        _at(sessions, benchmarks, spread, spread / math.sqrt(benchmarks) if several else None)
        for spread in ASSUMED
        if sessions > 1
    )
    return Decidable(sessions=sessions, runs=runs, benchmarks=benchmarks, at=at, metric=metric)


def decidable_by(trial: Trial, sessions: int, runs: int, metric: str | None = None) -> Decidable:
    """Tell what a plan of the same campaign can decide at the spreads of a trial's sessions.

    The spread is that of the benchmark in the middle, between sessions and of the planned runs within one. `metric`
    is by default the trial's own question.

    Raises
    ------
    UsageError
        If the trial has no such metric.
    InsufficientDataError
        If no candidate has two sessions with the baseline that differ.
    """
    metric = trial.default_metric if metric is None else metric
    found = tuple(_measured(trial, metric, sessions, runs)) if sessions > 1 else ()
    if not found:
        raise InsufficientDataError(
            "no variant has two sessions with the baseline that differ",
            str(trial.path),
            "measure two sessions or more",
            n=trial.sessions,
            needed=2,
        )
    return Decidable(
        sessions=sessions,
        runs=runs,
        benchmarks=len(trial.manifest.benchmarks),
        at=found,
        metric=metric,
        trial=trial.path.name,
        trial_sessions=trial.sessions,
    )


def plan_decides(
    earlier: Sequence[Path],
    *,
    sessions: int,
    runs: int,
    benchmarks: Sequence[str],
    variants: Sequence[str],
    metric: str = "wall",
) -> Decidable:
    """Tell what a plan of these benchmarks and variants can decide of a metric.

    The spread is that of the first of the `earlier` trials that has the same ones and can tell it; without any
    spreads are assumed.
    """
    for path in earlier:
        try:
            trial = read_trial(path)
            manifest = trial.manifest
            if {*manifest.benchmarks} == {*benchmarks} and {*manifest.variants} == {*variants}:
                return decidable_by(trial, sessions, runs, metric)
        except (
            AnalysisError,
            StoreError,
            UsageError,
        ):  # one that cannot be read, judged or compared tells no spread
            continue
    return decidable(sessions, runs, len(benchmarks), metric)


def _measured(trial: Trial, metric: str, sessions: int, runs: int) -> Iterator[SpreadDecides]:
    manifest = trial.manifest
    baseline = trial.matrix(manifest.baseline, metric, skip_zeros=True)
    for name in manifest.variants:
        if name == manifest.baseline:
            continue
        try:
            sides = trial.matrix(name, metric, skip_zeros=True), baseline
            found = variance_components(*sides)
        except AnalysisError:
            continue  # the others may tell it
        spread = float(np.median([_spread(line, runs) for line in found.benchmarks]))
        counts = exact_values(sides[0].unit, *(s for side in sides for s in side.samples))
        if spread == 0 and not counts:
            continue  # a coarse clock shows none: it is unknown
        suite = None if found.suite is None else _spread(found.suite, runs)
        yield _at(sessions, len(manifest.benchmarks), spread, suite, name)


def _spread(line: ComponentLine, runs: int) -> float:
    variances = spread_of(line)
    return math.sqrt(variances.between + variances.within / runs)


def _at(
    sessions: int, benchmarks: int, spread: float, suite: float | None, name: str | None = None
) -> SpreadDecides:
    alpha = _ALPHA / benchmarks  # Holm's first step
    told = _told(sessions, spread, alpha)
    half = None
    if told is not None and spread > 0:
        counts = range(sessions + 1, _MOST + 1)
        wanted = -math.log1p(told) / 2
        place = bisect_left(counts, wanted, key=lambda count: -_shift(count, spread, alpha))
        half = counts[place] if place < len(counts) else None
    return SpreadDecides(
        spread=spread,
        benchmark=told,
        suite=None if suite is None else _told(sessions, suite, _ALPHA),
        half_sessions=half,
        candidate=name,
    )


def _told(sessions: int, spread: float, alpha: float) -> float | None:
    if spread == 0:  # of counts
        return None if identity_needs(sessions, sessions, alpha) else 0.0
    shift = _shift(sessions, spread, alpha)
    return None if math.isinf(shift) else math.expm1(shift)


def _shift(sessions: int, spread: float, alpha: float) -> float:
    """Give the log ratio that is told; inf beyond all numbers."""
    goal = Goal(half=None, effect=None, power=_POWER, alpha=alpha)
    known = SessionSpread(between=spread**2, within=0.0)
    _, detectable = brought((known,), goal, (sessions, 1))
    return math.inf if detectable is None else math.log(detectable)
