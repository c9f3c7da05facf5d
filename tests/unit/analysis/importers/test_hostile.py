"""Damaged and hostile files: refused in our own words, with the place. Found by the fuzzer of
``tests/drills``; the layouts are those of each tool's documentation."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

import pytest

from analysis.data.opening import open_foreign
from analysis.data.trial import read_trial
from analysis.errors import AnalysisError, FairtrialError
from analysis.importers import registry
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.importing import import_files, inspect_files
from analysis.importers.registry import read_foreign
from analysis.methods.variance_sources.covariates import pooled

HEADS = "invocation\titeration\tvalue\tunit\tcriterion\tbenchmark\texecutor"
ASV = '{"commit_hash": "c", "result_columns": %s, "results": {"time_a": %s}, "version": 2}'


def opened(tmp_path: Path, content: str | bytes, name: str = "f"):
    place = tmp_path / name
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_foreign(str(place))


@pytest.mark.parametrize(
    ("kind", "content", "told"),
    [
        ("rebench", f"{HEADS}\n1\t1\t2\tms\ttotal\t\tE\n", "f:2: the line names no benchmark"),
        ("rebench", "invocation\titeration\n1\t1\n", "these are profiles, no measurements"),
        ("rebench", f"# run_id: 0=[1]\n{HEADS}\n", r"no measurement|no object"),
        ("asv", ASV % ('[{"a": 1}]', "[1]"), "a column has no name"),
        ("asv", ASV % ('["result", "params"]', f"[null, {[['1'] * 60] * 4}]".replace("'", '"')), "12960000 combinations"),
        ("criterion", "group,function,value,sample_time_nanos,iteration_count\n" + "a" * 200_000, "it is no CSV"),
        ("wide-csv", "benchmark,run1\n" + "a" * 200_000 + ",1\n", "f:2: it is no CSV"),
        ("benchexec", "tool\tT", "three lines of headings"),
        ("benchexec", '<?xml version="1.0" encoding="martian"?><result/>', "its encoding cannot be read"),
        ("go-bench", '{"Action":"output"}\n' + "[" * 100_000, "there is no result line"),
        ("perf-stat", '{"counter-value": ' + "[" * 100_000, "f:1: the line is not the object of a counter"),
        ("hyperfine", '{"results": ' + "[" * 100_000, "the JSON cannot be read"),
        ("speedup-test", "Name,Sample1,Sample2,ConfLevel,Coef\n" + "a" * 200_000, "f:2: it is no CSV"),
        (
            "google-benchmark",
            '{"benchmarks": [{"name": "x", "real_time": 1, "cpu_time": 1, "time_unit": []}]}',
            "holds aggregates only",
        ),
        ("pyperf", '{"benchmarks": [{"metadata": 1, "runs": [{"values": [1]}]}]}', "a benchmark has no name"),
    ],
)  # fmt: skip
def test_what_broke_a_reader_is_refused_with_its_place(tmp_path, kind, content, told):
    with pytest.raises(AnalysisError, match=told):
        registry.tool_of(opened(tmp_path, content), kind).read(opened(tmp_path, content))


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("go-bench", "BenchmarkA 1 " + "1" * 50_000 + " x\n"),
        ("go-bench", "Benchmark" + "1" * 50_000 + "\n"),
        ("go-bench", "x 1 " + "1" * 50_000 + "x ns/op\n"),
        ("rebench", "#\n" * 32_000),
        ("benchexec", "<result" * 2_000),
        ("benchexec", "tool\tT\nrun set\tn\n\t" + "(" * 50_000 + "\nx\t1\n"),
        ("benchexec", "tool\tT\nrun set\tn\n\t" + " " * 12_000 + "x\nx\t1\n"),
        ("benchmarkdotnet", "|" + " " * 50_000 + "Method\n"),
        ("benchmarkdotnet", "Method;" + "Mean " * 10_000 + "\n"),
        ("nanobench", '"title";"name";' * 3000),
        ("long-csv", '"expression","time","gc"\n"x",' + "1" * 50_000 + " µ,1\n"),
        ("long-csv", '"expression","time","gc"\n"x",' + " " * 50_000 + "µs,1\n"),
        ("long-csv", "," * 15_000),
    ],
)
def test_long_runs_of_one_character_are_read_in_one_pass(tmp_path, kind, content):
    """Nested repetition would take hours here: that this test ends is the assertion."""
    file = opened(tmp_path, content)
    for tool in registry.TOOLS:
        tool.knows(file)
    with pytest.raises(FairtrialError):
        registry.tool_of(file, kind).read(file)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\x1f\x8b\x08\x00" + b"\x00" * 30, "gz file is damaged"),
        (gzip.compress(b"x" * 1000, mtime=0)[:-6], "gz file is damaged"),
        (gzip.compress(b"x" * 9000, mtime=0)[:14] + b"\xff" * 20, "gz file is damaged"),
        (b"BZh9" + b"\x00" * 40, "bz2 file is damaged"),
        (b"\xfd7zXZ\x00" + b"\x00" * 40, "xz file is damaged"),
    ],
)
def test_damaged_packers(tmp_path, content, told):
    with pytest.raises(AnalysisError, match=told):
        opened(tmp_path, content)


def test_a_damaged_zst_file(tmp_path):
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    plain = Random(1).randbytes(200_000)
    whole = zstandard.ZstdCompressor().compress(plain)
    for bad in (whole[:-5], whole[:20], whole[:9] + b"\xff" * 20 + whole[29:], whole + b"x"):
        with pytest.raises(AnalysisError, match="zst file is damaged"):
            opened(tmp_path, bad)
    assert opened(tmp_path, whole + whole).data == plain + plain


def test_what_a_reader_did_not_expect_is_a_damaged_file_and_no_traceback(tmp_path, monkeypatch):
    """The negative control: an error that is none of the data's, such as a lack of memory, passes."""
    file = opened(tmp_path, '{"results": [{"command": "x", "mean": 1, "times": [1]}]}')
    assert len(read_foreign(file).cells) == 1

    def broken(_row, _file):
        raise KeyError("command")

    monkeypatch.setattr("analysis.importers.registry.read_json", broken)
    with pytest.raises(AnalysisError, match="not hyperfine's JSON as it should be: KeyError"):
        read_foreign(file)

    def lacking(_row, _file):
        raise MemoryError

    monkeypatch.setattr("analysis.importers.registry.read_json", lacking)
    with pytest.raises(MemoryError):
        read_foreign(file)


def test_messages_do_not_repeat_a_whole_file(tmp_path):
    file = opened(tmp_path, "x")
    assert len(str(file.fail("a" * 9000, "b" * 9000, at="c" * 9000))) < 1300


def test_lines_of_a_csv_count_from_the_files_beginning(tmp_path):
    import csv

    reader = csv.reader(["a,b\n", "x" * 200_000 + "\n"])
    rows = opened(tmp_path, "x").rows(reader, before=10)
    assert next(rows) == ["a", "b"]
    with pytest.raises(AnalysisError, match="f:12: it is no CSV"):
        next(rows)


def test_a_name_that_is_there_already_is_not_given_a_second_time(tmp_path):
    """hyperfine's file has one benchmark; ReBench's names may be anything."""
    rows = "".join(
        f"1\t1\t{value}\tms\ttotal\t{name}\tE\t{suite}\n"
        for name, suite, value in (("b", "s", 1), ("b", "t", 2), ("b suite=t", "u", 3))
    )
    file = read_foreign(opened(tmp_path, f"{HEADS}\tsuite\n{rows}"))
    told = inspect_files(gather([file], ReadingChoices()))
    names = [cell.benchmark for cell in told.cells]
    assert len(set(names)) == len(names) == 3


@pytest.mark.parametrize("name", ["a" * 5000, "x\0y", "-", "absent", "", "."])
def test_a_configuration_that_names_no_sample(tmp_path, name):
    """``-`` is a file's name here, and never the standard input: else this would wait for it."""
    file = opened(tmp_path, f"Name,Sample1,Sample2,ConfLevel,Coef\nb,{name},{name},,\n")
    with pytest.raises(FairtrialError):
        registry.tool_of(file, "speedup-test").read(file)


def test_a_metric_may_have_braces_in_its_name(tmp_path):
    """One run has it, the others not: what is left out is counted, under that very name."""
    name = "alloc{level}s/op"
    text = f"goos: linux\nBenchmarkA 10 5 ns/op 2 {name}\nBenchmarkB 10 6 ns/op\nPASS\nok p 1s\n"
    file = read_foreign(opened(tmp_path, text))
    import_files(gather([file], ReadingChoices()), tmp_path / "t", better="lower")
    trial = read_trial(tmp_path / "t")
    matrix = trial.matrix(trial.manifest.variants[0], name)
    (said,) = (one.text for one in matrix.cautions if one.code == "metric-missing")
    assert said == f"1 run without {name}"
    assert said in {one.text for one in pooled([trial], name).cautions}
