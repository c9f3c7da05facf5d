"""Components of crossed benchmarks and sessions.

Authorities: the dense restricted likelihood by matrices of all values (Harville 1977), numerical
gradients of it, a search by another method from other places, and for balanced data the expected mean
squares: the components of the suite's mean are those of its parts.
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from analysis.plan.components import Observations, crossed
from analysis.stats.variance_components import Likelihood, one_way

SDS = (0.05, 0.02, 0.015, 0.01, 0.02)


def drawn(seed, benchmarks, sessions, runs, sds=SDS, lost=0.0):
    rng = np.random.default_rng(seed)
    shape = (benchmarks, sessions, runs)
    b, s, r = (axis.ravel() for axis in np.indices(shape))
    block = s * runs + r
    values = rng.normal(0, sds[0], benchmarks)[b] + rng.normal(0, sds[1], sessions)[s]
    values += rng.normal(0, sds[2], shape[:2])[b, s] + rng.normal(0, sds[3], block.max() + 1)[block]
    values += rng.normal(0, sds[4], values.size)
    kept = rng.random(values.size) >= lost
    return Observations(
        names=tuple(f"b{k}" for k in range(benchmarks)),
        values=values[kept],
        benchmark=b[kept],
        session=s[kept],
        block=np.unique(block[kept], return_inverse=True)[1],
        blocks_known=True,
    )


def effects(seen):
    cells = np.unique(seen.benchmark * 100 + seen.session, return_inverse=True)[1]
    return {"b": seen.benchmark, "s": seen.session, "bs": cells, "k": seen.block}


def dense(seen, variances):
    """Give minus twice the restricted log likelihood, and the projection and derivatives."""
    indicators = [np.eye(codes.max() + 1)[codes] for codes in effects(seen).values()]
    derivatives = [*(z @ z.T for z in indicators), np.eye(seen.values.size)]
    covariance = sum(v * d for v, d in zip(variances, derivatives, strict=True))
    inverse = np.linalg.inv(covariance)
    ones = np.ones(seen.values.size)
    weight = ones @ inverse @ ones
    projection = inverse - np.outer(inverse @ ones, ones @ inverse) / weight
    deviance = (
        np.linalg.slogdet(covariance)[1]
        + math.log(weight)
        + seen.values @ projection @ seen.values
        + (seen.values.size - 1) * math.log(2 * math.pi)
    )
    return deviance, projection, derivatives


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lost", [0.0, 0.25])
def test_likelihood_slope_and_information_are_those_of_dense_matrices(seed, lost):
    seen = drawn(seed, 4, 3, 5, lost=lost)
    variances = np.array([2e-3, 3e-4, 0.0, 2e-4, 5e-4])
    deviance, projection, derivatives = dense(seen, variances)
    likelihood = Likelihood(seen.values, effects(seen))
    found, slope, information = likelihood.slopes(variances)
    assert found == pytest.approx(deviance, abs=1e-9)
    assert likelihood.deviance(variances) == found
    pulled = projection @ seen.values
    expected = [np.trace(projection @ d) - pulled @ d @ pulled for d in derivatives]
    assert slope == pytest.approx(np.array(expected), rel=1e-8)
    expected = [[pulled @ d @ projection @ e @ pulled for d in derivatives] for e in derivatives]
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs(information - expected).max() < 1e-8 * scale.max()


@pytest.mark.parametrize(("seed", "lost"), [(0, 0.3), (2, 0.0), (3, 0.3)])
def test_the_answer_is_stationary_and_no_search_goes_below(seed, lost):
    seen = drawn(seed, 5, 4, 4, lost=lost)
    found = crossed(seen)
    variances = np.array(list(found.variances.values()))
    deviance, *_ = dense(seen, variances)
    assert found.deviance == pytest.approx(deviance, abs=1e-9)
    likelihood = Likelihood(seen.values, effects(seen))
    for k, variance in enumerate(variances):
        step = 1e-3 * max(variance, 1e-5)
        ahead, behind = variances.copy(), variances.copy()
        ahead[k] += step
        behind[k] = max(behind[k] - step, 0.0)
        slope = likelihood.deviance(ahead) - likelihood.deviance(behind)
        if variance > 1e-12:
            assert abs(slope) < 1e-5  # of the deviance, over a change of 0.2 % of the variance
        else:
            assert slope > 0
    # negative control: at another point the same change moves the deviance
    other = variances * 2
    assert abs(likelihood.deviance(other * 1.001) - likelihood.deviance(other * 0.999)) > 1e-3

    def by_logs(logs):
        return likelihood.deviance(np.exp(np.clip(logs, -40, 5)))

    options = {"maxiter": 3000}
    searched = [
        minimize(by_logs, np.full(5, start), method="Nelder-Mead", options=options).fun
        for start in (-4, -8)
    ]
    assert found.deviance - 1e-6 < min(searched) < found.deviance + 0.05


def test_balanced_parts_add_up_to_those_of_the_suite():
    seen = drawn(11, 6, 8, 10, sds=(0.05, 0.03, 0.03, 0.02, 0.02))
    sd = crossed(seen).variances
    assert min(sd.values()) > 0
    suite = one_way(*seen.suite())
    assert sd["session"] + sd["benchmark:session"] / 6 == pytest.approx(suite.between, rel=1e-5)
    assert sd["block"] + sd["rest"] / 6 == pytest.approx(suite.within, rel=1e-5)


def test_what_the_data_cannot_tell_is_left_out():
    assert "block" not in crossed(drawn(1, 4, 4, 1)).variances
    assert "benchmark:session" not in crossed(drawn(1, 4, 4, 1)).variances
    one = drawn(1, 4, 4, 3)
    same = Observations(
        names=one.names,
        values=np.zeros(one.values.size),
        benchmark=one.benchmark,
        session=one.session,
        block=one.block,
        blocks_known=True,
    )
    assert crossed(same) is None
    assert crossed(drawn(1, 4, 1, 3)) is None
