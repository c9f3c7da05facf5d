"""A fleet in a folder, and a scheduler that answers what a test wants."""

from __future__ import annotations

import dataclasses

import pytest

from analysis.record.fleet import Fleet, FleetHost, write_fleet
from harness.errors import HostError
from harness.fleet.slurm import Job, Node, SlurmPartition

SLURM = {
    "fleet": "c-20261122-101500-3f2a",
    "user": "anna",
    "cluster": "lab",
    "partition": "batch",
    "time": "10",
    "campaign": "/home/anna/c.yaml",
    "options": [],
    "arguments": [],
    "exported": [],
}


class Played:
    """Plays Slurm: `queue` is what it knows, `ended` what it was told to end."""

    def __init__(self) -> None:
        self.queue: dict[str, Job] = {}
        self.known = {name: Node(name=name, state="idle", reason=None) for name in ("lab1", "lab2")}
        self.parts = {
            "batch": SlurmPartition(
                name="batch", default=True, max_time="1:00:00", oversubscribe="NO"
            )
        }
        self.ended: list[str] = []
        self.stubborn = False
        self.down = False

    def add(self, number, state="RUNNING", **changes):
        job = Job(
            id=number,
            state=state,
            reason=None,
            nodes="lab1",
            wanted="lab1",
            user="anna",
            comment=f"fairtrial:{SLURM['fleet']}",
            cluster="lab",
        )
        self.queue[number] = dataclasses.replace(job, **changes)

    def jobs(self, _user):
        if self.down:
            raise HostError("Slurm does not answer: no controller")
        return dict(self.queue)

    def nodes(self, _partition=None):
        return self.known

    def partitions(self):
        return self.parts

    def names(self, expression):
        return tuple(expression.split(","))

    def cluster(self):
        return "lab"

    def place(self, program):
        return f"/opt/slurm/bin/{program}"

    def end(self, jobs):
        self.ended += jobs
        if not self.stubborn:
            for number in jobs:
                self.queue[number] = dataclasses.replace(self.queue[number], state="CANCELLED")


@pytest.fixture
def played(monkeypatch):
    for name in ("submission", "status"):
        monkeypatch.setattr(f"harness.fleet.{name}.user_name", lambda: "anna")
    return Played()


@pytest.fixture
def fleet(tmp_path):
    """Write a fleet of two hosts, of which nothing is measured; give its folder."""
    hosts = tuple(
        FleetHost(host=host, jobs=(job,), trial=host)
        for host, job in (("lab1", "7"), ("lab2", "8"))
    )
    folder = tmp_path / SLURM["fleet"]
    folder.mkdir()
    record = Fleet(
        campaign="c",
        identity="0",
        submitted_at="2026-11-22T10:15:00Z",
        script="job.sh",
        hosts=hosts,
        further={"slurm": SLURM | {"folder": str(folder), "inode": folder.stat().st_ino}},
    )
    write_fleet(folder, record)
    return folder
