"""A trial of a fleet: whose it is, and in which order. Authority: the contract of fleets."""

from __future__ import annotations

import json

import pytest

from analysis.errors import UsageError
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of
from harness.errors import HostError
from harness.fleet.slurm import membership_of
from harness.trial.plan import plan_session


@pytest.fixture
def campaign(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "name: c\nvariants: {a: {}, b: {}}\n"
        "benchmarks: {x: {command: [/bin/true]}, y: {command: [/bin/true]}, z: {command: [/bin/true]}}\n"
    )
    return load_campaign(path)


def test_a_trial_that_is_not_there_yet_belongs_to_its_fleet(fleet, tmp_path):
    assert membership_of(fleet / "lab2").node == "lab2"
    assert membership_of(tmp_path / "alone") is None
    with pytest.raises(UsageError, match="no host whose trial is 'lab3'") as caught:
        membership_of(fleet / "lab3")
    assert caught.value.fix == "its hosts are: lab1, lab2"
    with pytest.raises(UsageError, match="this is a fleet, not a trial"):
        membership_of(fleet)


def test_another_campaign_or_another_node_is_refused(fleet, campaign):
    member = membership_of(fleet / "lab1")
    with pytest.raises(UsageError, match="not the one that the fleet was submitted with"):
        member.require(campaign, {})
    text = json.loads((fleet / "fleet.json").read_text())
    text["identity"] = identity_of(campaign)
    (fleet / "fleet.json").write_text(json.dumps(text))
    member = membership_of(fleet / "lab1")
    assert member.require(campaign, {}) == "lab1"  # by hand, without Slurm
    assert member.require(campaign, {"SLURMD_NODENAME": "lab1"}) == "lab1"
    with pytest.raises(HostError, match="this is node lab2"):
        member.require(campaign, {"SLURMD_NODENAME": "lab2"})


def test_each_node_has_an_order_of_its_own_and_always_the_same(campaign):
    def order(node, session=1):
        return [(run.benchmark, run.variant) for run in plan_session(campaign, 1, session, node)]

    nodes = [None, "lab1", "lab2", "lab11"]
    orders = [order(node) for node in nodes]
    assert len({tuple(each) for each in orders}) == len(nodes)
    assert len({tuple(sorted(each)) for each in orders}) == 1
    assert order("lab1") == orders[1]
    # "lab1" in session 11 is not "lab11" in session 1
    assert order("lab1", 11)[:12] != order("lab11", 1)[:12]
