"""The numbers of builds as columns of a trial: each build has one value, which stands at the first run that it was measured with.

A build that serves all sessions has one value in the trial, and not one for each of its runs: as many equal values would
look like a number that is known exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...record.builds import (
    ALL_SESSIONS,
    BuildRecord,
    is_of_builds,
    layouts_by_session,
    read_builds,
)
from ...record.trial_files import Manifest
from ...stats.samples import read_only
from ..columns import MetricColumn


def build_columns(
    path: Path, manifest: Manifest, rows: Mapping[str, NDArray[Any]], used: NDArray[np.bool_]
) -> dict[str, MetricColumn]:
    """Give the column of each metric of builds; `used` tells which rows stand for a run that ended ok.

    Raises StoreError for a damaged line of ``builds.jsonl``.
    """
    names = [name for name, about in manifest.metrics.items() if is_of_builds(about)]
    if not names:
        return {}
    there = _first_rows(read_builds(path), manifest, rows, used)
    columns = {}
    for name in names:
        counts = np.zeros(used.size + 1, dtype=np.int64)
        values: list[float] = []
        for row, record, benchmark in there:
            found = record.values(name, benchmark)
            counts[row + 1] = len(found)
            values += found
        columns[name] = MetricColumn(
            values=read_only(np.array(values, dtype=np.float64)),
            offsets=read_only(np.cumsum(counts)),
        )
    return columns


def _first_rows(
    records: Sequence[BuildRecord],
    manifest: Manifest,
    rows: Mapping[str, NDArray[Any]],
    used: NDArray[np.bool_],
) -> list[tuple[int, BuildRecord, str]]:
    """Give each build's first row with each benchmark, in the order of the rows."""
    of_sessions = layouts_by_session(records)
    once = {
        variant: _of_parts([one for one in records if one.variant == variant], manifest)
        for variant in manifest.variants
        if variant not in of_sessions
    }
    place = np.flatnonzero(used)
    cells = np.stack([rows[key][place] for key in ("variant", "benchmark", "session")])
    _, first = np.unique(cells, axis=1, return_index=True)
    found: list[tuple[int, BuildRecord, str]] = []
    told = set()
    for row in np.sort(place[first]).tolist():
        variant = manifest.variants[rows["variant"][row]]
        benchmark = manifest.benchmarks[rows["benchmark"][row]]
        session = int(rows["session"][row])
        begin, record = session, of_sessions.get(variant, {}).get(session)
        if variant in once:
            begin, record = next(
                ((since, one) for since, one in once[variant] if since <= session), (0, None)
            )
        if record is not None and (variant, benchmark, begin) not in told:
            told.add((variant, benchmark, begin))
            found.append((row, record, benchmark))
    return found


def _of_parts(records: Sequence[BuildRecord], manifest: Manifest) -> list[tuple[int, BuildRecord]]:
    """Give the builds that serve all sessions with the first session that they serve, the last one first.

    Each of the trials that were merged had its own. Of a build that was repeated the last one counts, and where
    parts repeated theirs nobody can tell which is whose: then the last one is that of all.
    """
    made = [one for one in records if one.session == ALL_SESSIONS]
    firsts = sorted(part.first for part in manifest.merged_from)
    if len(made) == len(firsts) > 1:
        return [(since, one) for since, one in zip(firsts, made, strict=True)][::-1]
    return [(1, one) for one in made[-1:]]
