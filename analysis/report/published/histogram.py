"""Histograms of resampled ratios, drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from markupsafe import Markup

from ...plots.marks import Mark, curve, label, line, stroke
from ...plots.scale import Scale
from ...plots.spaced import spaced_ticks
from ...plots.svg import plot
from ...words import shown

if TYPE_CHECKING:
    from .evidence import Histogram

__all__ = ["histogram_plot"]

_TOP, _HEIGHT, _BELOW = 20.0, 90.0, 22.0  # CSS pixels


def histogram_plot(found: Histogram) -> Markup:
    """Draw the counts as one area, with the observed ratio or the interval marked."""
    height = _TOP + _HEIGHT + _BELOW
    return Markup(plot(height, _marks(found), shown(found.alt), css="panel-drawn"))  # noqa: S704 - escaped by the parts


def _marks(found: Histogram) -> Iterator[Mark]:
    scale = Scale(found.low, found.high, log=True)
    ground = _TOP + _HEIGHT
    most = max(*found.counts, 1)
    wide = 1 / len(found.counts)
    points: list[tuple[float, float]] = [(0.0, 0.0)]
    for place, count in enumerate(found.counts):
        points += [(place * wide, count / most), ((place + 1) * wide, count / most)]
    yield curve([*points, (1.0, 0.0)], "area", top=_TOP, height=_HEIGHT, closed=True)
    yield line(0, ground, 1, ground, "grid")
    for tick in spaced_ticks(scale, 0.15):
        yield stroke(scale.at(tick.value), ground, ground + 4, "one")
        css = "tick minor" if tick.minor else "tick"
        yield label(scale.at(tick.value), ground + 17, tick.text, css)
    if scale.holds(1.0):
        yield stroke(scale.at(1.0), _TOP, ground, "one")
    at = found.observed.value
    if at is None:
        return
    here = scale.clipped(at)
    yield stroke(here, _TOP - 4, ground, "ink")
    anchor = "start" if here < 0.15 else "end" if here > 0.85 else "middle"
    yield label(here, _TOP - 8, f"{found.observed.text}×", "said", anchor=anchor)
    if found.ends is not None and None not in (found.ends[0].value, found.ends[1].value):
        low, high = (scale.clipped(end.value or found.low) for end in found.ends)
        yield line(low, ground, high, ground, "interval ink")
        for end in (low, high):
            yield stroke(end, ground - 6, ground + 1, "interval ink")
