from __future__ import annotations

import dataclasses
import tracemalloc
from collections import Counter

import pytest

from harness.trial.plan import PADDING_LIMIT, PlannedSession, padding, plan_session
from harness.trial.preparation import planned_runs


def _cells(runs):
    return [(run.benchmark, run.variant) for run in runs]


def _rounds(runs):
    return [[run for run in runs if run.block == b] for b in sorted({r.block for r in runs})]


@pytest.mark.parametrize("order", ["shuffled", "interleaved", "sequential"])
def test_every_cell_is_planned_as_often_as_asked(make_campaign, order):
    runs = list(plan_session(make_campaign(runs=4, warmup=2, order=order), 1, 1))
    assert set(Counter(_cells([r for r in runs if not r.warmup])).values()) == {4}
    assert set(Counter(_cells([r for r in runs if r.warmup])).values()) == {2}
    assert len(set(_cells(runs))) == 6


@pytest.mark.parametrize("order", ["shuffled", "interleaved", "sequential"])
def test_blocks_are_complete_and_warmups_are_block_0_and_first(make_campaign, order):
    runs = list(plan_session(make_campaign(runs=3, warmup=2, order=order), 1, 1))
    blocks = _rounds(runs)
    assert [len(block) for block in blocks] == [12, 6, 6, 6]
    assert all(run.warmup for run in blocks[0])
    assert not any(run.warmup for block in blocks[1:] for run in block)
    assert all(set(_cells(block)) == set(_cells(runs)) for block in blocks)
    assert runs[: len(blocks[0])] == blocks[0]


def test_positions_count_on_over_the_sessions(make_campaign):
    campaign = make_campaign(runs=3, warmup=1)
    positions = [run.position for k in (1, 2, 3) for run in plan_session(campaign, 1, k)]
    assert positions == list(range(3 * 6 * 4))


def test_order_of_a_session_depends_on_seed_and_session_only(make_campaign):
    three = make_campaign(runs=3, sessions=3)
    nine = make_campaign(runs=3, sessions=9, cooldown_s=1.0)
    for k in (1, 2, 3):
        assert list(plan_session(three, 1, k)) == list(plan_session(nine, 1, k))
    # Planning one session leaves no trace in another one.
    alone = list(plan_session(three, 1, 2))
    list(plan_session(three, 1, 1))
    assert list(plan_session(three, 1, 2)) == alone
    assert _cells(plan_session(three, 1, 1)) != _cells(plan_session(three, 1, 2))
    assert _cells(plan_session(three, 1, 1)) != _cells(plan_session(three, 2, 1))


def test_order_is_the_same_in_every_version(make_campaign):
    # A trial is resumed by planning again: an order that changes makes old trials unreadable.
    runs = list(plan_session(make_campaign(runs=1, warmup=0), 7, 1))
    assert [f"{b}{v}" for b, v in _cells(runs)] == ORDER_OF_SEED_7


ORDER_OF_SEED_7 = ["zb", "yb", "xb", "xa", "za", "ya"]


def test_shuffled_blocks_differ_and_interleaved_ones_do_not(make_campaign):
    shuffled = list(plan_session(make_campaign(runs=6, warmup=0), 1, 1))
    assert len({tuple(_cells(block)) for block in _rounds(shuffled)}) > 1
    interleaved = list(plan_session(make_campaign(runs=6, warmup=0, order="interleaved"), 1, 1))
    assert len({tuple(_cells(block)) for block in _rounds(interleaved)}) == 1


def test_every_cell_comes_first_about_equally_often(make_campaign):
    runs = list(plan_session(make_campaign(runs=600, warmup=0), 3, 1))
    firsts = Counter(_cells([block[0] for block in _rounds(runs)]))
    # 600 rounds, 6 cells: 100 each; the bound is five standard deviations of the binomial law.
    assert len(firsts) == 6
    assert all(abs(count - 100) < 5 * (600 / 6 * 5 / 6) ** 0.5 for count in firsts.values())


def test_sequential_order_finishes_one_cell_before_the_next(make_campaign):
    runs = list(plan_session(make_campaign(runs=3, warmup=0, order="sequential"), 1, 1))
    cells = _cells(runs)
    assert cells == [cell for cell in dict.fromkeys(cells) for _ in range(3)]
    assert [run.block for run in runs] == [1, 2, 3] * 6


def test_fixed_padding_is_what_was_asked_for():
    assert [padding(1, 1, position, 100) for position in range(3)] == [100, 100, 100]
    assert padding(1, 1, 0, 0) == 0


def test_random_padding_is_reproducible_and_spread():
    values = [padding(1, 1, position, "random") for position in range(2000)]
    assert values == [padding(1, 1, position, "random") for position in range(2000)]
    assert min(values) >= 0
    assert max(values) < PADDING_LIMIT
    assert len(set(values)) > 1000
    # A uniform law's mean of 2000 values stays within five of its standard errors.
    error = PADDING_LIMIT / 12**0.5 / 2000**0.5
    assert abs(sum(values) / 2000 - (PADDING_LIMIT - 1) / 2) < 5 * error
    assert padding(2, 1, 5, "random") != padding(1, 1, 5, "random")


def test_warm_ups_of_the_first_session_only(make_campaign):
    # by counting: 3 sessions of 2 runs of each cell, and one warm-up of each in the first
    campaign = make_campaign(runs=2, sessions=3)
    protocol = dataclasses.replace(campaign.protocol, warmup=1, warmup_sessions="first")
    first_only = dataclasses.replace(campaign, protocol=protocol)
    cells = len(campaign.cells)
    plans = [list(plan_session(first_only, 7, k)) for k in (1, 2, 3)]
    assert [len(plan) for plan in plans] == [3 * cells, 2 * cells, 2 * cells]
    assert [run.position for plan in plans for run in plan] == list(range(7 * cells))
    assert [any(run.warmup for run in plan) for plan in plans] == [True, False, False]
    assert planned_runs(first_only, 3) == 7 * cells
    in_all = dataclasses.replace(protocol, warmup_sessions="all")
    every = dataclasses.replace(campaign, protocol=in_all)
    assert planned_runs(every, 3) == 9 * cells
    assert list(plan_session(every, 7, 1)) == plans[0]  # the first session is the same


def test_a_long_session_is_planned_in_little_memory(make_campaign):
    long = make_campaign(runs=8_000, warmup=1)
    assert len(long.cells) == 6
    tracemalloc.start()
    try:
        count = sum(1 for _ in PlannedSession(long, 7, 1))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 48_006
    assert most < 48_000  # bytes: one for each run


def test_every_pass_over_a_plan_gives_the_same(make_campaign):
    plan = PlannedSession(make_campaign(), 7, 2)
    assert list(plan) == list(plan) == list(plan_session(make_campaign(), 7, 2))
