"""All runs of a variant in one line of text: what a closed part shows of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...pages import number_format as figures
from ...plots.scale import quantity_scale
from .drawings import Place, Strip

if TYPE_CHECKING:
    from .cells import Cell
    from .frame import Frame

__all__ = ["strips_of"]

_DOTS = 60  # in a strip, at most: more are no dots any longer


def strips_of(
    cells: Mapping[str, Cell], frame: Frame, styles: Mapping[str, str], unit: str
) -> tuple[Strip, ...]:
    """Give the strip of each variant, on an axis of its own."""
    found = []
    for name, cell in cells.items():
        values = cell.values
        scale = quantity_scale(
            (float(values.min()), float(values.max())), log=bool((values > 0).all())
        )
        each = -(-values.size // _DOTS)
        dots: list[Place] = []
        for k in range(len(cell.labels)):
            mine = np.flatnonzero(cell.session == k)
            for start in range(0, mine.size, each):
                some = mine[start : start + each]
                place = float(frame.across[name][some].mean())
                dots.append((place, scale.clipped(float(np.median(values[some])))))
        low, high = (figures.quantity(float(end), unit) for end in (values.min(), values.max()))
        found.append(
            Strip(
                variant=name,
                style=styles[name],
                alt=f"{name}: {values.size} runs in their order, from {low} to {high}",
                dots=tuple(dots),
                each=each,
            )
        )
    return tuple(found)
