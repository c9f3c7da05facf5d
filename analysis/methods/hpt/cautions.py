"""What a reader of HPT's answers should know."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ...data import Match
from ...report import Caution, figures, said
from ...stats import TIE_TOLERANCE, smallest_rank_sum_pvalue
from .result import P_TOLERANCE, HptBenchmark, Ties, Winner

__all__ = ["pair_cautions", "speedup_cautions", "suite_cautions"]

_NAME = 40  # columns for a variant's name in a sentence
_PUBLISHED = "published table or normal form"
_CONDITIONAL = "test conditional on the ties"
_LAWS = {"table": (_PUBLISHED, _CONDITIONAL), "exact": (_CONDITIONAL, _PUBLISHED)}


def pair_cautions(pair: Match) -> Iterator[Caution]:
    """Say what holds for every answer about a pair: left-out runs and benchmarks, sessions."""
    for matrix in (pair.candidate, pair.baseline):
        yield from (caution.of(matrix.name) for caution in matrix.cautions)
    yield from pair.cautions
    yield from _sessions(pair)


def _sessions(pair: Match) -> Iterator[Caution]:
    """Say how far the runs are independent replications, where their sessions are known."""
    a, b = pair.candidate.sessions, pair.baseline.sessions
    if a is None or b is None:
        return
    count = len({ids for rows in (a, b) for row in rows for ids in row.tolist()})
    if count == 1:
        yield Caution(
            "one-session",
            "all runs stem from one session: they share its memory layout, frequencies and "
            "neighbours, and are not independent replications. The outcomes hold within this "
            "session only; measure 3 or more sessions",
        )
        return
    yield Caution(
        "sessions-pooled",
        "runs of one session are not independent replications, and HPT treats the runs of all "
        f"{count} sessions as if they were: its reliability is too high where sessions "
        "differ. 'fairtrial verdict' judges by sessions",
    )


def suite_cautions(
    rows: Sequence[HptBenchmark],
    *,
    switched: Sequence[tuple[str, Winner, Winner]],
    sides: tuple[str, str],
    required: float,
    most: float,
    ties: Ties,
) -> Iterator[Caution]:
    """Say what a reader of a rank table should know.

    `switched` holds the benchmarks whose winner the other convention of `ties` changes: name,
    winner here, winner there. `sides` are the names of candidate and baseline.
    """
    n = len(rows)
    tested = [(row, row.alpha) for row in rows if row.alpha is not None]
    if most < required - P_TOLERANCE:
        yield Caution(
            "level-out-of-reach",
            f"with {n} benchmark{'s' * (n > 1)} no reliability above {most:.5g} is possible, so "
            f"{required:g} cannot be reached",
        )
    if len(tested) < n:
        yield Caution(
            "stage-one-skipped",
            f"{n - len(tested)} of {n} benchmarks have one run on each side: stage one was skipped "
            "there, every difference counts as real",
            tuple(row.name for row in rows if row.alpha is None),
        )
    mute = [
        row.name
        for row, alpha in tested
        if smallest_rank_sum_pvalue(row.runs_candidate, row.runs_baseline) > alpha
    ]
    if mute:
        yield Caution(
            "too-few-runs",
            "too few runs for any winner at the risk of stage one, whatever the values: "
            f"{figures.listed(mute)}",
            tuple(mute),
        )
    if tested:
        risk = max(alpha for _, alpha in tested)
        yield Caution(
            "two-directions",
            f"each benchmark is tested in both directions at risk {risk:g}, so a false "
            f"winner of stage one has a chance of up to {2 * risk:g} on each",
        )
    few = [row.name for row, _ in tested if min(row.runs_candidate, row.runs_baseline) in (3, 4)]
    if few:
        yield Caution(
            "three-or-four-runs",
            "with 3 or 4 runs only (nearly) complete separation makes a winner, at the larger "
            "risk of stage one; 5 or more runs are better",
            tuple(few),
        )
    for name, winner, other in switched:
        yield Caution(
            "ties-decide",
            f"'{name}' is {_says(winner, sides)} by the {_LAWS[ties][0]}, {_says(other, sides)} by "
            f"the {_LAWS[ties][1]}",
            (name,),
        )
    against = [
        row.name
        for row, _ in tested
        if (row.winner == "candidate" and row.difference <= 0)
        or (row.winner == "baseline" and row.difference >= 0)
    ]
    if against:
        yield Caution(
            "ranks-against-medians",
            f"ranks and medians disagree about the winner: {figures.listed(against)}",
            tuple(against),
        )


def _says(winner: Winner, sides: tuple[str, str]) -> str:
    return "a tie" if winner == "tie" else f"a win for {sides[winner != 'candidate']}"


def speedup_cautions(
    value: float | None,
    first: float | None,
    required: float,
    *,
    names: tuple[str, str],
    timed: bool,
    rises: bool,
    n: int,
) -> Iterator[Caution]:
    """Say what a reader of an r-Speedup should know."""
    ours, theirs = (figures.shorten(name, _NAME) for name in names)
    if value is None:
        reason = (
            f": with {n} benchmark{'s' * (n != 1)} at most 1 - 2^-{n} is possible"
            if 2.0**-n > (1 - required)
            else ""
        )
        yield Caution("no-speedup", f"no speedup reaches reliability {required:g}{reason}")
    elif value < 1:
        yield Caution(
            "speedup-below-1",
            f"the largest speedup is below 1: that {ours} is {said('faster', timed=timed)} than "
            f"{theirs} does not reach reliability {required:g}; what reaches it is that {ours} is "
            f"at least {math.floor(value * 1e4) / 1e4:g} times as {'fast' if timed else 'good'}",
        )
    if value is not None and first is not None and first < value * (1 - TIE_TOLERANCE):
        yield Caution(
            "reliability-rises-again",
            f"the reliability falls below {required:g} at {first:.4g} already and reaches it again "
            f"up to {value:.4g}: the runs are multimodal. The largest speedup is given, as the "
            "method defines it; look at the runs before relying on it",
        )
    elif rises:
        yield Caution(
            "reliability-not-steady",
            "the reliability does not fall steadily with the speedup: on some benchmarks ranks "
            "and medians disagree about the winner, as multimodal runs make them",
        )
