"""Shares, bounds, survivors and the comparison of two runs; records that an interruption tore."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.mutants import records, report


def record(name: str, result: str, stage: str = "own", room: str = "harness/a") -> dict[str, Any]:
    return {
        "mutant": name, "key": name, "room": room, "path": "harness/a/x.py", "line": 3, "function": "f",
        "operator": "return", "diff": "-1\n+2", "stage": stage, "result": result, "left": 0,
        "product": "p", "seconds": 1.0,
    }  # fmt: skip


def chance(k: int, n: int, share: float) -> float:
    return math.comb(n, k) * share**k * (1 - share) ** (n - k)


def test_bounds_are_those_of_clopper_and_pearson():
    # by their definition: so many or more, so many or fewer, have 5 % each
    low, high = report.bounds(36, 40)
    assert sum(chance(k, 40, low) for k in range(36, 41)) == pytest.approx(0.05)
    assert sum(chance(k, 40, high) for k in range(37)) == pytest.approx(0.05)
    assert report.bounds(15, 15) == (pytest.approx(0.05 ** (1 / 15)), 1.0)
    assert report.bounds(0, 0) == (0.0, 1.0)


def test_the_later_stage_kills_who_survived_the_first():
    known = [record("a", "survived"), record("a", "killed", "rest"), record("b", "no test"),
             record("b", "survived", "rest"), record("c", "no test"), record("d", "timeout")]  # fmt: skip
    found = {name: one["result"] for name, one in records.outcomes(known).items()}
    assert found == {"a": "killed", "b": "survived", "c": "no test", "d": "timeout"}
    last = report.table(known, {}).splitlines()[-1].split()
    assert last[:7] == ["all", "1", "1", "1", "1", "0", "50.0%"]
    # one that is equivalent is no survivor, and in no share
    assert report.table(known, {"b": "why"}).splitlines()[-1].split()[:7] == [
        "all", "1", "1", "0", "1", "1", "66.7%",
    ]  # fmt: skip
    told = report.survivors(known, {"b": "why"})
    assert "[c] no test (own)" in told
    assert "[b]" not in told
    assert "[a]" not in told


def test_pairs_are_compared_exactly():
    before = [record(str(k), "killed") for k in range(6)] + [
        record("6", "survived"),
        record("7", "killed"),
    ]
    after = [
        record(f"n{k}", "survived" if k < 5 else "killed") | {"before": str(k)} for k in range(7)
    ]
    row, pooled, missing = report.comparison(before, after).splitlines()[1:]
    # five became alive, one died: P(B(6, 1/2) >= 5) = 7/64
    assert row.split() == ["harness/a", "7", "6", "2", "5", "1", "0.109"]
    assert pooled.split()[0] == "all"
    assert missing.startswith("1 of before")


def test_a_torn_line_is_passed_over(tmp_path: Path):
    path = tmp_path / "records.jsonl"
    records.add(path, record("a", "killed"))
    with path.open("a") as stream:
        stream.write('{"mutant": "b", "res')
    records.add(path, record("c", "killed"))
    known = records.read(path)
    assert [one["mutant"] for one in known] == ["a", "c"]
    assert records.judged(known, "p", "own") == {"a": "killed", "c": "killed"}
    assert records.judged(known, "another tree", "own") == {}


def test_each_equivalent_says_why():
    assert all(len(why) > 20 for why in records.equivalents().values())
