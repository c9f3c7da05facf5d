"""What a reader should know of runs that failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ....report import Caution, figures
from .shares import fisher
from .wording import failed_text

if TYPE_CHECKING:
    from ..result import BenchmarkLine

__all__ = ["failing_cautions"]


def failing_cautions(lines: Sequence[BenchmarkLine]) -> Iterator[Caution]:
    """Say where failures decide, and what verdict and gate make of them; where they cannot, and why."""
    for line in lines:
        told = _told(line)
        if told is not None:
            yield Caution(told[0], told[1], (line.name,))
    some = [line for line in lines if line.failed_candidate or line.failed_baseline]
    untold = [line.name for line in some if line.fails is None]
    if untold:
        yield Caution(
            "failures-without-sessions",
            f"{figures.listed(untold)}: it is not known in which sessions runs failed, so nothing tells "
            "whether the candidate fails more",
            tuple(untold),
        )


def _told(line: BenchmarkLine) -> tuple[str, str] | None:
    """Give the code and the sentence of what is said of a line's failures."""
    counts = failed_text(line)
    if line.reason == "fails-always":
        runs = line.failed_candidate
        none = f"not one of {runs} runs of the candidate succeeded"
        if line.runs_candidate:
            none = "on a host no run of the candidate succeeded"
        ends = (
            "a gate stops (exit 1)"
            if line.fails_proven
            else "no gate passes; to stop one it takes 3 sessions in which no run of the baseline fails"
        )
        return (
            "fails-always",
            f"{line.name}: {none} ({counts}): there is no speed to judge, and {ends}",
        )
    if line.reason == "fails-more":
        return (
            "fails-more",
            f"{line.name}: the candidate {counts}: it fails more often, so what is left is no fair "
            "sample: the speed stays undecided, and a gate stops (exit 1)",
        )
    alone = line.fails is not None and min(len(line.fails.candidate), len(line.fails.baseline)) < 2
    runs_a, runs_b = (
        line.runs_candidate + line.failed_candidate,
        line.runs_baseline + line.failed_baseline,
    )
    if alone and line.failed_candidate * runs_b > line.failed_baseline * runs_a:
        p = fisher(line.failed_candidate, runs_a, line.failed_baseline, runs_b)
        return (
            "fails-in-one-session",
            f"{line.name}: {failed_text(line, short=True)}, a side in one session only (Fisher's p "
            f"{figures.pvalue(p)} of single runs): runs of one session are no repetition, so nothing "
            "tells whether the candidate fails more. Measure 6 sessions or more",
        )
    return None
