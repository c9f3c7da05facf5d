"""Plans of runs, sessions and hosts, and components of variance: what they hold, and their words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..pages import number_format as figures
from ..pages.model import CommandLine, Page, Value, merged, page, page_of, section, table_of
from ..pages.result import Result
from ..words import shorten
from .stop_rule import width_text

if TYPE_CHECKING:
    from .components import TrialCosts

_NAME = 30  # columns for a name
_BENCHMARK = ("<benchmark", lambda line: shorten(line.name, _NAME))
_WIDTH = ("width", "width", figures.significant)
# no speedup from 10 on is worth four decimals
_DETECTABLE = ("detectable", "detectable", lambda x: f"{x:.4f}x" if x < 10 else "-")
Of = Literal["differences", "values"]
Interval = Literal["t", "studentized", "percentile"]
Scale = Literal["relative", "absolute"]
_INTERVALS: dict[Interval, str] = {
    "t": "t intervals on logs",
    "studentized": "studentized bootstrap intervals",
    "percentile": "percentile bootstrap intervals",
}
_REFERENCES = (
    "Irving et al., Computer comparisons in the presence of performance variation, 2018, section 8",
    "Welch 1947 and Satterthwaite 1946 (degrees of freedom of the t interval)",
)
On = Literal["suite", "benchmarks"]


def _against(*names: str | None) -> str:
    return " against ".join(shorten(name, _NAME) for name in names if name is not None)


@dataclass(frozen=True, slots=True)
class ComponentLine:
    """The two components of one benchmark, or of the mean over all of them."""

    name: str
    mean: float
    session_sd: float
    run_sd: float | None
    deviance: float | None
    sessions: int
    blocks: int


@dataclass(frozen=True, slots=True)
class Crossed:
    """Standard deviations of logarithms by effect, over all benchmarks together."""

    benchmark_sd: float | None
    session_sd: float | None
    benchmark_session_sd: float | None
    block_sd: float | None
    run_sd: float
    deviance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceComponents(Result):
    """Components of variance of one variant's values, or of the differences of two.

    `benchmarks` are taken one by one, `suite` is the mean over them (None for one benchmark, or where
    fewer than two sessions have a block with all), `crossed` the model of all of them together (None
    for one benchmark, or where it cannot be fitted).
    """

    method: ClassVar[str] = "variance-components"

    of: Of
    candidate: str
    baseline: str | None
    sessions: int
    benchmarks: tuple[ComponentLine, ...]
    suite: ComponentLine | None
    crossed: Crossed | None
    references: tuple[str, ...] = (
        "Patterson and Thompson 1971 (restricted likelihood)",
        "Gilmour, Thompson and Cullis 1995 (average information)",
    )


@page_of.register
def _(found: VarianceComponents) -> Page:
    head, crossed = _against(found.candidate, found.baseline), found.crossed
    line = found.suite or (found.benchmarks[0] if len(found.benchmarks) == 1 else None)
    what = "values" if found.baseline is None else "differences"
    said = f"how {what} vary, by benchmark"
    if line is not None:
        over = "of the suite's mean" if found.suite else "of the benchmark"
        said = f"the {what} {over} vary by {figures.percent(line.session_sd)} between sessions" + (
            ", runs included: with one run a session the two cannot be told apart"
            if line.run_sd is None
            else f" and by {figures.percent(line.run_sd)} between the runs of one"
        )
    rows = table_of(
        "components",
        (*found.benchmarks, *((found.suite,) if found.suite else ())),
        _BENCHMARK,
        ("sessions", "sessions"),
        ("blocks", "blocks"),
        ("between sessions", "session_sd", figures.percent),
        ("between runs", "run_sd", figures.percent),
    )
    parts = () if crossed is None else (
        ("between benchmarks", crossed.benchmark_sd),
        ("between sessions, in all benchmarks alike", crossed.session_sd),
        ("between sessions, in each benchmark by itself", crossed.benchmark_session_sd),
        ("between the blocks of a session", crossed.block_sd),
        ("between runs", crossed.run_sd),
    )  # fmt: skip
    known = "; ".join(f"{figures.percent(sd)} {where}" for where, sd in parts if sd is not None)
    below = [f"all benchmarks together: {known}"] if parts else []
    return page(
        found,
        f"Between sessions and between runs: {head}",
        f"{head}: {said}",
        section(rows, *below),
    )


@dataclass(frozen=True, slots=True)
class LoopStep:
    """One look of the loop: the interval of the speedup after `runs` runs, and its width."""

    runs: int
    speedup: float
    low: float
    high: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthLoop(Result):
    """The published loop on one pair: more runs until the interval is narrow enough."""

    method: ClassVar[str] = "width-loop"

    candidate: str
    baseline: str
    interval: Interval
    scale: Scale
    confidence: float
    limit: float
    runs: int
    why: Literal["width", "max_runs", "data"]
    steps: tuple[LoopStep, ...]
    references: tuple[str, ...] = _REFERENCES

    @property
    def conclusion(self) -> str:
        """Where the loop stopped, and why, in one sentence."""
        width = width_text(self.steps[-1].width, self.limit)
        if self.why == "width":
            end = f"stops after {self.runs} runs: width {width} <= {self.limit:g}"
        else:
            cause = "the cap" if self.why == "max_runs" else "no more were measured"
            end = f"ends after {self.runs} runs ({cause}) with width {width}, not {self.limit:g}"
        return f"the loop with {100 * self.confidence:g} % {_INTERVALS[self.interval]} {end}"


@page_of.register
def _(loop: WidthLoop) -> Page:
    head = _against(loop.candidate, loop.baseline)
    looks = table_of(
        "looks",
        loop.steps,
        ("runs", "runs"),
        ("speedup", "speedup", "{:.4g}x".format),
        ("interval", lambda step: f"[{step.low:.4g}, {step.high:.4g}]"),
        ("width", "width", partial(width_text, limit=loop.limit)),
    )
    return page(
        loop,
        f"Runs until the interval is narrow enough: {head}",
        f"{head}: {loop.conclusion}",
        looks,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWidth:
    """What `runs` runs of each benchmark and side would bring, by simulation from the pilot.

    `mse`: Mean squared error of the speedup. `mse_sd`: Standard deviation of the squared error over
    trials (figure 12 b). `mse_error`: Monte Carlo error of the mean.
    """

    runs: int
    width: float
    width_sd: float
    chance: float | None
    detectable: float
    power: float | None
    mse: float
    mse_sd: float
    mse_error: float
    coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan(Result):
    """How many runs of each benchmark and side a session needs."""

    method: ClassVar[str] = "plan"

    candidate: str
    baseline: str
    benchmarks: int
    pilot_runs: tuple[int, int]
    speedup: float
    confidence: float
    power: float
    width: float | None
    effect: float | None
    max_runs: int
    simulations: int
    runs_for_width: int | None
    runs_for_effect: int | None
    capped: tuple[str, ...]
    table: tuple[PlannedWidth, ...]
    loop: WidthLoop | None
    seed: int | None
    references: tuple[str, ...] = _REFERENCES


@page_of.register
def _(plan: RunPlan) -> Page:
    head, loop = _against(plan.candidate, plan.baseline), plan.loop
    answers = []
    for goal, asked, runs in (
        (f"a {100 * plan.confidence:g} % interval of width {plan.width or 0:g} or less", plan.width, plan.runs_for_width),
        (f"to tell a speedup of {plan.effect or 0:g}x from none", plan.effect, plan.runs_for_effect),
    ):  # fmt: skip
        if asked is not None:
            needed = f"{runs} runs of each benchmark and side"
            needed = needed if runs else f"more than {plan.max_runs} runs, the cap"
            answers.append(f"{head}: {goal} needs {needed} (probability {plan.power:g})")

    def width(row: PlannedWidth) -> Value:
        spread = figures.significant(row.width_sd, 2)
        return Value(f"{figures.significant(row.width)} ± {spread}", row.width)

    rows = table_of(
        "runs",
        plan.table,
        ("runs", "runs"),
        ("width", width),
        None if plan.width is None else (f"chance <= {plan.width:g}", "chance", "{:.3f}".format),
        _DETECTABLE,
        None if plan.effect is None else (f"power at {plan.effect:g}x", "power", "{:.3f}".format),
        ("RMSE", lambda row: math.sqrt(row.mse), figures.significant),
        ("MSE sd", "mse_sd", partial(figures.significant, digits=2)),
        ("coverage", "coverage", "{:.3f}".format),
    )
    basis = (
        f"by {plan.simulations:,} simulated trials for each number of runs, from "
        f"{figures.span(plan.pilot_runs)} pilot runs of {plan.benchmarks} benchmarks a side; speedup "
        f"{plan.speedup:.4g}x"
    )
    own = () if loop is None else (section(f"on the pilot's own runs, {loop.conclusion}"),)
    answers = answers or [f"{head}: what a number of runs would bring"]
    return Page(
        title=f"How many runs: {head}",
        sections=(section(*answers), section(rows, basis), *own),
        cautions=merged(plan.cautions, () if loop is None else loop.cautions),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sized(Result):
    """What a plan of sessions and one of hosts are asked: of what, and how sure."""

    candidate: str
    baseline: str
    on: On
    confidence: float
    power: float
    width: float | None
    effect: float | None
    speedup: float

    def goal(self, lines: int) -> str:
        """Say what is asked for, and whether of each of so many lines."""
        goals = []
        if self.width is not None:
            goals.append(f"a {100 * self.confidence:g} % interval of width {self.width:g}")
        if self.effect is not None:
            goals.append(f"to tell a speedup of {self.effect:g}x with probability {self.power:g}")
        each = "" if self.on == "suite" or lines == 1 else " for every benchmark"
        return f"{' and '.join(goals)}{each}"

    def sure(self, noun: str, variance: str) -> str:
        """Say how many it would be with the variance of the pilot at its quartiles."""
        low, high, most, pilot = (
            getattr(self, name.format(noun)) for name in ("{}_low", "{}_high", "max_{}", "pilot_{}")
        )
        span = f"more than {most}" if high is None else f"{high}"
        span = span if low in (None, high) else f"{low} to {span}"
        said = f"that is as well as {pilot} {noun} tell: with {variance} at its quartiles"
        return f"{said} it would be {span} {noun}"


def _enough(rows: tuple[Any, ...]) -> list[Any]:
    """Leave out the numbers that are not enough, but for the last of them."""
    short = [row for row in rows if row.runs is None]
    return [*short[-1:], *(row for row in rows if row.runs is not None)]


def _costs(costs: TrialCosts) -> str:
    run, warmup = _time(costs.block_s), _time(costs.warmup_s)
    return f"; a run of every cell took {run}, a session's warm-up {warmup}"


def _time(seconds: float) -> str:
    """Write a time as hours from an hour and a half on, then minutes, then seconds."""
    if seconds >= 5400:
        return f"{figures.significant(seconds / 3600, 2)} h"
    return f"{seconds / 60:.0f} min" if seconds >= 100 else figures.quantity(seconds, "s")


@dataclass(frozen=True, slots=True)
class PlannedSessions:
    """What so many sessions would need: the least runs that reach the goal, None where none do."""

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


@page_of.register
def _(plan: SessionPlan) -> Page:
    head = _against(plan.candidate, plan.baseline)
    runs = f" of up to {plan.max_runs} runs" if plan.max_runs > 1 else ""
    needed, sure = f"more than {plan.max_sessions} sessions{runs}: measure differently", []
    if plan.sessions is not None and plan.runs is not None:
        cost = "" if plan.seconds is None else f", {_time(plan.seconds)}"
        needed = f"{plan.sessions} sessions x {figures.counted(plan.runs, 'run')}{cost}"
        sure = [plan.sure("sessions", "the pilot's variance")]
    pilot = f"from {plan.pilot_sessions} sessions x {figures.span(plan.pilot_runs)} runs"
    if plan.costs is not None:
        pause = plan.costs.between_s
        pilot += _costs(plan.costs)
        pilot += "" if pause is None else f", {_time(pause)} between two sessions"
    plans = table_of(
        "plans",
        _enough(plan.table),
        ("sessions", "sessions"),
        ("runs", "runs"),
        ("time", "seconds", _time),
        _WIDTH,
        _DETECTABLE,
    )
    benchmarks = table_of(
        "benchmarks",
        plan.benchmarks,
        _BENCHMARK,
        ("sessions", "session_sd", figures.percent),
        ("runs", "run_sd", figures.percent),
        _WIDTH,
        _DETECTABLE,
    )
    columns = (
        "sessions, runs: standard deviation of the difference between sessions, and between the runs "
        "of one"
    )
    protocol = [] if plan.protocol is None else [CommandLine(plan.protocol)]
    answer = f"{head}: {plan.goal(len(plan.benchmarks))} needs {needed}"
    return page(
        plan,
        f"How many sessions: {head}",
        section(answer, *protocol, *sure),
        section(plans, pilot),
        section(benchmarks, title="what differs in the pilot, and what the plan gives"),
        columns,
    )


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
    """The cheapest sessions and runs with so many hosts; None where none of those looked at will do."""

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


@page_of.register
def _(plan: HostPlan) -> Page:
    head = _against(plan.candidate, plan.baseline)
    needed, sure = (
        (
            f"more than {plan.max_hosts} hosts of up to {plan.max_sessions} sessions x "
            f"{plan.max_runs} runs: hosts differ by more than that; claim these hosts only"
        ),
        [],
    )
    if plan.hosts and plan.sessions and plan.runs:
        counts = ((plan.hosts, "host"), (plan.sessions, "session"), (plan.runs, "run"))
        needed = " x ".join(figures.counted(*one) for one in counts)
        if plan.seconds is not None and plan.elapsed_s is not None:
            needed += f": {_time(plan.seconds)} of all hosts, {_time(plan.elapsed_s)} side by side"
        sure = [plan.sure("hosts", "the variance between hosts")]
    pilot = f"from {plan.pilot_hosts} hosts with {plan.pilot_sessions} sessions"
    if plan.costs is not None:
        pilot += f"{_costs(plan.costs)}; what a host costs before its first run is not in the times"
    plans = table_of(
        "plans",
        _enough(plan.table),
        *((name, name) for name in ("hosts", "sessions", "runs")),
        ("of all hosts", "seconds", _time),
        ("side by side", "elapsed_s", _time),
        _WIDTH,
        _DETECTABLE,
    )
    levels = ((f"between {x}s", f"{x}_sd", figures.percent) for x in ("host", "session", "run"))
    varies = table_of("benchmarks", plan.lines, _BENCHMARK, *levels)
    answer = f"{head}, on hosts like these: {plan.goal(len(plan.lines))} needs {needed}"
    return page(
        plan,
        f"How many hosts: {head}",
        section(answer, *sure, plans, pilot),
        section(varies, title="what differs in the pilot"),
    )
