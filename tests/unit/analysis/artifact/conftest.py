from __future__ import annotations

from pathlib import Path

import pytest

from analysis.artifact.archive import Content, of_bytes, weigh, write_archive
from analysis.artifact.recomputing import Commands

FILES = {
    "README.md": b"# what this is\n",
    "trials/a/measurements.jsonl": b'{"position":0}\n' * 40,
    "trials/a/manifest.json": b"{}\n",
    "campaigns/a/run.sh": b"#!/bin/sh\n",
    "sources/\u00fcber.csv": b"1,2\n",
    "empty": b"",
}


def packed(path: Path, files: dict[str, bytes]) -> Path:
    """Write the archive of some files."""
    contents = [
        Content(name=name, pieces=of_bytes(data), executable=name.endswith(".sh"))
        for name, data in files.items()
    ]
    with path.open("wb") as file:
        write_archive(file, [weigh(one) for one in contents])
    return path


@pytest.fixture
def archive(tmp_path):
    return packed(tmp_path / "a.zip", FILES)


@pytest.fixture
def commands(tmp_path_factory):
    """Execute commands without a limit."""
    folder = tmp_path_factory.mktemp("homes")
    lock = folder / "lock"
    with lock.open("wb") as file, Commands(folder, file.fileno()) as found:
        yield found
