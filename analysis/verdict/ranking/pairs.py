"""Every pair of variants by the session t over the suite, with Holm's correction over the pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...data import PerformanceMatrix, Trial, always_said
from ...errors import UsageError
from ...methods.multilevel import Line, Multilevel, multilevel
from ...report import Caution, Word, figures, merged
from ...stats import Friedman, adjusted, door, friedman, nemenyi_difference
from ..cautions import question_cautions
from ..looking import looks_at
from ..sides import Side, comparable, sides_of
from .result import PairLine, Place, Ranking

__all__ = ["RANKS_ALARM", "rank_variants"]

# measured on interleaved runs of one program under several names (docs/methods/verdict.md)
RANKS_ALARM = (
    "Friedman and Nemenyi count benchmarks as independent, but these share the machine's "
    "sessions: one program under three names was told apart in 31 to 41 % of trials"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    result: Multilevel
    line: Line
    log: float


@door
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
    """Compare every variant of a trial with every other one.

    Parameters
    ----------
    trial : Trial
        From `read_trial`.
    confidence, margin, weights
        As for `multilevel`.
    metric, looks : optional
        As for `judge`.
    variants, benchmarks : sequence of str, optional
        Those only; the baseline is always among them.
    ranked : bool
        Whether a screen shows ranks, and the published ranking beside them.

    Returns
    -------
    Ranking
        Hypothesis of each pair: their ratio over the suite is 1.

    Raises
    ------
    UsageError
        If a name is unknown, an option out of its range, or there are fewer than two variants.
    """
    manifest = trial.manifest
    unasked = trial.unasked if metric is None else ()
    metric = trial.default_metric if metric is None else metric
    look = looks_at([manifest], looks, always_valid=False)
    known = [
        v for v in manifest.variants if variants is None or v in {*variants, manifest.baseline}
    ]
    sides = sides_of(trial, metric, known, benchmarks)
    pairs = []
    for a, b in combinations(sides.values(), 2):
        both = comparable(a, b)
        if both is None:
            continue
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
            pairs.append(_Pair(result=result, line=line, log=float(np.log(line.speedup))))
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
            () if published is None else (_warning(),),
        ),
    )


def _warning() -> Caution:
    return Caution("ranks-over-benchmarks", RANKS_ALARM)


def _lines(pairs: Sequence[_Pair], risk: float) -> list[PairLine]:
    """Turn each pair so that the better variant stands first, and correct for their number."""
    differ = adjusted([_counted(pair, pair.line.pvalue) for pair in pairs], "holm")
    alike = adjusted([_counted(pair, pair.line.pvalue_equivalent) for pair in pairs], "holm")
    told = []
    for pair, p, q in zip(pairs, differ.tolist(), alike.tolist(), strict=True):
        line, result = pair.line, pair.result
        turned = pair.log < 0
        word: Word = _turned(line.outcome) if turned else line.outcome
        settled = q <= risk / 2 if word == "equivalent" else p <= risk
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


def _counted(pair: _Pair, pvalue: float | None) -> float:
    """Give a p-value for the correction: without spread it counts as 1."""
    if pvalue is not None:
        return pvalue
    return 1.0 if any(line.reason == "no-spread" for line in pair.result.benchmarks) else math.nan


def _turned(word: Word) -> Word:
    turned: dict[Word, Word] = {"faster": "slower", "slower": "faster"}
    return turned.get(word, word)


def _inverse(value: float | None) -> float | None:
    return None if value is None else 1 / value


def _places(
    names: Sequence[str], pairs: Sequence[_Pair], told: Sequence[PairLine]
) -> tuple[Place, ...]:
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
        Place(variant=name, best=1 + beaten[name][0], worst=len(names) - beaten[name][1])
        for name in order
    )


def _friedman(names: Sequence[str], sides: Mapping[str, Side]) -> Friedman | None:
    matrices: list[PerformanceMatrix] = [m for n in names if (m := sides[n].matrix) is not None]
    common = [b for b in matrices[0].benchmarks if all(b in m.benchmarks for m in matrices)]
    if len(common) < 2 or len(matrices) < 2:
        return None
    sign = 1 if matrices[0].better == "lower" else -1
    return friedman(
        [[sign * float(np.log(m.values(bench)).mean()) for m in matrices] for bench in common]
    )
