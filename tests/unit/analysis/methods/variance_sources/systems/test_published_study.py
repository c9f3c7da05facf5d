"""The published study on public SPEC results, in a shortened form.

Authority: its section 7 (correlation 0.982 with environment variables, one random split), and rates
that an independent program measured on the same files: 0.996 for CINT2006 at random, 0.977 to 0.987
by processor; 0.988 to 0.993 for CPU2017 integer speed. Here a part of the rows is taken, and all of
the rows by ``tests/benchmarks/variation_study.py``.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[6]
DATASETS = ROOT.parent / "shared" / "datasets"
study = SimpleNamespace(**runpy.run_path(str(ROOT / "tests" / "benchmarks" / "variation_study.py")))


def part(table, response, rows):
    scores = np.array([np.nan if s is None else s for s in table[response]], dtype=float)
    some = np.random.default_rng(1).permutation(np.flatnonzero(scores > 1))[:rows]
    return study.predicted(study.chosen(table, some), response, folds=2, repeats=2)


def needs(name: str) -> None:
    if not (DATASETS / name).is_dir():
        pytest.skip("the lists of published SPEC results are not beside this project")


def test_cint2006():
    needs("spec_cpu2006")
    table = study.cint2006(DATASETS)
    assert len(table["Baseline"]) == 3243
    found = part(table, "Baseline", 700)
    assert found.correlation >= 0.97  # of a fifth of the rows, half of them to learn from
    assert 0.9 < found.correlation_grouped < found.correlation
    # an independent program: L2 size, frequency, L3 size
    top = [one.factor for one in found.importance[:4]]
    assert {"Processor MHz", "2nd Level Cache"} <= set(top)


def test_cpu2017():
    needs("spec_cpu2017")
    found = part(study.cpu2017(DATASETS), "score", 500)
    assert found.correlation >= 0.95
    assert found.importance[0].factor == "max_mhz"
    assert found.systems[0].random.relative_error < 0.02


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("96 GB (6 x 16 GB 2Rx4 PC3-12800R-11, ECC)", (96, 6, 16)),
        ("512 MB (2x256 MB)", (0.5, 2, 0.25)),
        ("8 GB", (8, None, None)),
        ("unknown", (None, None, None)),
    ],
)
def test_memory_is_parsed(text, expected):
    assert study.memory_of(text) == expected
