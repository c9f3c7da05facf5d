"""Tables of systems: what is read, and what is refused with its place."""

import pytest

from analysis.data.matrix_file import read_systems
from analysis.errors import AnalysisError, UsageError


@pytest.fixture
def write(tmp_path):
    def write(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "machine,a,b\nm 1,1,2\nm 2,3,4.5\n",
        "a,b\nm 1,1,2\nm 2,3,4.5\n",  # no heading over the names
        "\ufeffmachine;a;b\n# a comment\n\nm 1;1;2\nm 2; 3 ;4.5\n",
        'machine\ta\tb\r\n"m 1"\t1\t2\r\nm 2\t3\t4.5e0\r\n',
    ],
)
def test_forms(write, text):
    table = read_systems(write(text))
    assert table.systems == ("m 1", "m 2")
    assert table.benchmarks == ("a", "b")
    assert table.values == [[1.0, 2.0], [3.0, 4.5]]
    assert table.cautions == ()


def test_blanks(write):
    table = read_systems(write("machine a b\nm1 1 2\nm2 3 4\n", "t.txt"))
    assert (table.systems, table.benchmarks) == (("m1", "m2"), ("a", "b"))


def test_numbers_as_names(write):
    table = read_systems(write("machine,100,200\nm1,1,2\n"))
    assert table.benchmarks == ("100", "200")
    assert [caution.code for caution in table.cautions] == ["numbers-as-names"]
    assert "the numbers of line 1 were taken" in table.cautions[0]


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("", "", "a line of headings"),
        ("machine,a\n", "", "a line of headings"),
        ("m1,1.5,2\nm2,3,4\n", ":1", "holds measurements"),
        ("machine,a,a\nm1,1,2\n", ":1", "'a' is in the headings twice"),
        ("machine,a,\nm1,1,2\n", ":1", "a heading is empty"),
        ("machine,a,b\nm1,1,2\nm2,3\n", ":3", "1 values for 2 benchmarks"),
        ("machine,a,b\nm1,1,2\nm1,3,4\n", ":3", "'m1' stands here a second time"),
        ("machine,a,b\nm1,1,2\n\nm2,3,\n", ":4:6", "a value is missing"),
        ("machine,a,b\nm1,1,x2\n", ":2:6", "'x2' is not a finite number"),
        ("machine,a,b\nm1,1,nan\n", ":2:6", "'nan' is not a finite number"),
    ],
)
def test_faults_are_placed(write, text, where, words):
    with pytest.raises(AnalysisError, match=words) as error:
        read_systems(write(text))
    assert error.value.where.endswith(f"t.csv{where}")


def test_files_that_cannot_be_read(write, tmp_path):
    with pytest.raises(UsageError, match=r"ends in \.csv or \.txt"):
        read_systems(write("{}", "t.json"))
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_systems(tmp_path / "none.csv")
    path = tmp_path / "latin.csv"
    path.write_bytes(b"machine,\xe9\nm1,1\n")
    with pytest.raises(AnalysisError, match="not UTF-8"):
        read_systems(path)


def test_a_cell_that_no_reader_holds_is_an_error_with_its_line(write):
    # the attacks on 0.1.0, B7
    path = write("machine,a\nm 1," + "1" * 140_000 + "\n")
    with pytest.raises(AnalysisError, match="a cell has 140,000 characters") as error:
        read_systems(path)
    assert error.value.where == f"{path}:2"


def test_decimal_commas_are_read_where_something_else_separates(tmp_path):
    path = tmp_path / "t.csv"
    for mark in (";", "\t", " "):
        path.write_text(mark.join("sbc") + "\n" + mark.join(("one", "1,5", "2")) + "\n")
        assert read_systems(path).values == [[1.5, 2.0]]
        path.write_text(mark.join("sbc") + "\n" + mark.join(("one", "1,234", "999")) + "\n")
        with pytest.raises(AnalysisError, match=r"'1,234' may be 1\.234 .* or 1234"):
            read_systems(path)
        assert read_systems(path, "point").values == [[1234.0, 999.0]]
        assert read_systems(path, "comma").values == [[1.234, 999.0]]
    path.write_text("s,b\none,1_000\n")
    with pytest.raises(AnalysisError, match="is not a finite number"):
        read_systems(path)
