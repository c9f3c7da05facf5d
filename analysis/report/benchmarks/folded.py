"""What stands folded in a part, for a reviewer: each run against the one before, and normal Q-Q."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...pages import number_format as figures
from ...stats.classical_tests import normal_positions
from ...stats.samples import lag_pairs
from .axes import row_scales
from .drawings import Cloud, FoldedPlots

if TYPE_CHECKING:
    from ...plots.scale import Scale
    from .cells import Cell

__all__ = ["folded_plots"]

Floats = NDArray[np.float64]
_LEAST = 3  # dots of a picture


def folded_plots(
    cells: Mapping[str, Cell],
    styles: Mapping[str, str],
    centres: Mapping[str, float],
    lag_1: Mapping[str, float | None],
    unit: str,
) -> FoldedPlots:
    """Give a lag plot and a normal Q-Q plot of each variant that has some runs.

    Parameters
    ----------
    cells : mapping of str to Cell
        The runs of each variant.
    styles, centres : mapping
        The role of its colour, and its mean.
    lag_1 : mapping of str to float or None
        The autocorrelation of its ranks, where the diagnosis knows it.
    unit : str
        Of the values.
    """
    scales = row_scales(cells, centres)
    lags, qqs = [], []
    for name, cell in cells.items():
        lag = _lag(name, cell, scales[name], styles[name], lag_1.get(name))
        qq = _qq(name, cell, styles[name])
        lags += [] if lag is None else [lag]
        qqs += [] if qq is None else [qq]
    every = list(scales.values())
    ends = ("", "")
    if all(scale == every[0] for scale in every):
        ends = (figures.quantity(every[0].low, unit), figures.quantity(every[0].high, unit))
    return FoldedPlots(lags=tuple(lags), qqs=tuple(qqs), ranges=ends)


def _lag(name: str, cell: Cell, scale: Scale, style: str, known: float | None) -> Cloud | None:
    pairs = lag_pairs(cell.values, cell.session)
    if len(pairs) < _LEAST:
        return None
    said = f"{len(pairs)} pairs" if known is None else f"autocorrelation {known:.2f}"
    return Cloud(
        variant=name,
        style=style,
        alt=f"{name}: each run against the run before, {said}",
        dots=tuple((scale.clipped(a), scale.clipped(b)) for a, b in pairs.tolist()),
    )


def _qq(name: str, cell: Cell, style: str) -> Cloud | None:
    """Hold the runs less their session's mean, of logs where possible, against a normal law."""
    values = np.log(cell.values) if (cell.values > 0).all() else cell.values
    counts = np.bincount(cell.session, minlength=len(cell.labels))
    means = np.bincount(cell.session, weights=values) / np.maximum(counts, 1)
    rest = np.sort((values - means[cell.session])[counts[cell.session] > 1])
    if rest.size < _LEAST:
        return None
    sd = float(np.sqrt((rest**2).sum() / max(1, rest.size - int((counts > 1).sum()))))
    if not sd > 1e-12:
        return None
    expected, found = normal_positions(rest.size), rest / sd
    reach = 1.06 * float(max(np.abs(expected).max(), np.abs(found).max()))
    apart = float(np.abs(found - expected).max())
    return Cloud(
        variant=name,
        style=style,
        alt=(
            f"{name}: {rest.size} runs against a normal law; the farthest lies {apart:.1f} standard "
            "deviations from it"
        ),
        dots=tuple(
            zip(
                ((expected / reach + 1) / 2).tolist(),
                ((found / reach + 1) / 2).tolist(),
                strict=True,
            )
        ),
    )
