"""Metrics of one process side by side: by its name where the file names it, never by mere order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cells import ForeignCell

__all__ = ["Joined", "joined_processes"]

Values = tuple[float, ...]


@dataclass(slots=True)
class Joined:
    """One process: its values by metric, and its block; 0 where nobody knows."""

    values: dict[str, Values]
    block: int = 0


@dataclass(frozen=True, slots=True)
class _Column:
    """The processes of one metric, with the file's names of them where it has some."""

    metric: str
    processes: tuple[Values, ...]
    blocks: tuple[int, ...]
    labels: tuple[str, ...] | None


class _Block:
    """Processes with all the metrics that could be joined to them."""

    def __init__(self, column: _Column) -> None:
        self.labels = column.labels
        self.rows = [
            Joined({column.metric: values}, block)
            for values, block in zip(column.processes, column.blocks, strict=True)
        ]

    def join(self, column: _Column) -> bool:
        """Put a metric beside the others, if it can be told which process is which."""
        if any(column.metric in row.values for row in self.rows):
            return False
        if self.labels is not None and column.labels is not None:
            self._join_named(column.labels, column)
            return True
        if len(self.rows) != len(column.processes):
            return False
        for row, values in zip(self.rows, column.processes, strict=True):
            row.values[column.metric] = values
        self.labels = self.labels or column.labels
        return True

    def _join_named(self, labels: tuple[str, ...], column: _Column) -> None:
        order = self.labels or ()
        rows = dict(zip(order, self.rows, strict=True))
        behind: dict[str | None, list[str]] = {}  # processes that no other metric has
        before: str | None = None
        for label, values, block in zip(labels, column.processes, column.blocks, strict=True):
            if label in rows:
                before = label
            else:
                behind.setdefault(before, []).append(label)
                rows[label] = Joined({}, block)
            rows[label].values[column.metric] = values
        whole = list(behind.get(None, []))
        for label in order:
            whole += [label, *behind.get(label, [])]
        self.labels, self.rows = tuple(whole), [rows[label] for label in whole]


def joined_processes(cells: Sequence[ForeignCell]) -> list[Joined]:
    """Give the processes of one benchmark and variant in one sitting, each with its metrics.

    Metrics are joined by the names of processes where both have names, else by their order where
    there are as many of both. Otherwise nobody knows which belong together: they stand in rows of
    their own.

    Parameters
    ----------
    cells : sequence of ForeignCell
        One for each metric.

    Returns
    -------
    list of Joined
        A process that has no value of a metric lacks it.
    """
    blocks: list[_Block] = []
    for cell in cells:
        column = _column(cell)
        if column.processes and not any(block.join(column) for block in blocks):
            blocks.append(_Block(column))
    return [
        Joined({metric: values for metric, values in row.values.items() if values}, row.block)
        for block in blocks
        for row in block.rows
    ]


def _column(cell: ForeignCell) -> _Column:
    processes = cell.processes if cell.known else tuple((value,) for value in cell.values)
    labels = cell.labels
    if labels is not None and len(set(labels)) < len(labels):
        labels = None  # two processes of one name
    return _Column(cell.metric, processes, cell.blocks or (0,) * len(processes), labels)
