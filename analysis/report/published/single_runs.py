"""What a single run may bring: the metrics of both sides' mixtures, benchmark by benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...methods.mixture.model import Mixture
from ...methods.mixture.single_run import (
    mean_difference,
    probability_faster,
    probability_fastest,
    variability_level,
)
from ...pages import number_format as figures
from ...pages.model import Cell, Column, Table, Value
from .answering import Asked, chance
from .evidence import Evidence, PathTable

if TYPE_CHECKING:
    from ...verdict.panel import MixturesOfBoth
    from ..subject import Subject

__all__ = ["single_runs_of"]

_FEW = 30  # runs below which components and modes say little
_FASTEST_UP_TO = 200  # benchmarks for which the chance among all variants is integrated


def single_runs_of(subject: Subject, asked: Asked, anchor: str, number: int) -> Evidence:
    """Give I1 to I4 of each benchmark.

    The chance to be the best of all variants (I3) stands there from three variants on: of two it is
    I2. It is an integral for each benchmark, so it is left out of large suites.
    """
    answers = asked.panel.answers
    order = {name: place for place, name in enumerate(subject.order)}
    pairs = sorted(answers.mixtures, key=lambda one: order.get(one.benchmark, len(order)))
    rivals = _rivals(subject)
    several = max((len(found) for found in rivals.values()), default=0) > 2
    fastest = several and len(pairs) <= _FASTEST_UP_TO
    lower = asked.found.better == "lower"
    table = Table(
        name=f"single-runs-{number}",
        columns=(
            Column("benchmark", "left"),
            Column("runs, candidate"),
            Column("runs, baseline"),
            Column("mean distance (I1)"),
            Column(f"chance to be {asked.word('faster')} (I2)"),
            *((Column("chance to be best of all (I3)"),) if fastest else ()),
            Column("modes, candidate (I4)"),
            Column("modes, baseline (I4)"),
            Column("caution", "left"),
        ),
        rows=tuple(
            _row(
                one,
                asked,
                rivals.get(one.benchmark, {}) if fastest else None,
                lower=lower,
            )
            for one in pairs
        ),
    )
    few = sum(_fewest(one) < _FEW for one in pairs)
    told = [
        f"A Gaussian mixture is fitted to the runs of each side on {len(pairs)} "
        f"benchmark{'s' * (len(pairs) != 1)}; the metrics are of one run against another."
    ]
    left = len(asked.found.benchmarks) - len(pairs)
    if left > 0:
        told.append(f"{left} more cannot be fitted on both sides.")
    if few:
        told.append(
            f"On {few} of them a side has fewer than {_FEW} runs: modes counted on so few say little."
        )
    if several and not fastest:
        told.append(
            f"The chance to be best of all variants (I3) is left out above {_FASTEST_UP_TO} benchmarks; "
            "the command mixture gives it."
        )
    return Evidence(
        key="mixtures",
        anchor=anchor,
        title="Mixtures: one run against one run",
        sentences=tuple(told),
        tables=(
            PathTable(
                caption="Metrics of single runs",
                table=table,
                note="Modes are maxima of the fitted curve. Skew alone makes more than one of them in most "
                "samples, so they are no evidence of several states by themselves.",
            ),
        ),
    )


def _row(
    one: MixturesOfBoth, asked: Asked, rivals: Mapping[str, Mixture] | None, *, lower: bool
) -> tuple[Cell, ...]:
    ours, theirs = one.candidate, one.baseline
    apart = mean_difference(ours, theirs)
    first, second = (ours, theirs) if lower else (theirs, ours)
    best: tuple[Cell, ...] = ()
    if rivals is not None:
        others = [mixture for name, mixture in rivals.items() if name != asked.name]
        best = (chance(_best(ours, others, lower=lower)),)
    few = _fewest(one) < _FEW
    return (
        one.benchmark,
        _count(ours.n or 0),
        _count(theirs.n or 0),
        Value(figures.quantity(apart, asked.found.unit), apart),
        chance(probability_faster(first, second)),
        *best,
        _count(variability_level(ours)),
        _count(variability_level(theirs)),
        f"fewer than {_FEW} runs" if few else "",
    )


def _fewest(pair: MixturesOfBoth) -> int:
    """Count the runs of the side that has fewer; a fitted mixture knows its own."""
    return min(pair.candidate.n or 0, pair.baseline.n or 0)


def _count(number: int) -> Value:
    return Value(str(number), number)


def _best(ours: Mixture, others: list[Mixture], *, lower: bool) -> float:
    """Give I3; where higher is better the mirrored mixtures' smallest run is the best."""
    if lower:
        return probability_fastest(ours, *others)
    return probability_fastest(_mirrored(ours), *(_mirrored(one) for one in others))


def _mirrored(mixture: Mixture) -> Mixture:
    return Mixture.from_parameters(
        weights=mixture.weights, means=-mixture.means, sds=mixture.sds, scale=mixture.scale
    )


def _rivals(subject: Subject) -> dict[str, dict[str, Mixture]]:
    """Give the mixtures of all variants by benchmark."""
    found: dict[str, dict[str, Mixture]] = {}
    for one in subject.candidates:
        for pair in () if one.panel is None else one.panel.answers.mixtures:
            here = found.setdefault(pair.benchmark, {})
            here[subject.baseline] = pair.baseline
            here[one.variant] = pair.candidate
    return found
