"""asv: a result file, or a folder of them.

A benchmark's columns are named by ``result_columns``, and columns at the end may be cut; version 1 of
the file (before asv 0.4) has an object or a plain number instead. Parameters are crossed: result k
belongs to the k-th combination; null is a failure, alone that of all combinations, and NaN one that was
skipped. ``samples`` are there only if they were recorded; what has none has one value, its result.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import ChainMap, Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data.opening import Opened, files_in, open_foreign, open_in_folder
from ..errors import FairtrialError
from .parsing import (
    ForeignCell,
    ForeignFile,
    count_of,
    foreign_file,
    in_base_unit,
    single,
    text_of,
    texts_of,
    within,
)

if TYPE_CHECKING:
    from ..record.run_numbers import Better

_BENCHMARKS = "benchmarks.json"
_MOST = 100_000  # combinations of one benchmark
# by what a benchmark's name begins with, or by its type: metric, unit and direction
_KINDS: tuple[tuple[str, str, tuple[str, str, Better | None]], ...] = (
    ("timeraw_", "timeraw", ("time", "s", "lower")),
    ("time_", "time", ("time", "s", "lower")),
    ("peakmem_", "peakmemory", ("peak_memory", "B", "lower")),
    ("mem_", "memory", ("memory", "B", "lower")),
    ("track_", "track", ("value", "", None)),
)
_LEFT = {
    "skipped": "{} combinations of parameters were skipped by their benchmarks",
    "left-out": "{} results are left out: they are no numbers of at least 0",
}
_LOST = {
    "processes-unknown": "each sample is the mean of several calls; which samples stem from one process is not in the "
    "file: variation between processes cannot be estimated",
    "no-sessions": "each result file is taken for an occasion: which samples stem from a later one (asv run "
    "--append-samples) is not in it",
    "warm-ups-unknown": "the warm-up is not in the file",
}
_KEEPS = "asv run --record-samples keeps them"
_DIGITS = 12  # of a version's hash
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_RESULT = re.compile(r"\.json(\.(gz|bz2|xz|zst|zstd|lz))?$")


class _Kind(NamedTuple):
    """What is the same of a benchmark in each file: the names of its combinations, and what is measured."""

    names: tuple[str, ...]
    keys: tuple[dict[str, str], ...]
    metric: str
    unit: str
    factor: float
    better: Better | None


_Said = tuple[str | None, str | None, tuple[str, ...]]  # a benchmark's type, unit and parameters
_UNSAID: _Said = (None, None, ())


def knows_asv(opened: Opened) -> bool:
    """Tell by the keys of a result file."""
    if not opened.is_folder:
        data = opened.structure()
        results = within(data, "results")
        return within(data, "commit_hash") is not None and isinstance(results, dict)
    for path in files_in(opened):
        try:
            if _result(opened, path) is not None:
                return True
        except FairtrialError:  # it cannot be read: whether it matters is known when all are read
            continue
    return False


def _result(opened: Opened, path: Path) -> Opened | None:
    """Open a file of the folder that is a result; None for another one."""
    if not _RESULT.search(path.name) or path.name in (_BENCHMARKS, "machine.json"):
        return None
    one = open_in_folder(opened, path)
    keys = (b'"commit_hash"', b'"results"')  # of one that is cut off, reading says where
    return one if one.looks_like_json() and all(key in one.data for key in keys) else None


def read_asv(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, combination of parameters, and commit; one file is held at a time."""
    met: Counter[str] = Counter()
    if opened.is_folder:
        results = ((_result(opened, path), str(path)) for path in files_in(opened))
        files = [_cells(one, session, met) for one, session in results if one is not None]
        if not files:
            raise opened.fail("there is no result of asv in the folder", "name the folder results/")
    else:
        files = [_cells(opened, None, met)]
    keys = [about for about, _ in files]
    several = [key for key in ("env_name", "machine") if len({one.get(key) for one in keys}) > 1]
    cells = [cell for _, own in files for cell in own]
    if several:
        ends = ["".join(f", {about.get(key, '?')}" for key in several) for about in keys]
        pairs = [(cell, end) for (_, own), end in zip(files, ends, strict=True) for cell in own]
        cells = [replace(cell, variant=f"{cell.variant}{end}") for cell, end in pairs]
    some = any(cell.processes or cell.failed for cell in cells)
    opened.require(some, "no result is a number", "was every benchmark skipped?", at="")
    rule = ["the commit", *(key.replace("env_name", "environment") for key in several)]
    facts = {"host": keys[0].get("machine"), "environment": keys[0].get("env_name")}
    if len(files) == 1:
        facts |= {"date": keys[0].get("date"), "commit": keys[0]["commit"]}
    return foreign_file(
        cells=cells,
        variant_rule=" and ".join(rule),
        losses={
            "single": met["single"] > 0
            and single(f"{met['single']} times without samples are", _KEEPS),
            **_LOST,
        },
        notes={c: met[c] > 0 and text.format(met[c]) for c, text in _LEFT.items()},
        facts={key: text for key, text in facts.items() if text is not None},
    )


def _cells(
    opened: Opened, session: str | None, met: Counter[str]
) -> tuple[dict[str, str], list[ForeignCell]]:
    """Give what a result file says of all its cells, and the cells."""
    data = opened.json()
    results = within(data, "results")
    opened.require(
        isinstance(results, dict), "it has no results", "is it a result file of asv?", at=""
    )
    said = _said_of(opened)
    commit = text_of(data.get("commit_hash")) or "unknown"
    keys = texts_of(data.get("params")) | {"commit": commit}
    named = opened.stem.partition("-")[2]  # where version 1 has the environment alone
    keys |= texts_of({"env_name": data.get("env_name") or named or None})
    keys |= texts_of({"python": data.get("python")}) | _date(data)
    versions = within(data, "benchmark_version")
    cells: list[ForeignCell] = []
    for name, given in results.items():
        at = f"results[{name!r}]"
        row = _row(opened, given, data.get("result_columns"), at)
        version = (text_of(row.get("version") or within(versions, name)) or "")[:_DIGITS]
        way = f"version {version}" if version else ""
        kind, columns = _crossed(opened, name, row, said.get(name, _UNSAID), at)
        metric, unit, better, factor = kind.metric, kind.unit, kind.better, kind.factor
        time = metric == "time"
        for k, (value, own, number) in enumerate(zip(*columns, strict=True)):
            values: tuple[float, ...] = ()
            if type(value) is float and math.isnan(value):
                met["skipped"] += 1
                continue
            if isinstance(own, list) and own:
                values = opened.values(own, f"{at}[{k}]", factor=factor)
            elif value is not None:
                if type(value) not in (int, float) or not (time or 0 <= value < math.inf):
                    met["left-out"] += 1
                    continue
                plain = factor == 1.0 and type(value) is float and 0 <= value < math.inf
                values = (value if plain else opened.value(value, f"{at}[{k}]", factor=factor),)
                met["single"] += time
            cells.append(
                ForeignCell(
                    benchmark=kind.names[k],
                    variant=commit,
                    metric=metric,
                    unit=unit,
                    better=better,
                    processes=(values,) if values else (),
                    inner=None if number is None else count_of(number),
                    failed=0 if values else 1,
                    session=session,
                    keys=ChainMap(kind.keys[k], keys),
                    definition=way,
                )
            )
    return keys, cells


def _date(data: Mapping[str, Any]) -> dict[str, str]:
    """Give when the commit was made: asv counts milliseconds."""
    found = count_of(data.get("date"))
    try:
        return {"date": datetime.fromtimestamp(found // 1000, UTC).isoformat()} if found else {}
    except (OverflowError, ValueError, OSError):  # beyond all calendars
        return {}


def _row(opened: Opened, given: object, columns: object, at: str) -> dict[str, Any]:
    """Give a benchmark's columns by their names, whatever the version."""
    if isinstance(columns, list) and (given is None or isinstance(given, list)):
        named = all(isinstance(name, str) for name in columns)
        opened.require(named, "a column has no name", at="result_columns")
        return dict(zip(columns, given or (), strict=False))
    if columns is not None:
        raise opened.fail("a result does not fit its columns", at=at)
    row = dict(given) if isinstance(given, dict) and "result" in given else {"result": given}
    stats = row.get("stats")
    stats = [stats] if isinstance(stats, dict) else stats
    if isinstance(stats, list):
        row["stats_number"] = [within(one, "number") for one in stats]
    return row


def _crossed(
    opened: Opened, name: str, row: Mapping[str, Any], said: _Said, at: str
) -> tuple[_Kind, list[list[Any]]]:
    """Give the combinations of a benchmark; then results, samples and loops, an entry a combination."""
    axes = row.get("params") or []
    listed = isinstance(axes, list) and all(isinstance(axis, list) for axis in axes)
    opened.require(listed, "its parameters are not lists", at=at)
    count = math.prod(map(len, axes))
    result = row.get("result")
    result = result if result is None or isinstance(result, list) else [result]
    # null, alone or in a list: all of them failed
    given = (result, row.get("samples"), row.get("stats_number"))
    columns = [None if column == [None] else column for column in given]
    fit = all(c is None or (isinstance(c, list) and len(c) == count) for c in columns)
    what = f"its parameters have {count} combinations, its results do not fit"
    opened.require(fit and count <= _MOST, what, at=at)
    return _kind(name, said, json.dumps(axes)), [c or [None] * count for c in columns]


@lru_cache(maxsize=8192)
def _kind(name: str, said: _Said, axes: str) -> _Kind:
    """Name the combinations of a benchmark, once for all files; metric, unit and direction by its kind, else by its name."""
    kind, given, names = said
    crossed = json.loads(axes)
    names += tuple(f"param{k}" for k in range(len(names) + 1, len(crossed) + 1))
    texts = [[_ADDRESS.sub("", text_of(one) or "?") for one in axis] for axis in crossed]
    keys = [dict(zip(names, row, strict=False)) for row in itertools.product(*texts)]
    factor, base = (1.0, None) if given is None else in_base_unit(given)
    short = name.rpartition(".")[2]
    typed = [meaning for _, of, meaning in _KINDS if of == kind]
    named = [meaning for begin, _, meaning in _KINDS if short.startswith(begin)]
    metric, unit, better = [*typed, *named, ("value", "", None)][0]
    told = (", ".join(f"{n}={v}" for n, v in own.items()) for own in keys)
    return _Kind(
        names=tuple(f"{name}({texts})" if crossed else name for texts in told),
        keys=tuple({"name": name, **own} for own in keys),
        metric=metric,
        unit=unit if base is None else "" if base == "unit" else base,
        factor=factor,
        better=better,
    )


def _said_of(opened: Opened) -> Mapping[str, _Said]:
    """Read ``benchmarks.json`` beside the file or one folder above it, where there is one."""
    for folder in () if opened.path is None else (opened.path.parent, opened.path.parent.parent):
        path = folder / _BENCHMARKS
        there = path.is_file() and not path.is_symlink()
        if there and (said := _said_in(path, path.stat().st_mtime_ns)):
            return said
    return {}


@lru_cache(maxsize=4)
def _said_in(path: Path, _changed: int) -> Mapping[str, _Said]:
    try:
        data = open_foreign(str(path)).json()
    except FairtrialError:
        return {}
    found = {}
    for name, one in data.items() if isinstance(data, dict) else ():
        names, unit = within(one, "param_names"), within(one, "unit")
        known = tuple(map(str, names)) if isinstance(names, list) else ()
        found[name] = text_of(within(one, "type")), unit if isinstance(unit, str) else None, known
    return found
