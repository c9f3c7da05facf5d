"""What the sound verdict says: one interval and one word for each benchmark and for the suite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...data import Unit
from ...report import Result, Word, figures, plain
from ...run_numbers import Better
from ...stats import Correction
from .design import Design
from .failing import Fails
from .session_values import Dependence

__all__ = ["REFERENCES", "BenchmarkLine", "Line", "MoreSessions", "Multilevel"]

REFERENCES = (
    "T. Kalibera, R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013",
    "R. Ibragimov, U. K. Mueller, t-statistic based correlation and heterogeneity robust inference, "
    "Journal of Business & Economic Statistics 28, 2010",
    "B. L. Welch, The generalization of 'Student's' problem, Biometrika 34, 1947",
    "S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of "
    "Statistics 6, 1979",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreSessions:
    """How many more sessions would probably decide, if estimate and spread are as measured.

    Attributes
    ----------
    sessions : int or None
        The least number that decides with a chance of 80 %; None beyond 100. In separate designs
        each side needs as many.
    low, high : int or None
        The same for a spread at the quartiles of what it may be; None beyond 100.
    target : {"faster", "slower", "equivalent"}
        What would probably be decided; ``for`` in JSON.
    runs_suffice : bool or None
        Whether up to ten times the runs in the same sessions would do; None when unknown.
    """

    sessions: int | None
    low: int | None
    high: int | None
    target: Word
    runs_suffice: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Give the advice as JSON types."""
        return {
            "sessions": self.sessions,
            "low": self.low,
            "high": self.high,
            "for": self.target,
            "runs_suffice": self.runs_suffice,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One speedup with its interval and its word.

    Attributes
    ----------
    name : str
        The benchmark, or "these", or "similar".
    speedup : float or None
        Ratio of geometric means, above 1 when the candidate is better.
    low, high : float or None
        The interval at the result's confidence (1 - alpha / looks), not adjusted for the number of
        benchmarks; None where there is none.
    error, freedom : float or None
        Standard error of the log of the speedup, and its degrees of freedom.
    pvalue : float or None
        Two-sided, of H0: the speedup is 1. None without spread.
    pvalue_equivalent : float or None
        The larger one-sided p of H0: the speedup lies outside the margin; held against alpha / 2.
    outcome : {"faster", "slower", "equivalent", "undecided"}
        The word.
    more_sessions : MoreSessions or None
        Where undecided and computable.
    """

    derived: ClassVar[tuple[str, ...]] = ("word", "pvalue_of")

    name: str
    speedup: float | None
    low: float | None
    high: float | None
    error: float | None
    freedom: float | None
    pvalue: float | None
    pvalue_equivalent: float | None
    outcome: Word
    more_sessions: MoreSessions | None

    @property
    def word(self) -> Word:
        """The outcome, under the name that all results have it."""
        return self.outcome

    @property
    def pvalue_of(self) -> str:
        """What `pvalue` belongs to."""
        return "two-sided"

    def to_dict(self) -> dict[str, Any]:
        """Give the line as JSON types."""
        found: dict[str, Any] = plain(self)
        if self.more_sessions is not None:
            found["more_sessions"] = self.more_sessions.to_dict()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkLine(Line):
    """The line of one benchmark; `outcome` is its word after the correction.

    Attributes
    ----------
    pvalue_adjusted, pvalue_equivalent_adjusted : float or None
        After the correction for the number of benchmarks.
    outcome_uncorrected : {"faster", "slower", "equivalent", "undecided"}
        The word that the printed interval gives.
    mean_candidate, mean_baseline : float or None
        Geometric means in the unit of the values, sessions weighing equally, over what the speedup
        rests on: their ratio is the speedup. Arithmetic within sessions where runs are 0.
    spread_candidate, spread_baseline : float or None
        Relative standard deviation of the runs within a session: exp(sd of logs) - 1.
    runs_candidate, runs_baseline, failed_candidate, failed_baseline : int
        Runs that count, and runs that failed.
    sessions : int
        Session values behind the line; 1 within one session, 0 where confounded.
    session_ids : tuple of str
        Where sides are paired: the sessions behind it, or within one session its blocks.
    differences : tuple of float
        The log differences of these, positive when the candidate is better.
    reason : {"confounded", "fails-more", "fails-always", "below-resolution"} or None
        Why the word is "undecided" in spite of numbers.
    fails : Fails or None
        How many runs failed in each session of both sides; None where that is not known.
    pvalue_fails, pvalue_fails_adjusted : float or None
        One-sided, of "the candidate does not fail in a larger share of its runs": whole sessions are
        dealt out anew. After Holm's correction over the benchmarks. None without sessions.
    fails_proven : bool
        Whether failing is proven, which stops a gate.
    """

    pvalue_adjusted: float | None
    pvalue_equivalent_adjusted: float | None
    outcome_uncorrected: Word
    mean_candidate: float | None
    mean_baseline: float | None
    spread_candidate: float | None
    spread_baseline: float | None
    runs_candidate: int
    runs_baseline: int
    failed_candidate: int
    failed_baseline: int
    sessions: int
    session_ids: tuple[str, ...]
    differences: tuple[float, ...]
    reason: str | None
    fails: Fails | None = None
    pvalue_fails: float | None = None
    pvalue_fails_adjusted: float | None = None
    fails_proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Multilevel(Result):
    """The sound verdict on one candidate.

    Attributes
    ----------
    candidate, baseline : str
        Names of the two sides.
    unit, better : str
        Of the values.
    design : str
        "paired", "separate", "one session, blocks", "one session, runs" or "confounded".
    sessions : int
        Sessions that the answer rests on: the common ones when paired, those of both sides together
        when separate, 1 within one session, 0 when confounded.
    sessions_candidate, sessions_baseline : int
        Sessions that hold a run that counts.
    confidence, margin : float
        Of the intervals before `looks`, and the largest speedup less 1 that counts as equivalent.
    correction : str
        For the number of benchmarks: "holm", "bh" or "none".
    looks : int
        How many looks at growing data share the level: intervals and words are at alpha / looks.
    always_valid : bool
        Whether the intervals hold at every number of sessions (a confidence sequence).
    benchmarks : tuple of BenchmarkLine
        In the candidate's order; then those of which all its runs failed.
    these, similar : Line or None
        The suite's mean for these benchmarks, and for others like them; None with one benchmark.
    occasions : str or None
        Where confounded, what would hold if the two occasions did not differ, as a sentence.
    outermost : {"session", "host"}
        What is drawn at random above all: the answer holds for more of it, and more of it would
        decide. Hosts of several hosts' verdicts, and where each host is taken as one session.
    dependence : Dependence or None
        Whether a session resembles the one before it; None with fewer than eight sessions, and where
        their order is not known.
    """

    method: ClassVar[str] = "multilevel"
    unlisted: ClassVar[frozenset[str]] = frozenset({"occasions", "outermost"})
    derived: ClassVar[tuple[str, ...]] = ("word",)

    candidate: str
    baseline: str
    unit: str
    better: Better
    design: Design
    sessions: int
    sessions_candidate: int
    sessions_baseline: int
    confidence: float
    margin: float
    correction: Correction
    looks: int
    always_valid: bool
    benchmarks: tuple[BenchmarkLine, ...]
    these: Line | None
    similar: Line | None
    occasions: str | None
    outermost: Unit = "session"
    dependence: Dependence | None = None
    references: tuple[str, ...] = REFERENCES

    @property
    def word(self) -> Word:
        """The word of these benchmarks together, or of the only one."""
        if self.these is not None:
            return self.these.outcome
        known = [line for line in self.benchmarks if line.speedup is not None]
        return known[0].outcome if len(known) == 1 else "undecided"

    @property
    def timed(self) -> bool:
        """Whether what is better is faster."""
        return figures.timed(self.unit)

    def body(self) -> dict[str, Any]:
        """Give what stands below the head."""
        found = Result.body(self)
        found["benchmarks"] = [line.to_dict() for line in self.benchmarks]
        for name, line in (("these", self.these), ("similar", self.similar)):
            found[name] = None if line is None else line.to_dict()
        return found
