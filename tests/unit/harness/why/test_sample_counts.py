"""What a sample counts for (docs/why.md, "What a row is"); names of perf maps as Python 3.12 and node 20 write them."""

from __future__ import annotations

import pytest

from harness.trial.perf import CellCounts, Frame, counting_frames, function_of, runtime_of

EVAL = Frame(0x7F00, "_PyEval_EvalFrameDefault", "/usr/lib/libpython3.12.so.1.0")
KEY = Frame(0x7F01, "py::key:/tmp/prog.py", "/tmp/perf-12.map")
ORDER = Frame(0x7F02, "py::order:/tmp/prog.py", "/tmp/perf-12.map")
MAIN = Frame(0x10, "main", "/bin/python3.12")
FAULT = Frame(0xFFFFFFFF81000000, "exc_page_fault", "[kernel.kallsyms]")


@pytest.mark.parametrize(
    ("frame", "function"),
    [
        (Frame(1, "main", "/home/me/build/app"), ("main", "app")),
        (FAULT, ("exc_page_fault", "kernel")),
        (Frame(0xFFFFFFFFC0000000, "start", "[virtio_net]"), ("start", "kernel")),
        (Frame(0xFFFFFFFFFF600000, "time", "[vsyscall]"), ("time", "[vsyscall]")),
        (Frame(1, "clock_gettime", "[vdso]"), ("clock_gettime", "[vdso]")),
        (Frame(1, "[unknown]", "//anon"), ("[unknown]", "anon")),
        (KEY, ("py::key:/tmp/prog.py", "python")),
        (Frame(1, "JS:*key /x.js:1:13", "/tmp/perf-99.map"), ("JS:*key /x.js:1:13", "jit")),
    ],
)
def test_a_function_has_a_name_and_a_file(frame, function):
    assert function_of(frame) == function


def test_a_sample_counts_for_the_innermost_function_of_python():
    assert counting_frames([EVAL, KEY, EVAL, ORDER, MAIN])[0] == ("py::key:/tmp/prog.py", "python")
    assert counting_frames([FAULT, EVAL, KEY])[0][0] == "py::key:/tmp/prog.py"
    assert counting_frames([FAULT, EVAL, MAIN])[0] == ("exc_page_fault", "kernel")


def test_a_row_holds_what_was_counted():
    counts = CellCounts()
    for frames in ([EVAL, KEY, ORDER], [KEY, ORDER], [MAIN], [FAULT, MAIN]):
        counts.add(frames, chains=True)
    row = counts.row((2, "b", "v"), 3, 5, {"main": "main()"}, chains=True)
    assert (row.session, row.benchmark, row.variant, row.runs, row.lost) == (2, "b", "v", 3, 5)
    functions = [(one.symbol, one.samples) for one in row.functions]
    assert row.samples == sum(count for _, count in functions) == 4
    assert functions[0] == ("py::key:/tmp/prog.py", 2)
    assert ("py::order:/tmp/prog.py", 0) in functions  # it only called
    assert ("main()", 1) in functions
    names = [one.symbol for one in row.functions]
    chains = {tuple(names[k] for k in chain.frames): chain.samples for chain in row.chains}
    assert chains == {
        ("py::order:/tmp/prog.py", "py::key:/tmp/prog.py"): 2,
        ("main()",): 1,
        ("main()", "exc_page_fault"): 1,
    }


def test_without_chains_there_are_none():
    counts = CellCounts()
    counts.add([KEY], chains=False)
    row = counts.row((1, "b", "v"), 1, 0, {}, chains=False)
    assert row.chains is None
    assert [one.samples for one in row.functions] == [1]


@pytest.mark.parametrize(
    ("frames", "chains", "words"),
    [
        ([EVAL, KEY], "dwarf", "python-frames"),
        ([EVAL], None, "--chains dwarf"),
        ([EVAL], "fp", "no chain (fp) led"),
        ([Frame(1, "f", "/usr/bin/python3.11")], "dwarf", "Python 3.11 tells perf no names"),
        ([Frame(1, "f", "/usr/bin/node")], None, "node wrote no map"),
    ],
)
def test_what_was_seen_of_an_interpreter_is_said(frames, chains, words):
    counts = CellCounts()
    counts.add(frames, chains=chains is not None)
    row = counts.row((1, "b", "v"), 1, 0, {}, chains=chains is not None)
    assert words in runtime_of(row, chains)


def test_of_other_programs_nothing_is_said():
    counts = CellCounts()
    counts.add([Frame(1, "main", "/bin/app"), FAULT], chains=False)
    assert runtime_of(counts.row((1, "b", "v"), 1, 0, {}, chains=False), None) is None
    counts.add([Frame(1, "JS:*key /x.js:1:1", "/tmp/perf-1.map")], chains=False)
    counts.add([Frame(1, "main", "/usr/bin/node")], chains=False)
    assert runtime_of(counts.row((1, "b", "v"), 1, 0, {}, chains=False), None) == "node-map"
