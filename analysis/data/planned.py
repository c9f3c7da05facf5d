"""The rows of a trial held against its plan: each is a planned run, or one that was executed again.

Here it is decided which row of a repeated run is judged, for every reader.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StoreError
from ..record import MEASUREMENTS, MOST_REPEATS, PLAN, Manifest, judged_row

__all__ = ["compare_with_plan", "judged_rows"]

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

_TOGETHER = f"{PLAN} and {MEASUREMENTS} do not belong together: restore both"


def compare_with_plan(
    columns: Mapping[str, NDArray[Any]],
    plan: tuple[Integers, ...],
    manifest: Manifest,
    where: Path,
) -> None:
    """Refuse two rows for one position, rows that are not what was planned there, and odd repeats.

    Raises
    ------
    StoreError
        That names the line of the file `where`.
    """
    position, repeats = columns["position"], columns["repeats"]
    distinct, first, count = np.unique(position, return_index=True, return_counts=True)
    if distinct.size != position.size:
        again = distinct[count > 1][np.argmin(first[count > 1])]
        rows = np.flatnonzero(position == again) + 1
        raise StoreError(
            f"position {again} has {rows.size} rows, the first two in lines {rows[0]} and {rows[1]}",
            f"{where}:{rows[1]}",
            "the trial is damaged: two runners may have written it at once",
        )
    _check_repeats(columns, manifest, where)
    # A negative position is a warm-up that a resumed session repeated, which the plan does not hold,
    # or a disturbed run that was repeated: the plan holds that at the position that it repeats.
    place = np.where(repeats >= 0, repeats, position)
    planned = place >= 0
    bad = ~planned & ~columns["warmup"]
    order = np.argsort(plan[0])
    slot = np.searchsorted(plan[0], place, sorter=order)
    if order.size:
        slot = order[np.minimum(slot, order.size - 1)]
        names = ("session", "block", "benchmark", "variant", "warmup")
        bad |= planned & (place != plan[0][slot])
        for name, expected in zip(names, plan[1:], strict=True):
            bad |= planned & (columns[name] != expected[slot])
    else:
        bad |= planned
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise StoreError(
            f"the run at position {position[row]} is not the planned one",
            f"{where}:{row + 1}",
            _TOGETHER,
        )


def _check_repeats(columns: Mapping[str, NDArray[Any]], manifest: Manifest, where: Path) -> None:
    """Refuse rows that repeat what they cannot."""
    position, repeats = columns["position"], columns["repeats"]
    again = np.flatnonzero(repeats != -1)
    if not again.size:
        return
    if not manifest.repeating:
        raise StoreError(
            "the row repeats a run, and a trial of schema 1 has none that does",
            f"{where}:{again[0] + 1}",
            _TOGETHER,
        )
    rows = {int(place): row for row, place in enumerate(position.tolist())}
    times: dict[int, int] = defaultdict(int)
    for row in again.tolist():
        of = int(repeats[row])
        times[of] += 1
        problem = None
        if position[row] >= 0 or columns["warmup"][row]:
            problem = f"position {position[row]} cannot be that of a run that was repeated"
        elif of < 0 or rows.get(of, row) >= row:
            problem = f"it repeats position {of}, and no such run stands before it"
        elif times[of] > MOST_REPEATS:
            problem = f"position {of} is repeated more than {MOST_REPEATS} times"
        if problem is not None:
            raise StoreError(problem, f"{where}:{row + 1}", "restore the file, or measure again")


def judged_rows(position: Integers, repeats: Integers, disturbed: Integers) -> Flags:
    """Tell of each row whether it is judged: of a repeated run the first undisturbed one, else the first.

    Parameters
    ----------
    position, repeats : array of int, shape (rows,)
        The rows' positions, and of those that repeat a run its position (else -1).
    disturbed : array of int, shape (rows,)
        1 where a row is disturbed, 0 where it is not, -1 where that is not known.

    Returns
    -------
    array of bool, shape (rows,)
        One row a run; warm-ups, which no method judges, each stand for themselves.
    """
    judged: Flags = repeats == -1
    again = np.flatnonzero(~judged)
    if not again.size:
        return judged
    rows_of: dict[int, list[int]] = defaultdict(list)
    for row in again.tolist():
        rows_of[int(repeats[row])].append(row)
    firsts = np.flatnonzero(np.isin(position, list(rows_of)))
    for first in firsts.tolist():
        rows = [first, *rows_of[int(position[first])]]
        known = [None if flag < 0 else bool(flag) for flag in disturbed[rows].tolist()]
        judged[first] = False
        judged[rows[judged_row(known)]] = True
    return judged
