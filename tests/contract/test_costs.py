"""What a change costs: each is made in a copy of the tree by editing no more files than said."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path):
    """Copy the product; what a test edits there touches nobody."""
    for part in ("analysis", "harness"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    return tmp_path


def fairtrial(tree: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=tree, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


STOPWATCH = '''"""The files of a stopwatch that never was: ``watch:`` and seconds between semicolons."""

from __future__ import annotations

from pathlib import Path

from ..data import Layout, Table


def knows(path: Path, start: bytes) -> bool:
    return start.startswith(b"watch:")


def read(path: Path, layout: Layout) -> Table:
    times = path.read_text().removeprefix("watch:").split(";")
    return Table(samples={"a": [float(time) for time in times]}, better="lower", unit="s")
'''


def test_an_importer_costs_a_file_and_a_row(tree):
    (tree / "analysis/formats/stopwatch.py").write_text(STOPWATCH)
    registry = tree / "analysis/formats/registry.py"
    row = 'Format(name="stopwatch", module=".stopwatch", said="a stopwatch file (.sw)"),'
    registry.write_text(registry.read_text().replace("FORMATS = (", f"FORMATS = (\n    {row}"))
    for name, text in (("x.sw", "1;1.1;1.2;1.3;1.4"), ("y.csv", "2;2.1;2.2;2.3;2.4")):
        (tree / name).write_text(f"watch:{text}")  # known by what it holds, not by its ending
    # every command reads it, knows its direction, and names it in its help
    assert "x against y" in fairtrial(tree, "speedup-test", "x.sw", "y.csv")
    assert '"faster": true' in fairtrial(tree, "hpt", "x.sw", "y.csv", "--json")
    for command in ("hpt", "diagnose"):
        assert "a stopwatch file (.sw)" in " ".join(fairtrial(tree, command, "--help").split())
