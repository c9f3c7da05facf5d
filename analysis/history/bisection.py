"""The answer of `fairtrial bisect`: the commits that changed a metric, each proven, and what is left open."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from ..announcing import cells, cut
from ..errors import StoreError
from ..pages.difference import Compared, Difference
from ..pages.model import Block, Next, Note, Page, Section, Sentence, Table, columns_of, page_of
from ..pages.number_format import Word, counted, is_time, listed, said, significant
from ..pages.result import Result
from ..record.bisections import BISECTION
from ..record.manifest import asked_words
from ..record.shapes import ShapeError, document_of, refuse_other_words, shaped
from ..words import WIDTH, normal, shown
from .step_search import Kind, PairWord, Why

BisectionAnswer = Literal["proven", "partly", "no-difference", "undecided", "not-built"]
State = Literal["ended", "under-way"]
EXIT_CODES: dict[BisectionAnswer, int] = {
    "proven": 0,
    "partly": 7,
    "no-difference": 1,
    "undecided": 7,
    "not-built": 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCommit:
    """A commit: its place (0 is good), SHA, subject, author and date, as git has them."""

    place: int
    commit: str
    subject: str
    author: str
    date: str

    @property
    def short(self) -> str:
        """The SHA's first seven signs."""
        return self.commit[:7]


@dataclass(frozen=True, slots=True, kw_only=True)
class End(NamedCommit):
    """The good or the bad commit; `name` is what the user called it."""

    name: str


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
class ProvenStep:
    """A step between two commits, on sessions of its own: it is one of `commits`, the last of which is `upto`.

    Several `commits` stand where some of them cannot be measured. `speedup` is that of `upto` over `after`, `risk` that of
    its interval; `share` its part of the whole difference; `before` and `behind` say what is left on either side;
    `trial` is the folder of the proof's sessions, None where there is none.
    """

    after: str
    upto: str
    commits: tuple[NamedCommit, ...]
    word: Word
    speedup: float
    low: float
    high: float
    sessions: int
    risk: float
    proof: int
    share: float | None
    before: PairWord
    behind: PairWord
    trial: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStep:
    """Commits of which one holds a step with this probability, which is not proven, and `why`.

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

    Attributes
    ----------
    state : {"ended", "under-way"}
        Whether the search is over; one that was interrupted is under way until it is resumed.
    phase : {"step0", "search", "proof"} or None
        What the newest sessions were for.
    answer : {"proven", "partly", "no-difference", "undecided", "not-built"} or None
        None while it is under way.
    exit_code : int or None
        0 proven; 1 no difference; 4 not built; 7 undecided, or something is open.
    good, bad : End
        The commits that were named.
    commits : int
        How many lie behind good, bad among them.
    path, host, campaign : str or None
        The folder that holds the trials; where they were measured; the campaign's name.
    campaign_path : str or None
        Its file.
    metric, unit, better : str
        What was compared, as in a verdict.
    benchmarks : tuple of str
        Those over which each value is a mean.
    margin, risk, looks
        What was asked.
    first : PairWord
        Bad against good, before the search.
    one_program : bool
        Whether good and bad build to the same program.
    other_metrics : tuple of OtherMetric
        What else those sessions tell.
    culprits, refuted : tuple of ProvenStep
        Steps that are proven, and those whose proof did not hold.
    open : tuple of OpenStep
        What is left.
    skipped : tuple of SkippedCommit
        What cannot be measured.
    probes : tuple of Probe
        In the order in which they were first measured.
    posterior : tuple of PlaceProbability
        Above 0.001, by place.
    sessions, runs, builds : int
        What it took.
    seconds : float
        And how long.
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
        return sentence_of(self)

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, as command lines that can be pasted."""
        told = next_of(self)
        return () if told is None else (told.line,)


# --- The answer of a bisection in one sentence, what it says of each step, and what to do next.


_NAME = 24  # columns for what the user called a commit
_NAMED = 3  # culprits that a sentence names


def name_of(end: End) -> str:
    """Give what the user called a commit, as a screen shows it; the SHA where that takes too much room."""
    name = shown(end.name)
    if not name or cells(name) != len(name) or " " in name:
        return end.short
    return end.short if name == end.commit else cut(name, _NAME)


def difference_of(told: Bisection, line: Compared) -> Difference:
    """Give the difference that a speedup of the metric stands for."""
    return Difference.of(line, metric=told.metric, unit=told.unit, better=told.better)


def with_interval(told: Bisection, line: Compared, than: str) -> str:
    """Say a difference with its interval: ``takes 5 % more time than its parent (4 to 6 %)``."""
    found = difference_of(told, line)
    ends = found.interval()
    return f"{found.phrase()} {found.link} {than}{f' ({ends})' if ends else ''}"


def word_of(told: Bisection, word: str) -> str:
    """Give ``slower`` or, of a metric that is no time, ``worse``."""
    timed = Difference(2.0, None, None, told.metric, told.unit, told.better).timed
    if word == "slower":
        return said("slower", timed=timed)
    return said("faster", timed=timed) if word == "faster" else word


def parent_of(one: ProvenStep) -> str:
    """Name what a culprit is held against: its parent, or the newest commit before that can be measured."""
    return "its parent" if len(one.commits) == 1 else one.after[:7]


def sentence_of(told: Bisection) -> str:
    """Say the answer in one sentence."""
    good, bad = name_of(told.good), name_of(told.bad)
    if told.answer is None:
        done = counted(told.sessions, "session")
        return f"not finished: no answer on {good}..{bad} yet, {done} measured"
    if told.answer == "not-built":
        out = {one.place for one in told.skipped}
        names = " and ".join(name_of(one) for one in (told.good, told.bad) if one.place in out)
        both = " and " in names
        return f"{names} {'do' if both else 'does'} not build: there is nothing to compare"
    if told.answer == "no-difference":
        if told.one_program:
            return f"no difference: {bad} builds to the same program as {good}"
        same = difference_of(told, told.first).same()
        return f"no difference: {bad} {same} as {good}, within {100 * told.margin:g} %"
    if told.culprits:
        rest = "; a further part is open" if told.answer == "partly" else ""
        return f"{_proven(told, good, bad)}{rest}"
    if told.first.word in ("faster", "slower"):
        whole = difference_of(told, told.first).sentence(bad, good)
        return f"{whole}, but no commit is proven to have made it so"
    return difference_of(told, told.first).answer("undecided", bad, good, margin=told.margin)


def _proven(told: Bisection, good: str, bad: str) -> str:
    if len(told.culprits) == 1:
        (one,) = told.culprits
        made = f"made it {word_of(told, one.word)}"
        sha = one.upto[:7]
        if len(one.commits) == 1:
            return f"{sha} {made}: it {with_interval(told, one, 'its parent')}"
        head = f"one of {len(one.commits)} commits up to {sha} {made}"
        return f"{head}: {sha} {with_interval(told, one, parent_of(one))}"
    words = {one.word for one in told.culprits}
    how = f"made it {word_of(told, words.pop())}" if len(words) == 1 else "changed it"
    names = listed([one.upto[:7] for one in told.culprits], _NAMED)
    whole = difference_of(told, told.first).sentence(bad, good)
    return f"{len(told.culprits)} commits {how}: {names}; {whole}"


def told_word(word: PairWord, later: str, metric: str, unit: str, better: str) -> str:
    """Say what a look says of the later of two commits: ``v2 takes 5 % more time (4 to 6 %): slower``."""
    found = Difference.of(word, metric=metric, unit=unit, better=better)
    ends = f" ({found.interval()})" if found.interval() else ""
    answer = said(word.word, timed=found.timed)
    difference = "" if found.ratio is None else f"{found.phrase()}{ends}: "
    return f"{later} {difference}{answer}"


def next_of(told: Bisection) -> Next | None:
    """Give what to do next; None where there is nothing to read or to go on with."""
    if told.path is None:
        return None
    if told.answer is None:
        return Next(("fairtrial", "bisect", "--resume", told.path), "goes on")
    metric = (*(() if told.metric == "wall" else ("--metric", told.metric)), *asked_words())
    steps = [one for one in (*told.culprits, *told.refuted[-1:]) if one.trial is not None]
    if steps:
        one = steps[0]
        name = f"{one.commits[-1].place:04d}-{one.upto[:7]}"
        if told.culprits and is_time(told.unit):  # functions take time, and nothing else
            return Next(("fairtrial", "why", f"{one.trial}:{name}"), "in which functions")
        why = "the claim's numbers" if told.culprits else "the last proof's numbers"
        variant = ("--variant", name)
        return Next(("fairtrial", "verdict", str(one.trial), *variant, *metric), why)
    if told.first.sessions:
        words = ("fairtrial", "verdict", f"{told.path}/step0", *metric)
        return Next(words, f"{name_of(told.bad)} against {name_of(told.good)}")
    return None


# --- The screen of a bisection: the answer, whose commits they are, the numbers of each
# proof, what is left, notes.


_NOTES = 3
_STEPS = 4  # culprits with their evidence
_COMMITS = 4  # of one culprit that may be any of several
_ROWS = 3  # of what is open, refuted, skipped
_ODD_SHARE = 2.0  # from there on steps take each other back
_AUTHOR = 18
_SUBJECT = 60
_BESIDE = 7 + 10 + 3 * 2  # columns of SHA and date, and between the four
_TEXT = 68  # columns of a line of evidence that cannot be broken by its signs
_PHASES = {"step0": "is there a difference", "search": "search", "proof": "proof"}


@page_of.register(Bisection)
def _bisection_page(told: Bisection) -> Page:
    blocks: list[Block] = []
    if told.culprits:
        blocks.append(_who(told))
    rows = [(label, _narrow(text)) for label, text in _evidence(told)]
    sections = [Section((Sentence(sentence_of(told)),)), Section(tuple(blocks))]
    if rows:
        sections.append(
            Section(
                (
                    Table(
                        name="evidence",
                        columns=columns_of("<", "<"),
                        rows=tuple(rows),
                        headed=False,
                    ),
                )
            )
        )
    sections.append(Section(tuple(map(Sentence, _took(told)))))
    below: list[Block] = [Note(text) for text in _notes(told)]
    command = next_of(told)
    below += [command] if command is not None else []
    return Page(
        title=f"Bisection of {name_of(told.good)}..{name_of(told.bad)}",
        sections=tuple(sections),
        following=(Section(tuple(below)),) if below else (),
    )


def _narrow(text: str) -> str:
    """Make a text harmless; where signs are wide or joined it is cut to one line, as lines are broken by signs."""
    plain = shown(text)
    return plain if cells(plain) == len(plain) else cut(plain, _TEXT)


def _who(told: Bisection) -> Table:
    commits = [commit for one in told.culprits[:_STEPS] for commit in one.commits[-_COMMITS:]]
    authors = [_fit(one.author, _AUTHOR) for one in commits]
    room = (
        WIDTH
        - _BESIDE
        - max(map(len, authors))
        - max(0, *(cells(one) - len(one) for one in authors))
    )
    rows = tuple(
        (one.short, one.date[:10], author, _fit(one.subject, min(room, _SUBJECT)))
        for one, author in zip(commits, authors, strict=True)
    )
    return Table(name="culprits", columns=columns_of("<", "<", "<", "<"), rows=rows, headed=False)


def _fit(text: str, width: int) -> str:
    """Cut a text of others to so many columns, and to as many signs: joined ones take no column."""
    short = cut(shown(normal(text)), width)
    return short if len(short) <= width else f"{short[: width - 1]}…"


def _evidence(told: Bisection) -> Iterator[tuple[str, str]]:
    good, bad = name_of(told.good), name_of(told.bad)
    first = told.first
    if told.answer not in (None, "not-built") and first.speedup is not None and first.sessions:
        yield "whole", f"{bad} {_pair(told, first, good)}, {counted(first.sessions, 'session')}"
    for one in told.culprits[:_STEPS]:
        yield from _proof(told, one, several=len(told.culprits) > 1)
    if len(told.culprits) > _STEPS:
        more = len(told.culprits) - _STEPS
        yield "", f"and {counted(more, 'more commit')}: --json has all"
    for left in told.open[:_ROWS]:
        yield "open", _open(left)
    if len(told.open) > _ROWS:
        yield "open", f"and {len(told.open) - _ROWS} more"
    for refuted in told.refuted[:_ROWS]:
        yield (
            "refuted",
            f"{refuted.upto[:7]} {_pair(told, refuted, parent_of(refuted))}, {_fresh(refuted)}",
        )
    if told.other_metrics:
        yield "other", _others(told)
    if told.skipped and told.answer != "not-built":
        names = [f"{one.short} {_why(one.why)}" for one in told.skipped]
        yield "skipped", listed(names, 2, mark="; ")
    elif told.answer == "not-built":
        for end in told.skipped:
            yield end.short, _why(end.why)
    if told.answer is None and told.phase is not None:
        yield "now", _PHASES[told.phase]


def _proof(told: Bisection, one: ProvenStep, *, several: bool) -> Iterator[tuple[str, str]]:
    parts = [_fresh(one)]
    if one.share is not None and 0 < one.share < _ODD_SHARE:
        parts.append(f"{significant(100 * one.share, 2)} % of the whole")
    if several:
        yield one.upto[:7], with_interval(told, one, parent_of(one))
    yield "proof", "; ".join(parts)
    sides = (("before it", one.before), ("behind it", one.behind))
    left = [f"{side} {_rest(told, pair)}" for side, pair in sides if pair.speedup is not None]
    if left:
        yield "left", "; ".join(left)


def _fresh(one: ProvenStep) -> str:
    return f"{one.sessions} fresh sessions at a risk of {significant(100 * one.risk, 2)} %"


def _pair(told: Bisection, line: PairWord | ProvenStep, than: str) -> str:
    """Say how a later commit differs from an earlier one, as its word allows."""
    found = difference_of(told, line)
    if line.word in ("faster", "slower"):
        return with_interval(told, line, than)
    ends = f" ({found.interval()})" if found.interval() else ""
    if line.word == "equivalent":
        return f"{found.same()} as {than}{ends}"
    return f"against {than}: undecided{ends}"


def _rest(told: Bisection, pair: PairWord) -> str:
    """Say what is left on one side of a culprit."""
    found = difference_of(told, pair)
    return f"{found.cell()} ({found.cell_interval()})"


def _others(told: Bisection) -> str:
    return listed([f"{cut(shown(one.metric), 24)} {_change(one)}" for one in told.other_metrics], 3)


def _change(one: OtherMetric) -> str:
    """Say how bad has another metric: ``+31 %``, ``the same``, ``undecided``."""
    if one.word == "equivalent":
        return "the same"
    found = Difference.of(one, metric=one.metric, unit=one.unit, better=one.better)
    return found.cell() if one.word in ("faster", "slower") else "undecided"


def _open(left: OpenStep) -> str:
    many = left.last - left.first + 1
    where = (
        left.upto[:7]
        if many == 1
        else f"one of {many} commits behind {left.after[:7]} up to {left.upto[:7]}"
    )
    return f"{where}, with probability {left.probability:.2f} ({left.why})"


def _why(text: str) -> str:
    return cut(" ".join(shown(text.replace("\n", " ")).split()), 50)


def _took(told: Bisection) -> Iterator[str]:
    parts = [counted(told.sessions, "session")]
    if told.answer is not None:  # runs are counted at the end
        parts.append(counted(told.runs, "run"))
    parts.append(counted(told.builds, "commit") + " built")
    if told.skipped and told.answer != "not-built":
        parts.append(f"{len(told.skipped)} skipped")
    if told.seconds:
        parts.append(_time(told.seconds))
    yield f"{', '.join(parts)}; {counted(told.commits, 'commit')} in all"
    if told.path is not None:
        yield f"stored in {told.path}"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _notes(told: Bisection) -> Iterator[str]:
    noted = [
        one
        for one in told.cautions
        if one.code != "other-metric" or told.first.word not in ("faster", "slower")
    ]  # beside a difference that is found, the line of other metrics is enough
    shown_, rest = noted[:_NOTES], noted[_NOTES:]
    if rest:
        shown_, rest = noted[: _NOTES - 1], noted[_NOTES - 1 :]
    for one in shown_:
        yield one.text
    if rest:
        yield f"and {len(rest)} more: --json has all"


# --- A bisection read back from its JSON, as ``bisect.json`` holds it.


def bisection_in(folder: Path) -> Bisection:
    """Read the bisection that a folder holds.

    Raises
    ------
    StoreError
        If there is none, or its file is no JSON or lacks what a bisection has.
    """
    path = folder / BISECTION
    fix = "name the folder that fairtrial bisect made"
    if not os.path.lexists(path):
        raise StoreError("the bisection cannot be read: it is not there", str(path), fix)
    return bisection_from(document_of(path, "bisection", fix), path)


def bisection_from(found: object, path: Path | None = None) -> Bisection:
    """Make a bisection of what `Bisection.to_dict` gave; keys that this version does not know are left out.

    `path` is named in errors.

    Raises
    ------
    StoreError
        If it is of a newer schema, or lacks what a bisection has.
    """
    if not isinstance(found, Mapping) or found.get("method") != Bisection.method:
        raise _damaged("it is not what fairtrial bisect writes", path)
    schema = found.get("schema")
    if not isinstance(schema, int) or schema > Bisection.schema:
        raise StoreError(
            f"the bisection has schema {schema!r}, this version reads up to {Bisection.schema}",
            None if path is None else str(path),
            "read it with the version that wrote it, or a newer one",
        )
    try:
        told = shaped(_Cautions, found)
        pairs = zip(told.caution_codes, told.cautions, strict=True)
        cautions = [{"code": code, "text": text} for code, text in pairs]
        bisection = shaped(Bisection, {**found, "cautions": cautions})
        refuse_other_words(bisection)
        steps = (*bisection.culprits, *bisection.refuted)
        sides = [side for one in steps for side in (one.before, one.behind)]
        rated: list[PairWord | OtherMetric | ProvenStep] = [
            bisection.first,
            *bisection.other_metrics,
            *steps,
            *sides,
        ]
        for one in rated:
            if any(ratio is not None and ratio <= 0 for ratio in (one.speedup, one.low, one.high)):
                raise ShapeError("a ratio is not above 0")
    except ValueError as error:  # a ShapeError, or one more of the one than of the other
        raise _damaged(str(error), path) from None
    return bisection


@dataclass(frozen=True, slots=True)
class _Cautions:
    """They stand in two lists, as in every answer."""

    caution_codes: tuple[str, ...]
    cautions: tuple[str, ...]


def _damaged(what: str, path: Path | None) -> StoreError:
    fix = "take the folder's copy, or search anew: its trials can be read by themselves"
    return StoreError(f"the bisection is damaged: {what}", None if path is None else str(path), fix)
