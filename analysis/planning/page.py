"""Plans in words: how many runs, what each number of runs would bring, where the loop stopped."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..report import (
    Cell,
    Column,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    figures,
    merged,
    page_of,
)
from .log_interval import width_text
from .result import PlannedWidth, RunPlan, WidthLoop
from .wording import against, detectable_value

__all__: list[str] = []


@page_of.register
def _(loop: WidthLoop) -> Page:
    looks = Table(
        name="looks",
        columns=tuple(Column(heading) for heading in ("runs", "speedup", "interval", "width")),
        rows=tuple(
            (
                Value(str(step.runs), step.runs),
                Value(f"{step.speedup:.4g}x", step.speedup),
                f"[{step.low:.4g}, {step.high:.4g}]",
                Value(width_text(step.width, loop.limit), step.width),
            )
            for step in loop.steps
        ),
    )
    return Page(
        title=f"Runs until the interval is narrow enough: {_pair(loop)}",
        sections=(
            Section((Sentence(f"{_pair(loop)}: {loop.conclusion}"),)),
            Section((looks,)),
        ),
        cautions=loop.cautions,
    )


@page_of.register
def _(plan: RunPlan) -> Page:
    loop = plan.loop
    own = () if loop is None else (f"on the pilot's own runs, {loop.conclusion}",)
    return Page(
        title=f"How many runs: {_pair(plan)}",
        sections=(
            Section(tuple(_answers(plan))),
            Section((_table(plan), Sentence(_basis(plan)))),
            *(Section((Sentence(said),)) for said in own),
        ),
        cautions=merged(plan.cautions, () if loop is None else loop.cautions),
    )


def _answers(plan: RunPlan) -> Iterator[Sentence]:
    head = _pair(plan)
    if plan.width is None and plan.effect is None:
        yield Sentence(f"{head}: what a number of runs would bring")
    if plan.width is not None:
        goal = f"a {100 * plan.confidence:g} % interval of width {plan.width:g} or less"
        yield Sentence(f"{head}: {goal} needs {_needed(plan.runs_for_width, plan)}")
    if plan.effect is not None:
        goal = f"to tell a speedup of {plan.effect:g}x from none"
        yield Sentence(f"{head}: {goal} needs {_needed(plan.runs_for_effect, plan)}")


def _needed(runs: int | None, plan: RunPlan) -> str:
    told = (
        f"more than {plan.max_runs} runs, the cap"
        if runs is None
        else f"{runs} runs of each benchmark and side"
    )
    return f"{told} (probability {plan.power:g})"


def _table(plan: RunPlan) -> Table:
    """Set the simulated trials; what was not asked for has no column."""
    headings = ["runs", "width"]
    headings += [] if plan.width is None else [f"chance <= {plan.width:g}"]
    headings += ["detectable"]
    headings += [] if plan.effect is None else [f"power at {plan.effect:g}x"]
    headings += ["RMSE", "coverage"]
    return Table(
        name="runs",
        columns=tuple(Column(heading) for heading in headings),
        rows=tuple(tuple(_cells(row)) for row in plan.table),
    )


def _cells(row: PlannedWidth) -> Iterator[Cell]:
    error = math.sqrt(row.mse)
    yield Value(str(row.runs), row.runs)
    spread = figures.significant(row.width_sd, 2)
    yield Value(f"{figures.significant(row.width)} ± {spread}", row.width)
    if row.chance is not None:
        yield Value(f"{row.chance:.3f}", row.chance)
    yield detectable_value(row.detectable)
    if row.power is not None:
        yield Value(f"{row.power:.3f}", row.power)
    yield Value(figures.significant(error), error)
    yield Value(f"{row.coverage:.3f}", row.coverage)


def _basis(plan: RunPlan) -> str:
    low, high = plan.pilot_runs
    runs = str(low) if low == high else f"{low} to {high}"
    return (
        f"by {plan.simulations:,} simulated trials for each number of runs, from {runs} pilot runs "
        f"of {plan.benchmarks} benchmarks a side; speedup {plan.speedup:.4g}x"
    )


def _pair(result: WidthLoop | RunPlan) -> str:
    return against(result.candidate, result.baseline)
