"""A search among places told in commits: `bisection_of`, and what a search hears to fill it while it is under way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import AnalysisError
from ..methods.multilevel.failures import fisher
from ..pages.model import cautions_of
from ..pages.number_format import counted, listed
from ..record.commits import NamedCommit
from .bisection import (
    EXIT_CODES,
    Bisection,
    BisectionAnswer,
    End,
    OpenStep,
    PlaceProbability,
    Probe,
    ProvenStep,
    SkippedCommit,
)
from .posterior import Posterior
from .step_search import Culprit, PairWord, Phase, StepSearch, unknown_pair

if TYPE_CHECKING:
    from ..data.trial import Trial

T = TypeVar("T")
_FROM_THE_SEARCH = [one.name for one in fields(Culprit) if one.name not in ("after", "upto")]
_LEAST_PROBABILITY = 0.001
_SMALL = 0.01  # a step below it may be one of layout
_NAMED = 3  # names in a caution
_FISHER = 0.05


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
    commits: Sequence[NamedCommit],
    heard: Heard | None = None,
    *,
    good: str,
    bad: str,
    risk: float = 0.05,
    skipped: Mapping[int, str] | None = None,
    proofs: Mapping[int, str] | None = None,
    fails_more: Sequence[int] = (),
    cut: Sequence[int] = (),
    unsteady: Sequence[int] = (),
    same_program: Sequence[int] = (),
    **told: Any,  # noqa: ANN401 - fields of many types
) -> Bisection:
    """Tell a search among places in commits.

    Parameters
    ----------
    search : StepSearch or None
        What was found; None while it is under way, and where good or bad does not build (then it is skipped).
    commits : sequence of NamedCommit
        All of them by place, the good one first.
    heard : Heard, optional
        What it told while it ran: probes and probabilities.
    good, bad : str
        What the user called them.
    risk : float
        That a commit is named falsely.
    skipped, proofs : mapping, optional
        Why each place cannot be measured; the trial of each proof by its number.
    fails_more, cut, unsteady, same_program : sequence of int
        Places whose runs fail more often than those of good and bad; whose runs time limits ended; of which too many
        runs reach no steady state; that build to the program of the measurable commit before.
    **told
        Other fields of the `Bisection`.
    """
    heard, why, last = heard or Heard(), skipped or {}, len(commits) - 1
    out = {*why, *heard.skipped_places, *(search.skipped if search else ())}
    answer: BisectionAnswer | None = None if search is None else search.answer
    if search is None and {0, last} & out:
        answer = "not-built"

    def span(after: int, upto: int) -> dict[str, Any]:
        return {"after": commits[after].commit, "upto": commits[upto].commit}

    def steps(found: Iterable[Culprit]) -> tuple[ProvenStep, ...]:
        return tuple(
            ProvenStep(
                **span(one.after, one.upto),
                commits=tuple(_with(NamedCommit, x) for x in commits[one.after + 1 : one.upto + 1]),
                trial=(proofs or {}).get(one.proof),
                **{name: getattr(one, name) for name in _FROM_THE_SEARCH},
            )
            for one in found
        )

    bisection = Bisection(
        state="under-way" if answer is None else "ended",
        phase=None if heard.now is None else heard.now.kind,
        answer=answer,
        exit_code=None if answer is None else EXIT_CODES[answer],
        good=_with(End, commits[0], name=good),
        bad=_with(End, commits[last], name=bad),
        commits=last,
        risk=risk,
        first=search.first if search is not None else heard.first or unknown_pair(risk),
        culprits=() if search is None else steps(search.culprits),
        open=tuple(
            OpenStep(
                **span(one.after, one.upto),
                first=one.after + 1,
                last=one.upto,
                probability=one.probability,
                why=one.why,
            )
            for one in (() if search is None else search.open)
        ),
        refuted=() if search is None else steps(search.refuted),
        skipped=tuple(
            _with(SkippedCommit, commits[k], why=why.get(k, "fails in every run"))
            for k in sorted(out)
        ),
        probes=tuple(
            _with(Probe, commits[k], sessions=count, slow_already=slow)
            for k, (count, slow) in heard.probes.items()
        ),
        posterior=tuple(
            _with(PlaceProbability, commits[k], probability=p)
            for k, p in heard.probabilities()
            if p > _LEAST_PROBABILITY
        ),
        sessions=heard.sessions if search is None else search.sessions,
        builds=len(heard.measured) if search is None else search.builds,
        **told,
    )

    def names(places: Sequence[int]) -> str:
        return listed([commits[k].short for k in places], _NAMED)

    about = names(fails_more), names(cut), names(unsteady), len(same_program)
    return replace(bisection, cautions=cautions_of(_cautions(bisection, *about)))


def _with(kind: type[T], one: NamedCommit, **more: object) -> T:
    return kind(**{name: getattr(one, name) for name in NamedCommit.__slots__}, **more)


def _cautions(told: Bisection, fail: str, cut: str, unsteady: str, same: int) -> dict[str, Any]:
    """Give the sentence of each caution that holds."""
    many = sum(len(one.commits) - 1 for one in told.culprits)
    small = any(abs(one.speedup - 1) < _SMALL for one in told.culprits)
    differ = [one.metric for one in told.other_metrics if one.word in ("faster", "slower")]
    return {
        "skipped-between": many
        and f"{counted(many, 'commit')} that cannot be measured {'lies' if many == 1 else 'lie'} right before a "
        "culprit: each of them may be it",
        "build-noise": told.culprits
        and f"{'a step below 1 % may be one of layout: ' * small}two builds of one source may differ by half a per "
        "cent and more, and no session tells that from a change of the code",
        "fails-more": bool(fail)
        and f"runs of {fail} fail more often than those of {told.good.short} and {told.bad.short}: only those that "
        "succeed are compared",
        "cut-off": bool(cut)
        and f"runs of {cut} were stopped at their limit and count as at least that: what a longer time would "
        "overturn is undecided. Raise the limit",
        "no-steady-state": bool(unsteady)
        and f"too many runs of {unsteady} reach no steady state: their values are those of all iterations, and no "
        "speed of the program's own. Let them run longer, or name a number with --warmup-iterations",
        "other-metric": differ
        and f"another metric differs too, and was not searched: {listed(differ)} (--metric {differ[0]})",
        "may-cancel": told.answer == "no-difference"
        and not told.one_program
        and "only both ends were compared: steps that cancel each other between them are not seen, nor is one "
        f"within the margin of {100 * told.margin:g} %",
        "heavy-search": any(one.why == "sessions spent" for one in told.open)
        and "the sessions were spent before the search was done: the step is small beside the noise",
        "one-program": same
        and f"{counted(same, 'commit')} {'builds' if same == 1 else 'build'} to the program of the one before: equal "
        "by construction, not measured again",
    }


def unsteady_variants(trial: Trial, metric: str, benchmarks: Sequence[str]) -> set[str]:
    """Name the variants of a trial of which too many runs of a benchmark reach no steady state."""
    found = set()
    for name in trial.manifest.variants:
        with suppress(AnalysisError):  # none of its runs counts
            judged = trial.matrix(name, metric, carry_zeros=True).judged_iterations
            if any(one.unsteady for bench, one in judged.items() if bench in benchmarks):
                found.add(name)
    return found


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
