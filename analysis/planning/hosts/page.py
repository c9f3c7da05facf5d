"""A plan of hosts in words."""

from __future__ import annotations

from ...report import Cell, Column, Page, Section, Sentence, Table, figures, page_of
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
from .result import HostLine, HostPlan, PlannedHosts

__all__: list[str] = []


@page_of.register
def _(plan: HostPlan) -> Page:
    head = against(plan.candidate, plan.baseline)
    goal = goal_text(plan, len(plan.lines))
    answer = [Sentence(f"{head}, on hosts like these: {goal} needs {_needed(plan)}")]
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
    return (
        f"{told}: {time_text(plan.seconds)} of all hosts, {time_text(plan.elapsed_s)} side by side"
    )


def _uncertain(plan: HostPlan) -> str:
    told = range_text(plan.hosts_low, plan.hosts_high, plan.max_hosts)
    return (
        f"that is as well as {plan.pilot_hosts} hosts tell: with the variance between hosts at its "
        f"quartiles it would be {told} hosts"
    )


def _plans(plan: HostPlan) -> Table:
    heads = ("hosts", "sessions", "runs", "of all hosts", "side by side", "width", "detectable")
    return Table(
        name="plans",
        columns=tuple(map(Column, heads)),
        rows=tuple(_plan_row(row) for row in shown_rows(plan.table)),
    )


def _plan_row(row: PlannedHosts) -> tuple[Cell, ...]:
    return (
        count_value(row.hosts),
        count_value(row.sessions),
        count_value(row.runs),
        time_value(row.seconds),
        time_value(row.elapsed_s),
        width_value(row.width),
        detectable_value(row.detectable),
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
        columns=(
            Column("benchmark", "left"),
            *map(Column, ("between hosts", "between sessions", "between runs")),
        ),
        rows=tuple(_line(line) for line in plan.lines),
    )


def _line(line: HostLine) -> tuple[Cell, ...]:
    return (
        figures.shorten(line.name, NAME),
        *map(share_value, (line.host_sd, line.session_sd, line.run_sd)),
    )
