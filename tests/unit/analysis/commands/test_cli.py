from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import UsageError

from .conftest import execute

Build = Callable[..., Any]


@pytest.fixture
def trial(synthetic: Build, tmp_path: Path) -> str:
    benches = [f"b{k}" for k in range(6)]
    data = {
        "old": {b: [1.0, 1.01, 1.02, 1.03, 1.04] for b in benches},
        "new": {b: [0.5, 0.51, 0.52, 0.53, 0.54] for b in benches},
    }
    return str(synthetic(data).write(tmp_path / "runs" / "one"))


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    rows = [("x", 1.0), ("y", 2.0)]
    for name, scale in rows:
        lines = [f"b{k},{scale},{scale * 1.01},{scale * 1.02}" for k in range(6)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    return str(tmp_path / "x.csv"), str(tmp_path / "y.csv")


def test_hpt_of_files(files: tuple[str, str]) -> None:
    _, text = execute("hpt", *files, "--better", "lower", "--json")
    data = json.loads(text)
    assert (data["candidate"], data["baseline"], data["outcome"]) == ("x", "y", "candidate")
    _, text = execute("hpt", *files, "--better", "higher", "--json")
    assert json.loads(text)["outcome"] == "baseline"
    _, text = execute("hpt", *files, "--better", "lower", "--alpha", "0.01", "--json")
    assert {row["winner"] for row in json.loads(text)["benchmarks"]} == {"tie"}
    _, text = execute("hpt", *files, "--better", "lower", "--scores", "raw", "--ties", "exact")
    assert "x is better than y" in text


def test_hpt_gives_the_three_conclusions_and_the_context(files: tuple[str, str]) -> None:
    _, text = execute("hpt", *files, "--better", "lower", "--speedup", "2.5", "--confidence", "0.9")
    data = json.loads(
        execute(
            *("hpt", *files, "--better", "lower", "--speedup", "2.5"),
            *("--confidence", "0.9", "--json"),
        )[1]
    )
    assert data["speedup_under_test"] == 2.5
    assert data["outcome"] == "baseline"
    assert data["without_speedup"]["outcome"] == "candidate"
    assert data["r_speedup"]["printed"] == "1.980"
    assert data["r_speedup"]["required"] == 0.9
    assert len(data["conclusions"]) == 3
    for sentence in data["conclusions"]:
        assert sentence in " ".join(text.split())
    assert [row["of"] for row in data["context"]["geometric_means"]] == ["medians", "means", "runs"]
    assert "paired t on log ratios" in text


def test_hpt_by_columns(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("a b\n1 2\n1 2\n1 2\n")
    side = str(tmp_path / "x.txt")
    _, text = execute("hpt", side, side, "--better", "lower", "--layout", "columns", "--json")
    assert [row["name"] for row in json.loads(text)["benchmarks"]] == ["a", "b"]


def test_hpt_refusals(trial: str, files: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="which direction is better"):
        execute("hpt", *files)
    with pytest.raises(UsageError, match="BASELINE is missing"):
        execute("hpt", files[0], "--better", "lower")
    with pytest.raises(UsageError, match="several variants") as error:
        execute("hpt", trial, files[0])
    assert error.value.fix == f"write {trial}:VARIANT; here: old, new"
    with pytest.raises(UsageError, match="neither a matrix file nor"):
        execute("hpt", "nothing.csv", files[0])
    with pytest.raises(UsageError, match="lower values are better"):
        execute("hpt", f"{trial}:new", f"{trial}:old", "--better", "higher")
    with pytest.raises(UsageError, match="--metric is for trials"):
        execute("hpt", *files, "--better", "lower", "--metric", "wall")
    with pytest.raises(UsageError, match="no variant 'newer'"):
        execute("hpt", f"{trial}:newer", f"{trial}:old")
