"""What a reader of resampling should know: what is moved, and what an interval covers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ...pages import number_format as figures
from ...pages.model import Caution
from .assignments import SESSIONS, not_covered
from .draws import strata_sizes

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.pair import Match
    from .assignments import KnownCoverage, Units
    from .draws import DeviationPair
    from .result import BootstrapInterval, EmpiricalDistribution, Interval, RandomizationTest


def unit_cautions(pair: Match, units: Units) -> Iterator[Caution]:
    """Say what the choice of units takes for granted, and what the data cannot tell."""
    a, b = pair.candidate, pair.baseline
    if units.unit == "run":
        why = (
            "rounds are known, but single runs were asked for"
            if a.blocks is not None and b.blocks is not None
            else "which runs of different benchmarks belong to one round is not known"
        )
        where = _one_side("blocks", a, b) if units.chosen else ""
        yield Caution(
            "runs-as-units",
            f"{why}{where}: the runs of one benchmark count as independent of those of the others. "
            "Benchmarks that share a process or a busy moment break that, and the answer is then "
            "too sure",
        )
    if units.sessions is None:
        yield Caution(
            "sessions-unknown",
            f"the sessions of the runs are not known{_one_side('sessions', a, b)}: the outcome "
            "holds within one session only",
        )
    elif units.sessions == 1:
        yield Caution(
            "one-session",
            "all runs stem from one session and share its memory layout, frequencies and "
            "neighbours: the outcome holds within one session only; measure 3 or more",
        )
    elif units.several_sessions:
        yield _several_sessions(a, b, units)


def _several_sessions(a: PerformanceMatrix, b: PerformanceMatrix, units: Units) -> Caution:
    ours, theirs = (
        {label for row in matrix.sessions or () for label in row.tolist()} for matrix in (a, b)
    )
    if not ours & theirs:
        return Caution(
            "sessions-apart",
            "no session holds both variants: a difference between sessions looks like one between "
            f"the variants, and {units.noun}s cannot tell them apart. Take unit 'session', and "
            "measure both variants in every session",
        )
    return Caution(
        "sessions-pooled",
        f"{units.noun}s of one session are not independent replications, and all of the "
        f"{units.sessions} sessions count as if they were: the answer is too sure where sessions "
        "shift the variants differently. Unit 'session' asks that question",
    )


def _one_side(kind: str, a: PerformanceMatrix, b: PerformanceMatrix) -> str:
    known = [matrix.name for matrix in (a, b) if getattr(matrix, kind) is not None]
    return f" (for {known[0]!r} alone they are)" if len(known) == 1 else ""


_LEVEL = 0.05  # the smallest possible p is compared with it


def assignment_cautions(
    result: RandomizationTest, units: Units, *, constant: bool, partial: bool
) -> Iterator[Caution]:
    """Say what the assignments can show, and which of them took part."""
    count = result.resamples
    if constant and not result.exact and count == 1:
        yield Caution("one-assignment", "one assignment says nothing: take more resamples")
    elif constant:
        yield Caution(
            "ratio-constant",
            "every assignment gives the same ratio: these values cannot show a difference",
        )
    elif result.smallest_pvalue > _LEVEL:
        remedy = (
            f"measure more {units.noun}s" if result.exact else f"take more than {count:,} resamples"
        )
        yield Caution(
            "too-few-assignments",
            f"with {count:,} assignment{'s' * (count > 1)} no p below "
            f"{figures.significant(result.smallest_pvalue)} is possible, so a level of "
            f"{_LEVEL:g} cannot be reached: {remedy}",
        )
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
    if partial:
        yield Caution(
            "assignments-left-out",
            f"some {units.noun}s lack benchmarks: assignments that would leave a benchmark without "
            "runs on one side take no part",
        )
    if units.unit == "run" and len(result.benchmarks) > 1:
        yield Caution(
            "benchmarks-apart",
            "reassigning each benchmark on its own has rejected 45 % of comparisons without any "
            "difference (public Go data, level 5 %, 100 benchmarks from 36 processes); whole "
            "rounds 5 %",
        )


_TAIL = 10  # replicates in a tail, below which its end is rough
_NOISE = {
    "het": "noise of 0.3 to 10 % by benchmark",
    "homo": "noise of 3 % on every benchmark",
}


def interval_cautions(
    result: BootstrapInterval,
    comparison: DeviationPair,
    known: KnownCoverage | None,
    *,
    redrawn: int,
) -> Iterator[Caution]:
    """Say what such intervals held, where the data give too little spread, what draws leave open."""
    yield _coverage_caution(result, comparison.units, known)
    units = comparison.units
    single = int(sum((size < 2).sum() for size in strata_sizes(comparison)))
    if single and units.unit == "run":
        yield Caution(
            "stratum-of-one",
            f"{single} of {2 * len(result.benchmarks)} samples hold one run: they add no width, "
            "as if they had no noise, so the interval is too narrow",
        )
    elif single:
        yield Caution(
            "stratum-of-one",
            f"one side has one {units.noun}: it adds no width, the interval is too narrow",
        )
    if float(result.replicates.min()) == float(result.replicates.max()):
        yield Caution(
            "interval-without-width",
            "all replicates are equal: the values do not vary, the interval has no width",
        )
    if result.interval == "corrected" and result.centre == "median":
        yield Caution(
            "widened-medians",
            "the widening belongs to means: percentile intervals of medians are wide without it",
        )
    tail = (1 - result.confidence) / (2 if result.sides == "two" else 1)
    if (result.resamples + 1) * tail < _TAIL:
        yield Caution(
            "few-resamples",
            f"{result.resamples:,} resamples leave fewer than {_TAIL} beyond an end: the ends are "
            f"rough; take {math.ceil(_TAIL / tail):,} or more",
        )
    if redrawn:
        yield Caution(
            "resamples-redrawn",
            f"{redrawn:,} resamples were drawn again, because a benchmark had no run in them",
        )


def _coverage_caution(
    result: BootstrapInterval, units: Units, known: KnownCoverage | None
) -> Caution:
    if units.several_sessions:
        unit = "; take unit 'session'" * ((units.sessions or 0) >= SESSIONS)
        return Caution(
            "coverage-unknown",
            f"coverage unknown across sessions: the {units.noun}s stem from "
            f"{units.sessions} sessions, and simulated were independent ones. Where sessions shift "
            f"the variants differently, it is lower than the nominal one{unit}",
        )
    if known is None:
        return Caution(
            "coverage-unknown",
            f"the real coverage of this interval at confidence {result.confidence:g}, with so many "
            f"{units.noun}s, is not in the table of simulated ones",
        )
    n, m = known.benchmarks, known.runs
    where = {
        "runs": f"{n} benchmark{'s' * (n > 1)} x {m} runs on each side",
        "units": f"{m} independent units on each side, resampled as wholes",
        "pairs": f"{m} independent units that hold both variants, resampled as wholes",
    }[known.design]
    shares = ", ".join(
        f"{share:.3f}" + (f" ({_NOISE[noise]})" if len(known.others) > 1 else "")
        for noise, share in known.others
    )
    kind = "BCa" if result.interval == "bca" else result.interval
    return Caution(
        "known-coverage",
        f"known coverage: nominal {result.confidence:g} {kind} "
        f"{'intervals' if result.sides == 'two' else 'bounds'}"
        f"{' of medians' * (result.centre == 'median')} held the true "
        f"ratio in {shares} of {known.suites:,} simulated suites, each with {where}; the table's "
        "largest cell with no more than here",
    )


def scope_cautions(
    units: Units, interval: Interval, larger: Iterable[tuple[Units, float]]
) -> Iterator[Caution]:
    """Say what no interval of this kind covers; the table has figures for percentile intervals."""
    figured = interval == "percentile"
    if units.unit != "session":
        yield Caution(
            "sessions-not-covered",
            "shifts between sessions are not covered"
            + (
                ": where every benchmark of either side kept one unrepeated shift as large as its "
                "run noise, nominal 0.95 percentile intervals of 12 benchmarks held the truth in "
                f"only {_shares('session')}"
            )
            * figured,
        )
    yield Caution(
        "benchmarks-not-covered",
        "the choice of benchmarks is not covered: the interval speaks of these programs"
        + (
            ". As one for programs like these, with true differences that spread by 5 %, a nominal "
            f"0.95 percentile interval held the truth in only {_shares('benchmarks')}"
        )
        * figured,
    )
    for other, factor in larger:
        if factor > 1:
            yield Caution(
                "larger-units-vary-more",
                f"this interval draws {units.noun}s; drawn by whole {other.noun}s, the standard "
                f"error of the log ratio is {figures.significant(factor, 2)} times as large "
                f"(unit '{other.unit}')",
                (other.unit,),
            )


def _shares(kind: Literal["session", "benchmarks"]) -> str:
    rows = not_covered(kind)
    covered = " / ".join(f"{share:.2f}" for share, _ in rows)
    return f"{covered} with {' / '.join(str(runs) for _, runs in rows)} runs"


_FEW = 100  # passes, below which a density curve shows what is not there
_WIDER = 1.2  # how much more whole rounds must vary to be worth a caution
_OF_PASSES = {"passes-equal", "few-passes", "rounds-vary-more"}


def pass_cautions(
    runs: Sequence[int], combinations: int, rounds: float | None
) -> Iterator[Caution]:
    """Say what the passes of one system cannot show."""
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
    """Say what holds for systems side by side, with their names."""
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
