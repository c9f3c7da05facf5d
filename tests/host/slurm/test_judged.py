"""From a submitted fleet to its verdict.

Authority: what was planted in the programs. A whole fleet: `test_submit.py`, which measures one.
"""

from __future__ import annotations

import json


def verdict(cluster, path):
    done = cluster.run("verdict", path, "--json")
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def test_a_half_done_fleet_is_judged_and_says_what_is_missing(cluster):
    cluster.slurm.client("scontrol", "update", "NodeName=lab3", "State=DRAIN", "Reason=x")
    path = cluster.submit(cluster.campaign(protocol={"sessions": 2, "runs": 2, "warmup": 0}))
    states = {"lab1": "complete", "lab2": "complete", "lab3": "missing"}
    cluster.wait(
        lambda: {name: host["state"] for name, host in cluster.status().items()} == states,
        "two hosts are complete",
    )
    code, judged = verdict(cluster, path)
    assert code == 0, judged
    assert {host["host"]: host["state"] for host in judged["hosts"]} == states
    text = cluster.run("verdict", path).stdout
    assert any("lab3" in line and "missing" in line for line in text.splitlines())
    assert any("host" in code for code in judged["caution_codes"])


def test_a_host_with_another_program_is_said(cluster):
    # each node finds the program that its name leads to, as where nodes build for themselves
    programs = cluster.lab.folder / "programs"
    for name in ("lab1", "lab2"):
        (programs / name).mkdir(parents=True)
        tool = programs / name / "tool"
        tool.write_text(f"#!/bin/sh\n# {name}\nexec sleep 0.01\n")
        tool.chmod(0o755)
    link = cluster.lab.folder / "tool"
    campaign = cluster.campaign(
        benchmarks={"one": {"command": [str(link)]}},
        protocol={"sessions": 2, "runs": 2, "warmup": 0},
        isolation={"cpus": "none"},
    )
    cluster.slurm.client("scontrol", "update", "NodeName=lab2", "State=DRAIN", "Reason=x")
    link.symlink_to(programs / "lab1" / "tool")
    path = cluster.submit(campaign, hosts="lab[1-2]")
    cluster.wait(lambda: cluster.status()["lab1"]["state"] == "complete", "lab1 is complete")
    link.unlink()
    link.symlink_to(programs / "lab2" / "tool")
    cluster.slurm.client("scontrol", "update", "NodeName=lab2", "State=RESUME")
    cluster.wait_until_ended()
    code, judged = verdict(cluster, path)
    assert code == 0, judged
    assert "what was executed is not the same on all hosts" in " ".join(judged["cautions"])
