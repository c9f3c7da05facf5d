"""Trials put together by the installed command, and what other commands make of the result."""

from __future__ import annotations

import json
import shutil

import pytest

PROTOCOL = {"sessions": 1, "runs": 2, "warmup": 1}


@pytest.fixture(scope="module")
def measured(make_lab, tmp_path_factory):
    """Measure two trials of one campaign, of two sessions and one, with seeds of their own."""
    lab = make_lab(tmp_path_factory.mktemp("nights") / "lab")
    path = lab.write_campaign(protocol=PROTOCOL)
    for seed, sessions in ((1, 2), (2, 1)):
        done = lab.run_fairtrial("run", path, "--seed", seed, "--sessions", sessions, "-q")
        assert done.returncode == 0, done.stderr
    return lab


@pytest.fixture
def nights(lab, measured):
    """Give the campaign, and copies of its trials."""
    lab.marker = measured.marker  # a part of the commands
    lab.write_campaign(protocol=PROTOCOL)
    shutil.copytree(measured.folder / "runs", lab.folder / "runs")
    return sorted(lab.trials(), key=lambda trial: lab.manifest(trial)["started"])


def test_trials_are_put_together_and_judged(lab, nights):
    done = lab.run_fairtrial("merge", *reversed(nights), "-o", "runs/all")
    assert done.returncode == 0, done.stderr
    assert "2 trials, 3 sessions, 36 runs" in done.stdout
    whole = lab.folder / "runs" / "all"
    lab.assert_complete_once_each(whole, planned=36)
    assert [row["wall_ns"] for row in lab.read_rows(whole)] == [
        row["wall_ns"] for trial in nights for row in lab.read_rows(trial)
    ]
    verdict = lab.run_fairtrial("verdict", "runs/all", "--json")
    assert verdict.returncode == 0, verdict.stderr
    assert "merged" in json.loads(verdict.stdout)["caution_codes"]
    status = lab.run_fairtrial("status", "runs/all", "--json")
    assert [one["state"] for one in json.loads(status.stdout)] == ["complete"]
    assert "put together from c-" in lab.run_fairtrial("status", "runs/all").stdout
    between = lab.run_fairtrial("status", "--diff", "runs/all")
    assert between.returncode == 0, between.stderr


def test_a_merged_trial_cannot_be_resumed_and_is_passed_over(lab, nights):
    done = lab.run_fairtrial("merge", *nights, "-o", "runs/c-all", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [one["first"] for one in told["merged_from"]] == [1, 3]
    before = lab.lines(lab.folder / "runs/c-all")
    path = lab.folder / "c.yaml"
    args = ("run", path, "--resume", "--sessions", "+1", "--seed")
    refused = lab.run_fairtrial(*args, "1", "--trial", "runs/c-all")
    assert refused.returncode == 5
    assert "put together from others" in refused.stderr
    assert lab.lines(lab.folder / "runs/c-all") == before
    done = lab.run_fairtrial(*args, "2")  # the newest that was measured
    assert done.returncode == 0, done.stderr
    assert lab.manifest(nights[1])["sessions"] == 2


def test_another_campaign_and_another_program_are_refused(lab, nights):
    other = lab.write_campaign("other", protocol=PROTOCOL | {"runs": 1, "warmup": 0})
    assert lab.run_fairtrial("run", other, "-q").returncode == 0
    (third,) = set(lab.trials()) - set(nights)
    refused = lab.run_fairtrial("merge", nights[0], third, "-o", "runs/all")
    assert refused.returncode == 5
    assert "campaign_name is c and other" in refused.stderr
    again = lab.run_fairtrial("merge", nights[0], nights[0], "-o", "runs/all")
    assert again.returncode == 2
    assert not (lab.folder / "runs" / "all").exists()


def test_trials_of_several_hosts_become_a_fleet_that_is_judged(lab, nights):
    # the second one as if another machine had measured it
    manifest = lab.manifest(nights[1]) | {"host": "lab2", "host_id": "f" * 64}
    (nights[1] / "manifest.json").write_text(json.dumps(manifest))
    done = lab.run_fairtrial("merge", *nights, "-o", "runs/fleet")
    assert done.returncode == 0, done.stderr
    assert "a fleet of 2 hosts" in done.stdout
    told = lab.run_fairtrial("verdict", "runs/fleet", "--json")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert [one["state"] for one in found["hosts"]] == ["complete", "complete"]
    assert found["hosts"][1]["host"] == "lab2"
    assert all(one["done"] == one["planned"] for one in found["hosts"])
    assert found["candidates"][0]["multilevel"]["design"] == "hosts"
    (lab.folder / "runs/fleet/lab2/measurements.jsonl").unlink()
    text = lab.run_fairtrial("verdict", "runs/fleet")
    assert text.returncode == 0, text.stderr
    assert any("missing" in line and "lab2" in line for line in text.stdout.splitlines())
