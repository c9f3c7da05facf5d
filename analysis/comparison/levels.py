"""How fast the runs themselves were in both trials, variant by variant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..methods.multilevel import Line, Multilevel, multilevel
from ..verdict import Side, comparable
from .result import Level

__all__ = ["levels_of"]


def levels_of(
    old: Mapping[str, Side],
    new: Mapping[str, Side],
    variants: Sequence[tuple[str, str]],
    confidence: float,
    margin: float,
) -> tuple[Level, ...]:
    """Compare each variant's runs in the new trial with those in the old one.

    Sessions of two trials are never the same: Welch's t on session means. Whatever else differed
    between the trials is part of the ratio.

    Parameters
    ----------
    old, new : mapping of str to Side
        The variants of each trial.
    variants : sequence of (str, str)
        What those to compare are called in the old trial and in the new one.
    confidence, margin : float
        As for `multilevel`.
    """
    found: list[Level] = []
    for before, variant in variants:
        both = comparable(new[variant], old[before])
        if both is not None:
            ours, theirs = (
                replace(matrix, trial=name, cautions=())
                for matrix, name in zip(both, ("new", "old"), strict=True)
            )
            found += _levels(
                variant, multilevel(ours, theirs, confidence=confidence, margin=margin)
            )
    return tuple(found)


def _levels(variant: str, answer: Multilevel) -> Iterator[Level]:
    for line in answer.benchmarks:
        yield _level(variant, line, line.name, line.mean_candidate, line.mean_baseline)
    if answer.these is not None:
        yield _level(variant, answer.these, None, None, None)


def _level(
    variant: str, line: Line, benchmark: str | None, new: float | None, old: float | None
) -> Level:
    return Level(
        variant=variant,
        benchmark=benchmark,
        mean_old=old,
        mean_new=new,
        ratio=line.speedup,
        low=line.low,
        high=line.high,
        outcome=line.outcome,
    )
