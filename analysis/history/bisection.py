"""The answer of `fairtrial bisect`: the commits that changed a metric, each proven, and what is left open."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from ..announcing import cells, cut
from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import StoreError
from ..methods.multilevel.compare import lines_of_metrics
from ..methods.multilevel.law import word_of
from ..pages.model import (
    Next,
    Page,
    Table,
    cautions_of,
    columns_of,
    first_notes,
    section,
)
from ..pages.number_format import (
    Compared,
    Difference,
    Word,
    counted,
    is_time,
    listed,
    outcome_word,
    significant,
    time_span,
)
from ..pages.result import Result
from ..record.manifest import BISECTION, NamedCommit, judge_words
from ..record.run_numbers import METRIC_NUMBERS
from ..record.shapes import ShapeError, document_of, refuse_other_words, shaped
from ..stats.multiplicity import adjusted
from ..stats.samples import Array
from ..words import WIDTH, Name, normal, shown
from .step_search import Answer, Culprit, Kind, PairWord, Proof, Search, Why

T = TypeVar("T")
BisectionAnswer = Literal[Answer, "not-built"]
State = Literal["ended", "under-way"]
EXIT_CODES: dict[BisectionAnswer, int]
EXIT_CODES = {"proven": 0, "partly": 7, "no-difference": 1, "undecided": 7, "not-built": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class End(NamedCommit):
    """The good or the bad commit; `name` is what the user called it."""

    name: str

    @property
    def shown(self) -> str:
        """The name, as a screen shows it; the SHA where that takes too much room."""
        name = shown(self.name)
        wide = not name or cells(name) != len(name) or " " in name or name == self.commit
        return self.short if wide else cut(name, 24)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedCommit(NamedCommit):
    """A commit that cannot be measured, and `why`."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(NamedCommit):
    """A commit that the search measured between two ends.

    `sessions`: Those that held it as probe. `slow_already`: The probability then that the step lies at or before it.
    """

    sessions: int
    slow_already: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceProbability(NamedCommit):
    """How likely the step is this commit's, of the newest sessions that looked for it there."""

    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMetric:
    """Another metric of the first sessions, bad against good, after Holm over all of them.

    `speedup` is above 1 where bad is better; without numbers they are None.
    """

    metric: str
    unit: str
    better: str
    word: Word
    speedup: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenStep(Proof):
    """A step between two commits, on sessions of its own: it is one of `commits`, and `upto` is the last.

    Several `commits` stand where some of them cannot be measured. `speedup` is that of `upto` over `after`, `risk` that of
    its interval; `trial` is the folder of the proof's sessions, None where there is none.
    """

    after: str
    upto: str
    commits: tuple[NamedCommit, ...]
    trial: str | None

    @property
    def parent(self) -> str:
        """What it is held against: its parent, or the newest commit before that can be measured."""
        return "its parent" if len(self.commits) == 1 else self.after[:7]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStep:
    """A range of commits that holds a step with this probability; it is not proven, and `why`.

    They are those behind `after` up to `upto`; `first` and `last` are their places.
    """

    after: str
    upto: str
    first: int
    last: int
    probability: float
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bisection(Result):
    """What a search among commits found, or has found so far.

    `state`: Whether the search is over; one that was interrupted is under way until it is resumed. `phase`: What the
    newest sessions were for. `answer`, `exit_code`: None while it is under way. `good`, `bad`: The commits that were
    named. `commits`: How many lie behind good, bad among them. `path`: The folder that holds the trials. `host`: Where
    they were measured. `campaign`, `campaign_path`: Its name and its file. `metric`, `unit`, `better`: What was
    compared, as in a verdict. `benchmarks`: Those over which each value is a mean. `margin`, `risk`, `looks`: What was
    asked. `first`: Bad against good, before the search. `one_program`: Whether both build to the same program.
    `other_metrics`: What else those sessions tell. `culprits`, `refuted`: Steps that are proven, and those whose proof
    did not hold. `open`: What is left. `skipped`: What cannot be measured. `probes`: In the order in which they were
    first measured. `posterior`: Above 0.001, by place. `sessions`, `runs`, `builds`, `seconds`: What it took.
    """

    method: ClassVar[str] = "bisect"
    derived: ClassVar[tuple[str, ...]] = ("sentence", "next")

    state: State
    phase: Kind | None
    answer: BisectionAnswer | None
    exit_code: int | None
    good: End
    bad: End
    commits: int
    path: str | None
    host: str | None
    campaign: str | None
    campaign_path: str | None
    metric: str
    unit: str
    better: str
    benchmarks: tuple[str, ...]
    margin: float
    risk: float
    looks: tuple[int, ...]
    first: PairWord
    one_program: bool
    other_metrics: tuple[OtherMetric, ...]
    culprits: tuple[ProvenStep, ...]
    open: tuple[OpenStep, ...]
    refuted: tuple[ProvenStep, ...]
    skipped: tuple[SkippedCommit, ...]
    probes: tuple[Probe, ...]
    posterior: tuple[PlaceProbability, ...]
    sessions: int
    runs: int
    builds: int
    seconds: float

    @property
    def sentence(self) -> str:
        """The answer in one sentence, as the screen says it."""
        good, bad = self.good.shown, self.bad.shown
        if self.answer is None:
            done = counted(self.sessions, "session")
            return f"not finished: no answer on {good}..{bad} yet, {done} measured"
        if self.answer == "not-built":
            out = {one.place for one in self.skipped}
            names = [one.shown for one in (self.good, self.bad) if one.place in out]
            verb = "do" if len(names) == 2 else "does"
            return f"{' and '.join(names)} {verb} not build: there is nothing to compare"
        first = self.difference(self.first)
        if self.answer == "no-difference":
            if self.one_program:
                return f"no difference: {bad} builds to the same program as {good}"
            return f"no difference: {bad} {first.same()} as {good}, within {100 * self.margin:g} %"
        if self.culprits:
            rest = "; a further part is open" if self.answer == "partly" else ""
            return f"{self._proven(first.sentence(bad, good))}{rest}"
        if self.first.differs:
            return f"{first.sentence(bad, good)}, but no commit is proven to have made it so"
        return first.answer("undecided", bad, good, margin=self.margin)

    def _proven(self, whole: str) -> str:
        one, *others = self.culprits
        sha, timed, many = one.upto[:7], self.difference(one).timed, len(one.commits)
        made = f"made it {outcome_word(one.word, timed=timed)}"
        if not others:
            how = self.difference(one).clause(one.parent)
            if many == 1:
                return f"{sha} {made}: it {how}"
            return f"one of {many} commits up to {sha} {made}: {sha} {how}"
        made = "changed it" if any(other.word != one.word for other in others) else made
        names = listed([one.upto[:7] for one in self.culprits], 3)
        return f"{len(self.culprits)} commits {made}: {names}; {whole}"

    def difference(self, line: Compared) -> Difference:
        """Give the difference that a speedup of the metric stands for."""
        return Difference.of(line, metric=self.metric, unit=self.unit, better=self.better)

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, as command lines that can be pasted."""
        return () if self.command is None else (self.command.line,)

    @property
    def command(self) -> Next | None:
        """What to do next, and why; None where there is nothing to read or to go on with."""
        if self.path is None:
            return None
        if self.answer is None:
            return Next(("fairtrial", "bisect", "--resume", self.path), "goes on")
        metric = (*(() if self.metric == "wall" else ("--metric", self.metric)), *judge_words())
        shown_ones = (*self.culprits, *self.refuted[-1:])
        one = next((one for one in shown_ones if one.trial is not None), None)
        if one is not None:
            name = one.commits[-1].variant
            if self.culprits and is_time(self.unit):  # functions take time, and nothing else
                return Next(("fairtrial", "why", f"{one.trial}:" + name), "in which functions")
            why = "the claim's numbers" if self.culprits else "the last proof's numbers"
            return Next(("fairtrial", "verdict", f"{one.trial}", "--variant", name, *metric), why)
        words = ("fairtrial", "verdict", f"{self.path}/step0", *metric)
        why = f"{self.bad.shown} against {self.good.shown}"
        return Next(words, why) if self.first.sessions else None

    def screen(self) -> Page:
        """Set the culprit, the evidence, and what the search took."""
        rows = [(label, _narrow(text)) for label, text in _evidence(self)]
        tables = filter(None, (_table("culprits", _who(self)), _table("evidence", rows)))
        sections = (section(self.sentence), *map(section, tables), section(*_took(self)))
        # where a difference is known, the line of other metrics is enough
        differs = self.first.differs
        cautions = (one for one in self.cautions if one.code != "other-metric" or not differs)
        below = (*first_notes(cautions), *(() if self.command is None else (self.command,)))
        return Page(
            title=f"Bisection of {self.good.shown}..{self.bad.shown}",
            sections=sections,
            following=(section(*below),) if below else (),
        )


def words_of_metrics(
    trial: Trial,
    candidate: str,
    *,
    baseline: str,
    without: str,
    risk: float,
    margin: float = 0.01,
    benchmarks: Sequence[str] | None = None,
) -> tuple[OtherMetric, ...]:
    """Judge two variants by each metric of a trial but one, corrected by Holm's method over the metrics.

    `without`: The metric that is judged elsewhere. `risk`: Of all of these metrics together. `margin`: The largest
    difference that counts as none. `benchmarks`: In their mean; all by default. Metrics that cannot be judged are left
    out: unknown, without spread, or with values of 0.
    """

    def sides_of(metric: str) -> list[PerformanceMatrix]:
        sides = [trial.matrix(name, metric) for name in (candidate, baseline)]
        return sides if benchmarks is None else [one.select(list(benchmarks)) for one in sides]

    metrics = (one for one in (*METRIC_NUMBERS, *trial.manifest.metrics) if one != without)
    lines = [*lines_of_metrics(metrics, sides_of, confidence=1 - risk, margin=margin)]
    different: Array = adjusted(np.array([one.pvalue for one in lines]), "holm")
    equal: Array = adjusted(np.array([one.pvalue_equivalent for one in lines]), "holm")
    found = []
    for line, p, q in zip(lines, different.tolist(), equal.tolist(), strict=True):
        word = word_of(math.log(line.speedup), equivalent=q <= risk / 2, differs=p <= risk)
        about = trial.metric(line.metric)
        other = OtherMetric(
            metric=line.metric,
            unit=about.unit,
            better=about.better,
            word="undecided" if line.cut is not None and line.cut.withholds(word) else word,
            speedup=line.speedup,
            low=line.low,
            high=line.high,
        )
        found.append(other)
    return tuple(found)


def word_text(word: PairWord, later: str, metric: str, unit: str, better: str) -> str:
    """Say what a look says of the later of two commits: ``v2 takes 5 % more time (4 to 6 %): slower``."""
    found = Difference.of(word, metric=metric, unit=unit, better=better)
    difference = "" if found.ratio is None else f"{found.clause()}: "
    return f"{later} {difference}{outcome_word(word.word, timed=found.timed)}"


# --- A search among places, shown in commits.


_FROM_THE_SEARCH = [one.name for one in fields(Proof)]
_LEAST_PROBABILITY = 0.001
_SMALL = 0.01  # a step below it may be one of layout
_NAMED = 3  # names in a caution


def bisection_of(
    search: Search,
    commits: Sequence[NamedCommit],
    *,
    good: str,
    bad: str,
    skipped: Mapping[int, str] | None = None,
    proofs: Mapping[int, str] | None = None,
    fails_more: Sequence[int] = (),
    cut: Sequence[int] = (),
    unsteady: Sequence[int] = (),
    same_program: Sequence[int] = (),
    **text: Any,  # noqa: ANN401 - fields of many types
) -> Bisection:
    """Tell a search among places in commits; it may be under way.

    Where good or bad does not build it has no answer, and one of these is skipped. `commits`: All of them by place, the
    good one first. `good`, `bad`: What the user called them. `skipped`: Why each place cannot be measured. `proofs`:
    The trial of each proof by its number. `fails_more`, `cut`, `unsteady`, `same_program`: Places whose runs fail more
    often than those of good and bad; whose runs time limits ended; with too many runs that reach no steady state; that
    build to the program of the measurable commit before. `text`: Other fields of the `Bisection`.
    """
    why, last, found = skipped or {}, len(commits) - 1, search.found
    out = sorted({*why, *search.skipped})
    answer: BisectionAnswer | None = "not-built" if {0, last} & {*out} else None
    first, sessions = search.first, len(search.sessions)
    builds = len({k for places in search.measured for k in places})
    if found is not None:
        answer, first, sessions, builds = found.answer, found.first, found.sessions, found.builds
    if answer == "no-difference" and {0, last} & {*fails_more}:  # the runs left are no fair sample
        answer, first = "undecided", replace(first, word="undecided")

    def step(one: Culprit) -> ProvenStep:
        return ProvenStep(
            after=commits[one.after].commit,
            upto=commits[one.upto].commit,
            commits=tuple(_with(NamedCommit, x) for x in commits[one.after + 1 : one.upto + 1]),
            trial=(proofs or {}).get(one.proof),
            **{name: getattr(one, name) for name in _FROM_THE_SEARCH},
        )

    bisection = Bisection(
        state="under-way" if answer is None else "ended",
        phase=None if search.phase is None else search.phase.kind,
        answer=answer,
        exit_code=None if answer is None else EXIT_CODES[answer],
        good=_with(End, commits[0], name=good),
        bad=_with(End, commits[last], name=bad),
        commits=last,
        first=first,
        **{name: getattr(search, name) for name in ("margin", "risk", "looks")},
        # steps are shown once it is over
        culprits=tuple(map(step, found.culprits if found else ())),
        open=tuple(
            OpenStep(
                after=commits[one.after].commit,
                upto=commits[one.upto].commit,
                first=one.after + 1,
                last=one.upto,
                probability=one.probability,
                why=one.why,
            )
            for one in (found.open if found else ())
        ),
        refuted=tuple(map(step, found.refuted if found else ())),
        skipped=tuple(
            _with(SkippedCommit, commits[k], why=why.get(k, "fails in every run")) for k in out
        ),
        probes=tuple(
            _with(Probe, commits[k], sessions=count, slow_already=slow)
            for k, (count, slow) in search.probes.items()
        ),
        posterior=tuple(
            _with(PlaceProbability, commits[k], probability=p)
            for k, p in search.probabilities()
            if p > _LEAST_PROBABILITY
        ),
        sessions=sessions,
        builds=builds,
        **text,
    )
    fail, cut_off, odd = (
        listed([commits[k].short for k in places], _NAMED) for places in (fails_more, cut, unsteady)
    )
    known = _cautions(bisection, fail, cut_off, odd, len(same_program))
    return replace(bisection, cautions=cautions_of(known))


def _with(kind: type[T], one: NamedCommit, **more: object) -> T:
    return kind(**{name: getattr(one, name) for name in NamedCommit.__slots__}, **more)


def _cautions(found: Bisection, fail: str, cut: str, unsteady: str, same: int) -> dict[str, Any]:
    many = sum(len(one.commits) - 1 for one in found.culprits)
    small = any(abs(one.speedup - 1) < _SMALL for one in found.culprits)
    differ = [one.metric for one in found.other_metrics if one.word in ("faster", "slower")]
    return {
        "skipped-between": many
        and f"{counted(many, 'commit')} that cannot be measured {'lies' if many == 1 else 'lie'} right before a "
        "culprit: each of them may be it",
        "build-noise": found.culprits
        and f"{'a step below 1 % may be one of layout: ' * small}two builds of one source may differ by half a per "
        "cent and more, and no session tells that from a change of the code",
        "fails-more": bool(fail)
        and f"runs of {fail} fail more often than others: only those that succeed are compared",
        "cut-off": bool(cut)
        and f"runs of {cut} were stopped at their limit and count as at least that: what a longer time would "
        "overturn is undecided. Raise the limit",
        "no-steady-state": bool(unsteady)
        and f"too many runs of {unsteady} reach no steady state: their values are those of all iterations, and no "
        "speed of the program's own. Let them run longer, or name a number with --warmup-iterations",
        "other-metric": differ
        and f"another metric differs too, and was not searched: {listed(differ)} (--metric {differ[0]})",
        "may-cancel": found.answer == "no-difference"
        and not found.one_program
        and "only both ends were compared: steps that cancel each other between them are not seen, nor is one "
        f"within the margin of {100 * found.margin:g} %",
        "heavy-search": any(one.why == "sessions spent" for one in found.open)
        and "the sessions were spent before the search was done: too few (--sessions-max), or the step is small",
        "one-program": same
        and f"{counted(same, 'commit')} {'builds' if same == 1 else 'build'} to the program of the one before: equal "
        "by construction, not measured again",
    }


# --- The screen of a bisection: the answer, whose commits they are, the numbers of each
# proof, what is left, notes.


_STEPS = 4  # culprits with their evidence
_COMMITS = 4  # of one culprit that may be any of several
_ROWS = 3  # of what is open, refuted, skipped
_ODD_SHARE = 2.0  # from there on steps take each other back
_AUTHOR = 18
_SUBJECT = 60
_BESIDE = 7 + 10 + 3 * 2  # columns of SHA and date, and between the four
_TEXT = 68  # columns of a line of evidence that cannot be broken by its signs
_PHASES = {"step0": "is there a difference", "search": "search", "proof": "proof"}


def _table(name: str, rows: Sequence[tuple[str, ...]]) -> Table | None:
    columns = columns_of(*("<" for _ in (rows or [()])[0]))
    return Table(name=name, columns=columns, rows=tuple(rows), headed=False) if rows else None


def _narrow(text: str) -> str:
    """Make a text harmless; where signs are wide or joined it is cut to one line, as lines are broken by signs."""
    plain = shown(text)
    return plain if cells(plain) == len(plain) else cut(plain, _TEXT)


def _who(found: Bisection) -> list[tuple[str, ...]]:
    commits = [commit for one in found.culprits[:_STEPS] for commit in one.commits[-_COMMITS:]]
    authors = [_fit(one.author, _AUTHOR) for one in commits]
    wider = max((0, *(cells(one) - len(one) for one in authors)))
    room = WIDTH - _BESIDE - max(map(len, authors), default=0) - wider
    return [
        (one.short, one.date[:10], author, _fit(one.subject, min(room, _SUBJECT)))
        for one, author in zip(commits, authors, strict=True)
    ]


def _fit(text: str, width: int) -> str:
    """Cut a text of others to `width` columns, and to as many signs: joined ones take no column."""
    short = cut(shown(normal(text)), width)
    return short if len(short) <= width else f"{short[: width - 1]}…"


def _evidence(found: Bisection) -> Iterator[tuple[str, str]]:
    first = found.first
    if found.answer not in (None, "not-built") and first.speedup is not None and first.sessions:
        pair = f"{found.bad.shown} {_pair(found, first, found.good.shown)}"
        yield "whole", f"{pair}, {counted(first.sessions, 'session')}"
    for one in found.culprits[:_STEPS]:
        yield from _proof(found, one)
    if (more := len(found.culprits) - _STEPS) > 0:
        yield "", f"and {counted(more, 'more commit')}: --json has all"
    for part in found.open[:_ROWS]:
        many, upto = part.last - part.first + 1, part.upto[:7]
        behind = f"one of {many} commits behind {part.after[:7]} up to {upto}"
        where = upto if many == 1 else behind
        yield "open", f"{where}, with probability {part.probability:.2f} ({part.why})"
    if (more := len(found.open) - _ROWS) > 0:
        yield "open", f"and {more} more"
    for refuted in found.refuted[:_ROWS]:
        pair = _pair(found, refuted, refuted.parent)
        yield "refuted", f"{refuted.upto[:7]} {pair}, {_fresh(refuted)}"
    if found.other_metrics:
        others = [f"{Name(one.metric):.24} {_change(one)}" for one in found.other_metrics]
        yield "other", listed(others, 3)
    if found.answer == "not-built":
        yield from ((end.short, _why(end.why)) for end in found.skipped)
    elif found.skipped:
        names = [f"{one.short} {_why(one.why)}" for one in found.skipped]
        yield "skipped", listed(names, 2, mark="; ")
    if found.answer is None and found.phase is not None:
        yield "now", _PHASES[found.phase]


def _proof(found: Bisection, one: ProvenStep) -> Iterator[tuple[str, str]]:
    if len(found.culprits) > 1:
        yield one.upto[:7], found.difference(one).clause(one.parent)
    share = ""
    if one.share is not None and 0 < one.share < _ODD_SHARE:
        share = f"; {significant(100 * one.share, 2)} % of the whole"
    yield "proof", f"{_fresh(one)}{share}"
    sides = (("before it", one.before), ("behind it", one.behind))
    rests = ((side, found.difference(pair)) for side, pair in sides if pair.speedup is not None)
    if left := [f"{side} {rest.cell()} ({rest.cell_interval()})" for side, rest in rests]:
        yield "left", "; ".join(left)


def _fresh(one: ProvenStep) -> str:
    return f"{one.sessions} fresh sessions at a risk of {significant(100 * one.risk, 2)} %"


def _pair(bisection: Bisection, line: PairWord | ProvenStep, than: str) -> str:
    found, ends = bisection.difference(line), bisection.difference(line).interval()
    if line.word in ("faster", "slower"):
        return found.clause(than)
    same = (
        f"{found.same()} as {than}" if line.word == "equivalent" else f"against {than}: undecided"
    )
    return f"{same}{f' ({ends})' * bool(ends)}"


def _change(one: OtherMetric) -> str:
    """Say how bad has another metric: ``+31 %``, ``the same``, ``undecided``."""
    found = Difference.of(one, metric=one.metric, unit=one.unit, better=one.better)
    texts = {"equivalent": "the same", "faster": found.cell(), "slower": found.cell()}
    return texts.get(one.word, "undecided")


def _why(text: str) -> str:
    return cut(shown(" ".join(text.split())), 50)


def _took(found: Bisection) -> Iterator[str]:
    skipped = found.skipped and found.answer != "not-built"
    parts = (
        counted(found.sessions, "session"),
        "" if found.answer is None else counted(found.runs, "run"),  # they are counted at the end
        counted(found.builds, "commit") + " built",
        f"{len(found.skipped)} skipped" if skipped else "",
        time_span(found.seconds) if found.seconds else "",
    )
    yield f"{', '.join(filter(None, parts))}; {counted(found.commits, 'commit')} in all"
    if found.path is not None:
        yield f"stored in {found.path}"


# --- A bisection read back from its JSON, as ``bisect.json`` holds it.


def bisection_in(folder: Path) -> Bisection:
    """Read the bisection that a folder holds.

    Raises StoreError if there is none, or its file is no JSON or lacks what a bisection has.
    """
    path = folder / BISECTION
    fix = "name the folder that fairtrial bisect made"
    if not os.path.lexists(path):
        raise StoreError("the bisection cannot be read: it is not there", str(path), fix)
    return bisection_from(document_of(path, "bisection", fix), path)


def bisection_from(found: object, path: Path | None = None) -> Bisection:
    """Make a bisection of what `Bisection.to_dict` gave; keys that this version does not know are left out.

    `path` is named in errors.

    Raises StoreError if it is of a newer schema, or lacks what a bisection has.
    """
    where = None if path is None else str(path)
    fix = "take the folder's copy, or search anew: its trials can be read by themselves"
    damaged = "the bisection is damaged: {}".format
    if not isinstance(found, Mapping) or found.get("method") != Bisection.method:
        raise StoreError(damaged("it is not what fairtrial bisect writes"), where, fix)
    schema = found.get("schema")
    if not isinstance(schema, int) or schema > Bisection.schema:
        what = f"the bisection has schema {schema!r}, this version reads up to {Bisection.schema}"
        fix = "read it with the version that wrote it, or a newer one"
        raise StoreError(what, where, fix)
    try:
        known = shaped(_Cautions, found)
        pairs = zip(known.caution_codes, known.cautions, strict=True)
        cautions = [{"code": code, "text": text} for code, text in pairs]
        bisection = shaped(Bisection, {**found, "cautions": cautions})
        refuse_other_words(bisection)
        steps = (*bisection.culprits, *bisection.refuted)
        sides = (side for one in steps for side in (one.before, one.behind))
        rated: tuple[Compared, ...] = (bisection.first, *bisection.other_metrics, *steps, *sides)
        for one in rated:
            if any(ratio is not None and ratio <= 0 for ratio in (one.speedup, one.low, one.high)):
                raise ShapeError("a ratio is not above 0")
    except ValueError as error:  # a ShapeError, or one more of the one than of the other
        raise StoreError(damaged(str(error)), where, fix) from None
    return bisection


@dataclass(frozen=True, slots=True)
class _Cautions:
    """They stand in two lists, as in every answer."""

    caution_codes: tuple[str, ...]
    cautions: tuple[str, ...]
