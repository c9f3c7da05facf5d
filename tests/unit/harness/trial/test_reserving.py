"""CPUs are locked before anything is looked at; what another trial holds is waited for, if wanted."""

from __future__ import annotations

import math

import pytest

from harness.errors import HostError
from harness.launch.matching import Interrupted, Interrupts
from harness.trial.plan import reserve


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
