"""Tables for other tools: long CSV, JSON, Parquet and SQLite with a row for each value, and wide CSV."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from ...errors import library_needed
from ...pages.model import Caution
from .losses import Written, kept_apart, lost, names_lost, one_variant, renamed

if TYPE_CHECKING:
    from .export_data import ExportedData

HEADINGS = (
    "benchmark", "variant", "session", "block", "run", "iteration", "metric", "value", "unit",
    "better", "ok", "warmup",
)  # fmt: skip

Row = tuple[
    str, str, int | str | None, int | None, int, int, str, float | None, str, str, bool, bool
]


def rows_of(exported: ExportedData) -> Iterator[Row]:
    """Give the rows, sample by sample.

    A failed run without values has one row for each metric, with the value None.
    """
    for sample in exported.samples:
        for run in sample.runs:
            for metric in exported.metrics:
                values: tuple[float | None, ...] = run.values.get(metric.name, ())
                if not values and not run.ok:
                    values = (None,)
                for k, value in enumerate(values, 1):
                    yield (
                        sample.benchmark,
                        sample.variant,
                        run.session,
                        run.block,
                        run.number,
                        k,
                        metric.name,
                        value,
                        metric.unit,
                        metric.better,
                        run.ok,
                        run.warmup,
                    )


def write_long_csv(exported: ExportedData) -> Written:
    """Make the file: UTF-8, one newline a row, numbers with every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADINGS)
    said = {True: "true", False: "false"}
    for row in rows_of(exported):
        writer.writerow((*row[:-2], said[row[-2]], said[row[-1]]))
    return Written(data=out.getvalue().encode())


def write_json(exported: ExportedData) -> Written:
    """Make the file: one object a line."""
    lines = (
        json.dumps(dict(zip(HEADINGS, row, strict=True)), allow_nan=False, ensure_ascii=False)
        for row in rows_of(exported)
    )
    return Written(data=("[\n" + ",\n".join(lines) + "\n]\n").encode())


def write_parquet(exported: ExportedData) -> Written:
    """Make the file."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        fix = "pip install 'fairtrial[parquet]', or write --to sqlite or long-csv"
        raise library_needed("writing Parquet", "pyarrow", error, fix=fix) from None
    kinds = (
        pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.string(),
        pa.float64(), pa.string(), pa.string(), pa.bool_(), pa.bool_(),
    )  # fmt: skip
    columns = [list(column) for column in zip(*rows_of(exported), strict=True)]
    place = HEADINGS.index("session")
    columns[place] = [None if one is None else str(one) for one in columns[place]]
    table = pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)],
        names=list(HEADINGS),
    )
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    return Written(data=sink.getvalue().to_pybytes())


_KINDS = (
    "TEXT NOT NULL", "TEXT NOT NULL", "TEXT", "INTEGER", "INTEGER NOT NULL", "INTEGER NOT NULL",
    "TEXT NOT NULL", "REAL", "TEXT NOT NULL", "TEXT NOT NULL", "INTEGER NOT NULL", "INTEGER NOT NULL",
)  # fmt: skip


def write_sqlite(exported: ExportedData) -> Written:
    """Make the file; ``ok`` and ``warmup`` are 0 or 1."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(HEADINGS, _KINDS, strict=True))
    marks = ", ".join("?" * len(HEADINGS))
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE runs ({columns})")
        base.executemany(f"INSERT INTO runs VALUES ({marks})", rows_of(exported))  # noqa: S608 - marks only
        base.commit()
        return Written(data=base.serialize())


def write_wide_csv(exported: ExportedData) -> Written:
    """Make the file; rows of fewer runs end in empty cells."""
    one_variant(exported, "a wide CSV")
    metric = exported.metrics[0]
    names = renamed(exported.benchmarks, _name, exported.name)
    table = [
        (names[sample.benchmark], kept_apart(processes))
        for sample in exported.samples
        if (processes := sample.processes(metric.name))
    ]
    most = max(len(values) for _, values in table)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("benchmark", *(f"run{k}" for k in range(1, most + 1))))
    quoting = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    for name, values in table:
        row = (name, *values, *[""] * (most - len(values)))
        (quoting if name.startswith("#") else writer).writerow(row)  # no comment
    text = (
        f"unit ({metric.unit or 'none'}), direction ({metric.better}) and the name {metric.name!r}"
    )
    return Written(
        data=out.getvalue().encode(),
        lost=(
            *lost(exported, metric.name, metrics=(metric.name,)),
            *names_lost("in which blanks around them, and empty ones, are not kept", names),
            Caution("units-lost", text),
        ),
    )


def _name(name: str) -> str:
    return name.strip().strip('"').strip() or "unnamed"
