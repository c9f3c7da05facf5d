"""Long tables in JSON and SQLite. Authority: the values written into them."""

from __future__ import annotations

import json
import sqlite3

import pytest

from analysis.data.opening import Opened
from analysis.errors import AnalysisError
from analysis.importers.registry import read_foreign

ROW = {"benchmark": "b", "variant": "v", "run": 1, "time_ms": 2.5, "ok": True}


def opened(data):
    return Opened(source="x", name="x", path=None, data=data)


def read(data):
    return read_foreign(opened(data))


def as_json(*rows):
    return json.dumps(rows).encode()


def base(*statements):
    one = sqlite3.connect(":memory:")
    for statement in statements:
        one.execute(statement)
    one.commit()
    data = one.serialize()
    one.close()
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (as_json(ROW, {"benchmark": "b"}), "row 2"),
        (as_json(ROW, 3), r"\[1\]"),
        (as_json(ROW, ROW | {"run": [3]}), r"\[1\]"),
        (as_json(ROW, ROW | {"time_ms": -1}), "negative"),
        (as_json(ROW, ROW | {"time_ms": "x"}), "no number"),
        (as_json(ROW, ROW)[:-2], "cut off"),
    ],
)
def test_damaged_objects_are_refused_with_their_place(data, said):
    with pytest.raises(AnalysisError, match=said):
        read(data)


def test_the_only_table_is_read_and_views_are_not():
    (cell,) = read(
        base(
            "CREATE TABLE anything (benchmark TEXT, value REAL, session INTEGER)",
            "INSERT INTO anything VALUES ('b', 1.5, 1), ('b', 2.5, 1)",
            "CREATE VIEW runs AS SELECT * FROM anything",
        )
    ).cells
    assert (cell.values, cell.session) == ((1.5, 2.5), "1")


def test_of_several_tables_the_one_called_runs_is_read():
    two = ("CREATE TABLE a (x)", "CREATE TABLE b (x)")
    with pytest.raises(AnalysisError, match="2 tables"):
        read(base(*two))
    rows = ("CREATE TABLE runs (benchmark, value)", "INSERT INTO runs VALUES ('b', 1)")
    assert read(base(*two, *rows)).cells[0].values == (1.0,)


def test_a_damaged_data_base_is_refused():
    data = base(
        "CREATE TABLE runs (benchmark, value)",
        "INSERT INTO runs VALUES " + ",".join(["('b', 1)"] * 3000),
    )
    for part in (data[:100], data[:5000], data[:4096] + b"\xff" * (len(data) - 4096)):
        with pytest.raises(AnalysisError):
            read(part)
    with pytest.raises(AnalysisError, match="no heading names a value: x holds numbers"):
        read(base("CREATE TABLE runs (x)", "INSERT INTO runs VALUES (1)"))
    with pytest.raises(AnalysisError, match="no rows"):
        read(base("CREATE TABLE runs (benchmark, value)"))
