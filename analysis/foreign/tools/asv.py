"""asv's result files, one for each commit and environment, or the folder that holds them.

A benchmark's columns are named by ``result_columns``, and columns at the end may be cut; version 1 of
the file (before asv 0.4) has an object or a plain number instead. Parameters are crossed: result k
belongs to the k-th combination; null is a failure, NaN one that was skipped. ``samples`` are there only
if they were recorded; what has none has one value, its result, unless it is a time: that is a summary.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import FairtrialError
from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..folders import files_in, opened_in
from ..opening import Opened, open_foreign
from ..parsing import (
    count_of,
    fail,
    in_base_unit,
    json_of,
    looks_like_json,
    mentions,
    structure_of,
    text_of,
    texts_of,
    value_of,
)

__all__ = ["knows", "read"]

_BENCHMARKS = "benchmarks.json"
_MOST = 100_000  # combinations of one benchmark
_KINDS: tuple[tuple[str, str, str, Better | None], ...] = (
    ("timeraw_", "time", "s", "lower"),
    ("time_", "time", "s", "lower"),
    ("peakmem_", "peak_memory", "B", "lower"),
    ("mem_", "memory", "B", "lower"),
    ("track_", "value", "", None),
)
_TYPES = {
    "time": "time_",
    "timeraw": "time_",
    "peakmemory": "peakmem_",
    "memory": "mem_",
    "track": "track_",
}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(slots=True)
class _Left:
    """What is left out, counted by the reason."""

    skipped: int = 0
    summaries: int = 0


def knows(opened: Opened) -> bool:
    """Tell by the keys of a result file."""
    if not opened.is_folder:
        return _knows_file(opened)
    for path in files_in(opened):
        try:
            if _is_result(opened, path):
                return True
        except FairtrialError:  # it cannot be read: whether it matters is known when all are read
            continue
    return False


def _knows_file(opened: Opened) -> bool:
    data = structure_of(opened)
    if data is None:
        return mentions(opened, "commit_hash", "results") or mentions(
            opened, "commit_hash", "env_name"
        )
    return (
        isinstance(data, dict) and "commit_hash" in data and isinstance(data.get("results"), dict)
    )


def _is_result(opened: Opened, path: Path) -> bool:
    if path.suffix != ".json" or path.name in (_BENCHMARKS, "machine.json"):
        return False
    one = opened_in(opened, path)
    return looks_like_json(one) and b'"commit_hash"' in one.data and _knows_file(one)


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, combination of parameters, and commit.

    Raises
    ------
    AnalysisError
        If a file is damaged, or no benchmark has samples.
    """
    left = _Left()
    files: list[tuple[Opened, str | None]] = [(opened, None)]
    if opened.is_folder:
        paths = [path for path in files_in(opened) if _is_result(opened, path)]
        if not paths:
            raise fail(
                opened, "there is no result of asv in the folder", "name the folder results/"
            )
        files = [(opened_in(opened, path), str(path)) for path in paths]
    cells = [cell for file, session in files for cell in _cells(file, session, left)]
    if not any(cell.values or cell.failed for cell in cells):
        raise fail(
            opened,
            "the results hold summaries only, no samples",
            "measure with 'asv run --record-samples', or --append-samples",
        )
    several = [key for key in ("env_name", "machine") if len({c.keys.get(key) for c in cells}) > 1]
    if several:
        cells = [_by_environment(cell, several) for cell in cells]
    rule = " and ".join(
        ["the commit", *(key.replace("env_name", "environment") for key in several)]
    )
    return ForeignFile(
        format="asv",
        source=opened.source,
        cells=tuple(cells),
        variant_rule=rule,
        losses=(
            Loss(
                code="processes-unknown",
                text="each sample is the mean of several calls; which samples stem from one process is "
                "not in the file: variation between processes cannot be estimated",
            ),
            Loss(
                code="no-sessions",
                text="each result file is taken for an occasion: which samples stem from a later one "
                "(asv run --append-samples) is not in it",
            ),
            Loss(code="warm-ups-unknown", text="the warm-up is not in the file"),
        ),
        notes=tuple(_notes(left)),
        facts={"host": cells[0].keys["machine"]} if "machine" in cells[0].keys else {},
    )


def _by_environment(cell: ForeignCell, keys: list[str]) -> ForeignCell:
    return replace(
        cell, variant=", ".join([str(cell.variant), *(cell.keys.get(k, "?") for k in keys)])
    )


def _notes(left: _Left) -> Iterator[Loss]:
    if left.summaries:
        text = f"{left.summaries} times have no samples and are left out: asv run --record-samples"
        yield Loss(code="summaries-left-out", text=text)
    if left.skipped:
        text = f"{left.skipped} combinations of parameters were skipped by their benchmarks"
        yield Loss(code="skipped", text=text)


def _cells(opened: Opened, session: str | None, left: _Left) -> Iterator[ForeignCell]:
    data = json_of(opened)
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, dict):
        raise fail(opened, "it has no results", "is it a result file of asv?")
    columns = data.get("result_columns")
    about = _about(opened)
    commit = text_of(data.get("commit_hash")) or "unknown"
    keys = texts_of(data.get("params")) | {"commit": commit}
    keys |= texts_of({key: data.get(key) for key in ("env_name", "python")})
    for name, given in results.items():
        at = f"results[{name!r}]"
        row = _row(opened, given, columns, at)
        kind = about.get(name, {})
        for cell in _combinations(opened, name, row, kind, at, left):
            yield replace(cell, variant=commit, session=session, keys={**keys, **cell.keys})


def _row(opened: Opened, given: object, columns: object, at: str) -> dict[str, Any]:
    """Give a benchmark's columns by their names, whatever the version."""
    if isinstance(columns, list) and isinstance(given, list):
        if not all(isinstance(name, str) for name in columns):
            raise fail(opened, "a column has no name", "is the file damaged?", at="result_columns")
        return {str(k): v for k, v in zip(columns, given, strict=False)}
    if columns is not None:
        raise fail(opened, "a result does not fit its columns", "is the file damaged?", at=at)
    row = dict(given) if isinstance(given, dict) else {"result": given}
    if not isinstance(row.get("result"), list):
        row["result"] = [row.get("result")]
    stats = row.get("stats")
    if isinstance(stats, list):
        numbers = [one.get("number") if isinstance(one, dict) else None for one in stats]
        row["stats_number"] = numbers
    return row


def _combinations(  # noqa: PLR0917 - all of one benchmark
    opened: Opened,
    name: str,
    row: Mapping[str, Any],
    kind: Mapping[str, Any],
    at: str,
    left: _Left,
) -> Iterator[ForeignCell]:
    axes = row.get("params") or []
    if not isinstance(axes, list) or not all(isinstance(axis, list) for axis in axes):
        raise fail(opened, "its parameters are no lists", "is the file damaged?", at=at)
    count = math.prod(map(len, axes))
    columns = [row.get(key) for key in ("result", "samples", "stats_number")]
    wrong = [c for c in columns if c is not None and not (isinstance(c, list) and len(c) == count)]
    if wrong or count > _MOST:
        raise fail(
            opened,
            f"its parameters have {count} combinations, its results do not fit",
            "is the file damaged?",
            at=at,
        )
    results, samples, numbers = (c or [None] * count for c in columns)
    names = kind.get("param_names")
    names = [str(n) for n in names] if isinstance(names, list) else []
    names += [f"param{k}" for k in range(len(names) + 1, len(axes) + 1)]
    metric, unit, factor, better = _metric(name, kind)
    for k, combination in enumerate(itertools.product(*axes)):
        value, own = results[k], samples[k]
        own = own if isinstance(own, list) and own else None
        if own is None and isinstance(value, float) and math.isnan(value):
            left.skipped += 1
            continue
        if own is None and metric == "time" and value is not None:
            left.summaries += 1
            continue
        taken = own if own is not None else [] if value is None else [value]
        texts = [_ADDRESS.sub("", text_of(one) or "?") for one in combination]
        named = dict(zip(names, texts, strict=False))
        values = [
            value_of(opened, v, f"{at}[{k}][{j}]", factor=factor) for j, v in enumerate(taken)
        ]
        yield ForeignCell(
            benchmark=f"{name}({', '.join(f'{n}={v}' for n, v in named.items())})"
            if named
            else name,
            metric=metric,
            unit=unit,
            better=better,
            processes=(tuple(values),) if values else (),
            known=False,
            inner=count_of(numbers[k]),
            failed=int(value is None and own is None),
            keys={"name": name, **named},
        )


def _metric(name: str, kind: Mapping[str, Any]) -> tuple[str, str, float, Better | None]:
    """Give metric, unit, factor and direction: by the kind of benchmark, else by its name."""
    short = _TYPES.get(text_of(kind.get("type")) or "", name.rpartition(".")[2])
    given = kind.get("unit")
    factor, base = in_base_unit(given) if isinstance(given, str) else (1.0, None)
    for prefix, metric, unit, better in _KINDS:
        if short.startswith(prefix):
            found = unit if base is None else "" if base == "unit" else base
            return metric, found, factor, better
    return "value", base or "", factor, None


def _about(opened: Opened) -> dict[str, Mapping[str, Any]]:
    """Read ``benchmarks.json`` beside the file or one folder above it, where there is one."""
    if opened.path is None:
        return {}
    for folder in (opened.path.parent, opened.path.parent.parent):
        path = folder / _BENCHMARKS
        if path.is_symlink() or not path.is_file():
            continue
        try:
            data = json_of(open_foreign(str(path)))
        except FairtrialError:
            continue
        if isinstance(data, dict):
            return {str(name): one for name, one in data.items() if isinstance(one, dict)}
    return {}
