"""Orders that go forwards and backwards, and plans that variants leave; authority: enumeration by hand,
and research/rules-2.md, section 3, for the start that each session draws.
"""

from __future__ import annotations

import random
import textwrap
from itertools import chain, pairwise

import pytest

from harness.campaign.resolve import load_campaign
from harness.trial.plan import plan_session, planned_runs


@pytest.fixture
def campaign_of(tmp_path):
    def make(variants, *, runs=1, warmup=0, order="alternating"):
        path = tmp_path / "campaign.yaml"
        listed = "".join(f"\n  {name}: {{command: [/bin/true]}}" for name in variants)
        path.write_text(
            textwrap.dedent(f"""\
            name: c
            baseline: {variants[0]}
            benchmarks: {{command: {{}}}}
            protocol: {{runs: {runs}, warmup: {warmup}, warmup_sessions: first, order: {order}}}
            variants:""")
            + listed
            + "\n"
        )
        return load_campaign(path)

    return make


def beginners(campaign, seed, sessions):
    for session in range(1, sessions + 1):
        blocks = {}
        for run in plan_session(campaign, seed, session):
            blocks.setdefault(run.block, run.variant)
        yield blocks


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_of_two_variants_each_begins_every_other_block_and_session(campaign_of, runs):
    campaign = campaign_of("ab", runs=runs)
    for seed in range(6):
        found = list(beginners(campaign, seed, 8))
        for blocks in found:
            assert all(blocks[n] != blocks[n + 1] for n in range(1, runs))
        assert all(one[1] != other[1] for one, other in pairwise(found))


def test_which_begins_is_drawn_by_the_seed(campaign_of):
    campaign = campaign_of("ab")
    starts = [next(beginners(campaign, seed, 1))[1] for seed in range(200)]
    assert 60 < starts.count("a") < 140  # five standard deviations
    again = [next(beginners(campaign, seed, 1))[1] for seed in range(200)]
    assert starts == again


def test_interleaved_rounds_keep_their_beginner(campaign_of):
    campaign = campaign_of("ab", runs=3, order="interleaved")  # the control
    assert {name for one in beginners(campaign, 1, 5) for name in one.values()} == {"a"}


def test_each_session_draws_who_begins_and_the_order_of_before_keeps_its_plan(campaign_of):
    drawn, before = (campaign_of("ab", runs=4, order=o) for o in ("drawn-start", "alternating"))
    starts = []
    for seed in range(40):
        for session, blocks in enumerate(beginners(drawn, seed, 5), start=1):
            turn = random.Random(f"{seed}/order/turn/{session}").randrange(2)
            starts.append("ab"[(turn + 1) % 2])
            assert [blocks[n] for n in range(1, 5)] == [*(starts[-1], "ba"[turn == 0]) * 2]
    assert 65 < starts.count("a") < 135  # five standard deviations
    # a trial of before is held against this plan when it goes on
    old = ["".join(one[1] for one in beginners(before, seed, 6)) for seed in range(4)]
    assert old == ["bababa", "bababa", "bababa", "ababab"]


@pytest.mark.parametrize("order", ["alternating", "drawn-start", "shuffled", "sequential"])
def test_a_variant_that_left_is_in_no_later_session(campaign_of, order):
    campaign = campaign_of("abc", runs=2, warmup=1, order=order)
    left = {"b": 3, "c": 5}
    runs = list(chain.from_iterable(plan_session(campaign, 1, s, None, left) for s in range(1, 8)))
    assert [run.position for run in runs] == list(range(len(runs)))
    assert len(runs) == planned_runs(campaign, 7, left) == 3 + 2 * (7 + 3 + 5)
    for name, last in {"a": 7, **left}.items():
        assert max(run.session for run in runs if run.variant == name) == last
    whole = list(plan_session(campaign, 1, 2))
    assert whole == list(plan_session(campaign, 1, 2, None, left))
