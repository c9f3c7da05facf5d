"""Where each run of a benchmark stands: a panel for each session, in it left to right by block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .cells import Cell, Failed

__all__ = ["Frame", "frame_of"]

Floats = NDArray[np.float64]
_GAP, _GAPS = 0.0115, 0.06  # a gap between panels, and all of them together at most


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """Panels and places of one benchmark.

    Attributes
    ----------
    labels : tuple of str
        What each panel is called; one "" where sessions are not known.
    spans : tuple of (float, float)
        Each panel's edges.
    together : bool
        Whether the variants ran in the same sessions; otherwise a panel holds one of each.
    panel : mapping of str to array of int
        The panel of each session of a variant, in the order of its labels.
    across : mapping of str to array of float
        The place of each run.
    failed : mapping of str to tuple of float
        The places of failed runs.
    """

    labels: tuple[str, ...]
    spans: tuple[tuple[float, float], ...]
    together: bool
    panel: Mapping[str, NDArray[np.int64]]
    across: Mapping[str, Floats]
    failed: Mapping[str, tuple[float, ...]]


def frame_of(
    cells: Mapping[str, Cell], failures: Mapping[str, Sequence[Failed]], *, together: bool = True
) -> Frame:
    """Lay out the runs of a benchmark's variants.

    Parameters
    ----------
    cells : mapping of str to Cell
        The runs of each variant.
    failures : mapping of str to sequence of Failed
        The failed runs of each variant.
    together : bool
        Whether sessions of one label are the same ones.
    """
    labels = _labels(cells, failures, together=together)
    place = {label: k for k, label in enumerate(labels)}
    panel = {
        name: np.array(
            [place[label] for label in cell.labels] if together else range(len(cell.labels))
        )
        for name, cell in cells.items()
    }
    spans = _spans(len(labels))
    slots = _Slots(cells, panel, failures if together else {}, place)
    across = {
        name: _within(spans, panel[name][cell.session], slots.of(name), slots.counts)
        for name, cell in cells.items()
    }
    failed = {
        name: tuple(
            float(x)
            for x in _within(
                spans,
                np.array([place[run.session] for run in runs], dtype=np.int64),
                np.array([slots.of_failed(run) for run in runs], dtype=np.float64),
                slots.counts,
            )
        )
        for name, runs in failures.items()
        if together and runs
    }
    return Frame(
        labels=labels, spans=spans, together=together, panel=panel, across=across, failed=failed
    )


class _Slots:
    """The places within panels: one for each block that any variant has there, or for each run."""

    def __init__(
        self,
        cells: Mapping[str, Cell],
        panel: Mapping[str, NDArray[np.int64]],
        failures: Mapping[str, Sequence[Failed]],
        place: Mapping[str, int],
    ) -> None:
        self._cells = cells
        self._panel = panel
        self._place = place
        self._blocks: dict[int, dict[int, int]] = {}
        known = all(cell.block is not None for cell in cells.values())
        shared = known and bool(failures or len(cells) == 1 or _share(cells))
        if shared:
            met: dict[int, set[int]] = {}
            for name, cell in cells.items():
                assert cell.block is not None
                for where, block in zip(
                    panel[name][cell.session].tolist(), cell.block.tolist(), strict=True
                ):
                    met.setdefault(where, set()).add(block)
            for runs in failures.values():
                for run in runs:
                    met.setdefault(place[run.session], set()).add(run.block)
            self._blocks = {
                where: {block: k for k, block in enumerate(sorted(blocks))}
                for where, blocks in met.items()
            }
        self.counts = self._counted()

    def of(self, name: str) -> Floats:
        """Give the slot of each run of a variant, from 0."""
        cell = self._cells[name]
        where = self._panel[name][cell.session]
        if self._blocks and cell.block is not None:
            pairs = zip(where.tolist(), cell.block.tolist(), strict=True)
            return np.array([self._blocks[w][b] for w, b in pairs], dtype=np.float64)
        found = np.empty(cell.values.size)
        for k in range(len(cell.labels)):
            mine = cell.session == k
            found[mine] = np.arange(int(mine.sum()))
        return found

    def of_failed(self, run: Failed) -> float:
        """Give a failed run's slot; the last one where blocks are not known."""
        where = self._place[run.session]
        return float(self._blocks.get(where, {}).get(run.block, self.counts[where] - 1))

    def _counted(self) -> Floats:
        panels = 1 + max((int(p.max()) for p in self._panel.values()), default=0)
        panels = max(panels, len(self._place))
        found = np.ones(panels)
        for where, blocks in self._blocks.items():
            found[where] = len(blocks)
        if not self._blocks:
            for name, cell in self._cells.items():
                counts = np.bincount(self._panel[name][cell.session], minlength=panels)
                found = np.maximum(found, counts)
        return found


def _share(cells: Mapping[str, Cell]) -> bool:
    """Tell whether two variants have a block in common."""
    met: set[int] = set()
    for cell in cells.values():
        mine = set() if cell.block is None else set(cell.block.tolist())
        if met & mine:
            return True
        met |= mine
    return False


def _labels(
    cells: Mapping[str, Cell], failures: Mapping[str, Sequence[Failed]], *, together: bool
) -> tuple[str, ...]:
    if not together:
        most = max(len(cell.labels) for cell in cells.values())
        return ("",) if most == 1 else tuple(str(k + 1) for k in range(most))
    met = dict.fromkeys(label for cell in cells.values() for label in cell.labels)
    met |= dict.fromkeys(run.session for runs in failures.values() for run in runs)
    return tuple(sorted(met, key=int)) if all(label.isdecimal() for label in met) else tuple(met)


def _spans(count: int) -> tuple[tuple[float, float], ...]:
    gap = min(_GAP, _GAPS / count)
    wide = (1 + gap) / count
    return tuple((k * wide, k * wide + wide - gap) for k in range(count))


def _within(
    spans: Sequence[tuple[float, float]],
    where: NDArray[np.int64],
    slot: Floats,
    counts: Floats,
) -> Floats:
    edges = np.array(spans)
    left, right = edges[where, 0], edges[where, 1]
    return np.asarray(left + (right - left) * (slot + 0.5) / counts[where])
