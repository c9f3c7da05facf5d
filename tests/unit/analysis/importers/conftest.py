"""Cells and files of other tools as their readers give them, and what is made of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.data.opening import open_foreign
from analysis.data.trial import Trial, read_trial
from analysis.importers.gathering import ReadingChoices, gather
from analysis.importers.importing import import_files
from analysis.importers.parsing import ForeignCell, ForeignFile
from analysis.importers.registry import read_foreign

TESTS = Path(__file__).resolve().parents[3]
SAMPLES = TESTS / "data" / "tools"
GOLDEN = TESTS / "golden" / "foreign"


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
        import_files(gather(files, ReadingChoices(**chosen)), folder, better=chosen.get("better"))
        return read_trial(folder)

    return make


@pytest.fixture
def sample() -> Callable[[str], str]:
    """Give the path of a small file in a tool's layout; ``source`` beside it says how it was made."""
    return lambda name: str(SAMPLES / name)


@pytest.fixture
def read_sample(sample) -> Callable[[str], ForeignFile]:
    """Read such a file by the format that is found for it."""
    return lambda name: read_foreign(open_foreign(sample(name)))


@pytest.fixture
def foreign(tmp_path: Path) -> Callable[..., ForeignFile]:
    """Write a text, or what becomes JSON, to a file, and read it by the format that is found."""

    def read(content: object, name: str = "r.json", format: str | None = None) -> ForeignFile:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return read_foreign(open_foreign(str(path)), format)

    return read


@pytest.fixture
def golden() -> Callable[[str], str]:
    """Give the path of a small file that a tool wrote; ``source`` beside it says how."""
    return lambda name: str(GOLDEN / name)


@pytest.fixture
def read_golden(golden) -> Callable[..., ForeignFile]:
    """Read such a file by the format that is found for it."""
    return lambda name: read_foreign(open_foreign(golden(name)))
