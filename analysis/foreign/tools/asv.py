"""asv's result files, one for each commit and environment, or the folder that holds them.

Version 2: a benchmark's columns are named by ``result_columns``, and columns at the end may be cut.
Parameters are crossed: result k belongs to the k-th combination. ``samples`` are there only if they
were recorded; a benchmark without them has one value, its summary, unless it measures no time.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import FairtrialError
from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..folders import files_in, opened_in
from ..opening import Opened, open_foreign
from ..parsing import count_of, fail, in_base_unit, json_of, looks_like_json, value_of

__all__ = ["knows", "read"]

_MOST = 100_000  # combinations of parameters
_BENCHMARKS = "benchmarks.json"
_KINDS: tuple[tuple[str, str, str, Better | None], ...] = (
    ("timeraw_", "time", "s", "lower"),
    ("time_", "time", "s", "lower"),
    ("peakmem_", "peak_memory", "B", "lower"),
    ("mem_", "memory", "B", "lower"),
    ("track_", "value", "", None),
)


def knows(opened: Opened) -> bool:
    """Tell by the keys of a result file."""
    if opened.is_folder:
        return any(_is_result(opened, path) for path in files_in(opened))
    return _result_head(opened)


def _result_head(opened: Opened) -> bool:
    head = opened.head()
    return (
        looks_like_json(opened)
        and '"commit_hash"' in head
        and '"result_columns"' in head
        and re.search(r'"version"', opened.data[-200:].decode("utf-8", "replace")) is not None
    )


def _is_result(opened: Opened, path: Path) -> bool:
    if path.suffix != ".json" or path.name in (_BENCHMARKS, "machine.json"):
        return False
    return _result_head(opened_in(opened, path))


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, combination of parameters, and commit.

    Raises
    ------
    AnalysisError
        If a file is damaged, or no benchmark of a time has samples.
    """
    if opened.is_folder:
        files = [opened_in(opened, path) for path in files_in(opened) if _is_result(opened, path)]
    else:
        files = [opened]
    cells = [cell for file in files for cell in _cells(file)]
    if not any(cell.values or cell.failed for cell in cells):
        raise fail(
            opened,
            "the results hold summaries only, no samples",
            "measure with 'asv run --record-samples', or --append-samples",
        )
    return ForeignFile(
        format="asv",
        source=opened.source,
        cells=tuple(cells),
        variant_rule="the commit",
        losses=(
            Loss(
                code="processes-unknown",
                text="each sample is the mean of several calls; which samples stem from one process is "
                "not in the file: variation between processes cannot be estimated",
            ),
            Loss(code="warm-ups-unknown", text="the warm-up is not in the file"),
        ),
    )


def _cells(opened: Opened) -> Iterator[ForeignCell]:
    data = json_of(opened)
    columns = data.get("result_columns") if isinstance(data, dict) else None
    results = data.get("results") if isinstance(data, dict) else None
    if (
        not isinstance(columns, list)
        or not all(isinstance(column, str) for column in columns)
        or not isinstance(results, dict)
    ):
        raise fail(opened, "it has no results with columns", "is it of asv 0.4 or newer?")
    given_params = data.get("params")
    params = given_params if isinstance(given_params, dict) else {}
    about = _about(opened)
    commit = str(data.get("commit_hash"))
    shared = {
        str(key): str(value)
        for key, value in params.items()
        if isinstance(value, (str, int, float))
    } | {"commit": commit, "env_name": str(data.get("env_name"))}
    for name, given in results.items():
        at = f"results[{name!r}]"
        if not isinstance(given, list):
            raise fail(opened, "a result is no list", "is the file damaged?", at=at)
        row = dict(zip(columns, given, strict=False))
        kind = about.get(name, {})
        yield from _combinations(opened, name, row, kind, {"variant": commit, "keys": shared}, at)


def _combinations(  # noqa: PLR0917 - all of one benchmark
    opened: Opened,
    name: str,
    row: Mapping[str, Any],
    kind: Mapping[str, Any],
    shared: Mapping[str, Any],
    at: str,
) -> Iterator[ForeignCell]:
    given = row.get("params")
    params = [axis for axis in given if isinstance(axis, list)] if isinstance(given, list) else []
    if math.prod(map(len, params)) > _MOST:
        raise fail(opened, f"more than {_MOST:,} combinations", "is the file damaged?", at=at)
    names = kind.get("param_names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        names = [f"param{k}" for k in range(1, len(params) + 1)]
    results = row.get("result")
    samples = row.get("samples")
    numbers = row.get("stats_number")
    metric, unit, factor, better = _metric(name, kind)
    for k, combination in enumerate(itertools.product(*params)):
        value = results[k] if isinstance(results, list) and k < len(results) else None
        own = samples[k] if isinstance(samples, list) and k < len(samples) else None
        parts = [f"{n}={v}" for n, v in zip(names, combination, strict=False)]
        inner = numbers[k] if isinstance(numbers, list) and k < len(numbers) else None
        if value is None and own is None:
            taken: list[Any] = []
        elif isinstance(own, list):
            taken = own
        elif unit == "s":
            taken = []  # a summary of samples that were not kept
        else:
            taken = [value]
        yield ForeignCell(
            benchmark=f"{name}({', '.join(parts)})" if parts else name,
            variant=shared["variant"],
            metric=metric,
            unit=unit,
            better=better,
            processes=(
                tuple(
                    value_of(opened, one, f"{at}[{k}][{j}]", factor=factor)
                    for j, one in enumerate(taken)
                ),
            )
            if taken
            else (),
            known=False,
            inner=count_of(inner),
            failed=int(value is None),
            keys={
                **shared["keys"],
                "name": name,
                **dict(zip(names, map(str, combination), strict=False)),
            },
        )


def _metric(name: str, kind: Mapping[str, Any]) -> tuple[str, str, float, Better | None]:
    short = name.rpartition(".")[2]
    given = kind.get("unit")
    for prefix, metric, unit, better in _KINDS:
        if short.startswith(prefix):
            if isinstance(given, str):
                factor, base = in_base_unit(given)
                return metric, "" if base == "unit" else base, factor, better
            return metric, unit, 1.0, better
    return "value", str(given or ""), 1.0, None


def _about(opened: Opened) -> dict[str, Mapping[str, Any]]:
    """Read ``benchmarks.json`` beside the file or one folder above it, where there is one."""
    if opened.path is None:
        return {}
    for folder in (opened.path.parent, opened.path.parent.parent):
        try:
            data = json_of(open_foreign(str(folder / _BENCHMARKS)))
        except FairtrialError:
            continue
        if isinstance(data, dict):
            return {str(name): one for name, one in data.items() if isinstance(one, dict)}
    return {}
