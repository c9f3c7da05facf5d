"""A search among places told in commits: `bisection_of`, and what a search hears to fill it while it is under way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypedDict

from ..errors import AnalysisError
from ..methods.multilevel.failures import fisher
from ..pages.model import Caution
from ..pages.number_format import counted, listed
from .bisection import (
    EXIT_CODES,
    Bisection,
    BisectionAnswer,
    End,
    NamedCommit,
    OpenStep,
    OtherMetric,
    PlaceProbability,
    Probe,
    ProvenStep,
    SkippedCommit,
)
from .posterior import Posterior
from .step_search import Culprit, OpenRun, PairWord, Phase, StepSearch

if TYPE_CHECKING:
    from ..data.trial import Trial

_LEAST_PROBABILITY = 0.001
_SMALL = 0.01  # a step below it may be one of layout
_NAMED = 3  # names in a caution
_FISHER = 0.05


class CommitFacts(Protocol):
    """What a repository knows of a commit."""

    @property
    def place(self) -> int:
        """0 is good."""

    @property
    def sha(self) -> str:
        """In full."""

    @property
    def subject(self) -> str:
        """The message's first line."""

    @property
    def author(self) -> str:
        """The author's name."""

    @property
    def date(self) -> str:
        """The author's date, beginning with the day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a search among places does not know of itself.

    `good`, `bad`: What the user called them. `skipped`: Why each place cannot be measured. `fails_more`: Places whose runs
    fail more often than those of good and bad. `unsteady`: Places of which too many runs reach no steady state. `cut`: Of which time limits ended some. `same_program`: Places that build to the program of the
    measurable commit before. `one_program`: Whether good and bad are one program. `proofs`: The trial of each proof by its number.
    Other fields are those of `Bisection`.
    """

    good: str
    bad: str
    metric: str = "wall"
    unit: str = "s"
    better: str = "lower"
    benchmarks: tuple[str, ...] = ()
    path: str | None = None
    host: str | None = None
    campaign: str | None = None
    campaign_path: str | None = None
    margin: float = 0.01
    risk: float = 0.05
    looks: tuple[int, ...] = (6, 12, 24)
    skipped: Mapping[int, str] = field(default_factory=dict)
    fails_more: tuple[int, ...] = ()
    unsteady: tuple[int, ...] = ()
    cut: tuple[int, ...] = ()
    same_program: tuple[int, ...] = ()
    one_program: bool = False
    other_metrics: tuple[OtherMetric, ...] = ()
    proofs: Mapping[int, str] = field(default_factory=dict)
    runs: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Heard:
    """A watcher that keeps what the answer tells of a search, which may still be under way."""

    first: PairWord | None = None
    sessions: int = 0
    measured: set[int] = field(default_factory=set)
    skipped_places: set[int] = field(default_factory=set)
    probes: dict[int, tuple[int, float | None]] = field(default_factory=dict)
    posteriors: dict[tuple[int, int], Posterior] = field(default_factory=dict)
    now: Phase | None = None

    def phase(self, phase: Phase) -> None:
        """Hear what the next sessions are for."""
        self.now = phase

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        """Count a session; of a search keep its probe and the probabilities."""
        del values
        self.sessions += 1
        self.measured.update(places)
        if posterior is None or self.now is None:
            return
        ends = (self.now.lower, self.now.upper)
        for place in places:
            if ends[0] < place < ends[1]:
                count = self.probes.get(place, (0, None))[0]
                self.probes[place] = (count + 1, posterior.slow_already(place))
        self.posteriors.pop(ends, None)  # the newest stands last
        self.posteriors[ends] = posterior

    def word(self, phase: Phase, word: PairWord) -> None:
        """Keep the word on both ends."""
        if phase.kind == "step0":
            self.first = word

    def skipped(self, place: int) -> None:
        """Keep a place that cannot be measured."""
        self.skipped_places.add(place)

    def probabilities(self) -> Iterator[tuple[int, float]]:
        """Give each place's probability of the newest sessions that looked for a step there."""
        taken: list[tuple[int, int]] = []
        found: dict[int, float] = {}
        for (lower, upper), one in reversed(self.posteriors.items()):
            if all(upper <= a or b <= lower for a, b in taken):
                taken.append((lower, upper))
                found |= {place: one.of(place) for place in range(lower + 1, upper + 1)}
        yield from sorted(found.items())


def bisection_of(
    search: StepSearch | None,
    commits: Sequence[CommitFacts],
    about: Surroundings,
    heard: Heard | None = None,
) -> Bisection:
    """Tell a search in commits.

    Parameters
    ----------
    search : StepSearch or None
        What was found; None while it is under way, and where good or bad does not build (then it is skipped).
    commits : sequence
        All of them by place, the good one first.
    about : Surroundings
        What the search does not know.
    heard : Heard, optional
        What it told while it ran: probes and probabilities.
    """
    heard = heard or Heard()
    named = [_named(one) for one in commits]
    last = len(named) - 1
    skipped = {*about.skipped, *heard.skipped_places, *(search.skipped if search else ())}
    answer: BisectionAnswer | None = None if search is None else search.answer
    if search is None and {0, last} & skipped:
        answer = "not-built"
    unknown = PairWord(
        word="undecided", speedup=None, low=None, high=None, sessions=0, risk=about.risk
    )
    first = search.first if search is not None else heard.first or unknown
    culprits = () if search is None else tuple(_step(one, named, about) for one in search.culprits)
    left = () if search is None else tuple(_open(one, named) for one in search.open)
    return Bisection(
        state="under-way" if answer is None else "ended",
        phase=None if heard.now is None else heard.now.kind,
        answer=answer,
        exit_code=None if answer is None else EXIT_CODES[answer],
        good=End(**_facts(named[0]), name=about.good),
        bad=End(**_facts(named[last]), name=about.bad),
        commits=last,
        path=about.path,
        host=about.host,
        campaign=about.campaign,
        campaign_path=about.campaign_path,
        metric=about.metric,
        unit=about.unit,
        better=about.better,
        benchmarks=about.benchmarks,
        margin=about.margin,
        risk=about.risk,
        looks=about.looks,
        first=first,
        one_program=about.one_program,
        other_metrics=about.other_metrics,
        culprits=culprits,
        open=left,
        refuted=() if search is None else tuple(_step(one, named, about) for one in search.refuted),
        skipped=tuple(
            SkippedCommit(**_facts(named[k]), why=about.skipped.get(k, "fails in every run"))
            for k in sorted(skipped)
        ),
        probes=tuple(
            Probe(**_facts(named[k]), sessions=count, slow_already=slow)
            for k, (count, slow) in heard.probes.items()
        ),
        posterior=tuple(
            PlaceProbability(**_facts(named[k]), probability=p)
            for k, p in heard.probabilities()
            if p > _LEAST_PROBABILITY
        ),
        sessions=heard.sessions if search is None else search.sessions,
        runs=about.runs,
        builds=len(heard.measured) if search is None else search.builds,
        seconds=about.seconds,
        cautions=tuple(_cautions(answer, culprits, left, named, about)),
    )


def _named(one: CommitFacts) -> NamedCommit:
    return NamedCommit(
        place=one.place, commit=one.sha, subject=one.subject, author=one.author, date=one.date
    )


def _facts(one: NamedCommit) -> _Fields:
    return _Fields(
        place=one.place, commit=one.commit, subject=one.subject, author=one.author, date=one.date
    )


class _Fields(TypedDict):
    place: int
    commit: str
    subject: str
    author: str
    date: str


def _step(one: Culprit, named: Sequence[NamedCommit], about: Surroundings) -> ProvenStep:
    return ProvenStep(
        after=named[one.after].commit,
        upto=named[one.upto].commit,
        commits=tuple(named[one.after + 1 : one.upto + 1]),
        word=one.word,
        speedup=one.speedup,
        low=one.low,
        high=one.high,
        sessions=one.sessions,
        risk=one.risk,
        proof=one.proof,
        share=one.share,
        before=one.before,
        behind=one.behind,
        trial=about.proofs.get(one.proof),
    )


def _open(one: OpenRun, named: Sequence[NamedCommit]) -> OpenStep:
    return OpenStep(
        after=named[one.after].commit,
        upto=named[one.upto].commit,
        first=one.after + 1,
        last=one.upto,
        probability=one.probability,
        why=one.why,
    )


def _cautions(
    answer: BisectionAnswer | None,
    culprits: Sequence[ProvenStep],
    left: Sequence[OpenStep],
    named: Sequence[NamedCommit],
    about: Surroundings,
) -> Iterator[Caution]:
    between = [one for one in culprits if len(one.commits) > 1]
    if between:
        many = sum(len(one.commits) - 1 for one in between)
        yield Caution(
            "skipped-between",
            f"{counted(many, 'commit')} that cannot be measured {'lies' if many == 1 else 'lie'} right before a "
            "culprit: each of them may be it",
        )
    if culprits:
        small = min(abs(one.speedup - 1) for one in culprits) < _SMALL
        yield Caution(
            "build-noise",
            ("a step below 1 % may be one of layout: " if small else "")
            + "two builds of one source may differ by half a per cent and more, and no session tells that from a "
            "change of the code",
        )
    if about.fails_more:
        yield Caution(
            "fails-more",
            f"runs of {_list(about.fails_more, named)} fail more often than those of {named[0].short} and "
            f"{named[-1].short}: only those that succeed are compared",
        )
    if about.cut:
        yield Caution(
            "cut-off",
            f"runs of {_list(about.cut, named)} were stopped at their limit and count as at least that: what a longer "
            "time would overturn is undecided. Raise the limit",
        )
    if about.unsteady:
        yield Caution(
            "no-steady-state",
            f"too many runs of {_list(about.unsteady, named)} reach no steady state: their values are those of all "
            "iterations, and no speed of the program's own. Let them run longer, or name a number with "
            "--warmup-iterations",
        )
    differ = [one for one in about.other_metrics if one.word in ("faster", "slower")]
    if differ:
        yield Caution(
            "other-metric",
            f"another metric differs too, and was not searched: {listed([one.metric for one in differ])} "
            f"(--metric {differ[0].metric})",
        )
    if answer == "no-difference" and not about.one_program:
        yield Caution(
            "may-cancel",
            "only both ends were compared: steps that cancel each other between them are not seen, nor is one "
            f"within the margin of {100 * about.margin:g} %",
        )
    if any(one.why == "sessions spent" for one in left):
        yield Caution(
            "heavy-search",
            "the sessions were spent before the search was done: the step is small beside the noise",
        )
    if about.same_program:
        many = len(about.same_program)
        yield Caution(
            "one-program",
            f"{counted(many, 'commit')} {'builds' if many == 1 else 'build'} to the program of the one before: equal "
            "by construction, not measured again",
        )


def unsteady_variants(trial: Trial, metric: str, benchmarks: Sequence[str]) -> set[str]:
    """Name the variants of a trial of which too many runs of a benchmark reach no steady state."""
    found = set()
    for name in trial.manifest.variants:
        with suppress(AnalysisError):  # none of its runs counts
            judged = trial.matrix(name, metric, carry_zeros=True).judged_iterations
            if any(one.unsteady for bench, one in judged.items() if bench in benchmarks):
                found.add(name)
    return found


def _list(places: Iterable[int], named: Sequence[NamedCommit]) -> str:
    return listed([named[k].short for k in places], _NAMED)


def fails_more(counts: Mapping[int, tuple[int, int]], last: int) -> tuple[int, ...]:
    """Give the places whose runs fail more often than those of both ends, by Fisher's test at 0.05.

    Its hypothesis: runs of the place and of the ends fail with one probability, each on its own.

    Parameters
    ----------
    counts : mapping of int to (int, int)
        Failed runs and all runs of each place.
    last : int
        The place of the newer end; that of the older one is 0.
    """
    ends = [counts[place] for place in (0, last) if place in counts]
    failed, made = (sum(one[k] for one in ends) for k in (0, 1))
    return tuple(
        place
        for place, (bad, runs) in sorted(counts.items())
        if place not in (0, last)
        and bad * made > failed * runs
        and fisher(bad, runs, failed, made) <= _FISHER
    )
