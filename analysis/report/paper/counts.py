"""Counts as they stand in a sentence of a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..fleet import level_of

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...verdict.result import Verdict

__all__ = ["amount_of", "between", "counted"]

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def counted(number: int, noun: str) -> str:
    """Write a count with its noun: in letters up to twelve."""
    text = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{text} {noun}{'' if number == 1 else 's'}"


def between(ends: tuple[int, int], noun: str) -> str:
    """Write a count that differs between hosts."""
    low, high = ends
    return counted(low, noun) if low == high else f"{low} to {counted(high, noun)}"


def amount_of(trial: Trial, verdict: Verdict) -> str:
    """Count a trial's sessions and runs, and on how many hosts they were."""
    manifest, level = trial.manifest, level_of(verdict)
    if level is not None:
        each, hosts = between(level.sessions_each, "session"), counted(len(level.hosts), "host")
        runs = between(verdict.session_runs or (0, 0), "run")
        return f"in {each} on each of {hosts}, {runs} of each in a session"
    runs = f"{'at most ' if manifest.sequential else ''}{counted(manifest.runs, 'run')} of each"
    if trial.outermost == "host":
        return f"on {counted(manifest.sessions, 'host')}, {runs} on a host"
    return f"in {counted(manifest.sessions, 'session')} of {runs}"
