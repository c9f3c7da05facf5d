"""A fleet where there is no Slurm: a laptop that got the folder, a login node without its module.

Authority: the exit codes of the contract, and the rows on the disk.
"""

from __future__ import annotations

import json
import shutil

import pytest

from tests.unit.harness.fleet.conftest import SLURM

BENCHMARKS = {"one": {"command": ["/bin/true"]}}


@pytest.fixture(scope="module")
def trial(make_lab, tmp_path_factory, shared):
    """Measure a trial."""
    lab = make_lab(tmp_path_factory.mktemp("measured") / "lab")
    lab.environment["PATH"] = "/nonexistent"
    assert lab.run_fairtrial("run", lab.write_campaign(benchmarks=BENCHMARKS)).returncode == 0
    with shared(lab.trial()):
        yield lab.trial()


@pytest.fixture
def fleet(lab, trial):
    """Lay a copy of the trial down as that of one of two hosts of a submitted fleet."""
    lab.environment["PATH"] = "/nonexistent"
    campaign = lab.write_campaign(benchmarks=BENCHMARKS)
    path = lab.folder / "fleet"
    path.mkdir()
    shutil.copytree(trial, path / "lab1")
    record = {
        "schema": 1,
        "campaign": "c",
        "identity": lab.manifest(trial)["campaign_sha256"],
        "submitted_at": "2026-11-22T10:15:00Z",
        "script": "job.sh",
        "hosts": [
            {"host": "lab1", "jobs": ["7"], "trial": "lab1"},
            {"host": "lab2", "jobs": ["8"], "trial": "lab2"},
        ],
        "slurm": SLURM | {"campaign": str(campaign)},
    }
    (path / "fleet.json").write_text(json.dumps(record))
    return path


def test_status_tells_what_is_measured_and_why_not_more(lab, fleet):
    done = lab.run_fairtrial("status", fleet, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "'squeue' is not on this host" in answer["problem"]
    states = {host["host"]: host["state"] for host in answer["hosts"]}
    assert states == {"lab1": "complete", "lab2": "missing"}
    text = lab.run_fairtrial("status", fleet).stdout
    assert "the queue is unknown" in text
    assert "no longer in the queue" not in text  # nobody knows
    assert "next" not in text  # what needs Slurm does not go on from here
    assert any("lab2" in line and "missing" in line for line in text.splitlines())
    listed = lab.run_fairtrial("status", "--dir", lab.folder).stdout
    assert "missing" in listed
    assert "no longer in the queue" not in listed  # nobody was asked


@pytest.mark.parametrize(
    "words",
    [("submit", "c.yaml", "--hosts", "lab1"), ("submit", "fleet", "--resume"), ("cancel", "fleet")],
)
def test_what_needs_slurm_says_that_it_is_not_there(lab, fleet, words):
    done = lab.run_fairtrial(*words)
    assert done.returncode == 3, done.stderr
    assert "is not on this host" in done.stderr
    assert "login node" in done.stderr
    assert not (fleet / "cancelled").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("submit", "fleet", "--hosts", "lab1"), "this is a fleet, and no campaign"),
        (("run", "c.yaml", "--resume", "--trial", "fleet"), "this is a fleet, not a trial"),
        (("run", "c.yaml", "--resume", "--trial", "fleet/lab3"), "no host whose trial is 'lab3'"),
        (("submit", "fleet", "--resume", "--count", "2"), "--count does not go with --resume"),
    ],
)
def test_what_cannot_stand_together_is_refused(lab, fleet, words, said):
    done = lab.run_fairtrial(*words)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr


def test_a_node_measures_its_trial_by_hand(lab, fleet):
    again = lab.run_fairtrial("run", "c.yaml", "--resume", "--trial", "fleet/lab2")
    assert again.returncode == 0, again.stderr
    assert lab.manifest(fleet / "lab2")["node"] == "lab2"
    wrong = lab.environment | {"SLURMD_NODENAME": "lab1"}
    lab.environment = wrong
    refused = lab.run_fairtrial("run", "c.yaml", "--resume", "--trial", "fleet/lab2")
    assert refused.returncode == 3
    assert "this is node lab1" in refused.stderr
