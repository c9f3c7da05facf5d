"""A file of bare numbers, text or JSON: what it holds, whatever its name is."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

from ..errors import AnalysisError, UsageError
from ..pages import number_format as figures
from ..pages.model import Caution
from ..stats.arguments import shown
from .number_text import (
    NUMBER,
    SAY,
    Decimal,
    Layout,
    Line,
    PlacedText,
    cells_of,
    commas_of,
    headed,
    is_numeric,
    lines_of,
    number_in,
    separator_of,
    two_readings,
)

if TYPE_CHECKING:
    from ..record.run_numbers import Better

# --- A text of bare numbers: one list, or rows of runs with or without names. The only
# reader of such texts.
#
# One separator holds for the whole text: a tab, a semicolon, a comma (with or without a blank
# behind it), else blanks. What may be read in two ways is refused, with both of them named.


Dress = Literal["numbers", "wide-csv", "matrix"]

VALUES = "values"  # the benchmark of a plain list of numbers
# A first heading that says: this column holds names or run numbers, whatever they look like.
_LABEL = {"", "benchmark", "benchmarks", "bench", "name", "program", "workload", "test", "case"}
_LABEL |= {"task", "id", "index", "no", "nr", "run", "runs", "iteration"}
_RUN = re.compile(
    r"(run|rep|repetition|r|sample|trial|value|time|x|v)?[ _\-#]*\d+", re.IGNORECASE | re.ASCII
)
# One that numbers runs, where the cells below count from 0 or 1; "" is an index of pandas.
_NUMBERS = re.compile(r"(?i)#|index|((run|rep|trial|iteration|repetition)s?[ _\-]*(#|no|nr|id)?)?")
_LETTERS_FOR_DIGITS = str.maketrans({"O": "0", "o": "0", "l": "1", "I": "1", ",": "."})
_FEW = 3  # lines of headings and numbers that may be anything
_LONGEST = 131_072  # characters of a cell
_MEAN = re.compile(r"(geo(metric)?[ _.\-]?mean|gmean|average|avg)( \S+=\S*)*", re.IGNORECASE)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}( \d{3})+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """What the text holds.

    `samples`: Benchmark -> its runs, in their order; `VALUES` for a plain list. `dress`: A plain
    list, a table with headings and names, or any other. `cautions`: What was left out or taken for
    granted.
    """

    samples: dict[str, list[tuple[PlacedText, float]]]
    dress: Dress
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """Names, and the cells of each, before anybody looks into them."""

    names: list[PlacedText]
    grid: list[list[PlacedText]]
    dress: Dress
    cautions: list[Caution]


_Rows = list[list[PlacedText]]


def read_text(
    text: str,
    source: str,
    *,
    layout: Layout | None = None,
    decimal: Decimal | None = None,
    strict: bool = True,
) -> TextTable:
    """Read a text of numbers.

    Where each line is one number, these are the runs of one benchmark, unless `layout` is given. Otherwise
    each row is a benchmark (or each column, with ``columns``), whose name may stand before it. Names over
    columns that may be variants are refused if `strict`, else taken for runs, with a caution.
    """
    lines = list(lines_of(headed(text)))
    if not lines:
        raise AnalysisError("the file holds no values", source)
    mark = separator_of(lines, source, decimal)
    rows = [cells_of(line, number, mark) for number, line in lines]
    _require_short(rows, source)
    found = _as_list(rows, layout, mark)
    if found is None:
        if not mark and layout is None:
            _require_no_groups(lines, source)
        found = _as_matrix(rows, source, layout, mark)
    if decimal is None and mark != ",":
        decimal = _decimal_of(found.grid, source)
    samples = _samples(source, found, decimal)
    several = next((one.about for one in found.cautions if one.about[1:]), ())
    if several and strict and layout is None:
        first, texts = rows[0][0].text, not is_numeric(rows[1][0].text)
        units = [name[name.rfind("(") :] for name in several if "(" in name] or [""]
        alike = [name for name in several if name.endswith(max(units, key=units.count))]
        roles = f"benchmark={first or 'benchmark'}, " * bool(first or not texts)
        roles += f"variant={'+'.join(alike)}"
        fix = "" if first or texts else "head the names 'benchmark', and "
        fix += f"say which: --columns '{roles}', or --layout rows for runs"
        what = f"the columns {figures.listed(several, 4)} may be variants, or runs of one"
        _refuse_cell(source, rows[0][1], what, fix)
    means, cautions = means_among(samples)
    kept = {name: row for name, row in samples.items() if name not in means}
    return TextTable(samples=kept, dress=found.dress, cautions=(*found.cautions, *cautions))


def means_among(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[Caution, ...]]:
    """Give the names of benchmarks that are means of the others, such as ``geomean``, and a caution that says so."""
    every = dict.fromkeys(names)
    means = tuple(name for name in every if _MEAN.fullmatch(name.strip()))
    if not means or len(means) == len(every):
        return (), ()
    text = f"a mean of the others is no benchmark, and left out: {figures.listed(means, 4)}"
    return means, (Caution("left-out", text, means),)


def _refuse_cell(source: str, cell: PlacedText, what: str, fix: str | None = None) -> NoReturn:
    raise AnalysisError(what, f"{source}:{cell.line}:{cell.column}", fix)


def _require_short(rows: _Rows, source: str) -> None:
    long = next((cell for row in rows for cell in row if len(cell.text) > _LONGEST), None)
    if long is not None:
        what = f"it is no CSV: a cell has {len(long.text):,} characters"
        raise AnalysisError(what, f"{source}:{long.line}", "is a quote open?")


def _require_no_groups(lines: Sequence[Line], source: str) -> None:
    """Refuse nameless rows that may be single numbers, with blanks between their thousands."""
    texts = [(number, line.strip()) for number, line in lines]
    grouped = [(number, text) for number, text in texts if _THOUSANDS.fullmatch(text)]
    few = (_THOUSANDS.fullmatch(text) or re.fullmatch(r"[0-9]{1,3}", text) for _, text in texts)
    if not grouped or not all(few):
        return
    number, text = grouped[0]
    raise AnalysisError(
        f"{text!r} may be one number, {text.replace(' ', '')}, or {text.count(' ') + 1} runs",
        f"{source}:{number}",
        "write a number without blanks, or add --layout rows (layout= in Python) if they part runs",
    )


def _as_list(rows: _Rows, layout: Layout | None, mark: str) -> _Found | None:
    """Take lines of one number each as one benchmark; None where they are none. A heading may have several words."""
    cells = [[cell for k, cell in enumerate(row) if cell.text or not k] for row in rows]
    first = [cell.text for cell in cells[0]]
    headed = len(cells) > 1 and not any(is_numeric(text) or _damaged(text) for text in first)
    column = [row[0] for row in cells[headed:]]
    single = all(len(row) == 1 for row in cells[headed and not mark :])
    if layout is not None or not single or not any(is_numeric(cell.text) for cell in column):
        return None
    cautions = [_headings_left_out(cells[0][0])] * headed
    return _Found([PlacedText(VALUES, 0, 0)], [column], "numbers", cautions)


def _headings_left_out(first: PlacedText) -> Caution:
    text = f"line {first.line} was read as headings and left out"
    return Caution("headings-left-out", text)


def _run_numbers_left_out(first: PlacedText) -> Caution:
    text = f"column {first.text!r} was read as run numbers and left out"
    return Caution("run-numbers-left-out", text)


def _as_matrix(rows: _Rows, source: str, layout: Layout | None, mark: str) -> _Found:
    header = _header(source, rows[0])
    body = rows[1:] if header else rows
    if not body:
        raise AnalysisError("the file holds a heading and no values", f"{source}:{rows[0][0].line}")
    if layout is None and _numbers_runs(rows):
        rest = _as_matrix([row[1:] for row in rows], source, layout, mark)
        return replace(rest, cautions=[*rest.cautions, _run_numbers_left_out(rows[0][0])])
    heading = rows[0][0].text.lower() if header else None
    labelled = heading in _LABEL or not is_numeric(body[0][0].text)
    if layout == "columns":
        return _columns(rows, body, source, mark, header=header, labelled=labelled)
    cautions: list[Caution] = []
    if header and not labelled:
        above = tuple(cell.text for cell in rows[0] if not _RUN.fullmatch(cell.text))
        plain = all(is_numeric(cell.text) or not cell.text for row in body for cell in row)
        if above and plain and layout is None and len(rows[0]) == max(map(len, body)):
            return _named_columns(rows, source, mark, above)
        cautions.append(_headings_left_out(rows[0][0]))
    dress: Dress = "wide-csv" if header and labelled else "matrix"
    if not labelled and not header:
        _require_one_kind(source, body, layout)
    if not labelled:
        return _Found(_counted(len(body)), body, dress, cautions)
    named = [cell.text for cell in rows[0][1:] if cell.text and not _RUN.fullmatch(cell.text)]
    if header and named:
        text = f"the columns {figures.listed(tuple(named), 4)} were taken as runs of one variant"
        cautions.append(Caution("columns-as-runs", text, tuple(named)))
    names = [row[0] for row in body]
    odd = next((name for name in names if is_numeric("".join(name.text.split()))), None)
    if heading not in _LABEL and odd is not None:
        if not is_numeric(odd.text):
            what = f"{shown(odd.text)} is not a number"
            _refuse_cell(source, odd, what, "write it without blanks")
        text = f"line {odd.line} begins with a number, {odd.text}, that was taken as a name"
        cautions.append(Caution("numbers-as-names", text))
    return _Found(names, [row[1:] for row in body], dress, cautions)


def _numbers_runs(rows: _Rows) -> bool:
    """Tell whether the first column counts the runs of others, which have names."""
    heads, first = [cell.text for cell in rows[0]], [row[0].text for row in rows[1:]]
    counts = (list(map(str, range(k, k + len(first)))) for k in (0, 1))
    named = not any(map(_RUN.fullmatch, heads[1:])) and all(len(row) > 1 for row in rows)
    named = named and is_numeric(rows[-1][1].text)
    return named and first in counts and _NUMBERS.fullmatch(heads[0]) is not None


def _named_columns(rows: _Rows, source: str, mark: str, named: tuple[str, ...]) -> _Found:
    """Take each column as a benchmark: names above numbers part no rows."""
    listed = figures.listed(named, 4)
    if len(rows) <= _FEW:
        what = f"{listed} may be the names of columns, and {len(rows) - 1} rows of numbers are below them"
        fix = "add --layout columns if each column is a benchmark, or --layout rows (layout= in Python)"
        _refuse_cell(source, rows[0][0], what, fix)
    found = _columns(rows, rows[1:], source, mark, header=True, labelled=False)
    text = f"each column was taken as a benchmark: {listed}; --layout rows takes each row"
    return _Found(found.names, found.grid, found.dress, [Caution("columns-as-benchmarks", text)])


def _require_one_kind(source: str, body: _Rows, layout: Layout | None) -> None:
    """Refuse a list if a line holds several numbers."""
    several = next((row for row in body if len(row) > 1), None)
    if layout is None and several is not None and len(body[0]) == 1:
        text = " ".join(cell.text for cell in several)
        fix = "write one number a line, or add --layout rows if each line is a benchmark"
        _refuse_cell(source, several[0], f"{shown(text)} is not one number", fix)


def _columns(
    rows: _Rows, body: _Rows, source: str, mark: str, *, header: bool, labelled: bool
) -> _Found:
    cautions = []
    width = max(len(row) for row in rows)
    short = next((row for row in rows if not mark and len(row) != width), None)
    if short is not None:
        what = f"this line has {len(short)} cells, others have {width}"
        _refuse_cell(source, short[-1], what, "columns of unequal length need commas or tabs")
    names = list(rows[0]) if header else None
    # a short line has empty cells at its end
    full = [[*row, *[row[-1]._replace(text="")] * (width - len(row))] for row in body]
    grid = [list(column) for column in zip(*full, strict=True)]
    if labelled:
        if names is not None:
            cautions.append(_run_numbers_left_out(names[0]))
        grid, names = grid[1:], names[1:] if names is not None else None
    if not grid:
        what = f"there is no column of values next to {shown(body[0][0].text)}"
        _refuse_cell(source, body[0][0], what, "is this a number?")
    return _Found(names or _counted(len(grid)), grid, "matrix", cautions)


def _counted(count: int) -> list[PlacedText]:
    return [PlacedText(str(k + 1), 0, 0) for k in range(count)]


def _header(source: str, row: list[PlacedText]) -> bool:
    """Tell whether the first row holds headings; refuse one that is half numbers, half text."""
    rest = [cell for cell in row[1:] if cell.text]
    if row[0].text.lower() in _LABEL:
        return True
    words = [cell for cell in rest if not is_numeric(cell.text)]
    if not rest:
        return not is_numeric(row[0].text) and not _damaged(row[0].text)
    if not words:
        return False
    # A heading does not look like a mistyped number; a row of values does not hold one by intent.
    wrong = [cell for cell in words if _damaged(cell.text)]
    if wrong or len(words) < len(rest):
        cell = (wrong or words)[0]
        _refuse_cell(source, cell, f"{shown(cell.text)} is not a number")
    return True


def _damaged(text: str) -> bool:
    return text[:1] in set("0123456789+-.") or is_numeric(text.translate(_LETTERS_FOR_DIGITS))


def _samples(
    source: str, found: _Found, decimal: Decimal | None
) -> dict[str, list[tuple[PlacedText, float]]]:
    if len(found.grid) != len(found.names):
        what = f"there are {len(found.names)} names for {len(found.grid)} columns of values"
        raise AnalysisError(what, f"{source}:{found.names[0].line}")
    samples: dict[str, list[tuple[PlacedText, float]]] = {}
    for name, cells in zip(found.names, found.grid, strict=True):
        if not name.text:
            _refuse_cell(source, name, "a benchmark without a name")
        if name.text in samples:
            _refuse_cell(source, name, f"benchmark {shown(name.text)} stands here a second time")
        count = max((k + 1 for k, cell in enumerate(cells) if cell.text), default=0)
        if not count:
            what = f"benchmark {shown(name.text)} has no runs"
            _refuse_cell(source, name, what, "remove it, or measure it")
        samples[name.text] = [(cell, _value(source, cell, decimal)) for cell in cells[:count]]
    return samples


def _value(source: str, cell: PlacedText, decimal: Decimal | None) -> float:
    if not cell.text:
        what = "a run is missing here, and others follow"
        _refuse_cell(source, cell, what, "move the gap to the end")
    value = number_in(cell.text, decimal)
    if value is None:
        small = NUMBER.fullmatch(cell.text) is not None and decimal != "comma"
        what = "is too small for a number of 64 bits" if small else "is not a number"
        unsaid = decimal is None and "," in cell.text and is_numeric(cell.text.replace(",", ""))
        _refuse_cell(source, cell, f"{shown(cell.text)} {what}", SAY if unsaid else None)
    return value


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
    failed: dict[str, Any] | None = None
    cut: dict[str, int] | None = None
    metric: str | None = None
    origin: str | None = None


def read_table(path: Path, layout: Layout | None, decimal: Decimal | None = None) -> MatrixTable:
    """Read the samples of a file; see `table_in`."""
    if layout not in ("rows", "columns", None):
        raise UsageError(f"layout must be 'rows' or 'columns', not {layout!r}", str(path))
    if decimal not in ("comma", "point", None):
        raise UsageError(f"decimal must be 'comma' or 'point', not {decimal!r}", str(path))
    return table_in(utf8_text(path), str(path), layout, decimal, strict=False)


def utf8_text(path: Path) -> str:
    """Read a text file, with or without a mark at its beginning."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        what = f"the file is not UTF-8 text (byte {error.start})"
        raise AnalysisError(what, str(path), "save it as UTF-8") from None


def table_in(
    text: str,
    source: str,
    layout: Layout | None,
    decimal: Decimal | None,
    *,
    strict: bool = True,
) -> MatrixTable:
    """Give the samples in a text: JSON if it begins as such, else lines of numbers (`read_text`)."""
    if text.lstrip()[:1] in ("{", "["):
        return _read_json(source, text, layout or "rows")
    found = read_text(text, source, layout=layout, decimal=decimal, strict=strict)
    return MatrixTable(
        samples={
            bench: [_positive(source, cell, value) for cell, value in row]
            for bench, row in found.samples.items()
        },
        cautions=found.cautions,
    )


def _positive(source: str, cell: PlacedText, value: float | None, at: str = "") -> float:
    if value is None or not (math.isfinite(value) and value > 0):
        what = "a number" if value is None else "a positive finite number"
        _refuse_cell(source, cell, f"{at}{shown(cell.text)} is not {what}")
    return value


# ---- JSON


def _read_json(source: str, text: str, layout: str) -> MatrixTable:
    try:
        data = json.loads(text, object_pairs_hook=_unique(source), parse_int=_whole)
        # The k-th value of the document, in its order, stands where the k-th value token stands.
        located = _locate(data, _places(text))
    except json.JSONDecodeError as error:
        what = f"this is no JSON: {error.msg}"
        raise AnalysisError(what, f"{source}:{error.lineno}:{error.colno}") from None
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
        what = "this is not a matrix"
        raise AnalysisError(what, source, 'write {"benchmark": [run, run, ...], ...}')
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
                what = f"run {k} of {bench!r} is not the mean of its iterations"
                raise AnalysisError(what, source)
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
    """Take what `PerformanceMatrix.to_dict` writes in addition to the samples."""
    extra: dict[str, Any] = {}
    for key in ("name", "unit", "better", "metric", "origin"):
        extra[key] = data.get(key)
        if extra[key] is not None and not isinstance(extra[key], str):
            cell, what = located[key], f"{key!r} must be text"
            if isinstance(cell, PlacedText):
                _refuse_cell(source, cell, what)
            raise AnalysisError(what, source)
    for key in ("blocks", "sessions"):
        extra[key] = data.get(key)
        if extra[key] is not None and not _are_ids(extra[key]):
            what = f"{key!r} must be an object of lists of whole numbers, or of names"
            raise AnalysisError(what, source)
    if data.get("failed") is not None:
        extra["failed"] = _failures(data["failed"], data.get("sessions"), source)
    if isinstance(data.get("cut"), dict):
        extra["cut"] = data["cut"]
    texts, codes = (_texts(source, data, key) for key in ("cautions", "caution_codes"))
    codes += ["noted"] * (len(texts) - len(codes))  # files of the first version have texts only
    extra["cautions"] = tuple(map(Caution, codes, texts))
    return extra


def _failures(given: object, sessions: object, where: str) -> dict[str, Any]:
    """Read the failures of a matrix file; the ids of its sessions tell whether they are numbers."""
    rows = sessions.values() if isinstance(sessions, dict) else ()
    numbered = any(isinstance(one, int) for row in rows for one in row)

    def count(n: object) -> int:
        if type(n) is not int or n < 0:
            raise ValueError(n)
        return n

    try:
        if not isinstance(given, dict):
            raise TypeError(given)
        return {
            bench: {int(label) if numbered else label: count(n) for label, n in text.items()}
            if isinstance(text, dict)
            else count(text)
            for bench, text in given.items()
        }
    except (TypeError, ValueError):
        what = "'failed' must hold how many runs of each benchmark failed, or an object of how many in each session"
        raise AnalysisError(what, where) from None


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
    return [_locate(value, places) for value in data] if isinstance(data, list) else next(places)


def _json_value(source: str, cell: Any, bench: str) -> float:  # noqa: ANN401 - any JSON value
    if not isinstance(cell, PlacedText):
        raise AnalysisError(f"benchmark {bench!r} must be a flat list of numbers", source)
    return _positive(source, cell, number_in(cell.text), f"benchmark {bench!r}: ")


# --- A table with a row for each system, a column for each benchmark, and one value in each cell.


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsTable:
    """`values` holds one row for each of `systems`, with one number for each of `benchmarks`."""

    cautions: tuple[Caution, ...]
    systems: tuple[str, ...]
    benchmarks: tuple[str, ...]
    values: list[list[float]]


def read_systems(path: Path, decimal: Decimal | None = None) -> SystemsTable:
    """Read a ``.csv`` or ``.txt`` table with headings and a first column of names.

    Cells are separated by commas, semicolons, tabs or blanks, whichever the headings hold first in
    this order; lines that start with ``#`` are comments. The heading over the names may be missing.
    Where no comma separates, it is the decimal sign if it can be nothing else, or as `decimal` says.
    """
    source = str(path)
    if path.suffix.lower() not in (".csv", ".txt"):
        what = f"a table of systems ends in .csv or .txt, not in {path.suffix!r}"
        fix = "name two sources or more to compare matrix files, one for each system"
        raise UsageError(what, source, fix)
    lines = list(lines_of(utf8_text(path)))
    if len(lines) < 2:
        what = "a table of systems has a line of headings and a line for each system"
        raise AnalysisError(what, source)
    mark = next((sign for sign in ",;\t" if sign in lines[0][1]), "")
    heads, *rows = (cells_of(line, number, mark) for number, line in lines)
    _require_short(rows, source)
    heads = heads[1:] if len(heads) == len(rows[0]) else heads
    _require_names(source, heads, "the benchmark {} is in the headings twice", "a heading is empty")
    names = [row[0] for row in rows]
    _require_names(source, names, "the system {} stands here a second time", "a system has no name")
    for name, row in zip(names, rows, strict=True):
        if len(row) - 1 != len(heads):
            what = f"this line has {len(row) - 1} values for {len(heads)} benchmarks"
            fix = "give a name and one value for each benchmark"
            raise AnalysisError(what, f"{source}:{name.line}", fix)
    cells = [row[1:] for row in rows]
    sign = decimal if decimal is not None or mark == "," else _decimal_of(cells, source)
    cautions: tuple[Caution, ...] = ()
    if all(re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?", one.text) for one in heads):
        if not all(one.text.isdigit() for one in heads):
            what = "the first line holds measurements, and must name the benchmarks"
            fix = "add a line of headings; to compare matrix files, name two sources or more"
            raise AnalysisError(what, f"{source}:{lines[0][0]}", fix)
        text = f"the numbers of line {lines[0][0]} were taken as the benchmarks' names"
        cautions = (Caution("numbers-as-names", text),)
    values = []
    for row in cells:
        numbers = [number_in(cell.text, sign) for cell in row]
        for cell, value in zip(row, numbers, strict=True):
            if value is None or not math.isfinite(value):
                what = f"{cell.text!r} is not a finite number"
                fix = "leave the system or the benchmark out where it was not measured"
                _refuse_cell(source, cell, what if cell.text else "a value is missing", fix)
        values.append(cast("list[float]", numbers))
    return SystemsTable(
        systems=tuple(one.text for one in names),
        benchmarks=tuple(one.text for one in heads),
        values=values,
        cautions=cautions,
    )


def _require_names(source: str, names: Sequence[PlacedText], twice: str, empty: str) -> None:
    seen = set()
    for name in names:
        if not name.text or name.text in seen:
            what = twice.format(repr(name.text)) if name.text else empty
            raise AnalysisError(what, f"{source}:{name.line}", "give each a name of its own")
        seen.add(name.text)


def _decimal_of(grid: _Rows, source: str) -> Decimal | None:
    """Tell the decimal sign of cells that no comma separates: a comma only where it can be nothing else."""
    commas = commas_of(cell.text for row in grid for cell in row)
    if commas.decimal is None:
        cell = next(c for row in grid for c in row if c.text == commas.example)
        _refuse_cell(source, cell, f"{cell.text!r} may be {two_readings(cell.text)}", SAY)
    return "comma" if commas.decimal == "comma" else None
