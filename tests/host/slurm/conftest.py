"""A private Slurm for the tests of fleets, and labs in it.

Authority: what Slurm itself does (``squeue``, ``scontrol``), and the rows on the disk.
"""

from __future__ import annotations

import contextlib
import json
import runpy
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

TESTS = Path(__file__).resolve().parents[2]
private = SimpleNamespace(**runpy.run_path(str(TESTS / "private_slurm.py")))
NODES = private.NODES


def pytest_itemcollected(item):
    # one Slurm for all of them, but for what takes a CPU's lock
    xdist = item.config.pluginmanager.hasplugin("xdist")
    if xdist and not item.get_closest_marker("host"):
        item.add_marker(pytest.mark.xdist_group("slurm"))


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    if private.missing():
        pytest.skip("Slurm is not installed")
    made = private.PrivateSlurm(tmp_path_factory.mktemp("slurm") / "s")
    yield made
    made.close()


class Cluster:
    """A lab whose command sees the private Slurm."""

    def __init__(self, lab, slurm, processes) -> None:
        self.lab, self.slurm = lab, slurm
        self.processes, self._wait = processes, processes.wait_until
        lab.environment |= {"SLURM_CONF": slurm.environment["SLURM_CONF"]}
        self.path = None

    def campaign(self, name="c", **sections):
        """Write a campaign; its runs are measured anywhere, so that nodes do not wait for each other."""
        return self.lab.write_campaign(name, **sections)

    def run(self, *args):
        return self.lab.run_fairtrial(*args)

    def submit(self, campaign, *options, hosts="lab[1-3]", time="10"):
        """Submit a fleet; give its folder."""
        extra = ("--time", time) if time else ()
        before = set(self.lab.folder.glob("runs/*"))
        done = self.run("submit", campaign, "--hosts", hosts, *extra, *options)
        assert done.returncode == 0, done.stderr
        (self.path,) = set(self.lab.folder.glob("runs/*")) - before
        return self.path

    def fleet(self, path=None):
        return json.loads(((path or self.path) / "fleet.json").read_text())

    def status(self, path=None):
        """Give the hosts of `status --json`, by their names."""
        done = self.run("status", path or self.path, "--json")
        assert done.returncode == 0, done.stderr
        return {host["host"]: host for host in json.loads(done.stdout)["hosts"]}

    def jobs(self, path=None):
        return {host["host"]: host["jobs"] for host in self.fleet(path)["hosts"]}

    def queue(self, *jobs):
        """Give the states of jobs, as Slurm says them."""
        text = self.slurm.client("squeue", "-h", "-t", "all", "-o", "%i %T")
        states = dict(line.split() for line in text.splitlines())
        return [states.get(job, "gone") for job in jobs]

    def live(self):
        """List the jobs that are in the queue."""
        return self.slurm.client("squeue", "-h", "-o", "%i").split()

    def wait(self, condition, what, seconds=120.0):
        woken = time.monotonic()

        def holds():
            nonlocal woken
            if time.monotonic() - woken > 15:
                woken = time.monotonic()
                self.wake()
            found = condition()
            if not found:  # to ask is work, too, for Slurm and for a command
                time.sleep(0.1)
            return found

        try:
            return self._wait(holds, what, seconds)
        except AssertionError as error:
            queue = self.slurm.client("squeue", "-t", "all", "-o", "%i %T %r %N %S")
            nodes = self.slurm.client("sinfo", "-N", "-o", "%N %T %E")
            if self.forgotten():
                pytest.skip("Slurm leaves a job in the queue though its node is idle")
            raise AssertionError(f"{error}\n{queue}\n{nodes}\n{self.log()}") from None

    def forgotten(self):
        """Tell whether a job waits for resources while all nodes are idle: Slurm 22.05 does that."""
        waiting = self.slurm.client("squeue", "-h", "-t", "PENDING", "-o", "%S %r").splitlines()
        idle = self.all_idle()
        now = time.strftime("%Y-%m-%dT%H:%M:%S")
        late = (("N/A", "Resources"), ("N/A", "Priority"))
        found = [tuple(line.split(maxsplit=1)) for line in waiting]
        return idle and any(one in late or one[0] < now for one in found)

    def wait_until_ended(self):
        self.wait(lambda: not self.live(), "no job is left in the queue")

    def wake(self):
        """Have the queue looked at again: beside load it sometimes leaves a job that could start."""
        text = self.slurm.client("squeue", "-h", "-t", "PENDING", "-o", "%i %S")
        now = time.strftime("%Y-%m-%dT%H:%M:%S")
        for job, start in (line.split() for line in text.splitlines()):
            if start == "N/A" or start < now:  # not one that was requeued and still has to wait
                self.slurm.client(
                    "scontrol", "reconfigure"
                )  # counts what is free on the nodes anew
                with contextlib.suppress(AssertionError):  # it has started meanwhile
                    self.slurm.client("scontrol", "update", f"JobId={job}", "StartTime=now")

    def log(self):
        logs = sorted(self.path.glob("*.log")) if self.path else []
        return "\n".join(f"{path.name}: {path.read_text()}" for path in logs)

    def rows(self, host, path=None):
        file = (path or self.path) / host / "measurements.jsonl"
        if not file.exists():
            return []
        return [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]

    def begin_now(self, *jobs):
        """Cut the time that jobs wait that were requeued just now."""
        # sooner than 5 s after it, Slurm kills the job that it starts, and takes it for running
        time.sleep(6)
        for job in jobs:
            text = self.slurm.client("scontrol", "show", "job", job)
            assert "JobState=PENDING" in text
            self.slurm.client("scontrol", "update", f"JobId={job}", "StartTime=now")

    def all_idle(self):
        return set(self.slurm.client("sinfo", "-h", "-N", "-o", "%T").split()) == {"idle"}

    def children_of_step(self, job):
        """List the processes of a job: slurmstepd and all that is below it."""
        found = []
        for pid in self.processes.processes_with(f"[{job}.batch]"):
            found += [pid, *self.processes.descendants(pid)]
        assert len(found) > 1, "slurmstepd names its job in its arguments"
        return found

    def clear(self):
        for job in self.live():
            self.slurm.client("scancel", job)
        text = self.slurm.client("sinfo", "-h", "-N", "-p", "lab", "-o", "%N %T")
        for node, state in map(str.split, text.splitlines()):
            if "drain" in state:
                self.slurm.client("scontrol", "update", f"NodeName={node}", "State=RESUME")
        self._wait(lambda: not self.live(), "the queue is empty", 120)


@pytest.fixture
def cluster(lab, slurm, processes):
    made = Cluster(lab, slurm, processes)
    yield made
    lab.release()
    made.clear()
