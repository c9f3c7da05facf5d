"""The ranking of three and more variants: every pair by sessions, and who is told from whom."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import plots
from ...errors import FairtrialError
from ...pages.model import Value, value_of
from ...pages.number_format import bare_pvalue, decimals, said, span
from ...plots.palette import style_of
from ...verdict.ranking import Ranking, rank_variants
from ..spoken import Span
from ..written import Written, decimals_of, written_of
from .boxes import ratio_text

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..subject import Subject

__all__ = ["bars_of", "bars_plot", "ranks_of"]

_LEAST = 3  # variants
_MOST = 24  # of them: 276 pairs
_TOLD = ("faster", "slower")
_NAMED = 3  # variants in the sentence
_NOTHING = Written(*[Value("", None)] * 3)  # of a variant without a line
_HEIGHT = 26.0  # of a row


def ranks_of(subject: Subject, styles: Mapping[str, str]) -> Mapping[str, Any] | str:
    """Rank the variants of a trial, best first; or say why not.

    ``rows`` are the variants, each with those that it is not told apart from; ``bars`` the first and
    last place of neighbours of which no pair is told apart; ``pairs`` all pairs, the better one first.
    """
    trial = subject.trial
    variants = [one.variant for one in subject.candidates]
    if trial is None or len(variants) + 1 < _LEAST:
        return "A ranking needs three variants or more of one trial."
    if len(variants) + 1 > _MOST:
        return f"More than {_MOST} variants are not ranked on a page; the command does it."
    asked, verdict = subject.asked, subject.verdict
    try:
        found = rank_variants(
            trial,
            metric=verdict.metric,
            confidence=verdict.confidence,
            variants=variants,
            benchmarks=asked.get("benchmarks"),
            margin=verdict.margin,
            weights=asked.get("weights"),
            looks=1 if verdict.always_valid else asked.get("looks"),
            ranked=False,
        )
    except FairtrialError as error:
        return f"No ranking: {error.what}."
    if len(found.variants) < _LEAST:
        return "A ranking needs three variants with runs that count."
    order = [place.variant for place in found.places]
    told = {
        frozenset((pair.candidate, pair.baseline)) for pair in found.pairs if pair.outcome in _TOLD
    }
    alike = {frozenset((pair.candidate, pair.baseline)) for pair in found.pairs} - told
    texts = {name: _suite_line(lines) for name, lines in written_of(subject).items()}
    rule = (
        f"Each pair of variants is compared over the suite by its {found.sessions} sessions (t, "
        f"{100 * found.confidence:g} %), and the {len(found.pairs)} words are corrected together "
        "after Holm; the order is that of the mean log speedups. A bar joins neighbours of which no "
        "pair is told apart."
    )
    if verdict.always_valid:
        rule += " These intervals are those of one look, not the ones that hold at every look."
    return {
        "lead": _lead(order, told, found),
        "rule": rule,
        "rows": tuple(
            {
                "variant": place.variant,
                "style": styles.get(place.variant, "neither"),
                "rank": Value(span((place.best, place.worst)), place.best),
                **_numbers(texts.get(place.variant, _NOTHING)),
                "alike": tuple(
                    other for other in order if frozenset((place.variant, other)) in alike
                ),
            }
            for place in found.places
        ),
        "bars": bars_of(order, told),
        "pairs": tuple(_pairs(subject, found, texts)),
    }


def bars_of(order: Sequence[str], told: set[frozenset[str]]) -> tuple[tuple[int, int], ...]:
    """Give first and last place, from 0, of the longest runs of neighbours without a pair told apart."""
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


def bars_plot(bars: Sequence[tuple[int, int]], place: int) -> Markup:
    """Draw, in one variant's row, the bars that join it to its neighbours."""
    marks = [
        plots.stroke(
            (k + 0.5) / len(bars),
            11 if place == first else 0,
            15 if place == last else _HEIGHT,
            "suite-bar ink",
        )
        for k, (first, last) in enumerate(bars)
        if first <= place <= last
    ]
    return plots.plot(_HEIGHT, marks, "")


def _lead(order: Sequence[str], told: set[frozenset[str]], found: Ranking) -> tuple[Span, ...]:
    """Say who comes first, and how many pairs are told apart."""
    if not told:
        return (Span("No pair is told apart: there is no order."),)
    apart = f"{len(told)} of {len(found.pairs)}" if len(told) < len(found.pairs) else "All"
    beaten = {
        pair.baseline if pair.outcome == "faster" else pair.candidate
        for pair in found.pairs
        if pair.outcome in _TOLD
    }
    first = [Span(name, foreign=True) for name in order if name not in beaten]
    if len(first) == 1:
        return (*first, Span(f" comes first. {apart} pairs are told apart."))
    named = [one for name in first[:_NAMED] for one in (Span(", "), name)][1:]
    more = f" and {len(first) - _NAMED} more" if len(first) > _NAMED else ""
    more += f". {apart} pairs are told apart."
    return (Span("First, not told apart: "), *named, Span(more))


def _suite_line(lines: Mapping[str, Written]) -> Written:
    """Give the suite's line, or that of the only benchmark."""
    return lines["these"] if "these" in lines else next(iter(lines.values()), _NOTHING)


def _numbers(line: Written) -> Mapping[str, Value]:
    return {"speedup": line.speedup, "low": line.low, "high": line.high}


def _pairs(
    subject: Subject, found: Ranking, texts: Mapping[str, Written]
) -> Iterator[Mapping[str, Any]]:
    """Give all pairs; one that stands on the page is written as there, others by their column."""
    least = decimals_of(pair.speedup for pair in found.pairs)
    for pair in found.pairs:
        line = texts.get(pair.candidate, _NOTHING)
        same = _same(line.speedup, pair.speedup) and _same(line.low, pair.low)
        if pair.baseline != subject.baseline or not same:
            digits = max(least, decimals(pair.low, pair.high))
            numbers = (pair.speedup, pair.low, pair.high)
            line = Written(*(ratio_text(one, digits) for one in numbers))
        yield {
            "candidate": pair.candidate,
            "baseline": pair.baseline,
            **_numbers(line),
            "pvalue": value_of(pair.pvalue_adjusted, bare_pvalue, ""),
            "word": said(pair.outcome, timed=found.timed),
            "style": style_of(pair.outcome),
        }


def _same(value: Value, number: float | None) -> bool:
    """Whether two numbers differ by rounding at most: a pair may have been turned around."""
    if value.value is None or number is None:
        return value.value is number
    return math.isclose(value.value, number, rel_tol=1e-9)
