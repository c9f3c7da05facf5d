"""What a format cannot tell of occasions is said, whatever the tool: the loss ``no-sessions``."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "asv/lab1-existing-py_python3.json", "asv", "criterion", "criterion/fold/new/raw.csv",
        "criterion/fold/new/sample.json", "go-bench/old.txt", "google-benchmark/old.json",
        "google-benchmark/reps-truncated.csv", "hyperfine/two-commands.json", "pyperf/base.json",
        "pytest-benchmark/full-json.json", "generic-csv/wide.csv",
    ],
)  # fmt: skip
def test_unknown_occasions_are_said(read_sample, name) -> None:
    assert [loss.code for loss in read_sample(name).losses].count("no-sessions") == 1


@pytest.mark.parametrize("name", ["rebench/rebench.data", "generic-csv/long.csv"])
def test_known_occasions_are_no_loss(read_sample, name) -> None:
    file = read_sample(name)
    assert all(cell.session for cell in file.cells)
    assert "no-sessions" not in {loss.code for loss in file.losses}
