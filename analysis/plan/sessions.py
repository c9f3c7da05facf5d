"""Planning sessions and runs of each: the cheapest design that reaches the goal.

Sessions are what a claim rests on: the mean of S of them, with R blocks in each, has the variance
(between + within / R) / S, and its interval S - 1 degrees of freedom. More runs take away the second
part only, and many short sessions cost what each needs before its first run. So the cheapest of all
numbers of sessions and runs is looked for, with the t quantile of each in it.

References
----------
.. [1] T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013 (whose closed form
   for the runs leaves out the t quantile, and gives no runs or infinitely many where a variance is 0).
.. [2] N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous Univariate Distributions", volume 2, 1995,
   chapter 31.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..stats.samples import Flags, read_only  # before scipy, which would import what it never uses

# isort: split
from scipy.special import chdtri, stdtrit

from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial, read_trial
from ..errors import AnalysisError, InsufficientDataError, StoreError, UsageError
from ..methods.multilevel.estimates import exact_values, identity_needs
from ..pages import number_format as figures
from ..pages.model import Caution, CommandLine, Page, cautions_of, page, section, table_of
from ..stats.arguments import checks_arguments, counted
from ..stats.classical import least_shift
from . import components
from .components import ComponentLine, Goal, On, Sized, TrialCosts, VarianceComponents
from .stop_rule import WIDEST, Floats, exponential, relative_width


@dataclass(frozen=True, slots=True)
class PlannedSessions:
    """What this number of sessions would need: the least runs that reach the goal, None where none do."""

    sessions: int
    runs: int | None = None
    seconds: float | None = None
    width: float | None = None
    detectable: float | None = None


@dataclass(frozen=True, slots=True)
class PlannedBenchmark:
    """One benchmark, or the mean over these: its spreads in the pilot, and what the plan gives it."""

    name: str
    session_sd: float
    run_sd: float | None
    width: float | None
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan(Sized):
    """How many sessions of how many runs a comparison needs, from a pilot of several sessions.

    `sessions` and `runs` are the cheapest that reach `width` (the relative width of the interval, as
    expected) and tell `effect` with `power`, for `on` the suite's mean or every benchmark; None where
    no numbers up to `max_sessions` and `max_runs` do. `sessions_low` and `sessions_high` are the
    sessions of `runs` runs if the pilot's variance were at its quartiles; None beyond `max_sessions`.
    `seconds` is what the plan takes by the pilot's `costs`, None where they are not known.
    """

    method: ClassVar[str] = "plan-sessions"
    derived: ClassVar[tuple[str, ...]] = ("protocol",)

    pilot_sessions: int
    pilot_runs: tuple[int, int]
    sessions: int | None
    runs: int | None
    seconds: float | None
    sessions_low: int | None
    sessions_high: int | None
    max_sessions: int
    max_runs: int
    costs: TrialCosts | None
    table: tuple[PlannedSessions, ...]
    benchmarks: tuple[PlannedBenchmark, ...]
    components: VarianceComponents
    references: tuple[str, ...] = (
        "Kalibera and Jones 2013 (several levels and their costs)",
        "Johnson, Kotz and Balakrishnan 1995, chapter 31 (power by noncentral t)",
    )

    @property
    def protocol(self) -> str | None:
        """What to write in the campaign, None where there is no plan."""
        if self.sessions is None or self.runs is None:
            return None
        return f"protocol: {{sessions: {self.sessions}, runs: {self.runs}}}"

    def screen(self) -> Page:
        """Set how many sessions suffice, the plans, and how the pilot's benchmarks vary."""
        head = components.against(self.candidate, self.baseline)
        runs = f" of up to {self.max_runs} runs" if self.max_runs > 1 else ""
        needed, sure = f"more than {self.max_sessions} sessions{runs}: measure differently", []
        if self.sessions is not None and self.runs is not None:
            cost = "" if self.seconds is None else f", {figures.time_span(self.seconds)}"
            needed = f"{self.sessions} sessions x {figures.counted(self.runs, 'run')}{cost}"
            sure = [self.sure("sessions", "the pilot's variance")]
        pilot = f"from {self.pilot_sessions} sessions x {figures.span(self.pilot_runs)} runs"
        if self.costs is not None:
            pilot += self.costs.text
            if (pause := self.costs.between_s) is not None:
                pilot += f", {figures.time_span(pause)} between two sessions"
        plans = table_of(
            "plans",
            components.enough(self.table),
            ("sessions", "sessions"),
            ("runs", "runs"),
            ("time", "seconds", figures.time_span),
            components.WIDTH_COLUMN,
            components.DETECTABLE,
        )
        benchmarks = table_of(
            "benchmarks",
            self.benchmarks,
            components.BENCHMARK,
            ("sd of sessions", "session_sd", figures.percent),
            ("of runs", "run_sd", figures.percent),
            components.WIDTH_COLUMN,
            components.DETECTABLE,
        )
        protocol = [] if self.protocol is None else [CommandLine(self.protocol)]
        answer = f"{head}: {self.goal(len(self.benchmarks))} needs {needed}"
        parts = section(answer, *protocol, *sure), section(plans, pilot)
        title = "what differs in the pilot, and what the plan gives"
        return page(self, f"How many sessions: {head}", *parts, section(benchmarks, title=title))


FEW = 5  # sessions of a pilot or an earlier trial: with fewer the quartiles of the variance lie a factor of 3 apart
_FURTHER = 10  # times the pilot's runs
SHOWN = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100)  # sessions that the table shows
MOST = 10_000  # sessions, and runs of each
ASSUMED = (0.01, 0.02, 0.05)  # spreads of a session's log ratio, where none was measured
_POWER = 0.8
_ALPHA = 0.05
_MOST_DECIDABLE = 1000  # sessions that half of a difference may need
Lines = Sequence[ComponentLine]
_HARDLY = 9.0  # 900 %: what is larger is shown as none


def session_cautions(
    lines: tuple[ComponentLine, ...], *, best: tuple[int, int] | None, costs: TrialCosts | None
) -> tuple[Caution, ...]:
    """Say what a plan rests on."""
    fewest = min(line.sessions for line in lines)
    flat = tuple(line.name for line in lines if line.session_sd == 0 and line.run_sd)
    alone = all(line.run_sd is None for line in lines)
    runs = max(line.blocks / line.sessions for line in lines)
    table = {
        "few-pilot-sessions": fewest < FEW
        and f"the pilot has only {fewest} sessions: what lies between sessions is roughly known, and "
        "the plan is no better; plan again when more are measured",
        "no-session-component": flat
        and (f"sessions {components.ASSUMED_ALIKE.format('runs', figures.listed(flat))}", *flat),
        "one-run-a-session": alone
        and "the pilot has one run a session: what more runs would bring is not known, and only "
        "sessions are planned",
        "pilot-without-spread": not alone
        and all(not line.run_sd and not line.session_sd for line in lines)
        and "nothing varies in the pilot: any plan seems enough",
        "far-from-the-pilot": best is not None
        and best[1] > _FURTHER * runs
        and f"the plan has more than {_FURTHER} times the pilot's runs a session, and takes them to "
        "vary as those did",
        "costs-unknown": costs is None and components.COSTS_UNKNOWN,
    }
    return cautions_of(table)


@functools.lru_cache(maxsize=16)
def limits(goal: Goal, most: int) -> Floats:
    """Give the largest standard error that reaches a goal, for 2 to `most` sessions."""
    freedom = np.arange(1, most, dtype=np.float64)
    found = np.full(freedom.size, math.inf)
    if goal.half is not None:
        found = np.minimum(found, goal.half / stdtrit(freedom, 1 - goal.alpha / 2))
    if goal.effect is not None:
        found = np.minimum(found, goal.effect / least_shift(goal.power, freedom, goal.alpha))
    return read_only(found)


def errors(lines: Lines, sessions: int, runs: int, factors: ArrayLike = 1.0) -> Floats:
    """Give the largest standard error of the lines, for 2 to `sessions` and 1 to `runs`.

    Their variances are taken `factors` times.
    """
    between, within = np.array([line.variances for line in lines]).T * factors
    session: Floats = (between[:, None] + within[:, None] / np.arange(1, runs + 1)).max(axis=0)
    return np.sqrt(session / np.arange(2, sessions + 1)[:, None])


def _reached(
    lines: Sequence[ComponentLine], goal: Goal, sessions: int, runs: int, factors: ArrayLike = 1.0
) -> Flags:
    """Tell which of these sessions and runs reach the goal; what does not vary takes the sessions of an identity."""
    each = errors(lines, sessions, runs, factors)
    enough = np.arange(2, sessions + 1)[:, None] >= identity_needs(0, 0, goal.alpha)
    return (each <= limits(goal, sessions)[:, None]) & ((each > 0) | enough)


def cheapest(
    lines: Lines, goal: Goal, cost: Callable[[int, int], float], *, sessions: int, runs: int
) -> tuple[tuple[int, int] | None, list[int | None]]:
    """Find the cheapest plan."""
    reached = _reached(lines, goal, sessions, runs)
    least = [int(row.argmax()) + 1 if row.any() else None for row in reached]
    # the error falls with the runs, so the first that reaches it is the cheapest of its sessions
    plans = [(cost(s, r), -s, r) for s, r in enumerate(least, 2) if r is not None]
    best = min(plans, default=None)
    return best and (-best[1], best[2]), least


def least_sessions(
    lines: Lines, goal: Goal, runs: int, *, most: int, factors: ArrayLike = 1.0
) -> int | None:
    """Give the fewest sessions of `runs` runs that reach the goal; None beyond `most`."""
    reached = _reached(lines, goal, most, runs, factors)[:, -1]
    return int(reached.argmax()) + 2 if reached.any() else None


class Outlook(NamedTuple):
    """The lines that a goal is asked of, and what sessions and runs cost."""

    lines: tuple[ComponentLine, ...]
    goal: Goal
    costs: TrialCosts | None

    def row(self, sessions: int, runs: int | None) -> PlannedSessions:
        """Say what `sessions` sessions bring, with the least runs that reach the goal."""
        if runs is None:
            return PlannedSessions(sessions)
        error = float(errors(self.lines, sessions, runs)[-1, -1])
        seconds = None if self.costs is None else self.costs.seconds(sessions, runs)
        return PlannedSessions(sessions, runs, seconds, *brought(error, self.goal, sessions))

    def sessions_at(self, quantile: float, runs: int, *, most: int) -> int | None:
        """Give the sessions needed if the true variances were at their quantile given the pilot's.

        The variance of a session's difference is taken to be estimated as a chi square of the
        freedom that Satterthwaite gives it.
        """
        known = [_freedom(line, runs) for line in self.lines]
        factors = [freedom / float(chdtri(freedom, quantile)) for freedom in known]
        return least_sessions(self.lines, self.goal, runs, most=most, factors=factors)


def _freedom(line: ComponentLine, runs: int) -> float:
    """Give the degrees of freedom of between + within / `runs`, which the pilot's squares add up to.

    With n blocks a session in the pilot that is its variance of session means, plus the variance
    within times (1 / runs - 1 / n). A plan of more runs than the pilot's takes the last away, and has
    less freedom than sessions less one; it is cut at 1.
    """
    between, within = line.variances
    size = line.blocks / line.sessions
    means = between + within / size
    rest = within * (1 / runs - 1 / size)
    known = means**2 / (line.sessions - 1) + rest**2 / max(line.blocks - line.sessions, 1)
    return max((means + rest) ** 2 / known, 1.0) if known > 0 else line.sessions - 1.0


def judged(found: VarianceComponents, on: On) -> tuple[ComponentLine, ...]:
    """Give the lines that have to reach the goal."""
    if on == "benchmarks" or len(found.benchmarks) == 1:
        return found.benchmarks
    if found.suite is None:
        what = "fewer than two sessions have a block in which every benchmark has a run that counts"
        where = f"{found.candidate} and {found.baseline}"
        fix = "plan for each benchmark instead (on='benchmarks', --on benchmarks)"
        raise InsufficientDataError(what, where, fix, n=0, needed=2)
    return (found.suite,)


def brought(error: float, goal: Goal, sessions: int) -> tuple[float, float | None]:
    """Give the relative width, and the speedup that is separated from 1; None beyond all numbers."""
    half, shift = (factor * error for factor in _factors(sessions - 1, goal.power, goal.alpha))
    width = float(relative_width(min(half, WIDEST)))
    return width, math.exp(shift) if shift < WIDEST else None


@functools.lru_cache(maxsize=256)
def _factors(freedom: int, power: float, alpha: float) -> tuple[float, float]:
    """Give half the interval, and what is found with this power, in standard errors."""
    return float(stdtrit(freedom, 1 - alpha / 2)), float(least_shift(power, freedom, alpha))


def benchmark_lines(
    found: VarianceComponents, plan: tuple[int, int] | None, goal: Goal
) -> Iterator[PlannedBenchmark]:
    """Give each benchmark, and last the mean over these, with its spreads and what a plan brings."""
    for line in (*found.benchmarks, *((found.suite,) if found.suite else ())):
        ends: tuple[float | None, float | None] = (None, None)
        if plan is not None:
            ends = brought(float(errors((line,), *plan)[-1, -1]), goal, plan[0])
        yield PlannedBenchmark(line.name, line.session_sd, line.run_sd, *ends)


@checks_arguments
def plan_sessions(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    width: float | None = None,
    effect: float | None = None,
    on: On = "suite",
    power: float = 0.8,
    confidence: float = 0.95,
    max_sessions: int = 100,
    max_runs: int = 100,
    costs: TrialCosts | None = None,
) -> SessionPlan:
    """Find the cheapest sessions and runs that bring an interval of a width, or tell an effect.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        The pilot: two sessions or more that both sides have.
    width : float, optional
        Largest relative width of the interval, (high - low) / speedup, as expected: about every
        second comparison gets a narrower one. 0.02 where neither width nor effect is given.
    effect : float, optional
        Speedup that is to be separated from 1, above or below it, with `power`.
    on : {"suite", "benchmarks"}
        Whether the mean over the benchmarks has to reach it, or each of them by itself (without a
        correction for how many they are).
    power : float
        Chance with which the effect is found, above 1 - `confidence`.
    confidence : float
        Of the two-sided interval.
    max_sessions, max_runs : int
        The most that are looked at; runs are those of each cell in a session.
    costs : TrialCosts, optional
        What sessions and runs cost, as `trial_costs` gives it; else a run costs 1, a session nothing.

    Returns
    -------
    SessionPlan
        The plan, other numbers of sessions for comparison, what each benchmark gets, the components.

    Raises
    ------
    UsageError
        If an argument is out of range.
    InsufficientDataError
        If fewer than two sessions have values of both sides.
    AnalysisError
        If the two do not compare.

    Notes
    -----
    The variances are those of the log differences, by restricted likelihood (`variance_components`).
    With se = sqrt((between + within / R) / S), half the interval is t(S - 1) se on the log scale;
    the power is that of the two-sided t test with S - 1 degrees of freedom [2]_. All S and R are
    tried: the closed form of [1]_ leaves out the quantile, which alone forbids few sessions.
    """
    goal, asked = components.goal_of(width, effect, on, power, confidence)
    counted("max_sessions", max_sessions, least=2, most=MOST)
    counted("max_runs", max_runs, most=MOST)
    found = components.variance_components(candidate, baseline)
    lines = judged(found, on)
    # with one run a session in the pilot, nothing says what more of them would bring
    most_runs = max_runs if any(line.run_sd is not None for line in lines) else 1
    cost = (lambda s, r: float(s * r)) if costs is None else costs.seconds
    best, least = cheapest(lines, goal, cost, sessions=max_sessions, runs=most_runs)
    # the blocks of a session, on the average of a benchmark
    blocks = [round(line.blocks / line.sessions) for line in found.benchmarks]
    shown = {s for s in SHOWN if s <= max_sessions} | ({best[0]} if best else set())
    outlook, (sessions, runs) = Outlook(lines, goal, costs), best or (None, None)
    most = max_sessions
    low, high = (runs and outlook.sessions_at(x, runs, most=most) for x in (0.25, 0.75))
    return SessionPlan(
        candidate=candidate.name,
        baseline=baseline.name,
        on=on if found.suite is not None else "benchmarks",
        **asked,
        speedup=exponential((found.suite or lines[0]).mean),
        pilot_sessions=found.sessions,
        pilot_runs=(min(blocks), max(blocks)),
        sessions=sessions,
        runs=runs,
        seconds=costs.seconds(*best) if best and costs else None,
        sessions_low=low,
        sessions_high=high,
        max_sessions=max_sessions,
        max_runs=max_runs,
        costs=costs,
        table=tuple(outlook.row(s, least[s - 2]) for s in sorted(shown)),
        benchmarks=tuple(benchmark_lines(found, best, goal)),
        components=found,
        cautions=(*found.cautions, *session_cautions(lines, best=best, costs=costs)),
    )


# --- What a plan can decide, before it is measured: the smallest difference that a verdict tells from none.
#
# The verdict of a benchmark rests on one value a session, the log ratio of both variants, by Student's t
# with Holm's correction over the benchmarks; that of the suite on the mean over the benchmarks, without
# one. So the first step of Holm's decides: a difference of one benchmark alone is held against the risk
# divided by how many there are. The noncentral t of the planner gives what is found with a power.


@dataclass(frozen=True, slots=True)
class SpreadDecides:
    """What can be decided at a spread, the standard deviation of a session's log ratio of a benchmark.

    `benchmark` and `suite` are the smallest differences (0.04: 4 %) that are found with the power; `suite` is
    None of one benchmark, and either beyond all numbers. `half_sessions` tell half of `benchmark`.
    `candidate` names whose spread it is, None of an assumed one.
    """

    spread: float
    benchmark: float | None
    suite: float | None
    half_sessions: int | None
    candidate: str | None = None


@dataclass(frozen=True, slots=True)
class Decidable:
    """What a number of sessions can decide of a metric; `trial` is the earlier one whose spread was taken, if any."""

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
        if self.sessions < 2:
            why = "runs of one session are no repetition. Try 6 sessions"
            return f"1 session decides nothing: {why}"
        # of a trial, the candidate that can be decided least
        least = (max(self.at, key=lambda one: one.spread),)
        shown = self.at if self.trial is None else least
        known = [one for one in shown if one.benchmark is not None and one.benchmark <= _HARDLY]
        many = figures.counted(self.benchmarks, "benchmark")
        many += "" if self.metric == "wall" else f" by {self.metric}"
        found = "hardly any difference of a benchmark can be decided"
        if not shown[0].spread:
            few = identity_needs(0, 0, _ALPHA / self.benchmarks)
            found = f"the counts do not vary, so {few} sessions decide every difference"
        elif known:
            first, *others = shown
            suite = "" if first.suite is None else f", {_percent(first.suite)} of the suite"
            found = f"differences below about {_percent(first.benchmark)} of a benchmark{suite} "
            found += f"cannot be decided at a spread of {_percent(first.spread)}"
            for one in others:
                shares = (share for share in (one.benchmark, one.suite) if share is not None)
                found += f"; {', '.join(map(_percent, shares))} at {_percent(one.spread)}"
        half = max((one.half_sessions or 0 for one in known), default=0)
        if self.trial is not None:
            found += f", measured in {self.trial_sessions} sessions of {self.trial}"
            found += ", so roughly known" if (self.trial_sessions or 0) < FEW else ""
        found += f". Half of that needs {half} sessions" if half else ""
        if self.trial is None:
            found += ". These spreads are assumed: once there is a trial of 2 sessions, its own are taken"
        return f"{self.sessions} sessions, {many}: {found}"


def _percent(share: float | None) -> str:
    if share is None or share > _HARDLY:
        return "over 900 %"
    percent = 100 * share
    return f"{percent:.2g} %" if percent < 99.5 else f"{percent:.0f} %"


def decidable(sessions: int, runs: int, benchmarks: int, metric: str = "wall") -> Decidable:
    """Tell what a plan can decide at the assumed spreads; benchmarks are taken to vary independently.

    `runs` are those of each cell in a session, `metric` is what the verdict will judge first.
    """
    several = benchmarks > 1
    spreads = [(x, x / math.sqrt(benchmarks) if several else None) for x in ASSUMED if sessions > 1]
    at = tuple(_at(sessions, benchmarks, *both) for both in spreads)
    return Decidable(sessions, runs, benchmarks, at, metric)


def decidable_by(trial: Trial, sessions: int, runs: int, metric: str | None = None) -> Decidable:
    """Tell what a plan of the same campaign can decide at the spreads of a trial's sessions.

    The spread is that of the benchmark in the middle, between sessions and of the planned runs
    within one. `metric` is by default the trial's own question. It is an InsufficientDataError
    where no candidate has two sessions with the baseline that differ.
    """
    metric = trial.default_metric if metric is None else metric
    found = tuple(_measured(trial, metric, sessions, runs)) if sessions > 1 else ()
    if not found:
        what = "no variant has two sessions with the baseline that differ"
        fix = "measure two sessions or more"
        raise InsufficientDataError(what, str(trial.path), fix, n=trial.sessions, needed=2)
    benchmarks, name = len(trial.manifest.benchmarks), trial.path.name
    return Decidable(sessions, runs, benchmarks, found, metric, name, trial.sessions)


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
        except (AnalysisError, StoreError, UsageError):
            continue  # one that cannot be read, judged or compared tells no spread
    return decidable(sessions, runs, len(benchmarks), metric)


def _measured(trial: Trial, metric: str, sessions: int, runs: int) -> Iterator[SpreadDecides]:
    manifest = trial.manifest
    baseline = trial.matrix(manifest.baseline, metric, skip_zeros=True)
    for name in manifest.variants:
        if name == manifest.baseline:
            continue
        try:
            sides = trial.matrix(name, metric, skip_zeros=True), baseline
            found = components.variance_components(*sides)
        except AnalysisError:
            continue  # the others may tell it
        spread = float(np.median([_spread(line, runs) for line in found.benchmarks]))
        counts = exact_values(sides[0].unit, *(s for side in sides for s in side.samples))
        if spread == 0 and not counts:
            continue  # a coarse clock shows none: it is unknown
        suite = None if found.suite is None else _spread(found.suite, runs)
        yield _at(sessions, len(manifest.benchmarks), spread, suite, name)


def _spread(line: ComponentLine, runs: int) -> float:
    between, within = line.variances
    return math.sqrt(between + within / runs)


def _at(
    sessions: int, benchmarks: int, spread: float, suite: float | None, name: str | None = None
) -> SpreadDecides:
    alpha = _ALPHA / benchmarks  # Holm's first step

    def tells(spread: float, alpha: float) -> float | None:
        if spread == 0:  # of counts
            return None if identity_needs(sessions, sessions, alpha) else 0.0
        shift = _shift(sessions, spread, alpha)
        return None if math.isinf(shift) else math.expm1(shift)

    found, half = tells(spread, alpha), None
    if found is not None and spread > 0:
        counts = range(sessions + 1, _MOST_DECIDABLE + 1)
        wanted = -math.log1p(found) / 2
        place = bisect_left(counts, wanted, key=lambda count: -_shift(count, spread, alpha))
        half = counts[place] if place < len(counts) else None
    suite_told = None if suite is None else tells(suite, _ALPHA)
    return SpreadDecides(spread, found, suite_told, half, name)


def _shift(sessions: int, spread: float, alpha: float) -> float:
    """Give the log ratio that is found; inf beyond all numbers."""
    goal = Goal(half=None, effect=None, power=_POWER, alpha=alpha)
    _, detectable = brought(math.sqrt(spread**2 / sessions), goal, sessions)
    return math.inf if detectable is None else math.log(detectable)
