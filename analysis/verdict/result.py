"""What a verdict holds: nothing that `multilevel` and HPT do not say, and where it comes from; what to do after it.

What comes next, after a verdict or a gate, are commands that can be pasted, and work from here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ..methods.multilevel.advice import AT_LOOKS, rounded, sessions_needed
from ..methods.multilevel.law import ErrorLaw
from ..methods.multilevel.result import MANY_SESSIONS, MOST_SHOWN, HostLevel, Line, Multilevel
from ..pages import number_format as figures
from ..pages.model import Caution, Next, ShortSentence
from ..pages.number_format import is_time
from ..pages.result import Result
from ..record.manifest import is_here, judge_words, resume_words
from ..record.trial_files import OPEN_LOOKS, Manifest, layouts_by_session, read_builds
from ..words import shorten, shown
from .sentence import leading, sentence_of

if TYPE_CHECKING:
    from ..data.iterations import IterationsOfCell, QuantileBasis
    from ..data.runs import Unit
    from ..data.trial import Trial
    from ..diagnose.result import Diagnosis
    from ..methods.multilevel.law import LookRisk
    from ..plan.certificate import Certificate
    from .fleet import FleetHostStanding
    from .gate import Gate, GatedCandidate
    from .judging import Question
    from .panel import Panel
    from .sides import RunCounts, VariantSummary

# --- How many layouts the sessions of a trial had, where each session builds its own, and
# for what its intervals speak.


Layout = tuple[tuple[str, str], ...]
_NAMED = 3
_NAME = 28  # columns of a variant's name
_FEWEST = 2  # sessions, and layouts: of one nothing is known of others


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantLayouts:
    """A variant that each session builds has `layouts` different ones in `sessions` that are judged."""

    variant: str
    layouts: int
    sessions: int


def drawn_layouts(trial: Trial, variants: Iterable[str]) -> dict[str, tuple[Layout, ...]]:
    """Give for each of these variants that each session builds the layout of every judged session.

    Raises StoreError if the record of the builds is damaged.
    """
    judged = np.unique(trial.session[trial.measured]).tolist()
    builds = layouts_by_session(read_builds(trial.path))
    return {
        name: tuple(builds[name][session].layout for session in judged if session in builds[name])
        for name in variants
        if name in builds
    }


def counted_layouts(each: Iterable[Mapping[str, Sequence[Layout]]]) -> tuple[VariantLayouts, ...]:
    """Count the layouts of one trial, or of the hosts of a fleet together; of builds without a hashed file nobody can."""
    found: dict[str, list[Layout]] = {}
    for drawn in each:
        for name, layouts in drawn.items():
            found.setdefault(name, []).extend(layouts)
    return tuple(
        VariantLayouts(variant=name, layouts=len(set(layouts)), sessions=len(layouts))
        for name, layouts in found.items()
        if layouts and all(layouts)
    )


def layout_cautions(drawn: Mapping[str, Sequence[Layout]]) -> Iterator[Caution]:
    """Name the variants with the same bytes in two sessions, or unknown ones, though each builds its own."""
    for name, layouts in drawn.items():
        if not all(layouts):
            yield Caution(
                "layout-not-varied",
                f"whether sessions had layouts of their own of {name} is not known: none of the files that they "
                "built is hashed; name them under 'artifacts'",
                (name,),
                ShortSentence.of("whether the layouts of {} differ is not known", name),
            )
    for one in counted_layouts([drawn]):
        if one.layouts < one.sessions:
            count = f"{figures.counted(one.layouts, 'layout')} in {one.sessions} sessions"
            yield Caution(
                "layout-not-varied",
                f"{one.variant} has {count}, by the SHA-256 of what they built: "
                "{layout_seed} does not reach the linker, or the linker does not use it",
                (one.variant,),
                ShortSentence.of(f"{{}} has {count}, though each builds its own", one.variant),
            )


def layouts_sentences(found: Sequence[VariantLayouts], variants: Sequence[str]) -> tuple[str, ...]:
    """Say how many layouts the judged variants have, and for what their intervals speak; nothing where of one build."""
    varied = {one.variant: one.layouts for one in found if one.layouts >= _FEWEST}
    if not varied:
        return ()
    fixed = [name for name in variants if name not in varied]
    low, high = min(varied.values()), max(varied.values())
    count = f"{low}" if low == high else f"{low} to {high}"
    of = _listed([*varied]) if fixed else "each variant"
    but = f"but for one build of {_listed(fixed)}" if fixed else "not for one build"
    return (
        f"{count} layouts of {of}:",
        f"the interval speaks for layouts that the linker may draw, {but}",
    )


def _listed(names: Sequence[str]) -> str:
    return figures.listed([shorten(shown(name), _NAME) for name in names], _NAMED)


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

    `closed`: Whether no more can be measured of the trial: it is made of another tool's files, or its looks are used.
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
    of a fleet each host's. `quantile`: Of a metric that is a quantile of another, of which values it is one: those of a
    session together, or of a run. `way_on`: What may be done with the data now. `whole`, `ratio`: Whether a screen
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
        """The answer in one sentence, as screens and the report say it."""
        return sentence_of(self)

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, as command lines that can be pasted."""
        found = next_of(self)
        return () if found is None else (found.line,)


# --- What to do after a verdict.

_SHORT = 20  # columns of a name in a reason
_FEW = 6  # sessions that a trial has by default
_SIDE_BY_SIDE = 3  # candidates with a column each
_LAUNCHER_S = 0.05  # that a session takes in addition to its runs
_LEAST_S, _MINUTE_S = 5, 60
_RESTS = "an answer rests on sessions"
_VARIES = "where it varies: 1,000 more sessions would not"
_FAILED = ("fails-more", "fails-always", "missing")


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
        return _next("status", path, why="how far it is")
    if "ended-early" in codes and not verdict.way_on.closed:
        return _going_on(verdict, path, why="goes on where it ended")
    if not verdict.candidates:
        return _report(verdict, path)
    known = verdict.compared
    if not known:
        return _of_nothing(verdict, path, codes)
    if not verdict.way_on.closed and any(one.withheld for one in known):
        return _going_on(verdict, path, why="later: adds sessions of another time")
    if len(known) > _SIDE_BY_SIDE:
        best = max(known, key=_place).candidate
        words = ("verdict", path, *_metric(verdict), "--variant", best)
        return _next(*words, why="its benchmarks, with times")
    if "one-build" in codes:  # more sessions would bring no other build
        return _report(verdict, path)
    return _settling(verdict, path) or _why(verdict, path) or _report(verdict, path)


def _of_nothing(verdict: Verdict, path: str, codes: Collection[str]) -> Next | None:
    if verdict.counts.failed and "floored" not in codes:
        return next_of_failing(path)
    words = ("verdict", path, *_metric(verdict), "--explain")
    return None if verdict.question.explain else _next(*words, why="why not")


def _of_fleet(verdict: Verdict, path: str) -> Next:
    if any(one.state != "complete" for one in verdict.hosts):
        return _next("status", path, why="what is missing, and how to go on")
    if any(one.hosts is not None for one in verdict.candidates):
        words = ("sources", path, *_metric(verdict, "sources"))
        return _next(*words, why="how much of the variation is between hosts")
    return _report(verdict, path)


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
    source = path if all_of_them else f"{path}:{slower[0]}"
    return _next("why", source, why="in which functions it takes longer")


def _next(*words: str, why: str) -> Next:
    return Next(("fairtrial", *words), why)


def _metric(verdict: Verdict, command: str = "verdict") -> tuple[str, ...]:
    metric = () if verdict.question.usual else ("--metric", verdict.data.metric)
    return (*metric, *judge_words(command))


def _report(verdict: Verdict, *sources: str) -> Next:
    words = (*sources, *_metric(verdict), "-o", "report.html")
    return _next("report", *words, why="every run, as a page")


def _going_on(verdict: Verdict, path: str, *, why: str, sessions: int | None = None) -> Next:
    """Go on measuring, and say how long `sessions` take; where the campaign is not here, ask how."""
    each = None if verdict.way_on.session_s is None else verdict.way_on.session_s + _LAUNCHER_S
    length = None if each is None or sessions is None else sessions * each
    if verdict.look.rule == "repeated":
        time = () if length is None else ("--for", _duration(length))
        return _next("compare", "--resume", path, *time, why=why)
    if verdict.way_on.in_vain:
        return _next("status", path, why="what stopped it, and how to go on")
    campaign = verdict.data.campaign_path or f"{path}/campaign.yaml"
    gone = not is_here(campaign)
    head = [f"+{sessions} sessions"] if gone and sessions is not None else []
    if length is not None and length >= _MINUTE_S:
        head.append(f"about {figures.time_span(length)}")
    why = f"{', '.join(head)}: {why}" if head else why
    return Next(resume_words(path, campaign, sessions), why + "; the campaign is not here" * gone)


def _duration(seconds: float) -> str:
    if seconds <= _MINUTE_S - _LEAST_S:
        return f"{_LEAST_S * math.ceil(seconds / _LEAST_S)}s"
    return f"{math.ceil(seconds / _MINUTE_S)}m"


def _of_sides(verdict: Verdict) -> Next | None:
    """Of two sides that are not one trial's campaign: why, and what they look like."""
    if not verdict.data.sources:
        return None
    opened = [each for result in verdict.compared for each in _open(result)]
    if not opened:
        return _report(verdict, *verdict.data.sources)
    counts = [each.sessions for each in opened if each.sessions is not None]
    why = "why, by the published methods too"
    if counts:
        needed = figures.counted(max(counts), f"more {verdict.data.outermost}")
        why = f"about {needed} would settle it"
    elif any(each.known for each in opened):
        why = f"more than 1,000 more {verdict.data.outermost}s would be needed"
    return _next("verdict", *verdict.data.sources, *_metric(verdict), "--explain", why=why)


# --- What is undecided.


class _Open(NamedTuple):
    """An undecided line: its name, and how many more sessions would decide it, None beyond 1,000 or if not `known`."""

    name: str
    sessions: int | None
    known: bool = True


def _settling(verdict: Verdict, path: str) -> Next | None:
    """Give what would settle what is undecided; None where all is decided."""
    known, several = verdict.compared, len(verdict.compared) > 1
    opened = [
        each._replace(name=f"{each.name} of {result.candidate}") if several else each
        for result in known
        for each in _open(result)
    ]
    if not opened or verdict.way_on.closed:
        return None
    within = [each for each in opened if each.sessions is not None]
    if verdict.look.rule == "repeated" and not within:
        return None
    if within:
        count = max(each.sessions or 1 for each in within)
        differently = ", or measure differently" * (count > MANY_SESSIONS)
        alone = verdict.look.rule == "repeated" and not several  # the screen has no other
        why = f"would settle {'it' if alone else _named(within)}{differently}"
        return _going_on(verdict, path, why=why, sessions=count)
    if all(each.known for each in opened):
        if any(result.word != "undecided" for result in known):
            return None
        why = f"{_VARIES} settle {_named(opened)}"
        return _next("sources", path, *_metric(verdict, "sources"), why=why)
    least = min(result.sessions for result in known)
    if least < _FEW:
        return _going_on(verdict, path, why=_RESTS, sessions=_FEW - least)
    return None


def _named(opened: Sequence[_Open]) -> str:
    names = [shorten(shown(each.name), _SHORT) for each in opened]
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 2 else " and ".join(names)


def _open(result: Multilevel) -> Iterator[_Open]:
    """Give the undecided lines of a candidate that more sessions might decide."""
    if result.design == "confounded":
        return
    for line in result.lines:
        if line.outcome != "undecided":
            continue
        counted = line.law == "identity" and line.more_sessions is not None
        if not counted and (line.speedup is None or line.reason is not None):
            continue
        if result.look.rule == "repeated" and not line.of_suite:
            yield _at_a_later_look(line, result)
            continue
        name = f"these {len(result.benchmarks)}" if line is result.these else line.name
        more = line.more_sessions
        if more is None:
            yield _Open(name, None, known=False)
        else:
            yield _Open(name, more.worthwhile)


def _at_a_later_look(line: Line, result: Multilevel) -> _Open:
    """Give how many more sessions would decide a command that is looked at again and again: at one of the looks."""
    law, most = ErrorLaw(alpha=result.look.alpha), OPEN_LOOKS[-1] - line.sessions
    margin, more = math.log1p(result.margin), None
    if most > 0:
        more = sessions_needed(line, law, margin, limit=most, chance=AT_LOOKS)
    if more is not None:
        last = line.sessions + more
        more = next((n for n in OPEN_LOOKS if n >= last), last) - line.sessions
    return _Open(result.candidate, more)


# --- After a gate.


def next_of_gate(
    gate: Gate,
    verdict: Verdict,
    manifest: Manifest | None,
    again: Sequence[str] = (),
) -> tuple[Next, ...]:
    """Give what to do next: go on where it is open, and ask again; else look at every run.

    `again`: The options with which the gate was asked, but for its looks. A fleet, or two sides that are no trial's
    campaign, have no `manifest`.
    """
    path = verdict.data.path
    if manifest is None or path is None:
        sources = verdict.data.sources or (path or "",)
        if any(one.state != "complete" for one in verdict.hosts):
            return (_next("status", *sources, why="what is missing, and how to go on"),)
        return (_report(verdict, *sources),)
    plan, reasons = manifest.looks_plan, {one.reason for one in gate.candidates}
    used = plan is not None and plan.rule == "planned"  # its one look has all the risk
    closed = manifest.origin == "imported" or "one-build" in reasons
    if gate.outcome == "undecided" and not closed and reasons.intersection(_FAILED):
        return (next_of_failing(path),)
    if gate.outcome != "undecided" or closed or used:
        return (_report(verdict, path),)
    campaign = verdict.data.campaign_path or f"{path}/campaign.yaml"
    if verdict.look.rule == "planned" and len(manifest.appended) + 1 >= verdict.look.count:
        why = "a new trial: all looks that were planned at this one are used"
        return (_next("run", campaign, why=why),) if is_here(campaign) else ()
    looks: tuple[str, ...] = ()  # a growing trial counts its looks itself
    if verdict.look.rule == "always-valid":
        looks = ("--always-valid",)
    elif verdict.look.rule == "planned":
        looks = ("--looks", f"{verdict.look.count}")
    asked = ("gate", gate.condition, path, *again, *_metric(verdict), *looks)
    then = _next(*asked, why="then the gate again")
    codes = {caution.code for caution in verdict.cautions}
    if "still-running" in codes:
        return (_next("status", path, why="how far it is"), then)
    if plan is not None or "ended-early" in codes:
        return (_going_on(verdict, path, why="goes on measuring"), then)
    counts = [count for one in gate.candidates for count in _needed(gate, one)]
    within = [count for count in counts if count is not None]
    least = min((one.found.sessions for one in gate.candidates), default=0)
    if within:
        more, why = max(within), "decides with a chance of 3 in 4 at least"
    elif least < _FEW:
        more, why = _FEW - least, _RESTS
    else:
        return (_next("sources", path, *_metric(verdict, "sources"), why=f"{_VARIES} decide it"),)
    return (_going_on(verdict, path, why=why, sessions=more), then)


def next_of_failing(path: str) -> Next:
    """Give what to do next where runs failed, and no speed is the question."""
    return _next("status", path, why="which runs failed")


def _needed(gate: Gate, one: GatedCandidate) -> Iterator[int | None]:
    """Give for each line that keeps a candidate undecided how many more sessions decide; None beyond 1,000."""
    look, sessions = one.found.look, one.found.sessions
    if one.found.design not in ("paired", "separate") or sessions < 2:
        return
    opened = one.benchmarks
    if gate.on == "suite" and one.suite is not None:
        opened = (one.suite,)
    # of a growing trial the look i has alpha / (i (i + 1))
    later = {"single": 1 / 6, "growing": look.count / (look.count + 2)}
    alpha = look.alpha * later.get(look.rule, 1.0)
    law = ErrorLaw(alpha=alpha, always_valid=look.always_valid)
    for line in (x.line for x in opened if x.outcome == "undecided"):
        if line.speedup is None or not line.error:
            continue
        # the distance to the limit takes the place of the one to equal speed
        far = math.exp(math.log(line.speedup) - gate.parsed_condition.log_limit)
        asked = replace(line, speedup=far, sessions=sessions if line.of_suite else line.sessions)
        more = sessions_needed(asked, law, 0.0, limit=MOST_SHOWN)
        yield None if more is None else rounded(more)
