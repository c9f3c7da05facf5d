"""The answer of `fairtrial bisect`: the commits that changed a metric, each proven, and what is left open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...pages.number_format import Word
from ...pages.result import Result
from ..search_events import Kind
from ..search_result import PairWord, Why

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
        from .sentence import sentence_of

        return sentence_of(self)

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next, as command lines that can be pasted."""
        from .sentence import next_of

        told = next_of(self)
        return () if told is None else (told.line,)
