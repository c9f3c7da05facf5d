"""``go test -bench``: values by hand from the samples; layouts as the testing package prints them.

The format is golang.org/design/14313-benchmark-format; lines written here are in its layout.
"""

from __future__ import annotations

import json

import pytest

from analysis.errors import AnalysisError

HEAD = "goos: linux\ngoarch: amd64\npkg: example.org/p\ncpu: AMD EPYC\n"
END = "PASS\nok  \texample.org/p\t1.717s\n"


def found(file) -> dict:
    """Give the values of each cell, times in nanoseconds."""
    return {
        (cell.benchmark, cell.metric): [
            [round(value * 1e9, 6) if cell.unit == "s" else value for value in process]
            for process in cell.processes
        ]
        for cell in file.cells
    }


def test_own_units_and_configuration_lines_as_in_the_go_projects_nightly_runs(foreign) -> None:
    line = "BenchmarkBuild_x 1 {} build-real-ns/op 2 build-user-ns/op\n"
    head = "toolchain: Base\nbuilder_type: Xeon*12\ngoos: linux\ngoarch: amd64\n"
    first = foreign(head + line.format("8.5e+09") + line.format(8750000000), "r.txt").cells[0]
    assert (first.benchmark, first.metric) == ("BenchmarkBuild_x", "build-real-ns/op")
    assert first.values == pytest.approx((8.5, 8.75), rel=1e-12)
    assert (first.unit, first.better, first.known) == ("s", "lower", False)
    assert (first.keys["toolchain"], first.keys["builder_type"]) == ("Base", "Xeon*12")


ONE = HEAD + "BenchmarkX-8\t 10\t 1 ns/op\n" + END
READ = {
    "endings that -cpu gives are kept": (
        HEAD + "BenchmarkX\t 10\t 0 ns/op\nBenchmarkX-2\t 10\t 1 ns/op\nBenchmarkX-4\t 10\t 2 ns/op\n" + END,
        {"BenchmarkX": [[0]], "BenchmarkX-2": [[1]], "BenchmarkX-4": [[2]]},
    ),
    "GOMAXPROCS is 1: no name has its ending, and -9 is a parameter": (
        "BenchmarkLevel-9\t 10\t 5 ns/op\nBenchmarkOther\t 10\t 6 ns/op\n",
        {"BenchmarkLevel-9": [[5]], "BenchmarkOther": [[6]]},
    ),
    "packages of one name are separated": (
        ONE + ONE.replace("example.org/p", "example.org/q").replace("1 ns", "2 ns"),
        {"example.org/p.BenchmarkX": [[1]], "example.org/q.BenchmarkX": [[2]]},
    ),
    "seconds as benchstat writes them, and zero": (
        "BenchmarkX 1 2e-06 sec/op\nBenchmarkY 1 0 ns/op\n", {"BenchmarkX": [[2000]], "BenchmarkY": [[0]]},
    ),
    "a first result behind a long log": ("starting\n" * 20_000 + "BenchmarkX 1 5 ns/op\n", {"BenchmarkX": [[5]]}),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_times_by_name(foreign, name) -> None:
    text, times = READ[name]
    assert found(foreign(text, "r.txt")) == {(one, "time"): of for one, of in times.items()}


BAD = "--- FAIL: BenchmarkX-8\n    x_test.go:5: no\n"
FAILED = {
    "each benchmark, and none above its part": (
        f"{HEAD}BenchmarkGood-8\t 10\t 5 ns/op\n{2 * BAD}--- FAIL: BenchmarkTop/sub-8\n"
        "--- FAIL: BenchmarkTop\nFAIL\nexit status 1\nFAIL\texample.org/p\t0.1s\n",
        [("BenchmarkGood", None, 1, 0), ("BenchmarkX", None, 0, 2), ("BenchmarkTop/sub", None, 0, 1)],
    ),
    # it was counted for every commit; of one without any result there was nothing
    "of its commit": (
        f"commit: aaa\n{ONE}commit: bbb\n{HEAD}BenchmarkX-8\t 10\t 2 ns/op\n{BAD}{END}commit: ccc\n{HEAD}{2 * BAD}{END}",
        [("BenchmarkX", "aaa", 1, 0), ("BenchmarkX", "bbb", 1, 1), ("BenchmarkX", "ccc", 0, 2)],
    ),
    "of its package": (
        f"{ONE}{HEAD.replace('/p', '/q')}{BAD}FAIL\n",
        [("example.org/p.BenchmarkX", None, 1, 0), ("example.org/q.BenchmarkX", None, 0, 1)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILED)
def test_failures_are_counted(foreign, name) -> None:
    text, told = FAILED[name]
    file = foreign(text, "r.txt")
    assert [(c.benchmark, c.variant, len(c.values), c.failed) for c in file.cells] == told
    assert [note.code for note in file.notes] == ["failed-benchmarks"]
    assert file.cells[-1].keys.get("commit") == file.cells[-1].variant


def test_each_head_begins_a_process(foreign) -> None:
    line = "BenchmarkX-8\t 10\t {} ns/op\n"
    file = foreign("".join(HEAD + line.format(k) * 2 + END for k in (1, 2, 3)), "r.txt")
    assert found(file) == {("BenchmarkX", "time"): [[1, 1], [2, 2], [3, 3]]}
    assert file.cells[0].known
    assert "one-process" not in {loss.code for loss in file.losses}


def test_without_a_head_or_an_end_processes_are_unknown(foreign) -> None:
    file = foreign("BenchmarkX-8\t 10\t 1 ns/op\nBenchmarkX-8\t 10\t 2 ns/op\n", "r.txt")
    assert not file.cells[0].known
    assert file.cells[0].failed is None
    assert "processes-unknown" in {loss.code for loss in file.losses}
    ended = foreign("BenchmarkX-8\t 10\t 1 ns/op\nPASS\n", "r.txt")
    assert ended.cells[0].known


def test_a_machines_lines_without_a_package_are_no_process(foreign) -> None:
    """A file that was put together of several, such as those of golang.org/x/benchmarks."""
    file = foreign("goos: linux\ngoarch: amd64\nBenchmarkX 1 5 ns/op\nBenchmarkX 1 6 ns/op\n", "r")
    assert not file.cells[0].known


def test_commits_are_variants(foreign) -> None:
    text = "".join(
        f"commit: {name}\ncommit-time: 2026-01-0{k}T00:00:00Z\n{HEAD}"
        f"BenchmarkX-8\t 10\t {k} ns/op\nBenchmarkX-8\t 10\t {k}.5 ns/op\n{END}"
        for k, name in ((1, "aaa"), (2, "bbb"))
    )
    file = foreign(text, "r.txt")
    assert file.variant_rule == "the commit"
    assert {cell.variant: [round(v * 1e9, 6) for v in cell.values] for cell in file.cells} == {
        "aaa": [1, 1.5],
        "bbb": [2, 2.5],
    }
    assert file.cells[0].keys["commit-time"] == "2026-01-01T00:00:00Z"


def test_toolchains_are_variants_where_there_are_several(foreign) -> None:
    text = "toolchain: base\nBenchmarkX 1 5 ns/op\ntoolchain: tip\nBenchmarkX 1 6 ns/op\n"
    file = foreign(text, "r.txt")
    assert [cell.variant for cell in file.cells] == ["base", "tip"]
    assert file.variant_rule == "the toolchain"


@pytest.mark.parametrize(
    "text",
    [
        # the program prints a line, half a line, and a name between name and numbers
        "BenchmarkX-8   \thello\n  1000\t 12 ns/op\t 3 B/op\n",
        "BenchmarkX-8   \tBenchmarkY is next\nmore\n  1000\t 12 ns/op\t 3 B/op\n",
        "BenchmarkX-8   \thello 7 times      1000\t 12 ns/op\t 3 B/op\n",
        "BenchmarkX-8   \tstep=5    1000\t 12 ns/op\t 3 B/op\n",
        # a print without a newline before the name
        "hello BenchmarkX-8 \t 1000\t 12 ns/op\t 3 B/op\n",
        # numbers of the program's own
        "BenchmarkX-8   \t\n 5 6 apples\n  1000\t 12 ns/op\t 3 B/op\n",
        # -v
        "=== RUN   BenchmarkX\nBenchmarkX\nBenchmarkX-8 \t 1000\t 12 ns/op\t 3 B/op\n",
        "BenchmarkX-8 \t 1000\t 12 ns/op\t 3 B/op\n--- BENCH: BenchmarkX-8\n    x_test.go:9: 10 3 ns/op\n",
        # time stamps and colours of continuous integration
        "2026-01-02T03:04:05.1234567Z BenchmarkX-8 \t 1000\t 12 ns/op\t 3 B/op\n",
        "2026-01-02T03:04:05.123456Z 00O BenchmarkX-8 \t 1000\t 12 ns/op\t 3 B/op\n",
        "[03:04:05] BenchmarkX-8 \t 1000\t 12 ns/op\t 3 B/op\n",
        "bench\tRun\t2026-01-02T03:04:05.12Z BenchmarkX-8 \t 1000\t 12 ns/op\t 3 B/op\n",
        "\x1b[32mBenchmarkX-8\x1b[0m \t 1000\t 12 ns/op\t 3 B/op\r\n",
        "\ufeffBenchmarkX-8 \t 1000\t 12 ns/op\t 3 B/op\n",
    ],
)
def test_what_logs_do_to_a_line(foreign, text: str) -> None:
    assert found(foreign(text, "r.txt")) == {
        ("BenchmarkX", "time"): [[12]],
        ("BenchmarkX", "B/op"): [[3]],
    }


def test_units_of_the_benchmarks_own(foreign) -> None:
    text = (
        "Unit ops/s better=higher assume=exact\n"
        "BenchmarkX 1 2 ns/op 5 p99-ns/op 7 GC-ns 9 ops/s 1e+06 B/s 4 things\n"
    )
    file = foreign(text, "r.txt")
    assert {c.metric: (c.unit, round(c.values[0], 12), c.better) for c in file.cells} == {
        "time": ("s", 2e-9, "lower"),
        "p99-ns/op": ("s", 5e-9, "lower"),
        "GC-ns": ("s", 7e-9, "lower"),
        "ops/s": ("ops/s", 9.0, "higher"),
        "B/s": ("B/s", 1e6, "higher"),
        "things": ("things", 4.0, None),
    }


def test_events_of_several_packages_are_interleaved(foreign) -> None:
    events = [
        {"Action": "start", "Package": "p"},
        {"Action": "output", "Package": "p", "Test": "BenchmarkX", "Output": "BenchmarkX-8 \t"},
        {"Action": "output", "Package": "q", "Output": "BenchmarkX-8 \t 10\t 2 ns/op\n"},
        {"ImportPath": "r", "Action": "build-output", "Output": "# r\n"},
        {"Action": "output", "Package": "p", "Test": "BenchmarkX", "Output": " 10\t 1 ns/op\n"},
    ]
    lines = [json.dumps(event, separators=(",", ":")) for event in events]
    stamped = [f"2026-01-02T03:04:05.1234567Z {line}" for line in lines]
    for mine in (lines, ["go: downloading x v1", "# r [build failed]", *lines, "# r"], stamped):
        assert found(foreign("\n".join(mine) + "\n", "r.jsonl")) == {
            ("p.BenchmarkX", "time"): [[1]],
            ("q.BenchmarkX", "time"): [[2]],
        }


@pytest.mark.parametrize(
    ("text", "said", "where"),
    [
        (HEAD + "BenchmarkX-8 \t 10\t NaN ns/op\n", "not a finite number", ":5"),
        (HEAD + "BenchmarkX-8 \t 10\t -3 ns/op\n", "negative", ":5"),
        (HEAD + "BenchmarkX-8 \t 10\n" + END, "no result line", ""),
        ('{"Action":"output","Output":"BenchmarkX 1 2 ns/op\\n"}\n{"Act', "no JSON event", ":2"),
    ],
)
def test_damage_is_an_error_with_its_line(foreign, text: str, said: str, where: str) -> None:
    with pytest.raises(AnalysisError, match=said) as told:
        foreign(text, "r.txt")
    assert f"r.txt{where}" in str(told.value)


def test_a_line_of_numbers_without_end_is_no_hang(foreign) -> None:
    with pytest.raises(AnalysisError, match="no result line"):
        foreign(HEAD + "BenchmarkX-8 " + "1 x " * 200_000 + "y\n", "r.txt")


def test_commits_one_after_the_other_were_measured_on_occasions_of_their_own(foreign) -> None:
    def of(*names: str) -> list[str | None]:
        text = "".join(f"commit: {n}\n{HEAD}BenchmarkX-8\t 10\t 5 ns/op\n{END}" for n in names)
        file = foreign(text, "r.txt")
        assert "no-sessions" in {loss.code for loss in file.losses}
        return [cell.session for cell in file.cells]

    assert of("a", "a", "b") == ["a", "b"]
    assert of("a", "b", "a", "b") == [None, None]  # they alternate: one occasion


@pytest.mark.parametrize(
    ("unit", "ours", "value", "better"),
    [
        ("p99-ms", "s", 0.004, "lower"), ("us/req", "s", 4e-6, "lower"), ("µs/op", "s", 4e-6, "lower"),
        ("s/op", "s", 4.0, "lower"), ("total-seconds", "s", 4.0, "lower"), ("ms", "s", 0.004, "lower"),
        ("req/s", "req/s", 4.0, None), ("ops-per-sec", "ops-per-sec", 4.0, None),
        ("per-sec", "per-sec", 4.0, None), ("p50-min", "p50-min", 4.0, None), ("items", "items", 4.0, None),
    ],
)  # fmt: skip
def test_times_of_the_benchmarks_own(foreign, unit, ours, value, better) -> None:
    cell = foreign(f"BenchmarkX 1 4 {unit} 2 ns/op\n", "r.txt").cells[1]
    assert (cell.metric, cell.unit, cell.better) == (unit, ours, better)
    assert cell.values[0] == pytest.approx(value, rel=1e-12)


def test_processes_have_numbers(foreign) -> None:
    """The second process does not tell the metric: the third one's is not taken for its own."""
    lines = [
        "BenchmarkX 1 5 ns/op 1 hits\n",
        "BenchmarkX 1 6 ns/op\n",
        "BenchmarkX 1 7 ns/op 3 hits\n",
    ]
    time, hits = foreign("".join(HEAD + line + END for line in lines), "r.txt").cells
    assert (time.labels, hits.labels) == (("1", "2", "3"), ("1", "3"))
    assert foreign("BenchmarkX 1 5 ns/op\n", "r.txt").cells[0].labels is None


def test_what_is_said_of_a_unit_holds_for_its_tidy_form(foreign) -> None:
    """golang.org/x/perf/benchfmt: unit metadata are found by the unit, and by the tidied unit."""
    text = "Unit gain-sec better=higher\nUnit MB/s better=lower\n"
    line = "BenchmarkX 1 5 ns/op 6 gain-ns 7 B/s\n"
    better = {cell.metric: cell.better for cell in foreign(text + line, "r.txt").cells}
    assert better == {"time": "lower", "gain-ns": "higher", "B/s": "lower"}
