"""A campaign submitted to a private Slurm of three nodes.

Authority: Slurm's own commands and the rows on the disk.
"""

from __future__ import annotations

import json
import shlex
import shutil

import pytest


def plan(trial):
    lines = (trial / "plan.jsonl").read_text().splitlines()
    return [(run["benchmark"], run["variant"]) for run in map(json.loads, lines)]


def test_three_hosts_measure_one_campaign_each_in_an_order_of_its_own_and_give_one_verdict(cluster):
    campaign = cluster.campaign(protocol={"sessions": 2, "runs": 3, "warmup": 1})
    path = cluster.submit(campaign)
    fleet = cluster.fleet()
    assert [host["host"] for host in fleet["hosts"]] == ["lab1", "lab2", "lab3"]
    assert [host["trial"] for host in fleet["hosts"]] == ["lab1", "lab2", "lab3"]
    assert all(len(host["jobs"]) == 1 for host in fleet["hosts"])
    assert fleet["schema"] == 1
    cluster.wait_until_ended()
    hosts = cluster.status()
    assert [host["state"] for host in hosts.values()] == ["complete"] * 3, cluster.log()
    assert (
        {host["done"] for host in hosts.values()} == {32} == {h["planned"] for h in hosts.values()}
    )
    for name in hosts:
        cluster.lab.assert_complete_once_each(path / name)
        manifest = cluster.lab.manifest(path / name)
        assert manifest["node"] == name
        assert manifest["campaign_sha256"] == fleet["identity"]
    orders = [plan(path / name) for name in hosts]
    assert len({tuple(order) for order in orders}) == 3
    assert len({tuple(sorted(order)) for order in orders}) == 1
    text = cluster.run("status", path).stdout
    assert "3 complete" in text
    with pytest.raises(AssertionError, match="disabled"):  # no accounting was needed for that
        cluster.slurm.client("sacct")
    assert cluster.run("status").returncode == 0  # the list of trials knows what a fleet is
    done = cluster.run("verdict", path, "--json")
    assert done.returncode == 0, done.stderr
    judged = json.loads(done.stdout)["hosts"]
    assert [(host["host"], host["state"], host["done"]) for host in judged] == [
        (name, "complete", host["done"]) for name, host in hosts.items()
    ]
    assert "on these 3 hosts" in " ".join(cluster.run("verdict", path).stdout.split())


def test_dry_run_shows_script_and_jobs_and_leaves_nothing(cluster):
    campaign = cluster.campaign()
    done = cluster.run("submit", campaign, "--hosts", "lab[1-2]", "--time", "10", "--dry-run")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("sbatch ")]
    assert len(lines) == 2
    for line, host in zip(lines, ("lab1", "lab2"), strict=True):
        words = shlex.split(line)
        assert words[words.index("-w") + 1] == host
        for wanted in ("-N1", "-n1", "--exclusive", "--mem=0", "--requeue", "--open-mode=append"):
            assert wanted in words
        assert "--signal=B:TERM@120" in words
        assert "--export=NONE" in words
        assert words[words.index("--comment") + 1].startswith("fairtrial:c-")
        assert words[words.index("-t") + 1] == "10"
    assert done.stdout.startswith("#!/bin/bash")
    assert str(campaign) in done.stdout
    assert not (cluster.lab.folder / "runs").exists()
    assert cluster.live() == []


def test_a_wrong_host_submits_nothing_for_any(cluster):
    done = cluster.run("submit", cluster.campaign(), "--hosts", "lab1,lab9", "--time", "10")
    assert done.returncode == 2
    assert "lab9" in done.stderr
    assert "lab1" not in done.stderr.split("fix:")[0].replace("lab1,lab9", "")
    assert not (cluster.lab.folder / "runs").exists()
    assert cluster.live() == []


def test_what_a_partition_does_not_allow_is_refused_before_submission(cluster):
    campaign = cluster.campaign()
    cluster.wait(cluster.all_idle, "each node answers: one that does not is none that can be used")
    for options, word in (
        (("--hosts", "lab3", "--partition", "pair", "--time", "10"), "pair"),
        (("--hosts", "lab1", "--partition", "shared", "--time", "10"), "OverSubscribe=FORCE"),
        (("--hosts", "lab1", "--partition", "brief", "--time", "6"), "at most 00:05:00"),
        (("--hosts", "lab1", "--partition", "none", "--time", "6"), "lab, brief"),
        (("--partition", "lab", "--count", "4", "--time", "6"), "3 hosts"),
        (("--hosts", "lab[1-", "--time", "6"), "list of hosts"),
        (("--hosts", "lab1", "--time", "soon"), "notation"),
        (("--hosts", "lab1"), "--time"),
        (("--hosts", "lab1", "--time", "10", "--", "--exclusive=user"), "--exclusive"),
        (("--hosts", "lab1", "--time", "10", "--", "-t5"), "-t"),
        (("--hosts", "lab1", "--time", "10", "--", "other.sh"), "batch script"),
        (("--time", "10"), "--hosts"),
    ):
        done = cluster.run("submit", campaign, *options)
        assert done.returncode == 2, options
        assert word in done.stderr, (options, done.stderr)
        assert "fix:" in done.stderr
    assert not (cluster.lab.folder / "runs").exists()
    assert cluster.live() == []


def test_sbatch_that_refuses_leaves_no_job_and_no_folder(cluster):
    campaign = cluster.campaign()
    done = cluster.run(
        "submit", campaign, "--hosts", "lab[1-3]", "--time", "10", "--", "--licenses=none:1"
    )
    assert done.returncode == 4, done.stderr
    assert "Slurm refuses" in done.stderr
    assert cluster.live() == []
    assert list((cluster.lab.folder / "runs").iterdir()) == []


def test_part_of_a_partition_and_an_earlier_trial_tell_hosts_and_time(cluster):
    campaign = cluster.campaign()
    assert cluster.run("run", campaign).returncode == 0
    done = cluster.run(
        "submit", campaign, "--partition", "pair", "--count", "1", "--dry-run", "--json"
    )
    assert done.returncode == 0, done.stderr
    planned = json.loads(done.stdout)
    assert [host["host"] for host in planned["hosts"]] == ["lab1"]
    assert planned["time"] == "00:10:00"
    assert planned["partition"] == "pair"


def test_a_drained_host_is_said_to_be_and_waits(cluster):
    cluster.slurm.client(
        *("scontrol", "update", "NodeName=lab3", "State=DRAIN", "Reason=its fan is loud")
    )
    campaign = cluster.campaign()
    done = cluster.run("submit", campaign, "--partition", "lab", "--time", "10", "--dry-run")
    assert "left out: lab3 is drained (its fan is loud)" in done.stderr
    cluster.submit(campaign, hosts="lab[2-3]")
    cluster.wait(lambda: cluster.status()["lab2"]["state"] == "complete", "lab2 is complete")
    lab3 = cluster.status()["lab3"]
    assert (lab3["state"], lab3["queue"], lab3["done"]) == ("missing", "PENDING", 0)
    assert "ReqNodeNotAvail" in lab3["reason"]
    assert lab3["planned"] == 12
    (line,) = (
        line
        for line in cluster.run("status", cluster.path).stdout.splitlines()
        if line.lstrip().startswith("lab3")
    )
    assert "missing" in line
    assert "the host is drained: its fan is loud" in line


def test_resume_submits_only_for_hosts_that_need_it(cluster):
    campaign = cluster.campaign()
    path = cluster.submit(campaign, hosts="lab[1-2]")
    cluster.wait_until_ended()
    shutil.rmtree(path / "lab2")
    before = cluster.jobs()
    done = cluster.run("submit", path, "--resume")
    assert done.returncode == 0, done.stderr
    after = cluster.jobs()
    assert after["lab1"] == before["lab1"]
    assert after["lab2"][:1] == before["lab2"]
    assert len(after["lab2"]) == 2
    cluster.wait_until_ended()
    assert cluster.status()["lab2"]["state"] == "complete"
    assert "no host needs another job" in cluster.run("submit", path, "--resume").stdout


def test_resume_submits_nothing_for_a_host_that_has_measured_everything_and_failed(cluster):
    campaign = cluster.campaign(benchmarks={"one": {"command": ["/bin/false"]}})
    path = cluster.submit(campaign, hosts="lab1")
    cluster.wait_until_ended()
    assert cluster.status()["lab1"]["state"] == "failed"
    done = cluster.run("submit", path, "--resume")
    assert done.returncode == 0, done.stderr
    assert "no host needs another job" in done.stdout
    assert "lab1 has failed" in done.stderr
    assert len(cluster.jobs()["lab1"]) == 1


def test_a_campaign_that_changed_after_submission_is_not_measured(cluster):
    cluster.slurm.client("scontrol", "update", "NodeName=lab1", "State=DRAIN", "Reason=x")
    cluster.submit(cluster.campaign(), hosts="lab1")
    cluster.campaign(seed=6)
    cluster.slurm.client("scontrol", "update", "NodeName=lab1", "State=RESUME")
    cluster.wait_until_ended()
    assert cluster.status()["lab1"]["state"] == "missing"
    assert "the campaign is not the one" in cluster.log()


def test_programs_are_built_once_before_submission(cluster):
    built = cluster.lab.folder / "built"
    tool = cluster.lab.folder / "tool"
    campaign = cluster.campaign(
        build=[["/bin/sh", "-c", f"echo x >> {built}; cp /bin/true {tool}"]],
        benchmarks={"one": {"command": [str(tool)]}},
        variants={"a": {}},
        baseline=None,
    )
    noted = cluster.run("submit", campaign, "--hosts", "lab1", "--time", "10", "--dry-run").stderr
    assert "--build once" in noted
    assert not built.exists()
    cluster.submit(campaign, "--build", "once", hosts="lab[1-2]")
    cluster.wait_until_ended()
    assert [host["state"] for host in cluster.status().values()] == ["complete"] * 2, cluster.log()
    assert built.read_text() == "x\n"
