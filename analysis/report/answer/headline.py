"""The verdict in one sentence with its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...methods.multilevel.page import needed_text, reason_text
from ...methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ...pages.number_format import said
from ...words import shorten
from ..names import shortened
from ..written import column_of, written
from .result import Paragraph, Span

if TYPE_CHECKING:
    from ...verdict.result import CandidateVerdict, Verdict

__all__ = ["headline", "leading", "text_of"]

_NAME = 24
_LISTED = 4  # candidates of which each has a clause of its own


def headline(verdict: Verdict) -> Paragraph:
    """Say what the verdict is, of every candidate; more than four are counted.

    What is decided comes first: faster, then slower, then equivalent, then undecided.
    """
    names = shortened([verdict.baseline, *(one.variant for one in verdict.candidates)], _NAME)
    tell = _Teller(verdict, names)
    if not verdict.candidates:
        return tuple(tell.of("Nothing was compared: ", verdict.baseline, " was measured alone."))
    known = [_Told(one, one.multilevel) for one in verdict.candidates if one.multilevel is not None]
    lost = [one.variant for one in verdict.candidates if one.multilevel is None]
    if not known:
        return tuple(tell.of("Nothing could be compared with ", verdict.baseline, "."))
    clauses = tell.counted(known) if len(known) > _LISTED else tell.listed(known)
    sentences = [*_joined(clauses)]
    if lost:
        sentences += tell.of(". Nothing could be compared of ", *_names(lost))
    return (*sentences, Span("."))


def text_of(paragraph: Paragraph) -> str:
    """Give a paragraph's text."""
    return "".join(span.text for span in paragraph)


def leading(result: Multilevel) -> Line | None:
    """Give the line that answers for a candidate: the suite's, or that of its only benchmark."""
    if result.these is not None:
        return result.these
    known = [line for line in result.benchmarks if line.speedup is not None]
    if not known and len(result.benchmarks) == 1:
        return result.benchmarks[0]
    return known[0] if len(known) == 1 else None


@dataclass(frozen=True, slots=True)
class _Told:
    one: CandidateVerdict
    result: Multilevel

    @property
    def name(self) -> str:
        return self.one.variant

    @property
    def word(self) -> str:
        return self.result.word

    @property
    def number(self) -> str:
        line = leading(self.result)
        return "" if line is None else written(line, column_of(self.result)).speedup.text


@dataclass(frozen=True, slots=True)
class _Teller:
    """Makes clauses; a name in them is a span of its own."""

    verdict: Verdict
    names: Mapping[str, str]

    def of(self, *pieces: str) -> list[Span]:
        """Give spans; what is a variant's name becomes one with its whole name."""
        return [Span(self.names[p], p) if p in self.names else Span(p) for p in pieces]

    # ---- up to four candidates: a clause each, the undecided together

    def listed(self, told: Sequence[_Told]) -> Iterator[list[Span]]:
        named = False  # the baseline is named once
        for word in ("faster", "slower", "equivalent"):
            for one in (one for one in told if one.word == word):
                yield self._decided(one, named=named)
                named = True
        open_ones = [one for one in told if one.word in ("undecided", "tie")]
        if open_ones:
            yield self._undecided(open_ones, alone=len(open_ones) == len(told), named=named)

    def _decided(self, one: _Told, *, named: bool) -> list[Span]:
        base, where = self.verdict.baseline, self._where(one)
        number = one.number
        timed = one.result.timed
        over = () if named else (" than ", base)
        word = said(one.result.word, timed=timed)
        if one.word == "equivalent":
            margin = f"within ±\N{NO-BREAK SPACE}{_percent(one.result.margin)}"
            what = ("as fast as" if timed else "as good as") + " "
            return self.of(one.name, f" is {what}", base, f"{where}, {margin}")
        if not number:
            return self.of(one.name, f" is {word}", *over, where)
        if one.word == "faster" and timed:
            over = () if named else (" as ", base)
            return self.of(one.name, f" is {number} times as fast", *over, where)
        return self.of(one.name, f" is {word}", *over, f" ({number}×){where}")

    def _undecided(self, told: Sequence[_Told], *, alone: bool, named: bool) -> list[Span]:
        base = () if named else (" from ", self.verdict.baseline)
        clause = ["Whether ", *_names([one.name for one in told], "or"), " differs", *base]
        where = dict.fromkeys(self._where(one) for one in told)
        clause.append(f" is undecided{''.join(where) if len(where) == 1 else ''}")
        why = self._why(told) if alone else ""
        if why:
            clause.append(f": {why}")
        return self.of(*clause)

    def _why(self, told: Sequence[_Told]) -> str:
        """Say what would tell, where nothing is decided."""
        reasons = dict.fromkeys(_reason(one.result) for one in told)
        if len(reasons) == 1:
            return next(iter(reasons))
        counts = [
            line.more_sessions.sessions
            for one in told
            if (line := leading(one.result)) is not None and line.more_sessions is not None
        ]
        known = [count for count in counts if count is not None]
        nouns = {one.result.outermost for one in told}
        alike = len(known) == len(told) and len(nouns) == 1
        return needed_text(max(known), nouns.pop()) if alike else ""

    # ---- more: counted, the ends named

    def counted(self, told: Sequence[_Told]) -> Iterator[list[Span]]:
        total, base = len(told), self.verdict.baseline
        timed = told[0].result.timed
        clause: list[str] = []
        for word in ("faster", "slower", "equivalent", "undecided"):
            group = [one for one in told if one.word == word]
            if not group:
                continue
            count = f"{len(group)} of {total} candidates" if not clause else f"; {len(group)}"
            if len(group) == total:
                count = f"All {total} candidates"
            verb = "are" if len(group) > 1 else "is"
            first = not clause
            clause += [f"{count} {verb} {said(group[0].result.word, timed=timed)}"]
            if first:
                clause += self._against(word, base)
            clause += self._end(word, group)
        yield self.of(*clause)

    def _against(self, word: str, base: str) -> tuple[str, ...]:
        if word in ("faster", "slower"):
            return " than ", base
        return (" with ", base) if word == "equivalent" else (" against ", base)

    def _end(self, word: str, group: Sequence[_Told]) -> tuple[str, ...]:
        """Name the fastest of the faster, the slowest of the slower."""
        if word not in ("faster", "slower"):
            return ()
        sized = [
            (line.speedup, one)
            for one in group
            if (line := leading(one.result)) is not None and line.speedup is not None
        ]
        if not sized:
            return ()
        pick = max if word == "faster" else min
        _, one = pick(sized, key=lambda pair: pair[0])
        most = ", most of all " if len(group) > 1 else ": "
        return most, one.name, f" ({one.number}×)"

    def _where(self, one: _Told) -> str:
        """Say what the sentence is about where that is less than all: a metric, a session."""
        metric = "" if self.verdict.metric in ("wall", "value", "values") else self.verdict.metric
        single = leading(one.result)
        parts = []
        if metric:
            parts.append(f" in {shorten(metric, _NAME)}")
        if isinstance(single, BenchmarkLine) and len(one.result.benchmarks) > 1:
            parts.append(f" on {shortened([single.name], _NAME)[single.name]}")
        if one.result.design == "hosts":
            parts.append(" on hosts like these")
        if one.result.design.startswith("one session"):
            host = one.result.outermost == "host"
            parts.append(" on one host" if host else " within one session")
        return "".join(parts)


def _reason(result: Multilevel) -> str:
    """Say why a candidate is undecided, or what would settle it; "" for nothing."""
    if result.design == "confounded":
        return f"{result.outermost} and variant cannot be told apart"
    line = leading(result)
    if line is None:
        return ""
    if isinstance(line, BenchmarkLine) and line.reason in ("fails-more", "fails-always"):
        total = line.failed_candidate + line.runs_candidate
        return f"it fails {line.failed_candidate} of {total} runs"
    if isinstance(line, BenchmarkLine) and line.reason == "below-resolution":
        return "the runs are below the clock's resolution"
    if isinstance(line, BenchmarkLine) and line.reason == "no-spread":
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


def _percent(share: float) -> str:
    return f"{100 * share:g}\N{NO-BREAK SPACE}%"


def _names(names: Sequence[str], last: str = "and") -> list[str]:
    """Put commas between names, and a word before the last."""
    found: list[str] = []
    for k, name in enumerate(names):
        if k:
            found.append(f" {last} " if k == len(names) - 1 else ", ")
        found.append(name)
    return found


def _joined(clauses: Iterator[list[Span]]) -> Iterator[Span]:
    """Put semicolons between clauses; one that begins with a word of its own is a sentence."""
    for k, clause in enumerate(clauses):
        if k:
            yield Span("; " if clause[0].whole else ". ")
        yield from clause
