"""How many sessions with how many runs, and what other numbers would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...report import Result
from ..components import VarianceComponents
from .costs import TrialCosts

__all__ = ["On", "PlannedBenchmark", "PlannedSessions", "SessionPlan"]

On = Literal["suite", "benchmarks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSessions:
    """What so many sessions would need: the least runs that reach the goal, None where none do.

    `width` is the relative width of the interval, (high - low) / speedup, of the line that is the
    widest, and `detectable` the speedup that it would tell from 1 with the power asked for; `seconds`
    what all that takes, None where the costs are not known.
    """

    sessions: int
    runs: int | None
    seconds: float | None
    width: float | None
    detectable: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBenchmark:
    """One benchmark, or the mean over these: its spreads in the pilot, and what the plan gives it.

    Standard deviations are those of logarithms: of the differences (`session_sd`, `run_sd`), and of
    each side's own values (`session_sd_candidate` and so on). None where there is no such number.
    """

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
