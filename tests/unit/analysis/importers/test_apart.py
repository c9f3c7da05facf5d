"""No two sides share a session by accident.

Authority: a session is what was measured on one occasion; two files that do not say when they were
measured are two occasions, and a number that two sources use is no common session. Nor do they share a benchmark that
is measured in another way: asv's column `version`, JMH's `jvmArgs`, pytest-benchmark's `params`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.importers.reader import Reading, read_sides, sessions_apart
from analysis.methods.multilevel.compare import multilevel
from harness.cli import main

Build = Callable[..., Any]
LOWER = Reading(better="lower")


def written(path: Path, sessions: list[int] | None = None) -> str:
    data: dict[str, Any] = {"name": path.stem, "samples": {"a": [1.0, 1.1, 1.2, 1.3]}}
    path.write_text(json.dumps(data | ({"sessions": {"a": sessions}} if sessions else {})))
    return str(path)


def design(candidate: str, baseline: str) -> str:
    sides = sessions_apart(read_sides(candidate, baseline, LOWER))
    return multilevel(sides.candidate, sides.baseline).design


def test_two_files_without_ids_cannot_tell_session_from_variant(tmp_path: Path) -> None:
    x, y = written(tmp_path / "x.json"), written(tmp_path / "y.json")
    assert design(x, y) == "confounded"
    sides = read_sides(x, y, LOWER)  # the negative control: as values they share one session
    assert multilevel(sides.candidate, sides.baseline).design == "one session, runs"


def test_files_that_say_their_sessions_are_left_as_they_are(tmp_path: Path) -> None:
    ids = [1, 1, 2, 2]
    x, y = written(tmp_path / "x.json", ids), written(tmp_path / "y.json", ids)
    sides = read_sides(x, y, LOWER)
    assert sessions_apart(sides).candidate is sides.candidate
    assert design(x, y) == "paired"
    assert design(x, written(tmp_path / "z.json")) == "confounded"


@pytest.fixture
def trial(synthetic: Build, tmp_path: Path) -> Callable[[str], str]:
    data = {"old": {"a": [1.0, 1.1, 1.2, 1.3]}, "new": {"a": [0.5, 0.6, 0.7, 0.8]}}
    return lambda name: str(synthetic(data, sessions=2).write(tmp_path / "runs" / name))


def test_variants_of_one_trial_stay_paired_and_two_trials_are_separate(
    trial: Callable[[str], str],
) -> None:
    one, two = trial("one"), trial("two")
    assert design(f"{one}:new", f"{one}:old") == "paired"
    assert design(f"{one}:new", f"{two}:old") == "separate"


def test_a_trial_and_a_file_do_not_share_the_numbers_of_their_sessions(
    trial: Callable[[str], str], tmp_path: Path
) -> None:
    one = trial("one")
    assert design(f"{one}:new", written(tmp_path / "x.json", [1, 1, 2, 2])) == "separate"
    assert design(written(tmp_path / "y.json"), f"{one}:old") == "confounded"


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
    ("write", "ways"), [(jmh, (["-Xmx1g"], ["-Xmx8g"])), (pytest_benchmark, (31337, 4242424))]
)
@pytest.mark.parametrize("other", [False, True])
def test_two_files_that_measure_in_other_ways_are_not_compared(tmp_path, write, ways, other):
    write(tmp_path / "old.json", ways[0], 1.5)
    write(tmp_path / "new.json", ways[other], 1.0)
    files = (tmp_path / "new.json", tmp_path / "old.json")
    code, said = execute("verdict", *files)
    assert (code == 0) == (not other)
    assert all((str(way if isinstance(way, int) else way[0]) in said) == other for way in ways)
