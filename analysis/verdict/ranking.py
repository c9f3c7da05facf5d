"""Ranking the variants of a trial: all pairs, or by the best run.

I3 of [1]_ is the chance that a run of one variant beats one run of each other. The best of R runs of
a variant is one particular of them with R equal chances, so that chance is R times the I3 of one
run against the R - 1 others of its own variant and R of each other one.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
   statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 6.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..data.trial import Trial
from ..data.trial_cautions import always_said
from ..errors import FairtrialError, InsufficientDataError, UsageError
from ..methods.mixture.fit import fit_mixture
from ..methods.mixture.model import Mixture
from ..methods.mixture.single_run import probability_fastest
from ..methods.multilevel.compare import multilevel
from ..methods.multilevel.failures import failing_of
from ..methods.multilevel.page import level_text, looks_text
from ..pages import number_format as figures
from ..pages.model import (
    Caution,
    Column,
    Next,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    columns_of,
    merged,
    page_of,
)
from ..pages.number_format import Word, outcome_word
from ..pages.result import Result
from ..record.manifest import asked_words
from ..stats.arguments import checks_arguments, counted
from ..stats.multiplicity import adjusted
from ..stats.ranks import Friedman, friedman, nemenyi_difference
from ..words import apart, shortened
from .cautions import question_cautions
from .sides import VariantSide, comparable, looks_at, sides_of

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..methods.multilevel.law import LooksRule
    from ..methods.multilevel.result import Line, Multilevel


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLine:
    """One variant against another over the suite, as `multilevel` says it."""

    derived: ClassVar[tuple[str, ...]] = ("pvalue_of",)
    pvalue_of: ClassVar[str] = "two-sided"

    candidate: str
    baseline: str
    design: str
    speedup: float | None
    low: float | None
    high: float | None
    pvalue: float | None
    pvalue_adjusted: float | None
    outcome: Word
    outcome_uncorrected: Word
    faster: int
    slower: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRange:
    """A variant's rank: at best and at worst, as far as the pairs tell; 1 is the best."""

    variant: str
    best: int
    worst: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Result):
    """Every pair of variants, and the ranks that follow."""

    method: ClassVar[str] = "ranking"
    unlisted: ClassVar[frozenset[str]] = frozenset({"ranked", "timed"})

    trial: str
    path: str
    metric: str
    better: str
    confidence: float
    looks: int
    look_alpha: float
    looks_rule: LooksRule
    risk_total: float
    margin: float
    sessions: int
    variants: tuple[str, ...]
    pairs: tuple[PairLine, ...]
    places: tuple[RankRange, ...]
    friedman: Friedman | None
    nemenyi: float | None
    ranked: bool
    timed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """On one benchmark, each variant's chance to have the best run."""

    benchmark: str
    chances: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOf(Result):
    """The chance of each variant to have the best of so many runs each (I3)."""

    method: ClassVar[str] = "best-of"

    trial: str
    path: str
    metric: str
    better: str
    runs: int
    variants: tuple[str, ...]
    benchmarks: tuple[Chances, ...]
    mean: Mapping[str, float]


# measured on interleaved runs of one program under several names (docs/methods/verdict.md)
RANKS_ALARM = (
    "Friedman and Nemenyi count benchmarks as independent, but these share the machine's "
    "sessions: one program under three names was told apart in 31 to 41 % of trials"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RankedPair:
    result: Multilevel
    line: Line
    log: float


@checks_arguments
def rank_variants(
    trial: Trial,
    *,
    metric: str | None = None,
    confidence: float = 0.95,
    variants: Sequence[str] | None = None,
    benchmarks: Sequence[str] | None = None,
    margin: float = 0.01,
    weights: Mapping[str, float] | None = None,
    looks: int | None = None,
    ranked: bool = True,
) -> Ranking:
    """Compare every variant of a trial with every other one."""
    manifest = trial.manifest
    unasked = trial.unasked if metric is None else ()
    metric = trial.default_metric if metric is None else metric
    look = looks_at([manifest], looks, always_valid=False)
    known = [
        v for v in manifest.variants if variants is None or v in {*variants, manifest.baseline}
    ]
    sides = sides_of(trial, metric, known, benchmarks)
    pairs: list[_RankedPair] = []
    failing: list[Caution] = []
    for a, b in combinations(sides.values(), 2):
        both = comparable(a, b)
        if both is None:
            continue
        failing += _failing(both, look.alpha(confidence) / 2)
        result = multilevel(
            *both,
            confidence=confidence,
            margin=margin,
            correction="none",
            weights=weights,
            looks=look,
        )
        line = result.these if result.these is not None else result.benchmarks[0]
        if line.speedup is not None:
            pairs.append(_RankedPair(result=result, line=line, log=float(np.log(line.speedup))))
    if not pairs:
        raise UsageError(
            "there are no two variants to compare", str(trial.path), "measure a second variant"
        )
    told = tuple(_lines(pairs, look.alpha(confidence)))
    names = list(dict.fromkeys(n for p in pairs for n in (p.result.candidate, p.result.baseline)))
    published = _friedman(names, sides) if ranked else None
    info = trial.metric(metric)
    return Ranking(
        trial=manifest.trial,
        path=str(trial.path),
        metric=metric,
        better=info.better,
        confidence=confidence,
        **look.fields(confidence),
        margin=margin,
        sessions=trial.sessions,
        variants=tuple(names),
        pairs=told,
        places=_places(names, pairs, told),
        friedman=published,
        nemenyi=None
        if published is None
        else nemenyi_difference(len(names), published.benchmarks, alpha=1 - confidence),
        ranked=ranked,
        timed=figures.timed(info.unit),
        cautions=merged(
            question_cautions(unasked),
            always_said(trial, (one for side in sides.values() for one in side.cautions)),
            failing,
            () if published is None else (Caution("ranks-over-benchmarks", RANKS_ALARM),),
        ),
    )


def _failing(both: tuple[PerformanceMatrix, PerformanceMatrix], risk: float) -> Iterator[Caution]:
    """Say which variant of a pair is proven to fail more: a rank says nothing of that."""
    for ours, theirs in (both, both[::-1]):
        found = failing_of(ours, theirs, risk=risk, always_valid=False)
        for bench, one in found.items():
            if one.fails_proven and one.reason is not None:
                lost = [side.failed.get(bench, 0) for side in (ours, theirs)]
                yield Caution(
                    one.reason,
                    f"{bench}: {ours.name} fails in {lost[0]} runs, {theirs.name} in {lost[1]}: ranks "
                    "say nothing of runs that fail",
                    (ours.name, theirs.name, bench),
                )


_TURNED: dict[Word, Word] = {"faster": "slower", "slower": "faster"}


def _lines(pairs: Sequence[_RankedPair], risk: float) -> list[PairLine]:
    """Turn each pair so that the better variant stands first, and correct for their number."""
    differ = adjusted([_counted(pair, pair.line.pvalue) for pair in pairs], "holm")
    alike = adjusted([_counted(pair, pair.line.pvalue_equivalent) for pair in pairs], "holm")
    told = []
    for pair, p, q in zip(pairs, differ.tolist(), alike.tolist(), strict=True):
        line, result = pair.line, pair.result
        turned = pair.log < 0
        word: Word = _TURNED.get(line.outcome, line.outcome) if turned else line.outcome
        settled = q <= risk / 2 if word == "equivalent" else p <= risk
        settled |= word == "equivalent" and line.law == "identity"  # which needs no p
        words = [one.outcome for one in result.benchmarks]
        counts = words.count("faster"), words.count("slower")
        ends = (line.low, line.high)
        low, high = (_inverse(ends[1]), _inverse(ends[0])) if turned else ends
        told.append(
            PairLine(
                candidate=result.baseline if turned else result.candidate,
                baseline=result.candidate if turned else result.baseline,
                design=result.design,
                speedup=_inverse(line.speedup) if turned else line.speedup,
                low=low,
                high=high,
                pvalue=line.pvalue,
                pvalue_adjusted=None if line.pvalue is None else p,
                outcome=word if settled else "undecided",
                outcome_uncorrected=word,
                faster=counts[1] if turned else counts[0],
                slower=counts[0] if turned else counts[1],
            )
        )
    return told


def _counted(pair: _RankedPair, pvalue: float | None) -> float:
    """Give a p-value for the correction: without spread it counts as 1."""
    if pvalue is not None:
        return pvalue
    return 1.0 if any(line.reason == "no-spread" for line in pair.result.benchmarks) else math.nan


def _inverse(value: float | None) -> float | None:
    return None if value is None else 1 / value


def _places(
    names: Sequence[str], pairs: Sequence[_RankedPair], told: Sequence[PairLine]
) -> tuple[RankRange, ...]:
    """Rank by the mean log against all others; a place may move as far as pairs are not told."""
    logs = dict.fromkeys(names, 0.0)
    for pair in pairs:
        logs[pair.result.candidate] += pair.log
        logs[pair.result.baseline] -= pair.log
    beaten = {name: [0, 0] for name in names}  # by how many it is beaten, how many it beats
    for line in told:
        if line.outcome == "faster":
            beaten[line.candidate][1] += 1
            beaten[line.baseline][0] += 1
    order = sorted(names, key=lambda name: -logs[name])
    return tuple(
        RankRange(variant=name, best=1 + beaten[name][0], worst=len(names) - beaten[name][1])
        for name in order
    )


def _friedman(names: Sequence[str], sides: Mapping[str, VariantSide]) -> Friedman | None:
    matrices: list[PerformanceMatrix] = [m for n in names if (m := sides[n].matrix) is not None]
    common = [b for b in matrices[0].benchmarks if all(b in m.benchmarks for m in matrices)]
    if len(common) < 2 or len(matrices) < 2:
        return None
    sign = 1 if matrices[0].better == "lower" else -1
    return friedman(
        [[sign * float(np.log(m.values(bench)).mean()) for m in matrices] for bench in common]
    )


_MOST = 100  # runs each
_COMPONENTS = 5


@checks_arguments
def best_of(
    trial: Trial,
    runs: int,
    *,
    metric: str | None = None,
    variants: Sequence[str] | None = None,
    benchmarks: Sequence[str] | None = None,
) -> BestOf:
    """Give each variant's chance to have the best of `runs` runs each."""
    times = counted("runs", runs, most=_MOST)
    manifest = trial.manifest
    chosen = [
        v for v in manifest.variants if variants is None or v in {*variants, manifest.baseline}
    ]
    unasked = trial.unasked if metric is None else ()
    metric = trial.default_metric if metric is None else metric
    info = trial.metric(metric)
    every = sides_of(trial, metric, chosen, benchmarks)
    known = [one for side in every.values() for one in side.cautions]
    sides = {name: side.matrix for name, side in every.items() if side.matrix is not None}
    rows: list[Chances] = []
    left_out: list[str] = []
    for bench in manifest.benchmarks if benchmarks is None else benchmarks:
        mixtures = {
            name: mixture
            for name, matrix in sides.items()
            if bench in matrix.benchmarks
            and (mixture := _fitted(matrix.values(bench), info.better)) is not None
        }
        if len(mixtures) < len(sides) or len(mixtures) < 2:
            left_out.append(bench)
            continue
        rows.append(Chances(benchmark=bench, chances=_chances(mixtures, times)))
    if not rows:
        raise InsufficientDataError(
            "no benchmark has mixtures of two variants",
            str(trial.path),
            "measure more runs, or a second variant",
            n=0,
            needed=1,
        )
    names = tuple(sides)
    return BestOf(
        trial=manifest.trial,
        path=str(trial.path),
        metric=metric,
        better=info.better,
        runs=times,
        variants=names,
        benchmarks=tuple(rows),
        mean={name: sum(row.chances[name] for row in rows) / len(rows) for name in names},
        cautions=merged(
            question_cautions(unasked), always_said(trial, known), _cautions(trial, left_out)
        ),
    )


def _fitted(values: object, better: str) -> Mixture | None:
    try:
        found = fit_mixture(values, max_components=_COMPONENTS)  # type: ignore[arg-type]  # an array
    except FairtrialError:
        return None
    if better == "lower":
        return found
    return Mixture.from_parameters(
        weights=found.weights, means=-found.means, sds=found.sds, scale=found.scale
    )


def _chances(mixtures: Mapping[str, Mixture], runs: int) -> dict[str, float]:
    told = {}
    for name, mine in mixtures.items():
        others = [one for key, one in mixtures.items() if key != name]
        against = [mine] * (runs - 1) + others * runs
        told[name] = min(1.0, runs * probability_fastest(mine, *against))
    return told


def _cautions(trial: Trial, left_out: Sequence[str]) -> list[Caution]:
    found = [
        Caution(
            "drawn-independently",
            f"runs are drawn from what all {trial.sessions} sessions gave together: what a new "
            "session changes is not in these chances",
        )
    ]
    if left_out:
        text = f"no mixture fits every variant: {figures.listed(tuple(left_out))} left out"
        found.append(Caution("not-compared", text, tuple(left_out)))
    return found


# --- Pairs, ranks and chances in words.


_NAME = 24


@page_of.register(Ranking)
def _ranking_page(result: Ranking) -> Page:
    blocks: list[Table | Sentence] = []
    if result.ranked:
        blocks.append(_places_table(result))
        if result.friedman is not None and result.nemenyi is not None:
            blocks.append(Sentence(_published(result.variants, result.friedman, result.nemenyi)))
    heading = Sentence(
        f"{len(result.variants)} variants, {len(result.pairs)} pairs · {_metric(result.metric)} · "
        f"{result.sessions} session{'s' * (result.sessions != 1)} · margin "
        f"{100 * result.margin:g} % · words after Holm over the pairs"
    )
    told = looks_text(result)
    pairs = Section((_pairs(result), *([Sentence(told)] if told else [])))
    sections = (Section((heading, Section(tuple(blocks)))), pairs) if blocks else None
    return Page(
        title=f"Pairs of {result.trial}",
        sections=sections or (Section((heading, pairs)),),
        cautions=result.cautions,
        following=(
            Section(
                (
                    Next(
                        ("fairtrial", "verdict", result.path, *asked_words()),
                        "against the baseline, benchmark by benchmark",
                    ),
                )
            ),
        ),
    )


def _metric(metric: str) -> str:
    return "wall time" if metric == "wall" else metric


def _places_table(result: Ranking) -> Table:
    called = shortened(result.variants, _NAME)
    return Table(
        name="places",
        columns=columns_of("rank", "<"),
        rows=tuple(
            (
                f"{one.best}" if one.best == one.worst else f"{one.best} to {one.worst}",
                called[one.variant],
            )
            for one in result.places
        ),
    )


def _published(variants: tuple[str, ...], found: Friedman, difference: float) -> str:
    ranks = ", ".join(
        f"{name} {rank:.2f}" for name, rank in zip(apart(variants, _NAME), found.ranks, strict=True)
    )
    p = found.pvalue if found.pvalue_tied is None else found.pvalue_tied
    return (
        f"Friedman over {found.benchmarks} benchmarks: mean ranks {ranks}; p {figures.pvalue(p)}; "
        f"Nemenyi's critical difference {difference:.2f}"
    )


def _pairs(result: Ranking) -> Table:
    level, called = level_text(result.look_alpha), shortened(result.variants, _NAME)
    return Table(
        name="pairs",
        columns=columns_of("<", "<against", "speedup", f"<{level}", "<", "<benchmarks"),
        rows=tuple(
            (
                called[one.candidate],
                called[one.baseline],
                _speedup(one),
                ("-" if one.low is None or one.high is None else figures.ends(one.low, one.high)),
                outcome_word(one.outcome, timed=result.timed),
                _counts(one, timed=result.timed),
            )
            for one in result.pairs
        ),
    )


def _speedup(one: PairLine) -> Value:
    if one.speedup is None:
        return Value("-", None)
    return Value(figures.ratio_within(one.speedup, one.low, one.high), one.speedup)


def _counts(one: PairLine, *, timed: bool) -> str:
    counts: tuple[tuple[int, Word], ...] = ((one.faster, "faster"), (one.slower, "slower"))
    told = [f"{count} {outcome_word(word, timed=timed)}" for count, word in counts if count]
    return ", ".join(told)


@page_of.register(BestOf)
def _best_of_page(result: BestOf) -> Page:
    many = "one run" if result.runs == 1 else f"the best of {result.runs} runs"
    rows = [("mean of all", result.mean)] if len(result.benchmarks) > 1 else []
    called = shortened([one.benchmark for one in result.benchmarks], _NAME)
    table = Table(
        name="chances",
        columns=(
            Column("", "left"),
            *map(Column, apart(result.variants, _NAME)),
        ),
        rows=tuple(
            (
                called.get(name, name),
                *(Value(f"{chances[v]:.3f}", chances[v]) for v in result.variants),
            )
            for name, chances in (
                *((one.benchmark, one.chances) for one in result.benchmarks),
                *rows,
            )
        ),
    )
    heading = Sentence(f"the chance to win with {many} each · {_metric(result.metric)}")
    return Page(
        title=f"Best runs of {result.trial}",
        sections=(Section((heading, Section((table,)))),),
        cautions=result.cautions,
    )
