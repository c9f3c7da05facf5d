"""Tables of numbers and levels: what each cell becomes is written out here by hand."""

import datetime
import decimal
import gzip
import sys

import numpy as np
import pytest

from analysis.errors import AnalysisError, FairtrialError, UsageError
from analysis.methods.variance_sources import mixed_table as mixed_files
from analysis.methods.variance_sources.mixed_table import MixedTable, mixed_table, read_mixed_table


def read(tmp_path, text: str | bytes, name: str = "t.csv") -> MixedTable:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_mixed_table(str(path))


def cells(table: MixedTable, name: str) -> list[str]:
    return [table.columns[name].text(row) for row in range(table.rows)]


def test_numbers_levels_and_unknown_cells(tmp_path):
    table = read(tmp_path, "score,os,cache\n1.5,Linux,NA\n,Windows,2\nnan,,3e1\n")
    assert list(table.columns) == ["score", "os", "cache"]
    assert [c.numeric for c in table.columns.values()] == [True, False, True]
    assert cells(table, "score") == ["1.5", "", ""]
    assert cells(table, "os") == ["Linux", "Windows", ""]
    assert cells(table, "cache") == ["", "2", "30"]
    assert table.columns["os"].levels == ("Linux", "Windows")


def test_a_column_of_levels_keeps_what_may_mean_something(tmp_path):
    table = read(tmp_path, "a,b\nNone,1\nNA,2\nNAND,3\n")
    assert cells(table, "a") == ["None", "NA", "NAND"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b\n1,5;x\n2;y\n", ["1.5", "2"]),
        ("a\tb\n1.5\tx\n2\ty\n", ["1.5", "2"]),
        ("\ufeffa,b\r\n1.5,x\r\n2,y\r\n", ["1.5", "2"]),
        ('a,b\n1.5,"x, y"\n\n2,"z"\n', ["1.5", "2"]),
    ],
)
def test_separators_decimal_commas_marks_and_quotes(tmp_path, text, expected):
    assert cells(read(tmp_path, text), "a") == expected


def test_packed_files_and_their_lines(tmp_path):
    table = read(tmp_path, gzip.compress(b"a,b\n1,x\n2,y\n"), "t.csv.gz")
    assert table.place(1).endswith("t.csv.gz:3")


def test_texts_among_numbers_are_told_with_their_line(tmp_path):
    text = "a,b\n" + "".join(f"{k},x{k % 2}\n" for k in range(19)) + "none yet,x1\n"
    table = read(tmp_path, text)
    (caution,) = table.cautions
    assert (caution.code, caution.about) == ("numbers-as-levels", ("a",))
    assert "'none yet' (line 21)" in caution.text


def test_underscores_and_infinities_are_no_numbers(tmp_path):
    table = read(tmp_path, "a,b\n1_000,inf\n2,3\n")
    assert not table.columns["a"].numeric
    assert not table.columns["b"].numeric


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("a,b\n", "headings and no rows"),
        ("a\n1\n", "one heading only"),
        ("a,b\n1,2\n1\n", "1 cells, and there are 2 headings"),
        ("a,\n1,2\n", "the heading of column 2 is empty"),
        ("a,a\n1,2\n", "stands there 2 times"),
        ('a,b\n1,"x\n', "it is no CSV"),
        (b"PAR1 and nothing more", "it is no Parquet file"),
        (b"a,b\n\xff\xfe\x81\x8d,1\n", "not text"),
    ],
)
def test_what_is_no_table_is_refused_in_our_words(tmp_path, text, said):
    with pytest.raises(AnalysisError, match=said):
        read(tmp_path, text)


def test_more_cells_than_memory_holds_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(mixed_files, "MOST_CELLS", 5)
    assert read(tmp_path, "a,b\n1,2\n3,4\n").rows == 2
    with pytest.raises(AnalysisError, match="more than 5 cells"):
        read(tmp_path, "a,b\n1,2\n3,4\n5,6\n")


def test_folders_and_missing_files(tmp_path):
    with pytest.raises(UsageError, match="a folder"):
        read_mixed_table(str(tmp_path))
    with pytest.raises(UsageError, match="cannot be read"):
        read_mixed_table(str(tmp_path / "none.csv"))


def test_parquet_is_read_by_its_types(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    day = datetime.date(1970, 1, 11)
    table = pyarrow.table(
        {
            "score": [1.5, None, 2.0],
            "cores": pyarrow.array([4, 8, None], pyarrow.int16()),
            "price": [decimal.Decimal("1.25"), None, decimal.Decimal(3)],
            "turbo": [True, False, None],
            "when": [day, None, day],
            "os": pyarrow.array(["a", "b", None]).dictionary_encode(),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    found = read_mixed_table(str(tmp_path / "t.parquet"))
    assert {name: cells(found, name) for name in found.columns} == {
        "score": ["1.5", "", "2"],
        "cores": ["4", "8", ""],
        "price": ["1.25", "", "3"],
        "turbo": ["true", "false", ""],
        "when": ["10", "", "10"],
        "os": ["a", "b", ""],
    }
    assert [c.numeric for c in found.columns.values()] == [True, True, True, False, True, False]


def test_without_pyarrow_the_line_that_installs_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="pyarrow") as caught:
        read(tmp_path, b"PAR1....")
    assert "pip install 'fairtrial[parquet]'" in str(caught.value)


def test_what_a_program_holds():
    found = mixed_table(
        {
            "a": np.array([1.0, np.nan, 3.0]),
            "b": np.array([1, 2, 3]),
            "c": [True, None, False],
            "d": ["x", 2, None],
            "e": (1, None, 2.5),
            "f": np.array(["2020-01-01", "NaT", "2020-01-03"], "datetime64[D]"),
        }
    )
    assert {name: cells(found, name) for name in "abcd"} == {
        "a": ["1", "", "3"],
        "b": ["1", "2", "3"],
        "c": ["true", "", "false"],
        "d": ["x", "2", ""],
    }
    assert cells(found, "f")[2] == "18264"
    assert mixed_table(found) is found


def test_what_has_items_and_lists_as_a_data_frame_has():
    class Series:
        def __init__(self, cells):
            self.cells = cells

        def tolist(self):
            return self.cells

    class Frame:
        def items(self):
            return [("a", Series([1.0, float("nan")])), ("b", Series(["x", None]))]

    found = mixed_table(Frame())
    assert [cells(found, "a"), cells(found, "b")] == [["1", ""], ["x", ""]]


@pytest.mark.parametrize(
    "table",
    [
        *(None, 3, "text", [1, 2], dict, {}, {"a": 3}, {1: [1]}, {"a": [1], "b": [1, 2]}),
        *({"a": "text"}, {"a": [float("inf")]}, {"a": [10**400]}),
    ],
)
def test_what_is_no_table_of_a_program(table):
    with pytest.raises(FairtrialError):
        mixed_table(table)


def test_an_unknown_column_names_the_nearest():
    table = mixed_table({"Baseline": [1.0], "OS": ["x"]})
    with pytest.raises(UsageError) as caught:
        table.column("baselin", "the response")
    assert "did you mean 'Baseline'?" in str(caught.value)


def test_parquet_that_says_too_much_is_refused_before_it_is_read(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"a": [1] * 300, "b": [2] * 300}), tmp_path / "t.parquet")
    monkeypatch.setattr("analysis.methods.variance_sources.mixed_table.MOST_CELLS", 500)
    monkeypatch.setattr(parquet.ParquetFile, "read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(AnalysisError, match="more than 500 cells"):
        read_mixed_table(str(tmp_path / "t.parquet"))


def test_a_column_that_may_be_read_in_two_ways_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    for mark in (";", "\t"):
        path.write_text(f"score{mark}name\n1,234{mark}a\n999{mark}b\n")
        with pytest.raises(AnalysisError, match=r"'1,234' in the column 'score' may be 1\.234"):
            read_mixed_table(str(path))
        for said, first in (("point", 1234.0), ("comma", 1.234)):
            values = read_mixed_table(str(path), said).columns["score"].values
            assert values.tolist() == [first, 999.0]
        path.write_text(f"score{mark}name\n1,5{mark}1,234\n999{mark}b\n")
        table = read_mixed_table(str(path))
        assert table.columns["score"].values.tolist() == [1.5, 999.0]
        assert table.columns["name"].levels == ("1,234", "b")  # texts
