"""What HPT says: the rank table, the conclusion in words, and the cautions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ...data import PerformanceMatrix
from ...report import as_text, figures
from ...stats import smallest_rank_sum_pvalue

__all__ = [
    "P_TOLERANCE",
    "REFERENCES",
    "HptBenchmark",
    "HptResult",
    "Outcome",
    "Ties",
    "Winner",
    "cautions_of",
    "session_cautions",
]

Winner = Literal["candidate", "baseline", "tie"]
Outcome = Literal["candidate", "baseline", "undecided"]
Ties = Literal["table", "exact"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class HptResult:
    """What HPT says about a candidate against a baseline.

    `pvalue` and `confidence` (1 - p, called reliability by the authors) always belong to "the
    candidate is better"; `pvalue_baseline` to its opposite. `outcome` is "baseline" when that one
    reaches `required`, the confidence asked for. `most` is the largest confidence that so many
    benchmarks can give. `stage_two` names the law that gave p.
    """

    candidate: str
    baseline: str
    speedup: float
    required: float
    alpha: float | None
    ties: Ties
    scores: Literal["raw", "ratio", "log-ratio"]
    faster: bool
    benchmarks: tuple[HptBenchmark, ...]
    rank_sum_candidate: float
    rank_sum_baseline: float
    pvalue: float
    pvalue_baseline: float
    confidence: float
    outcome: Outcome
    most: float
    stage_two: Literal["table", "normal", "exact"]
    cautions: tuple[str, ...]
    references: tuple[str, ...] = REFERENCES

    @property
    def claim(self) -> str:
        """The proposition under test, in words."""
        return self._proposition("more", "faster" if self.faster else "better")

    @property
    def opposite(self) -> str:
        """The opposite proposition, in words."""
        return self._proposition("less", "slower" if self.faster else "worse")

    def _proposition(self, than: str, comparative: str) -> str:
        ours, theirs = (figures.shorten(name, _NAME) for name in (self.candidate, self.baseline))
        if self.speedup == 1:
            return f"{ours} is {comparative} than {theirs}"
        good = "fast" if self.faster else "good"
        return f"{ours} is {than} than {self.speedup:g} times as {good} as {theirs}"

    @property
    def conclusion(self) -> str:
        """What the test says over the suite, in one sentence."""
        n = len(self.benchmarks)
        over = f"over {f'these {n} benchmarks' if n > 1 else 'this 1 benchmark'}"
        ours = figures.reliability(self.confidence, self.required)
        theirs = figures.reliability(1 - self.pvalue_baseline, self.required)
        meaning = "(1 - p, not the chance of being right)"
        if self.outcome == "candidate":
            return f"{self.claim} {over}: HPT reliability {ours} {meaning}"
        if self.outcome == "baseline":
            return f"{self.opposite} {over}: HPT reliability {theirs} {meaning}"
        return (
            f"undecided {over} at {self.required:g}: that {self.claim} has HPT reliability {ours}, "
            f"the opposite {theirs} {meaning}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the result as JSON types."""
        data = asdict(self)
        data["benchmarks"] = [asdict(benchmark) for benchmark in self.benchmarks]
        data["cautions"] = list(self.cautions)
        data["references"] = list(self.references)
        return data

    def table(self) -> list[str]:
        """Give the rank table and both rank sums as lines of text."""
        return _table(self)

    def __str__(self) -> str:
        lines = [*as_text.wrapped(self.conclusion), "", *self.table()]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])


def _table(result: HptResult) -> list[str]:
    a, b = figures.shorten(result.candidate, 20), figures.shorten(result.baseline, 20)
    by = "" if result.speedup == 1 else f"/{result.speedup:g}"
    names = {"candidate": a, "baseline": b, "tie": "tie"}
    rows = [["", f"median {a}{by}", f"median {b}", "winner", "difference", "rank"]]
    rows += [
        [
            figures.shorten(row.name, 28),
            figures.significant(row.median_candidate, 4),
            figures.significant(row.median_baseline, 4),
            names[row.winner],
            figures.significant(row.difference, 4),
            f"{row.rank:g}",
        ]
        for row in result.benchmarks
    ]
    n = len(result.benchmarks)
    return [
        *as_text.grid(rows, "<>><>>"),
        f"signed ranks: {a} {result.rank_sum_candidate:g}, {b} {result.rank_sum_baseline:g} of "
        f"{n} benchmarks; p {figures.pvalue(result.pvalue)}",
    ]


def cautions_of(
    rows: Sequence[HptBenchmark],
    *,
    switched: Sequence[tuple[str, Winner, Winner]],
    sides: tuple[str, str],
    required: float,
    most: float,
    ties: Ties,
) -> list[str]:
    """Say what a reader of the result should know.

    `switched` holds the benchmarks whose winner the other convention of `ties` changes: name,
    winner here, winner there. `sides` are the names of candidate and baseline.
    """
    n = len(rows)
    cautions = []
    if most < required - P_TOLERANCE:
        cautions.append(
            f"with {n} benchmark{'s' * (n > 1)} no reliability above {most:.5g} is possible, so "
            f"{required:g} cannot be reached"
        )
    skipped = sum(row.alpha is None for row in rows)
    if skipped:
        cautions.append(
            f"{skipped} of {n} benchmarks have one run on each side: stage one was skipped there, "
            "every difference counts as real"
        )
    mute = [
        row.name
        for row in rows
        if row.alpha is not None
        and smallest_rank_sum_pvalue(row.runs_candidate, row.runs_baseline) > row.alpha
    ]
    if mute:
        cautions.append(
            f"too few runs for any winner at the risk of stage one, whatever the values: "
            f"{_some(mute)}"
        )
    risks = [row.alpha for row in rows if row.alpha is not None]
    if risks:
        cautions.append(
            f"each benchmark is tested in both directions at risk {max(risks):g}, so a false "
            f"winner of stage one has a chance of up to {2 * max(risks):g} on each"
        )
    if any(
        row.alpha is not None and min(row.runs_candidate, row.runs_baseline) in (3, 4)
        for row in rows
    ):
        cautions.append(
            "with 3 or 4 runs only (nearly) complete separation makes a winner, at the larger "
            "risk of stage one; 5 or more runs are better"
        )
    cautions += [
        f"'{name}' is {_says(winner, sides)} by the {_LAWS[ties][0]}, {_says(other, sides)} by the "
        f"{_LAWS[ties][1]}"
        for name, winner, other in switched
    ]
    against = [
        row.name
        for row in rows
        if row.alpha is not None
        and (
            (row.winner == "candidate" and row.difference <= 0)
            or (row.winner == "baseline" and row.difference >= 0)
        )
    ]
    if against:
        cautions.append(f"ranks and medians disagree about the winner: {_some(against)}")
    return cautions


_PUBLISHED = "published table or normal form"
_CONDITIONAL = "test conditional on the ties"
_LAWS = {"table": (_PUBLISHED, _CONDITIONAL), "exact": (_CONDITIONAL, _PUBLISHED)}


def session_cautions(a: PerformanceMatrix, b: PerformanceMatrix) -> list[str]:
    """Say how far the runs are independent replications, where their sessions are known."""
    if a.sessions is None or b.sessions is None:
        return []
    count = len({ids for rows in (a.sessions, b.sessions) for row in rows for ids in row.tolist()})
    if count == 1:
        return [
            "all runs stem from one session: they share its memory layout, frequencies and "
            "neighbours, and are not independent replications. The outcomes hold within this "
            "session only; measure 3 or more sessions"
        ]
    return [
        "runs of one session are not independent replications, and HPT treats the runs of all "
        f"{count} sessions as if they were: its reliability is too high where sessions "
        "differ. A verdict by sessions is not part of this version"
    ]


def _says(winner: Winner, sides: tuple[str, str]) -> str:
    return "a tie" if winner == "tie" else f"a win for {sides[winner != 'candidate']}"


def _some(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" * (len(names) > most))
