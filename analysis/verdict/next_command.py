"""What to do after a verdict: one command that can be pasted, and what it is for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..methods.multilevel.advice import AT_LOOKS, sessions_needed
from ..methods.multilevel.law import ErrorLaw
from ..methods.multilevel.result import MANY_SESSIONS, MOST_TOLD, BenchmarkLine, Line, Multilevel
from ..pages import number_format as figures
from ..pages.model import Next
from ..pages.number_format import is_time
from ..record.looks import OPEN_LOOKS
from ..record.manifest import asked_words
from ..words import shorten, shown
from .sentence import leading

if TYPE_CHECKING:
    from .result import CandidateVerdict, Verdict

_NAME = 20  # columns of a name in a reason
_NAMED = 2
_FEW = 6  # sessions that a trial has by default
_SIDE_BY_SIDE = 3  # candidates with a column each
_LAUNCHER_S = 0.05  # that a session takes beside its runs
_STEPS_S = (
    5,
    10,
    15,
    20,
    30,
    45,
    60,
    90,
    120,
    180,
    240,
    300,
    420,
    600,
    900,
    1200,
    1800,
    2700,
    3600,
)
_MINUTE = 60


class _Open(NamedTuple):
    """An undecided line: what it is called, and how many more sessions would decide it, None beyond 100."""

    name: str
    sessions: int | None
    low: int | None
    high: int | None
    known: bool


def next_of(verdict: Verdict) -> Next | None:
    """Give what to do next: go on where it is undecided or ended early, else ask why it is slower, or look at every run."""
    if verdict.hosts:
        return _of_fleet(verdict)
    if verdict.trial is None:
        return _of_sides(verdict)
    if verdict.path is None:
        return None
    codes = {caution.code for caution in verdict.cautions}
    if "still-running" in codes:
        return _next("status", verdict.path, why="how far it is")
    if "ended-early" in codes and not verdict.closed:
        return Next(_resume(verdict), "goes on where it ended")
    if not verdict.candidates:
        return _report(verdict)
    compared = [one for one in verdict.candidates if one.multilevel is not None]
    if not compared:
        if verdict.failed:
            return _next("status", verdict.path, why="which runs failed")
        return _next("verdict", verdict.path, *_metric(verdict), "--explain", why="why not")
    withheld = any(one.multilevel is not None and one.multilevel.withheld for one in compared)
    if withheld and not verdict.closed:
        return Next(_resume(verdict), "later: adds sessions of another time")
    if len(compared) > _SIDE_BY_SIDE:
        return _one_of(verdict, compared)
    if "one-build" in codes:  # more sessions would bring no other build
        return _report(verdict)
    return _settling(verdict, compared) or _why(verdict, compared) or _report(verdict)


def _why(verdict: Verdict, compared: list[CandidateVerdict]) -> Next | None:
    """Ask in which functions a candidate takes longer; None where none does, or nothing can be executed again.

    The host is not asked: what is said of a trial is the same wherever it is read, and `why` says what it needs.
    """
    if not verdict.explainable or verdict.closed or not is_time(verdict.unit):
        return None
    slower = [one.variant for one in compared if _word(one) == "slower"]
    if not slower:
        return None
    assert verdict.path is not None  # who calls has looked
    all_of_them = len(slower) > 1 and verdict.usual  # which `why` finds itself
    source = verdict.path if all_of_them else f"{verdict.path}:{slower[0]}"
    return _next("why", source, why="in which functions it takes longer")


def _next(*words: str, why: str) -> Next:
    return Next(("fairtrial", *words), why)


def _metric(verdict: Verdict) -> tuple[str, ...]:
    metric = () if verdict.usual else ("--metric", verdict.metric)
    return (*metric, *asked_words())


def _report(verdict: Verdict) -> Next:
    assert verdict.path is not None  # who calls has looked
    return _next(
        "report", verdict.path, *_metric(verdict), "-o", "report.html", why="every run, as a page"
    )


def _resume(verdict: Verdict) -> tuple[str, ...]:
    assert verdict.path is not None  # who calls has looked
    if verdict.looks_rule == "repeated":
        return ("fairtrial", "compare", "--resume", verdict.path)
    campaign = verdict.campaign_path or f"{verdict.path}/campaign.yaml"
    return ("fairtrial", "run", campaign, "--resume", "--trial", verdict.path)


def _one_of(verdict: Verdict, compared: list[CandidateVerdict]) -> Next:
    """Name the candidate to look at first: the best of those that are faster, or the first."""
    assert verdict.path is not None  # who calls has looked

    def place(one: CandidateVerdict) -> tuple[bool, float]:
        line = None if one.multilevel is None else leading(one.multilevel)
        if line is None or line.speedup is None:
            return False, 0.0
        return line.outcome == "faster", line.speedup

    variant = max(compared, key=place).variant
    return _next(
        "verdict",
        verdict.path,
        *_metric(verdict),
        "--variant",
        variant,
        why="its benchmarks, with times",
    )


def _of_sides(verdict: Verdict) -> Next | None:
    """Of two sides that are not one trial's campaign: why, and what they look like."""
    if not verdict.sources:
        return None
    compared = [one for one in verdict.candidates if one.multilevel is not None]
    opened = [each for one in compared for each in _open(one, several=False)]
    metric = _metric(verdict)
    if opened:
        counts = [each.sessions for each in opened if each.sessions is not None]
        why = "why, by the published methods too"
        if counts:
            needed = figures.counted(max(counts), f"more {verdict.outermost}")
            why = f"about {needed} would settle it"
        elif any(each.known for each in opened):
            why = f"more than 1,000 more {verdict.outermost}s would be needed"
        return _next("verdict", *verdict.sources, *metric, "--explain", why=why)
    return _next(
        "report", *verdict.sources, *metric, "-o", "report.html", why="every run, as a page"
    )


def _of_fleet(verdict: Verdict) -> Next | None:
    if verdict.path is None:
        return None
    if any(one.state != "complete" for one in verdict.hosts):
        return _next("status", verdict.path, why="what is missing, and how to go on")
    if any(one.hosts is not None for one in verdict.candidates):
        why = "how much of the variation is between hosts"
        return _next("sources", verdict.path, *_metric(verdict), why=why)
    return _report(verdict)


# ---- what is undecided


def _settling(verdict: Verdict, compared: list[CandidateVerdict]) -> Next | None:
    """Give what would settle what is undecided; None where all is decided."""
    assert verdict.path is not None  # who calls has looked
    opened = [each for one in compared for each in _open(one, several=len(compared) > 1)]
    if not opened or verdict.closed:
        return None
    within = [each for each in opened if each.sessions is not None]
    if verdict.looks_rule == "repeated" and not within:
        return None
    if within:
        largest = max(within, key=lambda each: each.sessions or 0)
        count = largest.sessions or 1
        differently = ", or measure differently" * (count > MANY_SESSIONS)
        why = f"would settle {_named(within)}{_range(largest)}{differently}"
        return Next(_more(verdict, count), why)
    if all(each.known for each in opened):
        if any(_decided(one) for one in compared):
            return None
        why = f"where it varies: 1,000 more sessions would not settle {_named(opened)}"
        return _next("sources", verdict.path, *_metric(verdict), why=why)
    if any(one.multilevel is not None and one.multilevel.sessions < _FEW for one in compared):
        least = min(one.multilevel.sessions for one in compared if one.multilevel is not None)
        return Next(_more(verdict, _FEW - least), "an answer rests on sessions")
    return None


def _decided(one: CandidateVerdict) -> bool:
    return _word(one) not in (None, "undecided")


def _word(one: CandidateVerdict) -> str | None:
    """Give the word of the line that the sentence is about; None where there is none."""
    line = None if one.multilevel is None else leading(one.multilevel)
    return None if line is None else line.outcome


def _more(verdict: Verdict, sessions: int) -> tuple[str, ...]:
    """Give the command that adds so many sessions; of a comparison at one sitting, the time for them."""
    words = _resume(verdict)
    if verdict.looks_rule != "repeated":
        return (*words, "--sessions", f"+{sessions}")
    if verdict.session_s is None:
        return words
    return (*words, "--for", _duration(sessions * (verdict.session_s + _LAUNCHER_S)))


def _duration(seconds: float) -> str:
    told = next((step for step in _STEPS_S if step >= seconds), None)
    if told is None:
        told = _MINUTE * math.ceil(seconds / _MINUTE)
    return f"{told}s" if told % _MINUTE or told <= _MINUTE else f"{told // _MINUTE}m"


def _open(one: CandidateVerdict, *, several: bool) -> Iterator[_Open]:
    """Give the undecided lines of a candidate that more sessions might decide."""
    result = one.multilevel
    if result is None or result.design == "confounded":
        return
    lines: list[Line] = [*result.benchmarks, *([result.these] if result.these else [])]
    for line in lines:
        told = line.law == "identity" and line.more_sessions is not None
        if line.outcome != "undecided" or (line.speedup is None and not told):
            continue
        if isinstance(line, BenchmarkLine) and line.reason is not None and not told:
            continue
        more = line.more_sessions
        if result.looks_rule == "repeated" and isinstance(line, BenchmarkLine):
            yield _at_a_later_look(line, result)
            continue
        name = f"these {len(result.benchmarks)}" if line is result.these else line.name
        if several:
            name = f"{name} of {one.variant}"
        if more is None:
            yield _Open(name, None, None, None, known=False)
        else:
            yield _Open(name, more.worthwhile, more.low, more.high, known=True)


def _at_a_later_look(line: BenchmarkLine, result: Multilevel) -> _Open:
    """Give how many more sessions would decide a command that is looked at again and again."""
    law = ErrorLaw(alpha=result.look_alpha)
    most = OPEN_LOOKS[-1] - line.sessions
    more = (
        sessions_needed(line, law, math.log1p(result.margin), limit=most, chance=AT_LOOKS)
        if most > 0
        else None
    )
    if more is not None:  # it is decided at a look
        last = line.sessions + more
        more = next((n for n in OPEN_LOOKS if n >= last), last) - line.sessions
    return _Open(result.candidate, more, None, None, known=True)


def _named(opened: list[_Open]) -> str:
    if len(opened) > _NAMED:
        return f"{shorten(shown(opened[0].name), _NAME)} and {len(opened) - 1} more"
    return " and ".join(shorten(shown(each.name), _NAME) for each in opened)


def _range(each: _Open) -> str:
    """Say for a spread at its quartiles how many it would be."""
    if each.low is None or (each.high is not None and (each.sessions or 0) > each.high):
        return ""
    high = "> 1,000" if each.high is None or each.high > MOST_TOLD else f"{each.high}"
    return "" if f"{each.low}" == high else f" ({each.low} to {high})"
