"""Trees that stand for a host whose settings are changed: nothing of this machine is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.tune.proposal import Wish
from harness.tune.tuner import Knobs, survey
from tests.hosts import trees as hosts

CPU = hosts.CPU
V1 = {"proc/cgroups": "#subsys_name\thierarchy\nnum\ncpuset\t3\t1\t1\n"}
V2 = {
    "proc/cgroups": "#subsys_name\thierarchy\nnum\ncpuset\t0\t9\t1\n",
    "sys/fs/cgroup/cgroup.controllers": "cpuset cpu memory\n",
    "sys/fs/cgroup/cgroup.subtree_control": "cpu memory\n",
    "sys/fs/cgroup/cgroup.procs": "",
    "sys/fs/cgroup/user.slice/session.scope/cgroup.procs": "",
}
BUSY_IRQ = {"proc/interrupts": hosts.interrupts([2_000_000] * 8)}


class CgroupKnobs(Knobs):
    """Makes the files of a new cgroup, and removes them with it, as the kernel does."""

    answer = "isolated"
    files = ("cpuset.cpus", "cpuset.cpus.partition", "cgroup.procs")

    def make_folder(self, path):
        super().make_folder(path)
        for name in self.files:
            (self.tree.path(path) / name).write_text("member\n" if "partition" in name else "")

    def write(self, path, value):
        if path.endswith("cpuset.cpus.partition") and value == "isolated":
            value = self.answer
        super().write(path, value)

    def remove_folder(self, path):
        for name in self.files:
            (self.tree.path(path) / name).unlink()
        super().remove_folder(path)


@pytest.fixture
def laptop():
    """A laptop as it comes, with a busy disk: every item but the partition has something to do."""
    tree = hosts.intel_pstate() | BUSY_IRQ | V2 | {"run": "EMPTY FOLDER"}
    for cpu in range(8):
        tree[f"{CPU}/cpu{cpu}/online"] = "1\n"
        place = f"{CPU}/cpu{cpu}/cpufreq"
        tree[f"{place}/energy_performance_preference"] = "balance_performance\n"
        tree[f"{place}/energy_performance_available_preferences"] = "default performance power\n"
        tree[f"{place}/scaling_available_governors"] = "performance powersave\n"
    with hosts.borrowed(tree) as root:
        yield root


@pytest.fixture
def proposed(laptop):
    def look(root=laptop, **wish):
        return survey(Wish(**wish), root, look_s=0)

    return look


def contents(root: Path) -> dict[str, str]:
    """Give what the tree holds, settings in one spelling: the kernel's brackets say the same."""
    knobs = Knobs(root)
    found = {}
    for folder, _, files in os.walk(root):
        for path in (f"{folder}/{name}" for name in files):
            name = path.removeprefix(str(root))
            if not name.startswith("/run/"):
                found[name] = knobs.shown(name) or Path(path).read_text().strip()
    return found


@pytest.fixture(autouse=True)
def _never_the_machine(monkeypatch):
    """Fail rather than write to what is really /proc, /sys or /run; no trial measures there."""
    monkeypatch.setattr("harness.tune.tuner.cpus_in_use", lambda: ())
    write = Knobs.write

    def guarded(self, path, value):
        assert os.path.realpath(self.root) != "/"
        write(self, path, value)

    monkeypatch.setattr(Knobs, "write", guarded)
