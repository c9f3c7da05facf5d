"""Ranking the variants of a trial: all pairs by their sessions, and the places that these leave."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..data.trial import Trial
from ..data.trial_cautions import constant_cautions
from ..errors import UsageError
from ..methods.multilevel.compare import multilevel
from ..methods.multilevel.failures import failing_of
from ..methods.multilevel.page import level_text, looks_text
from ..pages import number_format as figures
from ..pages.model import (
    Caution,
    Next,
    Page,
    Table,
    Value,
    merged,
    page_of,
    section,
    table_of,
    value_of,
)
from ..pages.number_format import Word, outcome_word
from ..pages.result import Result
from ..record.manifest import judge_words
from ..stats.arguments import checks_arguments
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
    unlisted: ClassVar[frozenset[str]] = frozenset({"ranked", "timed", "usual"})

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
    usual: bool


# measured on interleaved runs of one program under several names (docs/methods/verdict.md)
RANKS_ALARM = (
    "Friedman and Nemenyi count benchmarks as independent, but these share the machine's "
    "sessions: one program under three names was found different in 31 to 41 % of trials"
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
    usual = metric is None
    unnamed = trial.unnamed if usual else ()
    metric = metric or trial.default_metric
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
        what = "there are no two variants to compare"
        raise UsageError(what, str(trial.path), "measure a second variant")
    found = tuple(_lines(pairs, look.alpha(confidence)))
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
        pairs=found,
        places=_places(names, pairs, found),
        friedman=published,
        nemenyi=None
        if published is None
        else nemenyi_difference(len(names), published.benchmarks, alpha=1 - confidence),
        ranked=ranked,
        timed=figures.timed(info.unit),
        usual=usual,
        cautions=merged(
            question_cautions(unnamed),
            constant_cautions(trial, (one for side in sides.values() for one in side.cautions)),
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
    texts = []
    for pair, p, q in zip(pairs, differ.tolist(), alike.tolist(), strict=True):
        line, result = pair.line, pair.result
        turned = pair.log < 0
        word: Word = _TURNED.get(line.outcome, line.outcome) if turned else line.outcome
        settled = q <= risk / 2 if word == "equivalent" else p <= risk
        settled |= word == "equivalent" and line.law == "identity"  # which needs no p
        outcomes = [one.outcome for one in result.benchmarks]
        counts = outcomes.count("faster"), outcomes.count("slower")
        ends = (line.low, line.high)
        low, high = (_inverse(ends[1]), _inverse(ends[0])) if turned else ends
        texts.append(
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
    return texts


def _counted(pair: _RankedPair, pvalue: float | None) -> float:
    """Give a p-value for the correction: without spread it counts as 1."""
    if pvalue is not None:
        return pvalue
    return 1.0 if any(line.reason == "no-spread" for line in pair.result.benchmarks) else math.nan


def _inverse(value: float | None) -> float | None:
    return None if value is None else 1 / value


def _places(
    names: Sequence[str], pairs: Sequence[_RankedPair], texts: Sequence[PairLine]
) -> tuple[RankRange, ...]:
    """Rank by the mean log against all others; a place may move as far as pairs are not told."""
    logs = dict.fromkeys(names, 0.0)
    for pair in pairs:
        logs[pair.result.candidate] += pair.log
        logs[pair.result.baseline] -= pair.log
    beaten = {name: [0, 0] for name in names}  # by how many it is beaten, how many it beats
    for line in texts:
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


# --- Pairs and ranks in words.


_NAME = 24


@page_of.register(Ranking)
def _ranking_page(result: Ranking) -> Page:
    metric = "wall time" if result.metric == "wall" else result.metric
    heading = (
        f"{len(result.variants)} variants, {figures.counted(len(result.pairs), 'pair')} · {metric} · "
        f"{figures.counted(result.sessions, 'session')} · margin {100 * result.margin:g} % · words "
        "after Holm over the pairs"
    )
    called = shortened(result.variants, _NAME)
    ranks: list[Table | str] = []
    if result.ranked:
        ranks.append(
            table_of(
                "places",
                result.places,
                ("rank", lambda one: figures.span((one.best, one.worst))),
                ("<", lambda one: called[one.variant]),
            )
        )
        if result.friedman is not None and result.nemenyi is not None:
            ranks.append(_published(result.variants, result.friedman, result.nemenyi))
    pairs = table_of(
        "pairs",
        result.pairs,
        ("<", lambda one: called[one.candidate]),
        ("<against", lambda one: called[one.baseline]),
        ("speedup", _speedup),
        (f"<{level_text(result.look_alpha)}", _interval),
        ("<", lambda one: outcome_word(one.outcome, timed=result.timed)),
        ("<benchmarks", lambda one: _counts(one, timed=result.timed)),
    )
    metric_words = () if result.usual else ("--metric", result.metric)
    words = ("fairtrial", "verdict", result.path, *metric_words, *judge_words())
    return Page(
        title=f"Pairs of {result.trial}",
        sections=(
            section(heading, section(*ranks)),
            section(pairs, *([text] if (text := looks_text(result)) else [])),
        ),
        cautions=result.cautions,
        following=(section(Next(words, "against the baseline, benchmark by benchmark")),),
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


def _speedup(one: PairLine) -> Value:
    write = partial(figures.ratio_within, low=one.low, high=one.high)
    return value_of(one.speedup, write)


def _interval(one: PairLine) -> str:
    return "-" if one.low is None or one.high is None else figures.ends(one.low, one.high)


def _counts(one: PairLine, *, timed: bool) -> str:
    counts: tuple[tuple[int, Word], ...] = ((one.faster, "faster"), (one.slower, "slower"))
    texts = [f"{count} {outcome_word(word, timed=timed)}" for count, word in counts if count]
    return ", ".join(texts)
