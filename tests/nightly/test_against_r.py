"""Laws of HPT, of the Speedup-Test and of Shapiro against R itself; tests/golden holds what it said once."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.diagnose.normality import shapiro
from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.page import hpt_context
from analysis.stats.ranks import rank_sum_table, signed_rank_table
from tests.golden.test_speedup_against_r import FOLDER, check_all

pytestmark = pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")


def r(*codes: str) -> list[list[float]]:
    """Give what each piece of code gives; R is started once for all of them."""
    said = "".join(f"cat(format({code}, digits=15)); cat('\\n');" for code in codes)
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", said], check=True, capture_output=True, text=True
    )
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


def vector(values: object) -> str:
    return f"c({','.join(repr(float(v)) for v in values)})"


def test_tables() -> None:
    signed = [(r_, n) for n in (5, 14, 24, 40) for r_ in (0, n, n * n // 5)]
    a, n = (vector(v) for v in zip(*signed, strict=True))
    first = f"psignrank({a}, {n})"
    sums = [(u, m, n) for m, n in ((3, 3), (5, 5), (11, 9), (40, 30)) for u in (1, m * n // 3)]
    u, m, n = (vector(v) for v in zip(*sums, strict=True))
    by_sign, by_sum = r(first, f"pwilcox({u} - 1, {m}, {n}, lower.tail=FALSE)")
    assert [signed_rank_table(a, n) for a, n in signed] == pytest.approx(by_sign, rel=1e-12)
    ours = [rank_sum_table(u + m * (m + 1) // 2, m, n) for u, m, n in sums]
    assert ours == pytest.approx(by_sum, rel=1e-11)


def test_both_stages_of_an_untied_suite() -> None:
    rng = np.random.default_rng(88)
    sides = [rng.lognormal(level, 0.1, (15, 7)) for level in (0.1, 0.0)]
    pair = [
        PerformanceMatrix.from_samples(
            name, {str(k): row for k, row in enumerate(rows)}, better="higher"
        )
        for name, rows in zip("xy", sides, strict=True)
    ]
    result = hpt(*pair)
    tests = ",".join(
        f"wilcox.test({vector(x)}, {vector(y)}, alternative='greater', exact=TRUE)$p.value"
        for x, y in zip(*sides, strict=True)
    )
    assert "tie" in {row.winner for row in result.benchmarks}
    single = [
        PerformanceMatrix.from_samples(
            name, {str(k): [float(np.median(row))] for k, row in enumerate(rows)}, better="higher"
        )
        for name, rows in zip("xy", sides, strict=True)
    ]
    d = vector(np.median(sides[0], axis=1) - np.median(sides[1], axis=1))
    each, (p,), (p_t,) = r(
        f"c({tests})",
        f"wilcox.test({d}, alternative='greater', exact=TRUE)$p.value",
        f"t.test({d}, alternative='greater')$p.value",
    )
    ours = [row.pvalue_candidate for row in result.benchmarks]
    assert ours == pytest.approx(each, rel=1e-11)
    assert hpt(*single).pvalue == pytest.approx(p, rel=1e-11)
    assert hpt_context(*single).paired_t[0].pvalue == pytest.approx(p_t, rel=1e-10)


def test_shapiro() -> None:
    values = np.random.default_rng(12).lognormal(0, 0.4, 40)
    ((p,),) = r(f"shapiro.test({vector(values)})$p.value")
    assert shapiro(values).pvalue == pytest.approx(p, rel=1e-5)


def test_fresh_pairs_of_the_speedup_test(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    pairs = []
    for n, m in ((3, 7), (13, 13), (30, 45), (48, 52), (101, 98)):
        x, y = rng.gamma(9, 1.03 / 9, n), rng.gamma(9, 1 / 9, m)
        pairs += [(x.tolist(), y.tolist()), (x.round(1).tolist(), y.round(1).tolist())]
    samples, results = tmp_path / "samples", tmp_path / "results"
    lines = [" ".join(v.hex() for v in side) for pair in pairs for side in pair]
    samples.write_text("\n".join(lines) + "\n")
    script = str(FOLDER / "protocol.R")
    subprocess.run(["Rscript", "--vanilla", script, str(samples), str(results)], check=True)
    names, *rows = (line.split() for line in results.read_text().splitlines())
    for (x, y), row in zip(pairs, rows, strict=True):
        words = zip(names, row, strict=True)
        check_all(x, y, {k: None if w in ("NA", "NaN") else float(w) for k, w in words})
