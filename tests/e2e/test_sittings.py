"""Sittings of `fairtrial compare` on virtual times: killed, interrupted, gone on with, a command that is decided.

tests/unit/harness/trial/test_sitting.py holds their rules; their screens: tests/screens.
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
