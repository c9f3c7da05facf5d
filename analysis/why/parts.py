"""The parts of the time on the processors: functions of 1 % and more, all others together, and what no sample shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..record.profiles import StoredProfile
from ..stats.samples import Array
from .intervals import counting_variance, interval_of, row_of
from .names import FunctionName, FunctionNames
from .result import LEAST_SHARE, Opposite, Presence, Row
from .session_table import SessionTable, Side

OTHERS, UNSEEN = "others", "kernel, not seen"
_EXPECTED = (
    7  # samples; that there is none where so many are expected happens once in e^7 = 1097 times
)
_PAIRS = 3  # of opposite rows, at most


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """Rows that add up to the total: `functions`, and `rest`, which are no functions; `further` are in the others.

    `differences` has the difference of each function in `functions` by session.
    """

    functions: tuple[Row, ...]
    rest: tuple[Row, ...]
    further: int
    differences: dict[FunctionName, Array]

    @property
    def family(self) -> list[Row]:
        """All rows that are corrected together, the functions first."""
        return [*self.functions, *self.rest]

    @classmethod
    def of(cls, table: SessionTable, confidence: float) -> Parts:
        """Divide a table; each part has the interval of its own."""
        sides = table.baseline, table.candidate
        least = counting_variance(*sides)
        shares = np.stack([side.shares.mean(axis=0) for side in sides])
        large = np.flatnonzero((shares >= LEAST_SHARE).any(axis=0))
        small = np.setdiff1d(np.arange(len(table.names)), large)
        before, after = (side.functions for side in sides)
        functions = tuple(
            row_of(
                before[:, k],
                after[:, k],
                confidence,
                least,
                function=table.names[k].function,
                object=table.names[k].object,
                presence=_presence(*sides, k),
                was=table.was.get(table.names[k]),
            )
            for k in large.tolist()
        )
        rest = []
        if small.size:
            both = before[:, small].sum(axis=1), after[:, small].sum(axis=1)
            rest.append(row_of(*both, confidence, least, function=OTHERS))
        if any(side.unseen.any() for side in sides):
            unseen = table.baseline.unseen, table.candidate.unseen
            rest.append(row_of(*unseen, confidence, function=UNSEEN))
        return cls(
            functions=functions,
            rest=tuple(rest),
            further=int(small.size),
            differences={table.names[k]: after[:, k] - before[:, k] for k in large.tolist()},
        )


def _presence(baseline: Side, candidate: Side, function: int) -> Presence:
    """Tell whether a variant has no sample of a function where chance alone hardly leaves none."""
    before, after = (int(side.counts[:, function].sum()) for side in (baseline, candidate))
    ratio = float(candidate.samples.sum() / baseline.samples.sum())
    if after == 0 and before * ratio >= _EXPECTED:
        return "gone"
    return "new" if before == 0 and after / ratio >= _EXPECTED else "both"


def opposite_of(
    rows: Sequence[Row], parts: Parts, stored: StoredProfile, benchmark: str, confidence: float
) -> tuple[Opposite, ...]:
    """Give named rows with rows of the other sign that may carry a part of their cost, and the sums.

    The other row's own interval must lie on the other side of 0. Where chains were recorded, both must stand in one.
    """
    pairs = [
        (one, other)
        for one, other in product(rows, rows)
        if one.named
        and one.difference_ms * other.difference_ms < 0
        and other.pvalue is not None
        and other.pvalue <= 1 - confidence
        and not (other.named and rows.index(other) < rows.index(one))
        and one.presence == other.presence == "both"  # else it may have been renamed
    ]
    found = []
    for one, other in pairs:
        together = None
        if stored.profile.chains is not None:
            together = _in_one_chain(stored, benchmark, one, other)
            if not together:
                continue
        both = [parts.differences[FunctionName(row.function, row.object)] for row in (one, other)]
        total = both[0] + both[1]
        low, high, _ = interval_of(total, confidence)
        found.append(
            Opposite(
                rows=(one.name, other.name),
                difference_ms=float(total.mean()),
                low_ms=low,
                high_ms=high,
                in_one_chain=together,
            )
        )
    return tuple(found[:_PAIRS])


def _in_one_chain(stored: StoredProfile, benchmark: str, one: Row, other: Row) -> bool:
    names = FunctionNames.of(stored, benchmark)
    wanted = [
        {FunctionName(name, row.object) for name in (row.function, row.was) if name is not None}
        for row in (one, other)
    ]
    for cell in stored.cells:
        if cell.benchmark != benchmark:
            continue
        called = [names.name_of(each.symbol, each.object) for each in cell.functions]
        for chain in cell.chains or ():
            frames = {called[frame] for frame in chain.frames}
            if all(not frames.isdisjoint(those) for those in wanted):
                return True
    return False
