"""Findings in words: one sentence each, without the names of the cell."""

from __future__ import annotations

from collections.abc import Sequence

from ...report import figures
from ..runs import HostSpeeds, Movers

__all__ = ["cell_text", "host_text", "in_sessions", "movers_text", "percent", "speeds_text"]

_SHOWN = 4
_ALL = {2: "in both sessions"}


def percent(size: float) -> str:
    """Write a share such as 0.0312 as ``3.1 %``, without its sign."""
    return f"{figures.significant(100 * abs(size), 2)} %"


def in_sessions(sessions: Sequence[int | str], total: int) -> str:
    """Say in which sessions: ``in session 3``, ``in sessions 2, 3``, ``in 7 of 10 sessions``."""
    if not sessions:
        return ""
    if len(sessions) == total:
        return (
            _ALL.get(total, f"in all {total} sessions")
            if total > 1
            else f"in session {sessions[0]}"
        )
    if len(sessions) > _SHOWN:
        return f"in {len(sessions)} of {total} sessions"
    noun = "session" if len(sessions) == 1 else "sessions"
    return f"in {noun} {', '.join(map(str, sessions))}"


def _moves(size: float | None, end: str) -> str:
    if size is None:
        return f"values change {end}"
    return f"values {'rise' if size > 0 else 'fall'} by {percent(size)} {end}"


def cell_text(
    code: str, size: float | None, *, session: int | str | None = None, place: int | None = None
) -> str:
    """Say what a test of one cell found."""
    lag = "" if size is None else f": autocorrelation {size:.2f}"
    match code:
        case "order":
            return _moves(size, "from the first to the last run of a session")
        case "change-point":
            return _moves(size, f"after run {place} of session {session}")
        case "warm-up" if size is not None:
            where = "above" if size > 0 else "below"
            return f"the first run of a session lies {percent(size)} {where} the others"
        case "warm-up":
            return "the first run of a session is unlike the others"
        case "lag-1" if size is not None and size < 0:
            return f"consecutive runs alternate{lag}"
        case "lag-1":
            return f"consecutive runs are alike{lag}"
        case "ljung-box":
            return f"runs a few places apart depend on each other{lag} at lag 1"
        case "runs-test":
            return f"runs above and below the median do not mix at random{lag}"
    spread = "" if size is None else f" by {percent(size)} (standard deviation)"
    return f"sessions differ{spread} more than runs within them explain"


def host_text(
    code: str,
    size: float | None,
    *,
    session: int | str | None = None,
    when: str = "",
    movers: Movers | None = None,
) -> str:
    """Say what a test of the whole host found: of all programs, or of those that move."""
    said = "" if size is None else f": correlation {size:.2f}"
    who = "all programs" if movers is None else movers_text(movers)
    match code:
        case "host-blocks":
            return f"{who} are slow in the same blocks{said}"
        case "host-neighbours":
            return f"consecutive runs of different programs are alike{said}"
        case "host-sessions":
            return f"{who} are slow in the same sessions{said}"
        case "host-trend":
            way = "rise" if size is None or size > 0 else "fall"
            return f"values of {who} {way} within sessions: rank{said.removeprefix(':')}"
        case "host-warm-up":
            way = "above" if size is None or size > 0 else "below"
            return f"the first runs of a session lie {way} the others in {who}"
    return f"{_moves(size, f'in {who} {when}')} of session {session}"


def movers_text(movers: Movers) -> str:
    """Name the programs that move together: ``programs of always (redis-set, redis-incr)``."""
    if not movers.variants:
        return "some programs"
    names = figures.listed(movers.variants, _SHOWN)
    where = f" ({figures.listed(movers.benchmarks, _SHOWN)})" if movers.benchmarks else ""
    return f"programs of {names}{where}"


def speeds_text(speeds: HostSpeeds, total: int, movers: Movers | None = None) -> str:
    """Say what the levels of the whole host, or of those that move, are."""
    gap, share = percent(speeds.ratio - 1), percent(speeds.share)
    there = [one.session for one in speeds.sessions if one.share >= 0.1]
    where = in_sessions(there, total)
    who, runs, others = "the whole host", "runs", ""
    if movers is not None:
        who, runs = movers_text(movers), "their runs" if movers.variants else "runs"
        if movers.variants and movers.others:
            others = f"; nothing shows it of {figures.listed(movers.others, _SHOWN)}"
    if speeds.two:
        return (
            f"{who} changed between two speeds, {gap} apart, {where}: {share} of {runs} have "
            f"the higher values{others}"
        )
    rest = "the values of all programs" if movers is None else "their values"
    return f"{who} did not keep {'its' if movers is None else 'their'} speed: {rest} rise and fall together, by about {gap}{others}"
