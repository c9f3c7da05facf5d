from __future__ import annotations

import dataclasses
import math
import random
import textwrap
import tracemalloc
from collections import Counter
from itertools import chain, pairwise

import pytest

from harness.campaign.resolve import load_campaign
from harness.errors import HostError
from harness.launch.matching import Interrupted, Interrupts
from harness.trial.plan import (
    PADDING_LIMIT,
    PlannedSession,
    padding,
    planned_runs as alternating_order_planned_runs,
    reserve,
)
from harness.trial.preparation import planned_runs


def _cells(runs):
    return [(run.benchmark, run.variant) for run in runs]


def _rounds(runs):
    return [[run for run in runs if run.block == b] for b in sorted({r.block for r in runs})]


@pytest.mark.parametrize("order", ["shuffled", "interleaved", "sequential"])
def test_blocks_are_complete_and_warmups_are_block_0_and_first(make_campaign, order):
    runs = list(PlannedSession(make_campaign(runs=3, warmup=2, order=order), 1, 1))
    blocks = _rounds(runs)
    assert [set(Counter(_cells(block)).values()) for block in blocks] == [{2}, {1}, {1}, {1}]
    assert [len(set(_cells(block))) for block in blocks] == [6] * 4
    assert all(run.warmup for run in blocks[0])
    assert not any(run.warmup for block in blocks[1:] for run in block)
    assert runs[: len(blocks[0])] == blocks[0]


def test_positions_count_on_over_the_sessions(make_campaign):
    campaign = make_campaign(runs=3, warmup=1)
    positions = [run.position for k in (1, 2, 3) for run in PlannedSession(campaign, 1, k)]
    assert positions == list(range(3 * 6 * 4))


def test_order_of_a_session_depends_on_seed_and_session_only(make_campaign):
    three = make_campaign(runs=3, sessions=3)
    nine = make_campaign(runs=3, sessions=9, cooldown_s=1.0)
    for k in (1, 2, 3):
        assert list(PlannedSession(three, 1, k)) == list(PlannedSession(nine, 1, k))
    # Planning one session leaves no trace in another one.
    alone = list(PlannedSession(three, 1, 2))
    list(PlannedSession(three, 1, 1))
    assert list(PlannedSession(three, 1, 2)) == alone
    assert _cells(PlannedSession(three, 1, 1)) != _cells(PlannedSession(three, 1, 2))
    assert _cells(PlannedSession(three, 1, 1)) != _cells(PlannedSession(three, 2, 1))


def test_order_is_the_same_in_every_version(make_campaign):
    # A trial is resumed by planning again: an order that changes makes old trials unreadable.
    runs = list(PlannedSession(make_campaign(runs=1, warmup=0), 7, 1))
    assert [f"{b}{v}" for b, v in _cells(runs)] == ORDER_OF_SEED_7


ORDER_OF_SEED_7 = ["zb", "yb", "xb", "xa", "za", "ya"]


def test_shuffled_blocks_differ_and_interleaved_ones_do_not(make_campaign):
    shuffled = list(PlannedSession(make_campaign(runs=6, warmup=0), 1, 1))
    assert len({tuple(_cells(block)) for block in _rounds(shuffled)}) > 1
    interleaved = list(PlannedSession(make_campaign(runs=6, warmup=0, order="interleaved"), 1, 1))
    assert len({tuple(_cells(block)) for block in _rounds(interleaved)}) == 1


def test_every_cell_comes_first_about_equally_often(make_campaign):
    runs = list(PlannedSession(make_campaign(runs=600, warmup=0), 3, 1))
    firsts = Counter(_cells([block[0] for block in _rounds(runs)]))
    # 600 rounds, 6 cells: 100 each; the bound is five standard deviations of the binomial law.
    assert len(firsts) == 6
    assert all(abs(count - 100) < 5 * (600 / 6 * 5 / 6) ** 0.5 for count in firsts.values())


def test_sequential_order_finishes_one_cell_before_the_next(make_campaign):
    runs = list(PlannedSession(make_campaign(runs=3, warmup=0, order="sequential"), 1, 1))
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
    plans = [list(PlannedSession(first_only, 7, k)) for k in (1, 2, 3)]
    assert [len(plan) for plan in plans] == [3 * cells, 2 * cells, 2 * cells]
    assert [run.position for plan in plans for run in plan] == list(range(7 * cells))
    assert [any(run.warmup for run in plan) for plan in plans] == [True, False, False]
    assert planned_runs(first_only, 3) == 7 * cells
    in_all = dataclasses.replace(protocol, warmup_sessions="all")
    every = dataclasses.replace(campaign, protocol=in_all)
    assert planned_runs(every, 3) == 9 * cells
    assert list(PlannedSession(every, 7, 1)) == plans[0]  # the first session is the same


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
    assert list(plan) == list(plan) == list(PlannedSession(make_campaign(), 7, 2))


# --- Orders that go forwards and backwards, and plans that variants leave; authority: enumeration by hand,
# and research/rules-2.md, section 3, for the start that each session draws.


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
        for run in PlannedSession(campaign, seed, session):
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
    runs = list(
        chain.from_iterable(PlannedSession(campaign, 1, s, None, left) for s in range(1, 8))
    )
    assert [run.position for run in runs] == list(range(len(runs)))
    assert len(runs) == alternating_order_planned_runs(campaign, 7, left) == 3 + 2 * (7 + 3 + 5)
    for name, last in {"a": 7, **left}.items():
        assert max(run.session for run in runs if run.variant == name) == last
    whole = list(PlannedSession(campaign, 1, 2))
    assert whole == list(PlannedSession(campaign, 1, 2, None, left))


# --- CPUs are locked before anything is looked at; what another trial holds is waited for, if wanted


@pytest.fixture
def taken(stage, monkeypatch):
    """Let other trials hold CPUs: a list of sets, one for each attempt, the last one for ever."""
    attempts: list[set[int]] = [set()]

    class Lock:
        def __init__(self, cpus):
            held = attempts[0]
            if len(attempts) > 1:
                attempts.pop(0)
            if held & set(cpus):
                raise HostError(f"another trial measures on CPU {min(held)} (process 7, yours)")

    monkeypatch.setattr("harness.trial.plan.CpuLock", Lock)
    monkeypatch.setattr("harness.trial.plan.cpus_in_use", lambda: tuple(sorted(attempts[0])))
    return attempts


@pytest.fixture
def waiting(stage, monkeypatch):
    """Give an `Interrupts` whose sleep lets the stage's time pass."""
    interrupts = Interrupts()

    def sleep(seconds):
        stage.slept.append(seconds)
        stage.clock.now += seconds
        interrupts.check()

    monkeypatch.setattr(interrupts, "sleep", sleep)
    return interrupts


def test_free_cpus_are_locked_at_once(stage, campaign, isolation, taken, waiting):
    plan, _ = reserve(campaign(isolation=isolation(cpus=(1,))), waiting, pytest.fail)
    assert plan.targets == (1,)
    assert stage.slept == []


def test_without_a_wait_another_trial_is_an_error(stage, campaign, isolation, taken, waiting):
    taken[:] = [{1}]
    with pytest.raises(HostError, match="another trial measures on CPU 1"):
        reserve(campaign(isolation=isolation(cpus=(1,))), waiting, pytest.fail)
    assert stage.slept == []


def test_the_end_of_another_trial_is_waited_for(stage, campaign, isolation, taken, waiting):
    taken[:] = [{1}, {1}, {1}, set()]
    said: list[str] = []
    plan, _ = reserve(campaign(isolation=isolation(cpus=(1,))), waiting, said.append, math.inf)
    assert plan.targets == (1,)
    assert stage.slept == [1.0] * 3
    assert said == ["waiting for another trial on CPU 1 (process 7, yours)"]


def test_a_long_wait_is_said_again_at_doubling_times(stage, campaign, isolation, taken, waiting):
    # authority: what lasts without a terminal says so after 5, 10, 20, ... s
    taken[:] = [*([{1}] * 23), set()]
    said: list[str] = []
    reserve(campaign(isolation=isolation(cpus=(1,))), waiting, said.append, math.inf)
    assert [text.rpartition(", ")[2] for text in said[1:]] == [
        "5 s so far",
        "10 s so far",
        "20 s so far",
    ]


def test_a_wait_has_the_end_that_was_named(stage, campaign, isolation, taken, waiting):
    taken[:] = [{1}]
    said: list[str] = []
    with pytest.raises(HostError, match="another trial"):
        reserve(campaign(isolation=isolation(cpus=(1,))), waiting, said.append, 2.5)
    assert stage.slept == [1.0, 1.0, 0.5]
    assert said[0].endswith("for at most 2.5 s")


def test_a_signal_ends_the_wait(campaign, isolation, taken, waiting):
    taken[:] = [{1}]
    waiting.received = 15
    with pytest.raises(Interrupted):
        reserve(campaign(isolation=isolation(cpus=(1,))), waiting, lambda text: None, math.inf)


FOUR = {
    "sys/devices/system/cpu/online": "0-3\n",
    **{
        f"sys/devices/system/cpu/cpu{n}/topology/{name}": text
        for n in range(4)
        for name, text in (
            ("core_id", f"{n}\n"),
            ("physical_package_id", "0\n"),
            ("thread_siblings_list", f"{n}\n"),
        )
    },
    "proc/self/status": "Name:\tfairtrial\nCpus_allowed_list:\t0-3\n",
}


def test_of_two_that_choose_at_once_the_second_takes_another_core(
    stage, campaign, isolation, taken, waiting, monkeypatch
):
    stage.tree(FOUR)
    alone, _ = reserve(campaign(isolation=isolation(cpus="auto")), waiting, pytest.fail)
    # free when it was chosen, held when it was to be locked
    taken[:] = [set(alone.reserved)]
    held = set(alone.reserved)
    chosen: list[set[int]] = [set(), held]
    monkeypatch.setattr(
        "harness.trial.plan.cpus_in_use",
        lambda: tuple(chosen.pop(0) if len(chosen) > 1 else chosen[0]),
    )
    plan, _ = reserve(campaign(isolation=isolation(cpus="auto")), waiting, pytest.fail)
    assert not set(plan.reserved) & held
    assert stage.slept == []
