"""Going on with a trial on virtual times: after a kill, with more sessions, with drift and damage.

tests/unit/harness/trial (test_resumption, test_execution, test_never_ok) holds the rules.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def killed_once(make_lab, tmp_path_factory):
    """Kill a trial of 12 runs in its sixth: (its folder, a copy of that, the campaign)."""
    folder = tmp_path_factory.mktemp("killed") / "lab"
    lab = make_lab(folder)
    sixth = f"echo x >> n; [ $(wc -l < n) -ne 6 ] || {{ {lab.waiting}; }}"
    lab.script("tool", f"#!/bin/sh\n{sixth}\n")
    lab.hold()
    path = lab.write_campaign(benchmarks={n: {"command": ["./tool", lab.marker]} for n in "xy"})
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)
    process.kill()
    process.wait()
    lab.wait_until_all_gone()
    lab.release()
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    return folder, copy, path


@pytest.fixture
def killed(lab, killed_once):
    """Put the lab where a trial was killed with five runs done; give the campaign's path."""
    folder, copy, path = killed_once
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)
    lab.folder = folder
    return path


def drifts(lab):
    return [found["what"] for found in lab.findings() if found["check"] == "drift"]


def test_a_killed_trial_goes_on_where_it_was(lab, killed):
    before = lab.lines()
    assert len(before) == 5
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=12)
    assert lab.lines()[:5] == before
    repeated = [row for row in lab.read_rows() if row["position"] < 0]
    assert [row["position"] for row in repeated] == [-1, -2, -3, -4]
    assert all((row["segment"], row["warmup"], row["block"]) == (1, True, 0) for row in repeated)
    text = (lab.trial() / "environment.jsonl").read_text()
    environments = [json.loads(line) for line in text.splitlines()]
    assert [(e["session"], e["segment"]) for e in environments] == [(1, 0), (1, 1)]


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_nothing_to_resume(lab, more):
    done = lab.run_fairtrial("run", lab.write_campaign(), "--resume", *more)
    assert done.returncode == 2
    assert "there is no trial of campaign 'c' to resume" in done.stderr


def test_sessions_are_added_to_a_complete_trial_in_the_order_of_a_whole_one(lab):
    path = lab.write_campaign()
    assert lab.run_fairtrial("run", path).returncode == 0
    trial = lab.trial()
    before = {p: p.read_bytes() for p in trial.rglob("*") if p.is_file()}
    again = lab.run_fairtrial("run", path, "--resume")
    assert again.returncode == 0, again.stderr
    assert {p: p.read_bytes() for p in trial.rglob("*") if p.is_file()} == before
    for more in ("+1", "3"):
        done = lab.run_fairtrial("run", path, "--resume", "--sessions", more)
        assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=36)
    assert (
        b"".join(line + b"\n" for line in lab.lines()[:12]) == before[trial / "measurements.jsonl"]
    )
    assert [(one["first"], one["last"]) for one in lab.manifest()["appended"]] == [(2, 2), (3, 3)]
    whole = lab.run_fairtrial("run", path, "--sessions", "3", "--dir", "other")
    assert whole.returncode == 0, whole.stderr
    (second,) = (lab.folder / "other").iterdir()
    assert (second / "plan.jsonl").read_bytes() == (trial / "plan.jsonl").read_bytes()
    assert lab.run_fairtrial("run", path, "--sessions", "+1").returncode == 2
    for wrong in ("+0", "++1", "+x", "+"):
        assert lab.run_fairtrial("run", path, "--resume", "--sessions", wrong).returncode == 2


def test_sessions_are_added_to_those_of_an_unfinished_trial(lab):
    protocol = {"sessions": 2, "runs": 1, "warmup": 0}
    path = lab.write_campaign(protocol=protocol | {"max_time": "1ms"})
    assert lab.run_fairtrial("run", path).returncode == 1
    lab.write_campaign(protocol=protocol)
    done = lab.run_fairtrial("run", path, "--resume", "--sessions", "+1", "--accept-drift")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=12)
    assert lab.manifest()["appended"] == []


@pytest.mark.parametrize("changed", [False, True])
def test_a_campaign_that_gives_another_plan_is_to_be_put_back(lab, killed, changed):
    campaign = json.loads(killed.read_text())
    campaign["protocol"]["runs"] += changed
    killed.write_text(f"# a comment is no change\n{json.dumps(campaign)}")
    told = " ".join(lab.run_fairtrial("status", lab.trial()).stdout.split())
    assert ("once the campaign is as it was: " in told) == changed
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == (5 if changed else 0), done.stderr
    assert "--accept-drift" not in done.stderr


def test_other_programs_and_variables_are_refused_and_can_be_accepted(lab, killed):
    (lab.folder / "tool").write_text("#!/bin/sh\n# another program\n")
    campaign = json.loads(killed.read_text())
    campaign["benchmarks"]["x"]["env"] = {"NEW": "1"}
    killed.write_text("# a comment is no change\n" + json.dumps(campaign, indent=1))
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 5
    assert '"NEW": "1"' in done.stderr
    told = " ".join(done.stderr.replace("\\\n", " ").split())  # a long line is broken
    assert f"next fairtrial run {killed}" in told
    assert lab.manifest()["status"] == "running"  # as the kill left it
    accepted = lab.run_fairtrial("run", killed, "--resume", "--accept-drift")
    assert accepted.returncode == 0, accepted.stderr
    found = " ".join(drifts(lab))
    assert "/tool has changed: sha256" in found
    assert '"NEW": "1"' in found
    lab.assert_complete_once_each(planned=12)


# --- damage -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("plan.jsonl", lambda data: data.replace(b'"a"', b'"b"'), "the stored plan is not the one"),
        ("plan.jsonl", lambda data: b"\0\n" + data, "plan.jsonl:1: the line is no JSON"),
        (
            "environment.jsonl",
            lambda data: b"\0\n" + data,
            "environment.jsonl:1: the line is no JSON",
        ),
    ],
)
def test_damage_is_refused_with_its_place(lab, killed, name, damage, said):
    path = lab.trial() / name
    path.write_bytes(damage(path.read_bytes()))
    rows = lab.lines()
    done = lab.run_fairtrial("run", killed, "--resume", "--trial", lab.trial())
    assert done.returncode == 5
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert lab.lines() == rows


@pytest.mark.parametrize("name", ["measurements.jsonl", "environment.jsonl", "findings.jsonl"])
def test_a_torn_last_line_is_passed_over_and_told(lab, killed, name):
    path = lab.trial() / name
    path.write_bytes(path.read_bytes()[:-25])
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 0, done.stderr
    (torn,) = [found["where"] for found in lab.findings() if "torn" in found["what"]]
    assert torn.startswith(name)
    lab.assert_complete_once_each(planned=12)


# --- another version began -------------------------------------------------------------------


def test_a_trial_of_the_first_version_is_finished(lab):
    golden = ROOT / "tests/golden/schemas/1-unfinished"
    shutil.copytree(golden, lab.folder / "runs" / "unfinished-old")
    (lab.trial() / "outputs").mkdir()  # empty then: git keeps no empty folder
    shutil.copy(golden / "campaign.yaml", lab.folder)
    lab.script("tool", "#!/bin/sh\necho said 0.15\n")
    # another machine, and another program: neither can be that of then
    done = lab.run_fairtrial("run", "campaign.yaml", "--resume", "--accept-drift")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=36)
    assert any("tool" in what for what in drifts(lab))
    assert not any("the campaign has changed" in what for what in drifts(lab))
    old, new = json.loads((golden / "manifest.json").read_text()), lab.manifest()
    assert new["campaign_sha256"] == old["campaign_sha256"]
    assert (new["campaign_identity"], new["sessions"], new["status"]) == (1, 3, "complete")
    assert lab.lines()[:6] == (golden / "measurements.jsonl").read_bytes().splitlines()
