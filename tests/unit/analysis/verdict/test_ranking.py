"""All variants against each other: pairs by the session t with Holm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.verdict.ranking import rank_variants


@pytest.fixture(scope="module")
def trial(synthetic, tmp_path_factory):
    """Four variants on six benchmarks, four sessions; c differs from all, a from nothing."""
    rng = np.random.default_rng(3)
    factors = {"base": 1.0, "a": 1.0, "c": 0.7, "d": 1.5}
    data = {
        name: {
            f"x{k}": (0.01 * (k + 1) * factor * np.exp(rng.normal(0, 0.004, 16))).tolist()
            for k in range(6)
        }
        for name, factor in factors.items()
    }
    return read_trial(synthetic(data, sessions=4).write(tmp_path_factory.mktemp("ranked") / "t"))


@pytest.fixture(scope="module")
def found(trial):
    return rank_variants(trial)


def test_every_pair_stands_there_once_and_the_published_ranking_with_its_warning(found, trial):
    assert len(found.pairs) == 6
    assert len({frozenset((p.candidate, p.baseline)) for p in found.pairs}) == 6
    assert all(p.speedup >= 1 and p.low <= p.speedup <= p.high for p in found.pairs)
    assert found.friedman is not None
    assert found.nemenyi == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 6)), rel=1e-3)
    assert [c.code for c in found.cautions] == ["ranks-over-benchmarks"]
    assert "31 to 41 %" in " ".join(str(found).split())
    plain = rank_variants(trial, ranked=False)
    assert (plain.friedman, plain.cautions) == (None, ())
    assert "rank" not in str(plain).splitlines()[2]


def test_a_pair_is_t_on_session_means_of_the_suite(found, trial):
    (pair,) = [p for p in found.pairs if {p.candidate, p.baseline} == {"base", "d"}]
    logs = {
        name: np.mean(
            [np.log(row).reshape(4, 4).mean(axis=1) for row in trial.matrix(name).samples], axis=0
        )
        for name in ("base", "d")
    }
    differences = logs["d"] - logs["base"]
    low, high = stats.t.interval(0.95, 3, differences.mean(), stats.sem(differences))
    assert (pair.candidate, pair.baseline) == ("base", "d")
    assert (pair.low, pair.high) == pytest.approx((math.exp(low), math.exp(high)), rel=1e-6)
    assert pair.pvalue == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, rel=1e-6)
    wider = rank_variants(trial, margin=1.0001 * pair.high - 1).pairs[found.pairs.index(pair)]
    assert (wider.outcome_uncorrected, wider.outcome) == ("equivalent", "faster")  # as in a verdict


def test_holm_over_the_pairs_and_places_move_only_as_far_as_pairs_are_told(found):
    ordered = sorted(found.pairs, key=lambda p: p.pvalue)
    steps = np.maximum.accumulate([(6 - k) * p.pvalue for k, p in enumerate(ordered)])
    assert [p.pvalue_adjusted for p in ordered] == pytest.approx(np.minimum(steps, 1).tolist())
    places = {one.variant: (one.best, one.worst) for one in found.places}
    assert places["c"] == (1, 1)
    assert places["d"] == (4, 4)
    assert places["a"] == places["base"] == (2, 3)


def test_one_variant_cannot_be_ranked(trial):
    with pytest.raises(UsageError, match="no two variants"):
        rank_variants(trial, variants=["base"])
