"""A bundle's folder in which names stand at many places."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.artifact.redacted import redact_folder
from analysis.artifact.redacted_names import wanted_of
from analysis.record.shapes import encode, encode_checked

SAMPLE = Path(__file__).parents[5] / "tests" / "data" / "sample-0.2.0"
ALL = "user,host,paths,env"


class Folder:
    """A staged bundle with one trial, whose files tests change at will."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.trial = root / "trials" / "sample"
        shutil.copytree(SAMPLE, self.trial)

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.sign()
        return path

    def manifest(self, **changes):
        path = self.trial / "manifest.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes, indent=2) + "\n")

    def lines(self, name, change, written=encode):
        """Change the records of a file by a function of number and record."""
        path = self.trial / name
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
        for number, row in enumerate(rows):
            change(number, row)
            row.pop("crc32", None)
        path.write_bytes(b"".join(written(row) + b"\n" for row in rows))
        self.sign()

    def measurements(self, change):
        self.lines("measurements.jsonl", change, encode_checked)

    def sign(self):
        """Make the manifest's hashes those of the files."""
        if not self.trial.exists():
            return
        names = sorted(
            path.relative_to(self.trial).as_posix()
            for path in self.trial.rglob("*")
            if path.is_file() and path.name != "manifest.json"
        )
        self.manifest(
            files={n: hashlib.sha256((self.trial / n).read_bytes()).hexdigest() for n in names}
        )

    def redact(self, text=ALL, known=()):
        before = {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file()
        }
        done = redact_folder(self.root, wanted_of(text), known)
        record = replace(done.record, left=done.left(self.root, {}))
        return SimpleNamespace(record=record, scrub=done.scrub, before=before)

    def read(self, name):
        return (self.root / name).read_text()

    def whole(self):
        return "\n".join(
            path.read_bytes().decode("utf-8", "surrogateescape")
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        )


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "staged")


@pytest.fixture
def staged(tmp_path_factory):
    """Stage further bundles, one a call."""
    return lambda: Folder(tmp_path_factory.mktemp("staged") / "bundle")
