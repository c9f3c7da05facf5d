"""Long tables: the sample by hand; CSV with quotes, CSV without and Parquet say the same."""

from __future__ import annotations

import csv
import io
import random

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.registry import read_foreign

HEADINGS = ["benchmark", "variant", "session", "process", "ok", "warmup", "host", "time_ms"]


def rows_of(seed: int, count: int = 60) -> list[list[str]]:
    rng = random.Random(seed)
    return [
        [
            rng.choice("ab"), rng.choice(("v1", "v2")), rng.choice("12"), rng.choice("345"),
            rng.choice(("true", "true", "false")), rng.choice(("0", "0", "yes")),
            rng.choice(("h", "h", "g")), f"{rng.random():.6f}",
        ]
        for _ in range(count)
    ]  # fmt: skip


def text_of(rows: list[list[str]], **how) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", **how)
    writer.writerows([HEADINGS, *rows])
    return out.getvalue()


def expected(rows: list[list[str]]) -> dict:
    """Group the rows one by one, as a person would."""
    found: dict = {}
    for bench, variant, session, process, ok, warmup, host, value in rows:
        key = (bench, variant, f"{host} / {session}")  # a session of two hosts is two
        cell = found.setdefault(key, {"p": {}, "failed": 0, "warmups": 0})
        if warmup == "yes":
            cell["warmups"] += 1
        elif ok == "false":
            cell["failed"] += 1
        else:
            cell["p"].setdefault(process, []).append(round(float(value) / 1000, 12))
    return found


def given(file) -> dict:
    return {
        (c.benchmark, c.variant, c.session): {
            "p": [[round(value, 12) for value in process] for process in c.processes],
            "failed": c.failed,
            "warmups": c.warmups,
        }
        for c in file.cells
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("how", [{}, {"quoting": csv.QUOTE_ALL}, {"delimiter": ";"}])
def test_cells_are_those_of_a_loop_over_the_rows(foreign, seed, how) -> None:
    rows = rows_of(seed)
    file = foreign(text_of(rows, **how), "r.csv")
    wanted = {key: cell | {"p": list(cell["p"].values())} for key, cell in expected(rows).items()}
    assert given(file) == wanted
    assert list(given(file)) == list(wanted)  # in the order of their first rows
    assert file.variant_rule == "the column 'variant'"


@pytest.mark.parametrize("seed", range(3))
def test_parquet_says_the_same(foreign, tmp_path, seed) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = rows_of(seed)
    columns = dict(zip(HEADINGS, map(list, zip(*rows, strict=True)), strict=True))
    columns["time_ms"] = [float(value) for value in columns["time_ms"]]
    columns["session"] = [int(value) for value in columns["session"]]
    parquet.write_table(pyarrow.table(columns), tmp_path / "r.parquet")
    file = read_foreign(open_foreign(str(tmp_path / "r.parquet")))
    plain = foreign(text_of(rows), "r.csv")
    assert given(file) == given(plain)
    assert [(c.keys, c.labels) for c in file.cells] == [(c.keys, c.labels) for c in plain.cells]
    assert file.format == "parquet"


def test_parquet_of_categories_nulls_and_texts(tmp_path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table(
        {
            "benchmark": pyarrow.array(["a", "a", "b"]).dictionary_encode(),
            "variant": pyarrow.array(["x", "x", None]),
            "value": pyarrow.array(["1.5", "2.5", "3"]),
            "ok": pyarrow.array([True, True, False]),
        }
    )
    parquet.write_table(table, tmp_path / "r.parquet")
    cells = read_foreign(open_foreign(str(tmp_path / "r.parquet"))).cells
    assert [(c.benchmark, c.variant, c.values, c.failed) for c in cells] == [
        ("a", "x", (1.5, 2.5), 0),
        ("b", None, (), 1),
    ]
    some = table.set_column(2, "value", pyarrow.array([1.0, None, 2.0]))
    parquet.write_table(some, tmp_path / "some.parquet")
    found = read_foreign(open_foreign(str(tmp_path / "some.parquet")))
    assert [c.values for c in found.cells] == [(1.0,), ()]
    assert "values-missing" in {note.code for note in found.notes}
    bad = table.set_column(2, "value", pyarrow.array([1.0, float("nan"), 2.0]))
    parquet.write_table(bad, tmp_path / "bad.parquet")
    with pytest.raises(AnalysisError, match="finite") as told:
        read_foreign(open_foreign(str(tmp_path / "bad.parquet")))
    assert "row 2" in str(told.value)


def test_keys_are_what_all_rows_of_a_cell_share(foreign) -> None:
    text = "load,benchmark,value\n1,a,1\n1,a,2\n1,b,1\n2,b,2\n"
    first, second = foreign(text, "r.csv").cells
    assert first.keys == {"benchmark": "a", "load": "1"}
    assert second.keys == {"benchmark": "b"}


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a,1,2", "3 cells, the headings 2"),
        ("a", "1 cells, the headings 2"),
        ("a,x", "no number"),
        ("a,nan", "not a finite number"),
        ("a,inf", "not a finite number"),
        ("a,-1", "negative"),
    ],
)
def test_damage_is_an_error_with_its_line(foreign, line, said, quote) -> None:
    text = f"# made by hand\nbenchmark,value\n{quote}a{quote},1\n\na,2\n{line}\na,3\n"
    with pytest.raises(AnalysisError, match=said) as told:
        foreign(text, "r.csv")
    assert "r.csv:6" in str(told.value)


def test_a_million_characters_in_many_parts(foreign) -> None:
    rows = rows_of(9, 20_000)
    found = {key: cell["p"] for key, cell in given(foreign(text_of(rows), "r.csv")).items()}
    assert found == {key: list(cell["p"].values()) for key, cell in expected(rows).items()}


def test_processes_keep_their_names(foreign) -> None:
    """The second process has no memory: its time is not joined with the third one's."""
    text = (
        "run,benchmark,metric,value,unit\n7,a,time,1,s\n8,a,time,2,s\n9,a,time,3,s\n"
        "9,a,rss,30,B\n7,a,rss,10,B\n"
    )
    assert [(c.metric, c.labels, c.values) for c in foreign(text, "r.csv").cells] == [
        ("time", ("7", "8", "9"), (1.0, 2.0, 3.0)),
        ("rss", ("9", "7"), (30.0, 10.0)),
    ]
    quoted = "\n".join(",".join(f'"{x}"' for x in row.split(",")) for row in text.split("\n")[:-1])
    assert [c.labels for c in foreign(quoted, "r.csv").cells] == [("7", "8", "9"), ("9", "7")]


@pytest.mark.parametrize("rows", ["y,1,1 x,1,2 y,2,3", "y,10,3 x,1,2 y,9,1", "y,4,1 x,1,2 y,4,3"])
def test_processes_that_come_back_keep_names_and_the_order_of_iterations(foreign, rows) -> None:
    text = "\n".join(["benchmark,fork,iteration,value", *(f"a,{row}" for row in rows.split())])
    (cell,) = foreign(text, "r.csv").cells
    assert (cell.labels, cell.processes) == (("y", "x"), ((1.0, 3.0), (2.0,)))
    assert foreign("benchmark,value\na,1\n", "r.csv").cells[0].labels is None


def test_a_failed_run_needs_no_unit_of_its_own(foreign) -> None:
    """Its row leaves unit and value empty: it was a metric of its own, without unit."""
    text = (
        "benchmark,variant,metric,value,unit,ok\na,x,time,,,0\na,x,time,1,s,1\na,x,rss,9,B,1\n"
        "a,x,rss,,,0\na,y,time,,,0\na,x,,,,0\n"
    )
    cells = foreign(text, "r.csv").cells
    assert [(c.variant, c.metric, c.unit, c.values, c.failed) for c in cells] == [
        ("x", "time", "s", (1.0,), 2),
        ("x", "rss", "B", (9.0,), 1),
        ("y", "time", "s", (), 1),  # as others have it
    ]
