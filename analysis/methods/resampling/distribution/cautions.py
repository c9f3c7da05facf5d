"""What a reader of empirical distributions should know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ....report import Caution
from .result import EmpiricalDistribution

__all__ = ["pass_cautions", "system_cautions"]

_FEW = 100  # passes, below which a density curve shows what is not there
_WIDER = 1.2  # how much more whole rounds must vary to be worth a caution
_OF_PASSES = {"passes-equal", "few-passes", "rounds-vary-more"}


def pass_cautions(
    runs: Sequence[int], combinations: int, rounds: float | None
) -> Iterator[Caution]:
    """Say what the passes of one system cannot show.

    `combinations` counts the different passes; `rounds` is the spread of whole rounds over that of
    the passes, None where it is not known.
    """
    if combinations == 1:
        single = all(m == 1 for m in runs)
        why = "there is one run of each benchmark" if single else "the runs of each are all equal"
        yield Caution(
            "passes-equal",
            f"every pass gives the same mean, because {why}: nothing is known of spread",
        )
    elif combinations < _FEW:
        yield Caution(
            "few-passes",
            f"there are only {combinations} different passes: read the steps of the summary, not "
            "the shape of the density curve",
        )
    if rounds is not None and rounds > _WIDER:
        yield Caution(
            "rounds-vary-more",
            f"whole rounds as they were measured vary {rounds:.1f} times as much as these passes, "
            "which draw every benchmark on its own: the benchmarks of a round move together",
        )


def system_cautions(
    systems: Sequence[EmpiricalDistribution], left_out: Iterable[Caution]
) -> Iterator[Caution]:
    """Say what holds for systems side by side, with their names.

    Two systems may bear one name, such as a variant of two trials. What is said of their passes is
    then told apart by their places.
    """
    yield from left_out
    names = [system.name for system in systems]
    for k, system in enumerate(systems):
        for caution in system.cautions:
            said = caution.of(system.name)
            if caution.code in _OF_PASSES and system.name in names[:k]:
                said = replace(said, about=(*said.about, f"system {k + 1}"))
            yield said
    if any(system.maximum > system.minimum for system in systems):
        yield Caution(
            "extremes-grow",
            f"minimum and maximum are those of {systems[0].resamples:,} drawn passes: more "
            "passes widen them, up to the pass of all extreme runs",
        )
