"""Sittings of `fairtrial compare` on virtual times: decided, killed, interrupted, gone on with, refused.

The authority is docs/trial-format.md on trials whose sessions are planned when they begin, and the exit
codes of `fairtrial help exit-codes`.
"""

from __future__ import annotations

import json

import pytest

ALONE = ("--cpus", "none", "-q")


@pytest.fixture
def taking(lab):
    """Make a program that takes so many seconds of virtual time."""

    def make(name, seconds, *, first=":"):
        lab.script(name, f"#!/bin/sh\n{first}\necho takes {seconds} s\n")
        return f"./{name}"

    return make


@pytest.fixture
def held(lab, taking):
    """Start a comparison that waits in the tenth execution of its first command; give its process."""
    lab.hold()
    here = f"echo x >> n; [ $(wc -l < n) -ne 10 ] || {{ {lab.waiting}; }}"
    one, two = taking("one", 0.03, first=here), taking("two", 0.0301)
    process = lab.start_fairtrial("compare", one, two, *ALONE, "--for", "60s")
    lab.wait_until_reached(process)
    return process


def sessions_of(lab, variant):
    return [row["session"] for row in lab.read_rows() if row["variant"] == variant]


def lines(lab, name):
    return [json.loads(line) for line in (lab.trial() / name).read_text().splitlines()]


def test_a_clear_difference_is_decided_and_the_verdict_has_its_numbers(lab, taking):
    slow, fast = taking("slow", 0.06), taking("fast", 0.01)
    done = lab.run_fairtrial("compare", slow, fast, *ALONE, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["stopped_because"] == "decided"
    manifest = lab.manifest()
    assert (manifest["status"], manifest["looks_plan"]["stopped_because"]) == (
        "complete",
        "decided",
    )
    lab.assert_complete_once_each()
    (record,) = lines(lab, "environment.jsonl")
    assert record["sessions"] == [1, manifest["sessions"]]
    verdict = json.loads(lab.run_fairtrial("verdict", lab.trial(), "--json").stdout)
    told, judged = (one["candidates"][0]["multilevel"]["benchmarks"][0] for one in (said, verdict))
    for key in ("speedup", "low", "high", "outcome"):
        assert told[key] == judged[key]


def test_a_killed_comparison_goes_on_and_no_run_is_lost(lab, held):
    held.kill()
    held.wait(60)
    lab.release()
    kept = lab.lines()
    assert lab.manifest()["status"] == "running"
    assert "killed" in lab.run_fairtrial("status").stdout
    again = lab.run_fairtrial("compare", f"--resume={lab.trial()}", "--for", "1s", "-q")
    assert again.returncode == 0, again.stderr
    assert lab.lines()[: len(kept)] == kept
    lab.assert_complete_once_each()
    first, second = lines(lab, "environment.jsonl")
    assert first["sessions"][0] == 1
    assert second["sessions"] == [second["session"], lab.manifest()["sessions"]]
    assert lab.run_fairtrial("verdict", lab.trial()).returncode == 0


def test_ctrl_c_keeps_what_is_there_and_it_goes_on_in_the_same_list(lab, held):
    held.send_signal(2)
    code, _ = lab.ended(held)
    assert code == 130
    lab.release()
    kept, manifest = lab.lines(), lab.manifest()
    assert (manifest["status"], manifest["looks_plan"]["stopped_because"]) == (
        "interrupted",
        "interrupted",
    )
    again = lab.run_fairtrial("compare", "--resume", "--for", "1s", "-q")
    assert again.returncode == 0, again.stderr
    assert lab.lines()[: len(kept)] == kept
    lab.assert_complete_once_each()
    assert len(lab.manifest()["looks_plan"]["looks"]) == len(manifest["looks_plan"]["looks"])


def test_a_command_that_is_decided_is_executed_no_more(lab, taking):
    base, same, slow = taking("base", 0.01), taking("same", 0.0101), taking("slow", 0.12)
    done = lab.run_fairtrial("compare", base, same, slow, *ALONE, "--for", "8s")
    assert done.returncode == 0, done.stderr
    manifest = lab.manifest()
    left = manifest["looks_plan"]["left"]
    (name,) = left
    assert name == manifest["variants"][2]
    assert max(sessions_of(lab, name)) == left[name] < manifest["sessions"]
    lab.assert_complete_once_each()
    for command in (
        ["verdict"],
        ["status"],
        ["report", "--format", "md"],
        ["gate", "slower>9900%"],
    ):
        assert lab.run_fairtrial(*command, lab.trial()).returncode == 0, command


def test_a_number_of_runs_is_measured_whole_and_not_added_to(lab, taking):
    one, two = taking("one", 0.001), taking("two", 0.05)
    done = lab.run_fairtrial("compare", one, two, *ALONE, "-r", "8")
    assert done.returncode == 0, done.stderr
    manifest = lab.manifest()
    assert (manifest["sessions"], manifest["runs"]) == (6, 2)
    assert manifest["looks_plan"]["stopped_because"] == "runs"
    refused = lab.run_fairtrial("compare", "--resume", "-q")
    assert refused.returncode == 5
    assert "spent its whole risk" in refused.stderr
    for more in (["compare", "--resume"], ["run", lab.trial() / "campaign.yaml", "--resume"]):
        assert lab.run_fairtrial(*more).returncode == 5


def test_run_does_not_add_to_a_comparison(lab, taking):
    one, two = taking("one", 0.05), taking("two", 0.001)
    lab.run_fairtrial("compare", one, two, *ALONE)
    trial = lab.trial()
    before = (trial / "manifest.json").read_bytes()
    refused = lab.run_fairtrial(
        "run", trial / "campaign.yaml", "--resume", "--sessions", "+3", "--trial", trial
    )
    assert refused.returncode == 5
    assert f"fairtrial compare --resume {trial}" in refused.stderr
    assert (trial / "manifest.json").read_bytes() == before


def test_the_first_three_runs_of_a_command_that_fail_end_it(lab, taking):
    good = taking("good", 0.03)
    tries = lab.folder / "tries"
    bad = taking("bad", 0.03, first=f"echo x >> {tries}; [ $(wc -l < {tries}) -lt 3 ] || exit 3")
    done = lab.run_fairtrial("compare", good, bad, *ALONE)
    assert done.returncode == 1, done.stderr
    manifest = lab.manifest()
    assert (manifest["status"], manifest["looks_plan"]["stopped_because"]) == (
        "stopped",
        "failures",
    )
    failed = [row for row in lab.read_rows() if row["outcome"] != "ok"]
    assert [row["variant"] for row in failed] == ["bad"] * 3
    assert failed[-1] == lab.read_rows()[-1]


def test_another_program_is_refused(lab, taking):
    one, two = taking("one", 0.03), taking("two", 0.0301)
    lab.run_fairtrial("compare", one, two, *ALONE, "--for", "0.5s")
    taking("two", 0.0302)
    refused = lab.run_fairtrial("compare", "--resume", "--for", "0.5s", "-q")
    assert refused.returncode == 5
    assert "has changed" in " ".join(refused.stderr.split())
    assert "--accept-drift" not in refused.stderr
    assert "next  fairtrial compare " in refused.stderr
    assert lab.manifest()["status"] == "complete"
