"""A benchmark that is measured in another way is another benchmark. Authority: asv's column `version`, JMH's `jvmArgs`."""

from __future__ import annotations

import io
import json

import pytest

from harness.cli import main


def asv(path, commit, version, seconds):
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = ["result", "params", "version", "samples"]
    row = [[seconds], [], version * 64, [[seconds * (1 + k / 1000) for k in range(6)]]]
    known = {"commit_hash": commit * 20, "env_name": "v", "params": {}, "version": 2}
    path.write_text(
        json.dumps(known | {"result_columns": columns, "results": {"bench.time_x": row}})
    )


def jmh(path, arguments, score):
    raw = [[score * (1 + k / 1000) for k in range(4)] for _ in range(3)]
    metric = {"score": score, "scoreUnit": "ms/op", "rawData": raw}
    one = {"benchmark": "a.B.c", "mode": "avgt", "forks": 3, "jvmArgs": arguments}
    path.write_text(json.dumps([one | {"primaryMetric": metric}]))


def pytest_benchmark(path, size, seconds):
    stats = {"data": [seconds * (1 + k / 1000) for k in range(6)], "iterations": 1}
    one = {"fullname": "t.py::x", "name": "x", "params": {"size": size}, "stats": stats}
    path.write_text(json.dumps({"benchmarks": [one], "machine_info": {}}))


def execute(*words):
    out, err = io.StringIO(), io.StringIO()
    code = main([*map(str, words)], out, err)
    return code, " ".join((out.getvalue() + err.getvalue()).split())


@pytest.mark.parametrize("other", [False, True])
def test_another_version_in_a_folder_is_not_judged_as_the_same(tmp_path, other):
    for k in range(3):
        asv(tmp_path / "f" / f"o{k}" / "lab" / "a.json", "aa", "1", 1.5 + k / 100)
        asv(tmp_path / "f" / f"n{k}" / "lab" / "b.json", "bb", "21"[not other], 1.0 + k / 100)
    code, said = execute("verdict", tmp_path / "f")
    assert ("version 1111" in said, "version 2222" in said) == (other, other)
    assert ("more time than" in said) == (not other)
    assert code == 0


@pytest.mark.parametrize(
    ("write", "ways"), [(jmh, (["-Xmx1g"], ["-Xmx8g"])), (pytest_benchmark, (10, 1000))]
)
@pytest.mark.parametrize("other", [False, True])
def test_two_files_that_measure_in_other_ways_are_not_compared(tmp_path, write, ways, other):
    write(tmp_path / "old.json", ways[0], 1.5)
    write(tmp_path / "new.json", ways[other], 1.0)
    files = (tmp_path / "new.json", tmp_path / "old.json")
    code, said = execute("verdict", *files)
    assert (code == 0) == (not other)
    assert all((str(way if isinstance(way, int) else way[0]) in said) == other for way in ways)
