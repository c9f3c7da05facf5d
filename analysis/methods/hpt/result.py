"""What HPT says, the rank table and the conclusion, and what a reader should know of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...pages import number_format as figures
from ...pages.model import Caution, cautions_of
from ...pages.number_format import Word, outcome_word, word_of
from ...pages.result import Result
from ...stats.ranks import TIE_TOLERANCE, smallest_rank_sum_pvalue
from ...words import apart

if TYPE_CHECKING:
    from ...data.pair import Match
    from .speedup import HptSpeedup

Winner = Literal["candidate", "baseline", "tie"]
Outcome = Literal["candidate", "baseline", "undecided"]
Ties = Literal["table", "exact", "printed"]
Alternative = Literal["candidate", "baseline", "two-sided"]

P_TOLERANCE = 1e-12
_NAME = 40  # columns for a variant's name in a sentence
REFERENCES = (
    "T. Chen et al., Statistical performance comparisons of computers, HPCA 2012, section 4.1",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HptBenchmark:
    """Stage one on one benchmark, and the place of its difference in stage two.

    Medians are those of the scores, larger is better, the candidate's after the speedup under
    test. `pvalue_candidate` belongs to "the candidate is better"; both p-values and `alpha` are
    None where stage one was skipped because each side has one run.
    """

    derived: ClassVar[tuple[str, ...]] = ("word",)

    name: str
    runs_candidate: int
    runs_baseline: int
    median_candidate: float
    median_baseline: float
    rank_sum_candidate: float
    rank_sum_baseline: float
    pvalue_candidate: float | None
    pvalue_baseline: float | None
    alpha: float | None
    winner: Winner
    difference: float
    rank: float

    @property
    def word(self) -> Word:
        """What the candidate is here."""
        return word_of(self.winner)


@dataclass(frozen=True, slots=True, kw_only=True)
class HptResult(Result):
    """What HPT says about a candidate against a baseline.

    `pvalue` and `confidence` (1 - p, called reliability by the authors) always belong to "the
    candidate is better"; `pvalue_baseline` to its opposite. `outcome` is "baseline" when that one
    reaches `required`, the confidence asked for. With an `alternative` it is only what that one can say;
    JSON has `alternative` and `pvalue_two_sided` then. `most` is the largest confidence that so many
    benchmarks can give. `stage_two` names the law that gave p. `timed` says whether a screen calls
    the better side faster.
    """

    method: ClassVar[str] = "hpt"
    unlisted: ClassVar[frozenset[str]] = frozenset({"timed"})
    derived: ClassVar[tuple[str, ...]] = ("word", "pvalue_of", "medians_of")
    pvalue_of: ClassVar[str] = "candidate better"
    medians_of: ClassVar[str] = "scores"  # what `median_candidate` and `median_baseline` are of

    candidate: str
    baseline: str
    speedup_under_test: float
    required: float
    alternative: Alternative | None = None
    alpha: float | None
    ties: Ties
    scores: Literal["raw", "ratio", "log-ratio"]
    timed: bool
    benchmarks: tuple[HptBenchmark, ...]
    rank_sum_candidate: float
    rank_sum_baseline: float
    pvalue: float
    pvalue_baseline: float
    confidence: float
    outcome: Outcome
    most: float
    stage_two: Literal["table", "normal", "exact"]
    references: tuple[str, ...] = REFERENCES

    @property
    def pvalue_two_sided(self) -> float:
        """The p of "the two are not equivalent": twice the smaller one, at most 1."""
        return min(1.0, 2 * min(self.pvalue, self.pvalue_baseline))

    def body(self) -> dict[str, Any]:
        """Give the alternative where one was asked for."""
        found = Result.body(self)
        if self.alternative is None:
            del found["alternative"]
        elif self.alternative == "two-sided":
            found["pvalue_two_sided"] = self.pvalue_two_sided
        return found

    @property
    def word(self) -> Word:
        """What the candidate is, against `speedup_under_test` times the baseline."""
        return word_of(self.outcome)

    @property
    def claim(self) -> str:
        """The proposition under test, in words."""
        return self._proposition("more", outcome_word("faster", timed=self.timed))

    @property
    def opposite(self) -> str:
        """The opposite proposition, in words."""
        return self._proposition("less", outcome_word("slower", timed=self.timed))

    def _proposition(self, than: str, comparative: str) -> str:
        ours, theirs = apart((self.candidate, self.baseline), _NAME)
        if self.speedup_under_test == 1:
            return f"{ours} is {comparative} than {theirs}"
        good = "fast" if self.timed else "good"
        return f"{ours} is {than} than {self.speedup_under_test:g} times as {good} as {theirs}"

    @property
    def _unequal(self) -> str:
        """The two-sided proposition, in words."""
        ours, theirs = apart((self.candidate, self.baseline), _NAME)
        if self.speedup_under_test == 1:
            return f"{ours} and {theirs} are not equivalent"
        times = f"{self.speedup_under_test:g} times {theirs}"
        return f"{ours} and {times} are not equivalent"

    @property
    def conclusion(self) -> str:
        """What the test says over the suite, in one sentence."""
        n = len(self.benchmarks)
        over = f"over {f'these {n} benchmarks' if n > 1 else 'this 1 benchmark'}"
        ours = figures.reliability(self.confidence, self.required)
        theirs = figures.reliability(1 - self.pvalue_baseline, self.required)
        meaning = "(1 - p, not the chance of being right)"
        if self.alternative == "two-sided":
            both = figures.reliability(1 - self.pvalue_two_sided, self.required)
            reached = f"two-sided HPT reliability {both} {meaning}"
            if self.outcome == "undecided":
                return f"undecided {over} at {self.required:g}: that {self._unequal} has {reached}"
            claim = self.claim if self.outcome == "candidate" else self.opposite
            return f"{self._unequal} {over}, {claim}: {reached}"
        if self.outcome == "undecided" and self.alternative is not None:
            claim, reached = (
                (self.claim, ours) if self.alternative == "candidate" else (self.opposite, theirs)
            )
            return f"undecided {over} at {self.required:g}: that {claim} has HPT reliability {reached} {meaning}"
        if self.outcome == "candidate":
            return f"{self.claim} {over}: HPT reliability {ours} {meaning}"
        if self.outcome == "baseline":
            return f"{self.opposite} {over}: HPT reliability {theirs} {meaning}"
        return (
            f"undecided {over} at {self.required:g}: that {self.claim} has HPT reliability {ours}, "
            f"the opposite {theirs} {meaning}"
        )


def pair_cautions(pair: Match) -> tuple[Caution, ...]:
    """Say what holds for every answer about a pair: left-out runs and benchmarks, sessions."""
    a, b = pair.candidate.sessions, pair.baseline.sessions
    count = len({label for rows in (a or (), b or ()) for row in rows for label in row.tolist()})
    if a is None or b is None:
        return tuple(pair.known())
    said = {
        "one-session": count == 1
        and "all runs stem from one session: they share its memory layout, frequencies and "
        "neighbours, and are not independent replications. The outcomes hold within this "
        "session only; measure 3 or more sessions",
        "sessions-pooled": count != 1
        and "runs of one session are not independent replications, and HPT treats the runs of all "
        f"{count} sessions as if they were: its reliability is too high where sessions "
        "differ. 'fairtrial verdict' judges by sessions",
    }
    return (*pair.known(), *cautions_of(said))


def suite_cautions(
    result: HptResult, switched: Sequence[tuple[HptBenchmark, Winner]]
) -> tuple[Caution, ...]:
    """Say what a reader of a rank table should know.

    `switched` holds the benchmarks whose winner the other convention of ties changes, and to whom.
    """
    rows, required = result.benchmarks, result.required
    n = len(rows)
    tested = [(row, row.alpha) for row in rows if row.alpha is not None]
    skipped = [row.name for row in rows if row.alpha is None]
    mute = [
        row.name
        for row, alpha in tested
        if smallest_rank_sum_pvalue(row.runs_candidate, row.runs_baseline) > alpha
    ]
    risk = max((alpha for _, alpha in tested), default=0.0)
    few = [row.name for row, _ in tested if min(row.runs_candidate, row.runs_baseline) in (3, 4)]
    before = {
        "level-out-of-reach": result.most < required - P_TOLERANCE
        and f"with {n} benchmark{'s' * (n > 1)} no reliability above {result.most:.5g} is possible, "
        f"so {required:g} cannot be reached",
        "stage-one-skipped": skipped
        and (
            f"{len(skipped)} of {n} benchmarks have one run on each side: stage one was skipped "
            "there, every difference counts as real",
            *skipped,
        ),
        "too-few-runs": mute
        and (
            "too few runs for any winner at the risk of stage one, whatever the values: "
            f"{figures.listed(mute)}",
            *mute,
        ),
        "two-directions": tested != []
        and f"each benchmark is tested in both directions at risk {risk:g}, so a false "
        f"winner of stage one has a chance of up to {2 * risk:g} on each",
        "three-or-four-runs": few
        and (
            "with 3 or 4 runs only (nearly) complete separation makes a winner, at the larger "
            "risk of stage one; 5 or more runs are better",
            *few,
        ),
    }
    ours, theirs = (f"a win for {name}" for name in (result.candidate, result.baseline))
    sides = {"candidate": ours, "baseline": theirs, "tie": "a tie"}
    laws = ("published table or normal form", "test conditional on the ties")
    here, there = laws[::-1] if result.ties == "exact" else laws
    ties = (
        Caution(
            "ties-decide",
            f"'{row.name}' is {sides[row.winner]} by the {here}, {sides[other]} by the {there}",
            (row.name,),
        )
        for row, other in switched
    )
    signs = {"candidate": 1, "baseline": -1, "tie": 0}
    against = [
        row.name
        for row, _ in tested
        if row.winner != "tie" and signs[row.winner] * row.difference <= 0
    ]
    disagree = f"ranks and medians disagree about the winner: {figures.listed(against)}"
    after = {"ranks-against-medians": against and (disagree, *against)}
    return (*cautions_of(before), *ties, *cautions_of(after))


def speedup_cautions(result: HptSpeedup, n: int) -> tuple[Caution, ...]:
    """Say what a reader of an r-Speedup over n benchmarks should know."""
    value, first, required = result.value, result.first_failure, result.required
    reason = f": with {n} benchmark{'s' * (n != 1)} at most 1 - 2^-{n} is possible"
    ours, theirs = apart((result.candidate, result.baseline), _NAME)
    fast = "fast" if result.timed else "good"
    again = value is not None and first is not None and first < value * (1 - TIE_TOLERANCE)
    said = {
        "no-speedup": value is None
        and f"no speedup reaches reliability {required:g}{reason * (2.0**-n > 1 - required)}",
        "speedup-below-1": value is not None
        and value < 1
        and f"the largest speedup is below 1: that {ours} is "
        f"{outcome_word('faster', timed=result.timed)} than {theirs} does not reach reliability "
        f"{required:g}; what reaches it is that {ours} is at least "
        f"{math.floor(value * 1e4) / 1e4:g} times as {fast}",
        "reliability-rises-again": again
        and f"the reliability falls below {required:g} at {first:.4g} already and reaches it again "
        f"up to {value:.4g}: the runs are multimodal. The largest speedup is given, as the "
        "method defines it; look at the runs before relying on it",
        "reliability-not-steady": result.rises
        and not again
        and "the reliability does not fall steadily with the speedup: on some benchmarks ranks "
        "and medians disagree about the winner, as multimodal runs make them",
    }
    return cautions_of(said)
