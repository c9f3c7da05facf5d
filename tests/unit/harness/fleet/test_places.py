"""Which hosts a campaign goes to. Authority: the nodes and partitions that are played."""

from __future__ import annotations

import dataclasses

import pytest

from analysis.errors import UsageError
from harness.fleet.slurm import Node
from harness.fleet.submission import Wishes, listed, places_for, require_time


def test_named_hosts_keep_their_order(played):
    hosts, partition, notes = places_for(Wishes(hosts="lab2,lab1"), played)
    assert (hosts, partition.name, notes) == (("lab2", "lab1"), "batch", ())


def test_those_that_are_free_now_are_taken_first(played):
    for number, state in enumerate(("allocated", "idle", "drained", "down*", "mixed", "idle"), 1):
        name = f"n{number}"
        played.known[name] = Node(name=name, state=state, reason=None)
    for name in ("lab1", "lab2"):
        del played.known[name]
    assert places_for(Wishes(partition="batch", count=2), played)[0] == ("n2", "n6")
    hosts, _, notes = places_for(Wishes(partition="batch"), played)
    assert hosts == ("n1", "n2", "n5", "n6")
    assert notes == ("left out: n3 is drained", "left out: n4 is down")
    with pytest.raises(UsageError, match="4 hosts that can be used, and 5 are asked for"):
        places_for(Wishes(partition="batch", count=5), played)


def test_without_a_default_partition_one_is_asked_for(played):
    played.parts["batch"] = dataclasses.replace(played.parts["batch"], default=False)
    with pytest.raises(UsageError, match="no default partition") as caught:
        places_for(Wishes(hosts="lab1"), played)
    assert "batch" in caught.value.fix


@pytest.mark.parametrize("sharing", ["FORCE", "FORCE:4", "force:2"])
def test_a_partition_that_shares_cpus_is_refused(played, sharing):
    played.parts["batch"] = dataclasses.replace(played.parts["batch"], oversubscribe=sharing)
    with pytest.raises(UsageError, match="share their CPUs"):
        places_for(Wishes(hosts="lab1"), played)


def test_strangers_are_named_and_not_all_of_them(played):
    many = ",".join(f"x{number}" for number in range(20))
    with pytest.raises(UsageError, match=r"x0, .*x7 and 12 more; nothing was submitted"):
        places_for(Wishes(hosts=f"lab1,{many}"), played)


def test_as_many_names_as_are_shown_leave_none_to_count():
    eight = [f"x{number}" for number in range(8)]
    assert listed(eight) == "x0, x1, x2, x3, x4, x5, x6, x7"
    assert listed([*eight, "x8"]) == "x0, x1, x2, x3, x4, x5, x6, x7 and 1 more"


@pytest.mark.parametrize(
    ("limit", "most", "fits"),
    [("60", "1:00:00", True), ("61", "1:00:00", False), ("7-0", "UNLIMITED", True)],
)
def test_the_partitions_longest_time(played, limit, most, fits):
    partition = dataclasses.replace(played.parts["batch"], max_time=most)
    if fits:
        require_time(limit, partition)
    else:
        with pytest.raises(UsageError, match="at most 1:00:00"):
            require_time(limit, partition)
