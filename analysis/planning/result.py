"""What planning says: how many runs, and what each number of runs would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..report import Result
from .log_interval import width_text

__all__ = ["Interval", "LoopStep", "PlannedWidth", "RunPlan", "Scale", "WidthLoop"]

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
    """The published loop on one pair: more runs until the interval is narrow enough.

    `runs` is where it stopped and `why` the reason: "width" (narrow enough), "max_runs" (the cap),
    or "data" (no more runs were measured). `scale` says whether widths are relative to the speedup.
    `confidence` is nominal; `cautions` say what the loop leaves of it.
    """

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

    `width` is the mean relative width of the interval and `width_sd` its standard deviation over
    trials; `chance` that of a width within the limit (None without a limit); `detectable` the
    speedup that would be told from 1 with the asked power; `power` that for the asked effect (None
    without one); `mse` the mean squared error of the speedup with the Monte Carlo error `mse_error`;
    `coverage` how often the interval held the pilot's speedup.
    """

    runs: int
    width: float
    width_sd: float
    chance: float | None
    detectable: float
    power: float | None
    mse: float
    mse_error: float
    coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan(Result):
    """How many runs of each benchmark and side a session needs.

    `runs_for_width` gives intervals of at most `width` with probability `power`, and
    `runs_for_effect` tells a speedup of `effect` from 1 with that probability; None when it was not
    asked for, or when more than `max_runs` would be needed (`capped` then names which). `loop` is
    the published loop on the pilot's own runs, when a width was asked for.
    """

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
