"""What a reader of a bootstrap interval should know: what it really covers, and what it never does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Literal

from ....report import Caution, figures
from ..units import SESSIONS, Units
from .coverage import KnownCoverage, not_covered
from .draws import Comparison, strata_sizes
from .result import Interval, Sides

__all__ = [
    "coverage_caution",
    "data_cautions",
    "draw_cautions",
    "mixes_sessions",
    "scope_cautions",
    "unit_spread",
]

_TAIL = 10  # replicates in a tail, below which its end is rough
_NAMES = {"bca": "BCa"}
_NOISE = {
    "het": "noise of 0.3 to 10 % by benchmark",
    "homo": "noise of 3 % on every benchmark",
}


def mixes_sessions(units: Units) -> bool:
    """Tell whether units of several sessions count as independent, and are not."""
    return units.unit != "session" and units.sessions is not None and units.sessions > 1


def coverage_caution(
    known: KnownCoverage | None,
    units: Units,
    *,
    interval: Interval,
    sides: Sides,
    confidence: float,
    medians: bool,
) -> Caution:
    """Say what such intervals held in simulation."""
    if mixes_sessions(units):
        return Caution(
            "coverage-unknown",
            f"coverage unknown across sessions: the {units.noun}s stem from "
            f"{units.sessions} sessions, and simulated were independent ones. Where sessions shift "
            "the variants differently, it is lower than the nominal one"
            + "; take unit 'session'"
            * ((units.sessions or 0) >= SESSIONS),
        )
    if known is None:
        return Caution(
            "coverage-unknown",
            f"the real coverage of this interval at confidence {confidence:g}, with so many "
            f"{units.noun}s, is not in the table of simulated ones",
        )
    n, m = known.benchmarks, known.runs
    where = {
        "runs": f"{n} benchmark{'s' * (n > 1)} x {m} runs on each side",
        "units": f"{m} independent units on each side, resampled as wholes",
        "pairs": f"{m} independent units that hold both variants, resampled as wholes",
    }[known.design]
    shares = ", ".join(
        f"{share:.3f}" + (f" ({_NOISE[noise]})" if len(known.others) > 1 else "")
        for noise, share in known.others
    )
    return Caution(
        "known-coverage",
        f"known coverage: nominal {confidence:g} {_NAMES.get(interval, interval)} "
        f"{'intervals' if sides == 'two' else 'bounds'}{' of medians' * medians} held the true "
        f"ratio in {shares} of {known.suites:,} simulated suites, each with {where}; the table's "
        "largest cell with no more than here",
    )


def data_cautions(comparison: Comparison, interval: Interval, *, flat: bool) -> Iterator[Caution]:
    """Say where the data give too little spread; `flat` means that all replicates are equal."""
    units = comparison.units
    single = int(sum((size < 2).sum() for size in strata_sizes(comparison)))
    if single and units.unit == "run":
        yield Caution(
            "stratum-of-one",
            f"{single} of {2 * len(comparison.benchmarks)} samples hold one run: they add no width, "
            "as if they had no noise, so the interval is too narrow",
        )
    elif single:
        yield Caution(
            "stratum-of-one",
            f"one side has one {units.noun}: it adds no width, the interval is too narrow",
        )
    if flat:
        yield Caution(
            "interval-without-width",
            "all replicates are equal: the values do not vary, the interval has no width",
        )
    if interval == "corrected" and comparison.candidate.medians:
        yield Caution(
            "widened-medians",
            "the widening belongs to means: percentile intervals of medians are wide without it",
        )


def draw_cautions(resamples: int, redrawn: int, *, tail: float) -> Iterator[Caution]:
    """Say what the draws leave open; `tail` is the risk on one side."""
    if (resamples + 1) * tail < _TAIL:
        yield Caution(
            "few-resamples",
            f"{resamples:,} resamples leave fewer than {_TAIL} beyond an end: the ends are rough; "
            f"take {math.ceil(_TAIL / tail):,} or more",
        )
    if redrawn:
        yield Caution(
            "resamples-redrawn",
            f"{redrawn:,} resamples were drawn anew, because a benchmark had no run in them",
        )


def scope_cautions(units: Units, interval: Interval) -> Iterator[Caution]:
    """Say what no interval of this kind covers; the table has figures for percentile intervals."""
    figured = interval == "percentile"
    if units.unit != "session":
        yield Caution(
            "sessions-not-covered",
            "shifts between sessions are not covered"
            + (
                ": where every benchmark of either side kept one unrepeated shift as large as its "
                "run noise, nominal 0.95 percentile intervals of 12 benchmarks held the truth in "
                f"only {_shares('session')}"
            )
            * figured,
        )
    yield Caution(
        "benchmarks-not-covered",
        "the choice of benchmarks is not covered: the interval speaks of these programs"
        + (
            ". As one for programs like these, with true differences that spread by 5 %, a nominal "
            f"0.95 percentile interval held the truth in only {_shares('benchmarks')}"
        )
        * figured,
    )


def _shares(kind: Literal["session", "benchmarks"]) -> str:
    rows = not_covered(kind)
    covered = " / ".join(f"{share:.2f}" for share, _ in rows)
    return f"{covered} with {' / '.join(str(runs) for _, runs in rows)} runs"


def unit_spread(units: Units, larger: Iterable[tuple[Units, float]]) -> Iterator[Caution]:
    """Say where the standard error grows when larger units are drawn: see `larger_units`."""
    for other, factor in larger:
        if factor > 1:
            yield Caution(
                "larger-units-vary-more",
                f"this interval draws {units.noun}s; drawn by whole {other.noun}s, the standard "
                f"error of the log ratio is {figures.significant(factor, 2)} times as large "
                f"(unit '{other.unit}')",
                (other.unit,),
            )
