"""What stands around the forest in words: what was measured, what the numbers rest on, how to read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

from ...methods.multilevel.page import looks_text
from ...pages import number_format as figures
from ...pages.model import Value
from ...pages.number_format import said
from ...record.trial_files import RESOLVED
from ...verdict.page import amount_on_hosts
from ...words import shorten, shown
from ..fleet import level_of, standing_of
from ..names import shortened
from ..written import column_of, written
from .result import Paragraph, Span

if TYPE_CHECKING:
    from ...data.trial import Trial
    from ...methods.multilevel.result import Multilevel
    from ...verdict.result import Verdict
    from ..subject import Subject

__all__ = ["deck", "kicker", "level", "reading"]

_NAME = 24
_DESCRIPTION = 200  # characters of a campaign's description
_ORDERS = {
    "shuffled": "interleaved, each block in a new order",
    "interleaved": "interleaved, each block in the same order",
    "sequential": "one variant after the other",
}
_RULES = {"holm": "Holm's", "bh": "Benjamini and Hochberg's"}


def kicker(subject: Subject) -> tuple[str, str]:
    """Give the line above the headline: what it is about; when, what and how much was measured."""
    verdict = subject.verdict
    parts = [*_days(subject.trials), _metric(verdict), *_hosts(subject), _sessions(subject)]
    return f"fairtrial report · {shown(subject.title)}", " · ".join(p for p in parts if p)


def deck(subject: Subject) -> tuple[Paragraph, ...]:
    """Give the paragraphs below the headline."""
    found: list[Paragraph] = []
    told = _description(subject.trial)
    amount = _amount(subject)
    if told:
        found.append((Span(f"{told}: "), Span(amount)))
    else:
        found.append((Span(f"{amount[0].upper()}{amount[1:]}"),))
    if subject.verdict.candidates:
        found.append(_rests_on(subject.verdict))
        found += _on_these(subject.verdict)
    found += [(Span(text),) for text in map(_sentence, standing_of(subject.verdict))]
    if subject.verdict.trial is not None and not subject.verdict.finished:
        found.append((Span("The trial is not finished: this is what its runs say so far."),))
    return tuple(found)


def level(verdict: Verdict) -> Value:
    """Give the level of the printed intervals at this look, in percent."""
    number = 100 * (1 - verdict.look_alpha)
    return Value(f"{number:.4g}\N{NO-BREAK SPACE}%", number)


def reading(
    verdict: Verdict,
    *,
    strokes: int,
    columns: int,
    intervals: bool,
    undecided: bool,
    advised: bool,
) -> tuple[str, ...]:
    """Say how the marks are read.

    Parameters
    ----------
    verdict : Verdict
        What is shown.
    strokes : int
        The most session values that a line has; 0 where none are drawn.
    columns : int
        How many candidates stand beside each other.
    intervals, undecided, advised : bool
        Whether any line has an interval, is undecided, or says how many sessions would decide.
    """
    results = _results(verdict)
    if not results:
        return ()
    what = "times" if figures.is_time(verdict.unit) else "values"
    found = [f"Dot: ratio of the geometric means of the {what}."]
    if intervals:
        found.append(f"Line: {level(verdict).text} interval.")
    if strokes:
        noun = f"{results[0].outermost}s"
        if results[0].design == "one session, blocks":
            noun = f"blocks of the one {results[0].outermost}"
        count = f"{strokes} " if strokes > 1 else ""
        found.append(f"Small strokes: the {count}{noun} it rests on.")
    if undecided:
        nouns = " or ".join(dict.fromkeys(f"{one.outermost}s" for one in results))
        four = f"; “4 more”: about four more {nouns} would probably decide" if advised else ""
        found.append(f"Hollow: undecided{four}.")
    margin = f"±\N{NO-BREAK SPACE}{100 * verdict.margin:g}\N{NO-BREAK SPACE}%"
    scales = ", the same ruler in all columns, whose scales differ" if columns > 1 else ""
    if verdict.margin > 0:
        found.append(f"Grey band: {margin}{scales}.")
    if verdict.always_valid:
        found.append("Intervals hold however often one looks.")
    elif told := looks_text(verdict):
        found.append(f"{told[0].upper()}{told[1:]}.")
    found += _corrected(verdict, results)
    return tuple(found)


def _corrected(verdict: Verdict, results: Sequence[Multilevel]) -> Iterator[str]:
    most = max(sum(line.low is not None for line in one.benchmarks) for one in results)
    if most > 1 and verdict.correction in _RULES:
        rule = _RULES[verdict.correction]
        yield (
            f"Words hold after {rule} correction for {most} benchmarks; intervals are not corrected."
        )


def _results(verdict: Verdict) -> list[Multilevel]:
    return [one.multilevel for one in verdict.candidates if one.multilevel is not None]


# ---- the kicker


def _days(trials: Sequence[Trial]) -> Iterator[str]:
    """Give the day on which each trial began, as the trial says; an imported one does not know it."""
    days = dict.fromkeys(
        _day(trial.manifest.started) for trial in trials if trial.manifest.origin != "imported"
    )
    if days:
        yield " and ".join(day for day in days if day)


def _day(started: str) -> str:
    try:
        found = date.fromisoformat(started[:10])
    except ValueError:
        return ""
    return f"{found.day} {_MONTHS[found.month - 1]} {found.year}"


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)


def _metric(verdict: Verdict) -> str:
    name = "wall time" if verdict.metric == "wall" else shown(verdict.metric)
    return f"{name}, higher is better" if verdict.better == "higher" else name


def _hosts(subject: Subject) -> Iterator[str]:
    level = level_of(subject.verdict)
    if level is not None:
        yield amount_on_hosts(level, subject.verdict.session_runs)
        return
    if subject.verdict.outermost == "host":  # counted with the runs
        return
    hosts = {trial.manifest.host_id or trial.manifest.host for trial in subject.trials}
    if hosts:
        yield "one host" if len(hosts) == 1 else f"{len(hosts)} hosts"


def _sessions(subject: Subject) -> str:
    if level_of(subject.verdict) is not None:  # told with the hosts
        return ""
    count = subject.verdict.sessions
    known = [one for one in subject.matrices.values() if one.sessions is not None]
    noun = subject.verdict.outermost
    return f"{count} {noun}{'s' * (count != 1)}" if known and count else ""


# ---- the deck


def _stored(trial: Trial | None, *keys: str) -> str:
    """Give a text of the campaign as the trial stores it; "" where there is none."""
    if trial is None:
        return ""
    try:
        found = json.loads((trial.path / RESOLVED).read_text("utf-8"))["campaign"]
        for key in keys:
            found = found[key]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return found if isinstance(found, str) else ""


def _description(trial: Trial | None) -> str:
    told = " ".join(_stored(trial, "description").split()).rstrip(" .:")
    return shorten(shown(told), _DESCRIPTION)


def _amount(subject: Subject) -> str:
    """Count what was measured."""
    verdict = subject.verdict
    order = _stored(subject.trial, "protocol", "order")
    parts = [
        f"{_many(verdict.runs, 'run')} of {_many(len(subject.matrices), 'variant')} on "
        f"{_many(len(subject.order), 'benchmark')}"
    ]
    level = level_of(verdict)
    if level is not None:
        parts.append(amount_on_hosts(level, verdict.session_runs))
    elif sessions := _sessions(subject):
        where, of = ("on", "with") if verdict.outermost == "host" else ("in", "of")
        each = _each(subject, blocks=order in ("shuffled", "interleaved"))
        parts.append(f"{where} {sessions}{f' {of} {each}' if each else ''}")
    if order in _ORDERS:
        parts.append(_ORDERS[order])
    if verdict.failed:
        verb = "is" if verdict.failed == 1 else "are"
        parts[-1] += f"; {_many(verdict.failed, 'more run')} failed and {verb} left out"
    return f"{', '.join(parts)}."


def _each(subject: Subject, *, blocks: bool) -> str:
    """Say how many runs of a cell a session holds: in blocks there is one of each."""
    low, high = subject.verdict.session_runs or (0, 0)
    if not high:
        return ""
    told = f"{low}" if low == high else f"{low} to {high}"
    s = "s" * (high != 1)
    return f"{told} block{s}" if blocks and low == high else f"{told} run{s} a cell"


def _rests_on(verdict: Verdict) -> Paragraph:
    """Say what the intervals come from, and what counts as no difference."""
    results = _results(verdict)
    base = Span(shortened([verdict.baseline], _NAME)[verdict.baseline], verdict.baseline)
    noun = "Speedups" if not results or results[0].timed else "Ratios"
    designs = dict.fromkeys(one.design for one in results)
    told = [_design(next(one for one in results if one.design == d), verdict) for d in designs]
    if not told:
        return (Span("Nothing can be said of a difference from "), base, Span("."))
    margin = f"±\N{NO-BREAK SPACE}{100 * verdict.margin:g}\N{NO-BREAK SPACE}%"
    none = f"; differences within {margin} count as none" if set(designs) != {"confounded"} else ""
    better = "" if results[0].timed else ", above 1 where the candidate is better"
    return (
        Span(f"{noun} are over "),
        base,
        Span(f"{better}, {', or '.join(dict.fromkeys(told))}{none}."),
    )


def _on_these(verdict: Verdict) -> Iterator[Paragraph]:
    """Say of each candidate what holds on these hosts, where that is not all of the claim."""
    for one in verdict.candidates:
        if one.multilevel is None or one.hosts is None:
            continue
        line = one.hosts.these or one.hosts.benchmarks[0]
        known = len(one.multilevel.benchmarks) - len(one.hosts.left_out)
        over = Span(f"these {known}") if one.hosts.these is not None else Span(line.name, line.name)
        told = written(line, column_of(one.multilevel))
        word = said(line.outcome, timed=one.multilevel.timed)
        name = shortened([one.variant], _NAME)[one.variant]
        between = f" [{told.low.text}, {told.high.text}]" if told.low.text else ""
        yield (
            Span(f"On these {len(one.hosts.hosts)} hosts alone, over "),
            over,
            Span(": "),
            Span(name, one.variant),
            Span(f" {told.speedup.text}x{between}, {word}."),
        )


def _sentence(text: str) -> str:
    return f"{shown(text)}." if not text.endswith(".") else shown(text)


def _design(result: Multilevel, verdict: Verdict) -> str:
    text = level(verdict).text
    if result.design == "paired":
        return f"with {text} intervals from the {_many(result.sessions, result.outermost)}"
    if result.design == "separate":
        return (
            f"with {text} intervals from {result.sessions_candidate} {result.outermost}s of the candidate and "
            f"{result.sessions_baseline} of the baseline, measured apart"
        )
    if result.design == "hosts":
        hosts = max(line.sessions for line in result.benchmarks)
        return f"with {text} intervals for hosts like these, from {_many(hosts, 'host')}"
    if result.design.startswith("one session"):
        unit = result.design.rpartition(" ")[2]
        one = result.outermost
        return f"with {text} intervals from the {unit} of one {one}, so of that {one} only"
    return f"without intervals, because {result.outermost} and variant cannot be told apart"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
