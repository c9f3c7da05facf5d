"""A long CSV: a row for each value, columns that say which benchmark, variant, session and run.

The separator is a comma, a semicolon, a tab or a bar, whichever the line of headings has most. With a
semicolon or a tab the decimal comma is read too.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..columns import Mapping, mapped
from ..opening import Opened
from ..parsing import fail, value_of

__all__ = ["cells_of_groups", "knows", "read"]

_SEPARATORS = ",;\t|"
_FALSE = frozenset(("false", "0", "no", "failed", "fail", "error", "f", ""))
_GOOD = frozenset(("true", "1", "yes", "ok", "success", "0", "t", "passed", "pass"))


def knows(opened: Opened) -> bool:
    """Tell by headings of which one is a benchmark's and one a value's."""
    if opened.is_folder:
        return False
    line = next((one for one in opened.head().split("\n") if one.strip() and one[0] != "#"), "")
    if line.lstrip()[:1] in ("{", "[", "<") or not line:
        return False
    found = mapped(next(csv.reader([line], delimiter=_separator(line)), []))
    return found is not None and found.benchmark is not None


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric.

    Raises
    ------
    AnalysisError
        If a line has too few cells, or a value is no number; the message names the line.
    """
    text = opened.text()
    start = 0
    while text.startswith("#", start):
        start = text.find("\n", start) + 1 or len(text)
    first = text[start : text.find("\n", start) if "\n" in text[start:] else None]
    separator = _separator(first)
    reader = csv.reader(io.StringIO(text[start:]), delimiter=separator)
    headings = next(reader, [])
    found = mapped(headings)
    if found is None or found.benchmark is None:
        raise fail(
            opened,
            "no heading names a benchmark and a value",
            "name the columns benchmark, variant, session, run, value (or time_ms, ...)",
            at="1",
        )
    before = text.count("\n", 0, start)
    groups = _groups(opened, reader, len(headings), found, before)
    cells = tuple(cells_of_groups(opened, groups, found, headings, comma=separator in ";\t"))
    if not cells:
        raise fail(opened, "there is no row of values", "is the file whole?")
    return long_file(opened, "long-csv", found, headings, cells)


def long_file(
    opened: Opened,
    name: str,
    found: Mapping,
    headings: list[str],
    cells: tuple[ForeignCell, ...],
) -> ForeignFile:
    """Put together what a long table holds, and what it cannot tell."""
    losses = []
    if found.process is None:
        losses.append(
            Loss(
                code="processes-unknown",
                text="no column says which values stem from one process: each is taken as a run",
            )
        )
    if found.session is None:
        losses.append(
            Loss(code="no-sessions", text="no column says on which occasion a run was made")
        )
    if found.ok is None:
        losses.append(Loss(code="failed-unknown", text="no column says which runs failed"))
    return ForeignFile(
        format=name,
        source=opened.source,
        cells=cells,
        losses=tuple(losses),
        variant_rule="the file's name"
        if found.variant is None
        else f"the column {headings[found.variant]!r}",
    )


def _roles(found: Mapping) -> tuple[int | None, ...]:
    return (
        found.benchmark, found.variant, found.session, found.unit_column, found.metric_column,
        found.better_column, found.ok, found.warmup,
    )  # fmt: skip


def _groups(
    opened: Opened,
    reader: Any,  # noqa: ANN401 - csv gives its readers no public name
    width: int,
    found: Mapping,
    before: int,
) -> dict[tuple[str, ...], list[list[str]]]:
    """Collect the rows of each cell: one lookup a row."""
    places = [place for place in _roles(found) if place is not None]
    key_of = itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    try:
        for row in reader:
            if len(row) != width:
                if not row:
                    continue
                raise fail(
                    opened,
                    f"the line has {len(row)} cells, the headings {width}",
                    "is the file cut off, or a text not in quotes?",
                    at=f"{before + reader.line_num}",
                )
            key = key_of(row)
            mine = groups.get(key)
            if mine is None:
                groups[key] = [row]
            else:
                mine.append(row)
    except csv.Error as error:
        raise fail(
            opened, f"it is no CSV: {error}", "is a quote open?", at=f"{before + reader.line_num}"
        ) from None
    return groups


def cells_of_groups(
    opened: Opened,
    groups: dict[tuple[str, ...], list[list[str]]],
    found: Mapping,
    headings: list[str],
    *,
    comma: bool = False,
) -> Iterator[ForeignCell]:
    """Give the cells of a long table's rows, grouped by what tells cells apart."""
    merged: dict[tuple[str, ...], dict[str, Any]] = {}
    for key, rows in groups.items():
        given = iter(key)
        bench, variant, session, unit, metric, better, ok, warmup = (
            None if place is None else next(given) for place in _roles(found)
        )
        cell = merged.setdefault(
            (bench or "", variant or "", session or "", unit or "", metric or "", better or ""),
            {"rows": [], "failed": 0, "warmups": 0},
        )
        if warmup is not None and warmup.strip().lower() not in _FALSE:
            cell["warmups"] += len(rows)
        elif ok is not None and _failed(headings[found.ok or 0], ok):
            cell["failed"] += _runs(rows, found)
        else:
            cell["rows"] += rows
    for (bench, variant, session, unit, metric, better), cell in merged.items():
        for place, name, in_heading in found.values:
            factor, base, direction = found.unit_of(unit, in_heading)
            values = _floats(
                opened, [row[place] for row in cell["rows"]], name, factor, comma=comma
            )
            yield ForeignCell(
                benchmark=bench,
                variant=variant or None,
                metric=metric or name,
                unit=base,
                better=_better(headings, found, better) or direction,
                processes=_processes(values, cell["rows"], found),
                known=found.process is not None,
                warmups=cell["warmups"] if found.warmup is not None else None,
                failed=cell["failed"] if found.ok is not None else None,
                session=session or None,
                keys=_keys(headings, found, cell["rows"], bench, variant),
            )


def _runs(rows: list[list[str]], found: Mapping) -> int:
    """Count runs: rows, but where iterations have a column of their own the processes."""
    if found.process is None or found.iteration is None:
        return len(rows)
    return len({row[found.process] for row in rows})


def _failed(heading: str, text: str) -> bool:
    plain, heading = text.strip().lower(), heading.strip().lower()
    if heading in ("exit_code", "returncode"):
        return plain not in ("0", "")
    if heading == "failed":
        return plain not in _FALSE
    if heading in ("ok", "success"):  # 0 is no exit code there
        return plain in _FALSE or plain not in _GOOD
    return plain not in _GOOD


def _floats(
    opened: Opened, texts: list[str], name: str, factor: float, *, comma: bool
) -> list[float]:
    if comma:
        texts = [text.replace(",", ".") for text in texts]
    try:
        values = list(map(float, texts))
    except ValueError:
        values = []
        for k, text in enumerate(texts, 1):
            try:
                values.append(float(text))
            except ValueError:
                raise fail(
                    opened, f"{text!r} is no number", "mend it, or take the row out",
                    at=f"column {name!r}, value {k}",
                ) from None  # fmt: skip
    low, high = min(values, default=0.0), max(values, default=0.0)
    if not (low >= 0 and high < float("inf")) or any(value != value for value in values):  # noqa: PLR0124 - nan
        for k, value in enumerate(values, 1):
            value_of(opened, value, f"column {name!r}, value {k}")
    return values if factor == 1.0 else [value * factor for value in values]


def _processes(
    values: list[float], rows: list[list[str]], found: Mapping
) -> tuple[tuple[float, ...], ...]:
    if found.process is None or not values:
        return (tuple(values),) if values else ()
    grouped: dict[str, list[float]] = {}
    place = found.process
    for row, value in zip(rows, values, strict=True):
        grouped.setdefault(row[place], []).append(value)
    return tuple(map(tuple, grouped.values()))


def _better(headings: list[str], found: Mapping, text: str) -> Better | None:
    if found.better_column is None:
        return None
    plain = text.strip().lower()
    heading = headings[found.better_column].strip().lower()
    if plain in ("lower", "higher"):
        return "lower" if plain == "lower" else "higher"
    if plain not in ("true", "false", "1", "0", "yes", "no"):
        return None
    true = plain in ("true", "1", "yes")
    return "lower" if true == heading.startswith("lower") else "higher"


def _keys(
    headings: list[str], found: Mapping, rows: list[list[str]], bench: str, variant: str
) -> dict[str, str]:
    """Give what is the same in all rows of the cell."""
    keys = {}
    if found.benchmark is not None:
        keys[headings[found.benchmark]] = bench
    if found.variant is not None:
        keys[headings[found.variant]] = variant
    for place in found.rest:
        if rows and all(row[place] == rows[0][place] for row in rows):
            keys[headings[place]] = rows[0][place]
    return keys


def _separator(line: str) -> str:
    return max(_SEPARATORS, key=line.count)
