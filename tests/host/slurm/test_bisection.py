"""A bisection as one job of a private Slurm: begun, cancelled, gone on with, and its answer.

Authority: the commit in which the cost was planted, and the sessions on the disk.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest

# prints its cost, with a part that differs from run to run
PROGRAM = "#!/bin/sh\necho cost {cost}.$(date +%N | cut -c1-3)\n"
COSTS = (100, 100, 100, 120, 120, 120)


def git(folder, *words):
    done = subprocess.run(
        ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )
    return done.stdout.strip()


@pytest.fixture
def project(cluster):
    """Make a repository of six commits, the fourth of which costs more; give its campaign and commits."""
    place = cluster.lab.folder / "project"
    place.mkdir()
    git(place, "init", "-q")
    metric = {"cost": {"regex": "cost (.+)", "unit": "s", "better": "lower"}}
    campaign = {
        "name": "app",
        "variants": {"tip": {}},
        "benchmarks": {"x": {"command": ["./app"], "metrics": metric}},
        "judge": "cost",
        "protocol": {"sessions": 1, "runs": 2, "warmup": 0},
        "isolation": {"cpus": "none"},
        "checks": {"probe": "0s"},
    }
    (place / "campaign.yaml").write_text(json.dumps(campaign))
    commits = []
    for number, cost in enumerate(COSTS):
        (place / "app").write_text(PROGRAM.format(cost=cost) + f": {number}\n")
        (place / "app").chmod(0o755)
        git(place, "add", "-A")
        git(place, "commit", "-q", "-m", f"commit {number}")
        commits.append(git(place, "rev-parse", "HEAD"))
    git(place, "tag", "good", commits[0])
    return place / "campaign.yaml", commits


def sessions(folder):
    path = folder / "lab2" / "sessions.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def test_a_bisection_is_one_job_that_is_gone_on_with(cluster, project):
    campaign, commits = project
    words = ("--bisect", "good", "HEAD", "--bisect-options", f"--work-dir {cluster.lab.folder}/w")
    path = cluster.submit(campaign, *words, hosts="lab2")
    assert cluster.fleet()["slurm"]["bisect"] == {"good": commits[0], "bad": commits[-1]}
    cluster.wait(lambda: len(sessions(path)) >= 2, "two sessions are measured")
    done = cluster.run("cancel", path)
    assert done.returncode == 0, done.stderr
    before = sessions(path)
    assert cluster.status()["lab2"]["state"] == "partial", cluster.log()
    done = cluster.run("submit", path, "--resume")
    assert done.returncode == 0, done.stderr
    cluster.wait_until_ended()
    host = cluster.status()["lab2"]
    assert host["state"] == "complete", cluster.log()
    found = json.loads((path / "lab2" / "bisect.json").read_text())
    assert [one["upto"] for one in found["culprits"]] == [commits[3]], cluster.log()
    assert sessions(path)[: len(before)] == before  # none is measured twice
    assert host["done"] == len(sessions(path))
    assert host["why"] == found["sentence"]
    text = " ".join(cluster.run("status", path).stdout.split())
    assert " ".join(found["sentence"].split()) in text
    again = cluster.run("submit", path, "--resume")
    assert "no host needs another job" in again.stdout


def test_a_commit_that_is_none_submits_nothing(cluster, project):
    campaign, _ = project
    words = ("--hosts", "lab2", "--time", "10", "--bisect", "nowhere", "HEAD")
    done = cluster.run("submit", campaign, *words)
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert not (cluster.lab.folder / "runs").exists()
    assert cluster.live() == []
