"""Small files that say they are large, and data bases whose rows stand elsewhere.

Authority: what was written into them by their own libraries.
"""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from contextlib import closing

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.registry import read_foreign

CREATE = "CREATE TABLE runs(benchmark TEXT, variant TEXT, value REAL)"
ROWS = "INSERT INTO runs VALUES ('a', 'x', 1.5), ('a', 'y', 2.5)"


def base(path, *statements, close=True):
    made = sqlite3.connect(path)
    for statement in statements:
        made.execute(statement)
    made.commit()
    if close:
        made.close()
    return made


def read(path):
    return read_foreign(open_foreign(str(path)))


def values(file):
    return [(one.benchmark, one.variant, one.values) for one in file.cells]


def test_a_data_base_with_a_journal_of_its_own_is_read(tmp_path):
    """Authority: SQLite's file format: byte 18 is 2 where the journal is a write-ahead log."""
    base(tmp_path / "w.db", "PRAGMA journal_mode=WAL", CREATE, ROWS)
    assert (tmp_path / "w.db").read_bytes()[18:20] == b"\x02\x02"
    assert values(read(tmp_path / "w.db")) == [("a", "x", (1.5,)), ("a", "y", (2.5,))]


def test_rows_that_stand_in_the_journal_only_are_not_left_out_silently(tmp_path):
    made = base(tmp_path / "w.db", "PRAGMA journal_mode=WAL", CREATE, ROWS, close=False)
    with closing(made), pytest.raises(AnalysisError, match=r"last changes are in w\.db-wal"):
        read(tmp_path / "w.db")
    # the control: its program has ended, and the rows are in the file
    assert len(values(read(tmp_path / "w.db"))) == 2


def test_a_crashed_change_is_not_read(tmp_path):
    base(tmp_path / "j.db", CREATE, ROWS)
    (tmp_path / "j.db-journal").write_bytes(b"half of it")
    with pytest.raises(AnalysisError, match=r"last changes are in j\.db-journal"):
        read(tmp_path / "j.db")
    shutil.move(tmp_path / "j.db", tmp_path / "k.db")
    assert len(values(read(tmp_path / "k.db"))) == 2


@pytest.mark.parametrize(
    ("column", "told"),
    [("TEXT AS (hex(zeroblob(40000000)))", "too big"), ("TEXT AS (hex(zeroblob(20000000)))", "comp")],
)  # fmt: skip
def test_computed_columns_fill_no_memory(tmp_path, column, told):
    base(tmp_path / "c.db", f"CREATE TABLE runs(benchmark TEXT, value REAL, c {column})",
         "INSERT INTO runs(benchmark, value) VALUES ('a', 1), ('b', 2)")  # fmt: skip
    with pytest.raises(AnalysisError, match=told):
        read(tmp_path / "c.db")


def test_the_table_of_runs_is_found_in_any_case_and_bytes_are_texts(tmp_path):
    base(
        tmp_path / "u.db",
        "CREATE TABLE meta(x)",
        "CREATE TABLE RUNS(benchmark, value REAL)",
        "INSERT INTO RUNS VALUES (x'61', 1.5), (x'ff', 2.5)",
    )
    assert values(read(tmp_path / "u.db")) == [("a", None, (1.5,)), ("\\xff", None, (2.5,))]


@pytest.fixture
def parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def write(**columns):
        # without pyarrow's own schema: texts are texts, as other writers leave them
        path = tmp_path / "t.parquet"
        parquet.write_table(pyarrow.table(columns), path, compression="zstd", store_schema=False)
        return path

    return write


def repeated(text, count):
    """Give a column of one text, without making each of them."""
    import pyarrow

    codes = pyarrow.array([0] * count, pyarrow.int32())
    return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array([text]))


def test_a_few_bytes_of_parquet_are_not_billions_of_rows(parquet):
    import pyarrow

    count = 2_000_000
    path = parquet(benchmark=repeated("a", count), value=pyarrow.array([1.0] * count))
    with pytest.raises(AnalysisError, match="2,000,000 rows of 2 columns in"):
        read(path)


def test_a_long_text_in_many_rows_is_kept_once(parquet):
    names = repeated("n" * 100_000, 50_000)  # 5 GB, if each row had its own
    path = parquet(benchmark=names, value=[float(k) for k in range(50_000)])
    (cell,) = read(path).cells
    assert (len(cell.benchmark), len(cell.values)) == (100_000, 50_000)


def test_parquet_of_older_writers_holds_texts_as_bytes(parquet):
    assert values(read(parquet(benchmark=[b"a", b"a", b"\xff"], value=["1.5", "2", "3"]))) == [
        ("a", None, (1.5, 2.0)),
        ("\\xff", None, (3.0,)),
    ]


def test_two_columns_of_one_name_are_two_benchmarks_and_no_traceback(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = [pyarrow.array(["a", "a"]), pyarrow.array([1.0, 2.0]), pyarrow.array([3.0, 4.0])]
    table = pyarrow.table(columns, names=["benchmark", "value", "value"])
    parquet.write_table(table, tmp_path / "d.parquet")
    assert [one.values for one in read(tmp_path / "d.parquet").cells] == [(1.0, 2.0), (3.0, 4.0)]


def test_what_is_packed_two_hundred_times_is_refused_and_less_is_not(tmp_path):
    line = b"a,1\n"
    for count, fits in ((4 * 1024**2 - 100, True), (6 * 1024**2, False)):
        path = tmp_path / f"{count}.csv.gz"
        path.write_bytes(gzip.compress(b"benchmark,value\n" + line * count, mtime=0))
        if fits:
            assert len(open_foreign(str(path)).data) == len(line) * count + 16
        else:
            with pytest.raises(AnalysisError, match="more than 16 MiB, over 200 times its packed"):
                open_foreign(str(path))


def test_a_row_that_no_reader_of_csv_takes_is_named(tmp_path):
    """The fast way takes it; the slow one, which looks for the line of a mistake, does not."""
    long = "x" * 200_000
    (tmp_path / "l.csv").write_text(f"benchmark,value,note\na,1,{long}\na,-1,n\n")
    with pytest.raises(AnalysisError, match=r"l\.csv:2.*field larger"):
        read(tmp_path / "l.csv")
