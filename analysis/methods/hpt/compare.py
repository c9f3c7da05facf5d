"""HPT: rank sums on each benchmark, signed ranks over the suite, and which variant is better.

Stage one asks on every benchmark, by Wilcoxon's rank-sum test, whether the difference stands out
from noise; one that does not is set to 0. Stage two ranks what is left, by Wilcoxon's
signed-rank test, over the benchmarks. The symbols are those of [1]_, section 4.1: scores a and b,
rank sums R_a and R_b on one benchmark, differences d of medians, signed-rank sums R_A and R_B.

References
----------
.. [1] T. Chen, Y. Chen, Q. Guo, O. Temam, Y. Wu, W. Hu, "Statistical performance comparisons of
   computers", 18th International Symposium on High Performance Computer Architecture, 2012.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...data.matrix import PerformanceMatrix
from ...data.pair import Match, match
from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution, Page, Section, cautions_of, page, section, table_of
from ...pages.number_format import Word, outcome_word, word_of
from ...pages.result import Result
from ...stats.arguments import checks_arguments, chosen
from ...stats.ranks import (
    TIE_TOLERANCE,
    midranks,
    rank_sum_normal,
    rank_sum_table,
    rank_sum_tied,
    signed_rank_normal,
    signed_rank_table,
    signed_rank_tied,
    smallest_rank_sum_pvalue,
)
from ...stats.samples import Array, median, read_only
from ...words import Name, apart

Winner = Literal["candidate", "baseline", "tie"]
Outcome = Literal["candidate", "baseline", "undecided"]
Ties = Literal["table", "exact", "printed"]
Alternative = Literal["candidate", "baseline", "two-sided"]

P_TOLERANCE = 1e-12
NAME = 40  # columns for a variant's name in a sentence
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
    JSON has `alternative` and `pvalue_two_sided` then. `most` is the largest confidence that this number of
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
    def conclusion(self) -> str:
        """What the test says over the suite, in one sentence."""
        ours, theirs = apart((self.candidate, self.baseline), NAME)
        tested, n = self.speedup_under_test, len(self.benchmarks)
        words = [outcome_word(word, timed=self.timed) for word in ("faster", "slower")]
        claim, opposite = (f"{ours} is {word} than {theirs}" for word in words)
        times = ""
        if tested != 1:
            times, good = f"{tested:g} times ", "fast" if self.timed else "good"
            claim, opposite = (
                f"{ours} is {than} than {times}as {good} as {theirs}" for than in ("more", "less")
            )
        over = f"over {f'these {n} benchmarks' if n > 1 else 'this benchmark'}"
        meaning = "(1 - p, not the chance of being right)"
        p = {"candidate": self.pvalue, "baseline": self.pvalue_baseline}
        p["two-sided"] = self.pvalue_two_sided
        reached = {side: figures.reliability(1 - x, self.required) for side, x in p.items()}
        said = {"candidate": claim, "baseline": opposite}
        said["two-sided"] = f"{ours} and {times}{theirs} are not equivalent"
        open_now = f"undecided {over} at {self.required:g}: that"
        if self.alternative == "two-sided":
            both = said["two-sided"]
            end = f"two-sided HPT reliability {reached['two-sided']} {meaning}"
            if self.outcome == "undecided":
                return f"{open_now} {both} has {end}"
            return f"{both} {over}, {said[self.outcome]}: {end}"
        if self.outcome != "undecided":
            return f"{said[self.outcome]} {over}: HPT reliability {reached[self.outcome]} {meaning}"
        side = self.alternative or "candidate"
        rest = "" if self.alternative else f", the opposite {reached['baseline']}"
        return f"{open_now} {said[side]} has HPT reliability {reached[side]}{rest} {meaning}"

    def screen(self) -> Page:
        """Set the conclusion and the ranks."""
        title = f"HPT: {self.candidate} against {self.baseline}"
        return page(self, title, self.conclusion, _rank_table(self))


def _rank_table(result: HptResult) -> Section:
    a, b = apart((result.candidate, result.baseline), 20)
    tested = result.speedup_under_test
    by = "" if tested == 1 else f"/{tested:g}"
    names = {"candidate": Name(result.candidate), "baseline": Name(result.baseline), "tie": "tie"}
    four = partial(figures.significant, digits=4)
    better, worse = ("faster", "slower") if result.timed else ("better", "worse")
    if by:
        good = f"{tested:g} times as {'fast' if result.timed else 'good'}"
        better, worse = f"more than {good}", f"less than {good}"
    both = [
        f"p {figures.pvalue(result.pvalue)} for '{better}'",
        f"p {figures.pvalue(result.pvalue_baseline)} for '{worse}'",
    ]  # that of the outcome stands first
    pvalues = ", ".join(both[::-1] if result.outcome == "baseline" else both)
    table = table_of(
        "rank-table",
        result.benchmarks,
        ("@", "name"),
        (f"score {a}{by}", "median_candidate", four),
        (f"score {b}", "median_baseline", four),
        ("<winner", lambda row: names[row.winner]),
        ("difference", "difference", four),
        ("rank", "rank", "{:g}".format),
    )
    sums = (
        f"signed ranks: {a} {result.rank_sum_candidate:g}, {b} {result.rank_sum_baseline:g} of "
        f"{len(result.benchmarks)} benchmarks; {pvalues}"
    )
    return section(table, sums)


def pair_cautions(pair: Match) -> tuple[Caution, ...]:
    """Say what holds for every answer about a pair: left-out runs and benchmarks, sessions."""
    a, b = pair.candidate.sessions, pair.baseline.sessions
    count = len({label for rows in (a or (), b or ()) for row in rows for label in row.tolist()})
    if a is None or b is None:
        return tuple(pair.known())
    texts = {
        "one-session": count == 1
        and "all runs stem from one session: they share its memory layout, frequencies and "
        "neighbours, and are not independent replications. The outcomes hold within this "
        "session only; measure 3 or more sessions",
        "sessions-pooled": count != 1
        and "runs of one session are not independent replications, and HPT treats the runs of all "
        f"{count} sessions as if they were: its reliability is too high where sessions "
        "differ. 'fairtrial verdict' judges by sessions",
    }
    return (*pair.known(), *cautions_of(texts))


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
    signs = {"candidate": 1, "baseline": -1}
    won = [row for row, _ in tested if row.winner != "tie"]
    against = [row.name for row in won if signs[row.winner] * row.difference <= 0]
    disagree = f"ranks and medians disagree about the winner: {figures.listed(against)}"
    after = {"ranks-against-medians": against and (disagree, *against)}
    return (*cautions_of(before), *ties, *cautions_of(after))


Scores = Literal["auto", "raw", "ratio", "log-ratio"]
Kind = Literal["raw", "ratio", "log-ratio"]

RANK_SUM_NORMAL_FROM = 12  # runs; [1] section 4.1, "Case m >= 12"
SIGNED_RANK_NORMAL_FROM = 25  # benchmarks; "Case n >= 25"
EXACT_RUNS = 80  # runs of both sides together; beyond, ties="exact" takes the normal form


class HptQuestion(NamedTuple):
    """What is asked of two matched matrices: every part of the answer belongs to one question."""

    pair: Match
    speedup: float
    confidence: float
    alpha: float | None
    ties: Ties
    scores: Kind
    alternative: Alternative | None = None

    @property
    def negated(self) -> bool:
        """Whether scores are negated values, which a speedup multiplies instead of dividing."""
        return self.scores == "raw" and self.pair.candidate.better == "lower"

    def answered(self) -> dict[str, Any]:
        """Give the fields that every result repeats from its question."""
        a, b = self.pair.candidate, self.pair.baseline
        sides = {"candidate": a.name, "baseline": b.name, "timed": figures.timed(a.unit)}
        rules = {"alpha": self.alpha, "ties": self.ties, "scores": self.scores}
        return {**sides, **rules, "required": self.confidence}


def ask(  # noqa: PLR0917 - the arguments of `hpt` in their order
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    speedup: float,
    confidence: float,
    alpha: float | None,
    ties: Ties,
    scores: Scores,
    alternative: Alternative | None = None,
) -> HptQuestion:
    """Ask what `hpt` does; refuse arguments that are out of their range."""
    if not (np.isfinite(speedup) and speedup > 0):
        raise UsageError(f"speedup must be a positive number, not {speedup!r}")
    if not 0.5 < confidence < 1:
        raise UsageError(f"confidence must lie between 0.5 and 1, not {confidence!r}")
    if alpha is not None and not 0 < alpha < 0.5:
        raise UsageError(f"alpha must lie between 0 and 0.5, not {alpha!r}")
    chosen("ties", ties, get_args(Ties))
    chosen("scores", scores, get_args(Scores))
    if alternative is not None:
        chosen("alternative", alternative, get_args(Alternative))
    pair = match(candidate, baseline)
    kind = scores if scores != "auto" else "raw" if candidate.better == "higher" else "ratio"
    return HptQuestion(pair, speedup, confidence, alpha, ties, kind, alternative)


def base_scores(question: HptQuestion, x: Array, y: Array) -> tuple[Array, Array]:
    """Turn runs into scores before the speedup; the last axis holds the runs of one benchmark."""
    higher = question.pair.candidate.better == "higher"
    if question.scores == "raw":
        return (x, y) if higher else (-x, -y)
    centre = median(y, axis=-1)[..., None]
    with np.errstate(over="ignore", under="ignore"):
        return (x / centre, y / centre) if higher else (centre / x, centre / y)


def _rank_sum_tests(
    sums: tuple[float, float], ranks: Array, m: int, ties: Ties, risk: float
) -> tuple[float, float, Winner]:
    """Give the p of "better" for either side, and the winner."""
    n = ranks.size - m
    p_a = rank_sum_pvalue(sums[0], ranks, m, n, ties)
    p_b = rank_sum_pvalue(sums[1], ranks, n, m, ties)
    accepted = risk + P_TOLERANCE
    return p_a, p_b, "candidate" if p_a <= accepted else "baseline" if p_b <= accepted else "tie"


def _stage_one(question: HptQuestion, name: str, x: Array, y: Array) -> tuple[HptBenchmark, Winner]:
    """Compare on one benchmark, by two one-sided rank-sum tests; its rank is not known yet."""
    s, t = base_scores(question, x, y)
    with np.errstate(over="ignore", under="ignore"):
        s = s * question.speedup if question.negated else s / question.speedup
    if not (np.isfinite(s).all() and np.isfinite(t).all() and s.all() and t.all()):
        raise AnalysisError("the scores leave the range of numbers", f"benchmark {name!r}")
    m, n = s.size, t.size
    ranks = midranks(np.concatenate([s, t]))
    r_a, r_b = float(ranks[:m].sum()), float(ranks[m:].sum())
    logs = question.scores == "log-ratio"
    u, v = (np.log(s), np.log(t)) if logs else (s, t)
    median_a, median_b = float(median(u)), float(median(v))
    difference = median_a - median_b
    scale = 1.0 if logs else max(abs(median_a), abs(median_b))
    if abs(difference) <= TIE_TOLERANCE * scale:
        difference = 0.0  # equal but for rounding: it must not pick a side
    risk, p_a, p_b = None, None, None
    winner: Winner = "candidate" if difference > 0 else "baseline" if difference < 0 else "tie"
    elsewhere = winner
    if not m == n == 1:
        risk = risk_of(m, n, question.alpha)
        other: Ties = "table" if question.ties == "exact" else "exact"
        (p_a, p_b, winner), (_, _, elsewhere) = (
            _rank_sum_tests((r_a, r_b), ranks, m, ties, risk) for ties in (question.ties, other)
        )
        difference = 0.0 if winner == "tie" else difference
    row = HptBenchmark(
        name=name,
        runs_candidate=m,
        runs_baseline=n,
        median_candidate=median_a,
        median_baseline=median_b,
        rank_sum_candidate=r_a,
        rank_sum_baseline=r_b,
        pvalue_candidate=p_a,
        pvalue_baseline=p_b,
        alpha=risk,
        winner=winner,
        difference=difference,
        rank=math.nan,
    )
    return row, elsewhere


class SignedRanks(NamedTuple):
    """Stage two: ranks of |d|, both sums, and the p of "better" for either side."""

    ranks: Array
    rank_sum_candidate: float
    rank_sum_baseline: float
    pvalue_candidate: float
    pvalue_baseline: float
    law: Literal["table", "normal", "exact"]


def signed_rank_stage(differences: ArrayLike, *, ties: Ties = "table") -> SignedRanks:
    """Compare over the benchmarks: stage two, from the differences d (0 where insignificant).

    Zeros take part in the ranking, and half of their ranks goes to each side.
    """
    d = np.asarray(differences, dtype=np.float64)
    n = d.size
    if n == 0:
        raise InsufficientDataError("there is no benchmark to compare over", n=0, needed=1)
    ranks = midranks(np.abs(d))
    zeros = float(ranks[d == 0].sum()) / 2
    r_a = float(ranks[d > 0].sum()) + zeros
    r_b = float(ranks[d < 0].sum()) + zeros
    law: Literal["table", "normal", "exact"]
    if ties == "exact":
        law, given = "exact", ranks[d != 0]
        p_a, p_b = signed_rank_tied(r_b - zeros, given), signed_rank_tied(r_a - zeros, given)
    elif n < SIGNED_RANK_NORMAL_FROM:
        law, p_a, p_b = "table", signed_rank_table(r_b, n), signed_rank_table(r_a, n)
    else:
        law = "normal"
        p_a, p_b = (signed_rank_normal(r, n, continuity=added_to(ties)) for r in (r_b, r_a))
    return SignedRanks(read_only(ranks), r_a, r_b, p_a, p_b, law)


def added_to(ties: Ties) -> float:
    """Give the continuity correction of stage two's normal form: that of the window, or as printed."""
    return 0.0 if ties == "printed" else 0.5


def risk_of(m: int, n: int, alpha: float | None) -> float:
    """Give the risk of each one-sided test of stage one with m and n runs."""
    return alpha if alpha is not None else 0.05 if min(m, n) >= 5 else 0.10


def rank_sum_pvalue(r: float, ranks: Array, m: int, n: int, ties: Ties) -> float:
    """Give the p of "the side with m runs is better", r its rank sum, by the named convention.

    The published convention does not look at the ranks of all values.
    """
    if ties != "exact":
        if max(m, n) < RANK_SUM_NORMAL_FROM:
            return rank_sum_table(r, m, n)
        return rank_sum_normal(r, m, n)
    if m + n <= EXACT_RUNS:
        return rank_sum_tied(r, ranks, m)
    return rank_sum_normal(r, m, n, tied_ranks=ranks, continuity=0.5)


@checks_arguments
def hpt(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    speedup: float = 1.0,
    confidence: float = 0.95,
    alpha: float | None = None,
    ties: Ties = "table",
    scores: Scores = "auto",
    alternative: Alternative | None = None,
) -> HptResult:
    """Test whether the candidate is better, or `speedup` times better, over a suite.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        Matched by benchmark name; what only one of them has is left out, with a caution.
    speedup : float
        The speedup under test; the candidate's scores are divided by it.
    confidence : float
        The confidence that the outcome needs, between 0.5 and 1.
    alpha : float, optional
        The risk of each one-sided test of stage one, below 0.5. By default 0.05 where both sides
        have at least 5 runs, and 0.10 elsewhere.
    ties : {"table", "exact", "printed"}
        "table", as published: both stages by the laws without ties, read at the midrank sums;
        the rank-sum's normal form without corrections from 12 runs on, the signed-rank's with
        continuity correction from 25 benchmarks on. "exact": both stages by the exact law given
        the ties observed; with more than 80 runs of both sides together, stage one takes the
        normal form with tie and continuity correction instead. "printed": as "table", but without
        the continuity correction, which the paper's section 4.1 does not print.
    scores : {"auto", "raw", "ratio", "log-ratio"}
        Differences of medians are ranked across benchmarks, so their unit matters. "ratio" takes
        values relative to the baseline's median (times as baseline median / time), "log-ratio"
        their logarithms, "raw" the values as they are (times negated). "auto" is "raw" where
        higher is better and "ratio" where lower is better.
    alternative : {"candidate", "baseline", "two-sided"}, optional
        Who is better if there is a difference; "two-sided" takes twice the smaller p for "the two are
        not equivalent". By default each direction is judged by its own p.

    Returns
    -------
    HptResult
        The whole rank table, both rank sums, p, confidence, outcome and cautions.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    AnalysisError
        If the matrices do not go together, or a value leaves the range of numbers.
    """
    return answer(ask(candidate, baseline, speedup, confidence, alpha, ties, scores, alternative))


def answer(question: HptQuestion) -> HptResult:
    """Give what `hpt` does."""
    pair, required = question.pair, question.confidence
    a, b = pair.candidate, pair.baseline
    each = zip(a.benchmarks, a.samples, b.samples, strict=True)
    rows = [_stage_one(question, *row) for row in each]
    stage_two = signed_rank_stage([row.difference for row, _ in rows], ties=question.ties)
    p_a, p_b = stage_two.pvalue_candidate, stage_two.pvalue_baseline
    risk = 1 - required + P_TOLERANCE
    best = signed_rank_stage(np.arange(1.0, len(rows) + 1), ties=question.ties)
    both = 2 if question.alternative == "two-sided" else 1
    ours = question.alternative != "baseline" and both * p_a <= risk
    theirs = question.alternative != "candidate" and both * p_b <= risk
    ranked = zip(rows, stage_two.ranks.tolist(), strict=True)
    result = HptResult(
        **question.answered(),
        speedup_under_test=float(question.speedup),
        alternative=question.alternative,
        benchmarks=tuple(replace(row, rank=rank) for (row, _), rank in ranked),
        rank_sum_candidate=stage_two.rank_sum_candidate,
        rank_sum_baseline=stage_two.rank_sum_baseline,
        pvalue=p_a,
        pvalue_baseline=p_b,
        confidence=1 - p_a,
        outcome="candidate" if ours else "baseline" if theirs else "undecided",
        most=1 - both * best.pvalue_candidate,  # every benchmark a win, none tied
        stage_two=stage_two.law,
    )
    switched = [(row, there) for row, there in rows if row.winner != there]
    return replace(result, cautions=(*pair_cautions(pair), *suite_cautions(result, switched)))
