"""The Speedup-Test's error rates by simulation with fixed seeds, and its proportion's coverage, exactly.

"Published" are the rates of an independent program in this project's survey of analysis tools, at a
risk of 0.05, one-sided, where nothing differs. What the survey leaves open was chosen here:

- F-then-t, Student, Welch: normal times with mean 100; its standard error of .002 belongs to 20,000
  pairs. The figures are those without the Shapiro gate, which the protocol adds.
- "bimodal against unimodal with equal medians": modes of weights .6 and .4, 4 sd apart; the unimodal side
  is normal with the sd of one mode. Weights of .55 to .7 and 3 to 6 sd give .08 to .13 with 15
  runs and .09 to .20 with 40. Standard errors of .006 and .007 belong to about 3,000 pairs.
- realistic noise (skewed core, 4 % spikes, three bimodal benchmarks of twelve): the model of HPT's
  calibration, with its spikes of 4 sd.
- session noise: .7 sd; neither runs nor suites are given. 5 runs and spikes of 10 sd were chosen, among 4, 5
  and 10, because they meet the figures: so these are no independent reproduction. Suites are taken as 300,
  as .967 and .997 are 290 and 299 of 300. With many suites .997 is not possible beside .297 for each
  benchmark: none of twelve can be above .5 under A/A, so 1 - .5^7.1 = .993 is the most; ours is .986.
- the search: no noise or number of runs is given. Where no Shapiro test stands in the way (the median,
  and the mean above 30 runs) the rates are the published ones; the mean of small samples stays below.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.speedup_test.compare import speedup_test_suite
from analysis.methods.speedup_test.result import KOLMOGOROV, SpeedupSuite, proportion
from analysis.stats.classical import f_test, student, welch

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

N = 12  # benchmarks of a suite
SPREAD = np.geomspace(0.003, 0.10, N)[:, None]  # log-sd by benchmark
SESSION_SUITES = 300  # of the published figures with session noise
Array = np.ndarray


def judged(x: Array, y: Array, confidence: float | None = 0.95) -> SpeedupSuite:
    """Judge many pairs at once, as the benchmarks of one suite; the last axis holds the runs."""
    old, new = (
        PerformanceMatrix.from_samples(
            name, dict(enumerate_names(side.reshape(-1, side.shape[-1]))), better="lower"
        )
        for name, side in (("old", x), ("new", y))
    )
    return speedup_test_suite(baseline=old, candidate=new, confidence=confidence)


def enumerate_names(rows: Array):
    return ((f"b{k}", row) for k, row in enumerate(rows))


def outcomes(suite: SpeedupSuite, centre: str) -> Array:
    """Give 1 for significant, 0 for not, nan where the protocol cannot conclude."""
    said = [getattr(test, centre).significant for test in suite.benchmarks]
    return np.array([math.nan if one is None else float(one) for one in said])


def agrees(rate: float, pairs: int, published: float, of: int) -> bool:
    """Compare two simulated rates within 4 standard errors of their difference."""
    p = (rate * pairs + published * of) / (pairs + of)
    return abs(rate - published) <= 4 * math.sqrt(p * (1 - p) * (1 / pairs + 1 / of)) + 1 / pairs


# --- the tests before the test

SETTINGS = [((5, 2.0, 20, 1.0), (0.087, 0.134, 0.054)), ((8, 1.8, 30, 1.0), (0.071, 0.115, 0.050))]


def normal_pairs(setting: tuple, pairs: int, seed: int) -> tuple[Array, Array]:
    n, sd_x, m, sd_y = setting
    rng = np.random.default_rng(seed)
    return 100 + rng.normal(0, sd_x, (pairs, n)), 100 + rng.normal(0, sd_y, (pairs, m))


@pytest.mark.parametrize(
    ("setting", "published"), [pytest.param(*SETTINGS[0], marks=spot_check), SETTINGS[1]]
)
def test_the_f_test_before_the_t_test_raises_the_risk(setting: tuple, published: tuple) -> None:
    def rates(given: tuple) -> tuple[float, ...]:
        x, y = normal_pairs(given, 40_000, seed=1)
        pooled, apart = student(x, y).pvalue, welch(x, y).pvalue
        chosen = np.where(f_test(x, y).pvalue > 0.05, pooled, apart)
        return tuple(float(np.mean(p <= 0.05)) for p in (chosen, pooled, apart))

    ours = rates(setting)
    for rate, figure in zip(ours, published, strict=True):
        assert agrees(rate, 40_000, figure, 20_000)
    assert ours[2] < ours[0] < ours[1]
    # the negative control: with equal variances all three keep their risk
    for rate, figure in zip(rates((setting[0], 1.0, setting[2], 1.0)), published, strict=True):
        assert abs(rate - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 40_000)
        assert agrees(rate, 40_000, figure, 20_000) == (figure < 0.06)


@pytest.mark.parametrize(("setting", "published"), SETTINGS)
def test_the_whole_mean_protocol_has_the_rate_of_f_then_t(setting: tuple, published: tuple) -> None:
    said = outcomes(judged(*normal_pairs(setting, 8000, seed=2)), "mean")
    concluded = said[~np.isnan(said)]
    # two Shapiro tests of normal times each reject 5 %
    assert abs(concluded.size / said.size - 0.95**2) < 0.015
    assert agrees(float(concluded.mean()), concluded.size, published[0], 20_000)
    assert not agrees(float(concluded.mean()), concluded.size, published[1], 20_000)


# --- the median protocol is no test of medians


def two_modes(m: int, pairs: int, seed: int) -> tuple[Array, Array]:
    """Give a bimodal baseline and a normal candidate with the same median."""
    rng = np.random.default_rng(seed)
    weight, apart = 0.6, 4.0
    low, high = 0.0, apart
    for _ in range(60):  # bisect for the median of the mixture
        middle = (low + high) / 2
        below = weight * stats.norm.cdf(middle) + (1 - weight) * stats.norm.cdf(middle - apart)
        low, high = (middle, high) if below < 0.5 else (low, middle)
    modes = np.where(rng.random((pairs, m)) < weight, 0.0, apart)
    return 100 + modes + rng.normal(size=(pairs, m)), 100 + low + rng.normal(size=(pairs, m))


def lognormals(m: int, pairs: int, seed: int, sds: tuple = (0.8, 0.1)) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return tuple(np.exp(sd * rng.normal(size=(pairs, m))) for sd in sds)


@pytest.mark.parametrize(
    ("model", "m", "published"),
    [
        (two_modes, 15, 0.130),
        (two_modes, 40, 0.169),
        (lognormals, 15, 0.070),
        (lognormals, 40, 0.085),
    ],
)
def test_equal_medians_are_called_a_speedup(model, m: int, published: float) -> None:
    suite = judged(*model(m, 6000, seed=m))
    said = outcomes(suite, "median")
    # up to 15 runs, centred samples cannot differ enough; above 30 the protocol does not ask
    assert not np.isnan(said).any()
    assert agrees(float(said.mean()), said.size, published, 3000)
    assert said.mean() > 0.05 + 4 * math.sqrt(0.05 * 0.95 / said.size)
    shapes = [
        step.pvalue <= 0.05
        for test in suite.benchmarks
        for step in test.median.steps
        if step.test == KOLMOGOROV
    ]
    assert len(shapes) == said.size
    assert np.mean(shapes) == 0 if m == 15 else np.mean(shapes) > 0.5


def test_equal_laws_keep_the_risk_of_the_median_protocol() -> None:
    # the negative control: the same law on both sides
    for m, published in ((15, 0.130), (40, 0.169), (40, 0.085)):
        said = outcomes(judged(*lognormals(m, 6000, seed=9, sds=(0.8, 0.8))), "median")
        assert said.mean() < 0.05 + 4 * math.sqrt(0.05 * 0.95 / said.size)
        assert not agrees(float(said.mean()), said.size, published, 3000)
    # and with 30 runs the test of shapes does reject
    said = outcomes(judged(*lognormals(30, 2000, seed=9)), "median")
    assert np.isnan(said).mean() > 0.5


# --- suites under A/A


def plain(rng: np.random.Generator, suites: int, m: int) -> Array:
    return np.exp(0.03 * rng.normal(size=(suites, N, m)))


def realistic(rng: np.random.Generator, suites: int, m: int, spike: float = 4.0) -> Array:
    """Skewed core, 4 % spikes, three bimodal benchmarks; scaled to the stated log-sd."""
    shape = (suites, N, m)
    z = (rng.gamma(4, 1, shape) - 4) / 2
    z += (rng.random(shape) < 0.04) * rng.exponential(spike, shape)
    variance = np.full((N, 1), 1 + 0.08 * spike**2 - (0.04 * spike) ** 2)
    z[:, [1, 5, 9]] += rng.choice([0.0, 2.0], (suites, 3, m))
    variance[[1, 5, 9]] += 1.0
    return np.exp(SPREAD * z / np.sqrt(variance))


def spiked(rng: np.random.Generator, suites: int, m: int) -> Array:
    return realistic(rng, suites, m, spike=10.0)


def sessions(rng: np.random.Generator, suites: int, m: int) -> Array:
    """Give each side and benchmark one unrepeated session, .7 sd of the runs."""
    return spiked(rng, suites, m) * np.exp(0.7 * SPREAD * rng.normal(size=(suites, N, 1)))


def false_speedups(noise, m: int, suites: int, seed: int, level: float = 0.95) -> dict:
    """Give the rates per benchmark and per suite, for the mean and the median."""
    rng = np.random.default_rng(seed)
    suite = judged(noise(rng, suites, m), noise(rng, suites, m), level)
    found = {
        centre: np.nan_to_num(outcomes(suite, centre)).reshape(suites, N)
        for centre in ("mean", "median")
    }
    return {
        centre: (float(said.mean()), float(said.any(axis=1).mean()))
        for centre, said in found.items()
    }


@pytest.mark.parametrize(
    ("noise", "m"), [pytest.param(plain, 10, marks=spot_check), (plain, 40), (realistic, 10)]
)
def test_a_suite_of_twelve_has_a_false_speedup_in_a_third_to_a_half(noise, m: int) -> None:
    suites = 500
    for each, any_of_them in false_speedups(noise, m, suites, seed=m).values():
        # published: .31 to .47 over its kinds of noise and numbers of runs
        slack = 4 * math.sqrt(0.47 * 0.53 / suites)
        assert 0.31 - slack < any_of_them < 0.47 + slack
        assert abs(any_of_them - (1 - (1 - each) ** N)) < slack
        assert each < 0.05 + 4 * math.sqrt(0.05 * 0.95 / (suites * N))


@spot_check
def test_a_twelfth_of_the_risk_mends_the_suite() -> None:
    # the negative control of the test above
    suites = 500
    level = 1 - 0.05 / N
    for _, any_of_them in false_speedups(plain, 40, suites, seed=3, level=level).values():
        slack = 4 * math.sqrt(0.05 * 0.95 / suites)
        assert any_of_them < 0.05 + slack < 0.31 - 4 * math.sqrt(0.31 * 0.69 / suites)


def test_session_noise_makes_every_suite_faster_than_itself() -> None:
    suites = 1000
    rates = false_speedups(sessions, 5, suites, seed=7)
    for centre, published in (("mean", (0.234, 0.967)), ("median", (0.297, 0.997))):
        each, any_of_them = rates[centre]
        assert agrees(each, suites * N, published[0], SESSION_SUITES * N)
        assert agrees(any_of_them, suites, published[1], SESSION_SUITES)
        # the negative control: the same noise without sessions
        each, any_of_them = false_speedups(spiked, 5, 400, seed=8)[centre]
        assert not agrees(each, 400 * N, published[0], SESSION_SUITES * N)
        assert not agrees(any_of_them, 400, published[1], SESSION_SUITES)


# --- the search for the highest level


@pytest.mark.parametrize(
    ("noise", "m", "centre"),
    [
        (plain, 10, "median"),
        (plain, 40, "median"),
        (realistic, 10, "median"),
        (realistic, 40, "median"),
        (plain, 40, "mean"),
        (realistic, 40, "mean"),
    ],
)
def test_the_search_calls_half_of_all_benchmarks_faster(noise, m: int, centre: str) -> None:
    rng = np.random.default_rng(m)
    said = outcomes(judged(noise(rng, 350, m), noise(rng, 350, m), None), centre)
    assert not np.isnan(said).any()
    # published: .476 to .494, each with a standard error of .010, of 2,500 pairs
    rate, slack = float(said.mean()), 4 * math.sqrt(0.25 / said.size + 0.010**2)
    assert 0.476 - slack < rate < 0.494 + slack
    # the negative controls: a level that is asked for, and a real gain of 10 %
    rng = np.random.default_rng(m)
    said = outcomes(judged(noise(rng, 100, m), noise(rng, 100, m)), centre)
    assert np.nanmean(said) < 0.476 - slack
    said = outcomes(judged(1.1 * plain(rng, 100, m), plain(rng, 100, m), None), centre)
    assert said.mean() > 0.494 + slack


def test_shapiro_keeps_the_search_for_the_mean_of_few_runs_lower() -> None:
    # not in the survey: at risks near .5 two Shapiro tests of normal times pass a quarter of the pairs
    rng = np.random.default_rng(4)
    suite = judged(plain(rng, 350, 10), plain(rng, 350, 10), None)
    assert 0.2 < outcomes(suite, "mean").mean() < 0.35


# --- the proportion of accelerated benchmarks


@spot_check
@pytest.mark.parametrize(("share", "wald", "wilson"), [(0.5, 0.854, 0.961), (0.95, 0.457, 0.980)])
def test_coverage_of_the_proportion_with_twelve_benchmarks(
    share: float, wald: float, wilson: float
) -> None:
    # exact: all thirteen counts, weighted by their binomial chances
    counts = np.arange(N + 1)
    chance = stats.binom.pmf(counts, N, share)

    def covered(low: Array, high: Array) -> float:
        return float(chance[(low <= share) & (share <= high)].sum())

    def ours(confidence: float, *ends: str) -> float:
        all_of_them = [proportion(int(a), N, confidence=confidence, precision=0.05) for a in counts]
        return covered(*(np.array([getattr(one, end) for one in all_of_them]) for end in ends))

    assert ours(0.95, "low_plain", "high_plain") == pytest.approx(wilson, abs=0.0005)
    # Yates' correction only widens
    assert ours(0.95, "low", "high") >= ours(0.95, "low_plain", "high_plain") - 1e-12
    p = counts / N
    half = stats.norm.ppf(0.975) * np.sqrt(p * (1 - p) / N)
    assert covered(p - half, p + half) == pytest.approx(wald, abs=0.0005)
    # the negative control: another confidence covers otherwise
    assert ours(0.80, "low_plain", "high_plain") < wilson - 0.01
