"""Geometric-mean speedups and paired t-tests against the paper, the slides, R and scipy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.page import hpt_context

HERE = Path(__file__).parent


def matrices(ours: dict, theirs: dict, better: str = "higher") -> tuple:
    return tuple(
        PerformanceMatrix.from_samples(name, rows, better=better)
        for name, rows in (("A", ours), ("B", theirs))
    )


def test_geometric_means_of_splash_2(splash: tuple) -> None:
    golden = json.loads((HERE / "hpt_splash2" / "expected.json").read_text())
    rows = {row.of: row for row in hpt_context(*splash).geometric_means}
    assert rows["medians"].speedup == pytest.approx(2.1427487711690665, rel=1e-12)
    assert rows["runs"].speedup == pytest.approx(2.1459254441190314, rel=1e-12)
    assert rows["means"].speedup == pytest.approx(2.1456015018995234, rel=1e-12)
    assert round(rows["medians"].speedup, 2) == golden["published"]["gm_speedup"]
    assert round(rows["medians"].confidence, 2) == golden["published"]["confidence_at_gm_speedup"]
    for row in rows.values():
        assert row.confidence == hpt(*splash, speedup=row.speedup).confidence
        assert row.confidence_loss == pytest.approx(row.confidence / 0.95 - 1)
        assert row.speedup_error == pytest.approx(row.speedup / 1.7776 - 1, abs=1e-9)


def test_paired_t_of_the_specint_pair(specint: tuple) -> None:
    golden = json.loads((HERE / "hpt_slides_specint" / "expected.json").read_text())
    r = golden["computed_R"]
    plain, logs = hpt_context(*specint).paired_t
    assert plain.t == pytest.approx(1.35117501980464, rel=1e-12)
    assert plain.df == 11
    assert plain.pvalue == pytest.approx(0.101887490910345, rel=1e-12)
    assert plain.pvalue_two_sided == pytest.approx(0.20377498182069, rel=1e-12)
    digits = (
        1e-12 if np.lib.NumpyVersion(scipy.__version__) >= "1.17.0" else 2e-11
    )  # of its quantile
    interval = (-42.6642515006703, 178.33425150067)
    assert (plain.low, plain.high) == pytest.approx(interval, rel=digits)
    assert logs.pvalue == pytest.approx(0.000330238400140902, rel=1e-10)
    assert r.get("p_one", plain.pvalue) == pytest.approx(plain.pvalue, rel=1e-12)
    # "does not reject at confidence 0.95", which the slides hold against it
    assert plain.confidence < 0.95 < logs.confidence


def test_geometric_mean_of_the_slides(specint: tuple) -> None:
    result = hpt_context(*specint)
    assert result.geometric_means[0].speedup == pytest.approx(3.2113695705503886, rel=1e-12)
    assert len({row.speedup for row in result.geometric_means}) <= 3  # one run: all agree
    assert result.r_speedup == pytest.approx(2.2395157803718115, rel=1e-12)


def test_formulas_of_tables_2_to_4() -> None:
    golden = json.loads((HERE / "hpt_spec_pairs" / "expected.json").read_text())
    printed, derived = golden["published"], golden["computed_derived"]
    # The same formulas as GeometricMean's, on the printed speedups and confidences.
    errors = [
        100 * (gm / best - 1)
        for gm, best in zip(printed["gm_speedup"], printed["speedup_095_hpt"], strict=True)
    ]
    losses = [100 * (c / 0.95 - 1) for c in printed["hpt_confidence_of_gm"]]
    assert errors == pytest.approx(derived["speedup_error_pct"], abs=1e-4)
    assert losses == pytest.approx(derived["confidence_loss_pct"], abs=1e-4)
    assert losses == pytest.approx(printed["confidence_loss_pct"], abs=0.051)
    assert errors == pytest.approx(printed["speedup_error_pct"], abs=0.051)


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_paired_t_against_scipy(better: str) -> None:
    rng = np.random.default_rng(3)
    ours = {f"b{k}": rng.lognormal(0.1, 0.2, 4) for k in range(9)}
    theirs = {f"b{k}": rng.lognormal(0, 0.2, 6) for k in range(9)}
    result = hpt_context(*matrices(ours, theirs, better), speedup=1.1, confidence=0.9)
    a, b = (np.array([np.median(v) for v in side.values()]) for side in (ours, theirs))
    ratio = (a / b if better == "higher" else b / a) / 1.1
    done = stats.ttest_1samp(np.log(ratio), 0, alternative="greater")
    both = stats.ttest_1samp(np.log(ratio), 0).confidence_interval(0.9)
    logs = result.paired_t[1]
    assert (logs.t, logs.pvalue) == pytest.approx((done.statistic, done.pvalue), rel=1e-10)
    assert (logs.low, logs.high) == pytest.approx((np.exp(both.low), np.exp(both.high)), rel=1e-10)


def test_no_spread_and_one_benchmark_are_said() -> None:
    result = hpt_context(*matrices({"a": [2.0], "b": [2.0]}, {"a": [1.0], "b": [1.0]}))
    assert [row.pvalue for row in result.paired_t] == [None, None]
    assert result.geometric_means[0].speedup_error is None
    assert "not possible, no spread" in str(result)
    one = hpt_context(*matrices({"a": [2.0]}, {"a": [1.0]})).paired_t[0]
    assert (one.mean, one.sd, one.t, one.df) == (1.0, None, None, 0)
    json.dumps(result.to_dict(), allow_nan=False)
