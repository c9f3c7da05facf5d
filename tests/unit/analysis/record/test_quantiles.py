"""Quantiles: their names, how many values they need, and what they are.

Authority: numpy's `inverted_cdf`, which is definition 1 of Hyndman and Fan (1996).
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.record.manifest import (
    about_quantile,
    needed,
    quantile_metric,
    quantile_of,
    quantile_said,
)
from tests.examples import examples


@pytest.mark.parametrize(
    ("share", "name", "values"),
    [(0.5, "t.p50", 2), (0.99, "t.p99", 100), (0.999, "t.p99.9", 1000), (0.01, "t.p1", 100),
     (0.07, "t.p7", 15), (1e-6, "t.p0.0001", 10**6), (0.3, "t.p30", 4)],
)  # fmt: skip
def test_a_quantile_has_a_name_and_needs_so_many_values(share, name, values):
    assert quantile_metric("t", share) == name
    assert needed(share) == values
    assert quantile_of(range(values - 1), share) is None
    assert quantile_of(range(values), share) is not None


@settings(max_examples=examples(60))
@given(
    st.lists(st.floats(0, 1e9), min_size=1, max_size=300),
    st.sampled_from([0.01, 0.07, 0.1, 0.25, 0.3, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999]),
)
def test_it_is_the_value_that_an_independent_computation_gives(values, share):
    found = quantile_of(sorted(values), share)
    if len(values) < needed(share):
        assert found is None
    elif (share * len(values)) % 1 == 0 or share not in (0.07, 0.3):  # numpy's product is rounded
        assert found == np.quantile(values, share, method="inverted_cdf")


def test_a_share_counts_as_it_was_written():
    # 0.07 * 100 is 7.000000000000001 as a product of doubles
    assert quantile_of(range(1, 101), 0.07) == 7
    assert quantile_of(range(1, 1001), 0.999) == 999


def test_a_manifest_says_which_it_is():
    about = about_quantile("ms", "lower", "t", 0.999)
    assert quantile_said(about) == ("t", 0.999)
    assert quantile_said({"unit": "s", "better": "lower"}) is None
    with pytest.raises(ValueError, match=r"quantile is 1\.5"):
        quantile_said(about | {"quantile": "1.5"})
