"""What the methods paragraph says of the hosts of a fleet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..spoken import Span
from .counts import counted

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...verdict.result import Verdict

__all__ = ["machines_of", "unfinished_of"]


def machines_of(trial: Trial, hosts: int) -> tuple[Span, ...]:
    """Say what the hosts of a fleet were, as far as they are alike."""
    model = trial.manifest.cpu_model
    if not model:
        return (Span("The hosts do not have one kind of processor, or it is not recorded."),)
    return (
        Span(f"The {counted(hosts, 'host')} were machines with one kind of processor ("),
        Span(model, foreign=True),
        Span(")."),
    )


def unfinished_of(verdict: Verdict) -> Iterator[tuple[Span, ...]]:
    """Say how many hosts of a fleet are missing or not complete."""
    lost = len(verdict.hosts) - sum(one.judged for one in verdict.hosts)
    if lost:
        gone = f"{counted(lost, 'more host').capitalize()} {'was' if lost == 1 else 'were'} planned"
        yield (Span(f"{gone}, of which nothing could be judged."),)
    unfinished = sum(one.judged and one.state != "complete" for one in verdict.hosts)
    if unfinished:
        verb = "was" if unfinished == 1 else "were"
        said = f"{counted(unfinished, 'host').capitalize()} of these {verb} not complete: what is there"
        yield (Span(f"{said} was judged."),)
