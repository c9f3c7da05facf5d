"""The ranking of three and more variants: every pair by sessions, and who is told from whom."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...errors import FairtrialError
from ...pages import number_format as figures
from ...pages.model import Value
from ...pages.number_format import said
from ...plots.palette import style_of
from ...verdict.ranking import PairLine, Ranking, rank_variants
from ..spoken import Span
from ..written import Written, written_of
from .result import PairRow, RankRow, Ranks, Style

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["bars_of", "ranks_of"]

_LEAST = 3
_MOST = 24  # variants: 276 pairs
_TOLD = ("faster", "slower")
_NAMED = 3  # variants in the sentence
_WIDE = 1.5  # a column that spans more has two decimals
_NOBODY = Value("", None)  # what nobody knows


def ranks_of(subject: Subject) -> Ranks | str:
    """Rank the variants of a trial; or say why not."""
    trial = subject.trial
    if trial is None or len(subject.candidates) + 1 < _LEAST:
        return "A ranking needs three variants or more of one trial."
    if len(subject.candidates) + 1 > _MOST:
        return f"More than {_MOST} variants are not ranked on a page; the command does it."
    asked = subject.asked
    chosen = [one.variant for one in subject.candidates]
    try:
        found = rank_variants(
            trial,
            metric=subject.verdict.metric,
            confidence=subject.verdict.confidence,
            variants=chosen,
            benchmarks=asked.get("benchmarks"),
            margin=subject.verdict.margin,
            weights=asked.get("weights"),
            looks=1 if subject.verdict.always_valid else asked.get("looks"),
            ranked=False,
        )
    except FairtrialError as error:
        return f"No ranking: {error.what}."
    if len(found.variants) < _LEAST:
        return "A ranking needs three variants with runs that count."
    told = {
        frozenset((pair.candidate, pair.baseline)) for pair in found.pairs if pair.outcome in _TOLD
    }
    order = [place.variant for place in found.places]
    bars = bars_of(order, told)
    return Ranks(
        lead=_lead(order, told, found),
        rule=_rule(found, always_valid=subject.verdict.always_valid),
        rows=tuple(_rows(subject, found, told)),
        bars=bars,
        pairs=tuple(_pairs(subject, found)),
    )


def bars_of(order: Sequence[str], told: set[frozenset[str]]) -> tuple[tuple[int, int], ...]:
    """Give the longest runs of neighbours of which no pair is told apart.

    Parameters
    ----------
    order : sequence of str
        The variants, best first.
    told : set of frozenset of str
        The pairs that are told apart.

    Returns
    -------
    tuple of (int, int)
        First and last place of each, from 0; a bar joins two at least.
    """
    found: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and all(
            frozenset((order[k], order[last + 1])) not in told for k in range(first, last + 1)
        ):
            last += 1
        if last > first and not (found and found[-1][1] >= last):
            found.append((first, last))
    return tuple(found)


def _lead(order: Sequence[str], told: set[frozenset[str]], found: Ranking) -> tuple[Span, ...]:
    """Say who comes first, and how many pairs are told apart."""
    many, apart = len(found.pairs), len(told)
    if not apart:
        return (Span("No pair is told apart: there is no order."),)
    counted = (
        f"{apart} of {many} pairs are told apart." if apart < many else "All pairs are told apart."
    )
    beaten = {
        pair.baseline if pair.outcome == "faster" else pair.candidate
        for pair in found.pairs
        if pair.outcome in _TOLD
    }
    first = [Span(name, foreign=True) for name in order if name not in beaten]
    if len(first) == 1:
        return (first[0], Span(f" comes first. {counted}"))
    named = [one for name in first[:_NAMED] for one in (Span(", "), name)][1:]
    more = f" and {len(first) - _NAMED} more" if len(first) > _NAMED else ""
    return (Span("First, not told apart: "), *named, Span(f"{more}. {counted}"))


def _rule(found: Ranking, *, always_valid: bool) -> str:
    rule = (
        f"Each pair of variants is compared over the suite by its {found.sessions} sessions (t, "
        f"{100 * found.confidence:g} %), and the {len(found.pairs)} words are corrected together "
        "after Holm; the order is that of the mean log speedups. A bar joins neighbours of which no "
        "pair is told apart."
    )
    if always_valid:
        rule += " These intervals are those of one look, not the ones that hold at every look."
    return rule


def _rows(subject: Subject, found: Ranking, told: set[frozenset[str]]) -> list[RankRow]:
    texts = written_of(subject)
    styles: dict[str, Style] = {subject.baseline: "baseline"}
    for one in subject.candidates:
        if one.multilevel is not None:
            styles[one.variant] = style_of(said(one.multilevel.word, timed=found.timed))
    names = [place.variant for place in found.places]
    compared = {frozenset((pair.candidate, pair.baseline)) for pair in found.pairs}
    rows = []
    for place in found.places:
        name = place.variant
        line = _suite_line(texts.get(name, {}))
        rank = f"{place.best}" if place.best == place.worst else f"{place.best} to {place.worst}"
        rows.append(
            RankRow(
                variant=name,
                style=styles.get(name, "neither"),
                rank=Value(rank, place.best),
                speedup=_NOBODY if line is None else line.speedup,
                low=_NOBODY if line is None else line.low,
                high=_NOBODY if line is None else line.high,
                alike=tuple(
                    other
                    for other in names
                    if frozenset((name, other)) in compared - told and other != name
                ),
            )
        )
    return rows


def _suite_line(lines: Mapping[str, Written]) -> Written | None:
    """Give the suite's line, or that of the only benchmark."""
    if "these" in lines:
        return lines["these"]
    return next(iter(lines.values()), None)


def _pairs(subject: Subject, found: Ranking) -> list[PairRow]:
    known = [pair.speedup for pair in found.pairs if pair.speedup is not None]
    wide = bool(known) and max(known) > _WIDE and max(known) / min(known) > _WIDE
    texts = written_of(subject)
    rows = []
    for pair in found.pairs:
        word = said(pair.outcome, timed=found.timed)
        speedup, low, high = _numbers(pair, subject, texts, 2 if wide else 3)
        p = pair.pvalue_adjusted
        rows.append(
            PairRow(
                candidate=pair.candidate,
                baseline=pair.baseline,
                speedup=speedup,
                low=low,
                high=high,
                pvalue=_NOBODY if p is None else Value(figures.pvalue(p).removeprefix("= "), p),
                word=word,
                style=style_of(word),
            )
        )
    return rows


def _numbers(
    pair: PairLine, subject: Subject, texts: Mapping[str, Mapping[str, Written]], least: int
) -> tuple[Value, Value, Value]:
    """Write a pair as the page does where it stands there already, else by its column."""
    if pair.baseline == subject.baseline:
        line = _suite_line(texts.get(pair.candidate, {}))
        if line is not None and _same(line.speedup, pair.speedup) and _same(line.low, pair.low):
            return line.speedup, line.low, line.high
    digits = max(least, figures.decimals(pair.low, pair.high))
    return _written(pair.speedup, digits), _written(pair.low, digits), _written(pair.high, digits)


def _same(value: Value, number: float | None) -> bool:
    """Whether two numbers differ by rounding at most: a pair may have been turned around."""
    if value.value is None or number is None:
        return value.value is number
    return math.isclose(value.value, number, rel_tol=1e-9)


def _written(number: float | None, digits: int) -> Value:
    if number is None:
        return _NOBODY
    plain = 0.0995 <= number < 9.995
    return Value(f"{number:.{digits}f}" if plain else figures.significant(number), number)
