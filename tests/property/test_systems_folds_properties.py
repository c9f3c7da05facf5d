"""Folds of systems, on any families: whole, balanced, and the same for the same seed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from analysis.methods.variance_sources.held_out import (
    grouped_folds,
    grouped_part,
    random_folds,
    random_part,
)
from analysis.methods.variance_sources.mixed_table import mixed_table
from analysis.methods.variance_sources.systems_table import MOST_LEVELS, CovariateRows
from tests.examples import examples

FAMILIES = st.lists(st.integers(0, 30), min_size=4, max_size=200).map(
    lambda names: np.unique(names, return_inverse=True)[1].astype(np.intp)
)
SEEDS = st.integers(0, 2**32)


@settings(max_examples=examples(100), deadline=None)
@given(FAMILIES, st.integers(2, 12), SEEDS)
def test_no_family_stands_on_both_sides(families, folds, seed):
    count = int(families.max()) + 1
    folds = min(folds, count)
    found = grouped_folds(families, folds, np.random.default_rng(seed))
    for fold in range(folds):
        assert not set(families[found == fold]) & set(families[found != fold])
    assert set(found) == set(range(folds))  # none is empty
    sizes = np.bincount(found)
    assert sizes.max() - sizes.min() <= np.bincount(families).max()
    again = grouped_folds(families, folds, np.random.default_rng(seed))
    assert (found == again).all()


@settings(max_examples=examples(100), deadline=None)
@given(FAMILIES, st.floats(0.05, 0.5), SEEDS)
def test_the_rows_that_decide_are_whole_families_too(families, share, seed):
    part = grouped_part(families, share, np.random.default_rng(seed))
    assert not set(families[part]) & set(families[~part])
    assert (~part).any()
    if families.max():
        assert part.any()


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(4, 300), st.integers(2, 12), SEEDS)
def test_random_folds_are_even(rows, folds, seed):
    rng = np.random.default_rng(seed)
    sizes = np.bincount(random_folds(rows, folds, rng), minlength=folds)
    assert sizes.sum() == rows
    assert sizes.max() - sizes.min() <= 1
    assert 1 <= random_part(rows, 0.15, rng).sum() < rows


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(1, 400), SEEDS)
def test_levels_are_pooled_by_what_is_learned_from_alone(levels, seed):
    rng = np.random.default_rng(seed)
    texts = [f"l{k}" for k in (levels * rng.random(600) ** 2).astype(int)]
    column = mixed_table({"c": texts}).columns["c"]
    learned = rng.permutation(600)[:400]
    design = CovariateRows.of([column], np.arange(600))
    codes = design.coded(learned)[:, 0]
    seen = {texts[k] for k in learned}
    kept = {texts[k] for k in range(600) if codes[k] < MOST_LEVELS}
    assert len(kept) == min(MOST_LEVELS, len(seen))
    assert kept <= seen
    rest = [codes[k] for k in range(600) if texts[k] not in kept]
    expected = MOST_LEVELS if len(seen) > MOST_LEVELS else np.nan
    np.testing.assert_array_equal(rest, np.full(len(rest), expected))
    counts = {text: sum(texts[k] == text for k in learned) for text in seen}
    if len(seen) > MOST_LEVELS:
        assert min(counts[t] for t in kept) >= max(counts[t] for t in seen - kept)
    # what is held out decides nothing: other rows there, the same codes of what is learned from
    moved = list(texts)
    for k in set(range(600)) - set(learned.tolist()):
        moved[k] = texts[0]
    other = CovariateRows.of([mixed_table({"c": moved}).columns["c"]], np.arange(600)).coded(
        learned
    )[:, 0]
    if len(set(counts.values())) == len(counts):  # no ties, which the table's order decides
        assert (other[learned] == codes[learned]).all()
