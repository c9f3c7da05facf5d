"""What stands around the forest in words: what was measured, what the numbers rest on, how to read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from ..errors import StoreError
from ..methods.multilevel.page import looks_text
from ..pages import number_format as figures
from ..pages.model import Value
from ..pages.number_format import outcome_word
from ..record.shapes import ShapeError, opened, parse
from ..record.trial_files import RESOLVED
from ..verdict.hosts import like_these_text
from ..verdict.result import layouts_sentences
from ..verdict.sentence import amount_on_hosts, leading, sentence_of
from ..words import shorten, shortened, shown
from .subject import level_of, standing_of
from .written import column_of, few_sessions, written

if TYPE_CHECKING:
    from ..data.trial import Trial
    from ..methods.multilevel.result import Multilevel
    from ..verdict.result import Verdict
    from .subject import Subject

__all__ = [
    "Paragraph",
    "Span",
    "about",
    "headline",
    "leading",
    "level",
    "margin_text",
    "measured",
    "reading",
    "text_of",
]

# --- The verdict's sentence as a headline: the same words as on a screen, in which names
# are pieces of their own.


_LONG_NAME = 28  # as on a screen
# letters of nobody's alphabet, around the number of a name; `shown` lets them into no name
_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACE = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


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


def headline(verdict: Verdict) -> Paragraph:
    """Say the verdict's sentence, of a fleet also what holds on hosts like these.

    Two names that would look alike show where they differ.
    """
    names = [verdict.baseline, *(one.variant for one in verdict.candidates)]
    told = shortened(names, _LONG_NAME)
    places = {name: f"{_OPEN}{number}{_CLOSE}" for number, name in enumerate(names)}
    parts = _PLACE.split(sentence_of(verdict, places.__getitem__))
    spans = [
        Span(told[names[int(part)]], names[int(part)]) if number % 2 else Span(part)
        for number, part in enumerate(parts)
    ]
    if len(verdict.candidates) == 1 and verdict.candidates[0].hosts is not None:
        spans.append(
            Span(f"; on hosts like these: {like_these_text(verdict.candidates[0], verdict)}")
        )
    return tuple(span for span in spans if span.text)


_NAME = 24
_DESCRIPTION = 200  # characters of a campaign's description
_ORDERS = {
    "shuffled": "interleaved, each block in a new order",
    "interleaved": "interleaved, each block in the same order",
    "alternating": "interleaved, the order turned round from block to block",
    "drawn-start": "interleaved, the order turned round from block to block, the first drawn",
    "sequential": "one variant after the other",
}
_RULES = {"holm": "Holm's", "bh": "Benjamini and Hochberg's"}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)


def level(verdict: Verdict) -> Value:
    """Give the level of the printed intervals at this look, in percent."""
    number = 100 * (1 - verdict.look_alpha)
    return Value(f"{number:.4g}\N{NO-BREAK SPACE}%", number)


# ---- above the headline


def about(subject: Subject) -> tuple[str, str]:
    """Give the line above the headline: what it is about; when, what and how much was measured."""
    verdict = subject.verdict
    metric = "wall time" if verdict.metric == "wall" else shown(verdict.metric)
    metric += ", higher is better" if verdict.better == "higher" else ""
    parts = (_days(subject.trials), metric, _hosts(subject), _sessions(subject))
    return f"fairtrial report · {shown(subject.title)}", " · ".join(filter(None, parts))


def _days(trials: Sequence[Trial]) -> str:
    """Give the day on which each trial began, as the trial says; an imported one does not know it."""
    started = (trial.manifest.started for trial in trials if trial.manifest.origin != "imported")
    return " and ".join(filter(None, dict.fromkeys(map(_day, started))))


def _day(started: str) -> str:
    try:
        found = date.fromisoformat(started[:10])
    except ValueError:
        return ""
    return f"{found.day} {_MONTHS[found.month - 1]} {found.year}"


def _hosts(subject: Subject) -> str:
    level = level_of(subject.verdict)
    if level is not None:
        return amount_on_hosts(level, subject.verdict.session_runs)
    hosts = {trial.manifest.host_id or trial.manifest.host for trial in subject.trials}
    if subject.verdict.outermost == "host" or not hosts:  # hosts are counted with the runs
        return ""
    return "one host" if len(hosts) == 1 else f"{len(hosts)} hosts"


def _sessions(subject: Subject) -> str:
    verdict = subject.verdict
    known = any(one.sessions is not None for one in subject.matrices.values())
    if level_of(verdict) is not None or not known or not verdict.sessions:
        return ""
    return _many(verdict.sessions, verdict.outermost)


# ---- below the headline


def measured(subject: Subject) -> list[Paragraph]:
    """Give the paragraphs below the headline."""
    verdict = subject.verdict
    description = " ".join(_stored(subject.trial, "description").split()).rstrip(" .:")
    amount = _amount(subject)
    found: list[Paragraph] = [(Span(f"{amount[0].upper()}{amount[1:]}"),)]
    if description:
        found = [(Span(f"{shorten(shown(description), _DESCRIPTION)}: "), Span(amount))]
    if verdict.candidates:
        found += [_rests_on(verdict), *_on_these(verdict)]
    for text in map(shown, standing_of(verdict)):
        found.append((Span(text if text.endswith(".") else f"{text}."),))
    if verdict.trial is not None and not verdict.finished:
        found.append((Span("The trial is not finished: this is what its runs say so far."),))
    return found


def _stored(trial: Trial | None, *keys: str) -> str:
    """Give a text of the campaign as the trial stores it; "" where there is none."""
    if trial is None:
        return ""
    try:
        with opened(trial.path / RESOLVED) as file:
            found = parse(file.read())["campaign"]
        for key in keys:
            found = found[key]
    except (OSError, StoreError, ShapeError, KeyError, TypeError):
        return ""
    return found if isinstance(found, str) else ""


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
        each = _each(_runs_each(subject), blocks=order in _ORDERS and order != "sequential")
        parts.append(f"{where} {sessions}{f' {of} {each}' if each else ''}")
    if order in _ORDERS:
        parts.append(_ORDERS[order])
    if verdict.failed:
        verb = "is" if verdict.failed == 1 else "are"
        parts[-1] += f"; {_many(verdict.failed, 'more run')} failed and {verb} left out"
    return f"{', '.join(parts)}."


def _runs_each(subject: Subject) -> tuple[int, int]:
    """Give the fewest and the most runs of a cell in a session; zeros where nobody knows."""
    quantile = subject.verdict.quantile
    if quantile is None or quantile.level != "session":
        return subject.verdict.session_runs or (0, 0)
    # a session has one value then, of all its runs
    manifest = None if subject.trial is None else subject.trial.manifest
    return (0, 0) if manifest is None or manifest.sequential else (manifest.runs, manifest.runs)


def _each(runs: tuple[int, int], *, blocks: bool) -> str:
    """Say how many runs of a cell a session holds: in blocks there is one of each."""
    low, high = runs
    if not high:
        return ""
    s = "s" * (high != 1)
    if low != high:
        return f"{low} to {high} run{s} a cell"
    return f"{low} block{s}" if blocks else f"{low} run{s} a cell"


def _rests_on(verdict: Verdict) -> Paragraph:
    """Say what the intervals come from, and what counts as no difference."""
    results = _results(verdict)
    base = Span(shortened([verdict.baseline], _NAME)[verdict.baseline], verdict.baseline)
    if not results:
        return (Span("Nothing can be said of a difference from "), base, Span("."))
    first_of_design = {result.design: result for result in reversed(results)}
    designs = dict.fromkeys(result.design for result in results)
    told = dict.fromkeys(_design(first_of_design[design], verdict) for design in designs)
    none = f"; differences within {margin_text(verdict, verdict.margin)} count as none"
    if set(designs) == {"confounded"}:
        none = ""
    timed = results[0].timed
    better = "" if timed else ", above 1 where the candidate is better"
    return (
        Span(f"{'Speedups' if timed else 'Ratios'} are over "),
        base,
        Span(f"{better}, {', or '.join(told)}{none}."),
    )


def _design(result: Multilevel, verdict: Verdict) -> str:
    intervals, noun = f"with {level(verdict).text} intervals", result.outermost
    if result.design == "paired":
        return f"{intervals} from the {_many(result.sessions, noun)}"
    if result.design == "separate":
        return (
            f"{intervals} from {result.sessions_candidate} {noun}s of the candidate and "
            f"{result.sessions_baseline} of the baseline, measured apart"
        )
    if result.design == "hosts":
        hosts = max(line.sessions for line in result.benchmarks)
        return f"{intervals} for hosts like these, from {_many(hosts, 'host')}"
    if result.design.startswith("one session"):
        unit = result.design.rpartition(" ")[2]
        return f"{intervals} from the {unit} of one {noun}, so of that {noun} only"
    return f"without intervals, because {noun} and variant cannot be told apart"


def _on_these(verdict: Verdict) -> Iterator[Paragraph]:
    """Say of each candidate what holds on these hosts, where that is not all of the claim."""
    for one in verdict.candidates:
        if one.multilevel is None or one.hosts is None:
            continue
        line = one.hosts.these or one.hosts.benchmarks[0]
        known = len(one.multilevel.benchmarks) - len(one.hosts.left_out)
        over = Span(f"these {known}") if one.hosts.these is not None else Span(line.name, line.name)
        told = written(line, column_of(one.multilevel))
        word = outcome_word(line.outcome, timed=one.multilevel.timed)
        between = f" {told.interval}" if told.interval else ""
        yield (
            Span(f"On these {len(one.hosts.hosts)} hosts alone, over "),
            over,
            Span(": "),
            Span(shortened([one.variant], _NAME)[one.variant], one.variant),
            Span(f" {told.speedup.text}x{between}, {word}."),
        )


# ---- below the forest


def reading(verdict: Verdict, rows: Sequence[Mapping[str, Any]], *, beside: int) -> list[str]:
    """Say how the marks of the rows are read; `beside` candidates stand beside each other."""
    results = _results(verdict)
    if not results:
        return []
    what = "times" if figures.is_time(verdict.unit) else "values"
    found = [f"Dot: ratio of the geometric means of the {what}."]
    if any(row["low"].text for row in rows):
        found.append(f"Line: {level(verdict).text} interval.")
    judged = (verdict.baseline, *(one.variant for one in verdict.candidates))
    if layouts := layouts_sentences(verdict.layouts, judged):
        found.append(f"{' '.join(layouts)}.")
    if strokes := max((len(row["sessions"]) for row in rows), default=0):
        noun = f"{results[0].outermost}s"
        if results[0].design == "one session, blocks":
            noun = f"blocks of the one {results[0].outermost}"
        count = f"{strokes} " if strokes > 1 else ""
        found.append(f"Small strokes: the {count}{noun} it rests on.")
    if any(row["word"] == "undecided" for row in rows):
        nouns = " or ".join(dict.fromkeys(f"{one.outermost}s" for one in results))
        four = f"; “4 more”: about four more {nouns} would probably decide"
        found.append(f"Hollow: undecided{four if any(row['more'].text for row in rows) else ''}.")
    if verdict.margin > 0:
        scales = ", the same ruler in all columns, whose scales differ" if beside > 1 else ""
        margin = margin_text(verdict, verdict.margin)
        within = "" if margin.startswith("±") else "within "
        found.append(f"Grey band: {within}{margin}{scales}.")
    if verdict.always_valid:
        found.append("Intervals hold however often one looks.")
    elif told := looks_text(verdict):
        found.append(f"{told[0].upper()}{told[1:]}.")
    most = max(sum(line.low is not None for line in one.benchmarks) for one in results)
    if most > 1 and verdict.correction in _RULES:
        rule = _RULES[verdict.correction]
        found.append(
            f"Words hold after {rule} correction for {most} benchmarks; intervals are not corrected."
        )
    return found


def _results(verdict: Verdict) -> list[Multilevel]:
    return [one.multilevel for one in verdict.candidates if one.multilevel is not None]


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
