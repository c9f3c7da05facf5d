"""Predictions across systems: what was planted is found, what was not is not.

The data are simulated here, so that the truth is known: which covariates the response follows, how
much of it is noise, which rows are sisters.
"""

from __future__ import annotations

import json
import sys

import joblib
import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

from analysis.errors import AnalysisError, FairtrialError, InsufficientDataError, UsageError
from analysis.methods.variance_sources import predictions
from analysis.methods.variance_sources.mixed_table import flag_columns, mixed_table
from analysis.methods.variance_sources.predictions import FoldModels, correlation_interval
from analysis.methods.variance_sources.systems import (
    RESAMPLES,
    bootstrapped_sds,
    ceiling_of,
    noise_of_log_sd,
    runs_of_benchmarks,
    sources_of_table,
    suite_responses,
)
from analysis.stats.arguments import stream


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def systems(rows: int = 240, families: int = 40, seed: int = 5) -> dict[str, list]:
    """Sister systems share their machine; the score follows clock and cache, and no colour."""
    draw = rng(seed)
    family = draw.integers(0, families, rows)
    clock = draw.uniform(1, 4, families)[family]
    cache = draw.integers(0, 4, families)[family]
    score = 10 * clock + 6 * (cache == 2) + draw.normal(size=rows)
    return {
        "score": score.tolist(),
        "family": [f"f{k}" for k in family],
        "clock": [None if k % 17 == 0 else c for k, c in enumerate(clock.tolist())],
        "cache": [f"{k} MB" for k in cache],
        "colour": [f"c{k}" for k in draw.integers(0, 5, rows)],
    }


def fitted(table, response="score", **more):
    """Predict with as few folds and repeats as there may be; what needs more says so."""
    more = {"group": "family", "folds": 2, "repeats": 2, "rng": rng()} | more
    return sources_of_table(table, response, **more)


@pytest.fixture
def _few_trees(monkeypatch):
    monkeypatch.setattr(predictions, "MOST_TREES", 8)
    monkeypatch.setattr(predictions, "_GRID", 3)


few_trees = pytest.mark.usefixtures(
    "_few_trees"
)  # where it is not the prediction that is looked at


@pytest.fixture(scope="module")
def found():
    return fitted(systems(), folds=3, seed=1)


def test_planted_covariates_are_found_and_others_are_not(found):
    assert found.correlation > 0.9
    assert found.correlation_grouped > 0.8
    shares = {one.factor: (one.mean, one.sd) for one in found.importance}
    assert [one.factor for one in found.importance[:2]] == ["clock", "cache"]
    assert shares["clock"][0] > 0.5
    assert abs(shares["colour"][0]) < 0.05
    assert all(sd >= 0 for _, sd in shares.values())


def test_the_interval_holds_the_correlation(found):
    (across,) = found.systems
    for one in (across.random, across.grouped):
        assert -1 <= one.low < one.correlation < one.high <= 1
        assert one.explained == pytest.approx(
            1 - one.rmse**2 / np.var(systems()["score"]), rel=1e-12
        )
        assert all(1 <= trees <= 200 for trees in one.trees)
        assert 0 < one.relative_error < 0.5


def test_importance_is_what_theory_says(found):
    # a prediction f of its own covariate x alone: E (f(x') - f(x))^2 = 2 Var f for a shuffled x'
    table = systems()
    clock = np.array([np.nan if c is None else c for c in table["clock"]])
    expected = 2 * np.nanvar(10 * clock) / np.var(table["score"])
    assert found.importance[0].mean == pytest.approx(expected, rel=0.35)


def test_dependence_follows_what_was_planted(found):
    (across,) = found.systems
    curves = {one.factor: one for one in across.dependence}
    clock = curves["clock"].points
    assert clock[-1].mean - clock[0].mean > 15  # 30 in truth; trees cut the ends
    assert 15 <= len(clock) <= 20  # quantiles of the 40 values
    means = {point.at: point.mean for point in curves["cache"].points}
    assert max(means, key=means.get) == "2 MB"
    assert sum(point.rows for point in curves["cache"].points) == 240


def test_shuffled_responses_are_not_predicted():
    # the negative control; the error of a correlation of 240 rows is 0.065 at least
    table = systems()
    table["score"] = rng(9).permutation(table["score"]).tolist()
    found = fitted(table, folds=3)
    for one in (found.systems[0].random, found.systems[0].grouped):
        assert one.low <= 0 <= one.high
        assert one.explained < 0.1


def test_sisters_leak_through_a_random_split():
    # a score that only the family knows: its serial number gives the sisters away
    draw = rng(3)
    family = draw.integers(0, 30, 300)
    table = {
        "score": (draw.normal(size=30)[family] + 0.1 * draw.normal(size=300)).tolist(),
        "family": [f"f{k}" for k in family],
        "serial": draw.normal(size=30)[family].tolist(),
        "other": draw.normal(size=300).tolist(),
    }
    found = fitted(table, folds=3)
    assert found.correlation > 0.8
    assert found.systems[0].grouped.low < 0.3
    assert "random-split-leaks" in [caution.code for caution in found.cautions]


@few_trees
def test_a_seed_gives_the_same_bytes_with_two_workers_and_the_progress_ends_at_its_end():
    told = []

    def text(seed, **more):
        return json.dumps(fitted(systems(rows=80), rng=rng(seed), seed=1, **more).to_dict())

    alone = text(1, workers=1)
    with joblib.parallel_config(backend="threading", n_jobs=2):  # nightly has processes, and Dask
        assert text(1, progress=lambda *now: told.append(now)) == alone
    assert text(2) != alone
    assert told == [(1, 3), (2, 3), (3, 3)]


# --- against scikit-learn itself -------------------------------------------------------------------


@few_trees
@pytest.mark.parametrize("group", [None, "family"])
def test_predictions_importance_and_curves_are_scikit_learns(group):
    table = systems(rows=120)
    (across,) = fitted(table, folds=3, group=group, ignore=() if group else ["family"]).systems
    x, y = (
        np.column_stack([_codes(table[n]) for n in ("clock", "cache", "colour")]),
        across.measured,
    )

    def seed(what):
        root = int(rng().integers(2**63))
        return int(stream(root, "performance", what).integers(2**31))

    how, predicted, families = "random", across.predicted_random, None
    folds = KFold(3, shuffle=True, random_state=seed("random folds"))
    if group:
        how, predicted, families = "grouped", across.predicted_grouped, _codes(table["family"])
        folds = GroupKFold(3)
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
    )
    trees = HistGradientBoostingRegressor(
        max_iter=8, early_stopping=True, validation_fraction=0.15,
        min_samples_leaf=4, categorical_features=[0, 1], random_state=seed(f"{how} trees"),
    )  # fmt: skip
    model = make_pipeline(
        ColumnTransformer([("levels", encoder, [1, 2])], remainder="passthrough"), trees
    )
    with threadpool_limits(1, user_api="openmp"):
        expected = cross_val_predict(model, x, y, cv=folds, groups=families)
        parts = list(folds.split(x, groups=families))
        fitted_ones = [clone(model).fit(x[learned], y[learned]) for learned, _ in parts]
        together = FoldModels(fitted_ones, [held for _, held in parts])
        shuffled = permutation_importance(
            together, x, y, n_repeats=2, random_state=seed("importance"), scoring=_squares
        )
        (curve,) = (one for one in across.dependence if one.factor == "cache")
        (codes,) = ([table["cache"].index(p.at) for p in curve.points],)
        grid = _codes(table["cache"])[codes]
        means = [
            partial_dependence(one, x, [1], custom_values={1: grid}, method="brute")["average"][0]
            for one in fitted_ones
        ]
    assert predicted.tolist() == expected.tolist()
    means_of = {one.factor: one.mean for one in across.importance}
    for k, name in enumerate(("clock", "cache", "colour")):
        assert means_of[name] == pytest.approx(shuffled.importances_mean[k] / y.var(), rel=1e-12)
    # every row is one of the 500 that a point is the mean of
    assert [p.mean for p in curve.points] == pytest.approx(np.mean(means, axis=0), rel=1e-12)
    if group:
        assert all(not {*families[held]} & {*families[learned]} for learned, held in parts)


def _squares(model, x, y):
    return -((model.predict(x) - y) ** 2).mean()


def _codes(cells):
    """Give numbers as they are, and levels by their first rows."""
    if not isinstance(cells[0], str):
        return np.array([np.nan if cell is None else cell for cell in cells])
    names = list(dict.fromkeys(cells))
    return np.array([float(names.index(cell)) for cell in cells])


# --- the response's own noise ----------------------------------------------------------------------


@few_trees
@few_trees
def test_runs_are_performance_and_variation():
    draw = rng(4)
    table = systems(rows=300)
    truth = np.array(table.pop("score"))
    for k in range(3):
        table[f"run{k}"] = (truth + 2 * draw.normal(size=300)).tolist()
    found = fitted(table, ["run0", "run1", "run2"])
    performance, variation = found.systems
    assert (performance.kind, variation.kind) == ("performance", "variation")
    # theory: the noise of a mean of three is 4 / 3
    share = 4 / 3 / np.var(performance.measured, ddof=1)
    assert performance.ceiling.noise_share == pytest.approx(share, rel=0.2)
    assert found.ceiling == performance.ceiling.correlation
    # all differences between three runs' relative variation are noise, or follow the clock
    assert variation.ceiling.noise_share > 0.6
    assert variation.measured == pytest.approx(
        np.log(np.std([table[f"run{k}"] for k in range(3)], axis=0, ddof=1) / performance.measured),
        rel=1e-9,
    )


@few_trees
def test_a_column_of_variation_needs_its_runs_for_a_ceiling():
    draw = rng(6)
    table = systems(rows=100) | {"sd": (0.5 + draw.random(100)).tolist()}
    alone = fitted(table, variation="sd")
    assert [one.ceiling for one in alone.systems] == [None, None]
    assert [c.code for c in alone.cautions].count("ceiling-unknown") == 2
    known = fitted(table, variation="sd", runs=3)
    expected = np.mean(np.square(table["sd"])) / 3 / np.var(table["score"], ddof=1)
    assert known.systems[0].ceiling.noise_share == pytest.approx(expected, rel=1e-12)
    assert known.systems[1].ceiling.rows == 100


def test_the_noise_of_a_logarithm_of_few_runs():
    # simulation: the variance of log s of three normal values, and of ten
    for runs in (3, 10):
        sds = rng(8).normal(100, 1, (200_000, runs)).std(axis=1, ddof=1)
        said = noise_of_log_sd(np.array([1.0]), np.array([100.0]), np.array([float(runs)]))
        assert said[0] == pytest.approx(np.log(sds).var(), rel=0.02)


def test_the_ceiling_is_what_the_truth_reaches():
    # attenuation: the truth itself correlates with what was measured by the ceiling
    draw = rng(7)
    truth = draw.normal(size=100_000)
    noise = draw.uniform(0.2, 1.4, size=truth.size)
    measured = truth + noise * draw.normal(size=truth.size)
    ceiling = ceiling_of(measured, noise**2)
    assert ceiling.correlation == pytest.approx(np.corrcoef(truth, measured)[0, 1], abs=0.01)
    assert ceiling_of(measured, 9.0 + 0 * noise).correlation == 0


@few_trees
@few_trees
def test_runs_that_do_not_differ_have_no_logarithm():
    table = systems(rows=120)
    score = table.pop("score")
    table |= {"a": score, "b": [s + (k % 2) for k, s in enumerate(score)]}
    found = fitted(table, ["a", "b"])
    assert [one.left_out for one in found.systems] == [0, 60]
    assert "rows-without-response" in [caution.code for caution in found.cautions]
    few = table | {"b": [s + (k < 9) for k, s in enumerate(score)]}
    codes = [caution.code for caution in fitted(few, ["a", "b"]).cautions]
    assert "variation-not-predicted" in codes


def test_the_correlation_is_pearsons_and_families_widen_its_interval():
    draw = rng(2)
    families = np.repeat(np.arange(20), 20)
    x = draw.normal(size=20)[families] + 0.1 * draw.normal(size=400)
    y = x + draw.normal(size=20)[families]
    alone = correlation_interval(x, y, None, others=10 / 9, confidence=0.95, rng=rng())
    together = correlation_interval(x, y, families, others=10 / 9, confidence=0.95, rng=rng())
    assert alone[0] == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-9)
    assert together[0] == pytest.approx(alone[0], rel=1e-9)
    assert together[2] - together[1] > 1.5 * (alone[2] - alone[1])
    flat = correlation_interval(x, np.ones(400), None, others=10 / 9, confidence=0.95, rng=rng())
    assert flat == (None, None, None)


# --- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "more", "error", "said"),
    [
        ({}, {"response": "scor"}, UsageError, "did you mean 'score'"),
        ({}, {"response": []}, UsageError, "no response"),
        ({}, {"response": ["score", "score"]}, UsageError, "named twice"),
        ({}, {"response": "colour"}, AnalysisError, "is no number: 'c"),
        ({"score": [None] * 240}, {}, AnalysisError, "no value in any row"),
        ({"score": [1.0] * 240}, {}, AnalysisError, "one value in all rows"),
        ({"score": [1e200 * k for k in range(240)]}, {}, AnalysisError, "leave the range"),
        (
            {"score": [*range(40), *[None] * 200]},
            {},
            InsufficientDataError,
            "predict others: 50 are needed",
        ),
        ({"speed": [3] * 240}, {}, AnalysisError, "'speed' is constant: one value, '3'"),
        ({"os": ["x"] * 240}, {}, AnalysisError, "'os' is constant: one level, 'x'"),
        ({"y" * 60: [3] * 240}, {}, AnalysisError, f"'{'y' * 20}…{'y' * 19}' is constant"),
        ({"os": [None] * 240}, {}, AnalysisError, "'os' has no value"),
        ({"id": [f"i{k}" for k in range(240)]}, {}, AnalysisError, "as many levels as rows (240)"),
        ({}, {"group": "famly"}, UsageError, "did you mean 'family'"),
        ({"family": ["f"] * 240}, {}, AnalysisError, "one level only"),
        ({"family": ["f", "g"] * 120}, {}, InsufficientDataError, "2 levels"),
        ({"family": [f"f{k}" for k in range(240)]}, {}, AnalysisError, "as many levels as rows"),
        ({}, {"ignore": ["x"]}, UsageError, "no column 'x'"),
        ({}, {"ignore": ["score"]}, UsageError, "has a role"),
        ({}, {"ignore": ["clock", "cache", "colour"]}, AnalysisError, "no covariate is left"),
        ({}, {"runs": 3}, UsageError, "name that column too"),
        ({}, {"variation": "clock", "runs": 1}, UsageError, "runs must lie between"),
        ({"sd": [-1.0] * 240}, {"variation": "sd"}, AnalysisError, "negative"),
        ({}, {"response": ["score", "clock"], "variation": "cache"}, UsageError, "themselves"),
        ({}, {"confidence": 1.0}, UsageError, "confidence must lie"),
        ({}, {"folds": 1}, UsageError, "folds must lie"),
    ],
)
def test_what_cannot_be_answered_is_said(change, more, error, said):
    import re

    with pytest.raises(error, match=re.escape(said)):
        fitted(systems() | change, **({"response": "score"} | more))


@few_trees
def test_all_columns_that_tell_nothing_are_named_with_the_option_that_leaves_them_out():
    table = systems() | {"os": ["x"] * 240, "id": [f"i{k}" for k in range(240)]}
    with pytest.raises(AnalysisError) as caught:
        fitted(table, ignore=["colour"])
    assert "--ignore 'colour,os,id'" in str(caught.value)
    assert fitted(table, ignore=["colour", "os", "id"]).correlation > 0.9


@few_trees
def test_a_column_that_numbers_the_rows_is_told():
    (told,) = [
        caution.about
        for caution in fitted(systems() | {"n": list(range(7, 247))}).cautions
        if caution.code == "covariate-numbers-rows"
    ]
    assert told == ("n",)


def test_without_scikit_learn_the_line_that_installs_it_is_said(monkeypatch):
    monkeypatch.delitem(sys.modules, predictions.__name__)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(UsageError) as caught:
        fitted(systems())
    assert "pip install 'fairtrial[sources]'" in str(caught.value)


@few_trees
def test_random_tables_end_in_an_answer_or_in_our_error():
    draw = rng(11)
    answered = []
    for _ in range(6):
        rows = int(draw.integers(50, 90))
        table = {
            "score": draw.choice([0.0, 1.0, -1e9, np.nan, 5.0], rows),
            "a": draw.choice([0.0, np.nan, 1e300, -1e300], rows),
            "b": draw.choice(["", "x", "y", "z\x1b[31m"], rows),
            "family": draw.choice(["f", "g", "h", "i", ""], rows),
        }
        enough = np.isfinite(table["score"]).sum() >= 50
        try:
            found = fitted(table)
        except FairtrialError:
            assert not enough
        else:
            assert enough
            assert -1 <= found.correlation <= 1
            assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["response"] == "score"
        answered.append(enough)
    assert set(answered) == {True, False}


# --- A suite's response and flags as the published study has them (its section 7)
#
# Authority for the standard deviation: the exact law of the bootstrap. The median of n of n values drawn
# with replacement is the j-th smallest with the probability that the middle draw of a uniform sample
# falls into (j - 1, j] / n; benchmarks are drawn each on its own.


B = {f"b{k}": [f"b{k} {run}" for run in (1, 2, 3)] for k in range(12)}


def suite_response_rng(seed=1):
    return np.random.default_rng(seed)


def exact_sd(runs):
    """Give the sd of the geometric mean of medians over all resamples there are; odd numbers of runs."""
    moments = np.ones(2)
    for values in runs:
        n = len(values)
        below = binom.sf(n // 2, n, np.arange(n + 1) / n)  # the middle draw is among the j smallest
        weights = np.diff(below)
        for power in (1, 2):
            moments[power - 1] *= weights @ np.sort(values) ** (power / len(runs))
    return np.sqrt(moments[1] - moments[0] ** 2)


def test_the_exact_law_itself():
    # 27 samples of three: 7 have the smallest in the middle, 13 the middle one, 7 the largest
    values = [1.0, 2.0, 4.0]
    mean = (7 * 1 + 13 * 2 + 7 * 4) / 27
    assert exact_sd([values]) ** 2 == pytest.approx((7 + 13 * 4 + 7 * 16) / 27 - mean**2)


@pytest.mark.parametrize("runs", [3, 5])
def test_the_standard_deviation_is_that_of_all_resamples(runs):
    values = suite_response_rng(2).lognormal(0, 0.1, (4, 12, runs))
    exact = [exact_sd(row) for row in values]
    assert bootstrapped_sds(values, 20_000, suite_response_rng()) == pytest.approx(exact, rel=0.02)
    # that of 500, as published: its own error is 1 / sqrt(1000) = 3 %
    many = suite_response_rng(3).lognormal(0, 0.1, (100, 12, runs))
    ratio = bootstrapped_sds(many, RESAMPLES, suite_response_rng()) / [
        exact_sd(row) for row in many
    ]
    assert ratio.mean() == pytest.approx(1, abs=0.01)
    assert ratio.std() == pytest.approx(0.0316, rel=0.35)


def test_it_is_neither_that_of_means_nor_that_of_one_benchmark():
    # the negative control: other numbers that one might compute are told from it
    values = suite_response_rng(2).lognormal(0, 0.1, (50, 12, 3))
    found = bootstrapped_sds(values, 4000, suite_response_rng())
    of_means = (
        values.mean(axis=2).mean(axis=1)
        * np.sqrt((values.var(axis=2) / 3 / values.mean(axis=2) ** 2).sum(axis=1))
        / 12
    )
    assert np.median(found / of_means) > 1.3
    assert np.median(found / bootstrapped_sds(values[:, :1], 4000, suite_response_rng())) < 0.5


def test_rows_with_fewer_runs_keep_their_number():
    values = suite_response_rng(4).lognormal(0, 0.1, (6, 3, 5))
    values[2:, 1, 3:] = np.nan
    found = bootstrapped_sds(values, 20_000, suite_response_rng())
    for row, sd in zip(values, found, strict=True):
        assert sd == pytest.approx(exact_sd([v[~np.isnan(v)] for v in row]), rel=0.02)


def test_equal_runs_do_not_vary():
    values = np.tile(suite_response_rng(5).lognormal(0, 0.3, (3, 4, 1)), (1, 1, 3))
    assert bootstrapped_sds(values, 100, suite_response_rng()).tolist() == [0, 0, 0]


def suite(rows=60, seed=6):
    draw = suite_response_rng(seed)
    clock = draw.integers(20, 40, rows)
    cells = clock[:, None, None] * np.exp(draw.normal(0, 0.01, (rows, 12, 3)))
    table = {"clock": clock.tolist()}
    return table | {
        name: cells[:, k, run].tolist()
        for k, names in enumerate(B.values())
        for run, name in enumerate(names)
    }


def test_performance_and_variation():
    table = suite()
    performance, variation = suite_responses(
        mixed_table(table), B, resamples=500, rng=suite_response_rng()
    )
    runs = np.array([[table[name] for name in names] for names in B.values()])
    assert performance.values == pytest.approx(np.exp(np.log(np.median(runs, axis=1)).mean(axis=0)))
    assert performance.noise == pytest.approx((np.exp(variation.values) * performance.values) ** 2)
    assert (performance.name, variation.name) == (
        "geometric mean of 12 benchmarks",
        "log(sd / mean) of 12 benchmarks",
    )
    assert variation.noise is None
    assert (performance.kind, variation.kind) == ("performance", "variation")


def test_rows_without_a_benchmark_and_with_single_runs():
    table = suite()
    for name in B["b3"]:
        table[name][0] = None  # no performance
    for name in B["b4"][1:]:
        table[name][1] = None  # a performance, no variation
    performance, variation = suite_responses(
        mixed_table(table), B, resamples=50, rng=suite_response_rng()
    )
    assert performance.left_out == 1
    assert variation.left_out == 2
    assert performance.rows.tolist() == list(range(1, 60))
    assert np.isnan(performance.noise).sum() == 1


def test_both_are_predicted():
    found = sources_of_table(
        suite(120) | {"other": [k % 7 for k in range(120)]},
        B,
        test_share=0.3,
        repeats=2,
        resamples=100,
        rng=suite_response_rng(),
        seed=1,
    )
    performance, variation = found.systems
    assert found.correlation > 0.9
    assert found.ceiling > 0.99
    assert (performance.resamples, variation.resamples) == (100, 100)
    assert performance.influence[0].factor == "clock"
    assert abs(variation.random.correlation) < 0.5
    codes = [caution.code for caution in found.cautions]
    assert codes.count("ceiling-unknown") == 1
    json.dumps(found.to_dict(), allow_nan=False)


def test_one_run_each_has_a_performance_only():
    first = {name: names[:1] for name, names in B.items()}
    table = {
        name: cells for name, cells in suite(80).items() if name == "clock" or name.endswith(" 1")
    }
    found = sources_of_table(table, first, folds=2, repeats=2, rng=suite_response_rng())
    assert [one.kind for one in found.systems] == ["performance"]
    assert "variation-not-predicted" in {caution.code for caution in found.cautions}


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ({}, "no benchmark is named"),
        ({"b0": []}, "the benchmark 'b0' has no columns"),
        ({"b0": ["b0 1"], "b1": ["b0 1"]}, "the column 'b0 1' is named twice"),
        ({"b0": ["b0 9"]}, "there is no column 'b0 9', named as a run of b0"),
    ],
)
def test_what_no_suite_is(response, said):
    with pytest.raises(UsageError, match=said):
        sources_of_table(suite(), response, rng=suite_response_rng())
    with pytest.raises(UsageError, match="tell their variation"):
        sources_of_table(suite(), B, variation="clock", rng=suite_response_rng())


def test_values_that_are_not_positive():
    table = suite()
    table["b2 2"][7] = 0.0
    with pytest.raises(
        AnalysisError, match="'b2 2' is 0: a geometric mean needs positive"
    ) as caught:
        sources_of_table(table, B, rng=suite_response_rng())
    assert "row 8" in str(caught.value)


def test_columns_are_found_by_their_names():
    heads = [
        *("gcc", "gcc 1", "gcc_2", "GCC.3", "gcc run 4", "gccrun5", "gcc-run-6", "gcc2 1"),
        *("gcc sd", "perl#1"),
    ]
    found = runs_of_benchmarks(heads, ["gcc", "perl"])
    assert found == {"gcc": tuple(heads[:7]), "perl": ("perl#1",)}
    with pytest.raises(UsageError, match="no column holds runs of the benchmark 'mcf'") as caught:
        runs_of_benchmarks(heads, ["mcf"], "t.csv")
    assert "'mcf 1'" in str(caught.value)
    with pytest.raises(UsageError, match="'gcc' is named twice"):
        runs_of_benchmarks(heads, ["gcc", "gcc"])


# ---- flags


def flagged(cells, **more):
    table = mixed_table({"score": [1.0] * len(cells), "flags": cells} | more)
    return table, np.arange(len(cells))


def of_flags(cells, names):
    table, rows = flagged(cells)
    return flag_columns(table, names, rows)


def test_flags_are_booleans_of_the_rows():
    columns, cautions = of_flags(["-a -b", "-b", None, "-c  -a\t-b -a"], ["flags"])
    found = {column.name: column.values.tolist() for column in columns}
    nan = np.nan
    assert found == {
        "-a": pytest.approx([1, 0, nan, 1], nan_ok=True),
        "-c": pytest.approx([0, 0, nan, 1], nan_ok=True),
    }
    # -b stands in all rows that are known
    assert [caution.code for caution in cautions] == ["flags-left-out"]


def test_the_most_common_are_taken():
    cells = [" ".join(f"-f{k}" for k in range(150) if row % (k + 2) == 0) for row in range(400)]
    table, rows = flagged(cells)
    columns, cautions = flag_columns(table, ["flags"], rows)
    assert [column.name for column in columns] == [f"-f{k}" for k in range(100)]
    assert "of 150 flags 100 are covariates: the most common; 50 rarer ones" in str(cautions[0])


def test_two_columns_and_a_name_that_is_taken():
    table, rows = flagged(["-a", "-b", None], score2=[1, 2, 3], c=["-x -a", None, None])
    columns, _ = flag_columns(table, ["flags", "c"], rows)
    found = {column.name: column.values.tolist() for column in columns}
    assert list(found) == ["-a", "-x", "-b"]
    assert found["-a"][:2] == [1, 0]
    assert np.isnan(found["-a"][2])
    table, rows = flagged(["score a", "a"])
    assert [column.name for column in flag_columns(table, ["flags"], rows)[0]] == ["score (flags)"]


def test_flags_that_tell_nothing_are_refused():
    with pytest.raises(AnalysisError, match="all rows have the same flags in 'flags'"):
        of_flags(["-a", "-a", None], ["flags"])
    with pytest.raises(AnalysisError, match="'score' holds numbers, and no flags"):
        of_flags(["-a", "-b"], ["score"])
    with pytest.raises(UsageError, match="did you mean 'flags'"):
        of_flags(["-a", "-b"], ["flag"])


def test_a_planted_flag_predicts_and_a_column_as_a_whole_does_not():
    # the negative control: nearly every row has a text of its own, which no model learns from
    draw = suite_response_rng(8)
    flags = [[f"-f{k}" for k in range(12) if draw.random() < 0.5] for _ in range(200)]
    score = [10.0 + 3 * ("-f4" in row) + draw.normal(0, 0.5) for row in flags]
    table = {"score": score, "flags": [" ".join(row) for row in flags], "x": draw.normal(size=200)}
    more = {"folds": 2, "repeats": 2, "ignore": []}
    split = sources_of_table(table, "score", flags=["flags"], rng=suite_response_rng(), **more)
    whole = sources_of_table(table, "score", rng=suite_response_rng(), **more)
    assert split.importance[0].factor == "-f4"
    assert split.systems[0].influence[0].factor == "-f4"
    assert split.correlation > 0.9
    assert abs(whole.correlation) < 0.4
    assert split.systems[0].covariates[0].name == "x"
    assert len(split.systems[0].covariates) == 13
