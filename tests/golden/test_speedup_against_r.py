"""The Speedup-Test's tests, decisions and proportions against values of R.

`speedup_test/make_r_values.py` made them, by `speedup_test/protocol.R`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.speedup_test.compare import speedup_test, speedup_test_suite
from analysis.methods.speedup_test.result import proportion
from analysis.stats.classical import (
    PairTests,
    f_test,
    ks_centred,
    rank_sum,
    shapiro_wilk,
    student,
    welch,
)

FOLDER = Path(__file__).with_name("speedup_test")
RECORDED = json.loads((FOLDER / "r_values.json").read_text())
PAIRS = RECORDED["pairs"]
KINDS = sorted({pair["kind"] for pair in PAIRS})
TESTS = {"f": f_test, "student": student, "welch": welch, "ks": ks_centred, "wilcoxon": rank_sum}
# R takes 1 - cdf for these two, so its p is the noise of 1 where it is tiny.
SUBTRACTED = {"f", "ks"}
Values = dict[str, float | None]


def agrees(ours: float, theirs: float | None, *, rel: float, noise: float = 0.0) -> bool:
    if theirs is None or math.isnan(ours):
        return theirs is None and math.isnan(ours)
    return abs(ours - theirs) <= rel * abs(theirs) + noise


def compare(key: str, done: PairTests, r: Values) -> None:
    statistic, pvalue = r[f"{key}1"], r[f"{key}2"]
    if key == "f" and pvalue == 0.0 and math.isnan(done.pvalue[0]):
        assert statistic in (0.0, math.inf)  # one side is constant: R says p = 0, we say no test
        return
    noise = 5e-13 if key in SUBTRACTED else 0.0
    assert agrees(done.statistic[0], statistic, rel=1e-8, noise=1e-14), key
    assert agrees(done.pvalue[0], pvalue, rel=2e-6, noise=noise), key


def check_all(x: list[float], y: list[float], r: Values) -> None:
    for key, test in TESTS.items():
        compare(key, test(x, y), r)
    for key, side in (("shapiro_x", x), ("shapiro_y", y)):
        w, p = shapiro_wilk(np.array([side]))
        assert agrees(w[0], r[f"{key}1"], rel=1e-8)
        assert agrees(p[0], r[f"{key}2"], rel=1e-5, noise=1e-12)
    for confidence, digits in ((0.95, "95"), (0.7, "70")):
        row = speedup_test(x, y, confidence=confidence)
        for name, decision in (("mean", row.mean), ("median", row.median)):
            wanted = r[f"{name}_{digits}"]
            assert decision.significant is (None if wanted is None else bool(wanted)), name
    row = speedup_test(x, y, confidence=None)
    for name, decision in (("mean", row.mean), ("median", row.median)):
        level = r[f"best_{name}"]
        assert decision.confidence == (None if level is None else level / 100), name
        assert decision.significant is (level is not None)


@pytest.mark.parametrize("kind", KINDS)
def test_recorded_pairs(kind: str) -> None:
    pairs = [pair for pair in PAIRS if pair["kind"] == kind]
    assert len(pairs) > 5
    for pair in pairs:
        check_all(pair["x"], pair["y"], pair["r"])


def test_the_record_holds_every_kind_of_case() -> None:
    sizes = [(len(pair["x"]), len(pair["y"])) for pair in PAIRS]
    assert any(n * m >= 10_000 for n, m in sizes)
    assert any(9_000 < n * m < 10_000 for n, m in sizes)
    assert any(max(size) == 49 for size in sizes)
    assert any(max(size) == 50 for size in sizes)
    decided = [pair["r"]["mean_95"] for pair in PAIRS]
    assert {0.0, 1.0, None} <= set(decided)
    assert {0.0, 1.0, None} <= {pair["r"]["median_95"] for pair in PAIRS}


def test_a_suite_of_all_pairs_gives_their_levels() -> None:
    x, y = [
        PerformanceMatrix.from_samples(
            side, {str(k): pair[side] for k, pair in enumerate(PAIRS)}, better="lower"
        )
        for side in ("x", "y")
    ]
    for compatible in (False, True):
        suite = speedup_test_suite(baseline=x, candidate=y, confidence=None, compatible=compatible)
        for row, pair in zip(suite.benchmarks[::7], PAIRS[::7], strict=True):
            alone = speedup_test(pair["x"], pair["y"], confidence=None, compatible=compatible)
            assert (row.mean, row.median) == (alone.mean, alone.median)


@pytest.mark.parametrize("row", RECORDED["proportions"], ids=str)
def test_recorded_proportions(row: list[float]) -> None:
    a, b, confidence, *ends = row
    done = proportion(int(a), int(b), confidence=confidence)
    ours = [done.low, done.high, done.low_plain, done.high_plain]
    assert ours == pytest.approx(ends, rel=1e-9, abs=1e-15)


def test_the_limit_law_as_r_cuts_it() -> None:
    # Rscript -e 'print(1 - .Call(stats:::C_pKS2, c(0.3, 0.9, 0.99, 1.5, 2), 1e-6), digits = 15)'
    from analysis.stats.classical import _kolmogorov

    r = [0.999990694126, 0.392733810, 0.280904279, 0.0222179626, 0.000670925256]
    assert _kolmogorov(np.array([0.3, 0.9, 0.99, 1.5, 2.0])) == pytest.approx(r, rel=1e-8)
