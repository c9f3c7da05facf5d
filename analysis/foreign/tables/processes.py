"""How the values of one cell of a long table fall into processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Parts", "parts_of", "processes_of"]

_Whole = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
_Real = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Parts:
    """How the values of a cell fall into processes.

    `order` puts one process after the other (None: they stand so), `ends` tells where each one ends,
    and `codes` which one it is. All empty where processes are unknown.
    """

    order: _Whole | None = None
    ends: Sequence[int] = ()
    codes: Sequence[int] = ()

    def each(self, of_rows: _Whole) -> tuple[int, ...] | None:
        """Give what holds of each process, of the rows where there are none; None where it changes."""
        if not self.ends:
            return tuple(of_rows.tolist())
        ordered = of_rows if self.order is None else of_rows[self.order]
        starts = np.array([0, *self.ends[:-1]])
        found = ordered[starts]
        if (np.repeat(found, np.diff([*starts, len(ordered)])) != ordered).any():
            return None
        return tuple(found.tolist())


def parts_of(codes: _Whole) -> Parts:
    """Part values by the numbers of their processes, in the order in which these appear."""
    if not len(codes):
        return Parts()
    order, steps = None, np.diff(codes)
    if (steps < 0).any():
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        appeared = first[number]
        order = np.argsort(appeared, kind="stable")
        codes, steps = codes[order], np.diff(appeared[order])
    starts = np.flatnonzero(steps) + 1
    ends = [*starts.tolist(), len(codes)]
    return Parts(order, ends, [int(codes[0]), *codes[starts].tolist()])


def processes_of(values: _Real, parts: Parts) -> tuple[tuple[float, ...], ...]:
    """Give the values of each process in an inner tuple."""
    if not len(values):
        return ()
    if not parts.ends:
        return (tuple(values.tolist()),)
    ordered = (values if parts.order is None else values[parts.order]).tolist()
    if len(parts.ends) == len(ordered):
        return tuple([(value,) for value in ordered])
    return tuple(
        tuple(ordered[start:end]) for start, end in zip([0, *parts.ends], parts.ends, strict=False)
    )
