"""Where runs have cgroups, where a limit needs them, and what is said where there are none."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path

import pytest

from harness.campaign.model import Isolation
from harness.errors import HostError
from harness.host.activity import Host
from harness.host.cgroups import NoGroupsError
from harness.host.state import OwnGroup
from harness.trial import metering as grouping
from harness.trial.metering import Grouping, group_runs

OWN = OwnGroup(
    path="/g", top=False, controllers=("memory", "pids"), handed_down=(), others=0, writable=True
)


class Groups:
    """The place of runs' groups, as far as a trial sees it."""

    def __init__(self, controllers=("memory", "pids"), withheld=None):
        self.controllers, self.withheld, self.closed = controllers, withheld, False

    def close(self):
        self.closed = True


@pytest.fixture
def found(monkeypatch, tmp_path):
    """Have the host's groups be as a test says; give what is asked for them."""

    def make(groups, own=OWN):
        asked = []

        def run_groups(own, top):
            asked.append(own)
            if isinstance(groups, Exception):
                raise groups
            return groups

        monkeypatch.setattr(grouping, "RunGroups", run_groups)
        monkeypatch.setattr(Host, "own_group", lambda self: own)
        return asked

    return make


def grouped(**isolation):
    with Host() as host:
        return group_runs(host, Isolation(**isolation))


def test_groups_are_taken_where_they_are(found):
    found(Groups())
    had = grouped()
    assert had.to_dict() == {"controllers": "memory pids", "entry": "moved"}
    assert dataclasses.replace(had, spawned=True).to_dict()["entry"] == "spawned"
    assert tuple(had.findings()) == ()
    with contextlib.closing(had):
        pass
    assert had.groups.closed


def test_whoever_wants_no_containment_has_none(found):
    asked = found(Groups())
    had = grouped(containment="none")
    assert (asked, had.groups, had.to_dict(), [*had.findings()]) == ([], None, None, [])


@pytest.mark.parametrize("containment", ["auto", "none"])
@pytest.mark.parametrize("limit", ["memory", "pids"])
def test_a_limit_of_all_processes_asks_for_groups_whatever_the_containment(
    found, containment, limit
):
    asked = found(Groups((limit,)))
    assert grouped(containment=containment, limits={limit: 9}).groups is not None
    assert asked == [OWN]


@pytest.mark.parametrize(
    ("groups", "limits", "what", "where"),
    [
        (NoGroupsError("no cgroup of version 2 is mounted here"), {"memory": 9}, "is mounted", "memory"),
        (Groups(()), {"pids": 3}, "offers no controller 'pids'", "pids"),
        (Groups(("memory",)), {"memory": 9, "pids": 3}, "the limit 'pids' cannot be held", "pids"),
        (Groups((), withheld="/g: busy"), {"memory": 9}, "cannot be held: /g: busy", "memory"),
    ],
)  # fmt: skip
def test_a_limit_that_nothing_holds_stops_before_anything_is_executed(
    found, groups, limits, what, where
):
    found(groups)
    with pytest.raises(HostError) as refused:
        grouped(limits=limits)
    assert what in refused.value.what
    assert refused.value.where == f"isolation.limits.{where}"
    assert "systemd-run --user --scope -p Delegate=yes fairtrial run" in refused.value.fix
    assert ("unified_cgroup_hierarchy" in refused.value.fix) == (
        getattr(groups, "withheld", "none") is None
    )
    assert isinstance(groups, Exception) or groups.closed


def test_limits_of_single_processes_need_no_group(found):
    found(NoGroupsError("none"))
    assert grouped(limits={"nofile": 10}).groups is None


def test_an_attempt_that_failed_is_told_and_what_can_be_seen_beforehand_is_not(found):
    found(NoGroupsError("no group can be made in /g: Permission denied"))
    (finding,) = grouped().findings()
    assert (finding.check, finding.status) == ("containment", "unknown")
    assert "no group can be made in /g" in finding.what
    found(NoGroupsError("no cgroup of version 2 is mounted here"), own=None)
    assert tuple(grouped().findings()) == ()  # the check `cgroup` says so


def test_controllers_that_are_withheld_are_told_and_the_rest_is_taken(found):
    found(Groups((), withheld="/g does not hand down its controller 'memory'"))
    had = grouped()
    assert had.to_dict()["controllers"] == "none"
    assert "does not hand down" in next(had.findings()).what


def test_an_environment_without_groups_says_so():
    assert Grouping().to_dict() is None


def test_a_trial_closes_its_groups_whatever_happens(stage, campaign, monkeypatch):
    made = []

    def take(host, isolation):
        made.append(Groups())
        return Grouping(groups=made[-1])

    monkeypatch.setattr("harness.trial.preparation.group_runs", take)
    stage.start(campaign())
    record = stage.lines("environment.jsonl")[0]
    assert record["process"]["cgroup"] == {"controllers": "memory pids", "entry": "moved"}
    assert record["containment"] == "pid"
    (check,) = stage.findings("cgroup", "before")
    assert check["status"] == "ok"

    def die(self, findings):
        raise HostError("a required check")

    monkeypatch.setattr("harness.trial.preparation.Prepared.require", die)
    with pytest.raises(HostError):
        stage.start(campaign())
    assert [groups.closed for groups in made] == [True, True]


def test_what_the_kernel_says_of_memory_is_in_the_row(stage, campaign, isolation):
    stage.target = lambda request: {
        "exit_code": None, "signal": 9, "out_of_memory": True, "peak_memory_tree_bytes": 4096,
    }  # fmt: skip
    stage.start(campaign(runs=1, warmup=0))
    row = stage.rows[0]
    assert (row["outcome"], row["detail"], row["oom"]) == ("signal", "out of memory", True)
    assert row["peak_memory_tree_bytes"] == 4096


def test_without_groups_nothing_is_known_of_memory(stage, campaign):
    stage.start(campaign(runs=1, warmup=0))
    assert stage.rows[0]["oom"] is None
    assert stage.lines("environment.jsonl")[0]["process"]["cgroup"] is None


def test_own_group_is_looked_for_where_the_host_is(tmp_path):
    with Host(tmp_path) as host:
        assert group_runs(host, Isolation()).groups is None
    assert list(Path(tmp_path).iterdir()) == []
