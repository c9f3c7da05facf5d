"""Files of other tools for the tests of their readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.foreign import ForeignFile, open_foreign, read_foreign

SAMPLES = Path(__file__).resolve().parents[6] / "shared" / "samples"


@pytest.fixture
def sample() -> Callable[[str], str]:
    """Give the path of a tool's real file; such files are no part of this project."""

    def path_of(name: str) -> str:
        if not (SAMPLES / name).exists():
            pytest.skip("the sample files of other tools are not beside this project")
        return str(SAMPLES / name)

    return path_of


@pytest.fixture
def read_sample(sample) -> Callable[[str], ForeignFile]:
    """Read a tool's real file, by the format that is found for it."""
    return lambda name: read_foreign(open_foreign(sample(name)))


@pytest.fixture
def foreign(tmp_path: Path) -> Callable[..., ForeignFile]:
    """Write a text, or what becomes JSON, to a file, and read it by the format that is found."""

    def read(content: object, name: str = "r.json", format: str | None = None) -> ForeignFile:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return read_foreign(open_foreign(str(path)), format)

    return read
