"""fit_mixture's arguments, edges and options, and its kernels one by one."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numba import njit

from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.mixture import em_kernel, fit
from analysis.methods.mixture.em_kernel import (
    CENTRE,
    HEIGHT,
    LANES,
    MEAN,
    ROWS,
    SLOPE,
    SUMS,
    most_levels,
)
from analysis.methods.mixture.fit import ScaledValues, fit_each, fit_mixture
from analysis.methods.mixture.fit_kernel import fitted
from analysis.methods.mixture.model import TILE, Mixture
from analysis.stats import workers
from analysis.stats.workers import Budget

# what only kernels call, as kernels of their own
e_step, exponential, first_at_least, quantile_start, random_start = (
    njit(getattr(em_kernel, name).py_func, error_model="numpy")
    for name in ("e_step", "exponential", "first_at_least", "quantile_start", "random_start")
)


@pytest.fixture
def bimodal() -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.concatenate([rng.normal(10, 0.5, 40), rng.normal(14, 0.5, 60)])


def _quantiles(x: np.ndarray, levels: int) -> np.ndarray:
    """Give the distinct type-7 quantiles, computed as R computes them."""
    index = 1 + (x.size - 1) * np.linspace(0, 1, levels)
    low = np.floor(index).astype(int)
    h, below, above = index - low, x[low - 1], x[np.ceil(index).astype(int) - 1]
    return np.unique(np.where(below == above, below, (1 - h) * below + h * above))


class TestArguments:
    @pytest.mark.parametrize(
        ("values", "options", "kind", "word"),
        [
            *(([1, 2, 4], {"max_components": k}, UsageError, "max_c") for k in (0, 65, 2.0, True)),
            ([1, 2, 4], {"starts": 2}, UsageError, "rng"),
            ([1, 2, 4], {"starts": 0}, UsageError, "starts"),
            *(([1, 2], {"variance_floor": f}, UsageError, "floor") for f in (-1.0, math.inf)),
            *(([1, 2], {"resolution": f}, UsageError, "resolution") for f in (0.0, math.nan)),
            ([1, 2], {"resolution": 1.0, "variance_floor": 1.0}, UsageError, "both"),
            ([1, 2], {"scale": "cubic"}, UsageError, "scale"),
            ([0, 1, 2], {"scale": "log"}, AnalysisError, "positive"),
            *((values, {}, UsageError, "values") for values in (["a", "b"], [[1], [3]], 3.0, None)),
            *(([1, 2, odd], {}, AnalysisError, "finite") for odd in (math.nan, -math.inf)),
            *(([0.1] * n, {}, AnalysisError, "equal") for n in (2, 5, 2001)),
            ([1e200, -1e200, 0], {}, AnalysisError, "larger unit"),
            ([10**400, 1], {}, AnalysisError, "larger unit"),
            ([0.0, 5e-324], {}, AnalysisError, "rounding"),
            ([1e-323] * 9 + [1.5e-323], {}, AnalysisError, "rounding"),
        ],
    )
    def test_what_is_refused(
        self, values: Any, options: dict[str, Any], kind: type[Exception], word: str
    ) -> None:
        with pytest.raises(kind, match=word):
            fit_mixture(values, **options)

    @pytest.mark.parametrize("values", [[], [3.0]])
    def test_too_few(self, values: list[float]) -> None:
        with pytest.raises(InsufficientDataError) as caught:
            fit_mixture(values)
        assert (caught.value.n, caught.value.needed) == (len(values), 2)

    def test_the_values_are_not_touched(self, bimodal: np.ndarray) -> None:
        before = bimodal.copy()
        bimodal.flags.writeable = False
        fit_mixture(bimodal)
        assert (bimodal == before).all()


class TestEdges:
    @pytest.mark.parametrize("values", [[1, 2], [1, 2, 3], [1, 1, 2], [0, 0, 0, 1]])
    def test_smallest_samples_give_one_gaussian(self, values: list[float]) -> None:
        fit = fit_mixture(values)
        assert fit.components == 1
        assert fit.means[0] == pytest.approx(np.mean(values))
        assert fit.sds[0] == pytest.approx(np.std(values))
        assert fit.iterations is None
        assert "hardly determine" in fit.cautions[0]

    def test_more_components_than_values_are_absent(self) -> None:
        table = fit_mixture([1.0, 2.5, 2.0, 7.0]).bic_table
        assert table is not None
        assert len(table["E"]) == 9
        assert np.isnan(table["E"][4:]).all()
        assert np.isnan(table["V"][4:]).all()

    def test_a_tiny_unit_allows_one_gaussian_only(self, bimodal: np.ndarray) -> None:
        small = fit_mixture(bimodal * 1e-10)
        assert small.components == 1
        assert any("smaller unit" in caution for caution in small.cautions)
        assert fit_mixture(bimodal * 1e9).components == fit_mixture(bimodal).components == 2
        # seen: 500 and 1,500 ns of sd 10 ns, in seconds, are one Gaussian, and no caution named the unit
        apart = np.where(bimodal < 12, bimodal, 100 + bimodal) * 1e-8
        small = fit_mixture(apart)
        assert (small.components, small.cautions[0].code) == (1, "spread-too-small")
        assert "or give the clock's step as resolution" in small.cautions[0].text
        steps = fit_mixture(apart, resolution=1e-10)
        assert steps.components == fit_mixture(apart * 1e9).components == 2

    @pytest.mark.parametrize("n", [10, 200, 2000, 5000])
    def test_two_values(self, n: int) -> None:
        values = np.repeat([1.0, 2.0], [n // 3, n - n // 3])
        fit = fit_mixture(values)
        table = fit.bic_table
        assert table is not None
        assert np.isnan(table["E"][1])  # both classes are constant
        assert any("distinct" in caution for caution in fit.cautions)

    def test_neighbouring_numbers(self) -> None:
        values = [1.0, np.nextafter(1, 2)] * 20
        assert fit_mixture(values).components == 1

    @pytest.mark.parametrize("power", [-290, -100, -9, 9, 100, 148])
    def test_scales(self, bimodal: np.ndarray, power: int) -> None:
        fit = fit_mixture(bimodal * 10.0**power)
        assert np.isfinite(fit.log_likelihood)
        assert fit.means[0] / 10.0**power == pytest.approx(
            bimodal.mean() if fit.components == 1 else bimodal[:40].mean(), rel=0.01
        )

    def test_an_outlier_far_away(self) -> None:
        rng = np.random.default_rng(1)
        fit = fit_mixture(np.append(rng.normal(10, 0.1, 49), 1e12))
        assert np.isfinite(fit.bic)

    def test_a_large_offset(self) -> None:
        # mclust stops with an error here: its upper end is not above the largest value
        values = 1e9 + np.random.default_rng(1).normal(0, 1e-2, 30)
        assert fit_mixture(values).means.mean() == pytest.approx(1e9)


class TestResult:
    def test_it_finds_two_modes(self, bimodal: np.ndarray) -> None:
        fit = fit_mixture(bimodal)
        assert fit.components == 2
        assert fit.weights == pytest.approx([0.4, 0.6], abs=0.02)
        assert fit.n == 100
        assert fit.bic == max(fit.bic_table["E"] + fit.bic_table["V"])
        p = 4 if fit.equal_variance else 5
        assert fit.bic == pytest.approx(2 * fit.log_likelihood - p * math.log(100))

    def test_likelihood_is_that_of_the_state_before_the_closing_step(
        self, bimodal: np.ndarray
    ) -> None:
        fit = fit_mixture(bimodal)
        before = Mixture.from_parameters(weights=fit.em.weights, means=fit.em.means, sds=fit.em.sds)
        assert np.log(before.pdf(bimodal)).sum() == pytest.approx(fit.log_likelihood, rel=1e-12)

    def test_the_largest_k_tried(self, bimodal: np.ndarray) -> None:
        assert "try more" in fit_mixture(bimodal, max_components=2).cautions[0]

    def test_a_large_sample_says_how_it_starts(self) -> None:
        fit = fit_mixture(np.random.default_rng(1).normal(0, 1, 2001))
        assert any("order statistics" in caution for caution in fit.cautions)


class TestOptions:
    def test_a_floor_keeps_every_candidate(self) -> None:
        rng = np.random.default_rng(4)
        values = np.round(rng.normal(100, 1, 60))
        plain, floored = fit_mixture(values), fit_mixture(values, resolution=1.0)
        assert np.isnan(plain.bic_table["V"]).any()
        assert not np.isnan(floored.bic_table["V"][:4]).any()
        assert floored.sds.min() >= math.sqrt(1 / 12) * (1 - 1e-12)
        same = fit_mixture(values, variance_floor=1 / 12)
        assert same.means.tolist() == floored.means.tolist()

    def test_a_floor_that_never_binds_changes_nothing(self, bimodal: np.ndarray) -> None:
        plain, floored = fit_mixture(bimodal), fit_mixture(bimodal, variance_floor=1e-20)
        assert floored.bic == plain.bic

    def test_constant_with_a_floor(self) -> None:
        fit = fit_mixture([5.0] * 6, resolution=0.6)
        assert (fit.components, fit.means[0]) == (1, 5.0)
        assert fit.sds[0] == pytest.approx(0.6 / math.sqrt(12))
        assert any("least variance" in caution for caution in fit.cautions)
        expected = -6 * (math.log(0.6 / math.sqrt(12)) + math.log(2 * math.pi) / 2)
        assert fit.log_likelihood == pytest.approx(expected)

    def test_log_scale(self, bimodal: np.ndarray) -> None:
        fit, plain = fit_mixture(bimodal, scale="log"), fit_mixture(np.log(bimodal))
        assert fit.scale == "log"
        assert fit.means.tolist() == plain.means.tolist()
        assert fit.bic == plain.bic
        stepped = fit_mixture(np.round(bimodal), scale="log", resolution=1.0)
        assert stepped.sds.min() >= 1 / np.median(np.round(bimodal)) / math.sqrt(12) * 0.999

    def test_lognormal_is_one_gaussian_on_the_log_scale(self) -> None:
        values = np.random.default_rng(5).lognormal(0, 1, 300)
        assert fit_mixture(values, scale="log").components == 1
        assert fit_mixture(values).components > 1

    def test_many_starts_never_lose(self) -> None:
        rng = np.random.default_rng(6)
        values = rng.normal(rng.choice([0, 4, 5, 11], 150), 0.6)
        one = fit_mixture(values, resolution=0.01)
        many = fit_mixture(values, resolution=0.01, starts=15, rng=np.random.default_rng(1))
        for model in "EV":
            a, b = np.array(one.bic_table[model]), np.array(many.bic_table[model])
            assert (b >= a)[~np.isnan(a)].all()
        assert many.bic > one.bic or many.bic == one.bic
        assert (np.array(many.bic_table["E"]) > np.array(one.bic_table["E"]) + 1).any()

    def test_many_starts_repeat_from_the_same_seed(self, bimodal: np.ndarray) -> None:
        a, b = (
            fit_mixture(bimodal, starts=5, rng=np.random.default_rng(9), resolution=0.1)
            for _ in range(2)
        )
        assert a.means.tolist() == b.means.tolist()

    def test_random_starts_divide_what_no_quantile_can(self) -> None:
        # between neighbours among numbers there is no third cut point
        low = np.nextafter(1, 2)
        values = np.repeat([low, np.nextafter(low, 2)], 20)
        options = {"variance_floor": 1e-34, "max_components": 2}
        assert fit_mixture(values, **options).components == 1
        fit = fit_mixture(values, **options, starts=4, rng=np.random.default_rng(1))
        assert fit.means.tolist() == np.unique(values).tolist()

    def test_many_starts_without_a_floor_are_cautioned(self, bimodal: np.ndarray) -> None:
        fit = fit_mixture(bimodal, starts=2, rng=np.random.default_rng(9))
        assert any("tied" in caution for caution in fit.cautions)


class TestKernels:
    def test_exponential(self) -> None:
        for t in np.linspace(-700, 700, 2801):
            assert exponential(float(t)) == pytest.approx(math.exp(t), rel=6e-16, abs=0)

    @pytest.mark.parametrize("n", [1, 8, 37, TILE - 3, TILE, 3 * TILE + 5])
    def test_e_step(self, n: int) -> None:
        x = np.sort(np.random.default_rng(n).normal(0, 1, n))
        x[-1] = 60.0  # beyond the reach of densities: the logarithmic way
        w, mu, sd = np.array([0.3, 0.7]), np.array([-1.0, 0.5]), np.array([0.5, 1.2])
        padded = np.pad(x, (0, -n % LANES), constant_values=x[-1])
        p, tiles = np.empty((ROWS, 2)), np.empty((5, TILE))
        height = np.log(w / sd) - 0.5 * math.log(2 * math.pi)
        centre = np.array([-1.1, 0.7])
        p[[MEAN, SLOPE, HEIGHT, CENTRE]] = mu, -0.5 / sd**2, height, centre
        found = e_step(padded, n, 2, p, tiles)
        logs = height - 0.5 * ((x[:, None] - mu) / sd) ** 2
        top = logs.max(axis=1, keepdims=True)
        total = np.exp(logs - top).sum(axis=1, keepdims=True)
        assert found == pytest.approx((np.log(total) + top).sum(), rel=1e-13)
        r, d = np.exp(logs - top) / total, x[:, None] - centre
        wanted = [r.sum(axis=0), (r * d).sum(axis=0), (r * d * d).sum(axis=0)]
        assert p[SUMS:] == pytest.approx(np.array(wanted), rel=1e-12)

    def test_quantile_start_by_hand(self) -> None:
        x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
        cuts, bounds = np.empty(2 * most_levels(8, 2)), np.empty(3, dtype=np.intp)
        assert quantile_start(x, 2, 0, cuts, bounds) == 3
        assert bounds.tolist() == [0, 4, 8]

    def test_ties_need_more_levels(self) -> None:
        # quartiles 1, 1, 1.5, 2, 2 are the first levels with three different cut points
        x = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
        cuts, bounds = np.empty(2 * most_levels(6, 2)), np.empty(3, dtype=np.intp)
        assert quantile_start(x, 2, 0, cuts, bounds) == 3
        assert bounds.tolist() == [0, 3, 6]
        cuts, bounds = np.empty(2 * most_levels(6, 4)), np.empty(5, dtype=np.intp)
        levels = quantile_start(x, 4, 0, cuts, bounds)
        used = np.quantile(x, np.linspace(0, 1, levels))
        assert np.unique(used).size >= 5
        assert np.unique(np.quantile(x, np.linspace(0, 1, levels - 1))).size < 5

    def test_cut_points_are_the_distinct_quantiles(self) -> None:
        # a slow account of the rule, level by level, in numpy
        rng = np.random.default_rng(12)
        for _ in range(60):
            x = np.sort(
                np.round(rng.normal(0, 1, int(rng.integers(3, 50))), int(rng.integers(0, 3)))
            )
            for k in range(2, min(7, x.size)):
                if x[0] == x[-1]:
                    continue
                levels = k + 1
                while (q := _quantiles(x, levels)).size < k + 1:
                    levels += 1
                drop = np.argsort(np.diff(q), kind="stable")[: q.size - k - 1]
                wanted = np.searchsorted(x, np.delete(q, drop)[1:-1])
                cuts = np.empty(2 * most_levels(x.size, k))
                bounds = np.empty(k + 1, dtype=np.intp)
                assert quantile_start(x, k, 0, cuts, bounds) == levels
                assert bounds[1:-1].tolist() == wanted.tolist()

    def test_a_gap_too_narrow(self) -> None:
        x = np.array([1.0, 1.0, np.nextafter(1, 2)])
        cuts, bounds = np.empty(2 * most_levels(3, 3)), np.empty(4, dtype=np.intp)
        assert quantile_start(x, 3, 0, cuts, bounds) == -1

    def test_random_start(self) -> None:
        x = np.array([0.0, 0.1, 0.2, 9.0, 9.1])
        draws, centres, bounds = np.array([0.0, 0.9]), np.empty(2), np.empty(3, dtype=np.intp)
        assert random_start(x, 5, 2, draws, centres, bounds)
        assert bounds.tolist() == [0, 3, 5]
        assert not random_start(np.array([1.0, 1.0]), 2, 2, draws, centres, bounds)
        assert first_at_least(x, 5, 9.0) == 3

    def test_threads_get_what_one_thread_gets(self) -> None:
        values = np.sort(np.random.default_rng(2).normal(0, 1, (8, 40)), axis=1)
        draws = np.empty((0, 1, 1))

        def fit(row: np.ndarray) -> list[float]:
            return fitted(row, 0.0, 9, draws).table.ravel().tolist()

        with ThreadPoolExecutor(4) as pool:
            assert str(list(pool.map(fit, values))) == str([fit(row) for row in values])

    def test_a_constant_sample_has_no_candidate(self) -> None:
        room = fitted(np.full(50, 3.0), 0.0, 9, np.empty((0, 1, 1)))
        assert room.found[0] == 0
        assert np.isnan(room.table).all()


# --- Small samples are fitted by numpy alone: the numbers are the compiled kernel's.


def fused() -> bool:
    """Tell whether this processor rounds a product and a sum once; then the numbers are equal."""
    return exponential(0.3) == fit.exponential(np.array([[0.3]]))[0, 0]


def test_multiply_add_rounds_once():
    rng = np.random.default_rng(26)
    a, b = rng.normal(size=(2, 500)) * 10.0 ** rng.integers(-8, 8, (2, 500))
    c = -a * b * (1 + rng.normal(size=500) * 10.0 ** rng.integers(-16, 3, 500))
    exact = [
        float(Fraction(x) * Fraction(y) + Fraction(z))
        for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    ]
    assert fit.multiply_add(a, b, c).tolist() == exact
    assert (a * b + c).tolist() != exact  # rounding twice is seen


def test_the_exponential_is_the_kernels():
    rng = np.random.default_rng(26)
    t = np.concatenate([rng.uniform(-700, 700, 3000), rng.uniform(-3, 0, 3000), [0.0]])
    mine, kernels = fit.exponential(t[None])[0], np.array([*map(exponential, t)])
    np.testing.assert_allclose(mine, np.exp(t), rtol=5e-16)
    np.testing.assert_allclose(mine, kernels, rtol=5e-16)
    if fused():
        assert mine.tolist() == kernels.tolist()


def samples() -> Iterator[ScaledValues]:
    rng = np.random.default_rng(26)
    for size in (2, 3, 5, 8, 9, 10, 17, 35, 100, TILE):
        x = rng.normal(10, 1, size)
        for values in (
            x,
            np.where(rng.random(size) < 0.4, x, x + 6),
            np.round(x, 1),  # ties
            rng.lognormal(0, 1.5, size) * 1e-3,
            np.where(rng.random(size) < 0.2, x * 1e3, x * 1e-5),  # densities vanish
        ):
            ordered = np.sort(values)
            yield ScaledValues(ordered, 1e-4 if rng.random() < 0.3 else 0.0)
    yield ScaledValues(np.array([0.0] * 12 + [1e6]), 0.0)
    for counts in ((9, 9, 3), (1, 8, 1, 5), (10, 2)):  # fewer cut points than levels
        yield ScaledValues(np.repeat(np.arange(1.0, len(counts) + 1), counts), 1e-4)
    yield ScaledValues(np.full(6, 2.0), 0.1)


def compiled(sample: ScaledValues, most: int) -> tuple[np.ndarray, ...]:
    room = fitted(sample.values, sample.floor, most, np.empty((0, 1, 1)))
    return room.table, room.state, room.found


@pytest.mark.parametrize(("most", "largest", "kinds"), [(1, TILE, 50), (2, TILE, 50), (9, 17, 30)])
def test_every_candidate_is_the_kernels(most, largest, kinds):
    every = [one for one in samples() if one.floor or one.values[0] < one.values[-1]]
    every = [one for one in every if one.values.size <= largest]
    assert len(every) > kinds
    exactly = fused()
    for sample, mine in zip(every, fit.fit_sorted(every, most), strict=True):
        for ours, theirs in zip(mine, compiled(sample, most), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
            assert not exactly or np.array_equal(ours, theirs, equal_nan=True)


def test_another_rounding_is_seen(monkeypatch):
    """What the tests above compare: without the single rounding the numbers are others."""
    rng = np.random.default_rng(26)
    sample = ScaledValues(np.sort(rng.lognormal(0, 1, 100)), 0.0)
    before = fit.fit_sorted([sample], 5)[0][0]
    monkeypatch.setattr(fit, "multiply_add", lambda a, b, c: np.asarray(a * b + c))
    after = fit.fit_sorted([sample], 5)[0][0]
    np.testing.assert_allclose(after, before, rtol=1e-9)
    assert after.tolist() != before.tolist()


def test_each_is_what_it_is_alone(monkeypatch):
    rng = np.random.default_rng(26)
    monkeypatch.setattr(fit, "BUDGET", Budget(10_000))
    monkeypatch.setattr(fit, "_compiled", None)  # not needed
    some = [rng.lognormal(0, 0.2, size) for size in (7, 40, 12)]
    refused = [[1.0], [2.0, 2.0], [1.0, float("nan")]]
    found = fit_each([refused[0], *some, *refused[1:]], 5)
    monkeypatch.undo()
    assert [one is None for one in found] == [True, False, False, False, True, True]
    for values, one in zip(some, found[1:4], strict=True):
        assert one is not None
        alone = fit_mixture(values, max_components=5)
        np.testing.assert_allclose(one.bic_table["V"], alone.bic_table["V"], rtol=1e-12)
        np.testing.assert_allclose(one.means, alone.means, rtol=1e-12)
        assert (one.iterations, one.cautions) == (alone.iterations, alone.cautions)
    assert fit_each([], 5) == []


def test_who_fits_a_few_samples_waits_for_no_compiler(monkeypatch, tmp_path):
    rng = np.random.default_rng(26)
    few, many = rng.lognormal(0, 0.2, 48), rng.normal(size=TILE + 1)
    wanted = fit_mixture(few, max_components=6)
    monkeypatch.setattr(workers, "cache", lambda: workers.Cache(folder=tmp_path))
    monkeypatch.setattr(fit, "BUDGET", Budget(0, 100_000, "fit_sorted"))
    monkeypatch.setattr(fit, "_compiled", None)
    found = fit_mixture(few, max_components=6)
    np.testing.assert_allclose(found.bic_table["V"], wanted.bic_table["V"], rtol=1e-12)
    with pytest.raises(TypeError):  # the kernels are asked
        fit_mixture(many, max_components=2)


@pytest.mark.parametrize(("sizes", "kernels"), [((20,), 0), ((200, 201), 2), ((TILE + 1,), 1)])
def test_many_values_are_the_kernels(monkeypatch, sizes, kernels):
    rng = np.random.default_rng(26)
    known = fit._compiled
    asked = []
    monkeypatch.setattr(fit, "BUDGET", Budget(10_000))
    monkeypatch.setattr(fit, "_compiled", lambda *given: asked.append(1) or known(*given))
    found = fit_each([rng.normal(size=size) for size in sizes], 5)
    assert None not in found
    assert len(asked) == kernels
