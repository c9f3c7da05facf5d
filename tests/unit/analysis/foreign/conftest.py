"""Cells and files of other tools as their readers give them, and what is made of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis import Trial, read_trial
from analysis.foreign import Chosen, ForeignCell, ForeignFile, gather, import_files


@pytest.fixture
def cell() -> Callable[..., ForeignCell]:
    """Make a cell; each value is a process of its own."""

    def make(benchmark: str = "b", *values: float, **more: Any) -> ForeignCell:
        given = {"processes": tuple((v,) for v in values or (1.0, 2.0)), "known": True}
        return ForeignCell(benchmark=benchmark, **(given | more))

    return make


@pytest.fixture
def file() -> Callable[..., ForeignFile]:
    """Make a file of cells."""

    def make(*cells: ForeignCell, source: str = "r/old.json") -> ForeignFile:
        return ForeignFile(format="made", source=source, cells=cells)

    return make


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., Trial]:
    """Make a trial of files."""

    def make(*files: ForeignFile, **chosen: Any) -> Trial:
        folder = tmp_path / f"made-{len(list(tmp_path.iterdir()))}"
        import_files(gather(files, Chosen(**chosen)), folder, better=chosen.get("better"))
        return read_trial(folder)

    return make


@pytest.fixture
def rows_of() -> Callable[[Trial], list[dict[str, Any]]]:
    """Give the rows of a trial as they are stored."""

    def read(trial: Trial) -> list[dict[str, Any]]:
        text = (trial.path / "measurements.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    return read
