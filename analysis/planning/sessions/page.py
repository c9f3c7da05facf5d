"""A plan of sessions in words."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Cell, Column, Command, Page, Section, Sentence, Table, figures, page_of
from ..wording import (
    NAME,
    against,
    costs_text,
    count_value,
    detectable_value,
    goal_text,
    range_text,
    share_value,
    shown_rows,
    time_text,
    time_value,
    width_value,
)
from .result import PlannedBenchmark, PlannedSessions, SessionPlan

__all__: list[str] = []


@page_of.register
def _(plan: SessionPlan) -> Page:
    head = against(plan.candidate, plan.baseline)
    goal = goal_text(plan, len(plan.benchmarks))
    answer = [Sentence(f"{head}: {goal} needs {_needed(plan)}")]
    protocol = () if plan.protocol is None else (Command(plan.protocol),)
    return Page(
        title=f"How many sessions: {head}",
        sections=(
            Section((*answer, *protocol, *map(Sentence, _uncertain(plan)))),
            Section((_plans(plan), Sentence(_costs(plan)))),
            Section(
                (_benchmarks(plan),), title="what differs in the pilot, and what the plan gives"
            ),
            *(Section((Sentence(said),)) for said in _beside(plan)),
        ),
        cautions=plan.cautions,
    )


def _needed(plan: SessionPlan) -> str:
    if plan.sessions is None or plan.runs is None:
        runs = f" of up to {plan.max_runs} runs" if plan.max_runs > 1 else ""
        return f"more than {plan.max_sessions} sessions{runs}: measure differently"
    runs = f"{plan.runs} run{'s' * (plan.runs > 1)}"
    cost = "" if plan.seconds is None else f", {time_text(plan.seconds)}"
    return f"{plan.sessions} sessions x {runs}{cost}"


def _uncertain(plan: SessionPlan) -> Iterator[str]:
    if plan.sessions is None:
        return
    told = range_text(plan.sessions_low, plan.sessions_high, plan.max_sessions)
    yield (
        f"that is as well as {plan.pilot_sessions} sessions tell: with the pilot's variance at its "
        f"quartiles it would be {told} sessions"
    )


def _plans(plan: SessionPlan) -> Table:
    """Set what other numbers of sessions would need."""
    return Table(
        name="plans",
        columns=tuple(map(Column, ("sessions", "runs", "time", "width", "detectable"))),
        rows=tuple(_plan_row(row) for row in shown_rows(plan.table)),
    )


def _plan_row(row: PlannedSessions) -> tuple[Cell, ...]:
    return (
        count_value(row.sessions),
        count_value(row.runs),
        time_value(row.seconds),
        width_value(row.width),
        detectable_value(row.detectable),
    )


def _costs(plan: SessionPlan) -> str:
    low, high = plan.pilot_runs
    runs = str(low) if low == high else f"{low} to {high}"
    text = f"from {plan.pilot_sessions} sessions x {runs} runs"
    if plan.costs is None:
        return text
    between = plan.costs.between_s
    told = "" if between is None else f", {time_text(between)} between two sessions"
    return f"{text}; {costs_text(plan.costs)}{told}"


def _benchmarks(plan: SessionPlan) -> Table:
    return Table(
        name="benchmarks",
        columns=(
            Column("benchmark", "left"),
            *map(Column, ("sessions", "runs", "sessions alone", "runs alone")),
            *map(Column, ("width", "detectable")),
        ),
        rows=tuple(_benchmark_row(line) for line in plan.benchmarks),
    )


def _benchmark_row(line: PlannedBenchmark) -> tuple[Cell, ...]:
    return (
        figures.shorten(line.name, NAME),
        share_value(line.session_sd),
        share_value(line.run_sd),
        share_value(line.session_sd_baseline),
        share_value(line.run_sd_baseline),
        width_value(line.width),
        detectable_value(line.detectable),
    )


def _beside(plan: SessionPlan) -> Iterator[str]:
    """Say what the columns are, and how many benchmarks the Speedup-Test asks for."""
    name = figures.shorten(plan.baseline, NAME)
    yield (
        "sessions, runs: standard deviation of the difference between sessions, and between the runs "
        f"of one; sessions alone, runs alone: likewise of {name} by itself, where a shift that both "
        "share does not cancel"
    )
    if plan.needed_benchmarks is not None:
        yield (
            f"the Speedup-Test finds {plan.accelerated} benchmarks accelerated; to know that share "
            f"to ± {plan.precision:g} takes {plan.needed_benchmarks} benchmarks"
        )
