"""Plans in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

from ..pages import number_format as figures
from ..pages.model import (
    Cell,
    CommandLine,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    merged,
    page_of,
    value_of,
)
from ..words import shorten
from .components import TrialCosts
from .result import (
    HostPlan,
    PlannedHosts,
    PlannedSessions,
    PlannedWidth,
    RunPlan,
    SessionPlan,
    VarianceComponents,
    WidthLoop,
)
from .stop_rule import width_text

NAME = 30  # columns for a name
_HUGE = 10  # no speedup from there on is worth four decimals


_Row = TypeVar("_Row", bound=PlannedSessions | PlannedHosts)


def against(candidate: str, baseline: str) -> str:
    """Name the two sides."""
    return " against ".join(shorten(name, NAME) for name in (candidate, baseline))


def goal_text(plan: SessionPlan | HostPlan, lines: int) -> str:
    """Say what is asked for, and whether of each of so many lines."""
    each = "" if plan.on == "suite" or lines == 1 else " for every benchmark"
    goals = []
    if plan.width is not None:
        goals.append(f"a {100 * plan.confidence:g} % interval of width {plan.width:g}")
    if plan.effect is not None:
        goals.append(f"to tell a speedup of {plan.effect:g}x with probability {plan.power:g}")
    return f"{' and '.join(goals)}{each}"


def range_text(low: int | None, high: int | None, most: int) -> str:
    """Say from how many to how many; None is more than `most`, the most that were looked at."""
    upper = f"more than {most}" if high is None else f"{high}"
    return upper if low in (None, high) else f"{low} to {upper}"


def shown_rows(rows: Sequence[_Row]) -> tuple[_Row, ...]:
    """Leave out what is not enough, but for the last such row."""
    short = [row for row in rows if row.runs is None]
    return (*short[-1:], *(row for row in rows if row.runs is not None))


def costs_text(costs: TrialCosts) -> str:
    """Say what runs of the pilot took."""
    return (
        f"a run of every cell took {time_text(costs.block_s)}, a session's warm-up "
        f"{time_text(costs.warmup_s)}"
    )


def detectable_value(speedup: float | None) -> Value:
    """Set the speedup that is told from 1."""
    text = f"{speedup:.4f}x" if speedup is not None and speedup < _HUGE else "-"
    return Value(text, speedup)


def time_text(seconds: float) -> str:
    """Write a time as hours from an hour and a half on, then minutes, then seconds."""
    if seconds >= 5400:
        return f"{figures.significant(seconds / 3600, 2)} h"
    if seconds >= 100:
        return f"{seconds / 60:.0f} min"
    return figures.quantity(seconds, "s")


@page_of.register(WidthLoop)
def _width_loop_page(loop: WidthLoop) -> Page:
    looks = Table(
        name="looks",
        columns=columns_of("runs", "speedup", "interval", "width"),
        rows=tuple(
            (
                value_of(step.runs),
                Value(f"{step.speedup:.4g}x", step.speedup),
                f"[{step.low:.4g}, {step.high:.4g}]",
                Value(width_text(step.width, loop.limit), step.width),
            )
            for step in loop.steps
        ),
    )
    return Page(
        title=f"Runs until the interval is narrow enough: {against(loop.candidate, loop.baseline)}",
        sections=(
            Section((Sentence(f"{against(loop.candidate, loop.baseline)}: {loop.conclusion}"),)),
            Section((looks,)),
        ),
        cautions=loop.cautions,
    )


@page_of.register(RunPlan)
def _run_plan_page(plan: RunPlan) -> Page:
    loop = plan.loop
    own = () if loop is None else (f"on the pilot's own runs, {loop.conclusion}",)
    return Page(
        title=f"How many runs: {against(plan.candidate, plan.baseline)}",
        sections=(
            Section(tuple(_answers(plan))),
            Section((_runs_table(plan), Sentence(_basis(plan)))),
            *(Section((Sentence(said),)) for said in own),
        ),
        cautions=merged(plan.cautions, () if loop is None else loop.cautions),
    )


def _answers(plan: RunPlan) -> Iterator[Sentence]:
    head = against(plan.candidate, plan.baseline)
    if plan.width is None and plan.effect is None:
        yield Sentence(f"{head}: what a number of runs would bring")
    if plan.width is not None:
        goal = f"a {100 * plan.confidence:g} % interval of width {plan.width:g} or less"
        yield Sentence(f"{head}: {goal} needs {_runs_needed(plan.runs_for_width, plan)}")
    if plan.effect is not None:
        goal = f"to tell a speedup of {plan.effect:g}x from none"
        yield Sentence(f"{head}: {goal} needs {_runs_needed(plan.runs_for_effect, plan)}")


def _runs_needed(runs: int | None, plan: RunPlan) -> str:
    told = (
        f"more than {plan.max_runs} runs, the cap"
        if runs is None
        else f"{runs} runs of each benchmark and side"
    )
    return f"{told} (probability {plan.power:g})"


def _runs_table(plan: RunPlan) -> Table:
    """Set the simulated trials; what was not asked for has no column."""
    headings = ["runs", "width"]
    headings += [] if plan.width is None else [f"chance <= {plan.width:g}"]
    headings += ["detectable"]
    headings += [] if plan.effect is None else [f"power at {plan.effect:g}x"]
    headings += ["RMSE", "MSE sd", "coverage"]
    return Table(
        name="runs",
        columns=columns_of(*headings),
        rows=tuple(tuple(_cells(row)) for row in plan.table),
    )


def _cells(row: PlannedWidth) -> Iterator[Cell]:
    error = math.sqrt(row.mse)
    yield value_of(row.runs)
    spread = figures.significant(row.width_sd, 2)
    yield Value(f"{figures.significant(row.width)} ± {spread}", row.width)
    if row.chance is not None:
        yield Value(f"{row.chance:.3f}", row.chance)
    yield detectable_value(row.detectable)
    if row.power is not None:
        yield Value(f"{row.power:.3f}", row.power)
    yield Value(figures.significant(error), error)
    yield Value(figures.significant(row.mse_sd, 2), row.mse_sd)
    yield Value(f"{row.coverage:.3f}", row.coverage)


def _basis(plan: RunPlan) -> str:
    low, high = plan.pilot_runs
    runs = str(low) if low == high else f"{low} to {high}"
    return (
        f"by {plan.simulations:,} simulated trials for each number of runs, from {runs} pilot runs "
        f"of {plan.benchmarks} benchmarks a side; speedup {plan.speedup:.4g}x"
    )


@page_of.register(VarianceComponents)
def _variance_components_page(found: VarianceComponents) -> Page:
    names = [found.candidate] if found.baseline is None else [found.candidate, found.baseline]
    head = " against ".join(shorten(name, NAME) for name in names)
    return Page(
        title=f"Between sessions and between runs: {head}",
        sections=(
            Section((Sentence(f"{head}: {_answer(found)}"),)),
            Section((_components_table(found), *map(Sentence, _crossed(found)))),
        ),
        cautions=found.cautions,
    )


def _answer(found: VarianceComponents) -> str:
    line = found.suite or (found.benchmarks[0] if len(found.benchmarks) == 1 else None)
    what = "values" if found.baseline is None else "differences"
    if line is None:
        return f"how {what} vary, by benchmark"
    over = "of the suite's mean" if found.suite else "of the benchmark"
    told = f"the {what} {over} vary by {figures.percent(line.session_sd)} between sessions"
    if line.run_sd is None:
        return f"{told}, runs included: with one run a session the two cannot be told apart"
    return f"{told} and by {figures.percent(line.run_sd)} between the runs of one"


def _components_table(found: VarianceComponents) -> Table:
    lines = (*found.benchmarks, *((found.suite,) if found.suite else ()))
    return Table(
        name="components",
        columns=columns_of("<benchmark", "sessions", "blocks", "between sessions", "between runs"),
        rows=tuple(
            (
                shorten(line.name, NAME),
                value_of(line.sessions),
                value_of(line.blocks),
                value_of(line.session_sd, figures.percent),
                value_of(line.run_sd, figures.percent),
            )
            for line in lines
        ),
    )


def _crossed(found: VarianceComponents) -> Iterator[str]:
    """Say what the benchmarks have in common, where the model could be fitted."""
    if found.crossed is None:
        return
    parts = (
        (found.crossed.benchmark_sd, "between benchmarks"),
        (found.crossed.session_sd, "between sessions, in all benchmarks alike"),
        (found.crossed.benchmark_session_sd, "between sessions, in each benchmark by itself"),
        (found.crossed.block_sd, "between the blocks of a session"),
        (found.crossed.run_sd, "between runs"),
    )
    told = "; ".join(f"{figures.percent(sd)} {what}" for sd, what in parts if sd is not None)
    yield f"all benchmarks together: {told}"


@page_of.register(SessionPlan)
def _session_plan_page(plan: SessionPlan) -> Page:
    head = against(plan.candidate, plan.baseline)
    goal = goal_text(plan, len(plan.benchmarks))
    answer = [Sentence(f"{head}: {goal} needs {_sessions_needed(plan)}")]
    protocol = () if plan.protocol is None else (CommandLine(plan.protocol),)
    return Page(
        title=f"How many sessions: {head}",
        sections=(
            Section((*answer, *protocol, *map(Sentence, _sessions_uncertain(plan)))),
            Section((_session_plans(plan), Sentence(_costs(plan)))),
            Section(
                (_benchmarks(plan),), title="what differs in the pilot, and what the plan gives"
            ),
            *(Section((Sentence(said),)) for said in _beside(plan)),
        ),
        cautions=plan.cautions,
    )


def _sessions_needed(plan: SessionPlan) -> str:
    if plan.sessions is None or plan.runs is None:
        runs = f" of up to {plan.max_runs} runs" if plan.max_runs > 1 else ""
        return f"more than {plan.max_sessions} sessions{runs}: measure differently"
    runs = f"{plan.runs} run{'s' * (plan.runs > 1)}"
    cost = "" if plan.seconds is None else f", {time_text(plan.seconds)}"
    return f"{plan.sessions} sessions x {runs}{cost}"


def _sessions_uncertain(plan: SessionPlan) -> Iterator[str]:
    if plan.sessions is None:
        return
    told = range_text(plan.sessions_low, plan.sessions_high, plan.max_sessions)
    yield (
        f"that is as well as {plan.pilot_sessions} sessions tell: with the pilot's variance at its "
        f"quartiles it would be {told} sessions"
    )


def _session_plans(plan: SessionPlan) -> Table:
    """Set what other numbers of sessions would need."""
    return Table(
        name="plans",
        columns=columns_of("sessions", "runs", "time", "width", "detectable"),
        rows=tuple(
            (
                value_of(row.sessions),
                value_of(row.runs),
                value_of(row.seconds, time_text),
                value_of(row.width, figures.significant),
                detectable_value(row.detectable),
            )
            for row in shown_rows(plan.table)
        ),
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
        columns=columns_of(
            "<benchmark", "sessions", "runs", "sessions alone", "runs alone", "width", "detectable"
        ),
        rows=tuple(
            (
                shorten(line.name, NAME),
                *(
                    value_of(sd, figures.percent)
                    for sd in (
                        line.session_sd,
                        line.run_sd,
                        line.session_sd_baseline,
                        line.run_sd_baseline,
                    )
                ),
                value_of(line.width, figures.significant),
                detectable_value(line.detectable),
            )
            for line in plan.benchmarks
        ),
    )


def _beside(plan: SessionPlan) -> Iterator[str]:
    """Say what the columns are, and how many benchmarks the Speedup-Test asks for."""
    name = shorten(plan.baseline, NAME)
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


@page_of.register(HostPlan)
def _host_plan_page(plan: HostPlan) -> Page:
    head = against(plan.candidate, plan.baseline)
    goal = goal_text(plan, len(plan.lines))
    answer = [Sentence(f"{head}, on hosts like these: {goal} needs {_hosts_needed(plan)}")]
    if plan.hosts is not None:
        answer.append(Sentence(_hosts_uncertain(plan)))
    return Page(
        title=f"How many hosts: {head}",
        sections=(
            Section((*answer, _host_plans(plan), Sentence(_pilot(plan)))),
            Section((_varies(plan),), title="what differs in the pilot"),
        ),
        cautions=plan.cautions,
    )


def _hosts_needed(plan: HostPlan) -> str:
    if plan.hosts is None:
        return (
            f"more than {plan.max_hosts} hosts of up to {plan.max_sessions} sessions x "
            f"{plan.max_runs} runs: hosts differ by more than that; claim these hosts only"
        )
    told = " x ".join(
        f"{n} {what}{'s' * (n != 1)}"
        for n, what in ((plan.hosts, "host"), (plan.sessions, "session"), (plan.runs, "run"))
    )
    if plan.seconds is None or plan.elapsed_s is None:
        return told
    return (
        f"{told}: {time_text(plan.seconds)} of all hosts, {time_text(plan.elapsed_s)} side by side"
    )


def _hosts_uncertain(plan: HostPlan) -> str:
    told = range_text(plan.hosts_low, plan.hosts_high, plan.max_hosts)
    return (
        f"that is as well as {plan.pilot_hosts} hosts tell: with the variance between hosts at its "
        f"quartiles it would be {told} hosts"
    )


def _host_plans(plan: HostPlan) -> Table:
    heads = ("hosts", "sessions", "runs", "of all hosts", "side by side", "width", "detectable")
    return Table(
        name="plans",
        columns=columns_of(*heads),
        rows=tuple(
            (
                *map(value_of, (row.hosts, row.sessions, row.runs)),
                value_of(row.seconds, time_text),
                value_of(row.elapsed_s, time_text),
                value_of(row.width, figures.significant),
                detectable_value(row.detectable),
            )
            for row in shown_rows(plan.table)
        ),
    )


def _pilot(plan: HostPlan) -> str:
    text = f"from {plan.pilot_hosts} hosts with {plan.pilot_sessions} sessions"
    if plan.costs is None:
        return text
    return (
        f"{text}; {costs_text(plan.costs)}; what a host costs before its first run is not in the "
        "times"
    )


def _varies(plan: HostPlan) -> Table:
    return Table(
        name="benchmarks",
        columns=columns_of("<benchmark", "between hosts", "between sessions", "between runs"),
        rows=tuple(
            (
                shorten(line.name, NAME),
                *(
                    value_of(sd, figures.percent)
                    for sd in (line.host_sd, line.session_sd, line.run_sd)
                ),
            )
            for line in plan.lines
        ),
    )
