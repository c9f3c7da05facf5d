"""Evidence for modes: the dip, the bandwidth test, single skewed laws, resamples, and the rule."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

from analysis import (
    faster_estimate,
    mean_difference,
    metric_interval,
    rank_share,
    variability_level,
)
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.mixture.fit import fit_mixture, spread_ties
from analysis.methods.mixture.fit_kernel import sorted_dips
from analysis.methods.mixture.modality import (
    STABLE,
    FamilyFit,
    bandwidth_test,
    calls_multimodal,
    dip_test,
    skewed_families,
)
from analysis.methods.mixture.model import Mixture
from analysis.methods.mixture.refits import (
    FittedSample,
    ModeEvidence,
    fitted_sample,
    mode_cautions,
    mode_evidence,
    stability,
)
from analysis.pages.model import Table


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def dip(values: np.ndarray) -> float:
    return float(sorted_dips(np.sort(values)[None, :])[0])


def sample(n: int, kind: int) -> np.ndarray:
    """Give one of six samples without randomness: flat, heavy-tailed, skewed, bimodal, ..."""
    i = np.arange(1, n + 1)
    u = (i * 0.6180339887498949 + 0.1 * kind) % 1
    return [u, np.tan(1.5 * (u - 0.5)), u**3, u + 3 * (i % 2), u + 3.0 * (i % 3 == 0), -np.log(u)][
        kind
    ]


# ---- the dip

# diptest::dip(x) (R package diptest 0.76-0) on sample(n, 0), ..., sample(n, 5)
DIPS = {
    5: (0.123606797749979, 0.117903209340593, 0.1, 0.181966011250105, 0.1, 0.1),
    31: (
        0.0308847589514709,
        0.0276401984934713,
        0.0220122055924695,
        0.166648860346056,
        0.113679843000841,
        0.0245569410504626,
    ),
    100: (
        0.0119852050373621,
        0.0100650800569877,
        0.00860139692642214,
        0.167985245026382,
        0.112741459544958,
        0.00912946212461646,
    ),
}


@pytest.mark.parametrize(("n", "kind"), [(n, kind) for n in DIPS for kind in range(6)])
def test_dip_against_r(n: int, kind: int) -> None:
    assert dip(sample(n, kind)) == pytest.approx(DIPS[n][kind], rel=1e-12)


def nearest_unimodal(x: np.ndarray) -> float:
    """Give the dip by its definition: the nearest convex-concave function, by linear programs.

    The unknowns are the heights at the ordered values and the distance. With the mode inside
    ``[x_m, x_m+1]`` the slopes rise up to that piece and fall from there on.
    """
    n, best = x.size, math.inf
    gaps = np.diff(x)

    def slope(piece: int) -> np.ndarray:
        row = np.zeros(n + 1)
        row[piece], row[piece + 1] = -1 / gaps[piece], 1 / gaps[piece]
        return row

    fit = np.zeros((2 * n, n + 1))
    limit = np.empty(2 * n)
    for i in range(n):
        fit[2 * i, [i, n]], limit[2 * i] = (1, -1), i / n  # F(x) <= F_n(x-) + d
        fit[2 * i + 1, [i, n]], limit[2 * i + 1] = (-1, -1), -(i + 1) / n  # F(x) >= F_n(x) - d
    for top in range(n - 1):
        rows = [slope(k) - slope(k + 1) for k in range(top)]
        rows += [slope(k + 1) - slope(k) for k in range(top, n - 2)]
        rows += [-slope(k) for k in range(n - 1)]
        found = linprog(
            np.append(np.zeros(n), 1),
            A_ub=np.vstack([fit, *rows]),
            b_ub=np.append(limit, np.zeros(len(rows))),
            bounds=[(None, None)] * n + [(0, None)],
        )
        best = min(best, found.fun)
    return float(best)


@pytest.mark.parametrize("seed", range(6))
def test_dip_is_the_distance_to_the_nearest_unimodal_function(seed: int) -> None:
    generator = rng(seed)
    for n in (4, 6, 9):
        x = np.sort(generator.choice([0, 5, 9], n) + generator.random(n))
        assert dip(x) == pytest.approx(nearest_unimodal(x), abs=1e-9)


def test_dip_of_the_extremes() -> None:
    assert dip(np.arange(10.0)) == pytest.approx(1 / 20)  # evenly spaced: the least there is
    apart = np.concatenate((np.arange(50.0), 1e6 + np.arange(50)))
    assert 0.24 < dip(apart) <= 0.25  # two halves far apart: the most there is
    for change in (1e-9, 1e9):
        assert dip(sample(31, 3) * change) == pytest.approx(dip(sample(31, 3)), rel=1e-9)


def test_p_values_against_the_published_quantiles() -> None:
    # quantiles of the dip of uniform samples from diptest's qDiptab (1,000,001 simulations)
    for n, quantile in ((10, 0.13961139514), (30, 0.08816891431), (100, 0.05112794429)):
        drawn = sorted_dips(np.sort(rng(3).random((20_000, n)), axis=1))
        # four standard errors of a share of 0.05 over 20,000
        assert abs((drawn >= quantile).mean() - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 20_000)


def test_dip_test_of_clear_cases() -> None:
    generator = rng(5)
    peaks = np.concatenate((generator.normal(0, 1, 40), generator.normal(8, 1, 40)))
    two = dip_test(peaks, rng=rng())
    assert two.pvalue == 1 / 2001  # never 0
    assert dip_test(generator.normal(size=200), rng=rng()).pvalue > 0.5
    assert dip_test(peaks, rng=rng(9)) == dip_test(peaks, rng=rng(9))
    many = np.concatenate((generator.normal(0, 1, 4000), generator.normal(3, 1, 4000)))
    assert dip_test(many, resamples=99, rng=rng()).pvalue == 0.01
    assert dip_test(generator.normal(size=8000), resamples=99, rng=rng()).pvalue > 0.5


# ---- ties


def test_ties_are_spread_over_the_tick() -> None:
    spread, tick = spread_ties(np.array([1.0, 1.0, 1.5, 2.0, 2.0, 2.0, 2.0, 4.0]))
    assert tick == 0.5
    assert spread.tolist() == [0.875, 1.125, 1.5, 1.8125, 1.9375, 2.0625, 2.1875, 4.0]
    free, none = spread_ties(np.array([1.0, 2.0, 4.0]))
    assert none is None
    assert free.tolist() == [1, 2, 4]
    # 0.1 + 0.2 is the reading 0.3
    noisy, step = spread_ties(np.sort([0.1 + 0.2, 0.3, 0.4, 0.5]))
    assert step == pytest.approx(0.1)
    assert (np.diff(noisy) > 0.04).all()


@pytest.mark.parametrize("tick", [0.25, 0.5, 1.0, 3.0])
def test_a_coarse_clock_makes_no_modes(tick: float) -> None:
    x = np.round(rng(2).normal(size=60) / tick) * tick + 100
    test = dip_test(x, resamples=500, rng=rng())
    assert test.tick == pytest.approx(tick)
    assert test.pvalue > 0.2
    assert bandwidth_test(x, resamples=200, rng=rng()).pvalue > 0.1
    if tick > 1:  # three readings: even as they are, one mode
        return
    # negative control: taken as they are, the ties are modes
    jitter = 1e-9 * np.arange(60)
    raw = sorted_dips(np.sort(x + jitter)[None, :])[0]
    assert raw > np.quantile(sorted_dips(np.sort(rng().random((500, 60)), axis=1)), 0.5)


# ---- the bandwidth test


def test_bandwidth_test_sees_a_small_far_mode_that_the_dip_cannot() -> None:
    generator = rng(4)
    x = np.concatenate((generator.normal(0, 1, 90), generator.normal(10, 1, 10)))
    assert dip_test(x, rng=rng()).pvalue > 0.05
    seen = bandwidth_test(x, rng=rng())
    assert seen.pvalue < 0.025
    assert seen.least == 5
    assert seen.pvalue >= seen.flat_pvalue / 4
    assert bandwidth_test(x * 1e-9, rng=rng()).pvalue == seen.pvalue
    assert bandwidth_test(x, rng=rng()) == seen


def test_bandwidth_test_passes_over_lone_values() -> None:
    x = np.concatenate((rng(4).normal(0, 1, 98), [30.0, 60.0]))
    assert bandwidth_test(x, rng=rng()).pvalue > 0.05
    few = bandwidth_test([1.0, 2.0, 9.0, 10.0], rng=rng())  # no two modes of three values
    assert few.bandwidth is None
    assert few.pvalue == few.flat_pvalue == 1
    assert bandwidth_test(rng(6).lognormal(0, 1, 300), rng=rng()).pvalue > 0.025


@pytest.mark.parametrize("test", [dip_test, bandwidth_test])
def test_the_tests_refuse(test: object) -> None:
    with pytest.raises(InsufficientDataError) as few:
        test([1, 2, 3], rng=rng())  # type: ignore[operator]
    assert (few.value.n, few.value.needed) == (3, 4)
    with pytest.raises(AnalysisError, match="equal"):
        test([2.0] * 9, rng=rng())  # type: ignore[operator]
    with pytest.raises(AnalysisError, match="not finite"):
        test([1, 2, math.nan, 4], rng=rng())  # type: ignore[operator]
    with pytest.raises(AnalysisError, match="smaller unit"):
        test([1e-200, 2e-200, 4e-200, 9e-200], rng=rng())  # type: ignore[operator]
    with pytest.raises(UsageError, match="resamples"):
        test([1, 2, 3, 4], resamples=0, rng=rng())  # type: ignore[operator]


# ---- single skewed laws

SCIPY = {"lognormal": stats.lognorm, "Weibull": stats.weibull_min, "gamma": stats.gamma}


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_families_reach_the_maximum_of_their_likelihood(scale: float) -> None:
    x = (rng(8).gamma(2.5, 1, 60) + 3) * scale
    fits = skewed_families(x)
    assert len(fits) == 7
    assert [fit.bic for fit in fits] == sorted((fit.bic for fit in fits), reverse=True)
    for fit in fits:
        if fit.family == "normal":
            arguments: tuple = (fit.location, fit.scale)
            law = stats.norm
        else:
            arguments, law = (fit.shape, fit.location, fit.scale), SCIPY[fit.family]
        assert law.logpdf(x, *arguments).sum() == pytest.approx(fit.log_likelihood, rel=1e-9)
        assert fit.bic == 2 * fit.log_likelihood - fit.parameters * math.log(60)
        assert fit.aic == 2 * fit.log_likelihood - 2 * fit.parameters
        # no step away is better
        for position in range(len(arguments)):
            if position == 1 and not fit.shifted and fit.family != "normal":
                continue
            for factor in (1 - 1e-4, 1 + 1e-4):
                other = list(arguments)
                other[position] *= factor
                assert law.logpdf(x, *other).sum() <= fit.log_likelihood + 1e-9


def test_families_know_a_shift_from_zero() -> None:
    x = rng(9).lognormal(0, 0.8, 200) + 50
    best = skewed_families(x)[0]
    assert best.name == "shifted lognormal"
    assert best.location == pytest.approx(50, abs=0.3)
    assert not best.at_limit
    exponential = {fit.name: fit for fit in skewed_families(rng(9).exponential(size=30) + 5)}
    gap = 5 - exponential["shifted Weibull"].location
    assert abs(gap) < 0.2
    assert exponential["shifted gamma"].at_limit  # its likelihood rises up to the smallest value


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3, 4, 5],
        [0, 0, 0, 0, 1],
        [1, 1, 1, 1, 1 + 1e-12],
        [-5, 1, 2, 3, 1e9],
        [1e-300, 1, 2, 3, 4],
        [1e9, 1e9 + 1e-3, 1e9 + 2e-3, 1e9 + 2e-3, 1e9 + 5e-3],
        [1, 1, 1, 1, 1e9],
    ],
)
def test_families_of_awkward_values_are_finite(values: list) -> None:
    fits = skewed_families(values)
    assert all(math.isfinite(fit.bic) for fit in fits)
    assert {"normal", "shifted lognormal", "shifted Weibull", "shifted gamma"} <= {
        fit.name for fit in fits
    }
    json.dumps([fit.to_dict() for fit in fits], allow_nan=False)


def test_families_refuse() -> None:
    with pytest.raises(InsufficientDataError):
        skewed_families([1, 2, 3, 4])
    with pytest.raises(AnalysisError, match="equal"):
        skewed_families([3] * 9)
    with pytest.raises(AnalysisError, match="not finite"):
        skewed_families([1, 2, 3, 4, math.inf])


# ---- resamples and intervals


def two_samples(seed: int = 12, resamples: int = 60) -> tuple[FittedSample, FittedSample]:
    generator = rng(seed)
    x, y = generator.normal(10, 0.3, 30), generator.normal(10.2, 0.3, 25)
    return (
        fitted_sample(x, fit_mixture(x), resamples=resamples, rng=generator),
        fitted_sample(y, fit_mixture(y), resamples=resamples, rng=generator),
    )


def test_intervals_of_metrics() -> None:
    x, y = two_samples()
    interval = metric_interval(mean_difference, x, y, name="I1")
    assert interval.estimate == mean_difference(x.mixture, y.mixture)
    assert interval.low < interval.estimate < interval.high
    assert interval.replicates == 60
    assert any("60 resamples are few" in text for text in interval.cautions)
    level = metric_interval(variability_level, x, name="I4", confidence=0.8)
    assert level.low >= 1
    data = json.loads(json.dumps(interval.to_dict(), allow_nan=False))
    assert data["metric"] == "I1"
    assert data["cautions"] == list(map(str, interval.cautions))
    assert "few-resamples" in data["caution_codes"]
    assert str(interval).startswith("I1: ")
    endless = metric_interval(lambda m: m.quantile(1), x, name="maximum")
    assert endless.to_dict()["high"] is None


def test_halves_have_the_spread_of_the_mean() -> None:
    # by hand: the mean of half of the values, drawn without repeats, varies as the mean of all
    generator = rng(3)
    x = generator.normal(size=40)
    single = Mixture.from_parameters(weights=[1], means=[x.mean()], sds=[x.std()])

    def one(values: np.ndarray) -> Mixture:
        return Mixture.from_parameters(weights=[1], means=[values.mean()], sds=[1])

    sample = fitted_sample(x, single, fit=one, resamples=2000, rng=generator)
    spread = np.std([mixture.mean() for mixture in sample.replicates])
    assert spread == pytest.approx(x.std(ddof=1) / math.sqrt(40), rel=0.06)


def test_failed_resamples_are_counted() -> None:
    calls = iter(range(1000))

    def fit(values: np.ndarray) -> Mixture:
        if next(calls) % 3 == 0:
            raise AnalysisError("no")
        return fit_mixture(values)

    x = rng(1).normal(size=30)
    sample = fitted_sample(x, fit_mixture(x), fit=fit, resamples=30, rng=rng())
    assert sample.failed == 10
    assert len(sample.replicates) == 20
    interval = metric_interval(lambda m: m.mean(), sample, name="mean")
    assert any("10 resamples could not be fitted" in text for text in interval.cautions)
    steady = stability(sample)
    assert steady.resamples == 20
    assert sum(steady.modes.values()) == pytest.approx(1)

    def never(values: np.ndarray) -> Mixture:
        raise AnalysisError("no")

    with pytest.raises(AnalysisError, match="none of 30"):
        fitted_sample(x, fit_mixture(x), fit=never, resamples=30, rng=rng())


def test_intervals_refuse() -> None:
    x, _ = two_samples(resamples=2)
    with pytest.raises(UsageError, match="confidence"):
        metric_interval(variability_level, x, name="I4", confidence=1)
    with pytest.raises(UsageError, match="at least one"):
        metric_interval(variability_level, name="I4")
    with pytest.raises(UsageError, match="resamples"):
        fitted_sample([1, 2, 3, 4], x.mixture, resamples=0, rng=rng())
    with pytest.raises(UsageError, match="confidence"):
        rank_share([1], [2], confidence=0)
    with pytest.raises(UsageError, match="both sides"):
        rank_share([], [2])
    with pytest.raises(UsageError, match="finite"):
        rank_share([1], [2], shift=math.nan)
    with pytest.raises(AnalysisError, match="not finite"):
        rank_share([1, math.nan], [2])


def test_rank_share_against_counting() -> None:
    generator = rng(7)
    x, y = generator.integers(0, 9, 23) / 10, generator.integers(2, 11, 17) / 10
    for shift in (0.0, 0.1, -0.3):
        apart = np.round(y[None, :] + shift - x[:, None], 9)
        expected = np.mean((apart > 0) + 0.5 * (apart == 0))
        found = rank_share(x, y, shift=shift)
        assert found.estimate == pytest.approx(expected, rel=1e-14)
        assert found.ties == np.sum(apart == 0)
        assert found.low < found.estimate < found.high
    u = stats.mannwhitneyu(y, x).statistic
    assert rank_share(x, y).estimate == pytest.approx(u / (23 * 17), rel=1e-14)


def test_rank_share_of_separated_samples_is_not_certain() -> None:
    found = rank_share([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])
    assert found.estimate == found.high == 1
    assert 0.5 < found.low < 0.9
    mirrored = rank_share([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])
    assert (mirrored.low, mirrored.high) == pytest.approx((0, 1 - found.low))


def test_faster_estimate_sets_ranks_beside_the_mixtures() -> None:
    x, y = two_samples()
    both = faster_estimate(x, y)
    assert both.mixture.estimate == pytest.approx(both.ranks.estimate, abs=0.1)
    text = str(both)
    assert "U/(nm)" in text
    assert max(len(line) for line in text.splitlines()) <= 96
    json.dumps(both.to_dict(), allow_nan=False)
    shifted = faster_estimate(x, y, shift=-0.5)
    assert shifted.mixture.estimate < both.mixture.estimate
    assert "by more than 0.5" in " ".join(str(shifted).split())
    wrong = Mixture.from_parameters(weights=[1], means=[20], sds=[1])
    bad = FittedSample(values=x.values, mixture=wrong, replicates=(wrong,) * 9, failed=0)
    cautions = faster_estimate(bad, y).cautions
    assert any("disagree" in text for text in cautions)
    assert any("do not overlap" in text for text in cautions)


# ---- the rule


def test_two_far_peaks_are_multimodal() -> None:
    generator = rng(21)
    x = np.concatenate((generator.normal(10, 0.2, 30), generator.normal(12, 0.3, 20)))
    found = mode_evidence(x, fit_mixture(x), resamples=20, rng=rng())
    assert found.multimodal
    assert found.stability.several >= STABLE
    assert len(found.modes) == 2
    text = str(found)
    assert text.startswith("multimodal: the values have 2 modes")
    assert max(len(line) for line in text.splitlines()) <= 96
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["multimodal"] is True
    assert data["stability"]["modes"]["2"] > 0.7
    assert data["seed"] == found.seed
    again = mode_evidence(x, fit_mixture(x), resamples=20, rng=rng())
    assert again.to_dict() == found.to_dict()


def test_one_skewed_peak_is_not() -> None:
    x = rng(33).lognormal(0, 0.5, 100)
    mixture = fit_mixture(x)
    assert variability_level(mixture) > 1  # the published metric alone calls it so
    found = mode_evidence(x, mixture, resamples=20, rng=rng())
    assert not found.multimodal
    assert "not shown to be multimodal" in found.conclusion
    assert "no test rejects a single mode" in found.conclusion
    assert any("a single peak describes the values" in text for text in found.cautions)
    laws = [line.split()[0] for line in str(found).splitlines() if line.startswith("lognormal")]
    assert laws


def test_one_gaussian_has_one_mode() -> None:
    x = rng(34).normal(5, 1, 50)
    found = mode_evidence(x, fit_mixture(x), resamples=20, rng=rng())
    assert not found.multimodal
    assert found.conclusion.startswith("one mode, at ")


def test_few_and_coarse_values_get_cautions() -> None:
    x = np.array([1.0, 1, 2, 2, 2, 3, 3, 6])
    found = mode_evidence(x, fit_mixture(x), resamples=20, rng=rng())
    assert any("8 values" in text for text in found.cautions)
    assert any("6 readings" in text for text in found.cautions)
    with pytest.raises(InsufficientDataError):
        mode_evidence([1, 2, 3], found.mixture, rng=rng())
    with pytest.raises(UsageError, match="risk"):
        mode_evidence(x, found.mixture, risk=0, rng=rng())


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_evidence_does_not_depend_on_the_unit(scale: float) -> None:
    generator = rng(22)
    x = np.concatenate((generator.normal(10, 0.2, 15), generator.normal(12, 0.3, 15)))
    ours, theirs = (
        mode_evidence(
            x * factor,
            Mixture.from_parameters(
                weights=[0.5, 0.5], means=[10 * factor, 12 * factor], sds=[0.2 * factor] * 2
            ),
            fit=lambda values: Mixture.from_parameters(
                weights=[1], means=[values.mean()], sds=[values.std()]
            ),
            resamples=5,
            rng=rng(),
        )
        for factor in (1.0, scale)
    )
    assert ours.dip.pvalue == theirs.dip.pvalue
    assert ours.bandwidth.pvalue == pytest.approx(theirs.bandwidth.pvalue, abs=0.01)
    assert [a.name for a in ours.families] == [b.name for b in theirs.families]
    assert not ours.multimodal  # resamples with one mode each
    assert "0 % of the resamples" in ours.conclusion


@pytest.mark.parametrize(
    ("modes", "dip", "bandwidth", "several", "called"),
    [
        (2, 0.01, 0.01, 1.0, True),
        (1, 0.01, 0.01, 1.0, False),
        (2, 0.025, 1.0, 0.75, True),  # half the risk each, and three in four: both count
        (2, 1.0, 0.025, 0.75, True),
        (2, 0.0251, 0.0251, 0.75, False),
        (2, 0.01, 0.01, 0.749, False),
    ],
)
def test_the_rule(modes: int, dip: float, bandwidth: float, several: float, called: bool) -> None:
    assert calls_multimodal(modes, dip=dip, bandwidth=bandwidth, several=several) is called


# ---- what is said of the evidence


@pytest.fixture(scope="module")
def skewed() -> tuple[np.ndarray, ModeEvidence]:
    x = rng(33).lognormal(0, 0.5, 100)
    return x, mode_evidence(x, fit_mixture(x), resamples=20, rng=rng())


def with_tests(found: ModeEvidence, dip: float, bandwidth: float, modes: int) -> ModeEvidence:
    """Give the evidence with other p-values and another number of modes."""
    return replace(
        found,
        dip=replace(found.dip, pvalue=dip),
        bandwidth=replace(found.bandwidth, pvalue=bandwidth),
        modes=tuple(range(1, modes + 1)),
    )


def codes(found: ModeEvidence) -> set[str]:
    return {caution.code for caution in mode_cautions(found)}


def test_the_evidence_follows_the_rule(skewed: tuple[np.ndarray, ModeEvidence]) -> None:
    stable = replace(skewed[1], stability=replace(skewed[1].stability, several=STABLE))
    assert with_tests(stable, 0.025, 1, 2).multimodal
    assert not with_tests(stable, 0.025, 1, 1).multimodal
    assert not with_tests(stable, 0.026, 1, 2).multimodal
    assert not with_tests(stable, 0.026, 1, 2).rejected
    assert replace(with_tests(stable, 0.05, 1, 2), risk=0.1).multimodal


@pytest.mark.parametrize(
    ("modes", "dip", "said"), [(1, 0.01, True), (1, 0.5, False), (2, 0.01, False), (2, 0.5, False)]
)
def test_a_rejection_is_held_against_a_mixture_of_one_mode_only(
    skewed: tuple[np.ndarray, ModeEvidence], modes: int, dip: float, said: bool
) -> None:
    assert ("rejected-with-one-mode" in codes(with_tests(skewed[1], dip, 1, modes))) is said


@pytest.mark.parametrize(
    ("dip", "bandwidth", "said"),
    [(0.26, 0.01, True), (0.25, 0.01, False), (0.01, 0.01, False), (0.26, 0.5, False)],
)
def test_the_bandwidth_test_alone_is_said(
    skewed: tuple[np.ndarray, ModeEvidence], dip: float, bandwidth: float, said: bool
) -> None:
    assert ("bandwidth-test-alone" in codes(with_tests(skewed[1], dip, bandwidth, 2))) is said


@pytest.mark.parametrize(
    ("lead", "words"),
    [
        (-2.5, None),
        (-2.0, None),  # 2 behind is worth mentioning, and so is 2 ahead not
        (-1.75, "about as well as"),
        (0.0, "about as well as"),
        (2.0, "about as well as"),
        (2.25, "better than"),
    ],
)
def test_a_single_peak_is_weighed_against_the_mixture(
    skewed: tuple[np.ndarray, ModeEvidence], lead: float, words: str | None
) -> None:
    found = skewed[1]
    best = replace(found.families[0], bic=128.0 + lead)
    told = replace(found, mixture_bic=128.0, families=(best, *found.families[1:]))
    said = [caution for caution in mode_cautions(told) if caution.code == "single-peak-as-good"]
    if words is None:
        assert said == []
        return
    assert f"describes the values {words} the mixture: {best.name}, BIC {128 + lead:.2f}" in said[0]
    assert codes(with_tests(told, 0.5, 0.5, 1)).isdisjoint({"single-peak-as-good"})


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_laws_and_their_likelihoods(scale: str) -> None:
    x = np.concatenate((rng(21).normal(10, 0.2, 30), rng(22).normal(12, 0.6, 20)))
    mixture = fit_mixture(x, scale=scale)
    found = mode_evidence(x, mixture, resamples=5, rng=rng())
    laws = {law.name: law for law in found.laws}
    k = mixture.components
    ours = laws[f"mixture of {k}"]
    assert k > 1
    assert not mixture.equal_variance
    assert ours.parameters == 3 * k - 1
    # of the values as given: a density of ln x loses a factor of x
    change = np.log(x).sum() if scale == "log" else 0.0
    assert ours.log_likelihood == pytest.approx(mixture.log_likelihood - change, rel=1e-12)
    assert ours.bic == found.mixture_bic
    for law in found.laws:
        assert law.bic == pytest.approx(
            2 * law.log_likelihood - law.parameters * math.log(50), rel=1e-12
        )
    assert {family.name for family in found.families} == set(laws) - {ours.name}
    # as printed: the best first, by numbers that are those of the laws
    assert [law.bic for law in found.laws] == sorted((law.bic for law in found.laws), reverse=True)
    (table,) = found.screen().sections[2].blocks
    assert isinstance(table, Table)
    assert [[cell.value for cell in row[1:]] for row in table.rows] == [
        [law.bic, law.log_likelihood, law.parameters] for law in found.laws
    ]
    printed = [line.split() for line in str(found).splitlines() if line.startswith("mixture of")]
    assert printed == [
        ["mixture", "of", f"{k}", f"{ours.bic:.2f}", f"{ours.log_likelihood:.3f}", f"{3 * k - 1}"]
    ]


def test_one_variance_has_fewer_parameters(skewed: tuple[np.ndarray, ModeEvidence]) -> None:
    x = skewed[0]
    mixture = fit_mixture(np.concatenate((x, x + 50)))
    assert mixture.equal_variance
    found = mode_evidence(np.concatenate((x, x + 50)), mixture, resamples=3, rng=rng())
    law = next(law for law in found.laws if law.name.startswith("mixture"))
    assert law.parameters == 2 * mixture.components
    assert law.log_likelihood == pytest.approx(mixture.log_likelihood, rel=1e-12)


def test_cautions_about_few_values_and_a_coarse_clock_have_limits(
    skewed: tuple[np.ndarray, ModeEvidence],
) -> None:
    found = skewed[1]

    def told(n: int, levels: int | None) -> set[str]:
        dip = replace(found.dip, n=n, levels=levels)
        return codes(replace(found, dip=dip)) & {"few-values-for-modes", "coarse-clock"}

    assert told(14, 9) == {"few-values-for-modes", "coarse-clock"}
    assert told(15, 10) == set()
    assert told(15, None) == set()
    failed = replace(found, stability=replace(found.stability, failed=2))
    assert "resamples-not-counted" in codes(failed)
    assert "resamples-not-counted" not in codes(found)


def test_single_results_say_what_they_are() -> None:
    x = np.concatenate((rng(4).normal(0, 1, 30), rng(5).normal(9, 1, 30)))
    dip, bandwidth = (
        dip_test(x, resamples=99, rng=rng()),
        bandwidth_test(x, resamples=99, rng=rng()),
    )
    assert str(dip).startswith(f"dip test of 60 values: dip {dip.statistic:.4g}, p = 0.0100")
    assert f"one mode {bandwidth.bandwidth:.4g}, p = " in " ".join(str(bandwidth).split())
    few = bandwidth_test([1.0, 2.0, 9.0, 10.0], resamples=9, rng=rng())
    assert "no bandwidth shows two modes, p = 1" in str(few)
    family: FamilyFit = skewed_families(x)[0]
    assert str(family).startswith(f"{family.name}: BIC {family.bic:.2f}")
    share = rank_share([1, 2, 3], [2, 4])
    assert "in 0.750 of 6 pairs of runs, 1 tie counted half" in " ".join(str(share).split())
    for result in (dip, bandwidth, family, share):
        data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert data["method"] == result.method
        assert data["references"]


def test_estimates_without_resamples_show_no_interval() -> None:
    x, y = two_samples(resamples=5)
    lone = metric_interval(mean_difference, x, replace(y, replicates=()), name="I1")
    assert lone.estimate == mean_difference(x.mixture, y.mixture)
    assert lone.replicates == 0
    assert "nan" not in str(lone)
    both = replace(faster_estimate(x, y), mixture=replace(lone, metric="I2"), cautions=())
    assert "nan" not in str(both)
    assert both.to_dict()["mixture"]["low"] is None
    assert metric_interval(mean_difference, x, y, name="I1").replicates == 5
