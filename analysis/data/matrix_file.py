"""A file of bare numbers, text or JSON: what it holds, whatever its name is."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from ..errors import AnalysisError, UsageError
from ..pages.model import Caution
from ..stats.arguments import shown
from .failed_runs import Failed, failures_from_json
from .number_text import Decimal, Layout, PlacedText, number_in
from .text_table import read_text

if TYPE_CHECKING:
    from ..record.run_numbers import Better

_DIGITS = 4000
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?|[^\s{}\[\],:"]+')


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixTable:
    """What a matrix file holds. Fields that only a JSON file can hold are None otherwise.

    With `processes`, the samples are iterations, and each has its process.
    """

    samples: dict[str, list[float]]
    cautions: tuple[Caution, ...] = ()
    name: str | None = None
    unit: str | None = None
    better: Better | None = None
    blocks: dict[str, list[Any]] | None = None
    sessions: dict[str, list[Any]] | None = None
    processes: dict[str, list[int]] | None = None
    failed: Failed | None = None
    cut: dict[str, int] | None = None
    metric: str | None = None
    origin: str | None = None


def read_table(path: Path, layout: Layout | None, decimal: Decimal | None = None) -> MatrixTable:
    """Read the samples of a file; see `table_in`."""
    if layout not in ("rows", "columns", None):
        raise UsageError(f"layout must be 'rows' or 'columns', not {layout!r}", str(path))
    if decimal not in ("comma", "point", None):
        raise UsageError(f"decimal must be 'comma' or 'point', not {decimal!r}", str(path))
    return table_in(utf8_text(path), str(path), layout, decimal)


def utf8_text(path: Path) -> str:
    """Read a text file, with or without a mark at its beginning."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise AnalysisError(
            f"the file is not UTF-8 text (byte {error.start})", str(path), "save it as UTF-8"
        ) from None


def table_in(text: str, source: str, layout: Layout | None, decimal: Decimal | None) -> MatrixTable:
    """Give the samples in a text: JSON if it begins as such, else lines of numbers (`read_text`)."""
    if text.lstrip()[:1] in ("{", "["):
        return _read_json(source, text, layout or "rows")
    found = read_text(text, source, layout=layout, decimal=decimal)
    return MatrixTable(
        samples={
            bench: [_positive(source, cell, value) for cell, value in row]
            for bench, row in found.samples.items()
        },
        cautions=found.cautions,
    )


def _fail(source: str, cell: PlacedText, what: str) -> NoReturn:
    raise AnalysisError(what, f"{source}:{cell.line}:{cell.column}")


def _positive(source: str, cell: PlacedText, value: float | None) -> float:
    if value is None:
        _fail(source, cell, f"{shown(cell.text)} is not a number")
    if not (math.isfinite(value) and value > 0):
        _fail(source, cell, f"{shown(cell.text)} is not a positive finite number")
    return value


# ---- JSON


def _read_json(source: str, text: str, layout: str) -> MatrixTable:
    try:
        data = json.loads(text, object_pairs_hook=_unique(source), parse_int=_whole)
        # The k-th value of the document, in its order, stands where the k-th value token stands.
        located = _locate(data, _places(text))
    except json.JSONDecodeError as error:
        raise AnalysisError(
            f"this is no JSON: {error.msg}", f"{source}:{error.lineno}:{error.colno}"
        ) from None
    except RecursionError:
        raise AnalysisError("the values are nested too deeply", source) from None
    except ValueError:  # of a whole number with thousands of digits
        raise AnalysisError("a number has too many digits", source) from None
    extra: dict[str, Any] = {}
    whole = located
    if isinstance(located, dict) and isinstance(located.get("samples"), dict):
        extra = _particulars(source, data, located)
        located = located["samples"]
    if isinstance(located, list):
        if not all(isinstance(row, list) for row in located):
            raise AnalysisError("the list must hold one list for each row", source)
        rows = cast("list[list[Any]]", located)
        if layout == "columns":
            width = max((len(row) for row in rows), default=0)
            rows = [[row[k] for row in rows if k < len(row)] for k in range(width)]
        located = {str(k + 1): row for k, row in enumerate(rows)}
    if not isinstance(located, dict) or not located:
        raise AnalysisError(
            "this is not a matrix", source, 'write {"benchmark": [run, run, ...], ...}'
        )
    samples = {}
    for bench, row in located.items():
        if not isinstance(row, list) or not row:
            raise AnalysisError(f"benchmark {bench!r} must be a list of runs", source)
        samples[bench] = [_json_value(source, cell, bench) for cell in row]
    if isinstance(data, dict) and data.get("iterations") is not None and extra:
        return _of_iterations(source, whole["iterations"], MatrixTable(samples=samples, **extra))
    return MatrixTable(samples=samples, **extra)


def _of_iterations(source: str, located: Any, runs: MatrixTable) -> MatrixTable:  # noqa: ANN401 - any JSON
    """Take the iterations of each run, as `PerformanceMatrix.to_dict` writes them."""
    flat: dict[str, list[float]] = {}
    ids: dict[str, list[int]] = {}
    for bench, means in runs.samples.items():
        rows = located.get(bench) if isinstance(located, dict) else None
        if (
            not isinstance(rows, list)
            or len(rows) != len(means)
            or not all(isinstance(row, list) and row for row in rows)
        ):
            raise AnalysisError(f"'iterations' must hold a list for each run of {bench!r}", source)
        values = [[_json_value(source, cell, bench) for cell in row] for row in rows]
        for k, (row, mean) in enumerate(zip(values, means, strict=True), 1):
            if not math.isclose(sum(value / len(row) for value in row), mean, rel_tol=1e-9):
                raise AnalysisError(
                    f"run {k} of {bench!r} is not the mean of its iterations", source
                )
        flat[bench] = [value for row in values for value in row]
        ids[bench] = [k for k, row in enumerate(values) for _ in row]

    def spread(given: dict[str, list[Any]] | None) -> dict[str, list[Any]] | None:
        """Give each iteration its run's id; rows that do not fit are left for their own message."""
        if given is None:
            return None
        return {
            bench: [row[k] for k in ids[bench]]
            if bench in ids and len(row) == len(runs.samples[bench])
            else row
            for bench, row in given.items()
        }

    return replace(
        runs,
        samples=flat,
        processes=ids,
        blocks=spread(runs.blocks),
        sessions=spread(runs.sessions),
        # it is said again, of what stands there now
        cautions=tuple(one for one in runs.cautions if one.code != "process-means"),
    )


def _whole(digits: str) -> float:
    """Give a whole number; one of more digits than Python converts is beyond all doubles."""
    return int(digits) if len(digits) <= _DIGITS else math.inf


def _particulars(source: str, data: dict[str, Any], located: dict[str, Any]) -> dict[str, Any]:
    """Take what `PerformanceMatrix.to_dict` writes beside the samples."""
    extra: dict[str, Any] = {}
    for key in ("name", "unit", "better", "metric", "origin"):
        extra[key] = data.get(key)
        if extra[key] is not None and not isinstance(extra[key], str):
            cell = located[key]
            where = (
                f"{source}:{cell.line}:{cell.column}" if isinstance(cell, PlacedText) else source
            )
            raise AnalysisError(f"{key!r} must be text", where)
    for key in ("blocks", "sessions"):
        extra[key] = data.get(key)
        if extra[key] is not None and not _are_ids(extra[key]):
            what = f"{key!r} must be an object of lists of whole numbers, or of names"
            raise AnalysisError(what, source)
    if data.get("failed") is not None:
        extra["failed"] = failures_from_json(data["failed"], data.get("sessions"), source)
    if isinstance(data.get("cut"), dict):
        extra["cut"] = data["cut"]
    texts, codes = (_texts(source, data, key) for key in ("cautions", "caution_codes"))
    codes += ["noted"] * (len(texts) - len(codes))  # files of the first version have texts only
    extra["cautions"] = tuple(map(Caution, codes, texts))
    return extra


def _are_ids(given: object) -> bool:
    """Tell whether this maps benchmarks to the ids of their runs, of one kind in each."""
    return isinstance(given, dict) and all(
        isinstance(row, list)
        and (
            all(type(item) is str for item in row)
            or all(type(item) is int and abs(item) < 2**63 for item in row)
        )
        for row in given.values()
    )


def _texts(source: str, data: dict[str, Any], key: str) -> list[str]:
    given = data.get(key) or []
    if not (isinstance(given, list) and all(isinstance(text, str) for text in given)):
        raise AnalysisError(f"{key!r} must be a list of texts", source)
    return given


def _unique(source: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, value in items:
            if key in data:
                raise AnalysisError(f"key {key!r} is there twice", source)
            data[key] = value
        return data

    return pairs


def _places(text: str) -> Iterator[PlacedText]:
    line, start, begun = 1, 0, -1  # begun: where the line before this one ends
    for token in _JSON_TOKEN.finditer(text):
        line += text.count("\n", start, token.start())
        begun = max(begun, text.rfind("\n", start, token.start()))
        start = token.start()
        if token["key"] is None:
            yield PlacedText(token.group(), line, start - begun)


def _locate(data: Any, places: Iterator[PlacedText]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(data, dict):
        return {key: _locate(value, places) for key, value in data.items()}
    if isinstance(data, list):
        return [_locate(value, places) for value in data]
    return next(places)


def _json_value(source: str, cell: Any, bench: str) -> float:  # noqa: ANN401 - any JSON value
    if not isinstance(cell, PlacedText):
        raise AnalysisError(f"benchmark {bench!r} must be a flat list of numbers", source)
    return _positive(source, cell, number_in(cell.text))
