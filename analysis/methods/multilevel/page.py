"""The sound verdict in words: numbers and advice of each line, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from ...pages import number_format as figures
from ...pages.model import Cell, Page, Value, page, page_of, section, table_of
from ...pages.number_format import outcome_word
from ...words import apart, shortened
from .result import MOST_TOLD, BenchmarkLine, Line, Multilevel

if TYPE_CHECKING:
    from ...data.runs import Unit
    from .law import LooksRule


def failed_text(line: BenchmarkLine, *, short: bool = False) -> str:
    """Say how many runs of both sides failed, with p; empty where none did.

    Such as ``failed 14 of 48, baseline 0 of 48; p .001, adjusted .009``.
    """
    if not line.failed_candidate and not line.failed_baseline:
        return ""
    ours, theirs = (
        f"{failed} of {failed + runs}"
        for failed, runs in (
            (line.failed_candidate, line.runs_candidate),
            (line.failed_baseline, line.runs_baseline),
        )
    )
    told = f"failed {ours}, baseline {theirs}"
    p, place = line.pvalue_fails, line.pvalue_fails_adjusted
    if short or p is None or place is None:
        return told
    return f"{told}; p {_short(p)}, adjusted {_short(place)}"


def _short(p: float) -> str:
    return figures.significant(p, 2).removeprefix("0") if p < 0.995 else "1"


_BEYOND = "> 1,000"  # of a number that nobody would go on to
_REASONS = {
    "below-resolution": "below the clock's resolution",
    "no-spread": "sessions do not differ, and the clock's step is unknown",
    "depends": "sessions resemble the ones before them",
    "no-steady-state": "runs without a steady state",
    "unequal-values": "one side has more than twice as many values",
    "cut-off": "runs that failed, or were stopped at their limit, could overturn it",
}
_MANY = 4  # looks from which on a trial that grows had better have bounds for every look


class Looked(Protocol):
    """What has a look's level: a comparison, a verdict, a gate's candidate."""

    @property
    def looks(self) -> int:
        """Its number."""

    @property
    def look_alpha(self) -> float | None:
        """Its risk."""

    @property
    def looks_rule(self) -> LooksRule:
        """How looks share the risk."""

    @property
    def risk_total(self) -> float | None:
        """The most that all looks together risk."""


def level_text(risk: float) -> str:
    """Write the confidence of the intervals at a look of this risk, such as ``99.17 %``."""
    return f"{100.0 * (1.0 - risk):.4g} %"


def looks_text(one: Looked) -> str:
    """Say which look this is and what it risks; empty of a single one, or of none."""
    if one.looks_rule == "single" or one.look_alpha is None or one.risk_total is None:
        return ""
    if one.looks_rule == "always-valid":
        return "intervals hold however often one looks (a confidence sequence)"
    total = f"all looks together at most {_percent(one.risk_total)}"
    if one.looks_rule == "repeated":
        return f"look {one.looks} by a plan: judged at {_percent(one.look_alpha)}; {total}"
    if one.looks_rule == "planned" and one.looks == 1 and one.look_alpha == one.risk_total:
        return f"one look was planned: judged at {_percent(one.look_alpha)}"
    if one.looks_rule == "planned" and one.looks == 1:
        return f"all candidates share the risk: each is judged at {_percent(one.look_alpha)}"
    if one.looks_rule == "planned":
        each = f"{one.looks} looks are planned, each judged at {_percent(one.look_alpha)}"
        return f"{each} (alpha/{one.looks}); {total}"
    share = f"alpha/{one.looks * (one.looks + 1)}"
    text = f"look {one.looks} of a growing trial: judged at {_percent(one.look_alpha)} ({share}); {total}"
    if one.looks < _MANY:
        return text
    return f"{text}. For many looks plan --always-valid before the first: narrower from look 5 on"


def _percent(risk: float) -> str:
    """Write a risk, such as ``7.5 %`` and ``.42 %``."""
    return f"{100 * risk:.2g} %".removeprefix("0")


def speedup_text(line: Line) -> str:
    """Write the speedup with as many decimals as its interval deserves."""
    if line.speedup is None:
        return "-"
    return figures.ratio_within(line.speedup, line.low, line.high)


def interval_text(line: Line) -> str:
    """Write the interval, such as ``[1.02, 1.05]``; empty where there is none."""
    return "" if line.low is None or line.high is None else figures.ends(line.low, line.high)


def reason_text(line: Line) -> str:
    """Say why a benchmark is undecided whatever its interval is, and how many runs failed.

    Empty without either, and where sides are confounded: that is said of all of them.
    """
    if not isinstance(line, BenchmarkLine):
        return ""
    if line.fails_proven:
        return f"gate stops: {failed_text(line)}"
    if line.reason == "fails-always":
        return f"no run succeeds: {failed_text(line)}"
    told = few_sessions_text(line) or _REASONS.get(line.reason or "", ""), failed_text(line)
    return "; ".join(text for text in told if text)


def advice_text(line: Line, noun: Unit) -> str:
    """Write how much more would decide, such as ``about 4 more sessions (3 to 9)``; "" where nothing is advised."""
    more = line.more_sessions
    if line.outcome != "undecided" or more is None:
        return ""
    if more.worthwhile is None:
        return f"{_BEYOND} more {noun}s: measure differently"
    told = needed_text(more.worthwhile, noun)
    if more.high is not None and more.worthwhile > more.high:
        return told  # with so few sessions the chance is one of unlikely spreads
    ends = (
        _BEYOND if end is None or end > MOST_TOLD else str(end) for end in (more.low, more.high)
    )
    return f"{told} ({' to '.join(ends)})"


def chance_heading(lines: Iterable[Line]) -> str:
    """Say above short advice how likely it decides; empty where no number is advised."""
    told = any(one.more_sessions and one.more_sessions.worthwhile is not None for one in lines)
    return "would decide in 3 of 4 cases at least" if told else ""


def needed_text(count: int, noun: Unit) -> str:
    """Write a number of further sessions, or hosts, such as ``about 4 more sessions``."""
    return f"about {figures.counted(count, f'more {noun}')}"


_BENCHMARK, _VARIANT = 28, 20  # columns for names


@page_of.register(Multilevel)
def _multilevel_page(result: Multilevel) -> Page:
    ours, theirs = apart((result.candidate, result.baseline), _VARIANT)
    called = shortened([line.name for line in result.benchmarks], _BENCHMARK)
    known = sum(line.speedup is not None for line in result.benchmarks)
    rows: list[tuple[str, Line]] = [(called[line.name], line) for line in result.benchmarks]
    suite = ((f"these {known}", result.these), ("others like them", result.similar))
    rows += [(name, line) for name, line in suite if line is not None]
    line = result.these or next((x for x in result.benchmarks if x.speedup is not None), None)
    number = "" if line is None else f", {speedup_text(line)} {interval_text(line)}".rstrip()
    basis = f"{figures.counted(result.sessions, result.outermost)}, {result.design}"
    answer = f"{ours} against {theirs}: {outcome_word(result.word, timed=result.timed)}{number}"
    table = table_of(
        "benchmarks",
        rows,
        ("<", lambda row: row[0]),
        (theirs, lambda row: _mean(row[1], 1, result.unit)),
        (ours, lambda row: _mean(row[1], 0, result.unit)),
        ("speedup", lambda row: Value(speedup_text(row[1]), row[1].speedup)),
        (f"<{level_text(result.look_alpha)}", lambda row: interval_text(row[1])),
        ("<", lambda row: outcome_word(row[1].outcome, timed=result.timed)),
        ("<", lambda row: _remark(result, row[1])),
    )
    notes = [text for text in (result.occasions, looks_text(result)) if text]
    return page(
        result,
        f"verdict: {result.candidate} against {result.baseline}",
        f"{answer}; {basis}; margin {100 * result.margin:g} %",
        section(table, *notes),
    )


def _mean(line: Line, side: int, unit: str) -> Cell:
    return mean_cell(line, side, unit) if isinstance(line, BenchmarkLine) else ""


def _remark(result: Multilevel, line: Line) -> str:
    notes = [advice_text(line, result.outermost), reason_text(line)]
    own = line.outcome_uncorrected if isinstance(line, BenchmarkLine) else line.outcome
    if own != line.outcome and not getattr(line, "reason", None):
        count = sum(one.low is not None for one in result.benchmarks)
        notes.insert(0, f"after correction for {count}")
    return "; ".join(text for text in notes if text)


def mean_cell(line: BenchmarkLine, side: int, unit: str) -> Value:
    """Give the mean of the candidate (0) or the baseline (1); one with cut runs is a lower bound."""
    mean = (line.mean_candidate, line.mean_baseline)[side]
    mark = "" if line.cut is None else line.cut.mark(side)
    return Value("-" if mean is None else f"{mark}{figures.quantity(mean, unit)}", mean)


def count_text(value: float, unit: str) -> str:
    """Write a count in full, with its unit."""
    told = "" if unit in ("count", "counts") else figures.unit_text(unit)
    return f"{value:.16g} {told}".strip()


def few_sessions_text(line: BenchmarkLine, unit: str = "count") -> str:
    """Say what is not decided yet: ``2 against 1 in all runs, but 2 sessions: 1 more decides``; else ""."""
    one, more = line.identity, line.more_sessions
    if one is None or line.reason not in ("no-spread", "few-sessions"):
        return ""
    a, b = (count_text(value, unit) for value in (one.candidate, one.baseline))
    more_text = "" if more is None else f": {more.sessions} more decide{'s' * (more.sessions == 1)}"
    return f"{a} against {b} in all runs, but {figures.counted(one.sessions, 'session')}{more_text}"
