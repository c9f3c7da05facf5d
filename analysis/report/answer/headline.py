"""The verdict in one sentence with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...methods.multilevel.page import needed_text, reason_text
from ...methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ...pages.number_format import said
from ...words import shorten
from ..names import shortened
from ..written import column_of, few_sessions, written

if TYPE_CHECKING:
    from ...pages.number_format import Word
    from ...verdict.result import CandidateVerdict, Verdict

__all__ = ["Paragraph", "Span", "headline", "leading", "margin_text", "text_of"]

_NAME = 24
_LISTED = 4  # candidates of which each has a clause of its own
Judged = tuple["CandidateVerdict", Multilevel]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence; a foreign name is kept apart from what stands around it.

    `whole` is the name as it is, "" where `text` is no name.
    """

    text: str
    whole: str = ""


Paragraph = tuple[Span, ...]


def text_of(paragraph: Paragraph) -> str:
    """Give a paragraph's text."""
    return "".join(span.text for span in paragraph)


def margin_text(verdict: Verdict, margin: float) -> str:
    """Say within what a difference counts as none; below three sessions without a ±."""
    sign = "" if few_sessions(verdict) else "±\N{NO-BREAK SPACE}"
    return f"{sign}{100 * margin:g}\N{NO-BREAK SPACE}%"


def leading(result: Multilevel) -> Line | None:
    """Give the line that answers for a candidate: the suite's, or that of its only benchmark."""
    if result.these is not None:
        return result.these
    known = [line for line in result.benchmarks if line.speedup is not None]
    if not known and len(result.benchmarks) == 1:
        return result.benchmarks[0]
    return known[0] if len(known) == 1 else None


def headline(verdict: Verdict) -> Paragraph:
    """Say what the verdict is, of every candidate; more than four are counted.

    What is decided comes first: faster, then slower, then equivalent, then undecided.
    """
    names = shortened([verdict.baseline, *(one.variant for one in verdict.candidates)], _NAME)

    def name(variant: str) -> Span:
        return Span(names[variant], variant)

    base = name(verdict.baseline)
    if not verdict.candidates:
        return Span("Nothing was compared: "), base, Span(" was measured alone.")
    known = [(one, one.multilevel) for one in verdict.candidates if one.multilevel is not None]
    lost = [name(one.variant) for one in verdict.candidates if one.multilevel is None]
    if not known:
        return Span("Nothing could be compared with "), base, Span(".")
    found: list[Span] = []
    if len(known) > _LISTED:
        found += _counted(known, base, name)
    else:
        for clause in _listed(known, verdict, base, name):
            # a clause that begins with a word of its own is a sentence
            found += [Span("; " if clause[0].whole else ". "), *clause] if found else clause
    if lost:
        found += [Span(". Nothing could be compared of "), *_series(lost)]
    return (*found, Span("."))


# ---- up to four candidates: a clause each, the undecided together


def _listed(
    known: Sequence[Judged], verdict: Verdict, base: Span, name: Callable[[str], Span]
) -> Iterator[list[Span]]:
    named = False  # the baseline is named once
    for word in ("faster", "slower", "equivalent"):
        for one, result in known:
            if result.word == word:
                where = _where(result, verdict)
                yield [name(one.variant), *_decided(result, verdict, base, where, named=named)]
                named = True
    open_ones = [(one, result) for one, result in known if result.word in ("undecided", "tie")]
    if not open_ones:
        return
    results = [result for _, result in open_ones]
    clause = [Span("Whether "), *_series([name(one.variant) for one, _ in open_ones], "or")]
    clause += [Span(" differs"), *(() if named else (Span(" from "), base))]
    wheres = dict.fromkeys(_where(result, verdict) for result in results)
    clause.append(Span(f" is undecided{''.join(wheres) if len(wheres) == 1 else ''}"))
    if len(open_ones) == len(known) and (why := _why(results)):
        clause.append(Span(f": {why}"))
    yield clause


def _decided(
    result: Multilevel, verdict: Verdict, base: Span, where: str, *, named: bool
) -> list[Span]:
    """Say what a candidate is, after its name."""
    timed, number = result.timed, _number(result)
    if result.word == "equivalent":
        what = "as fast as" if timed else "as good as"
        within = margin_text(verdict, result.margin)
        return [Span(f" is {what} "), base, Span(f"{where}, within {within}")]
    if number and result.word == "faster" and timed:
        over = [] if named else [Span(" as "), base]
        return [Span(f" is {number} times as fast"), *over, Span(where)]
    over = [] if named else [Span(" than "), base]
    size = f" ({number}×)" if number else ""
    return [Span(f" is {said(result.word, timed=timed)}"), *over, Span(f"{size}{where}")]


def _why(results: Sequence[Multilevel]) -> str:
    """Say what would tell, where nothing is decided; "" for nothing."""
    reasons = dict.fromkeys(map(_reason, results))
    if len(reasons) == 1:
        return next(iter(reasons))
    nouns = {result.outermost for result in results}
    leads = [line.more_sessions for result in results if (line := leading(result)) is not None]
    counts = [more.sessions for more in leads if more is not None and more.sessions is not None]
    alike = len(counts) == len(results) and len(nouns) == 1
    return needed_text(max(counts), nouns.pop()) if alike else ""


def _reason(result: Multilevel) -> str:
    """Say why a candidate is undecided, or what would settle it; "" for nothing."""
    if result.design == "confounded":
        return f"{result.outermost} and variant cannot be told apart"
    line = leading(result)
    if line is None:
        return ""
    if isinstance(line, BenchmarkLine):
        if line.reason in ("fails-more", "fails-always"):
            total = line.failed_candidate + line.runs_candidate
            return f"it fails {line.failed_candidate} of {total} runs"
        if line.reason == "below-resolution":
            return "the runs are below the clock's resolution"
        if line.reason in ("no-spread", "depends"):
            return reason_text(line)
    if line.low is None:
        return f"there are too few {result.outermost}s for an interval"
    if line.more_sessions is None:
        return ""
    count = line.more_sessions.sessions
    if count is None:
        return f"more than 100 more {result.outermost}s, so measure differently"
    needed = needed_text(count, result.outermost)
    if line.law == "banerjee":
        return f"equally many {result.outermost}s on both sides first, then {needed}"
    return needed


def _where(result: Multilevel, verdict: Verdict) -> str:
    """Say what the sentence is about where that is less than all: a metric, a session."""
    parts = []
    if verdict.metric not in ("wall", "value", "values", ""):
        parts.append(f" in {shorten(verdict.metric, _NAME)}")
    single = leading(result)
    if isinstance(single, BenchmarkLine) and len(result.benchmarks) > 1:
        parts.append(f" on {shortened([single.name], _NAME)[single.name]}")
    if result.design == "hosts":
        parts.append(" on hosts like these")
    if result.design.startswith("one session"):
        parts.append(" on one host" if result.outermost == "host" else " within one session")
    return "".join(parts)


# ---- more: counted, the ends named


def _counted(known: Sequence[Judged], base: Span, name: Callable[[str], Span]) -> Iterator[Span]:
    total, timed = len(known), known[0][1].timed
    begun = False
    for word, than in _THAN.items():
        group = [(one, result) for one, result in known if result.word == word]
        if not group:
            continue
        count = f"; {len(group)}" if begun else f"{len(group)} of {total} candidates"
        if len(group) == total:
            count = f"All {total} candidates"
        verb = "are" if len(group) > 1 else "is"
        yield Span(f"{count} {verb} {said(word, timed=timed)}")
        if not begun:
            yield from (Span(than), base)
        begun = True
        sized = [
            (line.speedup, one.variant, result)
            for one, result in group
            if (line := leading(result)) is not None and line.speedup is not None
        ]
        if word in ("faster", "slower") and sized:
            # the fastest of the faster, the slowest of the slower
            end = max if word == "faster" else min
            _, variant, result = end(sized, key=lambda each: each[0])
            yield Span(", most of all " if len(group) > 1 else ": ")
            yield from (name(variant), Span(f" ({_number(result)}×)"))


_THAN: Mapping[Word, str] = {
    "faster": " than ",
    "slower": " than ",
    "equivalent": " with ",
    "undecided": " against ",
}


def _number(result: Multilevel) -> str:
    line = leading(result)
    return "" if line is None else written(line, column_of(result)).speedup.text


def _series(names: Sequence[Span], last: str = "and") -> Iterator[Span]:
    """Put commas between names, and a word before the last."""
    for k, name in enumerate(names):
        if k:
            yield Span(f" {last} " if k == len(names) - 1 else ", ")
        yield name
