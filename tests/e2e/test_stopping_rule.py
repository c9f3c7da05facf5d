"""Campaigns with a stopping rule, on virtual times."""

from __future__ import annotations

import json

import pytest

from analysis.record.trial_files import StopRule
from harness.campaign.resolve import load_campaign
from harness.trial.progress import read_progress
from harness.trial.stopping import SessionStop, stored_runs

CELLS = 4


def ends(lab):
    return lab.manifest()["session_ends"]


def counted(lab, session=1):
    return [r for r in lab.read_rows() if r["session"] == session and not r["warmup"]]


def replayed(lab, path, session=1):
    """Decide anew from the stored rows, block by block: the first end that is found."""
    campaign = load_campaign(path)
    stop = SessionStop(campaign.protocol.stop, campaign, session)
    for row in stored_runs(lab.trial())[session]:
        assert stop.end() is None
        stop.add(row)
    return stop.end().to_dict()


@pytest.fixture(scope="module")
def stopped_once(make_lab, tmp_path_factory):
    """Execute two sessions that end at their least number of runs."""
    lab = make_lab(tmp_path_factory.mktemp("stopped") / "lab")
    rule = {"width": 9, "min_runs": 3, "max_runs": 40}
    path = lab.write_campaign(protocol={"sessions": 2, "stop": rule})
    return lab, path, lab.run_fairtrial("run", path)


def test_a_steady_program_ends_at_min_runs_and_the_trial_is_complete(stopped_once):
    lab, path, done = stopped_once
    assert done.returncode == 0, done.stderr
    manifest = lab.manifest()
    assert (manifest["status"], manifest["runs"], manifest["planned"]) == ("complete", 40, 328)
    assert [(e["session"], e["runs"], e["why"]) for e in ends(lab)] == [
        (1, 3, "width"),
        (2, 3, "width"),
    ]
    said = " ".join(done.stderr.split())
    assert "3 to 40 runs x 2 sessions = at most 328 runs (8 warm-up)" in said
    text = ends(lab)[0]["text"]
    assert text.endswith("<= 9 within this session, after 3 runs a cell")
    assert f"session 1: {text}" in done.stderr
    assert "done: 32 runs" in done.stderr + done.stdout
    assert len(counted(lab, 1)) == len(counted(lab, 2)) == 3 * CELLS
    found = [f for f in lab.findings() if f["check"] == "stop"]
    assert [(f["session"], f["status"], f["what"]) for f in found] == [
        (e["session"], "ok", e["text"]) for e in ends(lab)
    ]
    assert ends(lab)[0] == replayed(lab, path)
    assert len((lab.trial() / "plan.jsonl").read_text().splitlines()) == 2 * CELLS * 41


def test_status_and_verdict_take_it_as_whole(stopped_once):
    lab, _, _ = stopped_once
    status = lab.run_fairtrial("status", lab.trial()).stdout
    assert "complete" in status
    assert "32 of 32 runs (8 warm-up), started" in status
    assert ends(lab)[0]["text"] in status
    verdict = lab.run_fairtrial("verdict", lab.trial(), "--json")
    assert verdict.returncode == 0, verdict.stderr
    cautions = json.loads(verdict.stdout)["cautions"]
    assert not any("planned runs are there" in text for text in cautions)
    assert sum("sequential" in text for text in cautions) == 1


def test_resuming_a_complete_trial_changes_nothing(stopped_once):
    lab, path, _ = stopped_once
    before = {p: p.read_bytes() for p in lab.trial().rglob("*") if p.is_file()}
    done = lab.run_fairtrial("run", path, "--resume")
    assert done.returncode == 0, done.stderr
    assert {p: p.read_bytes() for p in lab.trial().rglob("*") if p.is_file()} == before


def test_a_cap_of_the_whole_trial_is_no_end_of_a_session(lab):
    rule = {"width": 9, "min_runs": 3, "max_runs": 4}
    path = lab.write_campaign(protocol={"sessions": 2, "max_runs": 10, "stop": rule})
    assert lab.run_fairtrial("run", path).returncode == 1  # nothing of the second session
    assert (lab.manifest()["status"], ends(lab)) == ("stopped", [])
    assert "10 of at most 40 runs" in str(read_progress(lab.trial()))
    # Another width may be accepted: what is left then goes by that.
    lab.write_campaign(protocol={"sessions": 2, "stop": rule | {"width": 1e-9}})
    assert lab.run_fairtrial("run", path, "--resume").returncode == 5
    done = lab.run_fairtrial("run", path, "--resume", "--accept-drift")
    assert done.returncode == 0, done.stderr
    assert lab.manifest()["stop"]["width"] == 1e-9
    assert [end["why"] for end in ends(lab)] == ["max_runs", "max_runs"]
    lab.assert_complete_once_each(planned=40)


# --- killed and resumed -----------------------------------------------------------------------


def test_a_killed_session_ends_where_it_would_have_ended(lab):
    # Every other run is longer; the twelfth waits for the kill, in the middle of a block.
    lab.script(
        "tool",
        f"#!/bin/sh\necho x >> n; n=$(wc -l < n)\n[ $n -ne 12 ] || {{ {lab.waiting}\n}}\n"
        "echo takes 0.0$((n % 3 + 1)) s\n",
    )
    lab.hold()
    path = lab.write_campaign(
        benchmarks={n: {"command": ["./tool", lab.marker]} for n in "xy"},
        protocol={"sessions": 1, "stop": {"width": 0.6, "min_runs": 5, "max_runs": 12}},
    )
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    process.kill()
    process.wait()
    lab.wait_until_all_gone()
    lab.release()
    assert ends(lab) == []
    assert "at most" in str(read_progress(lab.trial()))
    done = lab.run_fairtrial("run", path, "--resume")
    assert done.returncode == 0, done.stderr
    (end,) = ends(lab)
    assert end == replayed(lab, path)
    assert end["runs"] >= 5
    rows = counted(lab)
    assert len(rows) == end["runs"] * CELLS
    assert len({row["position"] for row in rows}) == len(rows)
    assert {row["segment"] for row in rows} == {0, 1}


def test_a_kill_between_the_last_run_and_the_record_loses_no_decision(lab):
    rule = {"width": 9, "min_runs": 3, "max_runs": 40}
    path = lab.write_campaign(protocol={"sessions": 2, "stop": rule})
    assert lab.run_fairtrial("run", path).returncode == 0
    manifest, before = lab.manifest(), lab.lines()
    assert manifest["stop"] == StopRule(width=9.0, min_runs=3, max_runs=40).to_dict()
    killed = manifest | {"status": "running", "files": {}, "finished": None}
    killed["session_ends"] = manifest["session_ends"][:1]
    (lab.trial() / "manifest.json").write_text(json.dumps(killed))
    done = lab.run_fairtrial("run", path, "--resume")
    assert done.returncode == 0, done.stderr
    assert lab.lines() == before
    assert ends(lab) == manifest["session_ends"]
    assert lab.manifest()["status"] == "complete"
    # A session more goes by the rule too; those that have ended stay as they are.
    more = lab.run_fairtrial("run", path, "--resume", "--sessions", "3")
    assert more.returncode == 0, more.stderr
    assert ends(lab)[:2] == manifest["session_ends"]
    assert ends(lab)[2]["session"] == 3
    assert lab.lines()[: len(before)] == before
    assert {row["session"] for row in lab.read_rows()[len(before) :]} == {3}
