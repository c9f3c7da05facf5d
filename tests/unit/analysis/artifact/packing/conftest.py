from __future__ import annotations

import functools
import io
import json
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.artifact import bundle as answers, describing
from analysis.artifact.bundle import pack_bundle
from analysis.artifact.describing import PackingRequest
from analysis.artifact.recomputing import Recomputed
from harness.cli import main

CAMPAIGN = """\
name: tiny
seed: 1
variants: {a: {n: 3}, b: {n: 1}}
baseline: a
build: [[cp, src/prog.sh, "build-{variant}.sh"]]
benchmarks:
  x: {command: ["./build-{variant}.sh", "{n}", data/in.txt], stdin: data/std.txt, expect: {file: want.txt}}
  y: {command: [gzip, -n, -c, data/in.txt], stdout: discard}
hooks: {setup: [[python3, hook.py, data, /etc/hostname]]}
protocol: {sessions: 2, runs: 2, warmup: 0}
isolation: {cpus: none, environment: {keep: none, set: {PATH: "/usr/bin:/bin"}}}
"""
FILES = {
    "campaign.yaml": CAMPAIGN,
    "data/in.txt": "hi\n",
    "data/std.txt": "std\n",
    "want.txt": "hi\n",
    "src/prog.sh": "#!/bin/sh\ncat $2\n",
    "src/notes.md": "of the source\n",
    "hook.py": "print(1)\n",
    ".secret": "s",
}


@pytest.fixture(scope="session")
def measured(tmp_path_factory, shared):
    """Measure a small campaign once: its folder, and the trial."""
    place = tmp_path_factory.mktemp("measured")
    for name, text in FILES.items():
        file = place / "c" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (place / "c" / "src" / "prog.sh").chmod(0o755)
    out = io.StringIO()
    words = ["run", str(place / "c" / "campaign.yaml"), "--dir", str(place / "runs"), "--quiet"]
    assert main(words, out, io.StringIO()) == 0
    (trial,) = (place / "runs").iterdir()
    with shared(place):
        yield SimpleNamespace(folder=place / "c", trial=trial)


@pytest.fixture
def campaign(measured, tmp_path):
    """Give a copy of the measured campaign and its trial, at a place that the trial knows."""
    folder = tmp_path / "c"
    shutil.copytree(measured.folder, folder)
    trial = tmp_path / "runs" / measured.trial.name
    shutil.copytree(measured.trial, trial)
    return SimpleNamespace(folder=folder, trial=trial, file=folder / "campaign.yaml")


@functools.cache
def _libraries(endings):
    return _LIBRARIES([f"x{ending}" for ending in endings])


_LIBRARIES = describing.libraries_of_this


@pytest.fixture
def quick(monkeypatch):
    """Leave out the computation of results and the wheel, and make the lock once: they have tests of their own."""
    monkeypatch.setattr(describing, "wheel_of_this", lambda: b"PK")
    monkeypatch.setattr(
        describing,
        "libraries_of_this",
        lambda names: _libraries(frozenset(Path(one).suffix for one in names)),
    )

    def recompute(command, folder, commands):
        del folder, commands
        return Recomputed(stdout=json.dumps({"command": command, "x": 1.5}).encode(), exit_code=0)

    monkeypatch.setattr(answers, "recompute", recompute)


@pytest.fixture
def pack(tmp_path):
    """Pack, and give what was said with the archive's files."""

    def make(*sources, output="a.zip", **options):
        path = tmp_path / output
        bundled = pack_bundle(PackingRequest(sources=tuple(map(str, sources)), **options), path)
        with zipfile.ZipFile(path) as file:
            files = {one: file.read(one) for one in file.namelist()}
        return SimpleNamespace(
            said=bundled,
            path=path,
            files=files,
            contents=json.loads(files["bundle.json"]),
            missing={one.what: one for one in bundled.contents.missing},
        )

    return make
