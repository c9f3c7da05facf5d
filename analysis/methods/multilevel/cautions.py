"""What a reader of the sound verdict should know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...data import Match, Unit
from ...report import Caution, figures
from .design import Layout
from .lines import Judged
from .result import BenchmarkLine

__all__ = [
    "benchmark_cautions",
    "data_cautions",
    "design_cautions",
    "suite_cautions",
    "unequal_cautions",
]

_FEW = 5  # benchmarks below which a law of others like them is little known
_NUMBERS = 3  # pairs of unequal numbers of which each is told
_AT: dict[Unit, str] = {"session": "in", "host": "on"}


def data_cautions(pair: Match) -> Iterator[Caution]:
    """Hand on what is known of both sides' values."""
    for matrix in (pair.candidate, pair.baseline):
        yield from (caution.of(matrix.name) for caution in matrix.cautions)
    yield from pair.cautions


def design_cautions(layout: Layout) -> Iterator[Caution]:
    """Say how far the design carries."""
    a, b = layout.ours.sessions, layout.theirs.sessions
    noun = layout.outermost
    if layout.design == "confounded":
        yield Caution(
            "confounded",
            f"{noun} and variant cannot be told apart: the candidate has runs {_in(a.size, noun)}, "
            f"the baseline {_in(b.size, noun)}, {layout.common.size} in common. "
            f"Measure both variants {_AT[noun]} the same {noun}s",
        )
    elif layout.design.startswith("one session"):
        yield Caution(
            "one-session",
            "within one session: all runs share its memory layout, frequencies and neighbours, and "
            "another session may give another answer. Measure 5 or more sessions"
            if noun == "session"
            else "on one host: all runs share its processor, system and neighbours, and another host "
            "may give another answer. Measure on 5 or more hosts",
        )
    elif layout.design == "paired":
        left = np.setdiff1d(np.union1d(a, b), layout.common)
        if left.size:
            names = tuple(layout.labels[k] for k in left)
            yield Caution(
                "sessions-left-out",
                f"{_count(left.size, noun)} left out, because only one side has runs {_AT[noun]} "
                f"{'it' if left.size == 1 else 'them'}: {figures.listed(names)}",
                names,
            )


def benchmark_cautions(
    judged: Judged, lines: Sequence[BenchmarkLine], sessions: int, noun: Unit
) -> Iterator[Caution]:
    """Say what holds for single benchmarks."""
    flat = [line.name for line in lines if line.reason == "no-spread"]
    if flat:
        where = _in(sessions, noun) if judged.design in ("paired", "separate") else "at all"
        yield Caution(
            "no-spread",
            f"no spread {where}, and the clock's step is not known, so that equal readings prove "
            f"nothing: {figures.listed(flat)}. Make the runs longer, or take more of them",
            tuple(flat),
        )
    yield from _clock_cautions(judged, lines)
    lonely = [
        line.name
        for line in lines
        if line.low is None and line.reason is None and line.runs_candidate
    ]
    if lonely and not judged.law.always_valid:
        yield Caution(
            "too-few-sessions",
            "too few values for an interval, and for one of the suite: "
            f"{figures.listed(lonely)}. Measure more, or leave the benchmark out",
            tuple(lonely),
        )
    uneven = [
        line.name for line in lines if 2 <= line.sessions < sessions and judged.design == "paired"
    ]
    if uneven:
        yield Caution(
            "sessions-missing",
            f"judged by fewer than the {_count(sessions, noun)} of the others: {figures.listed(uneven)}",
            tuple(uneven),
        )
    for line in lines:
        if line.reason == "fails-more":
            runs = line.runs_candidate + line.failed_candidate
            yield Caution(
                "fails-more",
                f"{line.name}: the candidate fails in {line.failed_candidate} of {runs} runs, the "
                f"baseline in {line.failed_baseline} of {line.runs_baseline + line.failed_baseline}",
                (line.name,),
            )
    yield from _zero_cautions(judged, lines)


def _clock_cautions(judged: Judged, lines: Sequence[BenchmarkLine]) -> Iterator[Caution]:
    """Say where the clock's step widens an interval; what is counted has no clock."""
    for line, error in zip(lines, judged.each.error.tolist(), strict=False):  # failed ones follow
        if line.resolution is None or line.step_log is None or line.resolution_source == "exact":
            continue
        if line.low is not None and (line.step_added or error <= (line.error_floor or 0.0)):
            yield Caution(
                "coarse-clock",
                f"{line.name}: the clock's step ({figures.quantity(line.resolution, judged.unit)}) is "
                f"{figures.significant(100 * np.expm1(line.step_log), 2)} % of a run; the interval is "
                "widened by it. Make the runs longer",
                (line.name,),
            )


def _zero_cautions(judged: Judged, lines: Sequence[BenchmarkLine]) -> Iterator[Caution]:
    below = [line.name for line in lines if line.reason == "below-resolution"]
    if below:
        yield Caution(
            "below-resolution",
            "below the clock's resolution, all runs of a session are 0: "
            f"{figures.listed(below)}. Make the runs longer",
            tuple(below),
        )
    zeroed = np.flatnonzero(judged.zeroed & ~np.isnan(judged.each.estimate))
    if zeroed.size:
        names = [lines[k].name for k in zeroed.tolist()]
        yield Caution(
            "means-of-zeros",
            "some runs are 0, so arithmetic means of whole sessions are compared: "
            f"{figures.listed(names)}",
            tuple(names),
        )


def unequal_cautions(
    lines: Sequence[BenchmarkLine], sides: tuple[str, str], noun: str
) -> Iterator[Caution]:
    """Say where sides have unequal numbers of sessions, or runs, and what would make them equal."""
    known = [line for line in lines if line.law is not None]
    unequal: dict[tuple[int, int], list[str]] = {}
    for line in known:
        if line.law == "banerjee" and line.freedoms is not None:
            ours, theirs = (round(freedom) + 1 for freedom in line.freedoms)
            unequal.setdefault((ours, theirs), []).append(line.name)
    often = sorted(unequal.items(), key=lambda one: -len(one[1]))
    for (ours, theirs), names in often[:_NUMBERS]:
        all_of_them = len(names) == len(known)
        where = "" if all_of_them else f"{figures.listed(names)}: "
        lacking = sides[0] if ours < theirs else sides[1]
        yield Caution(
            "unequal-sessions",
            f"{where}{_count(ours, noun)} against {theirs}: the bound for unequal numbers is taken; "
            f"{abs(ours - theirs)} more of {lacking} would make them equal, and narrow it",
            () if all_of_them else tuple(names),
        )
    rest = tuple(name for _, names in often[_NUMBERS:] for name in names)
    if rest:
        yield Caution(
            "unequal-sessions",
            f"{figures.listed(rest)}: other unequal numbers of {noun}s, with the same bound",
            rest,
        )


def suite_cautions(benchmarks: int) -> Iterator[Caution]:
    """Say how far the suite's lines carry."""
    if 2 <= benchmarks < _FEW:
        yield Caution(
            "few-benchmarks",
            f"{benchmarks} benchmarks say little about others like them",
        )


def _in(count: int, noun: Unit) -> str:
    return f"{_AT[noun]} {_count(count, noun)}"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
