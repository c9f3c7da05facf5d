"""What is said of a fleet and its queue. Authority: the queue that is played, and the contract."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import shutil
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from analysis.errors import FairtrialError, UsageError
from analysis.record.fleet import read_fleet
from harness.cli import main
from harness.errors import HostError, LaunchError
from harness.fleet import status as standing, submission
from harness.fleet.slurm import Node
from harness.fleet.status import cancel, read_standing, resubmission_of
from tests.examples import examples
from tests.unit.harness.fleet.conftest import Played


def hosts_of(standing):
    return {host["host"]: host for host in standing.to_dict()["hosts"]}


def test_every_host_is_told_with_its_job_and_the_reason(fleet, played):
    played.add("7")
    played.add("8", "PENDING", reason="Priority", nodes=None)
    played.known["lab2"] = Node(name="lab2", state="down*", reason="not responding")
    standing = read_standing(fleet, played)
    hosts = hosts_of(standing)
    assert hosts["lab1"]["state"] == "missing"  # no row is measured, whatever the queue says
    assert (hosts["lab1"]["job"], hosts["lab1"]["queue"], hosts["lab1"]["node"]) == (
        "7",
        "RUNNING",
        "lab1",
    )
    assert (hosts["lab2"]["queue"], hosts["lab2"]["reason"]) == ("PENDING", "Priority")
    assert hosts["lab2"]["node"] is None
    said = " ".join(str(standing).split())
    assert "lab2 missing 0 of ? the host is down*: not responding; job 8 PENDING (Priority)" in said
    json.dumps(standing.to_dict(), allow_nan=False)


def test_a_bisection_that_was_submitted_is_read_and_gone_on_with_by_its_own_command(fleet, played):
    text = json.loads((fleet / "fleet.json").read_text())
    text["slurm"]["bisect"] = {"good": "1" * 40, "bad": "2" * 40}
    (fleet / "fleet.json").write_text(json.dumps(text))
    (fleet / "lab1").mkdir()
    (fleet / "lab1" / "bisect.json").write_text("{}")
    told = hosts_of(read_standing(fleet, played))["lab1"]
    assert (told["state"], told["why"]) == (
        "missing",
        "this is a bisection, which holds several trials",
    )
    with pytest.raises(UsageError) as refused:
        resubmission_of(fleet, scheduler=played)
    assert refused.value.fix is not None
    assert f"fairtrial bisect --resume={fleet / 'lab1'}" in refused.value.fix


def test_what_measured_on_disks_of_nodes_is_gone_on_with_where_the_fleet_lies(fleet, played):
    text = json.loads((fleet / "fleet.json").read_text())
    text["slurm"]["options"] = ["--scratch=/local/anna", "--seed=4"]
    (fleet / "fleet.json").write_text(json.dumps(text))
    script = resubmission_of(fleet, scheduler=played).script
    assert "--scratch" not in script
    assert "--seed=4" in script


def test_a_job_that_slurm_has_forgotten_is_none(fleet, played):
    hosts = hosts_of(read_standing(fleet, played))
    assert (hosts["lab1"]["job"], hosts["lab1"]["queue"]) == ("7", None)
    assert "job 7 is no longer in the queue" in str(read_standing(fleet, played))
    assert "--resume" in str(read_standing(fleet, played))


def test_without_slurm_the_rows_are_told_and_why_the_queue_is_not(fleet, played):
    played.down = True
    standing = read_standing(fleet, played)
    assert standing.problem == "Slurm does not answer: no controller"
    assert "the queue is unknown" in str(standing)
    assert hosts_of(standing)["lab1"]["queue"] is None


@pytest.mark.parametrize(
    "changes",
    [
        {"comment": "fairtrial:c-other"},
        {"comment": None},
        {"user": "bert"},
        {"cluster": "other"},
        {"cluster": None},
    ],
)
def test_a_job_of_others_is_not_this_fleets(fleet, played, changes):
    played.add("7", **changes)
    assert hosts_of(read_standing(fleet, played))["lab1"]["queue"] is None
    done = cancel(fleet, [].append, played)
    assert (done.cancelled, done.others, played.ended) == ((), ("7",), [])


@pytest.mark.parametrize("left", [{}, {"inode": None}, {"folder": None, "inode": 1}])
def test_a_fleet_that_does_not_say_where_it_measures_has_no_jobs(fleet, played, left):
    played.add("7")
    text = json.loads((fleet / "fleet.json").read_text())
    del text["slurm"]["folder"], text["slurm"]["inode"]
    text["slurm"] |= left
    (fleet / "fleet.json").write_text(json.dumps(text))
    assert hosts_of(read_standing(fleet, played))["lab1"]["queue"] is None
    done = cancel(fleet, [].append, played)
    assert (done.cancelled, done.others, played.ended) == ((), ("7",), [])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"user": "bert"}, "submitted by bert, and you are anna"),
        ({"cluster": "other"}, "on cluster 'other', and this is 'lab'"),
    ],
)
def test_cancel_of_what_others_submitted_says_whose_it_is(fleet, played, changes, said):
    text = json.loads((fleet / "fleet.json").read_text())
    text["slurm"] |= changes
    (fleet / "fleet.json").write_text(json.dumps(text))
    done = cancel(fleet, [].append, played)
    assert said in str(done)
    assert "no job of it" not in str(done)
    assert played.ended == []


def test_an_id_that_came_again_is_of_the_host_that_its_job_is_for(fleet, played):
    played.add("7", wanted="lab2")  # lab1 once had that number
    planned = resubmission_of(fleet, scheduler=played)
    assert planned.hosts == ("lab1",)
    assert [host.jobs for host in planned.fleet.hosts] == [("7",), ("8", "7")]


@pytest.mark.parametrize("who", ["JobHeldAdmin", "JobHeldUser"])
def test_a_job_that_somebody_holds_is_told(fleet, played, who):
    played.add("7", "PENDING", reason=who)
    planned = resubmission_of(fleet, scheduler=played)
    assert planned.hosts == ("lab2",)
    assert f"PENDING: {who}" in planned.notes[0]


def test_cancel_ends_what_is_live_and_says_so(fleet, played):
    played.add("7")
    played.add("8", "COMPLETED")
    said = []
    done = cancel(fleet, said.append, played)
    assert (done.cancelled, done.ending, done.others) == (("7",), (), ())
    assert played.ended == ["7"]
    assert (fleet / "cancelled").exists()
    assert said == ["waiting until 1 job ended: 7"]
    assert "1 job is cancelled" in str(done)


def test_cancel_says_which_do_not_end(fleet, played):
    played.add("7", "COMPLETING")
    played.stubborn = True
    done = cancel(fleet, [].append, played, patience_s=0.1)
    assert (done.cancelled, done.ending) == ((), ("7",))
    assert "still ending: 7" in str(done)


def test_cancel_of_nothing_marks_nothing(fleet, played):
    done = cancel(fleet, [].append, played)
    assert "none of its jobs is in the queue" in str(done)
    assert not (fleet / "cancelled").exists()


def test_resume_leaves_hosts_with_a_job_alone_and_finds_lost_ones(fleet, played):
    played.add("7", "PENDING")
    played.add("9", "PENDING", wanted="lab2")  # no file knows it
    planned = resubmission_of(fleet, scheduler=played)
    assert planned.hosts == ()
    assert [host.jobs for host in planned.fleet.hosts] == [("7",), ("8", "9")]
    played.queue.clear()
    planned = resubmission_of(fleet, "30", played)
    assert planned.hosts == ("lab1", "lab2")
    assert all(command[command.index("-t") + 1] == "30" for command in planned.commands)


def test_resume_refuses_what_the_partition_does_not_allow(fleet, played):
    with pytest.raises(UsageError, match="at most 1:00:00"):
        resubmission_of(fleet, "61", played)
    assert resubmission_of(fleet, "60", played).hosts == ("lab1", "lab2")
    played.parts["batch"] = dataclasses.replace(played.parts["batch"], oversubscribe="FORCE:2")
    with pytest.raises(UsageError, match="share their CPUs"):
        resubmission_of(fleet, scheduler=played)
    del played.parts["batch"]
    with pytest.raises(UsageError, match="no partition 'batch'"):
        resubmission_of(fleet, scheduler=played)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"user": "bert"}, "bert"),
        ({"cluster": "other"}, "cluster 'other'"),
        ({"time": 3}, "by hand"),
    ],
)
def test_resume_refuses_what_was_not_submitted_here(fleet, played, changes, word):
    text = json.loads((fleet / "fleet.json").read_text())
    text["slurm"] |= changes
    (fleet / "fleet.json").write_text(json.dumps(text))
    with pytest.raises(UsageError, match=word):
        resubmission_of(fleet, scheduler=played)


def test_the_list_of_a_folder_says_which_fleets_are_damaged(fleet):
    damaged = fleet.with_name("damaged")
    damaged.mkdir()
    (damaged / "fleet.json").write_text("{")
    out, err = io.StringIO(), io.StringIO()
    assert main(["status", "--json", "--dir", str(fleet.parent)], out, err) == 0
    assert [one["path"] for one in json.loads(out.getvalue())] == [str(fleet)]
    assert f"{damaged}/fleet.json" in err.getvalue()


def test_a_fleet_that_was_put_together_by_hand_asks_nobody(fleet, played):
    text = json.loads((fleet / "fleet.json").read_text())
    del text["slurm"]
    (fleet / "fleet.json").write_text(json.dumps(text))
    played.down = True
    assert read_standing(fleet, played).problem is None
    assert cancel(fleet, [].append, played).cancelled == ()


def test_results_are_frozen(fleet, played):
    with pytest.raises(dataclasses.FrozenInstanceError):
        read_standing(fleet, played).problem = "x"


def test_a_copy_has_no_jobs_and_gets_its_own(fleet, played, tmp_path):
    played.add("7")
    text = json.loads((fleet / "fleet.json").read_text())
    assert hosts_of(read_standing(fleet, played))["lab1"]["queue"] == "RUNNING"
    copy = tmp_path / "copy"
    shutil.copytree(fleet, copy)
    assert hosts_of(read_standing(copy, played))["lab1"]["queue"] is None
    assert cancel(copy, [].append, played).others == ("7",)
    assert played.ended == []
    planned = resubmission_of(copy, scheduler=played)
    assert planned.hosts == ("lab1", "lab2")
    assert planned.fleet.further["slurm"]["fleet"] != text["slurm"]["fleet"]
    moved = tmp_path / "moved"  # its inode is the same
    fleet.rename(moved)
    assert hosts_of(read_standing(moved, played))["lab1"]["queue"] == "RUNNING"


@pytest.mark.parametrize("name", ["lab1", "compute-rack3-node003.cluster.example.org"])
def test_what_is_wrong_with_a_host_stays_within_the_screen(fleet, played, name):
    standing = read_standing(fleet, played)
    why = (
        "the manifest cannot be read: it is no JSON: Unterminated string starting at character 183"
    )
    odd = dataclasses.replace(standing.hosts[0], host=name, state="failed", why=why, job=None)
    standing = dataclasses.replace(
        standing, hosts=(odd, *standing.hosts[1:]), problem=" ".join(["no controller"] * 9)
    )
    lines = [line for line in str(standing).splitlines() if str(fleet) not in line]
    assert max(map(len, lines)) <= max(80, len(name) + 30)
    (first,) = (line for line in lines if name in line)
    assert "failed" in first
    assert why in " ".join(" ".join(lines).split())
    assert standing.to_dict()["hosts"][0]["why"] == why


def test_one_line_is_left_to_a_host_of_which_nothing_more_is_said(fleet, played):
    standing = read_standing(fleet, played)
    quiet = [
        dataclasses.replace(one, why=None, job=None, node_state=None) for one in standing.hosts
    ]
    long = [dataclasses.replace(quiet[0], host="compute-rack3-node003.cluster.example.org")]
    for hosts in (quiet, long):
        text = str(dataclasses.replace(standing, hosts=tuple(hosts)))
        assert sum("missing" in line for line in text.splitlines()[2:]) == len(hosts)
        assert not [line for line in text.splitlines() if line != line.rstrip() or not line]


# --- Submissions, cancels, kills and a queue in any order: one job a host, and every host in the end
#
# Authority: the queue that is played, and the rule that a host has one job at a time.


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
