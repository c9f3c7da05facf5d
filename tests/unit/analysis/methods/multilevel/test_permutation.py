"""The p of failures by whole sessions: every dealing of the cells to the sides, counted one by one.

Authority: the definition of a permutation test (Lehmann and Romano 2005, section 15.2), enumerated with
exact fractions; the least p that so many sessions allow, 1 over a binomial coefficient.
"""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from analysis.methods.multilevel.failures import DRAWS, Fails, cell_pvalue
from tests.examples import examples


def sides(ours, theirs):
    (a, of_a), (b, of_b) = (zip(*cells, strict=True) for cells in (ours, theirs))
    return Fails(candidate=a, baseline=b, candidate_runs=of_a, baseline_runs=of_b)


def enumerated(hosts):
    """Give p from every dealing, by exact fractions."""
    choices = []
    for ours, theirs in hosts:
        cells = [Fraction(f, n) for f, n in (*ours, *theirs)]
        k, total = len(ours), sum(cells)
        found = []
        for chosen in combinations(range(len(cells)), k):
            mine = sum(cells[i] for i in chosen)
            found.append(mine / k - (total - mine) / (len(cells) - k))
        choices.append(found)  # the first is what was measured
    sums = [sum(dealing) for dealing in product(*choices)]
    observed = sum(found[0] for found in choices)
    return sum(one >= observed for one in sums) / len(sums)


cell = st.integers(1, 9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
equal = st.tuples(st.integers(0, 4), st.just(4))


def host(of):
    return st.tuples(st.lists(of, min_size=1, max_size=4), st.lists(of, min_size=1, max_size=4))


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.one_of(host(cell), host(equal)), min_size=1, max_size=2))
@example([([(1, 3), (1, 3), (1, 3)], [(1, 1), (0, 7)])])  # three thirds are one
@example([([(1, 3), (2, 6), (0, 5)], [(1, 3), (1, 3), (0, 5)])])  # equal shares of other numbers
@example([([(4, 4)] * 4, [(0, 4)] * 4)])
@example([([(4, 4)], [(0, 4)])])
@example([([(4, 4)], [(0, 4)]), ([(4, 4)], [(0, 4)])])
@example([([(1, 4), (0, 4)], [(0, 4)]), ([(4, 4)], [(0, 4), (1, 4)])])
def test_p_is_the_share_of_all_dealings_within_each_host(hosts):
    assert cell_pvalue([sides(*one) for one in hosts]) == pytest.approx(
        enumerated(hosts), rel=1e-12
    )


@pytest.mark.parametrize("sessions", [1, 2, 3, 4, 6, 8, 20])
def test_the_least_p_is_one_of_all_dealings(sessions):
    found = cell_pvalue([sides([(8, 8)] * sessions, [(0, 8)] * sessions)])
    assert found == pytest.approx(1 / math.comb(2 * sessions, sessions), rel=1e-10)


def test_no_failure_and_a_worse_baseline_give_1():
    assert cell_pvalue([sides([(0, 8)] * 6, [(0, 8)] * 6)]) == 1
    assert cell_pvalue([sides([(0, 8)] * 6, [(3, 8)] * 6)]) == 1


def test_p_is_never_0():
    assert 0 < cell_pvalue([sides([(1, 1)] * 550, [(0, 1)] * 550)]) < 1e-300


@pytest.mark.parametrize("ours", [[(2, 7), (3, 8), (0, 5), (4, 9), (1, 6)], [(1, 7)] * 5])
def test_draws_come_near_the_exact_p(ours):
    theirs = [(1, 7), (0, 8), (1, 9), (0, 7), (1, 11)]
    exact = cell_pvalue([sides(ours, theirs)])
    drawn = cell_pvalue([sides(ours, theirs)], states=1)
    assert drawn == cell_pvalue([sides(ours, theirs)], states=1)  # the same draws each time
    assert drawn * (DRAWS + 1) == pytest.approx(round(drawn * (DRAWS + 1)))  # (1 + hits) / 100,000
    assert drawn != exact
    assert abs(drawn - exact) < 5 * math.sqrt(exact * (1 - exact) / DRAWS) + 1 / DRAWS


def test_a_p_of_draws_is_never_0():
    rng = np.random.default_rng(5)
    ours = [(int(n) - 1, int(n)) for n in rng.integers(20, 40, 40)]
    theirs = [(1, int(n)) for n in rng.integers(20, 40, 40)]
    assert cell_pvalue([sides(ours, theirs)], states=1) == 1 / (DRAWS + 1)
