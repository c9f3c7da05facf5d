"""A plan of hosts in words."""

from __future__ import annotations

from ...report import Cell, Column, Page, Section, Sentence, Table, Value, figures, page_of
from .result import HostLine, HostPlan, PlannedHosts

__all__: list[str] = []

_NAME = 30
_HUGE = 10  # no speedup from there on is worth four decimals


@page_of.register
def _(plan: HostPlan) -> Page:
    head = " against ".join(figures.shorten(n, _NAME) for n in (plan.candidate, plan.baseline))
    answer = [Sentence(f"{head}, on hosts like these: {_goal(plan)} needs {_needed(plan)}")]
    if plan.hosts is not None:
        answer.append(Sentence(_uncertain(plan)))
    return Page(
        title=f"How many hosts: {head}",
        sections=(
            Section((*answer, _plans(plan), Sentence(_pilot(plan)))),
            Section((_varies(plan),), title="what differs in the pilot"),
        ),
        cautions=plan.cautions,
    )


def _goal(plan: HostPlan) -> str:
    each = "" if plan.on == "suite" or len(plan.lines) == 1 else " for every benchmark"
    goals = []
    if plan.width is not None:
        goals.append(f"a {100 * plan.confidence:g} % interval of width {plan.width:g}")
    if plan.effect is not None:
        goals.append(f"to tell a speedup of {plan.effect:g}x with probability {plan.power:g}")
    return f"{' and '.join(goals)}{each}"


def _needed(plan: HostPlan) -> str:
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
    return f"{told}: {_time(plan.seconds)} of all hosts, {_time(plan.elapsed_s)} side by side"


def _uncertain(plan: HostPlan) -> str:
    low, high = plan.hosts_low, plan.hosts_high
    upper = f"more than {plan.max_hosts}" if high is None else f"{high}"
    told = upper if low in (None, high) else f"{low} to {upper}"
    return (
        f"that is as well as {plan.pilot_hosts} hosts tell: with the variance between hosts at its "
        f"quartiles it would be {told} hosts"
    )


def _plans(plan: HostPlan) -> Table:
    short = [row for row in plan.table if row.sessions is None]
    rows = (*short[-1:], *(row for row in plan.table if row.sessions is not None))
    heads = ("hosts", "sessions", "runs", "of all hosts", "side by side", "width", "detectable")
    return Table(
        name="plans", columns=tuple(map(Column, heads)), rows=tuple(_plan_row(row) for row in rows)
    )


def _plan_row(row: PlannedHosts) -> tuple[Cell, ...]:
    return (
        Value(str(row.hosts), row.hosts),
        Value("-" if row.sessions is None else str(row.sessions), row.sessions),
        Value("-" if row.runs is None else str(row.runs), row.runs),
        Value("-" if row.seconds is None else _time(row.seconds), row.seconds),
        Value("-" if row.elapsed_s is None else _time(row.elapsed_s), row.elapsed_s),
        Value("-" if row.width is None else figures.significant(row.width), row.width),
        Value(
            "-" if row.detectable is None or row.detectable >= _HUGE else f"{row.detectable:.4f}x",
            row.detectable,
        ),
    )


def _pilot(plan: HostPlan) -> str:
    text = f"from {plan.pilot_hosts} hosts with {plan.pilot_sessions} sessions"
    if plan.costs is None:
        return text
    return (
        f"{text}; a run of every cell took {_time(plan.costs.block_s)}, a session's warm-up "
        f"{_time(plan.costs.warmup_s)}; what a host costs before its first run is not in the times"
    )


def _varies(plan: HostPlan) -> Table:
    return Table(
        name="benchmarks",
        columns=(
            Column("benchmark", "left"),
            *map(Column, ("between hosts", "between sessions", "between runs")),
        ),
        rows=tuple(_line(line) for line in plan.lines),
    )


def _line(line: HostLine) -> tuple[Cell, ...]:
    return (
        figures.shorten(line.name, _NAME),
        *(
            Value("-" if sd is None else f"{figures.significant(100 * sd, 2)} %", sd)
            for sd in (line.host_sd, line.session_sd, line.run_sd)
        ),
    )


def _time(seconds: float) -> str:
    """Write a time as hours from an hour and a half on, then minutes, then seconds."""
    if seconds >= 5400:
        return f"{figures.significant(seconds / 3600, 2)} h"
    if seconds >= 100:
        return f"{seconds / 60:.0f} min"
    return figures.quantity(seconds, "s")
