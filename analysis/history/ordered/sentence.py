"""The answer about a series of variants, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...pages.difference import Compared, Difference
from ...words import shorten, shown

if TYPE_CHECKING:
    from .result import OrderedVariants

NAME = 24  # columns of a name in a sentence


def difference_of(result: OrderedVariants, line: Compared) -> Difference:
    """Give how the later variants differ."""
    return Difference.of(line, metric=result.metric, unit=result.unit, better=result.better)


def named(text: str) -> str:
    """Write a name for a sentence."""
    return shorten(shown(text), NAME)


def sentence_of(result: OrderedVariants) -> str:
    """Say from which variant on it is slower or faster, or that there is no such step, or that nobody knows."""
    line = result.answering
    where = ""
    if result.suite is not None:
        many = len(result.benchmarks)
        where = (
            f" over these {many} benchmarks" if line is result.suite else f" on {named(line.name)}"
        )
    if line.steps:
        step = max(line.steps, key=lambda one: max(one.speedup, 1 / one.speedup))
        found = difference_of(result, step)
        told = (
            f"from {named(step.variant)} on it {found.phrase()} {found.link} before{where} "
            f"({found.interval()})"
        )
        more = len(line.steps)
        return (
            told if more == 1 else f"{more} steps{where}, the largest: {told.replace(where, '', 1)}"
        )
    found = difference_of(result, line.best)
    if line.outcome == "equivalent":
        head = f"no step among {len(result.variants)} variants{where}"
        return f"{head}: before and behind each it {found.same()}, within {100 * result.margin:g} %"
    between = found.between()
    told = f"no step found among {len(result.variants)} variants{where}"
    if not between:
        return told
    return f"{told}: if one is at {named(line.best.variant)}, it lies {between}"
