"""nanobench's JSON (``ankerl::nanobench::templates::json()``): epochs of one process.

``elapsed`` is the mean time of one of an epoch's iterations, in seconds; an iteration does ``batch``
units of work. Counters are means too, and 0 in the whole file where they could not be read. The CSV and
box plot templates hold medians, and a template of one's own what its author wrote; that for pyperf is
pyperf's JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import count_of, fail, json_of, mentions, structure_of, text_of, texts_of, value_of

__all__ = ["knows", "read"]

_SUMMARY = re.compile(r'^"title";"name";"unit";"batch";"elapsed";', re.MULTILINE)
_COUNTERS = (
    "instructions", "cpucycles", "branchinstructions", "branchmisses", "pagefaults",
    "contextswitches",
)  # fmt: skip
_KEYS = ("title", "name", "unit", "batch", "complexityN")
_DEFAULT = "benchmark"  # the title of those who gave none
_MARK = "median(elapsed)"
_FIX = "render with ankerl::nanobench::templates::json(), which writes all measurements"


def knows(opened: Opened) -> bool:
    """Tell by the keys of a result, or by the headings of its CSV."""
    data = structure_of(opened)
    if data is None:
        return bool(_SUMMARY.search(opened.head())) or mentions(opened, "results", _MARK)
    results = data.get("results") if isinstance(data, dict) else None
    return isinstance(results, list) and any(
        isinstance(one, dict)
        and (_MARK in one or {"measurements", "batch", "epochs"} <= one.keys())
        for one in results
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each result, and one for each counter that was read.

    Raises
    ------
    AnalysisError
        If the file is damaged, or holds medians only.
    """
    if structure_of(opened) is None and _SUMMARY.search(opened.head()):
        raise fail(opened, "nanobench's CSV holds medians only, no measurements", _FIX)
    data = json_of(opened)
    results = data.get("results") if isinstance(data, dict) else None
    if not isinstance(results, list) or not results:
        raise fail(opened, "there is no result in the file", _FIX)
    found = [
        (f"results[{k}]", one, _rows(opened, one, f"results[{k}]")) for k, one in enumerate(results)
    ]
    read_ = [
        name for name in _COUNTERS if any(row.get(name) for _, _, rows in found for row in rows)
    ]
    cells = tuple(cell for at, one, rows in found for cell in _cells(opened, at, one, rows, read_))
    return ForeignFile(
        format="nanobench",
        source=opened.source,
        cells=cells,
        losses=tuple(_losses(cells)),
    )


def _rows(opened: Opened, result: object, at: str) -> list[dict[str, Any]]:
    rows = result.get("measurements") if isinstance(result, dict) else None
    if not isinstance(rows, list) or not rows:
        raise fail(opened, "the result holds medians only, no measurements", _FIX, at=at)
    if not all(isinstance(row, dict) for row in rows):
        raise fail(opened, "a measurement is no object", "is the file damaged?", at=at)
    return rows


def _cells(
    opened: Opened,
    at: str,
    result: Mapping[str, Any],
    rows: list[dict[str, Any]],
    counters: list[str],
) -> Iterator[ForeignCell]:
    name, title = text_of(result.get("name")), text_of(result.get("title"))
    if not name:
        raise fail(opened, "a result has no name", "is the file damaged?", at=at)
    counts = [count_of(row.get("iterations")) for row in rows]
    for metric in ("elapsed", *counters):
        values = [
            value_of(opened, row.get(metric), f"{at}.measurements[{k}].{metric}")
            for k, row in enumerate(rows)
        ]
        yield ForeignCell(
            benchmark=name if title in (None, "", _DEFAULT) else f"{title}/{name}",
            metric="time" if metric == "elapsed" else metric,
            unit="s" if metric == "elapsed" else "",
            better="lower" if metric == "elapsed" else None,
            processes=(tuple(values),),
            known=True,
            inner=max((one for one in counts if one is not None), default=None),
            keys=texts_of({key: result.get(key) for key in _KEYS}),
        )


def _losses(cells: tuple[ForeignCell, ...]) -> Iterator[Loss]:
    inner = [cell.inner or 1 for cell in cells]
    told = f"up to {max(inner)} iterations" if max(inner) > 1 else "single iterations"
    yield Loss(
        code="one-process",
        text=f"epochs of {told}, all from one process: variation between processes cannot be estimated",
    )
    if any(cell.keys.get("batch", "1") not in ("1", "1.0") for cell in cells):
        yield Loss(
            code="whole-batches",
            text="times are those of an iteration, which does 'batch' units of work",
        )
    yield Loss(code="no-sessions", text="all epochs stem from one occasion")
    yield Loss(code="warm-ups-unknown", text="the warm-up is not in the file")
    yield Loss(code="failed-unknown", text="nanobench keeps no failed benchmarks")
