"""Words on runs that their time limit ended: such a run counts with its limit, so only what lower bounds support is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ...data.cut_runs import cut_of
from ...pages import number_format as figures
from ...pages.model import Caution
from ...pages.short_sentence import ShortSentence, plain

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...pages.number_format import Word
    from .result import BenchmarkLine, Line

CUT_OFF = "cut-off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How many runs of both sides their time limit ended.

    `bounds`: Whether they count with lower bounds; without, their metric may be anything. `known`: False of runs
    that failed, nobody knows why: they may be such.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"limit_s", "bounds", "known"})

    candidate: int
    baseline: int
    limit_s: float | None = None
    bounds: bool = True
    known: bool = True

    def withholds(self, word: Word) -> bool:
        """Tell whether a longer time of these runs could overturn a word."""
        better, worse = self.candidate or not self.bounds, self.baseline or not self.bounds
        return bool({"faster": better, "slower": worse, "equivalent": True}.get(word, False))

    def mark(self, side: int) -> str:
        """Give what stands before a mean of the candidate (0) or the baseline (1) that is a lower bound."""
        return "≥ " if self.known and self.bounds and (self.candidate, self.baseline)[side] else ""


def together(cuts: Iterable[Cut | None]) -> Cut | None:
    """Sum up several sides, benchmarks or hosts; None without any."""
    some = [one for one in cuts if one is not None and (one.candidate or one.baseline)]
    return None if not some else Cut(
        candidate=sum(one.candidate for one in some),
        baseline=sum(one.baseline for one in some),
        limit_s=min((one.limit_s for one in some if one.limit_s is not None), default=None),
        bounds=all(one.bounds for one in some),
        known=any(one.known for one in some),
    )  # fmt: skip


def cut_between(ours: PerformanceMatrix, theirs: PerformanceMatrix, name: str) -> Cut | None:
    """Give what is known of a benchmark's cut runs; None without any."""
    return together(
        Cut(candidate=one.runs * k, baseline=one.runs * (1 - k), limit_s=one.limit_s,
            bounds=not one.known or one.bounds is not None, known=one.known)
        for one, k in ((cut_of(ours, name), 1), (cut_of(theirs, name), 0))
    )  # fmt: skip


def bounded(line: BenchmarkLine, cut: Cut | None) -> BenchmarkLine:
    """Take back the word of a benchmark's line that its cut runs do not support, and its advice."""
    open_ = line.outcome == "undecided" and line.reason is None
    if cut is not None and (cut.withholds(line.outcome) or (open_ and cut.known)):
        line = replace(line, outcome="undecided", reason=CUT_OFF, more_sessions=None)
    if cut is None:
        return line
    return replace(line, cut=cut, totals=None if cut.known else line.totals)


def bounded_suite(
    suite: tuple[Line, Line] | None, lines: Sequence[BenchmarkLine]
) -> tuple[Line, Line] | None:
    """Do the same with the suite's lines: a run that was cut in any benchmark was cut in it."""
    cut = together(one.cut for one in lines if one.speedup is not None)
    if suite is None or cut is None:
        return suite
    words: list[Word] = ["undecided" if cut.withholds(x.outcome) else x.outcome for x in suite]
    more = None if cut.known else suite[0].more_sessions
    totals = None if cut.known else suite[0].totals
    these = replace(suite[0], cut=cut, outcome=words[0], more_sessions=more, totals=totals)
    return these, replace(suite[1], cut=cut, outcome=words[1])


def cut_cautions(
    lines: Sequence[BenchmarkLine], names: tuple[str, str], *, wall: bool
) -> Iterator[Caution]:
    """Say how many runs of which side were cut, and as what they count."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        cut = line.cut
        if cut is None or line.reason == "fails-always":
            continue
        limit = "" if cut.limit_s is None else figures.quantity(cut.limit_s, "s")
        what = f"were stopped at their limit{' of ' * bool(limit)}{limit} and "
        what += f"count as {limit if wall else 'what they used until then'}: it is at least this"
        if not cut.bounds:
            what = f"{what.partition(' and ')[0]} and have no value: no word is given"
        if not cut.known:
            what = "failed, and nobody knows whether at a time limit"
        ours = cut.candidate, line.runs_candidate + line.failed_candidate, names[0]
        theirs = cut.baseline, line.runs_baseline + line.failed_baseline, names[1]
        told = " and ".join(f"{n} of {of} runs of {name}" for n, of, name in (ours, theirs) if n)
        found.setdefault(what, []).append((line.name, told))
    for what, cells in found.items():
        those = tuple(name for name, _ in cells)
        said = [f"{told}{f' on {name}' * (len(lines) > 1)}" for name, told in cells]
        head = what.partition(" and ")[0].replace("failed,", "failed, maybe at a time limit")
        short = ShortSentence.of(f"runs of {{}} {head}", those)
        if len(lines) == 1:
            short = ShortSentence.of(plain(f"{cells[0][1]} {head}"))
        yield Caution(CUT_OFF, f"{figures.listed(said)} {what}", those, short)
