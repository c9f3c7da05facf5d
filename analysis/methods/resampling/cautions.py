"""What a reader of resampling should know: what is moved, and what an interval covers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ...pages import number_format as figures
from ...pages.model import Caution, cautions_of
from .assignments import SESSIONS, not_covered
from .draws import strata_sizes

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.pair import Match
    from .assignments import KnownCoverage, Units
    from .draws import DeviationPair
    from .result import BootstrapInterval, EmpiricalDistribution, Interval, RandomizationTest


def unit_cautions(pair: Match, units: Units) -> tuple[Caution, ...]:
    """Say what the choice of units takes for granted, and what the data cannot tell."""
    a, b = pair.candidate, pair.baseline
    why = "which runs of different benchmarks belong to one round is not known"
    if a.blocks is not None and b.blocks is not None:
        why = "rounds are known, but single runs were asked for"
    where = _one_side("blocks", a, b) if units.chosen else ""
    labels = ({label for row in m.sessions or () for label in row.tolist()} for m in (a, b))
    apart = not set.intersection(*labels)
    said = {
        "runs-as-units": units.unit == "run"
        and f"{why}{where}: the runs of one benchmark count as independent of those of the others. "
        "Benchmarks that share a process or a busy moment break that, and the answer is then "
        "too sure",
        "sessions-unknown": units.sessions is None
        and f"the sessions of the runs are not known{_one_side('sessions', a, b)}: the outcome "
        "holds within one session only",
        "one-session": units.sessions == 1
        and "all runs stem from one session and share its memory layout, frequencies and "
        "neighbours: the outcome holds within one session only; measure 3 or more",
        "sessions-apart": units.several_sessions
        and apart
        and "no session holds both variants: a difference between sessions looks like one between "
        f"the variants, and {units.noun}s cannot tell them apart. Take unit 'session', and "
        "measure both variants in every session",
        "sessions-pooled": units.several_sessions
        and not apart
        and f"{units.noun}s of one session are not independent replications, and all of the "
        f"{units.sessions} sessions count as if they were: the answer is too sure where sessions "
        "shift the variants differently. Unit 'session' asks that question",
    }
    return cautions_of(said)


def _one_side(kind: str, a: PerformanceMatrix, b: PerformanceMatrix) -> str:
    known = [matrix.name for matrix in (a, b) if getattr(matrix, kind) is not None]
    return f" (for {known[0]!r} alone they are)" if len(known) == 1 else ""


_LEVEL = 0.05  # the smallest possible p is compared with it


def assignment_cautions(
    result: RandomizationTest, units: Units, *, constant: bool, partial: bool
) -> tuple[Caution, ...]:
    """Say what the assignments can show, and which of them took part."""
    count, alone = result.resamples, units.only_candidate + units.only_baseline
    single = constant and not result.exact and count == 1
    remedy = (
        f"measure more {units.noun}s" if result.exact else f"take more than {count:,} resamples"
    )
    among = units.only_candidate and units.only_baseline
    said = {
        "one-assignment": single and "one assignment says nothing: take more resamples",
        "ratio-constant": constant
        and not single
        and "every assignment gives the same ratio: these values cannot show a difference",
        "too-few-assignments": not constant
        and result.smallest_pvalue > _LEVEL
        and f"with {count:,} assignment{'s' * (count > 1)} no p below "
        f"{figures.significant(result.smallest_pvalue)} is possible, so a level of "
        f"{_LEVEL:g} cannot be reached: {remedy}",
        "units-of-one-side": units.both
        and alone > 0
        and f"{alone} of {len(units.sides)} {units.noun}s hold one variant only: they are "
        f"{'reassigned among themselves' if among else 'left as they are'}, and the others swap "
        "their labels within",
        "assignments-left-out": partial
        and f"some {units.noun}s lack benchmarks: assignments that would leave a benchmark without "
        "runs on one side take no part",
        "benchmarks-apart": units.unit == "run"
        and len(result.benchmarks) > 1
        and "reassigning each benchmark on its own has rejected 45 % of comparisons without any "
        "difference (public Go data, level 5 %, 100 benchmarks from 36 processes); whole "
        "rounds 5 %",
    }
    return cautions_of(said)


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
) -> tuple[Caution, ...]:
    """Say what such intervals held, where the data give too little spread, what draws leave open."""
    units = comparison.units
    single = int(sum((size < 2).sum() for size in strata_sizes(comparison)))
    lone = f"one side has one {units.noun}: it adds no width, the interval is too narrow"
    if units.unit == "run":
        lone = (
            f"{single} of {2 * len(result.benchmarks)} samples hold one run: they add no width, "
            "as if they had no noise, so the interval is too narrow"
        )
    tail = (1 - result.confidence) / (2 if result.sides == "two" else 1)
    code = "known-coverage" if known and not units.several_sessions else "coverage-unknown"
    said = {
        code: _coverage(result, units, known),
        "stratum-of-one": single > 0 and lone,
        "interval-without-width": float(result.replicates.min()) == float(result.replicates.max())
        and "all replicates are equal: the values do not vary, the interval has no width",
        "widened-medians": result.interval == "corrected"
        and result.centre == "median"
        and "the widening belongs to means: percentile intervals of medians are wide without it",
        "few-resamples": (result.resamples + 1) * tail < _TAIL
        and f"{result.resamples:,} resamples leave fewer than {_TAIL} beyond an end: the ends are "
        f"rough; take {math.ceil(_TAIL / tail):,} or more",
        "resamples-redrawn": redrawn > 0
        and f"{redrawn:,} resamples were drawn again, because a benchmark had no run in them",
    }
    return cautions_of(said)


def _coverage(result: BootstrapInterval, units: Units, known: KnownCoverage | None) -> str:
    if units.several_sessions:
        unit = "; take unit 'session'" * ((units.sessions or 0) >= SESSIONS)
        return (
            f"coverage unknown across sessions: the {units.noun}s stem from "
            f"{units.sessions} sessions, and simulated were independent ones. Where sessions shift "
            f"the variants differently, it is lower than the nominal one{unit}"
        )
    if known is None:
        return (
            f"the real coverage of this interval at confidence {result.confidence:g}, with so many "
            f"{units.noun}s, is not in the table of simulated ones"
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
    return (
        f"known coverage: nominal {result.confidence:g} {kind} "
        f"{'intervals' if result.sides == 'two' else 'bounds'}"
        f"{' of medians' * (result.centre == 'median')} held the true "
        f"ratio in {shares} of {known.suites:,} simulated suites, each with {where}; the table's "
        "largest cell with no more than here"
    )


def scope_cautions(
    units: Units, interval: Interval, larger: Iterable[tuple[Units, float]]
) -> tuple[Caution, ...]:
    """Say what no interval of this kind covers; the table has figures for percentile intervals."""
    shifts = benchmarks = ""
    if interval == "percentile":
        shifts = (
            ": where every benchmark of either side kept one unrepeated shift as large as its "
            "run noise, nominal 0.95 percentile intervals of 12 benchmarks held the truth in "
            f"only {_shares('session')}"
        )
        benchmarks = (
            ". As one for programs like these, with true differences that spread by 5 %, a nominal "
            f"0.95 percentile interval held the truth in only {_shares('benchmarks')}"
        )
    said = {
        "sessions-not-covered": units.unit != "session"
        and f"shifts between sessions are not covered{shifts}",
        "benchmarks-not-covered": "the choice of benchmarks is not covered: the interval speaks of "
        f"these programs{benchmarks}",
    }
    vary = (
        Caution(
            "larger-units-vary-more",
            f"this interval draws {units.noun}s; drawn by whole {other.noun}s, the standard "
            f"error of the log ratio is {figures.significant(factor, 2)} times as large "
            f"(unit '{other.unit}')",
            (other.unit,),
        )
        for other, factor in larger
        if factor > 1
    )
    return (*cautions_of(said), *vary)


def _shares(kind: Literal["session", "benchmarks"]) -> str:
    rows = not_covered(kind)
    covered = " / ".join(f"{share:.2f}" for share, _ in rows)
    return f"{covered} with {' / '.join(str(runs) for _, runs in rows)} runs"


_FEW = 100  # passes, below which a density curve shows what is not there
_WIDER = 1.2  # how much more whole rounds must vary to be worth a caution
_OF_PASSES = {"passes-equal", "few-passes", "rounds-vary-more"}


def pass_cautions(
    runs: Sequence[int], combinations: int, rounds: float | None
) -> tuple[Caution, ...]:
    """Say what the passes of one system cannot show."""
    single = all(m == 1 for m in runs)
    why = "there is one run of each benchmark" if single else "the runs of each are all equal"
    said = {
        "passes-equal": combinations == 1
        and f"every pass gives the same mean, because {why}: nothing is known of spread",
        "few-passes": 1 < combinations < _FEW
        and f"there are only {combinations} different passes: read the steps of the summary, not "
        "the shape of the density curve",
        "rounds-vary-more": rounds is not None
        and rounds > _WIDER
        and f"whole rounds as they were measured vary {rounds:.1f} times as much as these passes, "
        "which draw every benchmark on its own: the benchmarks of a round move together",
    }
    return cautions_of(said)


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
        more = "more passes widen them, up to the pass of all extreme runs"
        drawn = f"minimum and maximum are those of {systems[0].resamples:,} drawn passes"
        yield Caution("extremes-grow", f"{drawn}: {more}")
