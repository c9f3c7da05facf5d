"""ReBench's data: values by hand from the sample; other layouts as its versions write them.

The layouts are those of rebench/persistence.py and rebench/model/measurement.py of versions 1.0 to 1.4.
"""

from __future__ import annotations

import json

import pytest

from analysis.errors import AnalysisError

HEADINGS = (
    "invocation\titeration\tvalue\tunit\tcriterion\tbenchmark\texecutor\tsuite\textraArgs\tcores\t"
    "inputSize\tvarValue\ttag\tmachine\trunId\n"
)


def row(invocation, iteration, value, run=0, *, executor="Shell", unit="ms", criterion="total"):
    return (
        f"{invocation}\t{iteration}\t{value}\t{unit}\t{criterion}\tSort\t{executor}\tSmall\t\t1\t\t\t\t"
        f"\t{run}\n"
    )


def seconds(cell) -> list[list[float]]:
    return [[round(value, 12) for value in process] for process in cell.processes]


def test_run_ids_that_interleave_keep_their_invocations(foreign) -> None:
    rows = "".join(row(k, 1, 10 * k, "ab".index(r), executor=r) for k in (1, 2) for r in "ab")
    file = foreign(HEADINGS + rows, "r.data")
    assert {c.variant: seconds(c) for c in file.cells} == {
        "a": [[0.01], [0.02]],
        "b": [[0.01], [0.02]],
    }
    assert {c.benchmark for c in file.cells} == {"Sort"}
    assert file.cells[0].session is None


def test_a_second_execution_under_the_same_headings_is_another_session(foreign) -> None:
    one = row(1, 1, 10) + row(2, 1, 20)
    file = foreign("# Execution Start: T1\n" + HEADINGS + one + row(1, 1, 30), "r.data")
    assert [(c.session, seconds(c)) for c in file.cells] == [
        ("T1, execution 1", [[0.01], [0.02]]),
        ("T1, execution 2", [[0.03]]),
    ]
    start = "#!rebench -c r.conf\n# Execution Start: T2\n"
    again = foreign(f"# Execution Start: T1\n{HEADINGS}{one}{start}{HEADINGS}{row(1, 1, 5)}", "r")
    assert [c.session for c in again.cells] == ["T1, execution 1", "T2, execution 2"]


def test_warm_up_iterations_are_left_out_where_the_file_says_how_many(foreign) -> None:
    bench = {"name": "Sort", "runDetails": {"warmup": 2}, "suite": {"name": "Small"}}
    text = (
        f"{HEADINGS}# benchmark: 0={json.dumps(bench)}\n# run_id: 0="
        f"{json.dumps({'cmdline': 'x', 'benchmark_id': 0})}\n"
        + "".join(row(i, j, 10 * i + j) for i in (1, 2) for j in (1, 2, 3, 4))
    )
    file = foreign(text, "r.data")
    assert seconds(file.cells[0]) == [[0.013, 0.014], [0.023, 0.024]]
    assert file.cells[0].warmups == 4
    assert "warm-ups-unknown" not in {loss.code for loss in file.losses}


@pytest.mark.parametrize("more", ["", "\tm1", "\ttag\tm1"])
def test_files_of_earlier_versions_have_no_headings(foreign, more) -> None:
    line = "{}\t1\t{}.000000\tms\ttotal\tSort\tShell\tSmall\t\t1\t\t" + more + "\n"
    text = (
        "#!/usr/bin/rebench r.conf\n# Execution Start: T1\n" + line.format(1, 5) + line.format(2, 6)
    )
    file = foreign(text, "r.data")
    assert [seconds(c) for c in file.cells] == [[[0.005], [0.006]]]
    assert file.cells[0].keys.get("machine") == ("m1" if more else None)
    old = foreign(text.replace("# Execution Start: T1\n", ""), "r.data")
    assert old.cells[0].session is None


def test_what_differs_between_executors_only_does_not_part_a_benchmark(foreign) -> None:
    rows = row(1, 1, 5, 0, executor="a") + row(1, 1, 6, 1, executor="b").replace("Small", "Big")
    file = foreign(HEADINGS + rows, "r.data")
    assert [(c.benchmark, c.variant) for c in file.cells] == [("Sort", "a"), ("Sort", "b")]


def test_a_total_that_is_no_time_keeps_its_unit(foreign) -> None:
    cell = foreign(HEADINGS + row(1, 1, 5, unit="ops/s"), "r.data").cells[0]
    assert (cell.metric, cell.unit, cell.better) == ("total", "ops/s", None)
    rows = row(1, 1, 5, unit="ms") + row(2, 1, 0.006, unit="s") + row(3, 1, 7, unit="")
    cells = foreign(HEADINGS + rows, "r.data").cells
    assert [(c.unit, c.values) for c in cells] == [("s", (0.005, 0.006)), ("", (7.0,))]


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        (HEADINGS + row(1, 1, 5) + "2\t1\t6.0", "cut off", ":3"),
        (HEADINGS + row(1, 1, "nan"), "not a finite number", ":2"),
        (HEADINGS + row(1, 1, "-2"), "negative", ":2"),
        (HEADINGS + row("x", 1, 2), "not the number of an invocation", ":2"),
        (HEADINGS + row(1, 1, "abc"), "no number", ":2"),
        ("# Execution Start: T\n1\t2\t3\n", "no line of headings", ":2"),
        (HEADINGS + "# run_id: 0={\n" + row(1, 1, 2), "no JSON", ":2"),
        (HEADINGS, "no measurement", ""),
        ("# Execution Start: T\ninvocation\tnumIterations\tbenchmark\n", "profiles", ":2"),
    ],
)
def test_damage_is_an_error_with_its_line(foreign, text, said, line) -> None:
    with pytest.raises(AnalysisError, match=said) as told:
        foreign(text, "r.data")
    assert f"r.data{line}" in str(told.value)


def test_invocations_keep_their_numbers(foreign) -> None:
    """The second one has no memory: the third one's is not taken for its own."""
    rows = [row(k, 1, 10 * k) for k in (1, 2, 3)]
    rss = [row(k, 1, k, unit="KB", criterion="MaxRSS") for k in (1, 3)]
    time, memory = foreign(HEADINGS + rows[0] + rss[0] + rows[1] + rows[2] + rss[1], "r.data").cells
    assert (time.labels, memory.labels) == (("1", "2", "3"), ("1", "3"))
    assert memory.values == (1024.0, 3072.0)
