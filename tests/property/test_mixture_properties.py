"""What must hold for every mixture: complements, sums, scaling, shifting, inverses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.methods.mixture.model import Mixture
from analysis.methods.mixture.single_run import (
    mean_difference,
    probability_faster,
    probability_fastest,
    variability_level,
)
from tests.examples import examples


@st.composite
def mixtures(draw: st.DrawFn, most: int = 5) -> Mixture:
    k = draw(st.integers(1, most))
    raw = np.array(draw(st.lists(st.floats(0.01, 1), min_size=k, max_size=k)))
    return Mixture.from_parameters(
        weights=raw / raw.sum(),
        means=draw(st.lists(st.floats(-100, 100), min_size=k, max_size=k)),
        sds=draw(st.lists(st.floats(1e-3, 20), min_size=k, max_size=k)),
    )


def changed(m: Mixture, scale: float = 1.0, shift: float = 0.0) -> Mixture:
    return Mixture.from_parameters(
        weights=m.weights, means=m.means * scale + shift, sds=m.sds * scale
    )


@given(mixtures(), mixtures(), st.floats(-50, 50))
def test_faster_and_slower_are_complements(x: Mixture, y: Mixture, shift: float) -> None:
    chance = probability_faster(x, y, shift=shift)
    assert 0 <= chance <= 1
    assert chance + probability_faster(y, x, shift=-shift) == pytest.approx(1, abs=1e-14)
    assert probability_faster(x, x) == pytest.approx(0.5, abs=1e-14)


@given(st.lists(mixtures(4), min_size=2, max_size=5))
@settings(max_examples=examples(60), deadline=None)
def test_one_of_them_is_the_fastest(every: list[Mixture]) -> None:
    chances = [probability_fastest(m, *(every[:i] + every[i + 1 :])) for i, m in enumerate(every)]
    assert min(chances) >= 0
    assert sum(chances) == pytest.approx(1, abs=1e-10)


@given(mixtures(), mixtures())
def test_the_mean_difference_is_a_distance(x: Mixture, y: Mixture) -> None:
    found = mean_difference(x, y)
    assert found == pytest.approx(mean_difference(y, x), rel=1e-12)
    assert found >= abs(x.mean() - y.mean()) * (1 - 1e-12)
    assert found > 0


@given(mixtures(), mixtures(), st.sampled_from([1e-9, 1e-3, 7.0, 1e9]), st.floats(-100, 100))
@settings(max_examples=examples(60), deadline=None)
def test_units_and_origins_do_not_matter(
    x: Mixture, y: Mixture, scale: float, shift: float
) -> None:
    a, b = (changed(m, scale, shift * scale) for m in (x, y))
    assert probability_faster(a, b) == pytest.approx(probability_faster(x, y), abs=1e-9)
    assert probability_fastest(a, b) == pytest.approx(probability_fastest(x, y), abs=1e-9)
    assert mean_difference(a, b) == pytest.approx(mean_difference(x, y) * scale, rel=1e-9)


@given(mixtures(), st.floats(1e-12, 1 - 1e-12))
@settings(deadline=None)
def test_the_quantile_inverts_the_distribution(m: Mixture, q: float) -> None:
    x = m.quantile(q)
    step = 1e-9 * max(1.0, abs(x))
    assert m.cdf(x - step) <= q * (1 + 1e-12)
    assert m.cdf(x + step) >= q * (1 - 1e-12)


@given(mixtures())
@settings(deadline=None)
def test_modes_are_few_and_near_a_mean(m: Mixture) -> None:
    modes = m.modes()
    assert 1 <= variability_level(m) == modes.size
    assert (np.diff(modes) > 0).all()
    near = np.abs(modes[:, None] - m.means) <= m.sds * (1 + 1e-6) + 1e-9
    assert near.any(axis=1).all()
    step = 1e-3 * m.sds.min()
    here = m.pdf(modes)
    assert (here >= m.pdf(modes - step) * (1 - 1e-12)).all()
    assert (here >= m.pdf(modes + step) * (1 - 1e-12)).all()


def test_the_plug_in_tends_to_the_rank_estimate() -> None:
    # a kernel mixture with a vanishing bandwidth is the sample itself: I2 becomes U / (n m)
    rng = np.random.default_rng(11)
    a, b = rng.normal(0, 1, 40), rng.normal(0.5, 1, 30)
    share = np.mean(a[:, None] < b[None, :])
    for bandwidth, apart in ((1e-9, 1e-12), (0.3, 0.05)):
        x, y = (
            Mixture.from_parameters(
                weights=np.full(v.size, 1 / v.size), means=v, sds=np.full(v.size, bandwidth)
            )
            for v in (a, b)
        )
        assert probability_faster(x, y) == pytest.approx(share, abs=apart)
