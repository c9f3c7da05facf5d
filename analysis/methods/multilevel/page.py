"""The sound verdict in words: numbers and advice of each line, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from ...pages import number_format as figures
from ...pages.model import Cell, Column, Page, Section, Sentence, Table, Value, page_of
from ...pages.number_format import outcome_word
from ...words import apart, shortened
from .result import MANY_SESSIONS, MOST_TOLD, BenchmarkLine, Line, MoreSessions, Multilevel

if TYPE_CHECKING:
    from ...data.levels import Unit
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


def advice_text(line: Line, noun: Unit, *, short: bool = False) -> str:
    """Write how much more would decide; empty where nothing is advised."""
    more = line.more_sessions
    if line.outcome != "undecided" or more is None:
        return ""
    if more.worthwhile is None:
        return f"{_BEYOND} more {noun}s: measure differently"
    text, differently = needed_text(more.worthwhile, noun), ", or measure differently"
    if short:
        return f"{text} {_range(more)}".strip()
    text += f" decide{'s' * (more.worthwhile == 1)} with a chance of 3 in 4 at least"
    if not more.low == more.high == more.worthwhile:
        text = f"{text} {_range(more)}".strip()
    text += differently * (more.worthwhile > MANY_SESSIONS)
    return f"{text}; more runs alone would not do" if more.runs_suffice is False else text


def chance_heading(lines: Iterable[Line]) -> str:
    """Say above short advice how likely it decides; empty where no number is advised."""
    told = any(one.more_sessions and one.more_sessions.worthwhile is not None for one in lines)
    return "would decide in 3 of 4 cases at least" if told else ""


def needed_text(count: int, noun: Unit) -> str:
    """Write a number of further sessions, or hosts, such as ``about 4 more sessions``."""
    return f"about {figures.counted(count, f'more {noun}')}"


def _range(more: MoreSessions) -> str:
    if more.sessions is not None and more.high is not None and more.sessions > more.high:
        return ""  # with so few sessions the chance is one of unlikely spreads
    ends = (more.low, more.high)
    low, high = (_BEYOND if end is None or end > MOST_TOLD else str(end) for end in ends)
    return f"({low} to {high})"


_BENCHMARK, _VARIANT = 28, 20  # columns for names


@page_of.register(Multilevel)
def _multilevel_page(result: Multilevel) -> Page:
    notes = [] if result.occasions is None else [result.occasions]
    told = looks_text(result)
    if told:
        notes.append(told)
    elif any(line.more_sessions for line in result.benchmarks):
        noun = result.outermost
        plan = "--looks 2" if noun == "host" else "--looks 2, or --always-valid"
        notes.append(
            f"a second look at more {noun}s is another chance to be wrong: plan it ({plan}), or a "
            "trial that grows judges it at alpha/6"
        )
    return Page(
        title=f"verdict: {result.candidate} against {result.baseline}",
        sections=(
            Section((Sentence(_answer(result)),)),
            Section((_table(result), *(Sentence(text) for text in notes))),
        ),
        cautions=result.cautions,
    )


def _answer(result: Multilevel) -> str:
    ours, theirs = apart((result.candidate, result.baseline), _VARIANT)
    line = result.these
    if line is None:
        line = next((one for one in result.benchmarks if one.speedup is not None), None)
    word = outcome_word(result.word, timed=result.timed)
    number = "" if line is None or line.speedup is None else f", {speedup_text(line)}"
    interval = "" if line is None or line.low is None else f" {interval_text(line)}"
    return f"{ours} against {theirs}: {word}{number}{interval}; {_basis(result)}"


def _basis(result: Multilevel) -> str:
    noun = result.outermost
    alone = "on one host" if noun == "host" else "within one session"
    basis = {
        "paired": f"{figures.counted(result.sessions, noun)}, paired",
        "separate": f"{result.sessions_candidate} and {result.sessions_baseline} separate {noun}s",
        "one session, blocks": f"{alone}, by its blocks",
        "one session, runs": f"{alone}, by its runs",
        "confounded": f"{noun} and variant cannot be told apart",
        "hosts": f"on hosts like these, {figures.counted(result.sessions, 'session')} in all",
    }[result.design]
    return f"{basis}; margin {100 * result.margin:g} %"


def _table(result: Multilevel) -> Table:
    ours, theirs = apart((result.candidate, result.baseline), _VARIANT)
    called = shortened([line.name for line in result.benchmarks], _BENCHMARK)
    rows = [(called[line.name], *_row(result, line)) for line in result.benchmarks]
    known = sum(line.speedup is not None for line in result.benchmarks)
    for name, line in ((f"these {known}", result.these), ("others like them", result.similar)):
        if line is not None:
            rows.append((name, "", "", *_verdict(result, line)))
    return Table(
        name="benchmarks",
        columns=(
            Column("", "left"),
            Column(theirs),
            Column(ours),
            Column("speedup"),
            Column(level_text(result.look_alpha), "left"),
            Column("", "left"),
            Column("", "left"),
        ),
        rows=tuple(rows),
    )


def mean_cell(line: BenchmarkLine, side: int, unit: str) -> Value:
    """Give the mean of the candidate (0) or the baseline (1); one with cut runs is a lower bound."""
    mean = (line.mean_candidate, line.mean_baseline)[side]
    mark = "" if line.cut is None else line.cut.mark(side)
    return Value("-" if mean is None else f"{mark}{figures.quantity(mean, unit)}", mean)


def _row(result: Multilevel, line: BenchmarkLine) -> tuple[Cell, ...]:
    return (
        *(mean_cell(line, side, result.unit) for side in (1, 0)),
        *_verdict(result, line),
    )


def _verdict(result: Multilevel, line: Line) -> tuple[Cell, ...]:
    notes = [advice_text(line, result.outermost), reason_text(line)]
    if (
        isinstance(line, BenchmarkLine)
        and not line.reason
        and line.outcome != line.outcome_uncorrected
    ):
        count = sum(one.low is not None for one in result.benchmarks)
        notes.insert(0, f"after correction for {count}")
    note = "; ".join(text for text in notes if text)
    return (
        Value(speedup_text(line), line.speedup),
        interval_text(line),
        outcome_word(line.outcome, timed=result.timed),
        note,
    )


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
