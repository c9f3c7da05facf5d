"""The mixture fit against the document's example 1 (ammp), and its printed formulas each by itself.

`varcore_ammp` holds the printed times and digits, and what mclust 6.0.0 and an independent program
make of them; `varcore_mixtures` holds the mixtures of the document's figure 2.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.goodness import ks_fit
from analysis.methods.mixture.model import Mixture
from analysis.methods.mixture.report import MixtureOptions, mixture_report
from analysis.methods.mixture.single_run import (
    mean_difference,
    probability_faster,
    probability_fastest,
    variability_level,
)
from analysis.plots.marks import Segments
from analysis.stats.arguments import stream

HERE = Path(__file__).parent / "varcore_ammp"
EXPECTED = json.loads((HERE / "expected.json").read_text())
FIGURE_2 = json.loads((HERE.parent / "varcore_mixtures" / "expected.json").read_text())["inputs"]
MIXTURES = {name: Mixture.from_parameters(**given) for name, given in FIGURE_2.items()}


@pytest.fixture(scope="module")
def times() -> np.ndarray:
    return np.loadtxt(HERE / "times.csv", delimiter=",", skiprows=1)[:, 0]


@pytest.fixture(scope="module")
def fit(times: np.ndarray) -> Mixture:
    return fit_mixture(times)


def test_every_printed_digit(fit: Mixture) -> None:
    printed = EXPECTED["published"]
    assert fit.components == printed["n_clusters"]
    assert not fit.equal_variance
    assert np.round(fit.weights, 8).tolist() == pytest.approx(printed["weights"], abs=1e-12)
    assert np.round(fit.means, 5).tolist() == pytest.approx(printed["means"], abs=1e-12)
    assert np.round(fit.sds, 9).tolist() == pytest.approx(printed["sds"], abs=1e-12)


def test_printed_modes_and_clusters(fit: Mixture, times: np.ndarray) -> None:
    assert len(fit.modes()) == EXPECTED["published"]["n_modes"]
    clusters = np.loadtxt(HERE / "times.csv", delimiter=",", skiprows=1)[:, 1]
    assert (fit.classify(times) + 1).tolist() == clusters.tolist()


def test_the_winner_and_the_state_of_convergence(fit: Mixture) -> None:
    chosen = EXPECTED["computed_R"]["chosen"]
    state = EXPECTED["computed_R"]["em_state_at_convergence"]
    assert fit.log_likelihood == pytest.approx(chosen["loglik"], rel=1e-11)
    assert fit.bic == pytest.approx(chosen["bic"], rel=1e-11)
    assert fit.iterations == state["iterations"]
    assert fit.em is not None
    for name in ("weights", "means", "sds"):
        assert getattr(fit, name) == pytest.approx(chosen[name], rel=1e-9)
        assert getattr(fit.em, name) == pytest.approx(state[name], rel=1e-9)


def test_the_bic_of_every_candidate(fit: Mixture) -> None:
    table = EXPECTED["computed_scipy"]["independent_em"]["bic_table"]
    assert fit.bic_table is not None
    for model in "EV":
        reference = [table[f"{model}{k}"] for k in range(1, 10)]
        missing = [np.nan if value is None else value for value in reference]
        assert fit.bic_table[model] == pytest.approx(missing, rel=1e-10, nan_ok=True)


def test_the_closing_step_is_what_reaches_the_printed_digits(fit: Mixture) -> None:
    # negative control: without the closing M-step the second weight is 0.15234, not 0.15281
    assert fit.em is not None
    assert abs(fit.em.weights[1] - EXPECTED["published"]["weights"][1]) > 4e-4


def test_the_values_order_does_not_matter(fit: Mixture, times: np.ndarray) -> None:
    again = fit_mixture(times[::-1])
    assert str(again.bic_table) == str(fit.bic_table)
    assert again.means.tolist() == fit.means.tolist()


def parts(mixture: Mixture, x: np.ndarray) -> np.ndarray:
    """Give pi_k phi(x; mu_k; sigma_k), a column for each k."""
    return mixture.weights * norm.pdf(x[:, None], mixture.means, mixture.sds)


@pytest.mark.parametrize("name", MIXTURES)
def test_density_and_distribution_of_equations_1_and_2(name: str) -> None:
    mixture = MIXTURES[name]
    x = np.linspace(-5, 35, 41)
    assert mixture.pdf(x) == pytest.approx(parts(mixture, x).sum(axis=1), rel=1e-12)
    below = mixture.weights * norm.cdf(x[:, None], mixture.means, mixture.sds)
    assert mixture.cdf(x) == pytest.approx(below.sum(axis=1), rel=1e-10)


def test_one_e_step_and_m_step_of_section_4_1(times: np.ndarray) -> None:
    fit = fit_mixture(times)
    before = Mixture.from_parameters(weights=fit.em.weights, means=fit.em.means, sds=fit.em.sds)
    share = parts(before, times)
    alpha = share / share.sum(axis=1, keepdims=True)
    weights = alpha.mean(axis=0)
    means = (alpha * times[:, None]).sum(axis=0) / alpha.sum(axis=0)
    sds = np.sqrt((alpha * (times[:, None] - means) ** 2).sum(axis=0) / alpha.sum(axis=0))
    # the step after convergence is what the paper prints
    assert fit.weights == pytest.approx(weights, rel=1e-10)
    assert fit.means == pytest.approx(means, rel=1e-10)
    assert fit.sds == pytest.approx(sds, rel=1e-10)
    # L is the sum of the logarithms, and a step does not lower it
    likelihood = np.log(share.sum(axis=1)).sum()
    assert fit.log_likelihood == pytest.approx(likelihood, rel=1e-12)
    assert np.log(fit.pdf(times)).sum() >= likelihood


def chosen_by_the_print(x: np.ndarray) -> int:
    """Choose K by -2 L + K ln n, the least, as printed: K is taken for the number of parameters."""
    table = fit_mixture(x).bic_table
    found = {}
    for model, of_each in (("E", lambda k: 2 * k), ("V", lambda k: 3 * k - 1)):
        for k, bic in enumerate(table[model], 1):
            if math.isfinite(bic):
                twice = bic + of_each(k) * math.log(x.size)
                found[-twice + k * math.log(x.size)] = k
    return found[min(found)]


def test_the_printed_bic_counts_a_component_for_a_parameter(times: np.ndarray) -> None:
    # on ammp both choose 5, as the printed example does
    assert chosen_by_the_print(times) == fit_mixture(times).components == 5
    # of 100 normal values the printed formula makes up to nine: mclust's is the one to use
    normal = [np.random.default_rng(seed).normal(10, 1, 100) for seed in range(6)]
    assert [fit_mixture(x).components for x in normal] == [1] * 6
    assert sum(chosen_by_the_print(x) >= 5 for x in normal) >= 2


@pytest.mark.parametrize("most", [9, 10])
def test_at_most_nine_or_ten_components_are_tried(times: np.ndarray, most: int) -> None:
    table = fit_mixture(times, max_components=most).bic_table
    assert {len(row) for row in table.values()} == {most}
    assert len(fit_mixture(times).bic_table["V"]) == 9  # as Mclust does


def test_a_constant_spread_is_there_where_spreads_of_their_own_fail(times: np.ndarray) -> None:
    # section 7.1: with one variance the likelihood has a maximum, with several it may have none
    table = fit_mixture(times).bic_table
    assert np.isfinite(table["E"]).all()
    assert np.isnan(table["V"]).sum() == 4


def test_the_step_function_is_compared_at_every_value(times: np.ndarray) -> None:
    # equation 3, with the empirical distribution written out
    fit = fit_mixture(times)
    x = np.sort(times)
    after = np.array([(times <= value).mean() for value in x])
    before = np.array([(times < value).mean() for value in x])
    distance = max(np.abs(after - fit.cdf(x)).max(), np.abs(before - fit.cdf(x)).max())
    found = ks_fit(times, fit, resamples=1, rng=np.random.default_rng(1))
    assert found.statistic == pytest.approx(distance, rel=1e-12)


def integral(function, points: list[float]) -> float:
    return quad(function, -40, 80, points=points, limit=500, epsabs=1e-12, epsrel=1e-12)[0]


def test_metrics_are_the_integrals_that_define_them() -> None:
    x, y, z = MIXTURES.values()
    points = sorted({*x.means, *y.means, *z.means})
    shorter = integral(lambda t: x.pdf(t) * (1 - y.cdf(t)), points)
    assert probability_faster(x, y) == pytest.approx(shorter, abs=1e-9)
    later = integral(lambda t: x.pdf(t) * (1 - y.cdf(t - 1.5)), points)
    assert probability_faster(x, y, shift=1.5) == pytest.approx(later, abs=1e-9)
    # E |X - Y| is the integral of F (1 - G) + G (1 - F)
    apart = integral(lambda t: x.cdf(t) * (1 - y.cdf(t)) + y.cdf(t) * (1 - x.cdf(t)), points)
    assert mean_difference(x, y) == pytest.approx(apart, abs=1e-8)
    first = integral(lambda t: x.pdf(t) * (1 - y.cdf(t)) * (1 - z.cdf(t)), points)
    assert probability_fastest(x, y, z) == pytest.approx(first, abs=1e-9)
    # section 6.3: pairs mislead, the chance among three is less than either of two
    assert first < min(probability_faster(x, y), probability_faster(x, z))
    # negative control: the print's 1 - G with its own product for G is the chance of being slower
    printed = integral(lambda t: x.pdf(t) * (1 - (1 - y.cdf(t)) * (1 - z.cdf(t))), points)
    assert abs(printed - first) > 0.1


def test_folded_normal_means_of_section_6_1() -> None:
    for mu, sigma in ((0.0, 1.0), (2.0, 1.5), (-3.0, 0.2)):
        z = Mixture.from_parameters(weights=[1], means=[mu], sds=[sigma * math.sqrt(0.5)])
        zero = Mixture.from_parameters(weights=[1], means=[0], sds=[sigma * math.sqrt(0.5)])
        printed = (2 * norm.cdf(mu / sigma) - 1) * mu + 2 * sigma * norm.pdf(mu / sigma)
        assert mean_difference(z, zero) == pytest.approx(printed, rel=1e-12)


def test_the_local_maxima_of_figure_2() -> None:
    # I4 by a fine grid: three separate peaks, three of unequal width, and one broad of two
    levels = []
    for mixture in MIXTURES.values():
        density = mixture.pdf(np.linspace(-10, 40, 200_001))
        peaks = (density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])
        assert variability_level(mixture) == peaks.sum()
        levels.append((int(peaks.sum()), mixture.components))
    assert any(modes < components for modes, components in levels)


def test_the_plot_has_the_legend_rug_and_labels_of_the_published_one(times: np.ndarray) -> None:
    matrix = PerformanceMatrix.from_samples("C1", {"ammp": times}, better="lower", unit="s")
    options = MixtureOptions(resamples=0)
    picture = mixture_report([matrix], options=options, rng=stream(1, "t")).picture()
    density, steps = picture.axes
    assert "C1" in density.title  # maintitle, subtitle
    assert [key.text for key in density.keys][:2] == ["mixture", "components"]  # plot_legend
    (rug,) = (one for one in density.marks if isinstance(one, Segments))  # plot_rug
    assert sorted(x for x, *_ in rug.lines) == sorted(times)
    assert density.y_label == "share of runs per s"
    assert density.x_label.startswith("value of one run")  # xlabel, ylabel
    assert steps.y_label == "share of runs up to it"
