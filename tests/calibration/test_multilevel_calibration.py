"""Error rates and coverage of the sound verdict, by simulation with fixed seeds and on real nights.

Everything is judged by the package's own functions, which take many trials at once; one test ties them
to `multilevel`. Means of runs are drawn from their exact law: with normal logs the mean of R runs is
normal, with two modes it is a binomial number of slow runs and normal noise. The bounds are those that
the method's specification measured with 10,000 trials a cell, where the standard error is .002.
"""

from __future__ import annotations

import csv
import json
import lzma
import math
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.estimates import (
    Estimates,
    of_differences,
    of_sides,
    satterthwaite,
    similar_half,
    suite_of_differences,
    suite_of_means,
)
from analysis.methods.multilevel.law import ErrorLaw, decide

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

LAW = ErrorLaw(alpha=0.05)
TRIALS = 10_000
SESSIONS, RUNS, SHIFTS = (2, 3, 5, 10), (3, 10, 30), (0.0, 0.3, 0.7, 1.5)
NOISES = ("lognormal", "bimodal")
SLOW, APART = 0.3, 2.0  # share of slow runs, and how many sd of one mode they lie above the others
GOLDEN = Path(__file__).parents[1] / "golden" / "go_nights" / "means.json"
GO = Path(__file__).resolve().parents[3] / "shared" / "datasets" / "go_bent" / "go_bent_even.csv.xz"


def session_means(rng, noise, runs, shift, shape):
    """Draw means of the logs of runs of sd 1, each with a shift of its session of sd `shift`."""
    shifts = shift * rng.standard_normal(shape)
    if noise == "lognormal":
        return shifts + rng.standard_normal(shape) / math.sqrt(runs)
    whole = math.sqrt(1 + APART**2 * SLOW * (1 - SLOW))
    slow = rng.binomial(runs, SLOW, shape) / runs - SLOW
    return shifts + (APART * slow + rng.standard_normal(shape) / math.sqrt(runs)) / whole


def covered(found: Estimates, half, truth=0.0):
    return float(np.mean(np.abs(found.estimate - truth) <= half))


def coverage(found: Estimates):
    return covered(found, LAW.half(found.error, found.freedom))


def sides(noise, sessions, runs, shift, trials=TRIALS):
    seed = [20261122, sessions, runs, round(10 * shift), len(noise)]
    rng = np.random.default_rng(seed)
    shape = (trials, sessions, 1)
    return (session_means(rng, noise, runs, shift, shape) for _ in range(2))


CELLS = [
    pytest.param(*cell, marks=spot_check if cell[1] == 10 and cell[2] in (0.0, 0.7) else ())
    for cell in product(SESSIONS, RUNS, SHIFTS, NOISES)
]


@pytest.mark.parametrize(("sessions", "runs", "shift", "noise"), CELLS)
def test_paired_sessions_cover(sessions, runs, shift, noise):
    a, b = sides(noise, sessions, runs, shift)
    assert 0.94 <= coverage(of_differences(a - b)) <= 0.965


@pytest.mark.parametrize(("sessions", "runs", "shift", "noise"), CELLS)
def test_separate_sessions_cover(sessions, runs, shift, noise):
    low, high = {2: (0.935, 0.985), 3: (0.94, 0.975)}.get(sessions, (0.94, 0.965))
    a, b = sides(noise, sessions, runs, shift)
    assert low <= coverage(of_sides(of_differences(a), of_differences(b))) <= high


@pytest.mark.parametrize(
    ("sessions", "runs", "shift"),
    [
        pytest.param(*cell, marks=spot_check if cell == (5, 10, 0.7) else ())
        for cell in product(SESSIONS[1:], RUNS, SHIFTS[2:])
    ],
)
def test_pooling_runs_does_not_cover(sessions, runs, shift):
    # the negative control: Welch over all runs, whose scatter within sessions is a chi-square
    rng = np.random.default_rng([7, sessions, runs])
    errors, means = [], []
    n = sessions * runs
    for _ in range(2):
        m = session_means(rng, "lognormal", runs, shift, (TRIALS, sessions))
        within = rng.chisquare(sessions * (runs - 1), TRIALS)
        between = runs * ((m - m.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        errors.append(np.sqrt((within + between) / (n - 1) / n))
        means.append(m.mean(axis=1))
    each = np.stack(errors, axis=-1)
    found = Estimates(
        means[0] - means[1],
        np.hypot(*errors),
        satterthwaite(each, np.full(each.shape, n - 1.0)),
        np.full(TRIALS, 2 * n),
    )
    assert coverage(found) < 0.93


def ragged(shift, trials=TRIALS):
    """Draw differences of sessions with 30, 30, 30, 3 and 3 runs."""
    rng = np.random.default_rng([14, round(10 * shift)])
    runs = np.array([30, 30, 30, 3, 3])[:, None]
    shape = (trials, len(runs), 1)
    scatter = np.sqrt(2 / runs + 2 * shift**2)
    return runs[:, 0], scatter * rng.standard_normal(shape)


@pytest.mark.parametrize("shift", [0.0, pytest.param(0.3, marks=spot_check), 0.7, 1.5])
def test_ragged_sessions_weigh_the_same_and_cover(shift):
    _, d = ragged(shift)
    assert 0.94 <= coverage(of_differences(d)) <= 0.98


@spot_check
def test_sessions_weighed_by_their_runs_do_not_cover():
    runs, d = ragged(1.5)
    w = runs / runs.sum()
    mean = (w * d[..., 0]).sum(axis=1)
    # as a regression with these weights has it
    square = (w * (d[..., 0] - mean[:, None]) ** 2).sum(axis=1) / (len(runs) - 1)
    n = np.full(TRIALS, len(runs))
    assert coverage(Estimates(mean, np.sqrt(square), n - 1.0, n)) < 0.91


@spot_check
def test_blocks_as_units_do_not_cover_where_a_session_moves_one_side():
    rng = np.random.default_rng(15)
    d = rng.standard_normal((2_000, 5, 10, 1)) + 0.7 * rng.standard_normal((2_000, 5, 1, 1))
    assert coverage(of_differences(d.reshape(2_000, 50, 1))) < 0.8
    assert 0.93 <= coverage(of_differences(d.mean(axis=2))) <= 0.97


# ---- the suite


def suites(rng, trials, benchmarks, sessions, common, shift, spread):
    """Draw true log ratios, and session values of benchmarks whose runs have sd .3 to 10 %."""
    sd = np.geomspace(0.003, 0.1, benchmarks)
    truth = spread * rng.standard_normal((trials, 1, benchmarks))
    scatter = sd * np.sqrt(2 / 10 + 2 * shift**2)
    values = truth + scatter * rng.standard_normal((trials, sessions, benchmarks))
    values += common * sd.mean() * rng.standard_normal((trials, sessions, 1))
    return truth[:, 0], values


def judged_suites(seed, trials, benchmarks, sessions, common, shift, spread):
    rng = np.random.default_rng([seed, benchmarks, sessions, round(common), round(10 * shift)])
    truth, values = suites(rng, trials, benchmarks, sessions, common, shift, spread)
    weights = np.ones(benchmarks)
    found = suite_of_differences(values, weights)
    half = LAW.half(found.error, found.freedom)
    wide = similar_half(of_differences(values).estimate, weights, half, LAW.alpha)
    return truth, values, found, half, wide


@pytest.mark.parametrize(
    ("benchmarks", "sessions", "common", "shift", "spread"),
    [
        pytest.param(*cell, marks=spot_check if cell == (12, 3, 1.0, 0.7, 0.05) else ())
        for cell in product((5, 12, 40), SESSIONS, (0.0, 1.0), (0.0, 0.7), (0.0, 0.05))
    ],
)
def test_both_lines_of_a_suite_cover(benchmarks, sessions, common, shift, spread):
    trials = TRIALS if benchmarks < 40 else 4_000
    truth, _, found, half, wide = judged_suites(
        3, trials, benchmarks, sessions, common, shift, spread
    )
    error = 4 * math.sqrt(0.05 * 0.95 / trials)
    assert abs(covered(found, half, truth.mean(axis=1)) - 0.95) <= error
    assert covered(found, wide) >= 0.94
    assert (wide >= half).all()


@spot_check
def test_benchmarks_as_independent_strata_do_not_cover():
    # the negative control: a shift that all benchmarks of a session share
    truth, values, found, _, _ = judged_suites(4, 4_000, 40, 5, 1.0, 0.0, 0.0)
    assert covered(found, strata_half(of_differences(values)), truth.mean(axis=1)) < 0.6


def strata_half(each: Estimates):
    """Give the half-width that takes benchmarks for independent."""
    error = np.sqrt((each.error**2).sum(axis=-1)) / each.error.shape[-1]
    return LAW.half(error, satterthwaite(each.error, each.freedom))


# ---- words


@pytest.mark.parametrize("sessions", [pytest.param(s, marks=spot_check) for s in (3, 5, 10, 30)])
@pytest.mark.parametrize("side", [1, -1])
def test_equivalence_at_the_margin_has_half_of_alpha(sessions, side):
    margin = math.log(1.01)
    rng = np.random.default_rng([5, sessions])
    sd = 0.05 * margin  # so that the other side of the margin is far
    d = side * margin + sd * rng.standard_normal((40_000, sessions, 1))
    found = of_differences(d)
    half = LAW.half(found.error, found.freedom)
    inside = (np.abs(found.estimate) + half < margin).mean()
    p = LAW.pvalue_equivalent(found.estimate, found.error, found.freedom, margin)
    assert np.mean(p <= 0.025) == pytest.approx(inside, abs=1e-4)
    assert 0.02 <= inside <= 0.03


@spot_check
def test_equivalence_by_a_90_percent_interval_would_have_all_of_it():
    margin = math.log(1.01)
    rng = np.random.default_rng(6)
    found = of_differences(margin + 0.05 * margin * rng.standard_normal((40_000, 5, 1)))
    half = ErrorLaw(alpha=0.1).half(found.error, found.freedom)
    assert (np.abs(found.estimate) + half < margin).mean() > 0.04


@spot_check
@pytest.mark.parametrize(("correction", "least", "most"), [("holm", 0.0, 0.07), ("none", 0.3, 1.0)])
def test_a_word_is_false_for_any_benchmark_as_often_as_the_correction_says(correction, least, most):
    # a common shift of each session ties the benchmarks together; the truth is no difference
    rng = np.random.default_rng(16)
    trials = 600
    false = 0
    for _ in range(trials):
        d = rng.standard_normal((6, 20)) + 0.5 * rng.standard_normal((6, 1))
        words = decide(of_differences(d), LAW, math.log(1.01), correction).outcome
        false += bool({"faster", "slower"} & set(words))
    assert least <= false / trials <= most


# ---- looking again and again


def looks(noise, trials, most=100):
    rng = np.random.default_rng([8, len(noise)])
    shape = (trials, most)
    if noise == "normal":
        d = rng.standard_normal(shape)
    elif noise == "t3":
        d = rng.standard_t(3, shape)
    else:  # three lognormal runs a side and session
        runs = np.exp(0.5 * rng.standard_normal((2, 3, *shape)))
        d = np.subtract(*runs.mean(axis=1))
    n = np.arange(1, most + 1)
    mean = np.cumsum(d, axis=1) / n
    squares = np.maximum(np.cumsum(d**2, axis=1) - n * mean**2, 0)
    error = np.sqrt(squares[:, 1:] / (n[1:] - 1) / n[1:])
    return mean[:, 1:], error, n[1:] - 1.0


def ever_wrong(noise, law, trials):
    mean, error, freedom = looks(noise, trials)
    half = law.half(error, np.broadcast_to(freedom, error.shape))
    return float(
        np.mean((np.abs(mean) > np.where(np.isnan(half), np.inf, half))[:, 1:].any(axis=1))
    )


@pytest.mark.parametrize(
    ("noise", "trials"),
    [
        pytest.param("normal", 1_000, marks=spot_check),
        ("normal", 10_000),
        ("lognormal", 10_000),
        ("t3", 10_000),
    ],
)
def test_a_confidence_sequence_is_hardly_ever_wrong(noise, trials):
    assert ever_wrong(noise, ErrorLaw(alpha=0.05, always_valid=True), trials) <= 0.05
    assert ever_wrong(noise, LAW, trials) > 0.25  # the negative control: t at every look


@spot_check
@pytest.mark.parametrize("planned", [2, 3])
def test_planned_looks_share_the_level(planned):
    mean, error, freedom = looks("normal", 2_500)
    at = [2, 8, 98][:planned]  # 4, 10 and 100 sessions
    shared = ErrorLaw(alpha=0.05 / planned).half(error, np.broadcast_to(freedom, error.shape))
    plain = LAW.half(error, np.broadcast_to(freedom, error.shape))
    assert np.mean((np.abs(mean) > shared)[:, at].any(axis=1)) <= 0.05
    assert np.mean((np.abs(mean) > plain)[:, at].any(axis=1)) > 0.07


# ---- real nights: one program under two names


def golden_nights():
    """Give means of logs, shape (nights, halves, benchmarks)."""
    return np.array(json.loads(GOLDEN.read_text())["means"])


def all_nights():
    """Give logs of all runs of the same toolchain, shape (nights, runs, benchmarks)."""
    if not GO.exists():
        pytest.skip("the nightly runs of the Go benchmarks are not beside this project")
    runs = defaultdict(dict)
    with lzma.open(GO, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["toolchain"] == "Base":
                place = (row["stamp"], int(row["run"]))
                runs[place][row["benchmark"]] = math.log(float(row["ns_per_op"]))
    benchmarks = json.loads(GOLDEN.read_text())["benchmarks"]
    nights = sorted({night for night, _ in runs})
    return np.array(
        [[[runs[night, k][b] for b in benchmarks] for k in range(1, 26)] for night in nights]
    )


def chosen(rng, splits, nights, count):
    """Draw sets of nights without repetition, shape (splits, count)."""
    return np.argsort(rng.random((splits, nights)), axis=1)[:, :count]


def rejected(found: Estimates, half):
    return 1 - covered(found, half)


def judge_halves(differences):
    """Give the shares that the session t, and strata over benchmarks, reject."""
    weights = np.ones(differences.shape[-1])
    found = suite_of_differences(differences, weights)
    ours = rejected(found, LAW.half(found.error, found.freedom))
    return ours, rejected(found, strata_half(of_differences(differences)))


def judge_nights(rng, means, count, splits):
    """The same for nights against other nights."""
    picked = chosen(rng, splits, len(means), 2 * count)
    a, b = means[picked[:, :count]], means[picked[:, count:]]
    found = suite_of_means(a, b, np.ones(means.shape[-1]))
    ours = rejected(found, LAW.half(found.error, found.freedom))
    return ours, rejected(found, strata_half(of_sides(of_differences(a), of_differences(b))))


@pytest.mark.parametrize("count", [pytest.param(3, marks=spot_check), 5, 10])
def test_halves_of_go_nights_by_their_means(count):
    halves = golden_nights()
    rng = np.random.default_rng([9, count])
    splits = 1_000
    picked = chosen(rng, splits, len(halves), count)
    swapped = rng.choice([-1.0, 1.0], (splits, count, 1))  # which half is called the candidate
    ours, strata = judge_halves(swapped * (halves[picked, 0] - halves[picked, 1]))
    assert ours <= 0.07
    assert strata > 0.3


@pytest.mark.parametrize("count", [pytest.param(3, marks=spot_check), 5])
def test_separate_go_nights_by_their_means(count):
    means = golden_nights().mean(axis=1)
    ours, strata = judge_nights(np.random.default_rng([10, count]), means, count, 1_000)
    assert ours <= 0.07
    assert strata > 0.06


def test_the_golden_means_are_those_of_the_runs():
    runs, halves = all_nights(), golden_nights()
    assert halves[:, 0] == pytest.approx(runs[:, ::2].mean(axis=1), abs=1e-6)
    assert halves[:, 1] == pytest.approx(runs[:, 1::2].mean(axis=1), abs=1e-6)


@pytest.mark.parametrize("count", [3, 5, 10])
def test_halves_of_go_nights_split_at_random(count):
    runs = all_nights()
    rng = np.random.default_rng([11, count])
    nights, size, _ = runs.shape
    splits = 1_500
    order = np.argsort(rng.random((splits, nights, size)), axis=2)
    ours = (order < size // 2) / (size // 2) - (order >= size // 2) / (size - size // 2)
    differences = np.einsum("snr,nrb->snb", ours, runs, optimize=True)
    picked = chosen(rng, splits, nights, count)
    found, strata = judge_halves(np.take_along_axis(differences, picked[..., None], axis=1))
    assert found <= 0.07
    assert strata > 0.3


@pytest.mark.parametrize("count", [3, 5])
def test_separate_go_nights(count):
    rng = np.random.default_rng([12, count])
    ours, strata = judge_nights(rng, all_nights().mean(axis=1), count, 2_000)
    assert ours <= 0.07
    assert strata > 0.06


# ---- what was judged above is what is public


@spot_check
@pytest.mark.parametrize("shared", [True, False])
def test_the_public_function_gives_the_same(shared):
    rng = np.random.default_rng(13)
    for _ in range(5):
        logs = rng.normal(0, 0.05, (2, 4, 4, 6))  # sides, sessions, benchmarks, runs

        def matrix(side, logs=logs):
            first = 0 if shared else 10 * side
            return PerformanceMatrix.from_samples(
                f"v{side}",
                {f"b{k}": np.exp(-logs[side, :, k]).ravel() for k in range(4)},
                better="lower",
                sessions={f"b{k}": np.repeat(np.arange(4) + first, 6) for k in range(4)},
                blocks={f"b{k}": np.arange(24) + 100 * first for k in range(4)},
            )

        result = multilevel(matrix(0), matrix(1))
        a, b = logs.mean(axis=3)
        each = of_differences(a - b) if shared else of_sides(of_differences(a), of_differences(b))
        half = LAW.half(each.error, each.freedom)
        assert [math.log(x.low) for x in result.benchmarks] == pytest.approx(
            (each.estimate - half).tolist(), abs=1e-10
        )
        weights = np.ones(4)
        whole = suite_of_differences(a - b, weights) if shared else suite_of_means(a, b, weights)
        assert result.these.error == pytest.approx(float(whole.error), rel=1e-9)
