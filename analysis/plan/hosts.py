"""Planning hosts: how many of a fleet an answer needs.

With H hosts of S sessions of R runs, an estimate of a host has the variance h + (s + r / R) / S, where
h, s and r are the variances between hosts, sessions and runs. The half-width on hosts like these is
that of the verdict (docs/fleet.md, equation 2): the hosts' spread with t(H - 1), together with the
error on these hosts with that of all sessions.

References
----------
.. [1] T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013: the same question
   for the levels below, with a closed form that leaves out the quantile of t.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, stdtrit

from ..errors import InsufficientDataError
from ..pages import number_format as figures
from ..pages.model import Caution, Page, cautions_of, page, section, table_of
from ..stats.arguments import checks_arguments, counted
from ..stats.classical import least_shift
from . import components
from .components import ComponentLine, Goal, On, Sized, TrialCosts, VarianceComponents, enough
from .sessions import FEW, MOST, SHOWN, judged as judged_lines
from .stop_rule import Floats, exponential, relative_width


@dataclass(frozen=True, slots=True)
class HostLine:
    """What varies in the pilot: standard deviations of the log difference, so shares of the value."""

    name: str
    mean: float
    host_sd: float
    session_sd: float
    run_sd: float | None


@dataclass(frozen=True, slots=True)
class PlannedHosts:
    """The cheapest sessions and runs on `hosts` hosts; None where none of those looked at will do."""

    hosts: int
    sessions: int | None = None
    runs: int | None = None
    seconds: float | None = None
    elapsed_s: float | None = None
    width: float | None = None
    detectable: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostPlan(Sized):
    """How many hosts x sessions x runs a claim on hosts like these needs."""

    method: ClassVar[str] = "plan-hosts"

    pilot_hosts: int
    pilot_sessions: int
    hosts: int | None
    sessions: int | None
    runs: int | None
    seconds: float | None
    elapsed_s: float | None
    hosts_low: int | None
    hosts_high: int | None
    max_hosts: int
    max_sessions: int
    max_runs: int
    costs: TrialCosts | None
    table: tuple[PlannedHosts, ...]
    lines: tuple[HostLine, ...]

    def screen(self) -> Page:
        """Set how many hosts suffice, the plans, and how the pilot's benchmarks vary."""
        head = components.against(self.candidate, self.baseline)
        most, sure = f"hosts of up to {self.max_sessions} sessions x {self.max_runs} runs", []
        needed = f"more than {self.max_hosts} {most}: hosts differ by more than that"
        needed += "; claim these hosts only"
        if self.hosts and self.sessions and self.runs:
            counts = ((self.hosts, "host"), (self.sessions, "session"), (self.runs, "run"))
            needed = " x ".join(figures.counted(*one) for one in counts)
            if self.seconds is not None and self.elapsed_s is not None:
                both = map(figures.time_span, (self.seconds, self.elapsed_s))
                needed += ": {} of all hosts, {} side by side".format(*both)
            sure = [self.sure("hosts", "the variance between hosts")]
        pilot = f"from {self.pilot_hosts} hosts with {self.pilot_sessions} sessions"
        if self.costs is not None:
            pilot += (
                f"{self.costs.text}; what a host costs before its first run is not in the times"
            )
        plans = table_of(
            "plans",
            enough(self.table),
            *((name, name) for name in ("hosts", "sessions", "runs")),
            ("of all hosts", "seconds", figures.time_span),
            ("side by side", "elapsed_s", figures.time_span),
            components.WIDTH_COLUMN,
            components.DETECTABLE,
        )
        levels = ((f"between {x}s", f"{x}_sd", figures.percent) for x in ("host", "session", "run"))
        varies = table_of("benchmarks", self.lines, components.BENCHMARK, *levels)
        answer = f"{head}, on hosts like these: {self.goal(len(self.lines))} needs {needed}"
        return page(
            self,
            f"How many hosts: {head}",
            section(answer, *sure, plans, pilot),
            section(varies, title="what differs in the pilot"),
        )


def half_widths(
    line: HostLine, hosts: int, alpha: float, shape: tuple[int, int], factor: float = 1.0
) -> Floats:
    """Give the expected half-widths for 1 to S sessions (rows) and 1 to R runs (columns).

    Within one session per host the error on these hosts is that of its runs; a single run has none. The
    variance between hosts is taken `factor` times.
    """
    between, session, run = line.host_sd**2 * factor, line.session_sd**2, (line.run_sd or 0) ** 2
    sessions = np.arange(1, shape[0] + 1)[:, None].astype(np.float64)
    runs = np.arange(1, shape[1] + 1)[None, :].astype(np.float64)
    own = (session + run / runs) / sessions
    outer = -stdtrit(hosts - 1, alpha / 2) * np.sqrt((between + own) / hosts)
    inside = np.where(sessions > 1, own, run / runs)
    freedom = np.where(sessions > 1, hosts * (sessions - 1), hosts * (runs - 1))
    quantile = np.where(freedom > 0, -stdtrit(np.maximum(freedom, 1), alpha / 2), 0.0)
    return np.asarray(np.hypot(outer, quantile * np.sqrt(inside / hosts)))


class Grid(NamedTuple):
    """What is looked at, and when it is enough."""

    lines: tuple[HostLine, ...]
    goal: Goal
    sessions: int
    runs: int

    def widest(self, hosts: int, factor: float = 1.0) -> Floats:
        """Give the largest half-width of the lines."""
        shape = (self.sessions, self.runs)
        each = [half_widths(one, hosts, self.goal.alpha, shape, factor) for one in self.lines]
        return np.asarray(np.max(each, axis=0))

    def detectable(self, half: Floats, hosts: int) -> Floats:
        """Give the log effects that are found with the power: the half-width is taken for t(H - 1)'s."""
        freedom = float(hosts - 1)
        quantile = -float(stdtrit(freedom, self.goal.alpha / 2))
        shift = float(least_shift(self.goal.power, freedom, self.goal.alpha))
        return np.asarray(half * (shift / quantile))

    def enough(self, hosts: int, factor: float = 1.0) -> NDArray[np.bool_]:
        """Tell which sessions and runs reach the goal on `hosts` hosts."""
        half = self.widest(hosts, factor)
        narrow = half <= (math.inf if self.goal.half is None else self.goal.half)
        shift = math.inf if self.goal.effect is None else self.goal.effect
        return np.asarray(narrow & (self.detectable(half, hosts) <= shift))


class HostPilot(NamedTuple):
    """What a host tells: its components of the differences, and what its trial cost."""

    components: VarianceComponents
    costs: TrialCosts | None


@checks_arguments
def plan_hosts(
    pilots: Mapping[str, HostPilot],
    *,
    width: float | None = None,
    effect: float | None = None,
    on: On = "suite",
    power: float = 0.8,
    confidence: float = 0.95,
    max_hosts: int = 100,
    max_sessions: int = 20,
    max_runs: int = 100,
) -> HostPlan:
    """Find the cheapest hosts, sessions and runs that bring an interval of a width, or tell an effect.

    Notes
    -----
    The variances of sessions and runs are the hosts' own, pooled by their degrees of freedom; that
    between hosts is the variance of their means less what those explain, cut at 0. The cost is the
    time of all hosts together; what a host costs before its first run (a job, a build) is not in it.
    """
    goal, asked = components.goal_of(width, effect, on, power, confidence)
    counted("max_hosts", max_hosts, least=2, most=MOST)
    counted("max_sessions", max_sessions, most=MOST)
    counted("max_runs", max_runs, most=MOST)
    alone = "plan the sessions of one: fairtrial plan FLEET/HOST"
    if len(pilots) < 2:
        what = "what lies between hosts is known from two hosts on, each of two sessions"
        fix = f"measure on more hosts, or {alone}"
        raise InsufficientDataError(what, fix=fix, n=len(pilots), needed=2)
    parts = [one.components for one in pilots.values()]
    lines, suite = tuple(_lines(parts)), all(one.suite is not None for one in parts)
    if not lines:
        what = "the hosts have no benchmark in common"
        raise InsufficientDataError(what, ", ".join(pilots), alone, n=0, needed=1)
    for one in parts:
        judged_lines(one, on)  # where a host cannot tell the suite's mean, it is an error
    judged = lines[-1:] if on == "suite" or len(lines) == 1 else lines[: len(lines) - suite]
    # with one run a session in the pilot, nothing says what more of them would bring
    most_runs = max_runs if any(line.run_sd is not None for line in judged) else 1
    grid = Grid(judged, goal, max_sessions, most_runs)
    costs = _costs(pilots)
    rows = [_row(grid, hosts, costs) for hosts in range(2, max_hosts + 1)]

    def spent(row: PlannedHosts) -> tuple[float, int]:
        runs = row.hosts * (row.sessions or 0) * (row.runs or 0)
        return float(runs) if row.seconds is None else row.seconds, row.hosts

    best = min((row for row in rows if row.sessions is not None), key=spent, default=None)
    low, high = None, None
    if best is not None:
        # the hosts that are needed with the variance between them at its quartiles
        at, freedom = ((best.sessions or 1) - 1, (best.runs or 1) - 1), len(pilots) - 1
        factors = (freedom / float(chdtri(freedom, tail)) for tail in (0.25, 0.75))
        each = ((h for h in range(2, max_hosts + 1) if grid.enough(h, x)[at]) for x in factors)
        low, high = (next(enough, None) for enough in each)
    taken = best or PlannedHosts(0)
    return HostPlan(
        candidate=parts[0].candidate,
        baseline=parts[0].baseline or "",
        on=on if suite else "benchmarks",
        **asked,
        speedup=exponential(lines[-1].mean),
        pilot_hosts=len(pilots),
        pilot_sessions=sum(one.components.sessions for one in pilots.values()),
        hosts=taken.hosts or None,
        **{name: getattr(taken, name) for name in ("sessions", "runs", "seconds", "elapsed_s")},
        hosts_low=low,
        hosts_high=high,
        max_hosts=max_hosts,
        max_sessions=max_sessions,
        max_runs=max_runs,
        costs=costs,
        table=tuple(row for row in rows if row.hosts in (*SHOWN, taken.hosts)),
        lines=lines,
        cautions=_cautions(pilots, judged, costs),
    )


def _lines(parts: Sequence[VarianceComponents]) -> Iterator[HostLine]:
    tables = [{line.name: line for line in part.benchmarks} for part in parts]
    for name in tables[0]:
        if all(name in table for table in tables):
            yield _line(name, [table[name] for table in tables])
    suites = [part.suite for part in parts if part.suite is not None]
    if len(suites) == len(parts):
        yield _line("these", suites)


def _line(name: str, each: Sequence[ComponentLine]) -> HostLine:
    session = _pooled([(one.session_sd, one.sessions - 1) for one in each]) or 0.0
    run = _pooled([(one.run_sd, one.blocks - one.sessions) for one in each])
    means = np.array([one.mean for one in each])
    explained = np.mean([session / one.sessions + (run or 0.0) / one.blocks for one in each])
    host = max(float(means.var(ddof=1)) - float(explained), 0.0)
    host_sd, session_sd, run_sd = (x and math.sqrt(x) for x in (host, session, run))
    return HostLine(name, float(means.mean()), host_sd or 0.0, session_sd or 0.0, run_sd)


def _pooled(parts: Sequence[tuple[float | None, int]]) -> float | None:
    """Give the mean variance, weighed by degrees of freedom; None without any."""
    known = [(sd**2, freedom) for sd, freedom in parts if sd is not None and freedom > 0]
    total = sum(freedom for _, freedom in known)
    return math.fsum(v * freedom for v, freedom in known) / total if total else None


def _costs(pilots: Mapping[str, HostPilot]) -> TrialCosts | None:
    known = [one.costs for one in pilots.values() if one.costs is not None]
    if not known:
        return None
    between = [one.between_s for one in known if one.between_s is not None]
    block_s = float(np.median([one.block_s for one in known]))
    warmup_s = float(np.median([one.warmup_s for one in known]))
    counts = sum(one.sessions for one in known), sum(one.blocks for one in known)
    return TrialCosts(block_s, warmup_s, float(np.median(between)) if between else None, *counts)


def _row(grid: Grid, hosts: int, costs: TrialCosts | None) -> PlannedHosts:
    good = grid.enough(hosts)
    if not good.any():
        return PlannedHosts(hosts=hosts)
    sessions = np.arange(1, grid.sessions + 1)[:, None]
    runs = np.arange(1, grid.runs + 1)[None, :]
    spent = (sessions * runs).astype(np.float64) if costs is None else costs.seconds(sessions, runs)
    at = np.unravel_index(int(np.argmin(np.where(good, spent, np.inf))), good.shape)
    half, elapsed = grid.widest(hosts), None if costs is None else float(spent[at])
    detectable = exponential(float(grid.detectable(half, hosts)[at]))
    times = elapsed and hosts * elapsed, elapsed
    width = relative_width(float(half[at]))
    return PlannedHosts(hosts, int(at[0]) + 1, int(at[1]) + 1, *times, width, detectable)


def _cautions(
    pilots: Mapping[str, HostPilot], judged: Sequence[HostLine], costs: TrialCosts | None
) -> tuple[Caution, ...]:
    flat = tuple(line.name for line in judged if line.host_sd == 0)
    alike = f"hosts {components.ASSUMED_ALIKE.format('sessions', figures.listed(flat))}"
    table = {
        "few-pilot-hosts": len(pilots) < FEW
        and f"the pilot has only {len(pilots)} hosts: what lies between hosts is roughly known, and "
        "the plan is no better; plan again when more are measured",
        "no-host-component": flat and (alike, *flat),
        "costs-unknown": costs is None and components.COSTS_UNKNOWN,
    }
    return cautions_of(table)
