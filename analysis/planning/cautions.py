"""What a reader of a plan, or of the published loop, should know."""

from __future__ import annotations

from collections.abc import Iterator

from ..data import PerformanceMatrix
from ..report import Caution
from .result import Interval

__all__ = ["loop_cautions", "plan_cautions"]

_COST: dict[Interval, str] = {
    "t": "stopping by the width of the same runs keeps the t interval near its confidence: .94 "
    "(width .025) and .96 (.035) of a nominal .95 in simulation",
    "studentized": "stopping by the width of the same runs costs some confidence; plan the number "
    "beforehand, or measure afresh, where the level must hold",
    "percentile": "the percentile interval is the published one: it is too narrow at few runs, and "
    "stopped by its width it covers about 87 % (width .025) to 89 % (.035) where 95 % is nominal; "
    "use the t interval",
}
_EARLY = 5  # a loop that starts at fewer runs may meet a small spread by chance
_SMALL = 10  # a pilot with fewer runs has hardly shown what is rare


def loop_cautions(interval: Interval, start: int) -> Iterator[Caution]:
    """Say what stopping by the width leaves of the confidence."""
    yield Caution("stopped-by-width", _COST[interval])
    if start < _EARLY:
        said = f"a loop that starts at {start} runs may stop on a spread seen by chance"
        yield Caution("early-start", said)


def plan_cautions(ours: PerformanceMatrix, theirs: PerformanceMatrix) -> Iterator[Caution]:
    """Say what a plan rests on."""
    yield Caution(
        "within-session",
        "the widths are those within one session: what differs from session to session is not in "
        "them, and no number of runs averages it out; plan several sessions",
    )
    if ours.sessions is None or theirs.sessions is None:
        said = "the pilot does not say which runs share a session: all count as one"
        yield Caution("sessions-unknown", said)
    fewest = min(*ours.runs, *theirs.runs)
    if fewest < _SMALL:
        yield Caution(
            "small-pilot",
            f"the pilot has only {fewest} runs of some benchmark: what it has not shown, such as "
            "rare slow runs, is not in the plan",
        )
