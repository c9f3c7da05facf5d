"""Relative influence as Friedman defines it, and the one split of the published study.

Authorities: Friedman 2001, equations 35, 44 and 45, computed here by hand and by R; scikit-learn's
other booster, which has the influence as a public attribute and shares no code with the one in use.
"""

import json

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor

from analysis.errors import InsufficientDataError, UsageError
from analysis.methods.variance_sources import predictions
from analysis.methods.variance_sources.predictions import split_gains
from analysis.methods.variance_sources.systems import sources_of_table


@pytest.fixture(autouse=True, scope="module")
def _fewer_trees():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(predictions, "MOST_TREES", 60)
        yield


K = np.arange(60)
X = np.column_stack([7 * K % 11, K * K % 13, 3 * K % 5, K % 4]).astype(float)
Y = 5 * (X[:, 0] > 6) + 0.3 * X[:, 1] + 2 * (X[:, 2] == 3) + (11 * K % 7) / 10


def ours(x, y, **shape):
    model = HistGradientBoostingRegressor(learning_rate=0.1, early_stopping=False, **shape)
    return split_gains(model.fit(x, y), x.shape[1])


def test_stumps_against_r():
    # library(rpart); k <- 0:59; d <- data.frame(a=(7*k)%%11, b=(k*k)%%13, c=(3*k)%%5, d=k%%4)
    # y <- 5*(d$a>6) + 0.3*d$b + 2*(d$c==3) + ((11*k)%%7)/10; f <- rep(mean(y), 60)
    # for (m in 1:20) { d$r <- y - f; t <- rpart(r ~ a+b+c+d, d, control=rpart.control(maxdepth=1,
    #   minbucket=3, minsplit=6, cp=0, maxcompete=0, maxsurrogate=0, xval=0)); s <- t$splits
    #   I[rownames(s)[1]] <- I[rownames(s)[1]] + s[1,"improve"]*t$frame$dev[1]
    #   f <- f + 0.1*predict(t, d) }                      # 100 * I / sum(I): a 81.22224, b 18.77776
    found = ours(X, Y, max_iter=20, max_leaf_nodes=2, min_samples_leaf=3)
    assert found == pytest.approx([1769.4094644, 409.0695333, 0, 0], rel=1e-6)
    assert 100 * found / found.sum() == pytest.approx([81.22224113, 18.77775887, 0, 0], abs=1e-6)


def test_stumps_by_hand():
    left, gains = Y - Y.mean(), np.zeros(4)
    for _ in range(20):
        best = (0.0, 0, X[:, 0] < 0)
        for j in range(4):
            for cut in np.unique(X[:, j])[1:]:
                low = X[:, j] < cut
                n, m = int(low.sum()), int((~low).sum())
                if min(n, m) >= 3:
                    gain = n * m / (n + m) * (left[low].mean() - left[~low].mean()) ** 2
                    best = max(best, (gain, j, low), key=lambda one: one[0])
        gain, j, low = best
        gains[j] += gain
        left = left - 0.1 * np.where(low, left[low].mean(), left[~low].mean())
    found = ours(X, Y, max_iter=20, max_leaf_nodes=2, min_samples_leaf=3)
    assert found == pytest.approx(gains, rel=1e-6)


@pytest.mark.parametrize(("leaves", "smallest"), [(8, 5), (31, 10)])
def test_larger_trees_against_the_other_booster(leaves, smallest):
    rng = np.random.default_rng(leaves)
    x = rng.integers(0, 60, (300, 5)).astype(float)
    y = 2 * x[:, 0] + 15 * (x[:, 1] > 20) * (x[:, 2] > 30) + rng.normal(0, 3, 300)
    other = GradientBoostingRegressor(
        n_estimators=8, max_leaf_nodes=leaves, min_samples_leaf=smallest, max_depth=None
    ).fit(x, y)
    found = ours(x, y, max_iter=8, max_leaf_nodes=leaves, min_samples_leaf=smallest)
    assert found / found.sum() == pytest.approx(other.feature_importances_, abs=1e-6)


def test_columns_of_levels_keep_their_place():
    rng = np.random.default_rng(1)
    level = rng.integers(0, 4, 300)
    given = {
        "a": rng.normal(size=300),
        "level": [f"l{k}" for k in level],
        "b": rng.normal(size=300),
    }
    given["score"] = np.array([0.0, 9.0, 1.0, 5.0])[level] + 0.1 * given["b"]
    (across,) = of(given).systems
    assert (across.influence[0].factor, across.influence[0].share > 0.95) == ("level", True)


# ---- of a table


def table(rows=240, seed=5):
    draw = np.random.default_rng(seed)
    clock, cache = draw.integers(10, 40, rows), draw.integers(0, 4, rows)
    return {
        "score": (clock + 6 * (cache == 2) + draw.normal(size=rows)).tolist(),
        "clock": clock.tolist(),
        "cache": [f"{k} MB" for k in cache],
        "colour": [f"c{k}" for k in draw.integers(0, 5, rows)],
        "family": [f"f{k}" for k in draw.integers(0, 40, rows)],
    }


def of(given, **more):
    more = {"folds": 2, "repeats": 2, "rng": np.random.default_rng(1)} | more
    return sources_of_table(given, "score", **more)


@pytest.fixture(scope="module")
def found():
    return of(table(), group="family")


def test_shares_of_what_was_planted_and_of_nothing_else(found):
    (across,) = found.systems
    shares = {one.factor: one.share for one in across.influence}
    assert sum(shares.values()) == pytest.approx(1, abs=1e-12)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    # in truth clock has 30 ** 2 / 12 = 75 of the variance, and the one level of cache 6.75
    assert shares["clock"] == pytest.approx(75 / 81.75, abs=0.04)
    assert shares["cache"] == pytest.approx(6.75 / 81.75, abs=0.04)
    assert shares["colour"] < 0.02


def test_of_a_response_that_follows_nothing_they_sum_to_one_all_the_same():
    # the negative control, and why importance stands beside: it tells that nothing is predicted
    given = table()
    given["score"] = np.random.default_rng(9).permutation(given["score"]).tolist()
    (across,) = of(given).systems
    assert sum(one.share for one in across.influence) == pytest.approx(1, abs=1e-12)
    assert across.influence[0].share > 0.3
    assert max(one.mean for one in across.importance) < 0.15
    assert across.random.low < 0 < across.random.high


def test_they_stand_beside_the_importance(found):
    text = str(found)
    assert "relative influence" in text
    (across,) = found.systems
    top = across.influence[0]
    lost = next(one.mean for one in across.importance if one.factor == top.factor)
    line = next(
        line
        for line in text.splitlines()[text[: text.index("Relative influence")].count("\n") :]
        if line.split()[:1] == [top.factor]
    )
    assert line.split()[1] == f"{100 * top.share:.2f}"
    assert line.split()[3] == f"{100 * lost:.2f}"


# ---- one split


def test_one_split_holds_out_that_share_and_learns_from_the_rest():
    found = of(table(), test_share=0.3, group="family")
    (across,) = found.systems
    assert across.test_share == 0.3
    assert (across.random.folds, across.random.rows) == (1, 72)
    assert len(across.random.trees) == 1
    assert int(np.isfinite(across.predicted_random).sum()) == 72
    out = np.isfinite(across.predicted_random)
    errors = (across.predicted_random - across.measured)[out]
    assert across.random.rmse == pytest.approx(np.sqrt((errors**2).mean()))
    assert found.correlation > 0.9
    assert all(point.sd is None for one in across.dependence for point in one.points)
    assert "(30 %, once)" in str(found)
    held = np.isfinite(across.predicted_grouped)
    families = np.array(table()["family"])
    assert not {*families[held]} & {*families[~held]}
    assert len({*families[held]}) == 12  # 30 % of the 40 families
    assert len({*families}) == 40
    json.dumps(found.to_dict(), allow_nan=False)


def test_what_is_held_out_does_not_enter():
    first = of(table(), test_share=0.3).systems[0]
    out = np.flatnonzero(np.isfinite(first.predicted_random))
    given = table()
    for row in out:
        given["score"][row] += 1000.0
    second = of(given, test_share=0.3).systems[0]
    assert second.predicted_random[out].tolist() == first.predicted_random[out].tolist()


def test_folds_stay_what_is_done_without_it(found):
    (across,) = found.systems
    assert across.test_share is None
    assert (across.random.folds, across.random.rows) == (2, 240)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.3, 30.0, float("nan")])
def test_a_share_lies_between_0_and_1(share):
    with pytest.raises(UsageError, match="test_share must lie between 0 and 1"):
        of(table(), test_share=share)


@pytest.mark.parametrize(
    ("share", "said"), [(0.1, "6 of 60 rows are held out"), (0.5, "30 of 60 rows are left")]
)
def test_a_split_with_too_few_rows_on_a_side_is_refused(share, said):
    with pytest.raises(InsufficientDataError, match=said):
        of(table(rows=60), test_share=share)
