"""Long tables: decimal signs, units, hosts, and columns that nobody reads.

Authority: the numbers written into the files; a factor of 1000 was a confident wrong verdict.
"""

from __future__ import annotations

import csv
import io
import json

import pytest

from analysis.data.opening import Opened
from analysis.errors import AnalysisError, UsageError
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.registry import read_foreign


def opened(text: str | bytes, **options: str) -> Opened:
    data = text.encode() if isinstance(text, str) else text
    return Opened(source="x", name="x", path=None, data=data, **options)  # type: ignore[arg-type]


def values(text: str, **options: str) -> list[float]:
    return [v for cell in read_foreign(opened(text, **options)).cells for v in cell.values]


def notes(text: str) -> dict[str, str]:
    return {note.code: note.text for note in read_foreign(opened(text)).notes}


THOUSANDS = "benchmark\tvariant\trun\ttime_ms\n" + "".join(
    f"x\tnew\t{r}\t99{r}\nx\told\t{r}\t1,00{r}\n" for r in range(10)
)


@pytest.mark.parametrize("separator", "\t;|")
def test_groups_of_thousands_are_no_decimal_commas(separator: str) -> None:
    text = THOUSANDS.replace("\t", separator)
    with pytest.raises(AnalysisError) as told:
        read_foreign(opened(text))
    assert str(told.value).startswith("x:3: '1,000' in the column 'time_ms' may be 1.000 ")
    assert "or 1000 (--decimal point)" in str(told.value)
    assert max(values(text, decimal="point")) == 1.009
    assert min(values(text, decimal="comma")) == 0.001


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["12,5", "13,25", "1,001"], [12.5, 13.25, 1.001]),
        (["0,123", "0,456"], [0.123, 0.456]),
        (["1234,567", "1,5e3"], [1234.567, 1500]),
        (["1,5", "2"], [1.5, 2]),
    ],
)
def test_a_comma_that_groups_nothing_is_the_decimal_sign(
    cells: list[str], found: list[float]
) -> None:
    text = "benchmark;run;value\n" + "".join(f"x;{k};{one}\n" for k, one in enumerate(cells))
    assert values(text) == found
    with pytest.raises(AnalysisError, match=r"is no number|may be"):
        values(text, decimal="point")


@pytest.mark.parametrize(
    "cell", ["1_000", "١٢", "1e-400", '"1.234,5"', "1 234", '"1,5"', "0x10", "1\u00a0234", "1e999"]
)
def test_what_is_no_plain_number_is_refused_with_its_line(cell: str) -> None:
    with pytest.raises(AnalysisError, match=r"^x:3: .*(no number|too small|finite)"):
        values(f"benchmark,run,value\nx,1,1.5\nx,2,{cell}\n")


def test_a_point_beside_a_stated_decimal_comma_is_refused() -> None:
    text = "benchmark;run;value\nx;1;1.234\nx;2;2\n"
    assert values(text) == [1.234, 2]
    with pytest.raises(AnalysisError, match="no number"):
        values(text, decimal="comma")


@pytest.mark.parametrize("heading", ["unit", "units", "time_unit", "Time Unit", "timeUnit"])
def test_each_row_has_its_own_unit(heading: str) -> None:
    text = f"name,value,{heading}\nx,12,ns\nx,13,us\nx,14,ns\ny,1,ms\n"
    found = read_foreign(opened(text))
    assert {cell.unit for cell in found.cells} == {"s"}
    assert sorted(v for cell in found.cells for v in cell.values) == [12e-9, 14e-9, 13e-6, 1e-3]
    gathered = gather([found], ReadingChoices())
    assert gathered.metrics == ("value",)


def test_words_that_may_be_something_else_are_no_units() -> None:
    """NAS classes, aggregates, days."""
    for cells in ("B", "min", "day", "s"):
        assert values(f"name,value,class\nx,12,{cells}\nx,13,{cells}\n") == [12, 13]


GOOGLE = {
    "benchmarks": [
        {"name": name, "run_name": base, "run_type": kind, "iterations": 10, "real_time": t,
         "cpu_time": t, "time_unit": unit, **more}
        for name, base, kind, t, unit, more in (
            ("A", "A", "iteration", 12.0, "ns", {}),
            ("A", "A", "iteration", 13.0, "ns", {}),
            ("A_mean", "A", "aggregate", 12.5, "ns", {"aggregate_name": "mean"}),
            ("M", "M", "iteration", 15.0, "ms", {}),
            ("E", "E", "iteration", 0.0, "ns", {"error_occurred": True, "error_message": "no"}),
        )
    ]
}  # fmt: skip


@pytest.mark.parametrize("index", [False, True])
def test_google_benchmarks_json_as_a_table_is_google_benchmarks(index: bool) -> None:
    """As ``pandas.DataFrame(json["benchmarks"]).to_csv(...)`` writes it."""
    rows = GOOGLE["benchmarks"]
    heads = list(dict.fromkeys(key for row in rows for key in row))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([""] * index + heads)
    for k, row in enumerate(rows):
        writer.writerow([k] * index + [row.get(key, "") for key in heads])
    table, whole = (read_foreign(opened(text)) for text in (out.getvalue(), json.dumps(GOOGLE)))
    assert table.format == whole.format == "google-benchmark"
    assert [(c.benchmark, c.metric, c.unit, c.values, c.failed) for c in table.cells] == [
        (c.benchmark, c.metric, c.unit, c.values, c.failed) for c in whole.cells
    ]
    assert {cell.benchmark: cell.values for cell in table.cells}["M"] == (0.015,)


@pytest.mark.parametrize("heading", ["host", "hostname", "machine", "Node"])
def test_runs_of_several_hosts_are_said(heading: str) -> None:
    text = f"benchmark,run,time_ms,{heading}\nx,1,5,a\nx,2,6,b\n"
    assert "names 2 hosts (a, b)" in notes(text)["several-hosts"]
    assert "several-hosts" not in notes(text.replace(",b\n", ",a\n"))


def test_each_host_of_pyperf_is_an_occasion() -> None:
    runs = [{"values": [1.0 + k], "metadata": {"hostname": f"h{k % 2}"}} for k in range(4)]
    bench = {"metadata": {"name": "b", "unit": "second"}, "runs": runs}
    found = read_foreign(opened(json.dumps({"version": "1.0", "benchmarks": [bench]})))
    assert [note.code for note in found.notes] == ["several-hosts"]
    assert [(c.session, c.values) for c in found.cells] == [("h0", (1.0, 3.0)), ("h1", (2.0, 4.0))]
    assert "no-sessions" not in {one.code for one in found.losses}
    for run in runs:
        run["metadata"] = {"hostname": "h0"}
    found = read_foreign(opened(json.dumps({"version": "1.0", "benchmarks": [bench]})))
    assert (found.notes, [cell.session for cell in found.cells]) == ((), [None])


def test_names_that_differ_in_blanks_only_are_said() -> None:
    text = "benchmark,run,time_ms\nx y,1,5\n x  y,2,6\n"
    found = gather([read_foreign(opened(text))], ReadingChoices())
    assert [c.text for c in found.cautions if c.code == "names-alike"] == [
        "'x y' and 'x  y' differ in blanks only, and are taken for two"
    ]


def test_files_of_several_hosts_are_said() -> None:
    def of(host: str, value: float) -> Opened:
        bench = {"name": "A", "real_time": value, "cpu_time": value, "iterations": 1}
        data = json.dumps({"context": {"host_name": host}, "benchmarks": [bench]}).encode()
        return Opened(source=f"{value}", name="x", path=None, data=data)

    first = read_foreign(of("a", 1.5))
    for other, said in (("a", False), ("b", True)):
        gathered = gather([first, read_foreign(of(other, 2.5))], ReadingChoices())
        assert ("several-hosts" in {one.code for one in gathered.cautions}) == said


def test_numbers_of_json_that_no_float_holds_are_refused() -> None:
    def results(time: str) -> Opened:
        return opened('{"results": [{"command": "a", "times": [1.0, ' + time + "]}]}")

    for time in ("1e-400", f"0.{'0' * 400}1"):
        with pytest.raises(AnalysisError, match="too small for a number of 64 bits"):
            read_foreign(results(time), "hyperfine")
    (cell,) = read_foreign(results("1e-300")).cells
    assert cell.values == (1.0, 1e-300)
    (cell,) = read_foreign(results("0.0e-400")).cells
    assert cell.values == (1.0, 0.0)


def test_a_go_line_with_commas_is_told_not_dropped() -> None:
    text = "goos: linux\nBenchmarkA-8 100 {} ns/op\nBenchmarkB-8 100 1234 ns/op\nPASS\n"
    for number in ("1,234", "1,234,567", "12,5", "1,234.5"):
        with pytest.raises(AnalysisError, match=rf"^x:2: '{number}' is not a number as"):
            read_foreign(opened(text.format(number)))
    assert len(read_foreign(opened(text.format("1234"))).cells) == 2
    # what a program prints is no result
    print_of_its_own = text.format("1234").replace("PASS", "took 1,234 steps\nPASS")
    assert len(read_foreign(opened(print_of_its_own)).cells) == 2


def test_an_empty_data_base_is_refused_in_words() -> None:
    for data, said in ((b"", "it is empty"), (b"CREATE TABLE", "begins otherwise")):
        with pytest.raises(AnalysisError, match=f"not a complete database: .*{said}"):
            read_foreign(opened(data), "sqlite")


def test_benchexec_runs_without_columns_are_told_as_such() -> None:
    empty = '<?xml version="1.0"?><result tool="t" benchmarkname="b">{}</result>'
    with pytest.raises(AnalysisError, match="no run in the file has a measured column"):
        read_foreign(opened(empty.format('<run name="a.c"/>')), "benchexec")
    with pytest.raises(AnalysisError, match="there is no run in the file"):
        read_foreign(opened(empty.format("")), "benchexec")


def test_names_of_sample_files_are_cut_in_messages(tmp_path) -> None:
    path = tmp_path / "c.csv"
    path.write_text(f"Name,Sample1,Sample2,ConfLevel,Coef\na,{'9' * 100_000},y,,\n")
    with pytest.raises(UsageError, match="cannot be read") as told:
        read_foreign(Opened(source=str(path), name="c", path=path, data=path.read_bytes()))
    assert len(str(told.value)) < 600
