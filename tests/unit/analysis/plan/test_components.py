"""Components of two variants, and of one.

Authority: theory. A shift that both variants share in a session cancels in their differences; one of
the candidate alone does not. The definitions are checked by loops over blocks.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError
from analysis.plan.components import (
    Observations,
    crossed,
    differences,
    values_of,
    variance_components,
)
from analysis.stats.variance_components import Likelihood, one_way

SESSIONS, RUNS = 5, 8


def sides(seed=1, *, shared=0.0, own=0.0, noise=0.02, benchmarks=3, better="lower", **drop):
    """Make a candidate and a baseline of the same sessions and blocks."""
    rng = np.random.default_rng(seed)
    shift = rng.normal(0, 1, (2, benchmarks, SESSIONS, 1))
    logs = rng.normal(0, noise, (2, benchmarks, SESSIONS, RUNS)) + shared * shift[:1]
    logs[0] += own * shift[1]
    session = np.repeat(np.arange(1, SESSIONS + 1), RUNS)
    block = np.arange(SESSIONS * RUNS)
    made = []
    for name, side in zip(("new", "old"), logs, strict=True):
        rows = {f"b{k}": np.exp(row.ravel()) for k, row in enumerate(side)}
        kept = {b: np.ones(block.size, dtype=bool) for b in rows}
        for b, lost in drop.get(name, {}).items():
            kept[b] = ~np.isin(session, lost)
        made.append(
            PerformanceMatrix.from_samples(
                name,
                {b: row[kept[b]] for b, row in rows.items()},
                better=better,
                sessions={b: session[kept[b]] for b in rows},
                blocks={b: block[kept[b]] for b in rows},
            )
        )
    return made


def test_a_shared_shift_cancels_in_the_differences():
    new, old = sides(shared=0.3)
    assert min(line.session_sd for line in variance_components(new).benchmarks) > 0.1
    found = variance_components(new, old)
    assert max(line.session_sd for line in found.benchmarks) < 0.03
    assert found.suite.run_sd == pytest.approx(0.02 * np.sqrt(2 / 3), rel=0.3)


def test_it_is_said_whether_they_are_of_values_or_of_differences():
    new, old = sides()
    assert variance_components(new).to_dict()["of"] == "values"
    assert variance_components(new, old).to_dict()["of"] == "differences"


def test_a_shift_of_one_side_stays():
    found = variance_components(*sides(own=0.3))
    assert min(line.session_sd for line in found.benchmarks) > 0.1
    assert found.crossed.benchmark_session_sd > 0.1


def test_differences_are_those_of_each_common_block():
    new, old = sides(own=0.1, new={"b1": [2]}, old={"b1": [3], "b2": [1, 2]})
    seen = differences(new, old)
    found = {}
    for b, s, k, value in zip(seen.benchmark, seen.session, seen.block, seen.values, strict=True):
        found[f"b{b}", int(s) + 1, int(k)] = value
    expected = {}
    for bench in new.benchmarks:
        ours, theirs = (
            dict(zip(zip(*at, strict=True), np.log(m.values(bench)), strict=True))
            for m in (new, old)
            for at in [
                (
                    m.sessions[m.benchmarks.index(bench)].tolist(),
                    m.blocks[m.benchmarks.index(bench)].tolist(),
                )
            ]
        )
        expected |= {(bench, *key): theirs[key] - ours[key] for key in ours.keys() & theirs.keys()}
    assert found.keys() == expected.keys()
    assert all(found[key] == pytest.approx(expected[key], abs=1e-12) for key in expected)
    assert [line.sessions for line in variance_components(new, old).benchmarks] == [5, 3, 3]


def test_the_sign_follows_what_is_better():
    lower = variance_components(*sides(own=0.3))
    higher = variance_components(*sides(own=0.3, better="higher"))
    assert lower.suite.mean == pytest.approx(-higher.suite.mean)
    assert lower.suite.session_sd == pytest.approx(higher.suite.session_sd)


def test_without_ids_the_runs_pair_by_their_turn():
    new, old = sides(own=0.1)
    bare = [
        PerformanceMatrix.from_samples(
            m.name,
            dict(zip(m.benchmarks, m.samples, strict=True)),
            better="lower",
            sessions=dict(zip(m.benchmarks, m.sessions, strict=True)),
        )
        for m in (new, old)
    ]
    found = variance_components(*bare)
    assert [c.code for c in found.cautions] == ["blocks-unknown"]
    assert found.suite == variance_components(new, old).suite


def test_a_benchmark_of_one_session_is_left_out_and_named():
    found = variance_components(*sides(own=0.1, new={"b1": [2, 3, 4, 5]}))
    assert [line.name for line in found.benchmarks] == ["b0", "b2"]
    assert found.suite.sessions == SESSIONS
    (caution,) = found.cautions
    assert (caution.code, caution.about) == ("benchmark-in-one-session", ("b1",))


def test_one_session_is_refused():
    every = {f"b{k}": [2, 3, 4, 5] for k in range(3)}
    with pytest.raises(InsufficientDataError, match="the pilot has one session, and 2 are needed"):
        variance_components(*sides(new=every))
    apart = {f"b{k}": [1] for k in range(3)}
    with pytest.raises(InsufficientDataError, match="no session that both sides have"):
        variance_components(*sides(new=every, old=apart))
    flat = PerformanceMatrix.from_samples("x", {"a": [1.0, 2.0]}, better="lower")
    with pytest.raises(InsufficientDataError, match="needed"):
        variance_components(flat)


def test_one_run_a_session_leaves_the_two_together():
    rows = {"a": [1.0, 1.1, 1.3]}
    ids = {"a": [1, 2, 3]}
    one = PerformanceMatrix.from_samples("x", rows, better="lower", sessions=ids, blocks=ids)
    found = variance_components(one)
    assert found.benchmarks[0].run_sd is None
    assert found.suite is None
    assert found.crossed is None
    assert "cannot be separated" in str(found)


def test_text_and_json():
    found = variance_components(*sides(own=0.1))
    text = str(found)
    assert text.startswith("new against old: the differences of the suite's mean vary by ")
    assert "all benchmarks together: " in text
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["method"] == "variance-components"
    assert told["crossed"]["run_sd"] > 0
    assert values_of(sides()[0]).blocks_known


# --- Components of crossed benchmarks and sessions.
#
# Authorities: the dense restricted likelihood by matrices of all values (Harville 1977), numerical
# gradients of it, a search by another method from other places, and for balanced data the expected mean
# squares: the components of the suite's mean are those of its parts.


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
