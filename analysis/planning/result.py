"""What planning says: how many runs, and what each number of runs would bring."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..report import as_text, figures
from .stopping import width_text

__all__ = ["Interval", "LoopStep", "PlannedWidth", "RunPlan", "WidthLoop"]

Interval = Literal["t", "studentized", "percentile"]

_INTERVALS = {
    "t": "t intervals on logs",
    "studentized": "studentized bootstrap intervals",
    "percentile": "percentile bootstrap intervals",
}
_NAME = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStep:
    """One look of the loop: the interval of the speedup after `runs` runs, and its width."""

    runs: int
    speedup: float
    low: float
    high: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthLoop:
    """The published loop on one pair: more runs until the interval is narrow enough.

    `runs` is where it stopped and `why` the reason: "width" (narrow enough), "max_runs" (the cap),
    or "data" (no more runs were measured). `scale` says whether widths are relative to the speedup.
    `confidence` is nominal; `cautions` say what the loop leaves of it.
    """

    candidate: str
    baseline: str
    interval: Interval
    scale: Literal["relative", "absolute"]
    confidence: float
    limit: float
    runs: int
    why: Literal["width", "max_runs", "data"]
    steps: tuple[LoopStep, ...]
    cautions: tuple[str, ...]
    references: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the loop as JSON types."""
        data = _json(self)
        data["steps"] = [asdict(step) for step in self.steps]
        return data

    @property
    def conclusion(self) -> str:
        """Say where the loop stopped, and why."""
        width = self.steps[-1].width
        limit = f"{self.limit:g}"
        if self.why == "width":
            end = f"stops after {self.runs} runs: width {width_text(width, self.limit)} <= {limit}"
        else:
            cause = "the cap" if self.why == "max_runs" else "no more were measured"
            end = (
                f"ends after {self.runs} runs ({cause}) with width {width_text(width, self.limit)},"
                f" not {limit}"
            )
        return f"the loop with {_percent(self.confidence)} {_INTERVALS[self.interval]} {end}"

    def __str__(self) -> str:
        lines = as_text.wrapped(f"{_pair(self)}: {self.conclusion}")
        rows = [["runs", "speedup", "interval", "width"]]
        rows += [
            [
                str(step.runs),
                f"{step.speedup:.4g}x",
                f"[{step.low:.4g}, {step.high:.4g}]",
                width_text(step.width, self.limit),
            ]
            for step in self.steps
        ]
        lines += ["", *as_text.grid(rows, ">>>>", "  ")]
        cautions = as_text.numbered(self.cautions)
        return "\n".join([*lines, *([""] if cautions else []), *cautions])


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
class RunPlan:
    """How many runs of each benchmark and side a session needs.

    `runs_for_width` gives intervals of at most `width` with probability `power`, and
    `runs_for_effect` tells a speedup of `effect` from 1 with that probability; None when it was not
    asked for, or when more than `max_runs` would be needed (`capped` then names which). `loop` is
    the published loop on the pilot's own runs, when a width was asked for.
    """

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
    cautions: tuple[str, ...]
    references: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the plan as JSON types."""
        data = _json(self)
        data["pilot_runs"] = list(self.pilot_runs)
        data["capped"] = list(self.capped)
        data["table"] = [asdict(row) for row in self.table]
        data["loop"] = None if self.loop is None else self.loop.to_dict()
        return data

    def __str__(self) -> str:
        lines: list[str] = []
        for sentence in self._answers():
            lines += as_text.wrapped(sentence)
        lines += ["", *self._table()]
        lines += as_text.wrapped(
            f"by {self.simulations:,} simulated trials for each number of runs, from"
            f" {_range(self.pilot_runs)} pilot runs of {self.benchmarks} benchmarks a side; speedup"
            f" {self.speedup:.4g}x"
        )
        if self.loop is not None:
            lines += ["", *as_text.wrapped(f"on the pilot's own runs, {self.loop.conclusion}")]
        loops = () if self.loop is None else self.loop.cautions
        cautions = as_text.numbered(list(dict.fromkeys([*self.cautions, *loops])))
        return "\n".join([*lines, *([""] if cautions else []), *cautions])

    def _answers(self) -> list[str]:
        head = _pair(self)
        answers = []
        for asked, runs, goal in (
            (
                self.width,
                self.runs_for_width,
                f"a {_percent(self.confidence)} interval of width {self.width or 0:g} or less",
            ),
            (
                self.effect,
                self.runs_for_effect,
                f"to tell a speedup of {self.effect or 0:g}x from none",
            ),
        ):
            if asked is None:
                continue
            if runs is None:
                told = f"more than {self.max_runs} runs, the cap"
            else:
                told = f"{runs} runs of each benchmark and side"
            answers.append(f"{head}: {goal} needs {told} (probability {self.power:g})")
        return answers or [f"{head}: what a number of runs would bring"]

    def _table(self) -> list[str]:
        heads = ["runs", "width", "detectable", "RMSE", "coverage"]
        if self.width is not None:
            heads.insert(2, f"chance <= {self.width:g}")
        if self.effect is not None:
            heads.insert(-2, f"power at {self.effect:g}x")
        rows = [heads]
        for row in self.table:
            cells = [
                str(row.runs),
                f"{figures.significant(row.width)} ± {figures.significant(row.width_sd, 2)}",
                f"{row.detectable:.4f}x" if row.detectable < 10 else "-",
                figures.significant(math.sqrt(row.mse)),
                f"{row.coverage:.3f}",
            ]
            if row.chance is not None:
                cells.insert(2, f"{row.chance:.3f}")
            if row.power is not None:
                cells.insert(-2, f"{row.power:.3f}")
            rows.append(cells)
        return as_text.grid(rows, ">" * len(heads), "  ")


def _pair(result: WidthLoop | RunPlan) -> str:
    ours, theirs = (figures.shorten(n, _NAME) for n in (result.candidate, result.baseline))
    return f"{ours} against {theirs}"


def _percent(confidence: float) -> str:
    return f"{100 * confidence:g} %"


def _range(runs: tuple[int, int]) -> str:
    return str(runs[0]) if runs[0] == runs[1] else f"{runs[0]} to {runs[1]}"


def _json(result: WidthLoop | RunPlan) -> dict[str, Any]:
    """Give the fields as JSON types; those of types of ours are replaced by the caller."""
    data: dict[str, Any] = {}
    for name in result.__dataclass_fields__:
        value = getattr(result, name)
        data[name] = list(value) if name in {"cautions", "references"} else value
    return data
