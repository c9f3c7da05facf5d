"""The time limit of a job: Slurm's notation, and what a campaign needs."""

from __future__ import annotations

import math
import re

from ..errors import UsageError

SHORTEST_S = 600.0
WARNING_S = 120.0  # how long before its end Slurm tells a job, at least
_FACTOR = 2.0
_ROOM = 3.0
# minutes | minutes:seconds | hours:minutes:seconds | days-hours[:minutes[:seconds]]
_NOTATION = re.compile(
    r"(?:(\d+)-(\d+)(?::(\d+))?(?::(\d+))?|(\d+)(?::(\d+))?(?::(\d+))?)", re.ASCII
)
_ENDLESS = {"INFINITE", "UNLIMITED", "NONE", "-1"}


def seconds_of_limit(text: str) -> float | None:
    """Read a time in Slurm's notation, such as ``90``, ``90:00`` or ``1-12:00:00``, in seconds.

    Returns
    -------
    float or None
        ``math.inf`` for ``UNLIMITED``; None if it is no such time.
    """
    if text.upper() in _ENDLESS:
        return math.inf
    match = _NOTATION.fullmatch(text)
    if match is None:
        return None
    days, hours, minutes, seconds, one, two, three = (
        None if part is None else int(part) for part in match.groups()
    )
    if days is not None:
        return 86400.0 * days + 3600.0 * (hours or 0) + 60.0 * (minutes or 0) + (seconds or 0)
    if three is not None:
        return 3600.0 * (one or 0) + 60.0 * (two or 0) + three
    return 60.0 * (one or 0) + (two or 0)


def limit_of_seconds(seconds: float) -> str:
    """Write a time as ``[days-]hours:minutes:00``, rounded up to a minute."""
    minutes = math.ceil(seconds / 60)
    days, rest = divmod(minutes, 24 * 60)
    clock = f"{rest // 60:02d}:{rest % 60:02d}:00"
    return f"{days}-{clock}" if days else clock


def least_limit_s(longest_run_s: float | None) -> float:
    """Give the shortest sensible limit of a job, in seconds.

    Between the warning and the end a run may have to be finished or thrown away, and some runs must
    fit before it, or each start would end with less than it began with.
    """
    return max(SHORTEST_S, _ROOM * (WARNING_S + (longest_run_s or 0.0)))


def limit_of(wanted: str | None, expected_s: float | None, longest_run_s: float | None) -> str:
    """Choose the time limit of a host's job, in Slurm's notation.

    Parameters
    ----------
    wanted : str or None
        What was asked for; it wins.
    expected_s : float or None
        How long the whole plan takes on one host, if that is known.
    longest_run_s : float or None
        The longest planned run, if that is known.

    Raises
    ------
    UsageError
        If `wanted` is no time, or nothing is known of how long it takes.
    """
    if wanted is not None:
        if not seconds_of_limit(wanted):
            raise UsageError(
                f"this is no time in Slurm's notation: {wanted!r}",
                "--time",
                "write minutes (90), hours:minutes:seconds (1:30:00) or days-hours (1-12)",
            )
        return wanted
    if expected_s is None:
        raise UsageError(
            "how long a host needs is unknown: this campaign was never measured here, and a job "
            "needs a time limit",
            "--time",
            "add --time 2:00:00, say; a job that meets its limit goes on in a new one",
        )
    return limit_of_seconds(max(_FACTOR * expected_s, least_limit_s(longest_run_s)))
