"""What a covariate is worth does not hang on how it is written down."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from analysis.methods.variance_sources.modes import best_rule, largest_j, places_of
from tests.examples import examples

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
