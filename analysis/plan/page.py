"""Plans in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeVar

from ..pages import number_format as figures
from ..pages.model import (
    CommandLine,
    Page,
    Section,
    Sentence,
    Value,
    merged,
    page_of,
    table_of,
)
from ..words import shorten
from .components import TrialCosts
from .result import (
    HostPlan,
    PlannedHosts,
    PlannedSessions,
    RunPlan,
    SessionPlan,
    VarianceComponents,
    WidthLoop,
)
from .stop_rule import width_text

NAME = 30  # columns for a name
_HUGE = 10  # no speedup from there on is worth four decimals

_Row = TypeVar("_Row", bound=PlannedSessions | PlannedHosts)
_BENCHMARK = ("<benchmark", lambda line: shorten(line.name, NAME))
_WIDTH = ("width", "width", figures.significant)


def _against(*names: str | None) -> str:
    return " against ".join(shorten(name, NAME) for name in names if name is not None)


def goal_text(plan: SessionPlan | HostPlan, lines: int) -> str:
    """Say what is asked for, and whether of each of so many lines."""
    goals = []
    if plan.width is not None:
        goals.append(f"a {100 * plan.confidence:g} % interval of width {plan.width:g}")
    if plan.effect is not None:
        goals.append(f"to tell a speedup of {plan.effect:g}x with probability {plan.power:g}")
    each = "" if plan.on == "suite" or lines == 1 else " for every benchmark"
    return f"{' and '.join(goals)}{each}"


def range_text(low: int | None, high: int | None, most: int) -> str:
    """Say from how many to how many; None is more than `most`, the most that were looked at."""
    upper = f"more than {most}" if high is None else f"{high}"
    return upper if low in (None, high) else f"{low} to {upper}"


def _shown(rows: Sequence[_Row]) -> tuple[_Row, ...]:
    """Leave out what is not enough, but for the last such row."""
    short = [row for row in rows if row.runs is None]
    return (*short[-1:], *(row for row in rows if row.runs is not None))


def _costs(costs: TrialCosts) -> str:
    run, warmup = time_text(costs.block_s), time_text(costs.warmup_s)
    return f"a run of every cell took {run}, a session's warm-up {warmup}"


def _detectable(speedup: float) -> str:
    return f"{speedup:.4f}x" if speedup < _HUGE else "-"


_DETECTABLE = ("detectable", "detectable", _detectable)


def time_text(seconds: float) -> str:
    """Write a time as hours from an hour and a half on, then minutes, then seconds."""
    if seconds >= 5400:
        return f"{figures.significant(seconds / 3600, 2)} h"
    return f"{seconds / 60:.0f} min" if seconds >= 100 else figures.quantity(seconds, "s")


@page_of.register(WidthLoop)
def _width_loop_page(loop: WidthLoop) -> Page:
    head = _against(loop.candidate, loop.baseline)
    looks = table_of(
        "looks",
        loop.steps,
        ("runs", "runs"),
        ("speedup", "speedup", "{:.4g}x".format),
        ("interval", lambda step: f"[{step.low:.4g}, {step.high:.4g}]"),
        ("width", "width", partial(width_text, limit=loop.limit)),
    )
    return Page(
        title=f"Runs until the interval is narrow enough: {head}",
        sections=(Section((Sentence(f"{head}: {loop.conclusion}"),)), Section((looks,))),
        cautions=loop.cautions,
    )


@page_of.register(RunPlan)
def _run_plan_page(plan: RunPlan) -> Page:
    head, loop = _against(plan.candidate, plan.baseline), plan.loop
    answers = []
    for goal, asked, runs in (
        (f"a {100 * plan.confidence:g} % interval of width {plan.width or 0:g} or less", plan.width, plan.runs_for_width),
        (f"to tell a speedup of {plan.effect or 0:g}x from none", plan.effect, plan.runs_for_effect),
    ):  # fmt: skip
        if asked is not None:
            needed = f"more than {plan.max_runs} runs, the cap"
            if runs is not None:
                needed = f"{runs} runs of each benchmark and side"
            answers.append(f"{head}: {goal} needs {needed} (probability {plan.power:g})")
    rows = table_of(
        "runs",
        plan.table,
        ("runs", "runs"),
        (
            "width",
            lambda row: Value(
                f"{figures.significant(row.width)} ± {figures.significant(row.width_sd, 2)}",
                row.width,
            ),
        ),
        None if plan.width is None else (f"chance <= {plan.width:g}", "chance", "{:.3f}".format),
        _DETECTABLE,
        None if plan.effect is None else (f"power at {plan.effect:g}x", "power", "{:.3f}".format),
        ("RMSE", lambda row: math.sqrt(row.mse), figures.significant),
        ("MSE sd", "mse_sd", partial(figures.significant, digits=2)),
        ("coverage", "coverage", "{:.3f}".format),
    )
    basis = (
        f"by {plan.simulations:,} simulated trials for each number of runs, from "
        f"{figures.span(plan.pilot_runs)} pilot runs of {plan.benchmarks} benchmarks a side; speedup "
        f"{plan.speedup:.4g}x"
    )
    own = () if loop is None else (Sentence(f"on the pilot's own runs, {loop.conclusion}"),)
    answers = answers or [f"{head}: what a number of runs would bring"]
    return Page(
        title=f"How many runs: {head}",
        sections=(
            Section(tuple(map(Sentence, answers))),
            Section((rows, Sentence(basis))),
            *(Section((one,)) for one in own),
        ),
        cautions=merged(plan.cautions, () if loop is None else loop.cautions),
    )


@page_of.register(VarianceComponents)
def _variance_components_page(found: VarianceComponents) -> Page:
    head, crossed = _against(found.candidate, found.baseline), found.crossed
    line = found.suite or (found.benchmarks[0] if len(found.benchmarks) == 1 else None)
    what = "values" if found.baseline is None else "differences"
    if line is None:
        said = f"how {what} vary, by benchmark"
    else:
        over = "of the suite's mean" if found.suite else "of the benchmark"
        said = f"the {what} {over} vary by {figures.percent(line.session_sd)} between sessions" + (
            ", runs included: with one run a session the two cannot be told apart"
            if line.run_sd is None
            else f" and by {figures.percent(line.run_sd)} between the runs of one"
        )
    rows = table_of(
        "components",
        (*found.benchmarks, *((found.suite,) if found.suite else ())),
        _BENCHMARK,
        ("sessions", "sessions"),
        ("blocks", "blocks"),
        ("between sessions", "session_sd", figures.percent),
        ("between runs", "run_sd", figures.percent),
    )
    parts = {} if crossed is None else {
        "between benchmarks": crossed.benchmark_sd,
        "between sessions, in all benchmarks alike": crossed.session_sd,
        "between sessions, in each benchmark by itself": crossed.benchmark_session_sd,
        "between the blocks of a session": crossed.block_sd,
        "between runs": crossed.run_sd,
    }  # fmt: skip
    known = [f"{figures.percent(sd)} {where}" for where, sd in parts.items() if sd is not None]
    below = (Sentence(f"all benchmarks together: {'; '.join(known)}"),) if parts else ()
    return Page(
        title=f"Between sessions and between runs: {head}",
        sections=(Section((Sentence(f"{head}: {said}"),)), Section((rows, *below))),
        cautions=found.cautions,
    )


@page_of.register(SessionPlan)
def _session_plan_page(plan: SessionPlan) -> Page:
    head = _against(plan.candidate, plan.baseline)
    runs = f" of up to {plan.max_runs} runs" if plan.max_runs > 1 else ""
    needed = f"more than {plan.max_sessions} sessions{runs}: measure differently"
    if plan.sessions is not None and plan.runs is not None:
        cost = "" if plan.seconds is None else f", {time_text(plan.seconds)}"
        needed = f"{plan.sessions} sessions x {figures.counted(plan.runs, 'run')}{cost}"
    sure = []
    if plan.sessions is not None:
        span = range_text(plan.sessions_low, plan.sessions_high, plan.max_sessions)
        said = (
            f"that is as well as {plan.pilot_sessions} sessions tell: with the pilot's variance at"
        )
        sure = [Sentence(f"{said} its quartiles it would be {span} sessions")]
    pilot = f"from {plan.pilot_sessions} sessions x {figures.span(plan.pilot_runs)} runs"
    if plan.costs is not None:
        pause = plan.costs.between_s
        between = "" if pause is None else f", {time_text(pause)} between two sessions"
        pilot += f"; {_costs(plan.costs)}{between}"
    plans = table_of(
        "plans",
        _shown(plan.table),
        ("sessions", "sessions"),
        ("runs", "runs"),
        ("time", "seconds", time_text),
        _WIDTH,
        _DETECTABLE,
    )
    benchmarks = table_of(
        "benchmarks",
        plan.benchmarks,
        _BENCHMARK,
        ("sessions", "session_sd", figures.percent),
        ("runs", "run_sd", figures.percent),
        ("sessions alone", "session_sd_baseline", figures.percent),
        ("runs alone", "run_sd_baseline", figures.percent),
        _WIDTH,
        _DETECTABLE,
    )
    protocol = () if plan.protocol is None else (CommandLine(plan.protocol),)
    answer = Sentence(f"{head}: {goal_text(plan, len(plan.benchmarks))} needs {needed}")
    return Page(
        title=f"How many sessions: {head}",
        sections=(
            Section((answer, *protocol, *sure)),
            Section((plans, Sentence(pilot))),
            Section((benchmarks,), title="what differs in the pilot, and what the plan gives"),
            *(Section((Sentence(said),)) for said in _beside(plan)),
        ),
        cautions=plan.cautions,
    )


def _beside(plan: SessionPlan) -> Iterator[str]:
    """Say what the columns are, and how many benchmarks the Speedup-Test asks for."""
    yield (
        "sessions, runs: standard deviation of the difference between sessions, and between the runs "
        f"of one; sessions alone, runs alone: likewise of {shorten(plan.baseline, NAME)} by itself, "
        "where a shift that both share does not cancel"
    )
    if plan.needed_benchmarks is not None:
        yield (
            f"the Speedup-Test finds {plan.accelerated} benchmarks accelerated; to know that share "
            f"to ± {plan.precision:g} takes {plan.needed_benchmarks} benchmarks"
        )


@page_of.register(HostPlan)
def _host_plan_page(plan: HostPlan) -> Page:
    head = _against(plan.candidate, plan.baseline)
    needed = (
        f"more than {plan.max_hosts} hosts of up to {plan.max_sessions} sessions x "
        f"{plan.max_runs} runs: hosts differ by more than that; claim these hosts only"
    )
    sure = []
    if plan.hosts is not None:
        counts = ((plan.hosts, "host"), (plan.sessions, "session"), (plan.runs, "run"))
        needed = " x ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts)
        if plan.seconds is not None and plan.elapsed_s is not None:
            of_all, abreast = time_text(plan.seconds), time_text(plan.elapsed_s)
            needed += f": {of_all} of all hosts, {abreast} side by side"
        span = range_text(plan.hosts_low, plan.hosts_high, plan.max_hosts)
        said = (
            f"that is as well as {plan.pilot_hosts} hosts tell: with the variance between hosts at"
        )
        sure = [Sentence(f"{said} its quartiles it would be {span} hosts")]
    pilot = f"from {plan.pilot_hosts} hosts with {plan.pilot_sessions} sessions"
    if plan.costs is not None:
        pilot += (
            f"; {_costs(plan.costs)}; what a host costs before its first run is not in the times"
        )
    plans = table_of(
        "plans",
        _shown(plan.table),
        *((name, name) for name in ("hosts", "sessions", "runs")),
        ("of all hosts", "seconds", time_text),
        ("side by side", "elapsed_s", time_text),
        _WIDTH,
        _DETECTABLE,
    )
    varies = table_of(
        "benchmarks",
        plan.lines,
        _BENCHMARK,
        *(
            (f"between {what}s", f"{what}_sd", figures.percent)
            for what in ("host", "session", "run")
        ),
    )
    goal = goal_text(plan, len(plan.lines))
    answer = Sentence(f"{head}, on hosts like these: {goal} needs {needed}")
    return Page(
        title=f"How many hosts: {head}",
        sections=(
            Section((answer, *sure, plans, Sentence(pilot))),
            Section((varies,), title="what differs in the pilot"),
        ),
        cautions=plan.cautions,
    )
