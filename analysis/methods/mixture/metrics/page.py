"""The metrics of single runs in words."""

from __future__ import annotations

import math

from ....report import Column, Page, Section, Sentence, Table, Value, page_of
from .result import FasterEstimate, MetricInterval, RankShare

__all__: list[str] = []


@page_of.register
def _(found: MetricInterval) -> Page:
    said = f"{found.metric}: {found.estimate:.6g}"
    if found.replicates:
        said += (
            f", {100 * found.confidence:g} % interval [{found.low:.6g}, {found.high:.6g}] from "
            f"{found.replicates} resamples"
        )
    return Page(title=found.metric, sections=(Section((Sentence(said),)),), cautions=found.cautions)


@page_of.register
def _(found: RankShare) -> Page:
    said = (
        f"one run is faster than one of the other in {found.estimate:.3f} of {found.pairs} pairs "
        f"of runs, {found.ties} tie{'s' * (found.ties != 1)} counted half ({100 * found.confidence:g} % interval "
        f"{found.low:.3f} to {found.high:.3f})"
    )
    return Page(title="Share of faster runs", sections=(Section((Sentence(said),)),))


@page_of.register
def _(found: FasterEstimate) -> Page:
    both = (("mixtures (I2)", found.mixture), ("ranks, U/(nm)", found.ranks))
    table = Table(
        name="one-run-is-faster",
        columns=(
            Column("P[one run is faster]", "left"),
            *(Column("estimate"), Column("low"), Column("high")),
        ),
        rows=tuple(
            (name, *(_share(value) for value in (one.estimate, one.low, one.high)))
            for name, one in both
        ),
    )
    return Page(
        title="Which of two runs is faster",
        sections=(Section((Sentence(_chance(found)),)), Section((table,))),
        cautions=found.cautions,
    )


def _share(value: float) -> Value:
    return Value("", None) if math.isnan(value) else Value(f"{value:.4f}", value)


def _chance(found: FasterEstimate) -> str:
    less = "" if found.shift == 0 else f" by more than {-found.shift:g}"
    if found.shift > 0:
        less = f", or slower by less than {found.shift:g}"
    one = found.mixture
    said = f"one run is faster than one of the other{less} with probability {one.estimate:.3f}"
    if one.replicates:
        said += f" ({100 * one.confidence:g} % interval {one.low:.3f} to {one.high:.3f})"
    return said
