"""What plans of runs, sessions and hosts, and components of variance, hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from ..pages.result import Result
from .stop_rule import width_text

if TYPE_CHECKING:
    from .components import TrialCosts

Of = Literal["differences", "values"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentLine:
    """The two components of one benchmark, or of the mean over all of them."""

    name: str
    mean: float
    session_sd: float
    run_sd: float | None
    deviance: float | None
    sessions: int
    blocks: int


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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


On = Literal["suite", "benchmarks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSessions:
    """What so many sessions would need: the least runs that reach the goal, None where none do."""

    sessions: int
    runs: int | None
    seconds: float | None
    width: float | None
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBenchmark:
    """One benchmark, or the mean over these: its spreads in the pilot, and what the plan gives it."""

    name: str
    session_sd: float
    run_sd: float | None
    session_sd_candidate: float | None
    run_sd_candidate: float | None
    session_sd_baseline: float | None
    run_sd_baseline: float | None
    width: float | None
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan(Result):
    """How many sessions of how many runs a comparison needs, from a pilot of several sessions.

    `sessions` and `runs` are the cheapest that reach `width` (the relative width of the interval, as
    expected) and tell `effect` with `power`, for `on` the suite's mean or every benchmark; None where
    no numbers up to `max_sessions` and `max_runs` do. `sessions_low` and `sessions_high` are the
    sessions of `runs` runs if the pilot's variance were at its quartiles; None beyond `max_sessions`.
    `seconds` is what the plan takes by the pilot's `costs`, None where they are not known.
    `needed_benchmarks` is the Speedup-Test's number for its proportion of accelerated benchmarks
    (here `accelerated`) to be known to `precision`; None where none or all are.
    """

    method: ClassVar[str] = "plan-sessions"
    derived: ClassVar[tuple[str, ...]] = ("protocol",)

    candidate: str
    baseline: str
    on: On
    confidence: float
    power: float
    width: float | None
    effect: float | None
    speedup: float
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
    accelerated: int | None
    needed_benchmarks: int | None
    precision: float
    references: tuple[str, ...] = (
        "Kalibera and Jones 2013 (several levels and their costs)",
        "Johnson, Kotz and Balakrishnan 1995, chapter 31 (power by noncentral t)",
        "Touati, Worms and Briais 2010 (how many benchmarks)",
    )

    @property
    def protocol(self) -> str | None:
        """What to write in the campaign, None where there is no plan."""
        if self.sessions is None or self.runs is None:
            return None
        return f"protocol: {{sessions: {self.sessions}, runs: {self.runs}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLine:
    """What varies in the pilot: standard deviations of the log difference, so shares of the value."""

    name: str
    mean: float
    host_sd: float
    session_sd: float
    run_sd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedHosts:
    """The cheapest sessions and runs with so many hosts; None where none of those looked at will do."""

    hosts: int
    sessions: int | None
    runs: int | None
    seconds: float | None
    elapsed_s: float | None
    width: float | None
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostPlan(Result):
    """How many hosts x sessions x runs a claim on hosts like these needs."""

    method: ClassVar[str] = "plan-hosts"

    candidate: str
    baseline: str
    on: str
    confidence: float
    power: float
    width: float | None
    effect: float | None
    speedup: float
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
