"""What a metric means: one unit and one direction; values of another meaning are another metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..errors import UsageError
from ..record import Better
from ..report import Caution, figures
from .placed import Placed

__all__ = ["one_meaning", "require_agreement"]

_UNSAID = "direction unknown"


def one_meaning(
    placed: Sequence[Placed], better: Better | None
) -> tuple[list[Placed], list[Caution]]:
    """Make values of one metric in several units, or directions, several metrics.

    Nobody compares them by accident then. Cells that do not tell the direction have the one that the
    others of their metric tell, if it is one.

    Parameters
    ----------
    placed : sequence of Placed
        The cells.
    better : {"lower", "higher"} or None
        What a person said of metrics without a direction.

    Raises
    ------
    UsageError
        If this contradicts what the file says of the same metric.
    """
    said: dict[tuple[str, str], dict[Better, str]] = {}
    for one in placed:
        if one.cell.better is not None:
            directions = said.setdefault((one.cell.metric, one.cell.unit), {})
            directions.setdefault(one.cell.better, one.source)
    names = _Names({one.cell.metric for one in placed})
    kept = []
    for one in placed:
        metric, unit = one.cell.metric, one.cell.unit
        directions = said.get((metric, unit), {})
        direction = one.cell.better
        if direction is None:
            direction = _unsaid(metric, directions, better)
        name = names.of(metric, unit, direction, several=len(directions) > 1)
        cell = one.cell
        if (name, direction) != (cell.metric, cell.better):
            cell = replace(cell, metric=name, better=direction)
        kept.append(replace(one, cell=cell))
    return kept, names.told


def _unsaid(metric: str, said: dict[Better, str], better: Better | None) -> Better | None:
    """Find the direction of a cell that does not tell it."""
    if len(said) != 1:
        return better
    ((direction, where),) = said.items()
    if better is not None and better != direction:
        raise _contradicted(metric, direction, better, where)
    return direction


class _Names:
    """Metrics by what they mean: the first meaning keeps the name."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._units: dict[str, dict[str, str]] = {}
        self._directions: dict[str, dict[Better | None, str]] = {}
        self.told: list[Caution] = []

    def of(self, metric: str, unit: str, direction: Better | None, *, several: bool) -> str:
        units = self._units.setdefault(metric, {})
        if unit not in units:
            units[unit] = self._free(metric, unit or "no unit") if units else metric
            if units[unit] != metric:
                self._tell("units-apart", metric, "in several units", units[unit])
        name = units[unit]
        if not several:
            return name
        directions = self._directions.setdefault(name, {})
        if direction not in directions:
            directions[direction] = self._free(name, direction or _UNSAID) if directions else name
            if directions[direction] != name:
                self._tell("directions-apart", name, "with both directions", directions[direction])
        return directions[direction]

    def _free(self, metric: str, meaning: str) -> str:
        name = f"{metric} [{meaning}]"
        while name in self._taken:  # the file has a metric of that very name
            name += "*"
        self._taken.add(name)
        return name

    def _tell(self, code: str, metric: str, how: str, name: str) -> None:
        text = f"{metric} stands there {how}: {name!r} is a metric of its own"
        self.told.append(Caution(code, text, (name,)))


def require_agreement(cells: Iterable[Placed], better: Better | None) -> None:
    """Refuse a direction that no metric takes, and that each of them contradicts.

    Raises
    ------
    UsageError
        If all metrics have the other direction.
    """
    if better is None:
        return
    said = {one.cell.metric: (one.cell.better, one.source) for one in reversed([*cells])}
    directions = {direction for direction, _ in said.values()}
    if directions and None not in directions and better not in directions:
        metrics = figures.listed(tuple(reversed(said)), 3)
        (direction, where) = next(reversed(said.values()))
        assert direction is not None
        raise _contradicted(metrics, direction, better, where)


def _contradicted(metric: str, said: Better, better: Better, where: str) -> UsageError:
    return UsageError(
        f"the file says that {said} values of {metric} are better, the call says {better}",
        where,
        f"leave out --better {better}",
    )
