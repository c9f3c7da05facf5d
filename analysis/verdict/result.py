"""What a verdict holds: nothing that `multilevel` and HPT do not say, and where it comes from.

Its sentence, and the command that comes next, which can be pasted and works from here, are its own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from ..methods.multilevel.result import MANY_SESSIONS, HostLevel, Line, Multilevel, leading
from ..pages import number_format as figures
from ..pages.model import Next
from ..pages.number_format import Difference, Word, is_time
from ..pages.result import Result
from ..record.manifest import is_here, judge_words, resume_words
from ..words import WIDTH, Name, shortened
from .sentence import OpenLine, counted_sentence, open_lines, short_name, unanswered

if TYPE_CHECKING:
    from ..data.fleet import FleetHostStanding
    from ..data.iterations import IterationsOfCell, QuantileBasis
    from ..data.runs import Unit
    from ..diagnose.result import Diagnosis
    from ..methods.multilevel.result import HostEffect, LookRisk
    from ..plan.certificate import Certificate
    from .sides import Question, RunCounts, VariantSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantLayouts:
    """A variant that each session builds has `layouts` different ones in `sessions` that are judged."""

    variant: str
    layouts: int
    sessions: int


Reason = Literal[
    "estimand", "unit", "zeroing", "replication", "failed-assumption", "too-few-runs", "family"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow:
    """What one method says."""

    method: str
    unit: str
    estimand: str
    word: Word | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    pvalue: float | None = None
    pvalue_of: str = "two-sided"
    reliability: float | None = None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodDisagreement:
    """Why one method says something else than the first screen."""

    of: str
    reason: Reason
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """All methods on the same two sides."""

    methods: tuple[MethodRow, ...]
    disagreements: tuple[MethodDisagreement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HptBound:
    """The largest speedup that HPT claims with a reliability."""

    required: float
    value: float | None = None
    attained_confidence: float | None = None
    below_one: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateVerdict:
    """One candidate against the baseline."""

    derived: ClassVar[tuple[str, ...]] = ("hosts",)

    variant: str
    multilevel: Multilevel | None
    hpt_speedup: HptBound | None = None
    panel: Panel | None = None

    @property
    def hosts(self) -> HostLevel | None:
        """What was found on these very hosts; None of a trial."""
        return None if self.multilevel is None else self.multilevel.hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedData:
    """What was judged.

    `trial`, `path`, `campaign`, `campaign_path`, `host`: Where the runs stem from; None for sides that are files or of
    different trials. `metric`, `unit`, `better`: By what. `baseline`: Against whom. `outermost` ({"session", "host"}):
    What is counted as sessions: "host" where each host of a fleet is taken as one. `sources`: The two sides as a
    command named them; empty for a trial.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"outermost", "sources"})

    trial: str | None = None
    path: str | None
    campaign: str | None = None
    campaign_path: str | None = None
    host: str | None = None
    metric: str
    unit: str
    better: str
    baseline: str
    outermost: Unit = "session"
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WayOn:
    """What may be done with the data after a verdict.

    `closed`: Whether no more can be measured of the trial: it is made of other trials or files, or its looks are used.
    `in_vain`: Whether the campaign has to be changed before more can be measured. `explainable`: Whether functions of
    the programs may explain the metric: it is one of runs that the trial's own campaign measured, which can be executed
    again, and no service took a part of their time. `session_s`: The seconds that a session took, on average; None
    where nobody knows.
    """

    closed: bool = False
    in_vain: bool = False
    explainable: bool = False
    session_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Result):
    """The verdict on a trial, on a fleet, or on two sides.

    `data`, `counts`: What was judged, and how much of it there is. `question`: What was asked. `look`: Which look at the
    data this is, and what it risks. `finished`: Whether all was measured that was planned. `candidates`: In the trial's
    order. `alone`: Where there is one variant only, its own interval on each benchmark. `diagnosis`: What the runs look
    like; None where it was not looked at. `certificate`: The A/A certificate that fits; None where there is none.
    `hosts`: Of a fleet, all its hosts, judged or not. `layouts`: Of the judged variants that each session builds, how
    many layouts they had. `iterations`: What became of the iterations of runs, cell by cell, where some are not judged;
    of a fleet each host's. `quantile`: Of a metric that is a quantile of another, the values that it summarises: those of
    a session together, or of a run. `way_on`: What may be done with the data now. `whole`, `ratio`: Whether a screen
    shows all benchmarks, and speedups instead of per cent.
    """

    method: ClassVar[str] = "verdict"
    words: ClassVar[str] = "analysis.verdict.screen:screen"
    schema: ClassVar[int] = 2
    listed: ClassVar[tuple[str, ...]] = (
        *("data.*", "counts.*", "question.confidence", "question.margin", "question.correction"),
        *("look.*", "look.always_valid", "finished", "candidates", "alone", "diagnosis"),
        *("certificate", "hosts", "layouts", "iterations", "quantile", "sentence", "next"),
    )

    data: JudgedData
    counts: RunCounts
    question: Question
    look: LookRisk
    finished: bool = True
    candidates: tuple[CandidateVerdict, ...] = ()
    alone: tuple[VariantSummary, ...] = ()
    diagnosis: Diagnosis | None = None
    certificate: Certificate | None = None
    hosts: tuple[FleetHostStanding, ...] = ()
    layouts: tuple[VariantLayouts, ...] = ()
    iterations: tuple[IterationsOfCell, ...] = ()
    quantile: QuantileBasis | None = None
    way_on: WayOn = field(default_factory=WayOn)
    whole: bool = False
    ratio: bool = False

    @property
    def compared(self) -> tuple[Multilevel, ...]:
        """The comparisons of the candidates that could be compared."""
        found = (one.multilevel for one in self.candidates)
        return tuple(one for one in found if one is not None)

    @property
    def sentence(self) -> str:
        """The answer in one sentence, without a full stop, as screens and the report say it."""
        sides = [self.data.baseline, *(one.variant for one in self.candidates)]
        named = shortened(sides, _NAME)
        if not self.candidates:
            return _alone(self, named)
        known = [one for one in self.candidates if one.multilevel is not None]
        lost = [named[one.variant] for one in self.candidates if one.multilevel is None]
        base = named[self.data.baseline]
        if not known:
            return f"nothing could be compared with {base}"
        found = (
            _of_one(known[0], self, named) if len(known) == 1 else _of_several(known, self, named)
        )
        if not lost:
            return found
        return f"{found}; nothing could be compared of {figures.listed(lost, _LISTED)}"

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, as command lines that can be pasted."""
        found = next_of(self)
        return () if found is None else (found.line,)


# --- The answer in one sentence, in per cent of what the baseline takes, with its interval: screens, the report's
# first line and JSON say this sentence, and no other.

_NAME = 28  # columns of a name
_LISTED = 3  # names of those between which nothing is decided
_UNNAMED = "command"  # the only benchmark of commands that were compared: nobody named it


def answering(one: CandidateVerdict) -> Line | None:
    """Give the line that a candidate's sentence is about: of a fleet, that of its very hosts."""
    result = one.hosts or one.multilevel
    return None if result is None else leading(result)


def difference(line: Line | HostEffect, verdict: Verdict) -> Difference:
    """Give what a line of a verdict says, in per cent of the baseline."""
    data = verdict.data
    return Difference.of(line, metric=data.metric, unit=data.unit, better=data.better)


def _alone(verdict: Verdict, named: Mapping[str, str]) -> str:
    """Say what the only variant takes."""
    ours = named[verdict.data.baseline]
    if len(verdict.alone) != 1:
        return f"{ours} was measured alone: there is nothing to compare"
    (only,) = verdict.alone
    data = verdict.data
    verb = Difference(None, None, None, data.metric, data.unit, data.better).verb
    text = f"{ours} {verb} {figures.quantity(only.mean, data.unit)}"
    if only.low is None or only.high is None:
        return f"{text}: there is nothing to compare"
    ends = (figures.quantity(end, data.unit) for end in (only.low, only.high))
    return f"{text} ({' to '.join(ends)}): there is nothing to compare"


def where_text(one: CandidateVerdict) -> str:
    """Say over what an answer holds: `` over these 8 benchmarks``, `` on text``."""
    result, line = one.multilevel, answering(one)
    if result is None:
        return ""
    parts = []
    if line is None or line.of_suite:
        many = len(result.benchmarks) if line is None else result.together
        parts.append(f" over these {many} benchmarks")
    elif line.name != _UNNAMED:
        parts.append(f" on {short_name(line.name)}")
    if one.hosts is not None:
        comma = "," if parts and parts[0].startswith(" on ") else ""
        parts.append(f"{comma} on these {len(one.hosts.hosts)} hosts")
    return "".join(parts)


def _of_one(one: CandidateVerdict, verdict: Verdict, named: Mapping[str, str]) -> str:
    result, line = one.multilevel, answering(one)
    assert result is not None  # who calls has looked
    ours, base, where = named[one.variant], named[verdict.data.baseline], where_text(one)
    why = unanswered(result, line, ours)
    if line is None or why:
        return f"no answer for {ours} against {base}{where}: {why or 'there is no common mean'}"
    found = difference(line, verdict)
    if counted := counted_sentence(line, found, (ours, base), line.outcome, where):
        return counted
    answer = found.answer(line.outcome, ours, base, margin=verdict.question.margin, where=where)
    if line.outcome == "undecided" or not (interval := found.interval()):
        return answer
    return f"{answer} ({interval})"


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A variant with the ends of its speedup over the baseline, which itself has 1; `alike`: it equals the baseline."""

    variant: str
    low: float
    high: float
    alike: bool = True
    one: CandidateVerdict | None = None


def _of_several(
    known: Sequence[CandidateVerdict], verdict: Verdict, named: Mapping[str, str]
) -> str:
    entries = [_Ranked(verdict.data.baseline, 1.0, 1.0), *(_ranked(one, named) for one in known)]
    # not behind any other, by intervals that do not meet
    first = [e for e in entries if not any(other.low > e.high for other in entries)]
    where, count = where_text(known[0]), len(entries)
    timed = verdict.data.better != "higher" and is_time(verdict.data.unit)
    place = "fastest" if timed else "best"
    label = "" if timed else f" by {short_name(verdict.data.metric)}"
    names = [named[e.variant] for e in first]
    if len(first) == 1:
        return _leader(first[0], known, verdict, named, f"is the {place} of {count}")
    alike = all(e.alike for e in first) or len({end for e in first for end in (e.low, e.high)}) == 1
    within = f"{100 * verdict.question.margin:g} %"
    if len(first) < count:
        last, why = (
            ("and", f"the same within {within}") if alike else ("or", "undecided between them")
        )
        return f"{place} of {count}{where}{label}: {_series(names, last)} ({why})"
    if alike:
        others = _series(names[1:], "and")
        return f"{names[0]} and {others} do not differ{where}{label} by more than {within}"
    every = f"{_series(names, 'and')}{where}{label}"
    if all(answering(one) is None for one in known):
        return f"no answer for {every}: there is no common mean"
    return f"no difference found between {every}"


def _ranked(one: CandidateVerdict, named: Mapping[str, str]) -> _Ranked:
    line, low, high = answering(one), 0.0, math.inf
    result, word = one.multilevel, "undecided"
    if result and line and not unanswered(result, line, named[one.variant]):
        word = line.outcome
        if line.low and line.high:
            low = 0.0 if line.cut and line.cut.withholds("faster") else line.low
            high = math.inf if line.cut and line.cut.withholds("slower") else line.high
        elif line.speedup and line.law == "identity":
            low = high = line.speedup
        elif word != "undecided":  # by how much is unknown
            low = {"faster": math.nextafter(1.0, 2.0), "equivalent": 1.0}.get(word, low)
            high = {"slower": math.nextafter(1.0, 0.0), "equivalent": 1.0}.get(word, high)
    if word == "equivalent":
        low, high = min(low, 1.0), max(high, 1.0)
    return _Ranked(one.variant, low, high, word == "equivalent", one)


def _leader(
    first: _Ranked,
    known: Sequence[CandidateVerdict],
    verdict: Verdict,
    named: Mapping[str, str],
    place: str,
) -> str:
    """Say who is before all others, and by how much: before the baseline, or as the baseline before the next."""
    base = named[verdict.data.baseline]
    # of the baseline the nearest: each is behind it
    one = first.one or max(known, key=lambda one: getattr(answering(one), "speedup", None) or 0.0)
    line, ours, where = answering(one), named[one.variant], where_text(one)
    assert line is not None  # it has an interval, or equals the baseline in no run
    found = difference(line, verdict)
    if counted := counted_sentence(line, found, (ours, base), line.outcome, where):
        return f"{named[first.variant]} {place}: {counted}"
    if first.one is None:
        return f"{base} {place}{where}: {ours} {found.clause()}"
    return f"{ours} {place}: {found.clause(f'{base}{where}').partition(' ')[2]}"


def _series(names: Sequence[str], last: str) -> str:
    if len(names) > _LISTED + 1:
        return figures.listed(names, _LISTED, last=f" {last}")
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


# --- The heading of a verdict: what was measured, which metric, how much, and what counts as the same.


_DESIGNS = {  # by sessions, and by hosts
    "paired": ("paired", "paired"),
    "separate": ("sides measured in separate sessions", "sides measured apart"),
    "one session": ("within one session", "on one host"),
    "confounded": ("one session a side", "one host a side"),
}


def heading(verdict: Verdict) -> str:
    """Say what was measured, by which metric, how often, and what counts as the same."""
    metric = "wall time" if verdict.data.metric == "wall" else short_name(verdict.data.metric)
    metric += ", higher is better" * (verdict.data.better == "higher")
    margin = f"same within {100 * verdict.question.margin:g} %" if verdict.candidates else ""
    parts = [_measured(verdict), metric, _amount(verdict), margin, _look(verdict)]
    if len(" · ".join(filter(None, parts))) > WIDTH:  # on one line, if possible
        parts.remove(margin)
    return " · ".join(filter(None, parts))


def _look(verdict: Verdict) -> str:
    """Say which look this is, where a trial grows or looks are planned."""
    if verdict.look.always_valid:
        return "valid at every look"
    if verdict.look.rule == "planned" and verdict.look.count > 1:
        return f"one of {verdict.look.count} looks"
    return f"look {verdict.look.count}" if verdict.look.rule == "growing" else ""


def _measured(verdict: Verdict) -> str:
    """Name what was measured: a campaign on its host, or two sides."""
    if verdict.data.campaign is None:
        names = [*(one.variant for one in verdict.candidates[:1]), verdict.data.baseline]
        return " against ".join(map(short_name, names))
    campaign = short_name(verdict.data.campaign)
    if verdict.hosts:
        judged = [one.host for one in verdict.hosts if one.judged]
        of = f"{len(judged)} of " if len(judged) < len(verdict.hosts) else ""
        if not of and any(one.hosts is not None for one in verdict.candidates):
            return campaign  # how many there are is said with their sessions
        return f"{campaign} on {of}{figures.counted(len(verdict.hosts), 'host')}"
    if verdict.data.host is None:
        return campaign
    # files from which a trial was imported may name none
    name = "an unknown host" if verdict.data.host == "unknown" else short_name(verdict.data.host)
    return f"{campaign} on {name}"


def _amount(verdict: Verdict) -> str:
    """Say how many sessions and runs there are, and how the sides go together."""
    levels = [one.hosts for one in verdict.candidates if one.hosts is not None]
    if levels:
        return amount_on_hosts(levels[0], verdict.counts.session_runs)
    amount = figures.counted(verdict.counts.sessions, verdict.data.outermost)
    if verdict.quantile is not None and verdict.quantile.level == "session":
        pass  # one value each, of however many runs
    elif verdict.counts.session_runs is None:
        amount = f"{verdict.counts.runs} runs"
    else:
        amount += f" x {_counted(verdict.counts.session_runs, 'run')}"
    designs = (
        _DESIGNS[one.design.partition(",")[0]][one.outermost == "host"] for one in verdict.compared
    )
    return ", ".join([amount, *dict.fromkeys(designs)])


def amount_on_hosts(level: HostLevel, session_runs: tuple[int, int] | None) -> str:
    """Say how much was measured on several hosts: ``4 hosts x 5 sessions x 10 runs``."""
    parts = [_counted((len(level.hosts),) * 2, "host"), _counted(level.sessions_each, "session")]
    if session_runs is not None:
        parts.append(_counted(session_runs, "run"))
    return " x ".join(parts)


def _counted(ends: tuple[int, int], noun: str) -> str:
    low, high = ends
    return f"{low if low == high else f'{low} to {high}'} {noun}{'s' * (high != 1)}"


# --- What to do after a verdict.

_FEW = 6  # sessions that a trial has by default
_SIDE_BY_SIDE = 3  # candidates with a column each
_LAUNCHER_S = 0.05  # that a session takes in addition to its runs
_LEAST_S, _MINUTE_S = 5, 60
VARIES = "where it varies: 1,000 more sessions may not"


def next_of(verdict: Verdict) -> Next | None:
    """Give what to do next: go on where it is undecided or ended early, else ask why it is slower, or look at every run."""
    path = verdict.data.path
    if verdict.data.trial is None:
        return _of_sides(verdict)
    if path is None:
        return None
    if verdict.hosts:
        return _of_fleet(verdict, path)
    codes = {caution.code for caution in verdict.cautions}
    if "still-running" in codes:
        return Next(("fairtrial", "status", path), "how far it is")
    if "ended-early" in codes and not verdict.way_on.closed:
        return next_sessions(verdict, path, why="goes on where it ended")
    if not verdict.candidates:
        return next_report(verdict, path)
    known = verdict.compared
    if not known:
        return _of_nothing(verdict, path, codes)
    if not verdict.way_on.closed and any(one.withheld for one in known):
        return next_sessions(verdict, path, why="later: adds sessions of another time")
    if len(known) > _SIDE_BY_SIDE:
        best = max(known, key=_place).candidate
        why = "its benchmarks, with times"
        return next_asking(verdict, "verdict", path, more=("--variant", best), why=why)
    if "one-build" in codes:  # more sessions would bring no other build
        return next_report(verdict, path)
    return _settling(verdict, path) or _why(verdict, path) or next_report(verdict, path)


def _of_nothing(verdict: Verdict, path: str, codes: Collection[str]) -> Next | None:
    if verdict.counts.failed and "floored" not in codes:
        return next_of_failing(path)
    if verdict.question.explain:
        return None
    return next_asking(verdict, "verdict", path, more=("--explain",), why="why not")


def _of_fleet(verdict: Verdict, path: str) -> Next:
    if any(one.state != "complete" for one in verdict.hosts):
        return Next(("fairtrial", "status", path), "what is missing, and how to go on")
    if any(one.hosts is not None for one in verdict.candidates):
        why = "how much of the variation is between hosts"
        return next_asking(verdict, "sources", path, why=why)
    return next_report(verdict, path)


def _place(result: Multilevel) -> tuple[bool, float]:
    """Order candidates: the best of those that are faster comes last."""
    line = leading(result)
    if line is None or line.speedup is None:
        return False, 0.0
    return line.outcome == "faster", line.speedup


def _why(verdict: Verdict, path: str) -> Next | None:
    """Ask in which functions a candidate takes longer; None where none does, or nothing can be executed again.

    The host is not asked: what is said of a trial is the same wherever it is read, and `why` says what it needs.
    """
    if not verdict.way_on.explainable or verdict.way_on.closed or not is_time(verdict.data.unit):
        return None
    slower = [one.candidate for one in verdict.compared if one.word == "slower"]
    if not slower:
        return None
    all_of_them = len(slower) > 1 and verdict.question.usual  # which `why` finds itself
    source = path if all_of_them else f"{path}:" + slower[0]
    return Next(("fairtrial", "why", source), "in which functions it takes longer")


def next_asking(
    verdict: Verdict, command: str, *sources: str, more: Sequence[str] = (), why: str
) -> Next:
    """Ask of the same metric and in the same way by another command, with `more` options of its own."""
    metric = () if verdict.question.usual else ("--metric", verdict.data.metric)
    return Next(("fairtrial", command, *sources, *metric, *judge_words(command), *more), why)


def next_report(verdict: Verdict, *sources: str) -> Next:
    """Look at every run."""
    page = ("-o", "report.html")
    return next_asking(verdict, "report", *sources, more=page, why="every run, as a page")


def next_sessions(verdict: Verdict, path: str, *, why: str, sessions: int | None = None) -> Next:
    """Go on measuring, and say how long `sessions` take; where the campaign is not here, ask how."""
    each = None if verdict.way_on.session_s is None else verdict.way_on.session_s + _LAUNCHER_S
    length = None if each is None or sessions is None else sessions * each
    why += ", or measure differently" * ((sessions or 0) > MANY_SESSIONS)
    if verdict.look.rule == "repeated":
        time = () if length is None else ("--for", _duration(length))
        return Next(("fairtrial", "compare", "--resume", path, *time), why)
    if verdict.way_on.in_vain:
        return Next(("fairtrial", "status", path), "what stopped it, and how to go on")
    campaign = verdict.data.campaign_path or f"{path}/campaign.yaml"
    gone = not is_here(campaign)
    head = [f"+{sessions} sessions"] if gone and sessions is not None else []
    if length is not None and length >= _MINUTE_S:
        head.append(f"about {figures.time_span(length)}")
    why = f"{', '.join(head)}: {why}" if head else why
    return Next(resume_words(path, campaign, sessions), why + "; the campaign is not here" * gone)


def next_few(verdict: Verdict, path: str, sessions: int) -> Next | None:
    """Go on until there are as many sessions as a trial has by default; None where there are already."""
    if sessions >= _FEW:
        return None
    why = "an answer rests on sessions"
    return next_sessions(verdict, path, why=why, sessions=_FEW - sessions)


def _duration(seconds: float) -> str:
    if seconds <= _MINUTE_S - _LEAST_S:
        return f"{_LEAST_S * math.ceil(seconds / _LEAST_S)}s"
    return f"{math.ceil(seconds / _MINUTE_S)}m"


def _of_sides(verdict: Verdict) -> Next | None:
    """Of two sides that are not one trial's campaign: why, and what they look like."""
    if not verdict.data.sources:
        return None
    opened = [each for result in verdict.compared for each in open_lines(result)]
    if not opened:
        return next_report(verdict, *verdict.data.sources)
    counts = [each.sessions for each in opened if each.sessions is not None]
    why = "why, by the published methods too"
    if counts:
        needed = figures.counted(max(counts), f"more {verdict.data.outermost}")
        why = f"about {needed} would settle it"
    elif any(each.known for each in opened):
        why = f"more than 1,000 more {verdict.data.outermost}s would be needed"
    return next_asking(verdict, "verdict", *verdict.data.sources, more=("--explain",), why=why)


def next_of_failing(path: str) -> Next:
    """Give what to do next where runs failed, and no speed is the question."""
    return Next(("fairtrial", "status", path), "which runs failed")


def _settling(verdict: Verdict, path: str) -> Next | None:
    """Give what would settle what is undecided; None where all is decided."""
    known, several = verdict.compared, len(verdict.compared) > 1
    opened = [
        each._replace(name=f"{each.name} of {result.candidate}") if several else each
        for result in known
        for each in open_lines(result)
    ]
    if not opened or verdict.way_on.closed:
        return None
    within = [each for each in opened if each.sessions is not None]
    if verdict.look.rule == "repeated" and not within:
        return None
    if within:
        count = max(each.sessions or 1 for each in within)
        alone = verdict.look.rule == "repeated" and not several  # the screen has no other
        why = f"would settle {'it' if alone else _named(within)}"
        return next_sessions(verdict, path, why=why, sessions=count)
    if all(each.known for each in opened):
        if any(result.word != "undecided" for result in known):
            return None
        return next_asking(verdict, "sources", path, why=f"{VARIES} settle {_named(opened)}")
    return next_few(verdict, path, min(result.sessions for result in known))


def _named(opened: Sequence[OpenLine]) -> str:
    names = [f"{Name(each.name):.20}" for each in opened]
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 2 else " and ".join(names)
