"""What happens to a job of a fleet while it runs: TERM, cancel, a dead node, a held CPU.

Authority: Slurm's own commands, the rows on the disk, and the processes of this machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time

import pytest

# runs that last, so that something can happen to them
SLOW = {"sessions": 1, "runs": 4, "warmup": 1}


def slow(cluster, seconds=0.15, **sections):
    """Write a campaign of such runs, each of which waits at its end while the lab holds."""
    command = cluster.lab.sh(f"sleep {seconds}; {cluster.lab.waiting}")
    benchmarks = {"one": {"command": command}, "two": {"command": command}}
    return cluster.campaign(benchmarks=benchmarks, protocol=SLOW, **sections)


def job_of(cluster, host="lab1"):
    return cluster.jobs()[host][-1]


def wait_for_rows(cluster, host="lab1", count=3):
    cluster.wait(lambda: len(cluster.rows(host)) >= count, f"{count} rows on {host}")


def wait_until_requeued(cluster, job):
    cluster.wait(lambda: cluster.queue(job) == ["PENDING"], f"job {job} waits again")
    cluster.begin_now(job)


def assert_no_failed_row(cluster, host="lab1"):
    assert {row["outcome"] for row in cluster.rows(host)} == {"ok"}


@pytest.mark.parametrize("whom", ["--batch", "--full"])
def test_a_job_that_is_told_to_end_comes_back_and_executes_each_run_once(cluster, whom):
    # --batch: the shell alone, as at the time limit; --full: every process, the targets too
    note = f"{cluster.lab.folder}/cleanups"
    hooks = {
        "before": [cluster.lab.sh("sleep 0.1")],  # half of the time TERM hits one of these
        "cleanup": [cluster.lab.sh(f"sleep 0.1; echo done >> {note}")],
    }
    path = cluster.submit(slow(cluster, hooks=hooks), hosts="lab1")
    job = job_of(cluster)
    wait_for_rows(cluster)
    cluster.slurm.client("scancel", "--signal=TERM", whom, job)
    wait_until_requeued(cluster, job)
    cluster.wait_until_ended()
    assert cluster.status()["lab1"]["state"] == "complete", cluster.log()
    cluster.lab.assert_complete_once_each(path / "lab1")
    assert_no_failed_row(cluster)
    assert {row["segment"] for row in cluster.rows("lab1")} == {0, 1}
    assert "requeued after" in cluster.log()
    assert cluster.jobs()["lab1"] == [job]
    assert (cluster.lab.folder / "cleanups").read_text() == "done\n" * 2  # in both starts
    findings = cluster.lab.findings(path / "lab1")
    assert not [f for f in findings if f["check"] == "hook"]
    assert not [f for f in findings if "SLURM" in f["what"]]  # its variables are no drift
    assert not [f for f in findings if f["check"] == "drift"]


def test_a_job_that_slurm_requeues_goes_on_by_itself(cluster):
    path = cluster.submit(slow(cluster), hosts="lab1")
    job = job_of(cluster)
    wait_for_rows(cluster)
    cluster.lab.hold()  # it does not come to its end before
    cluster.slurm.client("scontrol", "requeue", job)
    wait_until_requeued(cluster, job)
    cluster.lab.release()
    cluster.wait_until_ended()
    cluster.lab.assert_complete_once_each(path / "lab1")
    assert_no_failed_row(cluster)
    assert "fairtrial: requeued" not in cluster.log()  # it was not the script's to do


def test_cancel_leaves_no_process_and_no_job_comes_back(cluster):
    # long enough that the command finds the jobs also on a busy machine
    path = cluster.submit(slow(cluster, seconds=0.5), hosts="lab[1-2]")
    jobs = [job for ids in cluster.jobs().values() for job in ids]
    wait_for_rows(cluster)
    cluster.lab.hold()  # neither comes to its end before it is cancelled
    done = cluster.run("cancel", path)
    cluster.lab.release()
    assert done.returncode == 0, done.stderr
    assert "2 jobs are cancelled" in done.stdout
    assert cluster.live() == []
    assert cluster.lab.left() == []
    kept = len(cluster.rows("lab1"))
    assert kept >= 3
    assert_no_failed_row(cluster)
    assert cluster.queue(*jobs) == ["CANCELLED"] * 2
    time.sleep(3)
    assert cluster.queue(*jobs) == ["CANCELLED"] * 2  # also later
    assert cluster.status()["lab1"]["state"] == "partial"
    again = cluster.run("cancel", path)
    assert (again.returncode, "no job of it is in the queue" in again.stdout) == (0, True)
    # and it can be gone on with
    assert cluster.run("submit", path, "--resume").returncode == 0
    cluster.wait_until_ended()
    assert {host["state"] for host in cluster.status().values()} == {"complete"}, cluster.log()
    cluster.lab.assert_complete_once_each(path / "lab1")


def test_a_copied_fleet_cancels_nothing_of_others(cluster):
    cluster.slurm.client("scontrol", "update", "NodeName=lab1", "State=DRAIN", "Reason=x")
    campaign = cluster.campaign()
    other = cluster.submit(campaign, hosts="lab1")
    (job,) = cluster.jobs(other)["lab1"]
    mine = cluster.lab.folder / "runs" / "copy"
    for changed in (
        {},  # the copy is not where they measure
        {"folder": str(mine), "fleet": "c-20200101-000000-0000"},
        {"folder": str(mine), "user": "somebody"},
        {"folder": str(mine), "cluster": "elsewhere"},
    ):
        mine.mkdir(exist_ok=True)
        fleet = cluster.fleet(other)
        fleet["slurm"] |= changed
        (mine / "fleet.json").write_text(json.dumps(fleet))
        done = cluster.run("cancel", mine)
        assert done.returncode == 0
        assert cluster.queue(job) == ["PENDING"], changed
        assert f"left alone: {job}" in done.stdout
        assert cluster.status(mine)["lab1"]["queue"] is None
    assert cluster.run("cancel", other).returncode == 0
    assert cluster.queue(job) == ["CANCELLED"]


def test_a_killed_start_takes_nothing_back_and_the_next_resume_finds_its_jobs(cluster):
    # as if `submit` was killed before it wrote the ids: held jobs that no file knows
    cluster.slurm.client("scontrol", "update", "NodeName=lab2", "State=DRAIN", "Reason=x")
    path = cluster.submit(cluster.campaign(), hosts="lab2")
    (job,) = cluster.jobs()["lab2"]
    cluster.slurm.client("scontrol", "hold", job)
    fleet = cluster.fleet()
    fleet["hosts"][0]["jobs"] = []
    (path / "fleet.json").write_text(json.dumps(fleet))
    done = cluster.run("submit", path, "--resume")
    assert done.returncode == 0, done.stderr
    assert cluster.jobs()["lab2"] == [job]
    cluster.slurm.client("scontrol", "update", "NodeName=lab2", "State=RESUME")
    cluster.wait_until_ended()
    assert cluster.status()["lab2"]["state"] == "complete"


@pytest.mark.host
def test_nodes_that_share_a_machine_meet_in_the_lock_of_a_cpu(cluster):
    cpu = min(os.sched_getaffinity(0))
    campaign = slow(cluster, isolation={"cpus": cpu}, checks={"probe": "0s"})
    cluster.lab.hold()  # so that the first still measures when the second comes
    refused = cluster.submit(campaign, hosts="lab[1-2]")
    cluster.wait(lambda: "another trial measures on CPU" in cluster.log(), "one is refused")
    cluster.lab.release()
    cluster.wait_until_ended()
    states = [host["state"] for host in cluster.status(refused).values()]
    assert sorted(states) == ["complete", "missing"], cluster.log()
    waited = cluster.submit(campaign, "--wait-for-lock", hosts="lab[1-2]")
    cluster.wait_until_ended()
    states = [host["state"] for host in cluster.status(waited).values()]
    assert states == ["complete"] * 2, cluster.log()


def test_a_job_whose_node_dies_starts_again_when_it_is_back(cluster):
    path = cluster.submit(slow(cluster, 0.5), hosts="lab3")
    job = job_of(cluster, "lab3")
    wait_for_rows(cluster, "lab3", 2)
    # the node loses its power: daemon, step and all that is below
    children = cluster.children_of_step(job)
    os.kill(cluster.slurm.daemon("lab3"), signal.SIGKILL)
    for pid in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    cluster.lab.wait_until_all_gone()
    cluster.wait(lambda: cluster.queue(job) == ["PENDING"], "the job waits for its node", 180)
    host = cluster.status()["lab3"]
    assert host["state"] == "partial"
    assert "down" in host["node_state"]
    cluster.slurm.ask("start lab3")
    cluster.begin_now(job)
    cluster.wait_until_ended()
    assert cluster.status()["lab3"]["state"] == "complete", cluster.log()
    cluster.lab.assert_complete_once_each(path / "lab3")
