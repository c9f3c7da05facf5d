"""Small pictures of a variant's runs: a strip of them all, each against the run before, normal Q-Q."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from ... import plots
from ...pages.number_format import quantity
from ...plots.scale import quantity_scale
from ...stats.classical_tests import normal_positions
from ...stats.samples import lag_pairs
from ...words import shown
from .axes import Area, Grounds, shares
from .runs import numbers_within

if TYPE_CHECKING:
    from .benchmark import Benchmark
    from .runs import Cell, Floats

__all__ = ["lag_dots", "normal_dots", "squares", "strip", "strip_dots", "strip_each"]

_DOTS = 60  # in a strip, at most: more are no dots any longer
_STRIP = 24.0
_SQUARE = 130.0
_LEAST = 3  # dots of a square
_GRAIN = 90  # dots of a square that lie in one of so many cells each way are one to the eye


def strip_each(cell: Cell) -> int:
    """Count the runs that make one dot of a strip."""
    return -(-cell.values.size // _DOTS)


def strip(one: Benchmark, variant: str) -> Markup:
    """Draw all runs in one line of text; hidden from those who hear the numbers beside it."""
    css, dots = f"{one.styles[variant]} parts-tiny", strip_dots(one, variant).tolist()
    return plots.plot(_STRIP, [plots.dots(dots, css, top=3, height=_STRIP - 6)], "")


def strip_dots(one: Benchmark, variant: str) -> Floats:
    """Place runs in their order, on an axis of their own; of many, medians of neighbours in a session."""
    cell = one.cells[variant]
    values, size = cell.values, cell.values.size
    neighbours = cell.session * size + numbers_within(cell.session) // strip_each(cell)
    _, group, counts = np.unique(neighbours, return_inverse=True, return_counts=True)
    ordered, first = values[np.lexsort((values, group))], np.cumsum(counts) - counts
    medians = (ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]) / 2
    places = np.bincount(group, weights=one.frame.across[variant]) / counts
    scale = quantity_scale(cell.ends, log=cell.positive)
    return np.column_stack((places, shares(medians, scale)))


def squares(one: Benchmark, grounds: Grounds) -> list[tuple[str, list[tuple[str, Markup]]]]:
    """Draw what a reviewer asks for: a caption and each variant's square; no kind without squares."""
    scales, unit = list(one.scales.values()), one.known.unit
    ends = ""
    if all(other == scales[0] for other in scales):
        low, high = (quantity(end, unit) for end in (scales[0].low, scales[0].high))
        ends = f", both axes from {low} to {high}"
    kinds = (
        (f"Lag plot: each run against the run before in its session{ends}.", _lag),
        ("Normal Q-Q plot: runs less their session's mean, against a normal law.", _normal),
    )
    drawn = (
        (said, [(name, draw(one, name, grounds)) for name in one.cells]) for said, draw in kinds
    )
    kept = ((said, [(name, square) for name, square in some if square]) for said, some in drawn)
    return [(said, some) for said, some in kept if some]


def _lag(one: Benchmark, variant: str, grounds: Grounds) -> Markup:
    """Draw each run against the one before it in its session; nothing of few runs."""
    dots = lag_dots(one, variant)
    found = one.known.found.get((one.name, variant))
    known = None if found is None else found.lag_1
    said = f"{len(dots)} pairs" if known is None else f"autocorrelation {known:.2f}"
    return _square(one, variant, dots, grounds, f"each run against the run before, {said}")


def lag_dots(one: Benchmark, variant: str) -> Floats:
    """Place each run, and the one before it, on the axes of all squares."""
    cell = one.cells[variant]
    return shares(lag_pairs(cell.values, cell.session), one.scales[variant])


def _normal(one: Benchmark, variant: str, grounds: Grounds) -> Markup:
    """Draw runs less their session's mean against a normal law; nothing of few or equal runs."""
    dots = normal_dots(one.cells[variant])
    if len(dots) < _LEAST:
        return Markup("")
    apart = float(np.abs(dots[:, 1] - dots[:, 0]).max())
    reach = 2.12 * float(np.abs(dots).max())
    said = f"the farthest lies {apart:.1f} standard deviations from it"
    return _square(
        one, variant, dots / reach + 0.5, grounds, f"{len(dots)} runs against a normal law; {said}"
    )


def normal_dots(cell: Cell) -> Floats:
    """Give what a normal law expects, and the runs less their session's mean: of logs where possible.

    Both in standard deviations; none of too few or equal runs.
    """
    values = np.log(cell.values) if cell.positive else cell.values
    counts = np.bincount(cell.session, minlength=len(cell.labels))
    means = np.bincount(cell.session, weights=values) / np.maximum(counts, 1)
    rest = np.sort((values - means[cell.session])[counts[cell.session] > 1])
    if rest.size < _LEAST:
        return np.empty((0, 2))
    sd = float(np.sqrt((rest**2).sum() / max(1, rest.size - int((counts > 1).sum()))))
    if not sd > 1e-12:
        return np.empty((0, 2))
    return np.column_stack((normal_positions(rest.size), rest / sd))


def _square(one: Benchmark, variant: str, dots: Floats, grounds: Grounds, said: str) -> Markup:
    """Draw a square of dots and its diagonal."""
    if len(dots) < _LEAST:
        return Markup("")
    _, first = np.unique((dots * _GRAIN).astype(int), axis=0, return_index=True)
    area = Area(top=0.0, height=_SQUARE)
    marks = [
        grounds.of(
            plots.boxes(((0, 1),), "panel", **area),
            plots.segments([(0, 0, 1, 1)], "one", **area),
        ),
        plots.dots(dots[first].tolist(), f"{one.styles[variant]} parts-small", **area),
    ]
    return plots.plot(_SQUARE, marks, shown(f"{variant}: {said}"))
