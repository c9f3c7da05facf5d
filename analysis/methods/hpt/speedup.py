"""The r-Speedup of HPT: the largest speedup that is claimed with confidence r, exactly.

[1]_, section 4.2, defines it as the supremum of the speedups g for which HPT says "A, its scores
divided by g, is better than B" with confidence r at least, and the authors' program searches it
upwards by small steps until the first failure. Here every step of the confidence is listed
(`analysis.methods.hpt.curve`), so the supremum is exact, and a later rise is not missed.

References
----------
.. [1] T. Chen, Y. Chen, Q. Guo, O. Temam, Y. Wu, W. Hu, "Statistical performance comparisons of
   computers", 18th International Symposium on High Performance Computer Architecture, 2012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from ...data import PerformanceMatrix, match
from ...report import Result, figures
from ...stats import TIE_TOLERANCE, door
from .cautions import pair_cautions, speedup_cautions
from .curve import HptCurve, curve_of
from .result import REFERENCES, Ties
from .stages import Kind, Scores, kind_of, validate
from .winners import lines_of, stack, winners_of

__all__ = ["GRID", "HptSpeedup", "hpt_speedup"]

GRID = 1000  # the program window prints thousandths


@dataclass(frozen=True, slots=True, kw_only=True)
class HptSpeedup(Result):
    """The largest speedup that reaches a confidence.

    Attributes
    ----------
    required : float
        The confidence asked for, r.
    value : float or None
        The supremum; None when no speedup at all reaches `required`.
    attained_confidence : float or None
        The confidence at `value` when that point reaches `required`, otherwise the one just below.
    attained_at_value : bool
        Whether `value` itself reaches it.
    printed : str or None
        The largest multiple of 0.001 that lies below `value`, or at it where that point reaches
        `required`: what a search by steps of 0.001 from below would print.
    below_one : bool
        The candidate is not better: it reaches `required` only with its scores raised.
    first_failure : float or None
        Where a search upwards fails first: smaller than `value` when the confidence rises again.
    rises : bool
        Whether the confidence rises anywhere with the speedup.
    curve : HptCurve
        The whole step function.
    """

    method: ClassVar[str] = "hpt-speedup"
    unlisted: ClassVar[frozenset[str]] = frozenset({"timed"})

    candidate: str
    baseline: str
    required: float
    alpha: float | None
    ties: Ties
    scores: Kind
    timed: bool
    value: float | None
    attained_confidence: float | None
    attained_at_value: bool
    printed: str | None
    below_one: bool
    first_failure: float | None
    rises: bool
    curve: HptCurve
    references: tuple[str, ...] = REFERENCES

    @property
    def conclusion(self) -> str:
        """What the search says, in one sentence."""
        if self.printed is None or self.attained_confidence is None:
            most = max([*self.curve.between.tolist(), *self.curve.at.tolist()])
            return (
                f"no speedup has HPT reliability {self.required:g}; at most "
                f"{figures.reliability(most, self.required)} is reached"
            )
        reached = figures.reliability(self.attained_confidence, self.required)
        return (
            f"largest speedup with HPT reliability {self.required:g}: {self.printed} "
            f"(reliability {reached} up to this limit, less than {self.required:g} beyond it)"
        )


@door
def hpt_speedup(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    confidence: float = 0.95,
    alpha: float | None = None,
    ties: Ties = "table",
    scores: Scores = "auto",
) -> HptSpeedup:
    """Find the largest speedup that HPT claims with a confidence.

    Parameters
    ----------
    candidate, baseline, alpha, ties, scores
        As for `hpt`.
    confidence : float
        The confidence r that the speedup must reach, between 0.5 and 1.

    Returns
    -------
    HptSpeedup
        The exact supremum over all positive speedups, what it attains, and the whole curve.

    Raises
    ------
    UsageError
        If an argument is out of its range.
    AnalysisError
        If the matrices do not go together, or a value leaves the range of numbers.

    Notes
    -----
    ``hpt(..., speedup=g)`` is the definition, and its tolerances hold here too: breakpoints
    within 1e-10 of each other, relatively, are one.
    """
    validate(1.0, confidence, alpha, ties, scores)
    pair = match(candidate, baseline)
    a, b = pair.candidate, pair.baseline
    kind, n = kind_of(scores, a), len(a.benchmarks)
    negated = kind == "raw" and a.better == "lower"
    stacks = stack(a, b, kind)
    lines = lines_of(stacks, n, kind, negated=negated)
    winners = winners_of(stacks, n, alpha=alpha, ties=ties, negated=negated)
    curve = curve_of(lines, winners, ties=ties)
    found = curve.supremum(confidence)
    value, attained, there = found if found is not None else (None, None, False)
    first = curve.first_failure(confidence)
    rises = curve.rises
    return HptSpeedup(
        candidate=a.name,
        baseline=b.name,
        required=confidence,
        alpha=alpha,
        ties=ties,
        scores=kind,
        timed=figures.timed(a.unit),
        value=value,
        attained_confidence=attained,
        attained_at_value=there,
        printed=None if value is None else _printed(value, there=there),
        below_one=value is not None and value < 1,
        first_failure=first,
        rises=rises,
        curve=curve,
        cautions=(
            *pair_cautions(pair),
            *speedup_cautions(
                value,
                first,
                confidence,
                names=(a.name, b.name),
                timed=figures.timed(a.unit),
                rises=rises,
                n=n,
            ),
        ),
    )


def _printed(value: float, *, there: bool) -> str:
    """Round down to the grid; rounding noise must not cost a step, nor win one."""
    steps = math.floor(value * GRID * (1 + TIE_TOLERANCE))
    if not there and steps >= value * GRID * (1 - TIE_TOLERANCE):
        steps -= 1  # the grid point itself does not reach the level
    return f"{steps / GRID:.3f}"
