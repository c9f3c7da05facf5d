from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.artifact.archive import weigh, write_archive
from analysis.artifact.recomputing import Commands, Recomputed

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
    weighed = [weigh(name, data, executable=name.endswith(".sh")) for name, data in files.items()]
    with path.open("wb") as file:
        write_archive(file, weighed)
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


Run = Callable[..., Recomputed]


@pytest.fixture(scope="session")
def forked(forks, tmp_path_factory) -> Run:
    """Execute as `Commands.run` does, but in a fork of a warm process, and one at a time."""
    one = threading.Lock()
    homes = tmp_path_factory.mktemp("homes")

    def run(self, words, folder, surroundings):
        self.hold()
        home = Path(tempfile.mkdtemp(dir=homes))
        with one:
            done = forks.run(list(words), cwd=folder, environment=surroundings(home), seconds=600)
        return Recomputed(
            stdout=done.stdout.encode(), stderr=done.stderr.encode(), exit_code=done.returncode
        )

    return run


@pytest.fixture(scope="session")
def remembered(forked) -> Run:
    """Execute a command on the same raw rows once."""
    known: dict[tuple[str, ...], Recomputed] = {}

    def run(self, words, folder, surroundings):
        rows = hashlib.sha256()
        for path in sorted((folder / "trials").rglob("*")):
            rows.update(f"{path.relative_to(folder)}\0".encode("utf-8", "surrogateescape"))
            rows.update(path.read_bytes() if path.is_file() else b"")
        asked = (*words, rows.hexdigest())
        if asked not in known:
            known[asked] = forked(self, words, folder, surroundings)
        self.hold()
        return known[asked]

    return run


@pytest.fixture
def quick_start(monkeypatch, forked) -> None:
    """Leave out the start of each command, which test_recomputing.py and test_limited.py have."""
    monkeypatch.setattr(Commands, "run", forked)


_installed = functools.cache(importlib.metadata.version)


@pytest.fixture
def known_versions(monkeypatch) -> None:
    """Ask once for the version of a library, which is the same in each test."""
    monkeypatch.setattr(importlib.metadata, "version", _installed)


@pytest.fixture
def quick_answers(monkeypatch, remembered, known_versions) -> None:
    """Leave out what was computed before, of the same rows."""
    monkeypatch.setattr(Commands, "run", remembered)
