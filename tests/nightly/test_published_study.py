"""The published study on public SPEC results, with five folds; ``tests/benchmarks/variation_study.py`` takes ten.

Authority: its section 7 (correlation 0.982 with environment variables, one random split), and rates
that an independent program measured on the same files: 0.996 for CINT2006 at random, 0.977 to 0.987
by processor; 0.988 to 0.993 for CPU2017 integer speed.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
DATASETS = ROOT.parent / "shared" / "datasets"
study = SimpleNamespace(**runpy.run_path(str(ROOT / "tests" / "benchmarks" / "variation_study.py")))


def predicted(table, response):
    rows = study.rows_above(table, response, 1)
    return study.predicted(study.chosen(table, rows), response, folds=5, repeats=2)


def needs(name: str) -> None:
    if not (DATASETS / name).is_dir():
        pytest.skip("the lists of published SPEC results are not beside this project")


def test_cint2006():
    needs("spec_cpu2006")
    table = study.cint2006(DATASETS)
    assert len(table["Baseline"]) == 3243
    found = predicted(table, "Baseline")
    assert found.correlation >= 0.99
    assert 0.9 < found.correlation_grouped < found.correlation
    # an independent program: L2 size, frequency, L3 size
    top = [one.factor for one in found.importance[:4]]
    assert {"Processor MHz", "2nd Level Cache"} <= set(top)


@pytest.mark.parametrize("seed", [7])
def test_one_split_as_published(seed):
    # published of another list, 8,236 results to 2017: 0.982, with flags 0.992. Here one split of 3,243
    # results to 2014 gives 0.984 to 0.989 over five seeds, without any flag
    needs("spec_cpu2006")
    table = study.cint2006(DATASETS)
    table = study.chosen(table, study.rows_above(table, "Baseline", -np.inf))
    found = study.split_once(table, "Baseline", seed)
    (across,) = found.systems
    assert across.random.rows == 973  # 30 % of 3,243
    assert 0.96 < found.correlation < 0.997
    assert sum(one.share for one in across.influence) == pytest.approx(1)
    top = [one.factor for one in across.influence[:10]]
    # published first ten that this list has: frequency (turbo among the characteristics), L3, L2, and
    # auto-parallelization; the file system, published first, is another list's
    assert {
        "Processor Characteristics",
        "3rd Level Cache",
        "2nd Level Cache",
        "Processor MHz",
    } < set(top)
    assert across.influence[0].share < 0.6


def test_cpu2017():
    needs("spec_cpu2017")
    found = predicted(study.cpu2017(DATASETS), "score")
    assert found.correlation >= 0.985
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
