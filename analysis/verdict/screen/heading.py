"""The heading of a verdict: what was measured, which metric, how much, and what counts as the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.model import Sentence
from ...words import WIDTH, shorten, shown

if TYPE_CHECKING:
    from ...data.levels import Unit
    from ...methods.multilevel.host_effects import HostLevel
    from ..result import Verdict

_NAME = 28  # columns of a name
_DESIGNS: dict[Unit, dict[str, str]] = {
    "session": {
        "paired": "paired",
        "separate": "sides measured in separate sessions",
        "one session, blocks": "within one session",
        "one session, runs": "within one session",
        "confounded": "one session a side",
    },
    "host": {
        "paired": "paired",
        "separate": "sides measured apart",
        "one session, blocks": "on one host",
        "one session, runs": "on one host",
        "confounded": "one host a side",
    },
}


def heading(verdict: Verdict) -> Sentence:
    """Give the heading in one line: what does not fit goes, the host first, then "paired", then the margin."""
    host, paired, margin = True, True, True
    text = _heading(verdict, host=host, paired=paired, margin=margin)
    for step in ({"host": False}, {"paired": False}, {"margin": False}):
        if len(text) <= WIDTH:
            break
        host, paired, margin = (
            step.get(name, now)
            for name, now in (("host", host), ("paired", paired), ("margin", margin))
        )
        text = _heading(verdict, host=host, paired=paired, margin=margin)
    return Sentence(text)


def _heading(verdict: Verdict, *, host: bool, paired: bool, margin: bool) -> str:
    parts = [_measured(verdict, host=host), metric_name(verdict.metric)]
    if verdict.better == "higher":
        parts[-1] += ", higher is better"
    parts.append(_amount(verdict, paired=paired))
    if verdict.candidates and margin:
        parts.append(f"same within {100 * verdict.margin:g} %")
    parts += [_look(verdict)]
    return " · ".join(part for part in parts if part)


def metric_name(metric: str) -> str:
    """Name a metric on a screen."""
    return "wall time" if metric == "wall" else shorten(shown(metric), _NAME)


def _look(verdict: Verdict) -> str:
    """Say which look this is, where a trial grows or looks are planned."""
    if verdict.always_valid:
        return "valid at every look"
    if verdict.looks_rule == "planned" and verdict.looks > 1:
        return f"one of {verdict.looks} looks"
    return f"look {verdict.looks}" if verdict.looks_rule == "growing" else ""


def _measured(verdict: Verdict, *, host: bool) -> str:
    """Name what was measured: a campaign on its host, or two sides."""
    if verdict.campaign is None:
        names = [*(one.variant for one in verdict.candidates[:1]), verdict.baseline]
        return " against ".join(shorten(shown(name), _NAME) for name in names)
    campaign = shorten(shown(verdict.campaign), _NAME)
    if verdict.hosts:
        judged = [one.host for one in verdict.hosts if one.judged]
        of = f"{len(judged)} of " if len(judged) < len(verdict.hosts) else ""
        if not of and any(one.hosts is not None for one in verdict.candidates):
            return campaign  # how many there are is said with their sessions
        return f"{campaign} on {of}{figures.counted(len(verdict.hosts), 'host')}"
    if verdict.host is None or not host:
        return campaign
    # files from which a trial was imported may name none
    name = "an unknown host" if verdict.host == "unknown" else shorten(shown(verdict.host), _NAME)
    return f"{campaign} on {name}"


def _amount(verdict: Verdict, *, paired: bool) -> str:
    """Say how many sessions and runs there are, and how the sides go together."""
    levels = [one.hosts for one in verdict.candidates if one.hosts is not None]
    if levels:
        return amount_on_hosts(levels[0], verdict.session_runs)
    amount = _counted((verdict.sessions, verdict.sessions), verdict.outermost)
    if verdict.quantile is not None and verdict.quantile.level == "session":
        pass  # one value each, of however many runs
    elif verdict.session_runs is None:
        amount = f"{verdict.runs} runs"
    else:
        low, high = verdict.session_runs
        amount += f" x {low} run{'s' * (high != 1)}" if low == high else f" x {low} to {high} runs"
    designs = dict.fromkeys(
        _DESIGNS[one.multilevel.outermost][one.multilevel.design]
        for one in verdict.candidates
        if one.multilevel is not None
    )
    return ", ".join([amount, *(told for told in designs if paired or told != "paired")])


def amount_on_hosts(level: HostLevel, session_runs: tuple[int, int] | None) -> str:
    """Say how much was measured on several hosts: ``4 hosts x 5 sessions x 10 runs``."""
    parts = [_counted((len(level.hosts),) * 2, "host"), _counted(level.sessions_each, "session")]
    if session_runs is not None:
        parts.append(_counted(session_runs, "run"))
    return " x ".join(parts)


def _counted(ends: tuple[int, int], noun: str) -> str:
    low, high = ends
    return f"{low if low == high else f'{low} to {high}'} {noun}{'s' * (high != 1)}"
