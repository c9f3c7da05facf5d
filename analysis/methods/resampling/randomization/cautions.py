"""What a reader of the randomization test should know."""

from __future__ import annotations

from collections.abc import Iterator

from ....report import Caution, figures
from ..units import Units
from .null import Reassigned

__all__ = ["assignment_cautions"]

_LEVEL = 0.05  # the smallest possible p is compared with it


def assignment_cautions(
    units: Units, done: Reassigned, *, benchmarks: int, smallest: float, constant: bool
) -> Iterator[Caution]:
    """Say what the assignments can show, and which of them took part.

    `smallest` is the smallest p that they can give, `constant` that all give the same ratio.
    """
    yield from _power(units, done, smallest, constant=constant)
    alone = units.only_candidate + units.only_baseline
    if units.both and alone:
        how = (
            "reassigned among themselves"
            if units.only_candidate and units.only_baseline
            else "left as they are"
        )
        yield Caution(
            "units-of-one-side",
            f"{alone} of {len(units.sides)} {units.noun}s hold one variant only: they are {how}, "
            "and the others swap their labels within",
        )
    if done.partial:
        yield Caution(
            "assignments-left-out",
            f"some {units.noun}s lack benchmarks: assignments that would leave a benchmark without "
            "runs on one side take no part",
        )
    if units.unit == "run" and benchmarks > 1:
        yield Caution(
            "benchmarks-apart",
            "reassigning each benchmark on its own has rejected 45 % of comparisons without any "
            "difference (public Go data, level 5 %, 100 benchmarks from 36 processes); whole "
            "rounds 5 %",
        )


def _power(units: Units, done: Reassigned, smallest: float, *, constant: bool) -> Iterator[Caution]:
    count = len(done.logs)
    if constant and not done.exact and count == 1:
        yield Caution("one-assignment", "one assignment says nothing: take more resamples")
    elif constant:
        yield Caution(
            "ratio-constant",
            "every assignment gives the same ratio: these values cannot show a difference",
        )
    elif smallest > _LEVEL:
        remedy = (
            f"measure more {units.noun}s" if done.exact else f"take more than {count:,} resamples"
        )
        yield Caution(
            "too-few-assignments",
            f"with {count:,} assignment{'s' * (count > 1)} no p below "
            f"{figures.significant(smallest)} is possible, so a level of {_LEVEL:g} cannot be "
            f"reached: {remedy}",
        )
