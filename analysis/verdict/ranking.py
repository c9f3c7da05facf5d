"""Ranking the variants of a trial: all pairs by their sessions, and the places that these leave."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..data.host_record import not_judged
from ..data.trial import Trial
from ..data.trial_cautions import constant_cautions
from ..errors import UsageError
from ..methods.multilevel.estimates import FAR
from ..methods.multilevel.failures import failing_of
from ..methods.multilevel.page import interval_text, level_text, looks_text, speedup_text
from ..methods.multilevel.result import leading
from ..pages import number_format as figures
from ..pages.model import (
    Caution,
    Next,
    Page,
    Table,
    Value,
    merged,
    section,
    table_of,
)
from ..pages.number_format import Word, outcome_word
from ..pages.result import Result
from ..record.manifest import judge_words
from ..stats.arguments import checks_arguments
from ..stats.multiplicity import adjusted
from ..stats.ranks import Friedman, friedman, nemenyi_difference
from ..words import apart
from .sides import Question, VariantSide, comparable, looks_at, sides_of

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..methods.multilevel.result import Line, LookRisk, Multilevel


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
    listed: ClassVar[tuple[str, ...]] = (
        *("trial", "path", "metric", "better", "confidence", "look.*", "margin", "sessions"),
        *("variants", "pairs", "places", "friedman", "nemenyi"),
    )

    trial: str
    path: str
    metric: str
    better: str
    confidence: float
    look: LookRisk
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

    def screen(self) -> Page:
        """Set who can hold which rank, and all pairs."""
        metric = "wall time" if self.metric == "wall" else self.metric
        heading = (
            f"{len(self.variants)} variants, {figures.counted(len(self.pairs), 'pair')} · {metric} · "
            f"{figures.counted(self.sessions, 'session')} · margin {100 * self.margin:g} % · words "
            "after Holm over the pairs"
        )
        ranks: list[Table | str] = []
        if self.ranked:
            ranks.append(
                table_of(
                    "places",
                    self.places,
                    ("rank", lambda one: figures.span((one.best, one.worst))),
                    ("@", "variant"),
                )
            )
            if self.friedman is not None and self.nemenyi is not None:
                ranks.append(_published(self.variants, self.friedman, self.nemenyi))
        faster, slower = (outcome_word(one, timed=self.timed) for one in ("faster", "slower"))

        def counts(one: PairLine) -> str:
            found = ((one.faster, faster), (one.slower, slower))
            return ", ".join(f"{count} {word}" for count, word in found if count)

        pairs = table_of(
            "pairs",
            self.pairs,
            ("@", "candidate"),
            ("@against", "baseline"),
            ("speedup", lambda one: Value(speedup_text(one), one.speedup)),
            (f"<{level_text(self.look.alpha)}", lambda one: interval_text(one) or "-"),
            ("<", lambda one: outcome_word(one.outcome, timed=self.timed)),
            ("<benchmarks", counts),
        )
        metric_words = () if self.usual else ("--metric", self.metric)
        words = ("fairtrial", "verdict", self.path, *metric_words, *judge_words())
        return Page(
            title=f"Pairs of {self.trial}",
            sections=(
                section(heading, section(*ranks)),
                section(pairs, *([text] if (text := looks_text(self.look)) else [])),
            ),
            cautions=self.cautions,
            following=(section(Next(words, "against the baseline, benchmark by benchmark")),),
        )


# measured on interleaved runs of one program under several names (docs/verdict.md)
RANKS_ALARM = (
    "Friedman and Nemenyi count benchmarks as independent, but these share the machine's "
    "sessions: one program under three names was found different in 31 to 41 % of trials"
)


_Pair = tuple["Multilevel", "Line", float]  # with the log of the suite's speedup


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
    question = Question(metric, confidence, benchmarks, margin=margin, weights=weights)
    question.refuse_unknown(manifest.benchmarks, str(trial.path))
    pairs: list[_Pair] = []
    failing: list[Caution] = []
    for a, b in combinations(sides.values(), 2):
        both = comparable(a, b)
        if both is None:
            continue
        failing += _failing(both, look.alpha(confidence) / 2)
        result = question.compare(*both, look)
        failing += (caution for caution in result.cautions if caution.code == "without-ratio")
        line = leading(result)
        if line is not None and (line.speedup or line.difference is not None):
            far = {"faster": FAR, "slower": -FAR}.get(line.outcome, 0.0)  # of 0 there is no ratio
            pairs.append((result, line, math.log(line.speedup) if line.speedup else far))
    if not pairs:
        what = "there are no two variants to compare"
        raise UsageError(what, str(trial.path), "measure a second variant")
    found = tuple(_lines(pairs, look.alpha(confidence)))
    names = list(dict.fromkeys(n for one, _, _ in pairs for n in (one.candidate, one.baseline)))
    published = _friedman(names, sides) if ranked else None
    nemenyi = None
    if published is not None:
        nemenyi = nemenyi_difference(len(names), published.benchmarks, alpha=1 - confidence)
    info = trial.metric(metric)
    return Ranking(
        trial=manifest.trial,
        path=str(trial.path),
        metric=metric,
        better=info.better,
        confidence=confidence,
        look=look.at(confidence),
        margin=margin,
        sessions=trial.sessions,
        variants=tuple(names),
        pairs=found,
        places=_places(names, pairs, found),
        friedman=published,
        nemenyi=nemenyi,
        ranked=ranked,
        timed=figures.timed(info.unit),
        usual=usual,
        cautions=merged(
            not_judged(unnamed),
            constant_cautions(trial, (one for side in sides.values() for one in side.cautions)),
            failing,
            () if published is None else (Caution("ranks-over-benchmarks", RANKS_ALARM),),
        ),
    )


def _failing(both: tuple[PerformanceMatrix, PerformanceMatrix], risk: float) -> Iterator[Caution]:
    """Say which variant of a pair is proven to fail more: a rank says nothing of that."""
    for ours, theirs in (both, both[::-1]):
        for bench, one in failing_of(ours, theirs, risk=risk, always_valid=False).items():
            if one.fails_proven and one.reason is not None:
                a, b = ours.name, theirs.name
                text = f"{bench}: {a} fails in {ours.failed.get(bench, 0)} runs, {b} in {theirs.failed.get(bench, 0)}"
                text += ": ranks say nothing of runs that fail"
                yield Caution(one.reason, text, (a, b, bench))


def _lines(pairs: Sequence[_Pair], risk: float) -> Iterator[PairLine]:
    """Turn each pair so that the better variant stands first, and correct for their number."""
    # without spread a p-value counts as 1
    flat = [
        1.0 if any(x.reason == "no-spread" for x in one.benchmarks) else math.nan
        for one, _, _ in pairs
    ]
    differ, alike = (
        adjusted([f if p is None else p for f, p in zip(flat, those, strict=True)], "holm")
        for those in zip(*((x.pvalue, x.pvalue_equivalent) for _, x, _ in pairs), strict=True)
    )
    for (result, line, log), p, q in zip(pairs, differ.tolist(), alike.tolist(), strict=True):
        word: Word = "faster" if line.outcome == "slower" else line.outcome
        names = [result.candidate, result.baseline]
        speedup, low, high = line.speedup, line.low, line.high
        outcomes = [one.outcome for one in result.benchmarks]
        counts = [outcomes.count("faster"), outcomes.count("slower")]
        if log < 0:
            names, counts = names[::-1], counts[::-1]
            speedup, low, high = (None if x is None else 1 / x for x in (speedup, high, low))
        same = q <= risk / 2 or line.law == "identity"  # which needs no p
        direction: Word = "faster" if p <= risk and word != "undecided" else "undecided"
        yield PairLine(
            candidate=names[0],
            baseline=names[1],
            design=result.design,
            speedup=speedup,
            low=low,
            high=high,
            pvalue=line.pvalue,
            pvalue_adjusted=None if line.pvalue is None else p,
            outcome="equivalent" if word == "equivalent" and same else direction,
            outcome_uncorrected=word,
            faster=counts[0],
            slower=counts[1],
        )


def _places(
    names: Sequence[str], pairs: Sequence[_Pair], texts: Sequence[PairLine]
) -> tuple[RankRange, ...]:
    """Rank by the mean log against all others; a place may move as far as pairs are not separated."""
    logs = dict.fromkeys(names, 0.0)
    for one, _, log in pairs:
        logs[one.candidate] += log
        logs[one.baseline] -= log
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


def _published(variants: tuple[str, ...], found: Friedman, difference: float) -> str:
    ranks = ", ".join(
        f"{name} {rank:.2f}" for name, rank in zip(apart(variants, _NAME), found.ranks, strict=True)
    )
    p = found.pvalue if found.pvalue_tied is None else found.pvalue_tied
    return (
        f"Friedman over {found.benchmarks} benchmarks: mean ranks {ranks}; p {figures.pvalue(p)}; "
        f"Nemenyi's critical difference {difference:.2f}"
    )
