"""asv: a result file, or a folder of them.

A benchmark's columns are named by ``result_columns``, and columns at the end may be cut; version 1 of
the file (before asv 0.4) has an object or a plain number instead. Parameters are crossed: result k
belongs to the k-th combination; null is a failure, NaN one that was skipped. ``samples`` are there only
if they were recorded; what has none has one value, its result, unless it is a time: that is a summary.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.opening import Opened, files_in, open_foreign, open_in_folder
from ..errors import FairtrialError
from .parsing import (
    ForeignCell,
    ForeignFile,
    cautions_of,
    count_of,
    in_base_unit,
    text_of,
    texts_of,
    within,
)

if TYPE_CHECKING:
    from ..record.run_numbers import Better

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
_LEFT = {
    "summaries-left-out": "{} times have no samples and are left out: asv run --record-samples",
    "skipped": "{} combinations of parameters were skipped by their benchmarks",
}
_DIGITS = 12  # of a version's hash
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def knows_asv(opened: Opened) -> bool:
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
    data = opened.structure()
    if data is None:
        return opened.mentions("commit_hash", "results") or opened.mentions(
            "commit_hash", "env_name"
        )
    return (
        isinstance(data, dict) and "commit_hash" in data and isinstance(data.get("results"), dict)
    )


def _is_result(opened: Opened, path: Path) -> bool:
    if path.suffix != ".json" or path.name in (_BENCHMARKS, "machine.json"):
        return False
    one = open_in_folder(opened, path)
    return one.looks_like_json() and b'"commit_hash"' in one.data and _knows_file(one)


def read_asv(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, combination of parameters, and commit."""
    left: Counter[str] = Counter()  # what is left out, by the reason
    files: list[tuple[Opened, str | None]] = [(opened, None)]
    if opened.is_folder:
        paths = [path for path in files_in(opened) if _is_result(opened, path)]
        if not paths:
            raise opened.fail("there is no result of asv in the folder", "name the folder results/")
        files = [(open_in_folder(opened, path), str(path)) for path in paths]
    cells = [cell for file, session in files for cell in _asv_cells(file, session, left)]
    if not any(cell.values or cell.failed for cell in cells):
        raise opened.fail(
            "the results hold summaries only, no samples",
            "measure with 'asv run --record-samples', or --append-samples",
        )
    several = [key for key in ("env_name", "machine") if len({c.keys.get(key) for c in cells}) > 1]
    if several:
        cells = [
            replace(c, variant=", ".join([str(c.variant), *(c.keys.get(k, "?") for k in several)]))
            for c in cells
        ]
    rule = " and ".join(
        ["the commit", *(key.replace("env_name", "environment") for key in several)]
    )
    return ForeignFile(
        cells=tuple(cells),
        variant_rule=rule,
        losses=cautions_of(
            {
                "processes-unknown": "each sample is the mean of several calls; which samples stem "
                "from one process is not in the file: variation between processes cannot be "
                "estimated",
                "no-sessions": "each result file is taken for an occasion: which samples stem from "
                "a later one (asv run --append-samples) is not in it",
                "warm-ups-unknown": "the warm-up is not in the file",
            }
        ),
        notes=cautions_of({c: left[c] > 0 and text.format(left[c]) for c, text in _LEFT.items()}),
        facts={"host": cells[0].keys["machine"]} if "machine" in cells[0].keys else {},
    )


def _asv_cells(opened: Opened, session: str | None, left: Counter[str]) -> Iterator[ForeignCell]:
    data = opened.json()
    results = within(data, "results")
    if not isinstance(results, dict):
        raise opened.fail("it has no results", "is it a result file of asv?")
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
            version = (text_of(row.get("version")) or "")[:_DIGITS]
            way = f"version {version}" if version else ""
            keyed = {**keys, **cell.keys}
            yield replace(cell, variant=commit, session=session, keys=keyed, definition=way)


def _row(opened: Opened, given: object, columns: object, at: str) -> dict[str, Any]:
    """Give a benchmark's columns by their names, whatever the version."""
    if isinstance(columns, list) and isinstance(given, list):
        named = all(isinstance(name, str) for name in columns)
        opened.require(named, "a column has no name", at="result_columns")
        return {str(k): v for k, v in zip(columns, given, strict=False)}
    if columns is not None:
        raise opened.fail("a result does not fit its columns", at=at)
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
    left: Counter[str],
) -> Iterator[ForeignCell]:
    axes = row.get("params") or []
    if not isinstance(axes, list) or not all(isinstance(axis, list) for axis in axes):
        raise opened.fail("its parameters are not lists", at=at)
    count = math.prod(map(len, axes))
    columns = [row.get(key) for key in ("result", "samples", "stats_number")]
    wrong = [c for c in columns if c is not None and not (isinstance(c, list) and len(c) == count)]
    if wrong or count > _MOST:
        raise opened.fail(
            f"its parameters have {count} combinations, its results do not fit", at=at
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
            left["skipped"] += 1
            continue
        if own is None and metric == "time" and value is not None:
            left["summaries-left-out"] += 1
            continue
        taken = own if own is not None else [] if value is None else [value]
        texts = [_ADDRESS.sub("", text_of(one) or "?") for one in combination]
        named = dict(zip(names, texts, strict=False))
        values = [opened.value(v, f"{at}[{k}][{j}]", factor=factor) for j, v in enumerate(taken)]
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
            data = open_foreign(str(path)).json()
        except FairtrialError:
            continue
        if isinstance(data, dict):
            return {str(name): one for name, one in data.items() if isinstance(one, dict)}
    return {}
