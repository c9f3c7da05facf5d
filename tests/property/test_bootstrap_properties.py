"""What must hold for the bootstrap interval of any suite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError
from analysis.methods.resampling.bootstrap import bootstrap_speedup
from tests.examples import examples

KINDS = ("percentile", "corrected", "bca", "studentized")
MEANS = ("geometric", "harmonic", "arithmetic")
CENTRES = ("runs", "mean", "median")
Rows = dict[str, list[float]]

values = st.floats(0.5, 2.0, allow_nan=False)
samples = st.lists(values, min_size=2, max_size=7)


@st.composite
def suites(draw: st.DrawFn) -> tuple[Rows, Rows]:
    names = [f"b{i}" for i in range(draw(st.integers(1, 4)))]
    return {b: draw(samples) for b in names}, {b: draw(samples) for b in names}


def interval(a: Rows, b: Rows, better: str = "lower", **kwargs: Any) -> Any:
    one, two = (
        PerformanceMatrix.from_samples(name, rows, better=better)
        for name, rows in (("a", a), ("b", b))
    )
    return bootstrap_speedup(one, two, resamples=200, rng=np.random.default_rng(3), **kwargs)


@settings(max_examples=examples(40), deadline=None)
@given(suites(), st.sampled_from(KINDS), st.sampled_from(MEANS), st.sampled_from(CENTRES))
def test_ends_are_ordered_and_replicates_in_reach(
    rows: tuple[Rows, Rows], kind: str, mean: str, centre: str
) -> None:
    if kind == "studentized" and centre == "median":
        return
    try:
        found = interval(*rows, interval=kind, mean=mean, centre=centre)
    except AnalysisError as error:
        assert kind in ("bca", "studentized")
        assert error.fix  # noqa: PT017 - what the error says is under test
        return
    assert 0 < found.low <= found.high
    assert np.isfinite(found.replicates).all()
    if kind != "corrected":
        assert found.replicates.min() >= 0.25 - 1e-9
        assert found.replicates.max() <= 4 + 1e-9


@settings(max_examples=examples(25), deadline=None)
@given(suites(), st.sampled_from(MEANS), st.randoms(use_true_random=False))
def test_the_order_of_benchmarks_does_not_matter(
    rows: tuple[Rows, Rows], mean: str, random: Any
) -> None:
    names = list(rows[0])
    random.shuffle(names)
    again = interval(*({b: side[b] for b in names} for side in rows), mean=mean)
    assert again.replicates == pytest.approx(interval(*rows, mean=mean).replicates, rel=1e-12)


@settings(max_examples=examples(25), deadline=None)
@given(suites(), st.sampled_from(KINDS), st.sampled_from(CENTRES[:2]))
def test_reciprocal_values_exchange_the_harmonic_and_the_arithmetic_mean(
    rows: tuple[Rows, Rows], kind: str, centre: str
) -> None:
    turned = [{b: [1 / v for v in side[b]] for b in side} for side in rows]
    try:
        one = interval(*rows, interval=kind, mean="harmonic")
        other = interval(*turned, "higher", interval=kind, mean="arithmetic")
        plain = interval(*rows, interval=kind)
        mirrored = interval(*turned, "higher", interval=kind)
    except AnalysisError:
        return
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-8)
    assert (plain.low, plain.high) == pytest.approx((mirrored.low, mirrored.high), rel=1e-8)


@settings(max_examples=examples(25), deadline=None)
@given(suites(), st.sampled_from(CENTRES), st.lists(st.floats(1e-6, 1e6), min_size=4, max_size=4))
def test_the_geometric_mean_is_free_of_every_benchmarks_unit(
    rows: tuple[Rows, Rows], centre: str, scales: list[float]
) -> None:
    scaled = [
        {b: [v * s for v in side[b]] for b, s in zip(side, scales, strict=False)} for side in rows
    ]
    one, other = interval(*rows, centre=centre), interval(*scaled, centre=centre)
    assert other.replicates == pytest.approx(one.replicates, rel=1e-9)


@settings(max_examples=examples(25), deadline=None)
@given(suites())
def test_the_correction_widens_around_the_ratio(rows: tuple[Rows, Rows]) -> None:
    plain, wide = interval(*rows), interval(*rows, interval="corrected")
    if (
        plain.low <= plain.ratio <= plain.high
        and len({len(x) for s in rows for x in s.values()}) == 1
    ):
        m = len(next(iter(rows[0].values())))
        logs = np.log(plain.replicates / plain.ratio) * np.sqrt(m / (m - 1))
        assert np.log(wide.replicates / wide.ratio) == pytest.approx(logs, abs=1e-12)
        assert wide.low <= plain.low * (1 + 1e-12)
        assert wide.high >= plain.high * (1 - 1e-12)


@settings(max_examples=examples(25), deadline=None)
@given(suites(), st.sampled_from(MEANS))
def test_a_uniform_gain_moves_everything_by_its_factor(rows: tuple[Rows, Rows], mean: str) -> None:
    faster = {b: [v / 3 for v in rows[0][b]] for b in rows[0]}
    one, other = interval(*rows, mean=mean), interval(faster, rows[1], mean=mean)
    assert (other.ratio, other.low, other.high) == pytest.approx(
        (3 * one.ratio, 3 * one.low, 3 * one.high), rel=1e-9
    )
