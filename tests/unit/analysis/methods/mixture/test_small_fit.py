"""Small samples are fitted by numpy alone: the numbers are the compiled kernel's."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from analysis.methods.mixture import em_kernel, fit, small_fit
from analysis.methods.mixture.fit import ScaledValues, fit_each, fit_mixture
from analysis.methods.mixture.fit_kernel import fit_sorted, work_size
from analysis.methods.mixture.model import FOUND, STATE, TILE
from analysis.stats.workers import Budget


def fused() -> bool:
    """Tell whether this processor rounds a product and a sum once; then the numbers are equal."""
    return em_kernel.exponential(0.3) == small_fit.exponential(np.array([[0.3]]))[0, 0]


def test_multiply_add_rounds_once():
    rng = np.random.default_rng(26)
    a, b = rng.normal(size=(2, 500)) * 10.0 ** rng.integers(-8, 8, (2, 500))
    c = -a * b * (1 + rng.normal(size=500) * 10.0 ** rng.integers(-16, 3, 500))
    exact = [
        float(Fraction(x) * Fraction(y) + Fraction(z))
        for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    ]
    assert small_fit.multiply_add(a, b, c).tolist() == exact
    assert (a * b + c).tolist() != exact  # rounding twice is seen


def test_the_exponential_is_the_kernels():
    rng = np.random.default_rng(26)
    t = np.concatenate([rng.uniform(-700, 700, 3000), rng.uniform(-3, 0, 3000), [0.0]])
    mine, kernels = small_fit.exponential(t[None])[0], np.array([*map(em_kernel.exponential, t)])
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
    outputs = np.empty((2, most)), np.empty((STATE, most)), np.empty(FOUND)
    work = np.empty(work_size(sample.values.size, most))
    fit_sorted(sample.values, sample.floor, np.empty((0, 1, 1)), *outputs, work)
    return outputs


@pytest.mark.parametrize(("most", "largest", "kinds"), [(1, TILE, 50), (2, TILE, 50), (9, 17, 30)])
def test_every_candidate_is_the_kernels(most, largest, kinds):
    every = [one for one in samples() if one.floor or one.values[0] < one.values[-1]]
    every = [one for one in every if one.values.size <= largest]
    assert len(every) > kinds
    exactly = fused()
    for sample, mine in zip(every, small_fit.fit_sorted(every, most), strict=True):
        for ours, theirs in zip(mine, compiled(sample, most), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
            assert not exactly or np.array_equal(ours, theirs, equal_nan=True)


def test_another_rounding_is_seen(monkeypatch):
    """What the tests above compare: without the single rounding the numbers are others."""
    rng = np.random.default_rng(26)
    sample = ScaledValues(np.sort(rng.lognormal(0, 1, 100)), 0.0)
    before = small_fit.fit_sorted([sample], 5)[0][0]
    monkeypatch.setattr(small_fit, "multiply_add", lambda a, b, c: np.asarray(a * b + c))
    after = small_fit.fit_sorted([sample], 5)[0][0]
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
