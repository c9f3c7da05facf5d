"""Every number of the Speedup-Test's report that can be reproduced, and R's values for its data."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.speedup_test.compare import speedup_test, speedup_test_suite
from analysis.methods.speedup_test.result import SpeedupSuite, SpeedupTest, proportion
from analysis.stats.classical import f_test, ks_centred, rank_sum, student, variance_ratio, welch
from harness.cli import main

FOLDER = Path(__file__).with_name("speedup_test")
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
SEARCH = json.loads((FOLDER / "confidence_search.json").read_text())
PUBLISHED = list(csv.DictReader((FOLDER / "published_results.csv").read_text().splitlines()))
NAMES = [row["Name"] for row in PUBLISHED]
KEYS = ("b1", "b2", "b3", "b4")
CENTRES = ("min", "mean", "median")


def sample(k: int, side: int) -> list[float]:
    return [float(x) for x in (FOLDER / f"bench{k}.data.{side}").read_text().split()]


def matrix(side: int) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(
        f"version {side}",
        {name: sample(k, side) for k, name in enumerate(NAMES, 1)},
        better="lower",
    )


def suite(**options: object) -> SpeedupSuite:
    return speedup_test_suite(baseline=matrix(1), candidate=matrix(2), **options)


SEARCHED = suite(confidence=None)
COMPATIBLE = suite(confidence=None, compatible=True)


def columns(row: SpeedupTest, result: SpeedupSuite) -> dict[str, str]:
    """Print the eleven columns as the original does."""

    def decided(value: bool | None) -> str:
        return "NA" if value is None else str(value).upper()

    def level(value: float | None) -> str:
        return "NA" if value is None else f"{value:g}"

    cells = {
        "Name": row.name,
        "SpeedupMin": f"{round(row.speedup_min, 3):g}",
        "SpeedupMean": f"{round(row.speedup_mean, 3):g}",
        "IsMeanSignificant": decided(row.mean.significant),
        "MeanConfLevel": level(row.mean.confidence),
        "SpeedupMedian": f"{round(row.speedup_median, 3):g}",
        "IsMedianSignificant": decided(row.median.significant),
        "MedianConfLevel": level(row.median.confidence),
    }
    for centre in CENTRES:
        cells[f"Coef{centre.title()}"] = f"{result.coefficients[centre][row.name]:g}"
    return cells


@pytest.mark.parametrize(
    ("name", "options"),
    [("search", ""), ("asked", "--conf-level 0.9 --weight fraction --compatible --precision 0.1")],
)
def test_the_originals_files_stay_as_they_are(
    name: str, options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    words = ["speedup-test", "bench.cfg", "-o", str(tmp_path / name), *options.split()]
    assert main(words, io.StringIO(), io.StringIO()) == 0
    for path in (FOLDER / "original_files").glob(f"{name}.*"):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("k", range(4), ids=NAMES)
def test_the_published_results_table_with_its_own_search(k: int) -> None:
    assert columns(COMPATIBLE.benchmarks[k], COMPATIBLE) == PUBLISHED[k]


@pytest.mark.parametrize("k", range(4), ids=NAMES)
def test_the_published_results_table_with_the_scan(k: int) -> None:
    # The highest level for the fourth mean is 0.84: pooled t has p = 0.1584 <= 0.16.
    expected = PUBLISHED[k] | ({"MeanConfLevel": "0.84"} if k == 3 else {})
    assert columns(SEARCHED.benchmarks[k], SEARCHED) == expected


def test_the_levels_of_bisection_are_told_with_their_own_steps() -> None:
    # p = 0.1584: 0.5 + 174 / 512 is accepted, 175 is not; its two decimals are the printed 0.83
    fourth = COMPATIBLE.benchmarks[3].mean
    assert {step.risk for step in fourth.steps} == {1 - (0.5 + 174 / 512)}
    assert [step.outcome for step in fourth.steps] == [*["not rejected"] * 3, "rejected"]
    for row in COMPATIBLE.benchmarks[1:]:
        for decision in (row.mean, row.median):
            (risk,) = {step.risk for step in decision.steps}
            assert decision.confidence <= 1 - risk < decision.confidence + 0.01
            assert decision.pvalue == decision.steps[-1].pvalue <= risk


def test_the_recommended_levels() -> None:
    rows = SEARCHED.benchmarks
    assert [row.mean.confidence for row in rows] == SEARCH["recommended"]["mean"]
    assert [row.median.confidence for row in rows] == SEARCH["recommended"]["median"]
    assert [row.mean.significant for row in rows] == [False, True, True, True]


@pytest.mark.parametrize("k", range(4), ids=NAMES)
def test_one_pair_at_a_time_says_the_same(k: int) -> None:
    for compatible, result in ((False, SEARCHED), (True, COMPATIBLE)):
        alone = speedup_test(
            sample(k + 1, 1), sample(k + 1, 2), confidence=None, compatible=compatible
        )
        row = result.benchmarks[k]
        assert (alone.mean, alone.median) == (row.mean, row.median)


@pytest.mark.parametrize("k", range(4), ids=NAMES)
def test_every_statistic_of_r(k: int) -> None:
    x, y = sample(k + 1, 1), sample(k + 1, 2)
    r = EXPECTED["computed_R"]["tests"][KEYS[k]]
    row = speedup_test(x, y)
    for step, side in zip(row.mean.steps, ("shapiro_x", "shapiro_y"), strict=False):
        assert step.statistic == pytest.approx(r[side]["W"], rel=1e-9)
        assert step.pvalue == pytest.approx(r[side]["p"], rel=1e-7)
    for test, key, name in (
        (f_test, "var", "F"),
        (student, "t", "t"),
        (welch, "welch", "t"),
        (ks_centred, "ks_rounded10", "D"),
        (rank_sum, "wilcox_default", "W"),
    ):
        done = test(x, y)
        assert done.statistic[0] == pytest.approx(r[key][name], rel=1e-10)
        assert done.pvalue[0] == pytest.approx(r[key]["p"], rel=1e-10)
    assert row.speedup_min == pytest.approx(r["spmin"], rel=1e-12)
    assert row.speedup_mean == pytest.approx(r["spmean"], rel=1e-12)
    assert row.speedup_median == pytest.approx(r["spmed"], rel=1e-12)
    for centre in CENTRES:
        assert row.times(centre) == pytest.approx((r[centre]["x"], r[centre]["y"]), rel=1e-12)


@pytest.mark.parametrize("centre", CENTRES)
def test_overall_gain_and_speedup(centre: str) -> None:
    published = EXPECTED["published"]["overall"][centre]
    assert round(SEARCHED.gain[centre], 3) == published["gain"]
    assert round(SEARCHED.speedup[centre], 3) == published["speedup"]
    computed = EXPECTED["computed_scipy"]["overall"][centre]
    for weights, key in (
        ("equal", "equal_weights"),
        ("fraction", "weights_fraction_of_initial_time"),
    ):
        result = suite(weights=weights)
        assert result.gain[centre] == pytest.approx(computed[key]["gain"], rel=1e-12)
        assert result.speedup[centre] == pytest.approx(computed[key]["speedup"], rel=1e-12)


def test_proportions_of_the_suite() -> None:
    mean, median = SEARCHED.proportion_mean, SEARCHED.proportion_median
    published = EXPECTED["published"]["proportions"]
    assert (mean.accelerated, mean.total, mean.confidence) == (3, 4, 0.95)
    assert [round(mean.low, 3), round(mean.high, 3)] == published["mean"]["interval"]
    assert (mean.needed_benchmarks, mean.accurate, mean.precision) == (289, False, 0.05)
    assert (median.accelerated, median.total) == (4, 4)
    assert [round(median.low, 3), round(median.high, 3)] == published["median"]["interval"]
    assert (median.needed_benchmarks, median.accurate) == (None, False)
    r = EXPECTED["computed_R"]["prop_test"]
    assert [mean.low, mean.high] == pytest.approx(r["a3_4"], rel=1e-12)
    assert [median.low, median.high] == pytest.approx(r["a4_4"], rel=1e-12)


def test_the_example_of_17_of_30() -> None:
    r = EXPECTED["computed_R"]["prop_test"]
    for confidence, key in ((0.9, "a17_30_90"), (0.5, "a17_30_50")):
        done = proportion(17, 30, confidence=confidence)
        assert [done.low, done.high] == pytest.approx(r[key], rel=1e-12)
        assert [done.low_plain, done.high_plain] == pytest.approx(r[f"{key}_nocc"], rel=1e-12)
        assert done.accurate  # 17 - 17^2 / 30 = 7.37
    assert proportion(17, 30).needed_benchmarks == 378


def test_walds_formula() -> None:
    # R: 3/4 + c(-1, 1) * qnorm(.975) * sqrt(3/4 * 1/4 / 4); section 5's first formula leaves [0, 1]
    done = proportion(3, 4)
    assert (done.low_wald, done.high_wald) == pytest.approx((0.32565535, 1.17434465), abs=5e-8)
    done = proportion(17, 30, confidence=0.9)  # qnorm(.95) * sqrt(17/30 * 13/30 / 30)
    assert (done.low_wald, done.high_wald) == pytest.approx((0.41785345, 0.71547989), abs=5e-8)
    none = proportion(0, 4)
    assert (none.low_wald, none.high_wald) == (0, 0)


X = (2.799, 2.046, 1.259, 1.877, 2.244)  # example 1 of section 4.1
Y = (1.046, 0.259, 0.877, 1.244, 1.799)


def test_the_ratio_of_the_variances_of_example_1() -> None:
    assert variance_ratio(1.0, (4, 4), confidence=0.95) == pytest.approx(
        (0.1041175, 9.6045299), abs=5e-8
    )
    low, high = variance_ratio(2.0, (9, 4), confidence=0.9)  # R: 2 / qf(c(.95, .05), 9, 4)
    assert (low, high) == pytest.approx((0.333401179, 7.266177023), rel=1e-8)
    fisher = speedup_test(X, Y).mean.steps[2]
    assert fisher.test == "F"
    assert (fisher.low, fisher.high) == pytest.approx(
        (fisher.statistic * 0.1041175, fisher.statistic * 9.6045299), rel=1e-6
    )
    others = [step for step in speedup_test(X, Y).mean.steps if step.test != "F"]
    assert {(step.low, step.high) for step in others} == {(None, None)}


PRINTED = """\
Analysis report of bench.cfg

Overall gain (ExecutionTime=min) = 0.371
Overall speedup (ExecutionTime=min) = 1.589

Overall gain (ExecutionTime=mean) = 0.178
Overall speedup (ExecutionTime=mean) = 1.216

Overall gain (ExecutionTime=median) = 0.156
Overall speedup (ExecutionTime=median) = 1.185

The observed proportion of accelerated benchmarks (speedup of the mean) a/b = 3/4 = 0.75
The confidence level for computing proportion confidence interval is 0.95.
Proportion confidence interval (speedup of the mean) = [0.219; 0.987]
Warning: this confidence interval of the proportion may not be accurate because the validity condition {a(1-a/b) > 5} is not satisfied.
The minimal needed number of randomly selected benchmarks is 289 (in order to have a precision r=0.05).
Remark: The computed confidence interval of the proportion is invalid if b the experimented set of benchmarks is not randomly selected among a huge number of representative benchmarks.

The observed proportion of accelerated benchmarks (speedup of the median) a/b = 4/4 = 1
The confidence level for computing proportion confidence interval is 0.95.
Proportion confidence interval (speedup of the median) = [0.396; 1]
Warning: this confidence interval of the proportion may not be accurate because the validity condition {a(1-a/b) > 5} is not satisfied.
Remark: The computed confidence interval of the proportion is invalid if b the experimented set of benchmarks is not randomly selected among a huge number of representative benchmarks.
"""


def test_original_prints_what_the_tool_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # section 6.3.2, line by line; its script puts ./ before the name
    shutil.copytree(FOLDER, tmp_path / "lab")
    monkeypatch.chdir(tmp_path / "lab")
    out = io.StringIO()
    assert main(["speedup-test", "bench.cfg", "--original"], out, io.StringIO()) == 0
    assert out.getvalue() == PRINTED
    warned = Path("bench.cfg.warning").read_text()
    more = "Please do more than 30 observations of the executions times."
    small = "too small for applying the Student's t-test (speedup of the mean)."
    # it is printed with Sample1 twice; Shapiro rejects both (the print's slip)
    assert warned.split("\n\n") == [
        "Warnings regarding analysis of bench.cfg",
        "First benchmark :",
        f"Sample1 {small}\n{more}",
        f"Sample2 {small}\n{more}",
        "Unable to find a confidence level greater than 50% to guarantee the statistical "
        "significance of mean speedup.",
        "3 warning(s).\n",
    ]


def test_the_example_of_two_programs() -> None:
    # 3 s to 1 s and 3600 s to 3428 s, one run each: nothing can be concluded, the gain is a gain.
    old, new = [
        PerformanceMatrix.from_samples(name, {"P1": [a], "P2": [b]}, better="lower")
        for name, a, b in (("old", 3, 3600), ("new", 1, 3428))
    ]
    published = EXPECTED["published"]["example_p1_p2"]
    equal, by_time = (
        speedup_test_suite(baseline=old, candidate=new, weights=w) for w in ("equal", "fraction")
    )
    computed = EXPECTED["computed_scipy"]["p1_p2"]
    # The report cuts digits: 4.77 % and 4.82 %.
    assert np.floor(by_time.gain["median"] * 1e4) / 1e4 == published["G_time"]
    assert np.floor(equal.gain["median"] * 1e4) / 1e4 == published["G_equal"]
    assert round(equal.speedup["median"], 2) == published["S_equal"]
    # the exact figures take 3428 s as printed, not 3600 / 1.05
    assert equal.gain["median"] == pytest.approx(1 - 3429 / 3603, rel=1e-12)
    weights = list(by_time.weights["median"].values())
    assert weights == pytest.approx(computed["time_weights"], rel=1e-12)
    assert [row.mean.significant for row in equal.benchmarks] == [None, None]


def test_the_example_of_section_4_1() -> None:
    published = EXPECTED["published"]["example_t"]
    row = speedup_test(sample(2, 1), sample(2, 2))
    shapiro, _, f, t = row.mean.steps
    assert round(shapiro.statistic, 4) == published["shapiro_W"]
    assert round(shapiro.pvalue, 4) == published["shapiro_p"]
    assert (round(f.statistic, 12), round(f.pvalue, 12)) == (1, 1)
    assert round(t.statistic, 4) == published["t"]
    assert round(t.pvalue, 5) == published["t_p"]
    assert row.mean.significant is True
    assert row.mean.confidence == 0.95
    other = welch(sample(2, 1), sample(2, 2))
    assert round(other.pvalue[0], 5) == published["welch_p"]


def test_the_bzip2_example_as_far_as_it_is_known() -> None:
    # D = 9/32 and complete separation of 32 and 32 runs; the data themselves are not published.
    rng = np.random.default_rng(2010)
    y = np.sort(rng.uniform(1, 1.2, 32))
    done = rank_sum(y + 10, y)
    assert done.statistic[0] == EXPECTED["published"]["example_bzip2"]["wilcoxon_W"]
    assert done.pvalue[0] < 1e-17  # 32 < 50 without ties: R is exact too
    tied = rank_sum(np.round(y, 2) + 10, np.round(y, 2))
    r = EXPECTED["computed_R"]["bzip2"]["wilcox_cc_untied"]
    assert tied.pvalue[0] == pytest.approx(r, rel=0.05)  # ties move it, as in the printed 3.245e-12
