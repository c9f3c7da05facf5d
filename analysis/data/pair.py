"""Matrices that are compared: what both have, where they come from, and their means over benchmarks.

[1]_ compares systems by the geometric mean of all scores and names the harmonic and the arithmetic
mean as other choices. Nothing here can overflow: logarithms are taken for the geometric mean, and
the others are scaled before they are summed.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, sections 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence, plain
from ..stats.arguments import chosen
from ..stats.samples import median, read_only
from ..words import shortened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..record.run_numbers import Better
    from .matrix import PerformanceMatrix


def pair_cautions(a: PerformanceMatrix, b: PerformanceMatrix) -> Iterator[Caution]:
    """Say where two sides that are compared are the same runs, or of different trials."""
    alike = a.name == b.name and a.trial == b.trial and a.benchmarks == b.benchmarks
    if alike and all(map(np.array_equal, a.samples, b.samples)):
        yield Caution(
            "one-variant-twice",
            f"'{a.name:.40}' is compared with itself: both sides hold the same "
            "runs, and nothing can differ",
            (a.name,),
            ShortSentence.of("both sides hold the same runs: nothing can differ"),
        )
    yield from trial_cautions((a, b))


def trial_cautions(matrices: Sequence[PerformanceMatrix]) -> Iterator[Caution]:
    """Say where sources that are compared stem from different trials."""
    trials = list(dict.fromkeys(m.trial for m in matrices if m.trial is not None))
    if len(trials) < 2:
        return
    names = [Path(trial).name for trial in trials]
    found = names if len(set(names)) == len(names) else trials
    yield Caution(
        "two-trials",
        f"the sides stem from {len(trials)} trials ({figures.listed(found)}): whatever else differed "
        "between them, such as the time of day or the machine's state, counts as a difference "
        "between the variants. Compare variants within one trial",
        tuple(found),
        ShortSentence.of(
            f"what else differed between the {len(trials)} trials is in the difference"
        ),
    )


def set_apart(matrix: PerformanceMatrix, trial: str) -> PerformanceMatrix:
    """Mark a matrix's block and session ids as those of one trial.

    Trials number their sessions and blocks from 1 on, so two of them share ids by accident. `match`
    does this where it knows the trials; of other sources do it to both sides, with different names.
    """

    def marked(rows: tuple[NDArray[Any], ...] | None) -> tuple[NDArray[Any], ...] | None:
        if rows is None:
            return None
        return tuple(
            read_only(np.array([f"{trial}/{label}" for label in row.tolist()])) for row in rows
        )

    order = session_order(matrix)
    return replace(
        matrix,
        with_zeros=matrix.with_zeros and set_apart(matrix.with_zeros, trial),
        blocks=marked(matrix.blocks),
        sessions=marked(matrix.sessions),
        session_order=tuple(f"{trial}/{label}" for label in order),
        failed_by_session={
            bench: {f"{trial}/{label}": n for label, n in counts.items()}
            for bench, counts in matrix.failed_by_session.items()
        },
    )


def session_order(matrix: PerformanceMatrix) -> tuple[Any, ...]:
    """Give the ids of a matrix's sessions in the order of time; empty where that is unknown."""
    if matrix.session_order is not None or not matrix.sessions:
        return matrix.session_order or ()
    if any(row.dtype.kind == "U" for row in matrix.sessions):
        return ()  # names tell no order
    return tuple(np.unique(np.concatenate(matrix.sessions)).tolist())


def own_session(matrix: PerformanceMatrix, name: str) -> PerformanceMatrix:
    """Give a matrix without session ids a session of its own; one with ids stays as it is.

    Nobody knows whether the runs of two files that say nothing of sessions were measured in one.
    """
    if matrix.sessions is not None:
        return matrix
    rows = (read_only(np.full(len(values), name)) for values in matrix.samples)
    zeros = matrix.with_zeros and own_session(matrix.with_zeros, name)
    return replace(matrix, sessions=tuple(rows), with_zeros=zeros)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Match:
    """Two matrices with the same benchmarks in the same order, and what was left out for it."""

    candidate: PerformanceMatrix
    baseline: PerformanceMatrix
    cautions: tuple[Caution, ...]

    def known(self) -> Iterator[Caution]:
        """Hand on what is known of both matrices, and of benchmarks that only one of them has."""
        for matrix in (self.candidate, self.baseline):
            yield from (caution.of(matrix.name) for caution in matrix.cautions)
        yield from self.cautions


def match(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> Match:
    """Match two matrices by benchmark name, in the candidate's order.

    Benchmarks that only one of them has are left out, and `Match.cautions` says which; also whether
    both are one variant, or of two trials, whose blocks and sessions are never the same ones.
    """
    where = f"{candidate.name} against {baseline.name}"
    for field in ("better", "unit"):
        both = [getattr(one, field) for one in (candidate, baseline)]
        if both[0] != both[1]:
            words = " and ".join(repr(one) if one else f"no {field}" for one in both)
            fix = "compare values of one kind" if all(both) else "name the unit in both headings"
            raise AnalysisError(f"the two differ in '{field}': {words}", where, fix)
    known = tuple(pair_cautions(candidate, baseline))
    trials = {candidate.trial, baseline.trial}
    if None not in trials and len(trials) > 1:
        candidate, baseline = set_apart(candidate, "1"), set_apart(baseline, "2")
    if candidate.benchmarks == baseline.benchmarks:
        return Match(candidate=candidate, baseline=baseline, cautions=known)
    theirs_have = set(baseline.benchmarks)
    common = [bench for bench in candidate.benchmarks if bench in theirs_have]
    if not common:
        raise AnalysisError(
            "they have no benchmark in common",
            where,
            f"one has {figures.listed(candidate.benchmarks, 8)}; the other {figures.listed(baseline.benchmarks, 8)}",
        )
    cautions = tuple(
        Caution(
            OF_ONE_SIDE,
            f"left out, because only {matrix.name!r} has {'it' if len(rest) == 1 else 'them'}: "
            f"{figures.listed(rest, 8)}",
            (matrix.name, *rest),
            ShortSentence.of(f"only {{}} has {plain(few)}: left out", matrix.name),
        )
        for matrix in (candidate, baseline)
        if (rest := [bench for bench in matrix.benchmarks if bench not in set(common)])
        for few in [figures.listed([*shortened(rest, 14).values()], 2)]
    )
    return Match(
        candidate=candidate.select(common),
        baseline=baseline.select(common),
        cautions=(*known, *cautions),
    )


OF_ONE_SIDE = "benchmarks-of-one-side"  # about: the side that has them, and their names
Mean = Literal["geometric", "harmonic", "arithmetic"]
Centre = Literal["runs", "mean", "median"]
MEANS: tuple[Mean, ...] = get_args(Mean)
CENTRES: tuple[Centre, ...] = get_args(Centre)


def check_means(mean: str, centre: str) -> None:
    """Refuse an unknown kind of mean or centre."""
    chosen("mean", mean, MEANS)
    chosen("centre", centre, CENTRES)


def suite_mean(matrix: PerformanceMatrix, *, mean: Mean, centre: Centre) -> float:
    """Give the mean over benchmarks of each benchmark's centre, in the unit of the values."""
    check_means(mean, centre)
    own = mean if centre == "runs" else "arithmetic"
    of = median if centre == "median" else partial(_mean, mean=own)
    return _mean(np.array([of(values) for values in matrix.samples]), mean)


def speedup_of(candidate_mean: float, baseline_mean: float, better: Better) -> float:
    """Give the ratio of two suite means that is above 1 when the candidate is better."""
    over, under = (
        (baseline_mean, candidate_mean) if better == "lower" else (candidate_mean, baseline_mean)
    )
    value = over / under
    if not 0 < value < math.inf:
        raise AnalysisError(
            f"the ratio of {over:g} to {under:g} leaves the range of numbers",
            fix="give both sides in one unit, and look for values that are not measurements",
        )
    return value


def _mean(values: NDArray[np.float64], mean: Mean) -> float:
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low  # equal values have this mean exactly
    if mean == "geometric":
        found = math.exp(float(np.log(values).mean()))
    elif mean == "harmonic":
        found = low / float((low / values).mean())
    else:
        found = high * float((values / high).mean())
    return min(max(found, low), high)
