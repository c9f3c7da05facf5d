"""Which metric is the question: what a manifest keeps of its campaign's key `judge`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kinds import Manifest

__all__ = ["Question", "asked_now", "asked_since", "one_question", "questions_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The metrics that the campaign's `judge` named from some moment on; none where it named none.

    `trial` is the part that it was asked of, in a manifest of several: trials that were merged, or the
    hosts of a fleet.
    """

    at: str
    metrics: tuple[str, ...]
    trial: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        part = {} if self.trial is None else {"trial": self.trial}
        return {"at": self.at, "metrics": list(self.metrics), **part}


def asked_since(
    asked: Sequence[Question], metrics: tuple[str, ...], at: str
) -> tuple[Question, ...]:
    """Add what the campaign asks now, if that is something else."""
    if metrics == (asked[-1].metrics if asked else ()):
        return tuple(asked)
    return (*asked, Question(at=at, metrics=metrics))


def questions_of(parts: Iterable[tuple[str, Manifest]]) -> tuple[Question, ...]:
    """Give what each part of several asks, by its name; nothing where no part says it."""
    found: list[Question] = []
    for name, manifest in parts:
        if any(one.trial is not None for one in manifest.judge):
            found += manifest.judge
        else:
            now = manifest.judge[-1:] or (Question(at=manifest.started, metrics=()),)
            found += [replace(one, trial=name) for one in now]
    return tuple(found) if any(one.metrics for one in found) else ()


def asked_now(asked: Iterable[Question]) -> dict[str, tuple[str, ...]]:
    """Give the metrics that each part asks now, by its name; of a single trial by no name."""
    return {one.trial or "": one.metrics for one in asked}


def one_question(asked: Sequence[Question]) -> tuple[str, ...] | None:
    """Give the metrics that are asked now, the first one first; None where parts differ."""
    different = set(asked_now(asked).values())
    return None if len(different) > 1 else next(iter(different), ())
