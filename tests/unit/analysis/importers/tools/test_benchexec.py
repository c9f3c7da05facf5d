"""BenchExec: values by hand from the sample; layouts as benchexec and its table-generator write them.

The layouts are those of BenchExec's DTD (result-3.12) and of the tables in its integration tests.
"""

from __future__ import annotations

import bz2

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.registry import read_foreign

DOCTYPE = (
    "<!DOCTYPE result PUBLIC '+//IDN sosy-lab.org//DTD BenchExec result 3.12//EN' "
    "'https://www.sosy-lab.org/benchexec/result-3.12.dtd'>\n"
)


def run(name: str, status: str = "true", category: str | None = "correct", **more: str) -> str:
    values = {"walltime": "1.5s", "cputime": "1.25s", "memory": "4096B"} | more
    columns = {"status": status} | values | ({"category": category} if category else {})
    inside = "".join(f'<column title="{t}" value="{v}"/>' for t, v in columns.items())
    return f'<run name="{name}">{inside}</run>'


def result(*runs: str, head: str = DOCTYPE, more: str = "") -> str:
    return (
        f'<?xml version="1.0"?>\n{head}<result benchmarkname="b" tool="T" version="1" name="set" '
        f'starttime="2026-01-02T03:04:05+00:00" {more}>{"".join(runs)}</result>'
    )


@pytest.mark.parametrize(
    ("status", "category", "failed"),
    [
        ("true", "correct", 0),
        ("false(reach)", "wrong", 0),
        ("unknown", "unknown", 0),
        ("done", "missing", 0),
        ("TIMEOUT", "error", 1),
        ("TIMEOUT", None, 1),
        ("OUT OF MEMORY", None, 1),
        ("ERROR (2)", None, 1),
        ("KILLED BY SIGNAL 9", None, 1),
        ("true", None, 0),
    ],
)
def test_the_status_is_read_before_the_time(foreign, status, category, failed) -> None:
    file = foreign(result(run("a", status, category)), "r.xml")
    assert [(c.failed, c.values) for c in file.cells] == (
        [(1, ())] * 3 if failed else [(0, (1.5,)), (0, (1.25,)), (0, (4096.0,))]
    )


def test_a_packed_file_and_a_folder(tmp_path) -> None:
    for k in (1, 2):
        text = result(run("a", walltime=f"{k}.5s"), run("b")).replace("03:04", f"0{k}:04")
        (tmp_path / f"r{k}.xml.bz2").write_bytes(bz2.compress(text.encode()))
    (tmp_path / "notes.xml").write_text("<notes/>")
    (tmp_path / "damaged.xml.bz2").write_bytes(b"BZh91AY&SY")
    one = read_foreign(open_foreign(str(tmp_path / "r1.xml.bz2")))
    assert [c.variant for c in one.cells] == ["r1"] * 6
    whole = read_foreign(open_foreign(str(tmp_path)))
    assert [(c.benchmark, c.variant) for c in whole.cells if c.metric == "walltime"] == [
        ("a", "r1"), ("b", "r1"), ("a", "r2"), ("b", "r2"),
    ]  # fmt: skip
    again = gather([whole], ReadingChoices(variant="tool"))
    assert again.variants == ("T",)
    assert len({one.occasion for one in again.cells}) == 2  # each execution is a session
    assert again.benchmarks == ("a", "b")


def test_one_task_for_several_properties_is_told_apart(foreign) -> None:
    runs = [
        run("a").replace("<run ", '<run properties="safe" '),
        run("a").replace("<run ", '<run properties="term" '),
    ]
    file = foreign(result(*runs), "r.xml")
    assert {c.benchmark for c in file.cells} == {"a safe", "a term"}
    assert file.cells[0].keys["task"] == "a"


def test_memory_of_earlier_versions(foreign) -> None:
    text = result(run("a").replace('title="memory" value="4096B"', 'title="memUsage" value="4096"'))
    cell = foreign(text, "r.xml").cells[2]
    assert (cell.metric, cell.unit, cell.values) == ("memory", "B", (4096.0,))


TABLE = (
    "tool\t\tA 1\tA 1\tA 1\tB 2\tB 2\n"
    "run set\t\tx\tx\ty\tx\tx\n"
    "tests/\t\tstatus\twalltime (s)\twalltime (s)\tstatus\tcputime (ms)\n"
)


def test_a_table_of_several_tools_and_run_sets_with_labels(foreign) -> None:
    file = foreign(
        TABLE + "a.c\treach\ttrue\t1.5\t2.5\tTIMEOUT\t9\nb.c\t\ttrue\t3\t\t\t\n", "t.csv"
    )
    assert [(c.benchmark, c.variant, c.metric, c.values, c.failed) for c in file.cells] == [
        ("a.c reach", "A 1 x", "walltime", (1.5,), 0),
        ("a.c reach", "A 1 y", "walltime", (2.5,), 0),
        ("a.c reach", "B 2 x", "walltime", (), 1),
        ("a.c reach", "B 2 x", "cputime", (), 1),
        ("b.c", "A 1 x", "walltime", (3.0,), 0),
    ]
    assert file.variant_rule == "the tool and the run set"


@pytest.mark.parametrize(
    ("row", "values"),
    [
        ("a.c\treach\ttrue\t1.5\t2.5\ttrue\t9", [1.5, 2.5, 0.009]),
        ("a.c\treach\ttrue\t1.5\t2.5\ttrue", [1.5, 2.5]),
        ("a.c\treach\ttrue\t1.5\t2.5", [1.5, 2.5]),
        ("a.c\treach\ttrue\t1.5", [1.5]),
        ("a.c\treach\ttrue", []),
        ("a.c\treach", []),
        ("a.c", []),
        ("a.c\treach\t\t\t2.5", [2.5]),
    ],
)
@pytest.mark.parametrize("after", ["", "b.c\t\ttrue\t8\n"])
def test_empty_cells_at_the_end_of_a_row_may_be_left_out(foreign, row, values, after) -> None:
    """As table-generator writes tasks that the last run sets lack."""
    full = "z.c\t\ttrue\t7\t\t\t\n"
    file = foreign(f"{TABLE}{full}{row}\n{after}", "t.csv")
    found = [
        cell.values[0] for cell in file.cells if cell.benchmark.startswith("a.c") and cell.values
    ]
    assert found == pytest.approx(values, rel=1e-15)
    assert len(file.cells) == 1 + len(values) + (after != "")


def test_files_of_one_tool_and_run_set_in_a_table_are_repetitions(foreign) -> None:
    text = "tool\tT\tT\tT\tT\nrun set\ts\ts\ts\ts\n\tstatus\twalltime (s)\tstatus\twalltime (s)\n"
    file = foreign(text + "a\ttrue\t1\ttrue\t2\n", "t.csv")
    assert [(c.variant, c.session, c.values) for c in file.cells] == [
        ("T", "result 1", (1.0,)),
        ("T", "result 2", (2.0,)),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (result(run("a"), head='<!DOCTYPE r [<!ENTITY x "y">]>\n'), "refused"),
        (result(run("a"), head="<!DOCTYPE r [<!ELEMENT x ANY>]>\n"), "refused"),
        (result(run("a"))[:-30], "cut off"),
        (result(run("a", walltime="fast")), "not a quantity"),
        (result(run("a", walltime="-1s")), "negative"),
        (result(run("")), "no name"),
        (result("<run/>"), "no name"),
        (result(), "no format|no run"),
        (TABLE + "a.c\t\ttrue", "cut off"),
        (TABLE + "a.c\t\ttrue\t1\t2\ttrue\t3\t4\n", "more cells"),
    ],
)
def test_damage_is_an_error_with_its_place(foreign, text, said) -> None:
    with pytest.raises(AnalysisError, match=said) as told:
        foreign(text, "r.xml", format="benchexec")
    assert "r.xml" in str(told.value)


def test_a_doctype_is_passed_over(foreign) -> None:
    assert foreign(result(run("a"), head=DOCTYPE), "r.xml").cells
    assert foreign(result(run("a"), head=""), "r.xml").cells
