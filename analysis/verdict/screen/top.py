"""The line above everything: what was measured, against what, in how many sessions."""

from __future__ import annotations

from ...report import Sentence, figures
from ..result import Verdict

__all__ = ["heading"]

_NAME = 28  # columns for the baseline's name
_UNKNOWN_HOST = "unknown"  # of a trial that was imported from files that name none
_DESIGNS = {
    "paired": "paired",
    "separate": "sides measured in separate sessions",
    "one session, blocks": "within one session",
    "one session, runs": "within one session",
    "hosts": "hosts above sessions",
    "confounded": "one session a side: session and variant cannot be told apart",
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
    elif verdict.looks > 1:
        parts.append(f"{verdict.looks} looks")
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
    amount = f"{verdict.sessions} session{'s' * (verdict.sessions != 1)}"
    if verdict.session_runs is None:
        amount = f"{verdict.runs} runs"
    else:
        low, high = verdict.session_runs
        amount += f" x {low} run{'s' * (high != 1)}" if low == high else f" x {low} to {high} runs"
    designs = dict.fromkeys(
        one.multilevel.design for one in verdict.candidates if one.multilevel is not None
    )
    return ", ".join([amount, *dict.fromkeys(_DESIGNS[design] for design in designs)])
