"""Where the launcher keeps its CPU between two runs: only where nobody else wants it."""

from __future__ import annotations

import dataclasses

import pytest

from harness.campaign.model import Protocol
from harness.host.activity import Host
from harness.host.placement import CpuPlan, choose_cpus
from harness.host.state import Supply
from harness.trial.preparation import stays


@pytest.fixture
def case(campaign, isolation, planted_host, hosts):
    """Give (campaign, CPUs, host) where it stays, with some of it changed."""
    with Host(planted_host) as host:
        state = host.read()
    full = tuple(state.topology.numbers)

    def make(*, cpus: object = "auto", usable=full, battery=None, quota=None, **given):
        own = {key: given.pop(key) for key in ("before", "after") if key in given}
        settings = {k: given.pop(k) for k in ("scheduling", "nice") if k in given}
        made = campaign(isolation=isolation(cpus=cpus, **settings), **given)
        cells = tuple(dataclasses.replace(cell, **own) for cell in made.cells[:1])
        made = dataclasses.replace(made, cells=cells + made.cells[1:])
        now = dataclasses.replace(state, quota_cpus=quota)
        if battery is not None:
            supply = Supply(name="BAT0", kind="Battery", online=None, status=battery, capacity=80)
            now = dataclasses.replace(now, supplies=(supply,))
        return made, choose_cpus(cpus, state.topology, usable=usable), now

    return make


def test_with_a_cpu_for_itself_it_stays(case):
    assert isinstance(case()[1], CpuPlan)
    assert stays(*case())
    assert stays(*case(cpus=(1,)))
    assert stays(*case(battery="Charging"))
    assert stays(*case(scheduling="batch"))


@pytest.mark.parametrize(
    "changes",
    [
        {"cpus": "none"},
        {"usable": (1,)},  # fairtrial runs there too
        {"scheduling": "fifo"},
        {"cooldown_s": 0.001},
        {"battery": "Discharging"},
        {"quota": 1.5},
    ],
)
def test_it_does_not_where_it_would_take_the_cpu_from_somebody(case, changes):
    assert not stays(*case(**changes))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_hook_of_one_cell_is_enough_for_all(case, commands, when):
    assert not stays(*case(**{when: commands("true")}))


def test_it_does_not_beside_fairtrial_on_one_core(case):
    made, cpus, state = case()
    shared = dataclasses.replace(cpus, reserved=(0, 1), housekeeping=(0,))
    assert not stays(made, shared, state)


def test_it_does_not_where_the_kernel_hides_what_shares_a_core(case):
    made, cpus, state = case()
    hidden = tuple(dataclasses.replace(cpu, siblings=None) for cpu in state.topology.cpus)
    topology = dataclasses.replace(state.topology, cpus=hidden)
    assert not stays(made, cpus, dataclasses.replace(state, topology=topology))


def test_a_session_tells_its_launcher(stage, campaign, isolation):
    assert Protocol().cooldown_s == 0
    stage.start(campaign(isolation=isolation(cpus=(1,))))
    stage.start(campaign(isolation=isolation(cpus=(1,)), cooldown_s=0.5))
    assert [one.stays for one in stage.launchers if one.requests] == [True, False]
