"""The cells of a matrix file, each with its line and column, and what they mean together."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

from ..errors import AnalysisError, UsageError
from ..record import Better
from ..report import Caution
from ..stats import shown
from .failed import Failed, failures_from_json

__all__ = ["Table", "read_table"]

_DIGITS = 4000
_NUMBER = re.compile(
    # each character has one way to match: a wrong one at the end is found in one pass
    r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?|[-+]?(nan|inf|infinity)",
    re.IGNORECASE,
)
# A first heading that says: this column holds names or run numbers, whatever they look like.
_LABEL = {"", "benchmark", "benchmarks", "bench", "name", "program", "workload", "test", "case"}
_LABEL |= {"id", "index", "no", "nr", "run", "runs", "iteration"}
_LETTERS_FOR_DIGITS = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1", ",": "."})
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?P<key>\s*:)?|[^\s{}\[\],:"]+')


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
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
    metric: str | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    line: int
    column: int


def read_table(path: Path, layout: Literal["rows", "columns"]) -> Table:
    """Read the samples of a ``.csv``, ``.txt`` or ``.json`` file.

    Raises
    ------
    UsageError
        If the file is missing, unreadable or of another kind.
    AnalysisError
        If its content is no matrix; the message says file, line and column.
    """
    if layout not in ("rows", "columns"):
        raise UsageError(f"layout must be 'rows' or 'columns', not {layout!r}", str(path))
    if path.suffix.lower() not in (".csv", ".txt", ".json"):
        raise UsageError(
            f"a matrix file ends in .csv, .txt or .json, not in {path.suffix!r}", str(path)
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise AnalysisError(
            f"the file is not UTF-8 text (byte {error.start})", str(path), "save it as UTF-8"
        ) from None
    if path.suffix.lower() == ".json":
        return _read_json(path, text, layout)
    return _read_text(path, text, layout)


def _fail(path: Path, cell: _Cell, what: str, fix: str | None = None) -> NoReturn:
    raise AnalysisError(what, f"{path}:{cell.line}:{cell.column}", fix)


# ---- text


def _read_text(path: Path, text: str, layout: str) -> Table:
    rows, blanks = _split(text)
    if not rows:
        raise AnalysisError("the file holds no values", str(path))
    header = _header(path, rows[0])
    body = rows[1:] if header else rows
    if not body:
        raise AnalysisError("the file holds a heading and no values", f"{path}:{rows[0][0].line}")
    heading = rows[0][0].text.strip().lower() if header else None
    labelled = heading in _LABEL or not _is_number(body[0][0].text)
    cautions: list[Caution] = []
    if layout == "rows":
        names = [row[0] for row in body] if labelled else None
        grid = [row[1:] if labelled else row for row in body]
        if names is None and header:
            said = f"line {rows[0][0].line} was read as headings and left out"
            cautions.append(Caution("headings-left-out", said))
    else:
        width = max(len(row) for row in rows)
        if blanks and any(len(row) != width for row in rows):
            short = next(row for row in rows if len(row) != width)
            _fail(
                path,
                short[-1],
                f"this line has {len(short)} cells, others have {width}",
                "columns of unequal length need commas or tabs",
            )
        names = list(rows[0]) if header else None
        grid = [[_at(row, k) for row in body] for k in range(width)]
        if labelled:
            if names is not None:
                said = f"column {names[0].text!r} was read as run numbers and left out"
                cautions.append(Caution("run-numbers-left-out", said))
            grid, names = grid[1:], names[1:] if names is not None else None
    named = names or [_Cell(str(k + 1), 0, 0) for k in range(len(grid))]
    samples = _samples(path, named, grid)
    return Table(samples=samples, cautions=tuple(cautions))


def _split(text: str) -> tuple[list[list[_Cell]], bool]:
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    first = lines[0][1] if lines else ""
    comma = "\t" if "\t" in first else "," if "," in first else ""
    if not comma:
        pattern = re.compile(r"\S+")
        return [
            [_Cell(m.group(), number, m.start() + 1) for m in pattern.finditer(line)]
            for number, line in lines
        ], True
    pattern = re.compile(rf'(?:^|{comma})(\s*"(?:[^"]|"")*"[^\S\t]*(?={comma}|$)|[^{comma}]*)')
    return [
        [_cell(m.group(1), number, m.start(1)) for m in pattern.finditer(line)]
        for number, line in lines
    ], False


def _cell(raw: str, line: int, start: int) -> _Cell:
    text = raw.strip()
    lead = len(raw) - len(raw.lstrip())
    if len(text) >= 2 and text[0] == text[-1] == '"':
        text = text[1:-1].replace('""', '"')
    return _Cell(text, line, start + lead + 1)


def _at(row: list[_Cell], k: int) -> _Cell:
    """Give the k-th cell; a short line has empty cells at its end."""
    return row[k] if k < len(row) else _Cell("", row[-1].line, row[-1].column)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _header(path: Path, row: list[_Cell]) -> bool:
    """Tell whether the first row holds headings; refuse one that is half numbers, half text."""
    rest = [cell for cell in row[1:] if cell.text]
    if row[0].text.strip().lower() in _LABEL:
        return True
    words = [cell for cell in rest if not _is_number(cell.text)]
    if not rest:
        return not _is_number(row[0].text) and not _damaged(row[0].text)
    if not words:
        return False
    # A heading does not look like a mistyped number; a row of values does not hold one by intent.
    wrong = [cell for cell in words if _damaged(cell.text)]
    if wrong or len(words) < len(rest):
        _fail(path, (wrong or words)[0], f"{(wrong or words)[0].text!r} is not a number")
    return True


def _damaged(text: str) -> bool:
    return text[:1] in set("0123456789+-.") or _is_number(text.translate(_LETTERS_FOR_DIGITS))


def _samples(path: Path, names: list[_Cell], grid: list[list[_Cell]]) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {}
    if len(grid) != len(names):
        raise AnalysisError(
            f"there are {len(names)} names for {len(grid)} columns of values",
            f"{path}:{names[0].line}",
        )
    for name, cells in zip(names, grid, strict=True):
        if not name.text:
            _fail(path, name, "a benchmark without a name")
        if name.text in samples:
            _fail(path, name, f"benchmark {name.text!r} stands here a second time")
        count = max((k + 1 for k, cell in enumerate(cells) if cell.text), default=0)
        if not count:
            _fail(path, name, f"benchmark {name.text!r} has no runs", "remove it, or measure it")
        samples[name.text] = [_value(path, cell) for cell in cells[:count]]
    return samples


def _value(path: Path, cell: _Cell) -> float:
    if not cell.text:
        _fail(path, cell, "a run is missing here, and others follow", "move the gap to the end")
    if not _is_number(cell.text):
        _fail(path, cell, f"{shown(cell.text)} is not a number")
    value = float(cell.text)
    if not (math.isfinite(value) and value > 0):
        _fail(path, cell, f"{shown(cell.text)} is not a positive finite number")
    return value


# ---- JSON


def _read_json(path: Path, text: str, layout: str) -> Table:
    try:
        data = json.loads(text, object_pairs_hook=_unique(path), parse_int=_whole)
        # The k-th value of the document, in its order, stands where the k-th value token stands.
        located = _locate(data, _places(text))
    except json.JSONDecodeError as error:
        raise AnalysisError(
            f"this is no JSON: {error.msg}", f"{path}:{error.lineno}:{error.colno}"
        ) from None
    except RecursionError:
        raise AnalysisError("the values are nested too deeply", str(path)) from None
    except ValueError:  # of a whole number with thousands of digits
        raise AnalysisError("a number has too many digits", str(path)) from None
    extra: dict[str, Any] = {}
    whole = located
    if isinstance(located, dict) and isinstance(located.get("samples"), dict):
        extra = _particulars(path, data, located)
        located = located["samples"]
    if isinstance(located, list):
        if not all(isinstance(row, list) for row in located):
            raise AnalysisError("the list must hold one list for each row", str(path))
        rows = cast("list[list[Any]]", located)
        if layout == "columns":
            width = max((len(row) for row in rows), default=0)
            rows = [[row[k] for row in rows if k < len(row)] for k in range(width)]
        located = {str(k + 1): row for k, row in enumerate(rows)}
    if not isinstance(located, dict) or not located:
        raise AnalysisError(
            "this is no matrix", str(path), 'write {"benchmark": [run, run, ...], ...}'
        )
    samples = {}
    for bench, row in located.items():
        if not isinstance(row, list) or not row:
            raise AnalysisError(f"benchmark {bench!r} must be a list of runs", str(path))
        samples[bench] = [_json_value(path, cell, bench) for cell in row]
    if isinstance(data, dict) and data.get("iterations") is not None and extra:
        return _of_iterations(path, whole["iterations"], Table(samples=samples, **extra))
    return Table(samples=samples, **extra)


def _of_iterations(path: Path, located: Any, runs: Table) -> Table:  # noqa: ANN401 - any JSON
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
            raise AnalysisError(
                f"'iterations' must hold a list for each run of {bench!r}", str(path)
            )
        values = [[_json_value(path, cell, bench) for cell in row] for row in rows]
        for k, (row, mean) in enumerate(zip(values, means, strict=True), 1):
            if not math.isclose(sum(value / len(row) for value in row), mean, rel_tol=1e-9):
                raise AnalysisError(
                    f"run {k} of {bench!r} is not the mean of its iterations", str(path)
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


def _particulars(path: Path, data: dict[str, Any], located: dict[str, Any]) -> dict[str, Any]:
    """Take what `PerformanceMatrix.to_dict` writes beside the samples."""
    extra: dict[str, Any] = {}
    for key in ("name", "unit", "better", "metric", "origin"):
        extra[key] = data.get(key)
        if extra[key] is not None and not isinstance(extra[key], str):
            cell = located[key]
            where = f"{path}:{cell.line}:{cell.column}" if isinstance(cell, _Cell) else str(path)
            raise AnalysisError(f"{key!r} must be text", where)
    for key in ("blocks", "sessions"):
        extra[key] = data.get(key)
        if extra[key] is not None and not _are_ids(extra[key]):
            what = f"{key!r} must be an object of lists of whole numbers, or of names"
            raise AnalysisError(what, str(path))
    if data.get("failed") is not None:
        extra["failed"] = failures_from_json(data["failed"], data.get("sessions"), str(path))
    texts, codes = (_texts(path, data, key) for key in ("cautions", "caution_codes"))
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


def _texts(path: Path, data: dict[str, Any], key: str) -> list[str]:
    given = data.get(key) or []
    if not (isinstance(given, list) and all(isinstance(text, str) for text in given)):
        raise AnalysisError(f"{key!r} must be a list of texts", str(path))
    return given


def _unique(path: Path) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key, value in items:
            if key in data:
                raise AnalysisError(f"key {key!r} stands there twice", str(path))
            data[key] = value
        return data

    return pairs


def _places(text: str) -> Iterator[_Cell]:
    line, start, begun = 1, 0, -1  # begun: where the line before this one ends
    for token in _JSON_TOKEN.finditer(text):
        line += text.count("\n", start, token.start())
        begun = max(begun, text.rfind("\n", start, token.start()))
        start = token.start()
        if token["key"] is None:
            yield _Cell(token.group(), line, start - begun)


def _locate(data: Any, places: Iterator[_Cell]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(data, dict):
        return {key: _locate(value, places) for key, value in data.items()}
    if isinstance(data, list):
        return [_locate(value, places) for value in data]
    return next(places)


def _json_value(path: Path, cell: Any, bench: str) -> float:  # noqa: ANN401 - any JSON value
    if not isinstance(cell, _Cell):
        raise AnalysisError(f"benchmark {bench!r} must be a flat list of numbers", str(path))
    return _value(path, cell)
