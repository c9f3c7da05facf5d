"""How much less sure the ratio is when larger units are drawn."""

from __future__ import annotations

from collections.abc import Iterator

from ....data import Centre, Match, Mean
from ..units import Unit, Units, exchangeable_units
from .draws import compare, standard_error, strata_sizes

__all__ = ["larger_units"]

_LARGER: dict[Unit, tuple[Unit, ...]] = {
    "run": ("block", "session"),
    "block": ("session",),
    "session": (),
}


def larger_units(
    pair: Match, units: Units, *, mean: Mean, centre: Centre
) -> Iterator[tuple[Units, float]]:
    """Give the larger units that are known, with their standard error over that of `units`.

    Nothing for medians, whose standard error is not known, and where a stratum has one unit.
    """
    a, b = pair.candidate, pair.baseline

    def error(of: Units) -> float | None:
        comparison = compare(a, b, of, mean=mean, centre=centre)
        if min(size.min() for size in strata_sizes(comparison)) < 2:
            return None
        return standard_error(comparison)

    own = None if centre == "median" or not _LARGER[units.unit] else error(units)
    if not own:
        return
    for unit in _LARGER[units.unit]:
        if any(getattr(matrix, f"{unit}s") is None for matrix in (a, b)):
            continue
        other = exchangeable_units(a, b, unit)
        found = error(other)
        if found is not None:
            yield other, found / own
