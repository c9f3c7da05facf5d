"""A plan of sessions in words."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Cell, Column, Command, Page, Section, Sentence, Table, Value, figures, page_of
from .result import PlannedBenchmark, PlannedSessions, SessionPlan

__all__: list[str] = []

_NAME = 30  # columns for a name
_HUGE = 10  # no speedup from there on is worth four decimals


@page_of.register
def _(plan: SessionPlan) -> Page:
    head = " against ".join(figures.shorten(n, _NAME) for n in (plan.candidate, plan.baseline))
    answer = [Sentence(f"{head}: {_goal(plan)} needs {_needed(plan)}")]
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


def _goal(plan: SessionPlan) -> str:
    each = "" if plan.on == "suite" or len(plan.benchmarks) == 1 else " for every benchmark"
    goals = []
    if plan.width is not None:
        goals.append(f"a {100 * plan.confidence:g} % interval of width {plan.width:g}")
    if plan.effect is not None:
        goals.append(f"to tell a speedup of {plan.effect:g}x with probability {plan.power:g}")
    return f"{' and '.join(goals)}{each}"


def _needed(plan: SessionPlan) -> str:
    if plan.sessions is None or plan.runs is None:
        runs = f" of up to {plan.max_runs} runs" if plan.max_runs > 1 else ""
        return f"more than {plan.max_sessions} sessions{runs}: measure differently"
    runs = f"{plan.runs} run{'s' * (plan.runs > 1)}"
    cost = "" if plan.seconds is None else f", {_time(plan.seconds)}"
    return f"{plan.sessions} sessions x {runs}{cost}"


def _uncertain(plan: SessionPlan) -> Iterator[str]:
    if plan.sessions is None:
        return
    low, high = plan.sessions_low, plan.sessions_high
    upper = f"more than {plan.max_sessions}" if high is None else f"{high}"
    told = upper if low in (None, high) else f"{low} to {upper}"
    yield (
        f"that is as well as {plan.pilot_sessions} sessions tell: with the pilot's variance at its "
        f"quartiles it would be {told} sessions"
    )


def _plans(plan: SessionPlan) -> Table:
    """Set what other numbers of sessions would need."""
    return Table(
        name="plans",
        columns=tuple(map(Column, ("sessions", "runs", "time", "width", "detectable"))),
        rows=tuple(_plan_row(row) for row in _shown(plan.table)),
    )


def _shown(rows: tuple[PlannedSessions, ...]) -> tuple[PlannedSessions, ...]:
    """Leave out what is not enough, but for the most sessions that are not."""
    short = [row for row in rows if row.runs is None]
    return (*short[-1:], *(row for row in rows if row.runs is not None))


def _plan_row(row: PlannedSessions) -> tuple[Cell, ...]:
    return (
        Value(str(row.sessions), row.sessions),
        Value("-" if row.runs is None else str(row.runs), row.runs),
        Value("-" if row.seconds is None else _time(row.seconds), row.seconds),
        _width(row.width),
        _detectable(row.detectable),
    )


def _costs(plan: SessionPlan) -> str:
    low, high = plan.pilot_runs
    runs = str(low) if low == high else f"{low} to {high}"
    text = f"from {plan.pilot_sessions} sessions x {runs} runs"
    if plan.costs is None:
        return text
    between = plan.costs.between_s
    told = "" if between is None else f", {_time(between)} between two sessions"
    return (
        f"{text}; a run of every cell took {_time(plan.costs.block_s)}, a session's warm-up "
        f"{_time(plan.costs.warmup_s)}{told}"
    )


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
        figures.shorten(line.name, _NAME),
        _share(line.session_sd),
        _share(line.run_sd),
        _share(line.session_sd_baseline),
        _share(line.run_sd_baseline),
        _width(line.width),
        _detectable(line.detectable),
    )


def _beside(plan: SessionPlan) -> Iterator[str]:
    """Say what the columns are, and how many benchmarks the Speedup-Test asks for."""
    name = figures.shorten(plan.baseline, _NAME)
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


def _share(sd: float | None) -> Value:
    return Value("-" if sd is None else f"{figures.significant(100 * sd, 2)} %", sd)


def _width(width: float | None) -> Value:
    return Value("-" if width is None else figures.significant(width), width)


def _detectable(speedup: float | None) -> Value:
    text = "-" if speedup is None or speedup >= _HUGE else f"{speedup:.4f}x"
    return Value(text, speedup)


def _time(seconds: float) -> str:
    """Write a time as hours from an hour and a half on, then minutes, then seconds."""
    if seconds >= 5400:
        return f"{figures.significant(seconds / 3600, 2)} h"
    if seconds >= 100:
        return f"{seconds / 60:.0f} min"
    return figures.quantity(seconds, "s")
