"""The search behind `find_steps`: by probability, then proof on sessions of its own.

It first asks whether there is a difference at all, by the ordinary word at looks that share the risk. Then it
measures, session by session, both ends and the place that halves the probability (`posterior`). A place that
has enough is proven against the nearest older one on fresh sessions: only that is stated. The j-th proof has the
level risk 2^(1-j), so that all proofs together state a false direction with at most the risk.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Literal, Protocol

import numpy as np
from scipy.special import stdtrit

from ..errors import AnalysisError, UsageError
from ..methods.multilevel.compare import judged_pair
from ..methods.multilevel.result import Cut
from ..pages.model import Caution, Page, cautions_of, section
from ..pages.number_format import Compared, Difference, Word, is_time
from ..pages.result import Result
from ..stats.arguments import checks_arguments, counted, shown
from .places import Posterior, posterior_of

# --- What a search for steps found: a word on both ends, proven culprits, and what is left open.


Answer = Literal["proven", "partly", "no-difference", "undecided"]
Why = Literal[
    "sessions spent", "not proven in three proofs", "nothing left to build", "an end fails"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairWord:
    """Two places held against each other on sessions that have both: the later one's speedup over the earlier.

    Above 1 the later one is faster. `risk` is that of its interval, which is one number of counts that do not
    vary; without two sessions `word` is "undecided" and the numbers are None.
    """

    word: Word = "undecided"
    speedup: float | None = None
    low: float | None = None
    high: float | None = None
    sessions: int = 0
    risk: float

    @property
    def differs(self) -> bool:
        """Whether the later place is faster or slower."""
        return self.word in ("faster", "slower")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the sessions of a proof say of a place against the nearest older one.

    `share` is its part of the whole difference there, None where the ends do not differ. `before` and `behind` say
    what is left on either side.
    """

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit(Proof):
    """A proven step: it lies in `after` .. `upto`; `upto` is measured and `after` is not slow yet.

    Between them only places that do not build can lie.
    """

    after: int
    upto: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """Places after `after`, up to `upto`, that hold a step with this probability, which is not proven."""

    after: int
    upto: int
    probability: float
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepSearch(Result):
    """What a search among commits found.

    `commits`: Places are 0 (good) to this one (bad). `answer`: Whether every step found is proven, some are, or there is
    none within the margin. `exit_code`: 0 proven; 1 no difference; 7 undecided, or something is open. `first`: Bad
    against good, before the search. `culprits`: In the order of places. `open`: What is left, and why. `refuted`:
    Places whose proof did not hold. `skipped`: Places that do not build, or failed twice in a row. `sessions`,
    `builds`: Sessions measured; places that were built for them. `measured`: The places of each session, in order. `unit`: As given.
    """

    method: ClassVar[str] = "find-steps"

    commits: int
    answer: Answer
    exit_code: int
    first: PairWord
    culprits: tuple[Culprit, ...]
    open: tuple[OpenRun, ...]
    refuted: tuple[Culprit, ...]
    skipped: tuple[int, ...]
    sessions: int
    builds: int
    measured: tuple[tuple[int, ...], ...]
    risk: float
    margin: float
    looks: tuple[int, ...]
    unit: str | None = None

    def difference(self, line: Compared) -> Difference:
        """Give the difference that a speedup stands for: of time, where no unit says of what."""
        unit = self.unit or "s"
        return Difference.of(line, metric="time" if is_time(unit) else unit, unit=unit)

    def screen(self) -> Page:
        """Set what the search found, in sentences."""
        found = section(*_sentences(self))
        return Page(title="Search for steps", sections=(found,), cautions=self.cautions)


# --- What a search for steps tells while it runs: which phase begins, what each session
# gave, and each word.
#
# A search knows only places; whoever measures for it keeps the sessions of a phase together, and whoever
# shows it draws what it hears.


Kind = Literal["step0", "search", "proof"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What the next sessions are for.

    `kind`: Whether the ends differ at all; a search of one interval; or the proof of one place. `lower`, `upper`: The
    pair that is judged in step 0 and in a proof (of that the parent and the place); the ends of the interval that is
    searched. `number`: Of the proof, from 1; 0 of the others. `level`: The risk of all looks of step 0 or of this proof
    together; None in a search, which states nothing. `places`: What every session of the phase measures; of a search
    its ends, to which each session adds a probe.
    """

    kind: Kind
    lower: int
    upper: int
    number: int = 0
    level: float | None = None
    places: tuple[int, ...] = ()


class SearchWatcher(Protocol):
    """Follows a search; nothing that it hears needs an answer."""

    def phase(self, phase: Phase) -> None:
        """Hear what the next sessions are for; the same interval may be searched again after another."""

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        """Hear what a session gave: its log values without failed places, and in a search the probabilities then."""

    def word(self, phase: Phase, word: PairWord) -> None:
        """Hear what a look at the phase's pair says."""

    def skipped(self, place: int) -> None:
        """Hear that a place does not build, or failed twice in a row."""


Measure = Callable[[tuple[int, ...]], Mapping[int, float] | Mapping[int, float | list[float]]]

PROOFS = 3  # of one interval
DEPTH = 8  # of intervals inside intervals
SESSIONS = 10  # of an interval, times the binary logarithm of its length
_BUILT = 0.10  # by which a place that was measured before is preferred
_IN_A_ROW = 2  # failures of a place
_EXIT: dict[Answer, int] = {"proven": 0, "partly": 7, "no-difference": 1, "undecided": 7}


def _numbers(value: object, place: int) -> tuple[float, ...]:
    """Give the logarithms of a place's runs, or the one number that stands for all."""
    several = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
    if any(
        isinstance(one, bool) or not isinstance(one, (int, float, np.floating, np.integer))
        for one in several
    ):
        raise UsageError(f"measure gives {shown(value)} for place {place}", fix="give a number")
    return tuple(map(float, several)) or (math.nan,)


class _SpentError(Exception):
    """No more sessions may be measured."""


@dataclass(slots=True)
class Search:
    """One search under way: all that it knows stems from `sessions`, so it has no random choice.

    It searches as `find_steps` does, whose parameters it has, and tells a `watcher` of each phase before its
    sessions, of these, and of words; `after` is called behind each session. `cut(earlier, later)` tells of both
    places' runs that their time limit ended, the later place's as the candidate's. `first` is the word on both ends so
    far, `probes` has of each place how many sessions searched with it and how likely it is slow already, `searched`
    the newest probabilities of each interval, the newest last. `found` is the answer, once there is one.
    """

    measure: Measure
    commits: int
    _: KW_ONLY
    watcher: SearchWatcher | None = None
    after: Callable[[], object] | None = None
    builds: Callable[[int], bool] | None = None
    programs: Callable[[int], Hashable] | None = None
    looks: Sequence[int] = (6, 12, 24)
    risk: float = 0.05
    margin: float = 0.01
    stop: float = 0.95
    sessions_max: int | None = None
    unit: str | None = None
    cut: Callable[[int, int], Cut | None] | None = None
    sessions: list[dict[int, float]] = field(default_factory=list)
    runs: dict[int, dict[int, tuple[float, ...]]] = field(default_factory=dict)
    measured: list[tuple[int, ...]] = field(default_factory=list)
    known: dict[int, bool] = field(default_factory=dict)
    failures: dict[int, int] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    culprits: list[Culprit] = field(default_factory=list)
    refuted: list[Culprit] = field(default_factory=list)
    left: list[OpenRun] = field(default_factory=list)
    proofs: int = 0
    phase: Phase | None = None
    first: PairWord = field(init=False)
    probes: dict[int, tuple[int, float]] = field(default_factory=dict)
    searched: dict[tuple[int, int], Posterior] = field(default_factory=dict)
    found: StepSearch | None = None

    def __post_init__(self) -> None:
        self.first = PairWord(risk=self.risk)
        counted("commits", self.commits, most=1_000_000)
        looks = self.looks = tuple(self.looks)
        if not looks or looks[0] < 2 or any(a >= b for a, b in itertools.pairwise(looks)):
            raise UsageError(
                f"looks must grow from 2 or more, not {looks!r}", fix="such as (6, 12, 24)"
            )
        for name, low in (("risk", 0.0), ("stop", 0.5)):
            if not low < (value := getattr(self, name)) < 1:
                raise UsageError(f"{name} must lie between {low:g} and 1, not {value!r}")
        if not (math.isfinite(self.margin) and self.margin >= 0):
            raise UsageError(f"margin must be a number of at least 0, not {self.margin!r}")
        if self.sessions_max is not None:
            counted("sessions_max", self.sessions_max, most=1_000_000)

    @property
    def skipped(self) -> tuple[int, ...]:
        """The places that cannot be measured, as is known."""
        return tuple(sorted({*(p for p, good in self.known.items() if not good), *self.failed}))

    def probabilities(self) -> list[tuple[int, float]]:
        """Give each place's probability of the newest sessions that looked for a step there."""
        found: dict[int, float] = {}
        for (lower, upper), one in reversed(self.searched.items()):
            places = range(lower + 1, upper + 1)
            if found.keys().isdisjoint(places):
                found |= {place: one.of(place) for place in places}
        return sorted(found.items())

    # ---- sessions

    def session(self, phase: Phase, places: Iterable[int]) -> dict[int, float]:
        """Measure one session; leave out what failed, and skip what failed twice in a row."""
        if self.sessions_max is not None and len(self.sessions) >= self.sessions_max:
            raise _SpentError
        if phase != self.phase:
            self.phase = phase
            if self.watcher is not None:
                self.watcher.phase(phase)
        wanted = tuple(sorted(set(places)))
        found = self.measure(wanted)
        if not isinstance(found, Mapping):
            raise UsageError(
                f"measure must give a number for each place, not {shown(found)}",
                fix="give a mapping: {place: logarithm}",
            )
        values: dict[int, float] = {}
        for place in wanted:
            runs = _numbers(found.get(place, math.nan), place)
            value = float(np.mean(runs))
            if math.isinf(value):
                raise AnalysisError(
                    f"the value of place {place} is infinite", fix="give nan where a run failed"
                )
            if not math.isnan(value):
                values[place] = value
                self.runs.setdefault(id(values), {})[place] = runs
                self.failures[place] = 0
                continue
            self.failures[place] = self.failures.get(place, 0) + 1
            if self.failures[place] >= _IN_A_ROW:
                fix = "mend it, or choose another"
                self._skip(place, "fails in two sessions in a row", fix)
                self.failed.add(place)
        self.sessions.append(values)
        self.measured.append(wanted)
        posterior = self._probed(phase, wanted) if phase.kind == "search" else None
        if self.watcher is not None:
            self.watcher.session(wanted, values, posterior)
        if self.after is not None:
            self.after()
        return values

    def _probed(self, phase: Phase, places: Iterable[int]) -> Posterior:
        ends = phase.lower, phase.upper
        posterior = self._posterior(*ends)
        for place in (place for place in places if place not in ends):
            count, _ = self.probes.get(place, (0, 0.0))
            self.probes[place] = count + 1, posterior.slow_already(place)
        self.searched.pop(ends, None)
        self.searched[ends] = posterior
        return posterior

    def _skip(self, place: int, trouble: str, fix: str | None = None) -> None:
        """Tell once that a place cannot be measured; raise AnalysisError of an end."""
        if place in (0, self.commits):
            name = "good" if place == 0 else "bad"
            raise AnalysisError(f"the {name} place {trouble}", f"place {place}", fix)
        if self.watcher is not None and place not in self.failed:
            self.watcher.skipped(place)

    def usable(self, place: int) -> bool:
        """Tell whether a place builds and has not failed; ask about it the first time."""
        if place not in self.known:
            self.known[place] = self.builds is None or bool(self.builds(place))
            if not self.known[place]:
                self._skip(place, "does not build")
        return self.known[place] and place not in self.failed

    def _out(self, place: int) -> bool:
        """Tell whether it is known that a place cannot be measured; nothing is built for that."""
        return self.known.get(place) is False or place in self.failed

    # ---- words

    def word(
        self, sessions: Collection[Mapping[int, float]], earlier: int, later: int, risk: float
    ) -> PairWord:
        """Hold a later place against an earlier one, over the sessions that have both."""
        both = [one for one in sessions if earlier in one and later in one]
        if len(both) < 2 or earlier == later:
            return PairWord(sessions=len(both), risk=risk)
        sides = ([self.runs[id(one)][place] for one in both] for place in (earlier, later))
        found = judged_pair(*sides, risk=risk, margin=self.margin, unit=self.unit or "")
        cut = None if self.cut is None else self.cut(earlier, later)
        word = "undecided" if cut is not None and cut.withholds(found[0]) else found[0]
        speedup, low, high = (math.exp(one) for one in found[1:])
        return PairWord(
            word=word, speedup=speedup, low=low, high=high, sessions=len(both), risk=risk
        )

    def looked(self, phase: Phase, level: float) -> tuple[PairWord, list[dict[int, float]]]:
        """Measure fresh sessions of a phase's places until a look decides on its pair."""
        earlier, later, each = phase.lower, phase.upper, level / len(self.looks)
        fresh: list[dict[int, float]] = []
        for look in self.looks:
            while len(fresh) < look:
                fresh.append(self.session(phase, phase.places))
                if self._out(earlier) or self._out(later):
                    return self.word(fresh, earlier, later, each), fresh
            found = self.word(fresh, earlier, later, each)
            if phase.kind == "step0":
                self.first = found
            if self.watcher is not None:
                self.watcher.word(phase, found)
            if found.word != "undecided":
                break
        return found, fresh

    # ---- the search

    def result(self) -> StepSearch:
        """Carry it out."""
        first, last = PairWord(risk=self.risk), self.commits
        self.usable(0)
        self.usable(last)
        try:
            if self._one_program(0, last):
                first = PairWord(word="equivalent", speedup=1.0, low=1.0, high=1.0, risk=self.risk)
            else:
                step0 = Phase(kind="step0", lower=0, upper=last, level=self.risk, places=(0, last))
                first, _ = self.looked(step0, self.risk)
            if first.differs:
                self.inside(0, last, slower=first.word == "slower", depth=1)
        except _SpentError:
            if first.differs:
                self._leave_open(0, last, "sessions spent")
        answer: Answer = "partly" if self.left else "proven"
        if first.word == "equivalent" or not self.culprits:
            answer = "no-difference" if first.word == "equivalent" else "undecided"
        self.found = StepSearch(
            commits=self.commits,
            answer=answer,
            exit_code=_EXIT[answer],
            first=first,
            culprits=tuple(sorted(self.culprits, key=lambda one: one.upto)),
            open=tuple(sorted(self.left, key=lambda one: one.upto)),
            refuted=tuple(self.refuted),
            skipped=self.skipped,
            sessions=len(self.sessions),
            builds=sum(self.known.values()),
            measured=tuple(self.measured),
            risk=self.risk,
            margin=self.margin,
            looks=tuple(self.looks),
            unit=self.unit,
            cautions=self._cautions(answer),
        )
        return self.found

    def inside(self, lower: int, upper: int, *, slower: bool, depth: int) -> None:
        """Search one interval whose ends differ, prove what is found, and go on with what is left of it."""
        spent = proofs = 0
        cap = SESSIONS * max(1, math.ceil(math.log2(upper - lower)))
        phase = Phase(kind="search", lower=lower, upper=upper, places=(lower, upper))
        while True:
            found = self._posterior(lower, upper)
            pair = self._next_proof(found) if found.of(found.likeliest) >= self.stop else None
            if pair is not None:
                proofs += 1
                if self._prove(found, *pair, slower=slower, depth=depth):
                    return
                if proofs >= PROOFS:
                    self._leave_open(lower, upper, "not proven in three proofs")
                    return
                continue
            if spent >= cap:
                self._leave_open(lower, upper, "sessions spent")
                return
            probe = self._probe(found)
            if probe is None:
                now = self._posterior(lower, upper)  # places that do not build were met on the way
                if found.of(now.likeliest) < self.stop <= now.of(now.likeliest):
                    continue
                self._leave_open(lower, upper, "nothing left to build")
                return
            self.session(phase, (lower, probe, upper))
            spent += 1
            if self._out(lower) or self._out(upper):
                self._leave_open(lower, upper, "an end fails")
                return
            if depth < DEPTH and self._is_between(self.searched[lower, upper], probe):
                self.inside(lower, probe, slower=slower, depth=depth + 1)
                self.inside(probe, upper, slower=slower, depth=depth + 1)
                return

    def _weights(self, lower: int, upper: int) -> np.ndarray:
        """Give each place its own weight and that of those before it that cannot be measured."""
        found = np.zeros(upper - lower)
        waiting, older = 0.0, lower
        for place in range(lower + 1, upper + 1):
            if place < upper and self._out(place):
                waiting += 1.0
                continue
            same = self._one_program(older, place)
            found[place - lower - 1] = 0.0 if same else 1.0 + waiting
            waiting, older = 0.0, place
        return found if found.any() else np.ones(upper - lower)

    def _one_program(self, older: int, place: int) -> bool:
        """Tell whether two places that were built are one program; nothing is built for that."""
        if self.programs is None or not (self.known.get(older) and self.known.get(place)):
            return False
        return self.programs(older) == self.programs(place)

    def _posterior(self, lower: int, upper: int) -> Posterior:
        return posterior_of(self.sessions, lower, upper, self._weights(lower, upper))

    def _probe(self, found: Posterior) -> int | None:
        """Choose the place that halves the probability; those that do not build are learnt on the way."""
        while True:
            before = {place for one in self.measured for place in one}
            best: tuple[float, int] | None = None
            for place in range(found.lower + 1, found.upper):
                if self._out(place):
                    continue
                score = abs(found.slow_already(place) - 0.5)
                if place in before and score <= _BUILT:
                    score -= _BUILT
                if best is None or score < best[0] - 1e-12:
                    best = (score, place)
            if best is None:
                return None
            if self.usable(best[1]):
                return best[1]
            found = self._posterior(found.lower, found.upper)

    def _is_between(self, found: Posterior, probe: int) -> bool:
        tail = 0.025 / max(1.0, math.log2(self.commits))
        quantile = -float(stdtrit(max(1, found.values - 1), tail))
        return found.between(probe, self.commits, self.margin, quantile)

    def _next_proof(self, found: Posterior) -> tuple[int, int] | None:
        """Give the likeliest place with the nearest older one that can be measured; None sends the search on."""
        place = found.likeliest
        if not self.usable(place):
            return None
        older = range(place - 1, found.lower - 1, -1)
        # a parent that was unknown and does not build changes weights, not the place
        return next(((one, place) for one in older if self.usable(one)), None)

    def _prove(
        self, found: Posterior, parent: int, place: int, *, slower: bool, depth: int
    ) -> bool:
        """Judge a place against its parent on fresh sessions; tell whether it is proven."""
        lower, upper = found.lower, found.upper
        self.proofs += 1
        level = self.risk * 2.0 ** (1 - self.proofs)
        phase = Phase(
            kind="proof",
            lower=parent,
            upper=place,
            number=self.proofs,
            level=level,
            places=tuple(sorted({0, lower, parent, place, upper, self.commits})),
        )
        word, fresh = self.looked(phase, level)
        each = level / len(self.looks)
        before = self.word(fresh, lower, parent, each)
        behind = self.word(fresh, place, upper, each)
        if word.speedup is None or word.low is None or word.high is None:
            return False
        numbers = {name: getattr(word, name) for name in PairWord.__slots__}
        culprit = Culprit(
            **numbers,
            after=parent,
            upto=place,
            proof=self.proofs,
            share=self._share(word.speedup, fresh),
            before=before,
            behind=behind,
        )
        if word.word != ("slower" if slower else "faster"):
            self.refuted.append(culprit)
            return False
        self.culprits.append(culprit)
        for side, ends in ((before, (lower, parent)), (behind, (place, upper))):
            if not side.differs or side.speedup is None or ends[0] >= ends[1]:
                continue
            if abs(math.log(side.speedup)) > math.log1p(self.margin):
                if depth >= DEPTH:
                    self._leave_open(*ends, "sessions spent")
                else:
                    self.inside(*ends, slower=side.word == "slower", depth=depth + 1)
        return True

    def _share(self, speedup: float, fresh: Collection[Mapping[int, float]]) -> float | None:
        d = [one[0] - one[self.commits] for one in fresh if 0 in one and self.commits in one]
        whole = math.fsum(d) / len(d) if d else 0.0
        return math.log(speedup) / whole if whole else None

    def _leave_open(self, lower: int, upper: int, why: Why) -> None:
        first, last, held = self._posterior(lower, upper).shortest(self.stop)
        # what cannot be measured shares the claim
        while first - 1 > lower and self._out(first - 1):
            first -= 1
        self.left.append(OpenRun(after=first - 1, upto=last, probability=held, why=why))

    def _cautions(self, answer: Answer) -> tuple[Caution, ...]:
        between = sum(one.upto - one.after - 1 for one in self.culprits)
        spent = any(one.why == "sessions spent" for one in self.left)
        table = {
            "build-noise": self.culprits != []
            and "another build of the same source may differ by as much as builds differ: a step below about 1 % may be "
            "one of layout",
            "skipped-between": between > 0
            and f"{between} places that cannot be measured lie right before a culprit: each of them may be it",
            "may-cancel": answer == "no-difference"
            and "steps that cancel each other are not seen: only the ends were compared",
            "heavy-search": spent
            and "sessions were spent before the search was done: the step is small compared with the noise",
        }
        return cautions_of(table)


@checks_arguments
def find_steps(
    measure: Measure,
    commits: int,
    *,
    builds: Callable[[int], bool] | None = None,
    programs: Callable[[int], Hashable] | None = None,
    looks: Sequence[int] = (6, 12, 24),
    risk: float = 0.05,
    margin: float = 0.01,
    stop: float = 0.95,
    sessions_max: int | None = None,
    unit: str | None = None,
) -> StepSearch:
    """Find the places at which a metric changes between a good and a bad one.

    Parameters
    ----------
    measure : callable
        ``measure(places)`` performs one session with these places (sorted, each once) and gives the logarithm of
        the metric for each, larger = slower, or a list of those of its runs. A place that is missing or nan failed
        there. What it raises passes.
    commits : int
        The number of the bad place; the good one is 0.
    builds : callable, optional
        ``builds(place)`` tells whether a place can be measured. It is asked once of each that is wanted.
    programs : callable, optional
        ``programs(place)`` gives what a place builds to: neighbours with one program are equal by construction.
    looks : sequence of int
        Numbers of sessions at which pairs are judged; the level is divided by their number.
    risk : float
        That a false direction is stated for any culprit.
    margin : float
        The largest difference that counts as none, such as 0.01.
    stop : float
        The probability at which a place is proven.
    sessions_max : int, optional
        Of the whole search.
    unit : str, optional
        Of the metric: whole numbers are counts, unless it is of a time, a rate or a share.

    Returns
    -------
    StepSearch
        The same values give the same sessions and the same answer.

    Raises
    ------
    AnalysisError
        If the good or the bad place fails twice in a row, does not build, or a value is infinite.
    UsageError
        If a number lies outside of its range.

    Notes
    -----
    Hypotheses: logarithms of a session's values are normal about their levels with one variance, sessions are
    independent. Two builds of one source may differ by their layout alone: no number of sessions refutes that.
    """
    return Search(
        measure,
        commits,
        builds=builds,
        programs=programs,
        looks=looks,
        risk=risk,
        margin=margin,
        stop=stop,
        sessions_max=sessions_max,
        unit=unit,
    ).result()


def _sentences(result: StepSearch) -> Iterable[str]:
    first, bad = result.first, f"place {result.commits}"
    if first.word == "equivalent":
        same = result.difference(first).same()
        yield f"no difference: {bad} {same} as place 0, within {100 * result.margin:g} %"
    elif first.word == "undecided":
        found = result.difference(first).between()
        yield "no difference found" + (f": if there is one, it lies {found}" if found else "")
    else:
        yield f"{bad} {result.difference(first).clause('place 0')}"
    for one in result.culprits:
        after, text = one.after + 1, result.difference(one).clause(f"place {one.after}")
        where = f"place {one.upto}" if after == one.upto else f"one of places {after} to {one.upto}"
        yield f"proven: {where} {text}, in {one.sessions} sessions"
    for left in result.open:
        yield (
            f"open: places {left.after + 1} to {left.upto} hold a step with probability "
            f"{left.probability:.2f} ({left.why})"
        )
    skipped = f", {len(result.skipped)} places skipped" if result.skipped else ""
    yield f"{result.sessions} sessions, {result.builds} places built{skipped}"
