"""What holds of components and factors whatever the trial.

A unit changes nothing; neither does the name of a level or the offset and scale of a number. P-values of
orders are never 0; intervals hold their effect; shares add up.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.errors import InsufficientDataError
from analysis.methods.variance_sources.fit import within_trials as sources
from analysis.methods.variance_sources.modes import best_rule, largest_j, places_of
from tests.examples import examples

spec = importlib.util.spec_from_file_location("planted", Path(__file__).parents[1] / "planted.py")
planted = importlib.util.module_from_spec(spec)
sys.modules.setdefault("planted", planted)
spec.loader.exec_module(planted)

ORDERS = 99
designs = st.fixed_dictionaries(
    {
        "sessions": st.integers(1, 7),
        "runs": st.integers(2, 14),
        "benchmarks": st.integers(1, 3),
        "variants": st.integers(1, 2),
    }
)
seeds = st.integers(0, 2**32 - 1)


def answer(trial, seed=1):
    return sources(trial, permutations=ORDERS, rng=np.random.default_rng(seed))


def trial_of(seed, design, unit=1.0, offset=0.0, scale=1.0):
    rng = np.random.default_rng(seed)
    trial = planted.frame(rng, **design)
    noise = planted.series(rng, trial, 0.4)
    x = np.where(rng.random(len(trial)) < 0.1, np.nan, rng.standard_normal(len(trial)))
    whole = rng.integers(0, 4, len(trial)).astype(float)
    return planted.filled(
        trial,
        0.05 * noise + math.log(unit),
        metrics={"x": offset + scale * x, "whole": whole},
        involuntary_switches=rng.poisson(5, len(trial)).astype(float),
    )


@settings(max_examples=examples(40), deadline=None)
@given(seeds, designs)
def test_every_answer_holds_together(seed, design):
    if design["sessions"] * design["runs"] < 8:
        with pytest.raises(InsufficientDataError, match="8 runs"):
            answer(trial_of(seed, design))
        return
    found = answer(trial_of(seed, design))
    assert found.to_dict()
    assert str(found)
    for one in found.factors:
        if one.pvalue is None:
            assert one.low is one.high is one.pvalue_adjusted is None
            continue
        assert 1 / (ORDERS + 1) <= one.pvalue <= one.pvalue_adjusted <= 1
        assert 0 <= one.low <= one.effect * (1 + 1e-9)
        assert one.effect <= one.high * (1 + 1e-9)
        assert one.causal == (one.kind == "randomized")
        if one.effect_of != "sd":
            assert one.effect >= 1 - 1e-9
            assert one.lowest != one.highest
    cells = {}
    for part in found.components:
        cells.setdefault((part.benchmark, part.variant), []).append(part)
    for parts in cells.values():
        assert sum(part.share for part in parts) == pytest.approx(1)
        assert all(part.sd >= 0 for part in parts)


@settings(max_examples=examples(25), deadline=None)
@given(seeds, st.floats(1e-3, 1e3), st.floats(-1e3, 1e3), st.floats(0.01, 100))
def test_units_change_nothing(seed, unit, offset, scale):
    design = {"sessions": 2, "runs": 6, "benchmarks": 2}
    first = {key(one): one for one in answer(trial_of(seed, design)).factors}
    second = {key(one): one for one in answer(trial_of(seed, design, unit, offset, scale)).factors}
    assert first.keys() == second.keys()
    for name, one in first.items():
        other = second[name]
        if one.pvalue is None:
            continue
        if name[2] == "involuntary_switches":
            continue  # a rate per second knows the unit of time
        assert other.pvalue == pytest.approx(one.pvalue, abs=1e-9), name
        assert other.effect == pytest.approx(one.effect, rel=1e-6), name


def key(one):
    return one.benchmark, one.variant, one.factor


@settings(max_examples=examples(15), deadline=None)
@given(seeds)
def test_a_randomized_factors_pvalue_is_uniform_over_the_orders_of_the_plan(seed):
    """Whatever the runs are: its rank among all orders is one of so many, here with huge outliers."""
    rng = np.random.default_rng(seed)
    trial = planted.frame(rng, sessions=2, runs=10)
    logs = np.clip(rng.standard_cauchy(len(trial)), -20, 20)
    found = {one.factor: one.pvalue for one in answer(planted.filled(trial, logs), seed).factors}
    assert {"padding_bytes", "padding_bytes mod 64", "padding_bytes mod 4096"} <= found.keys()
    assert all(
        p * (ORDERS + 1) == pytest.approx(round(p * (ORDERS + 1))) for p in found.values() if p
    )


# --- What a covariate is worth does not hang on how it is written down


SHAPES = st.sampled_from(["arc", "threshold", "levels"])
PERIOD = 64.0


@st.composite
def labelled(draw):
    """Give whole numbers on a circle, and for each run whether it is inside, outside or neither."""
    n = draw(st.integers(4, 40))
    values = draw(st.lists(st.integers(0, 63), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n))
    return np.array(values, dtype=float), np.array(labels)


def worth(values, labels, shape):
    places = places_of(values, shape, PERIOD)
    return float(largest_j(places, (labels == 1)[None], (labels == 0)[None])[0])


@given(labelled(), SHAPES)
@settings(deadline=None)
def test_it_lies_between_nothing_and_all(data, shape):
    values, labels = data
    assert -1e-12 <= worth(values, labels, shape) <= 1 + 1e-12


@given(labelled(), SHAPES, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_the_runs_changes_nothing(data, shape, random):
    values, labels = data
    order = list(range(values.size))
    random.shuffle(order)
    assert np.isclose(worth(values[order], labels[order], shape), worth(values, labels, shape))


@given(labelled(), st.integers(0, 63))
@settings(deadline=None)
def test_a_circle_may_begin_anywhere_and_run_either_way(data, turn):
    values, labels = data
    found = worth(values, labels, "arc")
    assert np.isclose(worth(np.mod(values + turn, PERIOD), labels, "arc"), found)
    assert np.isclose(worth(np.mod(-values, PERIOD), labels, "arc"), found)


@given(labelled())
@settings(deadline=None)
def test_a_threshold_knows_only_the_order_of_values(data):
    values, labels = data
    found = worth(values, labels, "threshold")
    assert np.isclose(worth(values**3 + 5, labels, "threshold"), found)
    assert np.isclose(worth(-values, labels, "threshold"), found)


@given(labelled())
@settings(deadline=None)
def test_of_levels_the_names_do_not_matter(data):
    values, labels = data
    names = np.random.default_rng(1).permutation(64).astype(float)
    renamed = names[values.astype(int)]
    assert np.isclose(worth(renamed, labels, "levels"), worth(values, labels, "levels"))


@given(labelled())
@settings(deadline=None)
def test_richer_sets_are_worth_as_much_at_least(data):
    # every threshold is an arc, every arc a set of levels
    values, labels = data
    threshold, arc, levels = (worth(values, labels, one) for one in ("threshold", "arc", "levels"))
    assert threshold <= arc + 1e-9 <= levels + 2e-9


@given(labelled(), SHAPES)
@settings(max_examples=examples(200), deadline=None)
def test_the_best_rule_is_worth_what_was_told(data, shape):
    values, labels = data
    inside, outside = labels == 1, labels == 0
    rule = best_rule(places_of(values, shape, PERIOD), inside, outside)
    if rule is not None and inside.any() and outside.any():
        named = rule.names(values)
        told = named[inside].mean() - named[outside].mean()
        assert np.isclose(told, worth(values, labels, shape))
