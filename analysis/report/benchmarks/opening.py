"""Which parts stand open, and which benchmarks the page has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["listed_benchmarks", "opened"]

_MOST = 3


def listed_benchmarks(subject: Subject) -> tuple[str, ...]:
    """Name the benchmarks of the page in its order; those that nobody asked for are left out."""
    asked = subject.asked.get("benchmarks")
    names = dict.fromkeys(subject.order)
    for matrix in subject.matrices.values():
        if matrix.with_zeros is not None:
            names |= dict.fromkeys(matrix.with_zeros.benchmarks)
    return tuple(name for name in names if asked is None or name in asked)


def opened(subject: Subject, benchmarks: tuple[str, ...]) -> frozenset[str]:
    """Name the parts that stand open: those that cautions name, the gravest first, at most three.

    All of few benchmarks; where no caution names any, the first, so that a reader sees what a part
    holds.
    """
    if len(benchmarks) <= _MOST:
        return frozenset(benchmarks)
    there = set(benchmarks)
    named = dict.fromkeys(
        name for caution in subject.verdict.cautions for name in caution.about if name in there
    )
    return frozenset([*named][:_MOST] or benchmarks[:1])
