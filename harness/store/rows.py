"""Reads the files of a trial back: what is done when it is gone on with, and at its end that all is there."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.record import (
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    MEASUREMENTS,
    MOST_REPEATS,
    PLAN,
    RESTORE,
    DisturbanceTally,
    EnvironmentShape,
    Finding,
    Manifest,
    PlannedRun,
    RowShape,
    ShapeError,
    check,
    checksum_holds,
    lines_of,
    opened,
    parse,
    records_of,
)

from ..errors import StoreError

_FIRST_KEY = b'{"position":'


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The rows of a trial: `outcomes` by position, in the order of execution, in `size` bytes.

    `repeats` names of each row that repeats a disturbed run the planned position, `failed` counts by cell the
    planned runs and repeats that were not ok; `disturbances` counts, and
    `suspended` how many executions were discarded because something stood still. `torn` is the number and
    the size of a last line that is not whole, None without one.
    """

    outcomes: dict[int, str]
    repeats: dict[int, int]
    failed: Counter[str]
    disturbances: DisturbanceTally
    suspended: int
    size: int
    torn: tuple[int, int] | None


def failed_cell(row: Mapping[str, Any]) -> str | None:
    """Name the cell of a run that was not ok: planned, or the repeat of a disturbed one; None for others."""
    if row["outcome"] == "ok" or (row["position"] < 0 and row.get("repeats") is None):
        return None
    return f"{row['benchmark']} / {row['variant']}"


def require_files(path: Path) -> None:
    """Refuse a trial of which a file is missing, before anything is executed for it.

    Raises
    ------
    StoreError
        That names the file.
    """
    for name in (MEASUREMENTS, PLAN, ENVIRONMENT, FINDINGS, CAMPAIGN):
        opened(path / name).close()


def rows_done(path: Path, manifest: Manifest) -> Done:
    """Read which positions are done.

    Raises
    ------
    StoreError
        If a line does not have its checksum, is no row of this trial, or stands where it was not
        written; the last line may be torn.
    """
    where = path / MEASUREMENTS
    outcomes: dict[int, str] = {}
    repeats: dict[int, int] = {}
    times: Counter[int] = Counter()
    tally = DisturbanceTally()
    failed: Counter[str] = Counter()
    last, repeated, start, suspended = -1, 0, 0, 0
    with opened(where) as file:
        size = os.fstat(file.fileno()).st_size
        for number, line in enumerate(file, 1):
            whole = line.endswith(b"\n") and checksum_holds(line[:-1])
            # A whole row with a wrong checksum was edited; only what is no row was torn.
            row_like = line.startswith(_FIRST_KEY) and line.endswith(b"}\n")
            if not whole and not row_like and start + len(line) == size:
                return Done(
                    outcomes=outcomes,
                    repeats=repeats,
                    failed=failed,
                    disturbances=tally,
                    suspended=suspended,
                    size=start,
                    torn=(number, len(line)),
                )
            start += len(line)
            try:
                if not whole:
                    raise ShapeError("the line does not have its checksum")
                row = parse(line[:-1])
                check(RowShape, row)
                position, repeated_run = row["position"], row.get("repeats")
                if position in outcomes:
                    raise ShapeError(f"position {position} stands there twice")
                if repeated <= position <= last:
                    raise ShapeError(
                        f"position {position} stands behind {last if position >= 0 else repeated}: "
                        "the rows are not in the order of execution"
                    )
                _check_row(row, manifest)
                if repeated_run is not None:
                    repeats[position] = repeated_run
                    times[repeated_run] += 1
                    _check_repeat(row, outcomes, times[repeated_run])
            except ShapeError as error:
                raise StoreError(
                    f"{error}: the file was changed or is damaged", f"{where}:{number}", RESTORE
                ) from None
            last, repeated = max(last, position), min(repeated, position)
            outcomes[position] = row["outcome"]
            tally.add(row)
            suspended += row.get("suspended") or 0
            if (cell := failed_cell(row)) is not None:
                failed[cell] += 1
    return Done(
        outcomes=outcomes,
        repeats=repeats,
        failed=failed,
        disturbances=tally,
        suspended=suspended,
        size=start,
        torn=None,
    )


def _check_repeat(row: Mapping[str, Any], outcomes: Mapping[int, str], times: int) -> None:
    """Hold a row that repeats a run against those before it."""
    if row["repeats"] not in outcomes or row["position"] >= 0 or row["warmup"]:
        raise ShapeError(
            f"it repeats position {row['repeats']}, and no measured run stands there before it"
        )
    if times > MOST_REPEATS:
        raise ShapeError(f"position {row['repeats']} is repeated more than {MOST_REPEATS} times")


def _check_row(row: Mapping[str, object], manifest: Manifest) -> None:
    """Hold a row against what the manifest says of the trial."""
    for key, known in (("benchmark", manifest.benchmarks), ("variant", manifest.variants)):
        if row[key] not in known:
            raise ShapeError(f"the trial has no {key} {row[key]!a}")
    for key, most in (
        ("session", manifest.sessions),
        ("block", manifest.runs),
        ("position", manifest.planned - 1),
    ):
        value = row[key]
        assert isinstance(value, int), "its shape was checked"
        again = row["warmup"] or (manifest.repeating and row.get("repeats") is not None)
        if value > most or (value < 0 and not again):
            raise ShapeError(f"its {key} is {value}, and {most} is the last")


def damage_in(path: Path, manifest: Manifest, written: Mapping[int, str]) -> StoreError | None:
    """Read a whole trial back; give what is not as the runner wrote it.

    Parameters
    ----------
    path : Path
        The trial.
    manifest : Manifest
        Its manifest.
    written : mapping of int to str
        The positions of the rows that were written, in their order.
    """
    try:
        _same_rows(path / MEASUREMENTS, written)
        count = 0
        for run, _ in records_of(path / PLAN, PlannedRun):
            if run.position != count:
                what = f"position {run.position} stands where {count} was written"
                return StoreError(what, f"{path / PLAN}:{count + 1}", RESTORE)
            count += 1
        if count != manifest.planned:
            what = f"it has {count} lines, and {manifest.planned} runs were planned"
            return StoreError(what, str(path / PLAN), RESTORE)
        for name, kind in ((ENVIRONMENT, EnvironmentShape), (FINDINGS, Finding)):
            for _ in records_of(path / name, kind):
                pass
        opened(path / CAMPAIGN).close()
    except StoreError as damage:
        return damage
    return None


def _same_rows(where: Path, written: Mapping[int, str]) -> None:
    """Hold the rows against the positions that were written; nothing is parsed that need not be."""
    fix = "something wrote into the trial while it ran; measure again"
    positions = iter(written)
    number = 0
    for number, line in lines_of(where):
        if not checksum_holds(line):
            raise StoreError("the line is no row that was written here", f"{where}:{number}", fix)
        position = next(positions, None)
        if not line.startswith(b"%b%d," % (_FIRST_KEY, -1 if position is None else position)):
            raise StoreError(
                "a row stands there that was not written"
                if position is None
                else f"the row of position {position} was written there, and another one stands there",
                f"{where}:{number}",
                fix,
            )
    if number < len(written):
        raise StoreError(f"it has {number} of the {len(written)} rows written", str(where), fix)
