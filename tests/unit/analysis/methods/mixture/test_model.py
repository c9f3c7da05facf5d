"""The mixture object: probabilities, quantiles, modes, classes, scales, and what it refuses."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from analysis.errors import AnalysisError, UsageError
from analysis.methods.mixture.model import EmState, Mixture
from analysis.pages.model import Caution

THREE = {"weights": [0.5, 0.35, 0.15], "means": [2, 8, 25], "sds": [0.5, 0.5, 0.5]}


def mixture(weights: list, means: list, sds: list, **more: object) -> Mixture:
    return Mixture.from_parameters(weights=weights, means=means, sds=sds, **more)


def single(mean: float, sd: float, **more: object) -> Mixture:
    return mixture([1], [mean], [sd], **more)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [0.5, 0.5]}, "as many weights"),
        ({"weights": [0.5, 0.5, 0.0]}, "positive"),
        ({"weights": [0.5, 0.7, -0.2]}, "positive"),
        ({"weights": [0.5, 0.35, 0.1]}, "sum to 1"),
        ({"means": [2, 8, math.nan]}, "finite"),
        ({"sds": [1, 1, 0]}, "positive"),
        ({"sds": [1, 1, math.inf]}, "finite"),
        ({"means": 3}, "list"),
        ({"weights": [], "means": [], "sds": []}, "list"),
        ({"scale": "sqrt"}, "scale"),
    ],
)
def test_refuses_what_is_no_mixture(change: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Mixture.from_parameters(**{**THREE, **change})


def test_printed_weights_are_divided_by_their_sum() -> None:
    rounded = mixture([0.33333333] * 3, [1, 2, 3], [1, 1, 1])
    assert rounded.weights.tolist() == pytest.approx([1 / 3] * 3, rel=1e-15)
    assert Mixture.from_parameters(**THREE).weights.tolist() == THREE["weights"]


def test_it_is_read_only_and_knows_its_kind() -> None:
    three = Mixture.from_parameters(**THREE)
    assert three.components == 3
    assert three.equal_variance
    assert not mixture([0.5, 0.5], [0, 1], [1, 2]).equal_variance
    with pytest.raises(ValueError, match="read-only"):
        three.weights[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        three.modes()[0] = 1


def test_density_and_probabilities_of_one_gaussian() -> None:
    one = single(3, 2)
    assert one.pdf(3) == pytest.approx(1 / (2 * math.sqrt(2 * math.pi)), rel=1e-15)
    assert one.cdf(3) == 0.5
    assert one.probability_below(3 - 2 * 30) == pytest.approx(4.906713927148187e-198, rel=1e-12)
    assert one.survival(3 + 2 * 30) == pytest.approx(4.906713927148187e-198, rel=1e-12)
    assert one.cdf([-math.inf, math.inf]).tolist() == [0, 1]
    assert one.pdf([-math.inf, math.inf]).tolist() == [0, 0]
    assert isinstance(one.pdf(1), float)
    assert one.cdf([[1, 2], [3, 4]]).shape == (2, 2)
    assert one.pdf([]).shape == (0,)


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e9])
def test_quantile_inverts_the_distribution_at_every_scale(scale: float) -> None:
    means = np.array([0, 5e3, 1e6]) * scale
    m = mixture([0.3, 0.3, 0.4], means.tolist(), [1e-3 * scale, scale, 1e3 * scale])
    levels = np.array([1e-300, 1e-16, 1e-5, 0.1, 0.29, 0.31, 0.5, 0.61, 0.9, 1 - 1e-9])
    found = m.quantile(levels)
    assert (np.diff(found) > 0).all()
    assert m.cdf(found) == pytest.approx(levels, rel=1e-9)


def test_quantile_on_a_plateau_balances_the_two_tails() -> None:
    # weight below is exactly 1/2, so the root is where both tails are equal, here the middle
    far = mixture([0.5, 0.5], [0, 100], [1, 1])
    assert far.quantile(0.5) == pytest.approx(50, rel=1e-14)
    # unequal spreads: 50 and 100 sd wide, tails equal in units of sd
    uneven = mixture([0.5, 0.5], [0, 150], [1, 2])
    assert uneven.quantile(0.5) == pytest.approx(50, rel=1e-3)
    # the level in decimal is not the sum of the weights in binary: the exact difference decides
    c = float(Fraction(0.1) + Fraction(0.2) - Fraction(0.3))
    thirds = mixture([0.1, 0.2, 0.7], [0, 1, 1000], [1, 1, 1])
    x = thirds.quantile(0.3)
    assert c > 0
    assert 0.1 * math.erfc(x / math.sqrt(2)) / 2 + 0.2 * math.erfc(
        (x - 1) / math.sqrt(2)
    ) / 2 == pytest.approx(c, rel=1e-6)


def test_quantile_ends_and_errors() -> None:
    three = Mixture.from_parameters(**THREE)
    assert three.quantile([0, 1]).tolist() == [-math.inf, math.inf]
    assert three.quantile(5e-324) < three.quantile(1e-300) < 2
    assert three.quantile([]).shape == (0,)
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(UsageError, match="between 0 and 1"):
            three.quantile(wrong)


def test_quantiles_of_many_levels_are_those_of_each() -> None:
    m = mixture([0.2, 0.5, 0.3], [0, 3, 4], [1, 0.1, 5])
    levels = np.linspace(0.001, 0.999, 57).reshape(3, 19)
    together = m.quantile(levels)
    assert together.shape == levels.shape
    assert together.ravel() == pytest.approx([m.quantile(q) for q in levels.ravel()], rel=1e-13)


# ---- modes


def bimodal(w1: float, d: float) -> bool:
    """The known criterion for two Gaussians of sd 1, d apart, weights w1 and 1 - w1."""
    if d <= 2:
        return False
    root = math.sqrt(d * d - 4)
    # x solves x (d - x) = 1; the log odds at which a mode is born lie at these x
    x1, x2 = (d - root) / 2, (d + root) / 2
    odds = [d * x - d * d / 2 + math.log((d - x) / x) for x in (x1, x2)]
    return min(odds) < math.log(w1 / (1 - w1)) < max(odds)


@pytest.mark.parametrize("d", [1.0, 1.99, 2.0, 2.01, 2.5, 3, 4, 6, 10])
def test_modes_of_equal_variance_pairs_follow_the_criterion(d: float) -> None:
    seen = set()
    for w1 in (0.5, 0.45, 0.4, 0.3, 0.2, 0.1, 0.01, 1e-4, 1e-8, 1e-15):
        for flip in (w1, 1 - w1):
            expected = 1 + bimodal(flip, d)
            assert mixture([flip, 1 - flip], [0, d], [1, 1]).modes().size == expected, flip
            seen.add(expected)
    assert seen == {1} if d <= 2 else 2 in seen


@pytest.mark.parametrize("d", [2.05, 3.0, 5.0, 9.0])
def test_modes_are_exact_at_the_edge_of_the_criterion(d: float) -> None:
    root = math.sqrt(d * d - 4)
    for x in ((d - root) / 2, (d + root) / 2):
        edge = d * x - d * d / 2 + math.log((d - x) / x)
        counts = {
            mixture([1 / (1 + math.exp(-o)), 1 / (1 + math.exp(o))], [0, d], [1, 1]).modes().size
            for o in (edge - 1e-7, edge + 1e-7)
        }
        assert counts == {1, 2}


@pytest.mark.parametrize("offset", [0.0, 1e3, -1e6])
def test_modes_about_to_merge(offset: float) -> None:
    def pair(e: float) -> np.ndarray:
        return mixture([0.5, 0.5], [offset, offset + 2 * (1 + e)], [1, 1]).modes()

    for e in (1e-3, 1e-5, 1e-6):
        found = pair(e) - offset - (1 + e)
        # near the merger the modes lie at sqrt(6 e) from the middle
        assert found == pytest.approx([-math.sqrt(6 * e), math.sqrt(6 * e)], rel=1e-2)
    for e in (0, -1e-7, -1e-3):
        assert pair(e) == pytest.approx([offset + 1 + e], abs=1e-5)


@pytest.mark.parametrize("sd", [0.55, 0.8, 1.31, 1.7, 2.18, 2.79])
def test_modes_of_unequal_pairs_that_are_hardly_two(sd: float) -> None:
    """Robertson and Fryer (1969): from which distance on, and for which weights, there are two."""
    square = sd * sd
    least = (
        math.sqrt(
            2 * (square**2 - square + 1) ** 1.5 - (2 * square**3 - 3 * square * (square + 1) + 2)
        )
        / sd
    )
    for share in (1e-5, 1e-4, 1e-3):
        d = least * (1 + share)
        roots = np.roots([square - 1, -d * (square - 2), -d * d, d * square])
        odds = [
            sd**3 * y / (d - y) * math.exp(((y - d) ** 2 / square - y * y) / 2)
            for y in roots.real
            if 0 < y < d
        ]
        low, high = sorted(1 / (1 + odd) for odd in odds)
        for w1, modes in (((low + high) / 2, 2), (low - (high - low), 1), (high + (high - low), 1)):
            assert mixture([w1, 1 - w1], [0, d], [1, sd]).modes().size == modes, (share, w1)


def test_modes_of_very_different_spreads() -> None:
    m = mixture([0.3, 0.3, 0.4], [0, 5e3, 1e6], [1e-3, 1, 1e3])
    assert m.modes() == pytest.approx([0, 5e3, 1e6], abs=1e-3)
    spike = mixture([0.5, 0.5], [0.7, 0], [1e-6, 1])  # on the flank of a wide one
    # the wide component keeps its own mode, the spike lies 700,000 of its own sds away
    assert spike.modes() == pytest.approx([0, 0.7], abs=1e-9)
    inside = mixture([0.01, 0.99], [0, 0], [1e-6, 1])
    assert inside.modes() == pytest.approx([0], abs=1e-12)


def test_more_modes_than_one_component_has_weight_for() -> None:
    many = mixture([1 / 9] * 9, list(range(0, 90, 10)), [1] * 9)
    assert many.modes() == pytest.approx(range(0, 90, 10), abs=1e-6)
    same = mixture([0.2, 0.3, 0.5], [4, 4, 4], [1, 2, 3])
    assert same.modes() == pytest.approx([4], abs=1e-9)
    twins = mixture([0.5, 0.5], [4, 4], [1, 1])
    assert twins.modes().tolist() == [4]


def test_modes_agree_with_a_dense_search() -> None:
    rng = np.random.default_rng(7)
    for _ in range(30):
        k = int(rng.integers(2, 7))
        weights = rng.dirichlet(np.ones(k))
        m = mixture(weights.tolist(), rng.normal(0, 3, k).tolist(), rng.gamma(2, 0.4, k).tolist())
        x = np.linspace(m.means.min() - 1, m.means.max() + 1, 50_001)
        f = m.pdf(x)
        inner = (f[1:-1] > f[:-2]) & (f[1:-1] >= f[2:])
        assert m.modes() == pytest.approx(x[1:-1][inner], abs=2 * (x[1] - x[0]))


# ---- classes, samples, logarithms


def test_classification_far_in_the_tails() -> None:
    m = mixture([0.5, 0.5], [0, 10], [1, 2])
    assert m.classify([-1e6, 0, 3, 10, 1e6]).tolist() == [1, 0, 0, 1, 1]
    equal = mixture([0.5, 0.5], [0, 10], [1, 1])
    # every density is 0 there in floating point, the posterior is not
    assert equal.classify([-1e5, -50, 5, 60, 1e5]).tolist() == [0, 0, 0, 1, 1]
    assert equal.classify([]).tolist() == []
    assert np.asarray(equal.classify(60)).item() == 1
    with pytest.raises(AnalysisError, match="finite"):
        m.classify([1, math.nan])


def test_samples_follow_the_distribution() -> None:
    m = mixture([0.3, 0.7], [0, 10], [1, 2])
    drawn = np.sort(m.sample(20_000, rng=np.random.default_rng(3)))
    distance = np.abs(m.cdf(drawn) - (np.arange(20_000) + 0.5) / 20_000).max()
    assert distance < 1.95 / math.sqrt(20_000)  # p of about 0.001
    assert m.sample(0, rng=np.random.default_rng(1)).size == 0
    again = m.sample(5, rng=np.random.default_rng(3))
    assert again.tolist() == m.sample(5, rng=np.random.default_rng(3)).tolist()
    with pytest.raises(UsageError, match="n must lie between 0"):
        m.sample(-1, rng=np.random.default_rng(1))


def test_logarithms_against_the_lognormal_law() -> None:
    from scipy.stats import lognorm

    m, law = single(0.3, 0.6, scale="log"), lognorm(0.6, scale=math.exp(0.3))
    x = np.array([1e-8, 0.5, 1, 2, 50])
    assert m.pdf(x) == pytest.approx(law.pdf(x), rel=1e-12)
    assert m.cdf(x) == pytest.approx(law.cdf(x), rel=1e-12)
    assert m.survival(x) == pytest.approx(law.sf(x), rel=1e-12)
    assert m.quantile([0.01, 0.5, 0.99]) == pytest.approx(law.ppf([0.01, 0.5, 0.99]), rel=1e-12)
    assert m.mean() == pytest.approx(law.mean(), rel=1e-12)
    assert m.modes() == pytest.approx([math.exp(0.3 - 0.36)], rel=1e-12)
    assert m.pdf([-1, 0]).tolist() == [0, 0]
    assert m.cdf([-1, 0]).tolist() == [0, 0]
    assert m.quantile([0, 1]).tolist() == [0, math.inf]
    assert (m.sample(100, rng=np.random.default_rng(1)) > 0).all()
    with pytest.raises(AnalysisError, match="not positive"):
        m.classify([0.0])


def test_modes_of_logarithms_are_those_of_the_values() -> None:
    m = mixture([0.4, 0.6], [0, 2], [0.5, 0.3], scale="log")
    x = np.linspace(0.01, 20, 400_001)
    f = m.pdf(x)
    inner = (f[1:-1] > f[:-2]) & (f[1:-1] >= f[2:])
    assert m.modes() == pytest.approx(x[1:-1][inner], abs=1e-4)
    assert single(2000, 1, scale="log").mean() == math.inf


# ---- what is shown


def test_as_json_and_as_text() -> None:
    state = EmState(weights=[0.5, 0.5], means=[0, 10], sds=[1, 1])
    fitted = Mixture(
        weights=[0.5, 0.5],
        means=[0, 10],
        sds=[1, 1],
        equal_variance=True,
        n=40,
        log_likelihood=-81.5,
        bic=-177.7,
        bic_table={"E": (-190.0, -177.7), "V": (-190.0, math.nan)},
        iterations=12,
        em=state,
        cautions=(Caution("alone", "one value stands alone"),),
    )
    data = json.loads(json.dumps(fitted.to_dict(), allow_nan=False))
    assert data["components"] == 2
    assert (data["method"], data["caution_codes"]) == ("fit-mixture", ["alone"])
    assert data["bic_table"]["V"] == [-190.0, None]
    assert data["em"]["sds"] == [1, 1]
    assert data["modes"] == pytest.approx([0, 10], abs=1e-9)
    text = str(fitted)
    assert text.startswith("2 Gaussians (one common standard deviation) describe these 40 values")
    assert "2 modes" in text
    assert "see the evidence" in " ".join(text.split())
    assert "BIC -177.7" in text
    assert "[1] one value stands alone" in text
    assert max(len(line) for line in text.splitlines()) <= 96
    assert str(single(1, 2)).startswith("a mixture of one Gaussian")
    bare = json.loads(json.dumps(single(1, 2).to_dict(), allow_nan=False))
    assert bare["bic_table"] is None
    assert bare["em"] is None


def test_parameters_before_the_last_step_are_read_only() -> None:
    state = EmState(weights=[0.5, 0.5], means=[0, 10], sds=[1, 1])
    for values in (state.weights, state.means, state.sds):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 2


def test_mixtures_are_not_equal_because_their_cautions_are() -> None:
    assert single(1, 2) != single(1, 3)


def test_what_exceeds_the_largest_number_is_null() -> None:
    data = single(2000, 1, scale="log").to_dict()
    assert data["mean"] is None
    assert data["modes"] == [None]
    assert json.dumps(data, allow_nan=False)


def test_the_table_holds_the_numbers_behind_its_cells() -> None:
    three = Mixture.from_parameters(**THREE)
    (table,) = three.screen().sections[1].blocks
    columns = list(zip(*([cell.value for cell in row] for row in table.rows), strict=True))
    assert columns == [(0, 1, 2), tuple(three.weights), tuple(three.means), tuple(three.sds)]
