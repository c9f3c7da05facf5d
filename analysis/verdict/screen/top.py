"""The line above everything: what was measured, against what, in how many sessions."""

from __future__ import annotations

from ...data import Unit
from ...methods.multilevel import HostLevel, looks_text
from ...report import Sentence, figures
from ..result import Verdict

__all__ = ["amount_on_hosts", "heading"]

_NAME = 28  # columns for the baseline's name
_UNKNOWN_HOST = "unknown"  # of a trial that was imported from files that name none
_DESIGNS: dict[Unit, dict[str, str]] = {
    "session": {
        "paired": "paired",
        "separate": "sides measured in separate sessions",
        "one session, blocks": "within one session",
        "one session, runs": "within one session",
        "confounded": "one session a side: session and variant cannot be told apart",
    },
    "host": {
        "paired": "paired",
        "separate": "sides measured apart",
        "one session, blocks": "on one host",
        "one session, runs": "on one host",
        "confounded": "one host a side: host and variant cannot be told apart",
    },
}


def heading(verdict: Verdict) -> Sentence:
    """Give the heading."""
    parts = [_what(verdict), "wall time" if verdict.metric == "wall" else verdict.metric]
    if verdict.better == "higher":
        parts[-1] += ", higher is better"
    if verdict.candidates and verdict.campaign is not None:
        parts.append(f"baseline {figures.shorten(verdict.baseline, _NAME)}")
    parts.append(_amount(verdict))
    if verdict.candidates:
        parts.append(f"margin {100 * verdict.margin:g} %")
    if verdict.always_valid:
        parts.append("valid at every look")
    elif told := looks_text(verdict):
        parts.append(told)
    return Sentence(" · ".join(parts))


def _what(verdict: Verdict) -> str:
    """Name what was measured: a campaign on its host, or two sides."""
    if verdict.campaign is None:
        names = (verdict.candidates[0].variant, verdict.baseline)
        return " against ".join(figures.shorten(name, _NAME) for name in names)
    if verdict.hosts:
        judged = [one.host for one in verdict.hosts if one.judged]
        of = f"{len(judged)} of " if len(judged) < len(verdict.hosts) else ""
        return (
            f"{verdict.campaign} on {of}{len(verdict.hosts)} host{'s' * (len(verdict.hosts) != 1)}"
        )
    if verdict.host is None:
        return verdict.campaign
    host = "an unknown host" if verdict.host == _UNKNOWN_HOST else verdict.host
    return f"{verdict.campaign} on {host}"


def _amount(verdict: Verdict) -> str:
    """Say how many sessions and runs there are, and how the sides go together."""
    levels = [one.hosts for one in verdict.candidates if one.hosts is not None]
    if levels:
        return amount_on_hosts(levels[0], verdict.session_runs)
    amount = _counted((verdict.sessions, verdict.sessions), verdict.outermost)
    if verdict.session_runs is None:
        amount = f"{verdict.runs} runs"
    else:
        low, high = verdict.session_runs
        amount += f" x {low} run{'s' * (high != 1)}" if low == high else f" x {low} to {high} runs"
    designs = dict.fromkeys(
        _DESIGNS[one.multilevel.outermost][one.multilevel.design]
        for one in verdict.candidates
        if one.multilevel is not None
    )
    return ", ".join([amount, *designs])


def amount_on_hosts(level: HostLevel, session_runs: tuple[int, int] | None) -> str:
    """Say how much was measured on several hosts: ``4 hosts x 5 sessions x 10 runs``.

    Parameters
    ----------
    level : HostLevel
        What the hosts say.
    session_runs : (int, int) or None
        The fewest and the most runs of a cell in a session.
    """
    parts = [_counted((len(level.hosts),) * 2, "host"), _counted(level.sessions_each, "session")]
    if session_runs is not None:
        parts.append(_counted(session_runs, "run"))
    return " x ".join(parts)


def _counted(ends: tuple[int, int], noun: str) -> str:
    low, high = ends
    return f"{low if low == high else f'{low} to {high}'} {noun}{'s' * (high != 1)}"
