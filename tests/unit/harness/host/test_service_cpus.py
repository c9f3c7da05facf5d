"""Where services run: authority are the rules of the key (disjoint from runs and fairtrial, or said), on recorded hosts."""

from __future__ import annotations

import pytest

from harness.errors import HostError
from harness.host.activity import Host
from harness.host.placement import CpuWish, choose_cpus, with_services
from tests.hosts import trees as hosts

AUTO = CpuWish(cpus="auto")


def plan(tree, wishes, setting="auto", usable=None):
    with Host(hosts.lent(tree)) as host:
        state = host.read()
    allowed = state.usable if usable is None else usable
    before = choose_cpus(setting, state.topology, usable=allowed, isolated=state.isolated)
    return with_services(before, wishes, state.topology, allowed), before


@pytest.mark.parametrize(
    ("tree", "ours", "services"),
    [
        ("intel_pstate", (0, 4), (1, 2, 5, 6)),  # one core with its two threads for fairtrial
        ("amd", (0,), (1, 2, 3, 4, 5)),
        ("arm_biglittle", (0,), (1, 2, 3, 4, 5, 6)),
    ],
)
def test_services_have_what_neither_runs_nor_fairtrial_use(tree, ours, services):
    chosen, before = plan(hosts.TREES[tree](), {"a": AUTO, "b": AUTO})
    assert chosen.services == {"a": services, "b": services}  # no variant has a better place
    assert chosen.housekeeping == ours
    assert chosen.targets == before.targets
    assert set(chosen.reserved) == {*before.reserved, *services}
    assert chosen.cautions == before.cautions
    assert chosen.text.endswith("services on " + chosen.text.rpartition(" on ")[2])


def test_with_two_usable_cpus_they_share_fairtrials_and_that_is_said():
    chosen, before = plan(hosts.TREES["vm_no_cpufreq"](), {"redis/always": AUTO})
    assert (chosen.targets, chosen.housekeeping) == ((1,), (0,))
    assert chosen.services == {"redis/always": (0,)}
    assert chosen.reserved == before.reserved
    assert chosen.cautions[-1] == (
        "no CPU is left for services (redis/always): they run on 0, beside fairtrial itself"
    )


def test_with_one_usable_cpu_they_run_beside_the_runs_and_that_is_said():
    chosen, _ = plan(hosts.amd(), {"s": AUTO}, usable=(0,))
    assert chosen.services == {"s": (0,)}
    assert "beside fairtrial and the measured programs" in chosen.cautions[-1]


def test_cpus_that_are_named_are_taken_from_fairtrial():
    chosen, _ = plan(hosts.amd(), {"s": CpuWish(cpus=(0, 1)), "t": AUTO})
    assert chosen.services == {"s": (0, 1), "t": (3, 4, 5)}
    assert chosen.housekeeping == (2,)


def test_who_shares_may_have_any():
    wish = CpuWish(cpus=(7, 0), share=True)
    chosen, before = plan(hosts.amd(), {"s": wish})
    assert chosen.services == {"s": (7, 0)}
    assert chosen.housekeeping == before.housekeeping
    auto, before = plan(hosts.amd(), {"s": CpuWish(cpus="auto", share=True)})
    assert auto.services == {"s": before.housekeeping}
    assert auto.reserved == before.reserved


@pytest.mark.parametrize(
    ("cpus", "usable", "what"),
    [
        ((7,), None, "on CPU 7, on a core that is measured"),
        ((11,), None, "on CPU 11, which this process may not use"),
        ((0,), (0, 7), "leave none to fairtrial itself"),
    ],
)
def test_what_cannot_be_is_refused(cpus, usable, what):
    with pytest.raises(HostError, match=what) as caught:
        plan(hosts.amd(), {"s/x": CpuWish(cpus=cpus)}, usable=usable)
    assert caught.value.where.startswith("services.")
    assert caught.value.fix


def test_services_of_targets_that_are_not_pinned_are_not_pinned_either():
    chosen, before = plan(hosts.amd(), {"s": AUTO}, setting="none")
    assert chosen.targets is None
    assert chosen.reserved == ()
    assert chosen.services["s"] == before.housekeeping
    assert "services are not pinned" in chosen.cautions[-1]


def test_without_services_nothing_is_other_than_before():
    chosen, before = plan(hosts.amd(), {})
    assert chosen is not before or chosen == before
    assert chosen == before
