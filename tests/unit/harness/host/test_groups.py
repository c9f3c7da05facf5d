"""The own cgroup, read from trees that are written as cgroups(7) and proc(5) describe them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.host.facts import own_group
from harness.host.state import OwnGroup, Tree

MOUNT = "36 35 0:30 {root} {place} rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"


@pytest.fixture
def plant(tmp_path):
    def make(
        *,
        own="0::/user.slice/a.scope\n",
        mounts=None,
        group="sys/fs/cgroup/user.slice/a.scope",
        **files,
    ):
        mounts = MOUNT.format(root="/", place="/sys/fs/cgroup") if mounts is None else mounts
        tree = {"proc/self/cgroup": own, "proc/self/mountinfo": mounts}
        given = {
            "cgroup.procs": "17\n",
            "cgroup.controllers": "cpu memory pids\n",
            "cgroup.subtree_control": "\n",
            "cgroup.type": "domain\n",
        } | {name.replace("_", ".", 1): text for name, text in files.items()}
        tree |= {f"{group}/{name}": text for name, text in given.items() if text is not None}
        for name, text in tree.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Tree(tmp_path)

    return make


def test_a_group_of_version_2_is_described(plant):
    assert own_group(plant()) == OwnGroup(
        path="/sys/fs/cgroup/user.slice/a.scope",
        top=False,
        controllers=("cpu", "memory", "pids"),
        handed_down=(),
        others=0,
        writable=True,
    )


def test_others_in_the_group_are_counted(plant):
    assert own_group(plant(cgroup_procs="17\n18\n4711\n")).others == 2


def test_only_the_root_of_all_groups_has_no_type(plant):
    tree = plant(own="0::/\n", group="sys/fs/cgroup", cgroup_type=None)
    assert own_group(tree).top
    assert own_group(tree).path == "/sys/fs/cgroup"


def test_version_2_beside_version_1_is_found_where_it_is_mounted(plant):
    mounts = "30 29 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
    mounts += MOUNT.format(root="/", place="/sys/fs/cgroup/unified")
    own = "4:memory:/jobs/8\n1:name=systemd:/\n0::/a.scope\n"
    tree = plant(own=own, mounts=mounts, group="sys/fs/cgroup/unified/a.scope")
    assert own_group(tree).path == "/sys/fs/cgroup/unified/a.scope"


def test_a_mount_that_begins_below_the_root_is_taken_off_the_path(plant):
    mounts = MOUNT.format(root="/docker/1f", place="/sys/fs/cgroup")
    tree = plant(own="0::/docker/1f/inner\n", mounts=mounts, group="sys/fs/cgroup/inner")
    assert own_group(tree).path == "/sys/fs/cgroup/inner"
    assert own_group(plant(own="0::/docker/1fff\n", mounts=mounts)) is None


def test_blanks_in_a_place_are_escaped_by_the_kernel(plant):
    mounts = MOUNT.format(root="/", place="/mnt/my\\040groups")
    tree = plant(mounts=mounts, group="mnt/my groups/user.slice/a.scope")
    assert own_group(tree).path == "/mnt/my groups/user.slice/a.scope"


@pytest.mark.parametrize(
    "seen",
    [
        {"own": "4:memory:/a\n"},  # version 1 alone
        {"own": "0::/../other\n"},  # outside of what this namespace shows
        {"mounts": ""},
        {"cgroup_procs": None},  # mounted, but not what it claims to be
    ],
)
def test_what_cannot_be_seen_is_none(plant, seen):
    assert own_group(plant(**seen)) is None


@pytest.mark.powerless
@pytest.mark.usefixtures("unreadable_files")
def test_a_group_of_somebody_else_is_not_writable(plant, tmp_path):
    tree = plant()
    group = tmp_path / "sys/fs/cgroup/user.slice/a.scope"
    (group / "cgroup.subtree_control").chmod(0o444)
    assert not own_group(tree).writable


def test_this_host_is_read_without_an_error():
    own = own_group(Tree(Path("/")))
    assert own is None or Path(own.path, "cgroup.procs").exists()
