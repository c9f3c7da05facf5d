"""Submissions, cancels, kills and a queue in any order: one job a host, and every host in the end.

Authority: the queue that is played, and the rule that a host has one job at a time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from analysis.errors import FairtrialError
from analysis.record.fleet import read_fleet
from harness.errors import HostError, LaunchError
from harness.fleet import status as standing, submission
from harness.fleet.status import cancel, read_standing, resubmission_of
from tests.examples import examples

from .conftest import Played

PLANNED = 10


class Killed(BaseException):
    """The submitting process is gone: whatever it would still do does not happen."""


class Cluster(Played):
    """Plays a queue that takes jobs; `fault` happens in the step of that number of a command."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 100
        self.plan(None, 0)
        self.done = {"lab1": 0, "lab2": 0}
        self.ours: list[str] = []

    def plan(self, fault: str | None, step: int) -> None:
        self.fault, self.at, self.steps, self.dead = fault, step, 0, False

    def now(self) -> str | None:
        if self.dead:
            raise Killed
        self.steps += 1
        happens = self.fault if self.steps - 1 == self.at else None
        if happens == "kill before":
            self.die()
        if happens == "down":
            self.down = True
        if self.down:
            raise HostError("Slurm does not answer: no controller")
        return happens

    def die(self) -> None:
        self.dead = True
        raise Killed

    def after(self, happens: str | None) -> None:
        if happens == "kill after":
            self.die()
        if happens == "late":
            raise HostError("Slurm has not answered for 60 s")

    def jobs(self, user):
        self.now()
        return {name: job for name, job in self.queue.items() if job.user == user}

    def submit(self, command):
        happens = self.now()
        if happens == "refuse":
            raise LaunchError("Slurm refuses a job: no account")
        self.number += 1
        number = str(self.number)
        told = {name: command[command.index(name) + 1] for name in ("-w", "--comment")}
        assert self.done[told["-w"]] < PLANNED, "a complete host was submitted again"
        self.add(
            number,
            "PENDING",
            reason="Priority",
            nodes=None,
            wanted=told["-w"],
            comment=told["--comment"],
        )
        self.ours.append(number)
        self.after(happens)
        return number

    def end(self, jobs):
        happens = self.now()
        for number in jobs:
            assert number in self.ours, f"job {number} of others was cancelled"
            if number in self.queue and happens != "refuse":
                self.queue[number] = dataclasses.replace(self.queue[number], state="CANCELLED")
        self.after(happens)

    def live(self) -> list[Any]:
        return [job for job in self.queue.values() if job.live and job.id in self.ours]


@pytest.fixture
def cluster(fleet, monkeypatch):
    """A cluster and a fleet whose trials are numbers of runs."""
    made = Cluster()
    for name in (
        "harness.fleet.submission.user_name",
        "harness.fleet.status.user_name",
        "harness.fleet.status.user_name",
    ):
        monkeypatch.setattr(name, lambda: "anna")
    write = submission.write_fleet

    def writing(folder, record):
        happens = made.now() if not made.down else None
        write(folder, record)
        made.after(happens if happens == "kill after" else None)

    def hosts(_folder, record):
        return tuple(
            SimpleNamespace(
                host=one.host,
                state=state_of(made.done[one.host]),
                done=made.done[one.host],
                planned=PLANNED,
                why=None,
                manifest=None,
            )
            for one in record.hosts
        )

    monkeypatch.setattr("harness.fleet.status._LOOK_S", 0.0)
    monkeypatch.setattr(submission, "write_fleet", writing)
    monkeypatch.setattr(standing, "read_hosts", hosts)
    made.folder = fleet
    return made


def state_of(done: int) -> str:
    return {0: "missing", PLANNED: "complete"}.get(done, "partial")


class Life:
    """What may happen to a fleet, by the name of the step."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.folder = cluster, cluster.folder

    def resume(self, fault: str | None, step: int) -> None:
        self.execute(self.planned(fault, step))

    def two(self, fault: str | None, step: int) -> None:
        """Two are planned at once; the first one meets the fault."""
        first, second = self.planned(None, 0), self.planned(None, 0)
        self.cluster.plan(fault, step)
        self.execute(first)
        self.cluster.plan(None, 0)
        self.execute(second)

    def planned(self, fault: str | None, step: int) -> Any:
        self.cluster.plan(fault, step)
        with contextlib.suppress(FairtrialError, Killed):
            return resubmission_of(self.folder, scheduler=self.cluster)
        return None

    def execute(self, planned: Any) -> None:
        if planned is not None:
            with contextlib.suppress(FairtrialError, Killed):
                planned.execute([].append)

    def cancel(self, fault: str | None, step: int) -> None:
        self.cluster.plan(fault, step)
        with contextlib.suppress(FairtrialError, Killed):
            cancel(self.folder, [].append, self.cluster, patience_s=0.0)

    def copy(self, fault: str | None, step: int) -> None:
        """Nothing that is done to a copy is done to the fleet."""
        copy = self.folder.with_name("copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.folder, copy)
        before = dict(self.cluster.queue)
        self.cluster.plan(fault, step)
        with contextlib.suppress(FairtrialError, Killed):
            assert cancel(copy, [].append, self.cluster, patience_s=0.0).cancelled == ()
        assert self.cluster.queue == before

    def others(self, _fault: str | None, step: int) -> None:
        """Others get an id that the fleet once had, and that Slurm has forgotten."""
        ids = [job for host in read_fleet(self.folder).hosts for job in host.jobs]
        free = [job for job in ids if job not in self.cluster.queue]
        if free:
            number = free[step % len(free)]
            who = ({"user": "bert"}, {"comment": "fairtrial:c-other"}, {"cluster": "other"})
            self.cluster.add(number, **who[step % 3])
            self.cluster.ours = [each for each in self.cluster.ours if each != number]

    def goes(self, _fault: str | None, step: int) -> None:
        """A waiting job starts, and comes further; or is held by an administrator, or requeued."""
        jobs = self.cluster.live()
        if not jobs:
            return
        job = jobs[step % len(jobs)]
        if job.state == "PENDING" and job.reason != "JobHeldAdmin":
            state, reason = ("PENDING", "JobHeldAdmin") if step == 5 else ("RUNNING", None)
        elif job.state == "RUNNING":
            self.cluster.done[job.wanted] = min(PLANNED, self.cluster.done[job.wanted] + 4)
            whole = self.cluster.done[job.wanted] == PLANNED
            kept = ("RUNNING", "PENDING", "NODE_FAIL", "COMPLETING", "REQUEUED", "CANCELLED")
            state, reason = "COMPLETED" if whole else kept[step % 6], None
        elif job.state in {"COMPLETING", "REQUEUED"}:
            state, reason = ("CANCELLED", "PENDING")[job.state == "REQUEUED"], None
        else:
            state, reason = job.state, "Priority" if job.reason == "JobHeldAdmin" else job.reason
        self.cluster.queue[job.id] = dataclasses.replace(job, state=state, reason=reason)

    def forgets(self, _fault: str | None, _step: int) -> None:
        self.cluster.queue = {name: job for name, job in self.cluster.queue.items() if job.live}

    def up(self, _fault: str | None, _step: int) -> None:
        self.cluster.down = False


STEPS = ("resume", "two", "cancel", "copy", "others", "goes", "forgets", "up")
FAULTS = st.none() | st.sampled_from(["kill before", "kill after", "down", "late", "refuse"])


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(life=st.lists(st.tuples(st.sampled_from(STEPS), FAULTS, st.integers(0, 11)), max_size=12))
# Two at once: the second one looked before the first one submitted.
@example(life=[("two", None, 0)])
# An administrator holds a job, which only an administrator can release.
@example(life=[("resume", None, 0), ("goes", None, 5), ("resume", None, 0)])
def test_a_host_has_one_job_at_a_time_and_is_complete_in_the_end(cluster, life):
    folder = cluster.folder
    first = getattr(cluster, "first", None) or (folder / "fleet.json").read_bytes()
    cluster.__init__()
    cluster.folder, cluster.first = folder, first
    (folder / "fleet.json").write_bytes(first)
    lives = Life(cluster)
    before = {host.host: host.jobs for host in read_fleet(folder).hosts}

    def check() -> None:
        nonlocal before
        jobs = cluster.live()
        assert len({job.wanted for job in jobs}) == len(jobs), "a host has two jobs"
        after = {host.host: host.jobs for host in read_fleet(folder).hosts}
        assert all(after[host][: len(ids)] == ids for host, ids in before.items())
        before = after

    for name, fault, step in life:
        getattr(lives, name)(fault, step)
        check()
    cluster.down = False
    for _ in range(12):
        if cluster.done == dict.fromkeys(cluster.done, PLANNED) and not cluster.live():
            break
        cluster.plan(None, 0)
        planned = resubmission_of(folder, scheduler=cluster)
        planned.execute([].append)
        check()
        told = {one.host: one for one in read_standing(folder, cluster).hosts}
        assert {one.job for one in told.values() if one.in_queue} == {
            job.id for job in cluster.live()
        }
        for _ in range(3):
            for at in range(len(cluster.live())):
                lives.goes(None, at)
        lives.forgets(None, 0)
    assert set(cluster.done.values()) == {PLANNED}
