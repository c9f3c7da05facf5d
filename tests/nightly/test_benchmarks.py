"""Benchmarks that make their own data still execute: a change of the trial format once broke three."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "words",
    [
        "bundle.py --runs 1000",
        "fleet.py 3 1000",
        "foreign.py 1000 1000 1",
        "read_nights.py 8 4 1",
        "read_trial.py 1000 1",
        "verdict.py 1 3",
    ],
)
def test_a_benchmark_prints_its_figures(words: str) -> None:
    """Small sizes; a missed figure (1) is the business of who measures."""
    done = subprocess.run(
        [sys.executable, *f"tests/benchmarks/{words}".split()],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout
