"""What happens to a job of a fleet while it runs: TERM, cancel, a dead node, a held CPU.

Authority: Slurm's own commands, the rows on the disk, and the processes of this machine.
"""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.processes import send

PROTOCOL = {"sessions": 1, "runs": 4, "warmup": 1}
BEFORE = 3  # runs of each host that are made while the lab holds


def held(cluster, *in_hooks):
    """Write a campaign whose further runs wait while the lab holds.

    On hosts of `in_hooks` the hook before a run does, on others the target.
    """
    here, node = cluster.lab.folder, "$SLURMD_NODENAME"
    wait = f": > {here}/waits-{node}; while [ -e {here}/hold ]; do sleep 0.02; done"
    hosts = "|".join(in_hooks) or "none"
    late = f"case {node} in {hosts}) {wait};; *) : > {here}/late-{node};; esac"
    before = f'[ "$FAIRTRIAL_POSITION" -lt {BEFORE} ] || {late}'
    command = cluster.lab.sh(f"[ ! -e {here}/late-{node} ] || {{ {wait}; }}")
    hooks = {
        "before": [cluster.lab.sh(before)],
        "cleanup": [cluster.lab.sh(f"sleep 0.1; echo done >> {here}/cleanups-{node}")],
    }
    benchmarks = {"one": {"command": command}, "two": {"command": command}}
    return cluster.campaign(benchmarks=benchmarks, protocol=PROTOCOL, hooks=hooks)


def submitted_and_waiting(cluster, *hosts, in_hooks=()):
    """Submit it; give the jobs when all hosts wait."""
    cluster.lab.hold()
    cluster.submit(held(cluster, *in_hooks), hosts=",".join(hosts))
    waits = [cluster.lab.folder / f"waits-{host}" for host in hosts]
    cluster.wait(lambda: all(path.exists() for path in waits), f"runs wait on {hosts}")
    assert [len(cluster.rows(host)) for host in hosts] == [BEFORE] * len(hosts)
    return [cluster.jobs()[host][-1] for host in hosts]


def assert_no_failed_row(cluster, host="lab1"):
    assert {row["outcome"] for row in cluster.rows(host)} == {"ok"}


def test_a_job_that_is_told_to_end_or_requeued_comes_back_and_executes_each_run_once(cluster):
    # --batch: the shell alone, as at the time limit; --full: every process, those of a hook too
    jobs = submitted_and_waiting(cluster, "lab1", "lab2", "lab3", in_hooks=["lab2"])
    path = cluster.path
    cluster.slurm.client("scancel", "--signal=TERM", "--batch", jobs[0])
    cluster.slurm.client("scancel", "--signal=TERM", "--full", jobs[1])
    cluster.slurm.client("scontrol", "requeue", jobs[2])  # this one by Slurm itself
    cluster.wait(lambda: cluster.queue(*jobs) == ["PENDING"] * 3, "the jobs wait again")
    cluster.lab.release()
    cluster.begin_now(*jobs)
    cluster.wait_until_ended()
    assert {host["state"] for host in cluster.status().values()} == {"complete"}, cluster.log()
    for host, job in zip(("lab1", "lab2", "lab3"), jobs, strict=True):
        cluster.lab.assert_complete_once_each(path / host)
        assert_no_failed_row(cluster, host)
        assert {row["segment"] for row in cluster.rows(host)} == {0, 1}
        assert cluster.jobs()[host] == [job]
        findings = cluster.lab.findings(path / host)
        assert not [f for f in findings if "SLURM" in f["what"]]  # its variables are no drift
        assert not [f for f in findings if f["check"] == "drift"]
        if host != "lab3":
            assert not [f for f in findings if f["check"] == "hook"]
            cleanups = cluster.lab.folder / f"cleanups-{host}"
            assert cleanups.read_text() == "done\n" * 2  # in both starts
    # what Slurm requeues is not the script's to do
    said = [line.partition(":")[0] for line in cluster.log().splitlines() if "requeued" in line]
    assert cluster.log().count("requeued after") == 2, said


def test_cancel_leaves_no_process_and_no_job_comes_back(cluster):
    jobs = submitted_and_waiting(cluster, "lab1", "lab2")
    path = cluster.path
    done = cluster.run("cancel", path)
    cluster.lab.release()
    assert done.returncode == 0, done.stderr
    assert "2 jobs are cancelled" in done.stdout
    assert cluster.live() == []
    assert cluster.lab.left() == []
    assert len(cluster.rows("lab1")) == BEFORE
    assert_no_failed_row(cluster)
    assert cluster.queue(*jobs) == ["CANCELLED"] * 2
    cluster.wait(cluster.all_idle, "the nodes have nothing left to do")
    assert cluster.queue(*jobs) == ["CANCELLED"] * 2  # also later
    assert cluster.status()["lab1"]["state"] == "partial"
    again = cluster.run("cancel", path)
    assert (again.returncode, "none of its jobs is in the queue" in again.stdout) == (0, True)
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
    # as if `submit` was killed before it wrote the ids: jobs that no file knows
    cluster.slurm.client("scontrol", "update", "NodeName=lab2", "State=DRAIN", "Reason=x")
    path = cluster.submit(cluster.campaign(), hosts="lab2")
    (job,) = cluster.jobs()["lab2"]
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
    campaign = cluster.campaign(
        benchmarks={"one": {"command": cluster.lab.sh(cluster.lab.waiting)}},
        protocol=PROTOCOL,
        isolation={"cpus": cpu},
        checks={"probe": "0s"},
    )
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
    (job,) = submitted_and_waiting(cluster, "lab3")
    path = cluster.path
    # the node loses its power: daemon, step and all that is below
    children = cluster.children_of_step(job)
    os.kill(cluster.slurm.daemon("lab3"), signal.SIGKILL)
    send(children)
    cluster.lab.wait_until_all_gone()
    cluster.lab.release()
    # what the controller finds by itself when it has asked often enough
    cluster.slurm.client("scontrol", "update", "NodeName=lab3", "State=DOWN", "Reason=power")
    cluster.wait(lambda: cluster.queue(job) == ["PENDING"], "the job waits for its node", 180)
    host = cluster.status()["lab3"]
    assert host["state"] == "partial"
    assert "down" in host["node_state"]
    cluster.slurm.ask("start lab3")
    cluster.begin_now(job)
    cluster.wait_until_ended()
    assert cluster.status()["lab3"]["state"] == "complete", cluster.log()
    cluster.lab.assert_complete_once_each(path / "lab3")
