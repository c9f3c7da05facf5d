from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]


def stopped_trial(lab, runs=2, **sections):
    """Make a trial that its cap stopped after five of its runs; give the campaign's path."""
    protocol = {"sessions": 1, "runs": runs, "warmup": 1, "max_runs": 5}
    path = lab.write_campaign(protocol=protocol, **sections)
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 1, done.stderr  # not every cell has a run that counts
    assert len(lab.read_rows()) == 5
    return path


@pytest.fixture(scope="module")
def killed_once(make_lab, tmp_path_factory):
    """Kill a trial of 12 runs in its sixth: (its folder, a copy of that, the marker)."""
    folder = tmp_path_factory.mktemp("killed") / "lab"
    lab = make_lab(folder)
    # The sixth run waits for the kill; "hold" is not there any more when the trial goes on.
    sixth = "echo x >> n; [ $(wc -l < n) -le 5 ] || {\n"
    tool = f"#!/bin/sh\n[ -e hold ] || exit 0\n{sixth} {lab.waiting}\n}}\n"
    lab.script("tool", tool)
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
    assert len(lab.read_rows()) == 5
    return path


def test_killed_trial_goes_on_where_it_was(lab, killed):
    before = lab.lines()
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=12)
    assert lab.lines()[:5] == before
    repeated = [row for row in lab.read_rows() if row["position"] < 0]
    assert [row["position"] for row in repeated] == [-1, -2, -3, -4]
    assert {row["segment"] for row in repeated} == {1}
    assert all(row["warmup"] and row["block"] == 0 for row in repeated)
    text = (lab.trial() / "environment.jsonl").read_text()
    environments = [json.loads(line) for line in text.splitlines()]
    assert [(e["session"], e["segment"]) for e in environments] == [(1, 0), (1, 1)]
    assert len(lab.trials()) == 1


def test_complete_trial_is_exit_0_and_untouched(lab):
    path = lab.write_campaign()
    assert lab.run_fairtrial("run", path).returncode == 0
    before = {p: p.read_bytes() for p in lab.trial().rglob("*") if p.is_file()}
    done = lab.run_fairtrial("run", path, "--resume")
    assert done.returncode == 0, done.stderr
    assert "complete already: 12 of 12. More: --sessions +4" in done.stderr
    assert {p: p.read_bytes() for p in lab.trial().rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_nothing_to_resume(lab, more):
    done = lab.run_fairtrial("run", lab.write_campaign(), "--resume", *more)
    assert done.returncode == 2
    assert "there is no trial of campaign 'c' to resume" in done.stderr


def test_sessions_can_be_appended(lab):
    path = lab.write_campaign()
    assert lab.run_fairtrial("run", path).returncode == 0
    before = lab.lines()
    done = lab.run_fairtrial("run", path, "--resume", "--sessions", "3")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=36)
    assert lab.lines()[:12] == before
    assert {row["session"] for row in lab.read_rows()} == {1, 2, 3}
    assert lab.manifest()["sessions"] == 3
    # The order of an appended session is the one that it would have had from the start.
    other = lab.folder / "other"
    other.mkdir()
    whole = lab.run_fairtrial("run", path, "--sessions", "3", "--dir", "other")
    assert whole.returncode == 0, whole.stderr
    (second,) = other.iterdir()
    assert (second / "plan.jsonl").read_bytes() == (lab.trial() / "plan.jsonl").read_bytes()


def test_sessions_are_added_to_those_that_are_planned(lab):
    path = lab.write_campaign(protocol={"sessions": 1, "runs": 1, "warmup": 0})
    assert lab.run_fairtrial("run", path).returncode == 0
    for sessions in (2, 3):  # as a timer would, night after night
        done = lab.run_fairtrial("run", path, "--resume", "--sessions", "+1", "-q")
        assert done.returncode == 0, done.stderr
        assert lab.manifest()["sessions"] == sessions
    lab.assert_complete_once_each(planned=12)
    assert [(one["first"], one["last"]) for one in lab.manifest()["appended"]] == [(2, 2), (3, 3)]
    refused = lab.run_fairtrial("run", path, "--sessions", "+1")
    assert refused.returncode == 2
    assert "add --resume, or write --sessions 1" in refused.stderr
    for wrong in ("+0", "++1", "+x", "+"):
        assert lab.run_fairtrial("run", path, "--resume", "--sessions", wrong).returncode == 2


def test_sessions_are_added_to_those_of_an_unfinished_trial(lab):
    path = lab.write_campaign(protocol={"sessions": 2, "runs": 1, "warmup": 0, "max_time": "1ms"})
    assert lab.run_fairtrial("run", path).returncode == 1
    path = lab.write_campaign(protocol={"sessions": 2, "runs": 1, "warmup": 0})
    done = lab.run_fairtrial("run", path, "--resume", "--sessions", "+1", "--accept-drift")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=12)
    assert lab.manifest()["appended"] == []


def test_capped_trial_stops_again_at_its_cap(lab):
    path = stopped_trial(lab)
    done = lab.run_fairtrial("run", path, "--resume")
    assert done.returncode == 1, done.stderr
    assert len([row for row in lab.read_rows() if row["position"] >= 0]) == 5


def test_changed_campaign_is_refused_with_a_diff(lab, killed):
    killed.write_text(killed.read_text().replace('"runs": 2', '"runs": 3'))
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 5
    assert "the campaign has changed" in done.stderr
    assert '-  "runs": 2' in done.stderr
    assert '+  "runs": 3' in done.stderr
    assert len(lab.read_rows()) == 5
    # Positions would not mean the same: that cannot be accepted either.
    again = lab.run_fairtrial("run", killed, "--resume", "--accept-drift")
    assert again.returncode == 5
    assert "the stored plan is not the one" in again.stderr


def test_other_spelling_of_the_same_campaign_is_no_change(lab, killed):
    killed.write_text("# a comment\n" + killed.read_text().replace('"2"', "2"))
    assert lab.run_fairtrial("run", killed, "--resume").returncode == 0
    lab.assert_complete_once_each(planned=12)


def test_accepted_change_of_the_campaign_is_recorded(lab, killed):
    campaign = json.loads(killed.read_text())
    campaign["benchmarks"]["x"]["env"] = {"NEW": "1"}
    killed.write_text(json.dumps(campaign, indent=1))
    assert lab.run_fairtrial("run", killed, "--resume").returncode == 5
    done = lab.run_fairtrial("run", killed, "--resume", "--accept-drift")
    assert done.returncode == 0, done.stderr
    (finding,) = [found for found in lab.findings() if found["check"] == "drift"]
    assert (finding["when"], finding["status"]) == ("resume", "warn")
    assert '"NEW": "1"' in finding["what"]


def test_changed_target_is_refused_and_can_be_accepted(lab, killed):
    (lab.folder / "tool").write_text("#!/bin/sh\n# another program\n")
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 5
    assert done.stderr.startswith("fairtrial: not resumed: the program")
    assert "/tool has changed: sha256" in " ".join(done.stderr.split())
    again = done.stderr[done.stderr.rindex("next  ") :]
    # beside it, where its folder leaves room
    assert again.splitlines()[0].removesuffix("    a new trial") == f"next  fairtrial run {killed}"
    assert "--accept-drift" in done.stderr
    assert lab.manifest()["status"] == "running"  # as the kill left it
    accepted = lab.run_fairtrial("run", killed, "--resume", "--accept-drift")
    assert accepted.returncode == 0, accepted.stderr
    drifts = [found["what"] for found in lab.findings() if found["check"] == "drift"]
    assert any("/tool has changed: sha256" in what for what in drifts)
    lab.assert_complete_once_each(planned=12)


@pytest.mark.parametrize("field", ["host_id", "cpu_model"])
def test_changed_host_is_refused_and_can_be_accepted(lab, killed, field):
    manifest = lab.manifest()
    manifest[field] = "another one"
    (lab.trial() / "manifest.json").write_text(json.dumps(manifest))
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 5
    assert ("the host has changed" if field == "host_id" else "the processor") in done.stderr
    accepted = lab.run_fairtrial("run", killed, "--resume", "--accept-drift")
    assert accepted.returncode == 0, accepted.stderr
    (finding,) = [found for found in lab.findings() if found["check"] == "drift"]
    assert "another one" in finding["where"]


def test_build_is_not_repeated_when_the_targets_are_the_same(lab, killed):
    build = "echo built >> builds; printf '#!/bin/sh\\n' > {variant}.sh; chmod +x {variant}.sh"
    path = lab.write_campaign(
        "d",
        build=[{"shell": build}],
        benchmarks={"one": {"command": ["./{variant}.sh"]}},
        protocol={"sessions": 1, "runs": 1, "warmup": 0},
    )
    assert lab.run_fairtrial("run", path).returncode == 0
    assert lab.run_fairtrial("run", path, "--resume", "--sessions", "2").returncode == 0
    assert (lab.folder / "builds").read_text() == "built\n" * 2  # once for each variant
    (lab.folder / "a.sh").unlink()
    assert lab.run_fairtrial("run", path, "--resume", "--sessions", "3").returncode == 0
    assert (lab.folder / "builds").read_text() == "built\n" * 3  # only the one that is missing


# --- damage -----------------------------------------------------------------------------------


def test_torn_last_line_is_measured_again(lab, killed):
    path = lab.trial() / "measurements.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    assert "4 of 12" in lab.run_fairtrial("status").stdout
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=12)
    assert any("torn" in finding["what"] for finding in lab.findings())


def test_edited_line_is_refused(lab, killed):
    path = lab.trial() / "measurements.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b'"outcome":"ok"', b'"outcome":"OK"')
    path.write_bytes(b"".join(lines))
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 5
    assert "measurements.jsonl:2: the line does not have its checksum" in done.stderr
    assert path.read_bytes() == b"".join(lines)
    assert lab.run_fairtrial("verdict", lab.trial()).returncode == 5


def test_position_that_stands_there_twice_is_refused(lab, killed):
    path = lab.trial() / "measurements.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[0]]))
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 5
    assert "is there twice" in done.stderr


def test_newer_schema_is_refused(lab, killed):
    manifest = lab.manifest() | {"schema": 3}
    (lab.trial() / "manifest.json").write_text(json.dumps(manifest))
    for args in (
        ("run", killed, "--resume", "--trial", lab.trial()),
        ("status", lab.trial()),
        ("verdict", lab.trial()),
    ):
        done = lab.run_fairtrial(*args)
        assert done.returncode == 5, args
        assert "schema 3, newer than 2" in done.stderr


def test_edited_plan_is_refused(lab, killed):
    path = lab.trial() / "plan.jsonl"
    path.write_text(path.read_text().replace('"variant":"a"', '"variant":"b"'))
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 5
    assert "the stored plan is not the one" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["plan.jsonl", "environment.jsonl", "findings.jsonl"])
def test_torn_line_of_another_file_is_no_crash(lab, killed, name):
    path = lab.trial() / name
    path.write_bytes(path.read_bytes()[:-25])
    done = lab.run_fairtrial("run", killed, "--resume")
    if name == "plan.jsonl":  # its session has begun: that plan was on the disk as a whole
        assert done.returncode == 5
        assert "the stored plan is not the one" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    torn = [found["where"] for found in lab.findings() if "torn" in found["what"]]
    assert len(torn) == 1
    assert torn[0].startswith(name)
    lab.assert_complete_once_each(planned=12)


@pytest.mark.parametrize("name", ["plan.jsonl", "environment.jsonl"])
def test_damaged_line_of_another_file_is_named(lab, killed, name):
    path = lab.trial() / name
    path.write_bytes(b"\0\0\0\n" + path.read_bytes())
    done = lab.run_fairtrial("run", killed, "--resume")
    assert done.returncode == 5
    assert f"{name}:1: the line is no JSON" in done.stderr


# --- another version of fairtrial goes on ------------------------------------------------------


# Executes several command lines, one after the other, in one process: a start costs more than they do.
SEVERAL = """
import io, json, sys
from harness.cli import main
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    print(json.dumps([main(words, out, err), out.getvalue(), err.getvalue()]))
"""


@pytest.fixture(scope="module")
def other_version(tmp_path_factory):
    """Give what executes command lines of a version whose defaults are others."""
    tree = tmp_path_factory.mktemp("other-version")
    for half in ("harness", "analysis"):
        shutil.copytree(ROOT / half, tree / half, ignore=shutil.ignore_patterns("__pycache__"))
    model = tree / "harness/campaign/model.py"
    text = model.read_text()
    for old, new in (
        ("sessions: int = 6", "sessions: int = 5"),
        ("warmup: int = 1", "warmup: int = 2"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    model.write_text(text)

    def execute(lab, *lines):
        done = subprocess.run(
            [sys.executable, "-P", "-c", SEVERAL, json.dumps([[*map(str, one)] for one in lines])],
            cwd=lab.folder,
            env={**lab.environment, "PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stderr
        return [Told(*json.loads(line)) for line in done.stdout.splitlines()]

    return execute


class Told(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def test_changed_defaults_change_no_trial_under_way(lab, other_version):
    # the cap stops it in its first session, of six by default, each with one warm-up
    path = lab.write_campaign(protocol={"runs": 2, "max_runs": 5})
    assert lab.run_fairtrial("run", path).returncode == 1
    assert (lab.manifest()["sessions"], lab.manifest()["planned"]) == (6, 72)
    status = lab.run_fairtrial("status", lab.trial(), "--json").stdout
    fresh, its_status, shown, done = other_version(
        lab,
        ("run", path, "--dry-run", "--json"),
        ("status", lab.trial(), "--json"),
        ("run", path, "--resume", "--dry-run", "--json"),
        ("run", path, "--resume"),
    )
    found = json.loads(fresh.stdout)
    assert (found["sessions"], found["planned"]) == (5, 80)
    assert its_status.stdout == status
    assert shown.returncode == 0, shown.stderr
    assert [json.loads(shown.stdout)[key] for key in ("sessions", "planned")] == [6, 72]
    assert json.loads(shown.stdout)["campaign_sha256"] == lab.manifest()["campaign_sha256"]
    assert done.returncode == 1, done.stderr
    assert "stopped after 5 of 72 runs" in done.stderr
    (lab.folder / "c.yaml").write_text(path.read_text().replace('"max_runs": 5', '"max_runs": 99'))
    done, verdict = other_version(
        lab, ("run", path, "--resume", "--accept-drift"), ("verdict", lab.trial(), "--json")
    )
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=72)
    assert verdict.stdout == lab.run_fairtrial("verdict", lab.trial(), "--json").stdout


@pytest.mark.parametrize("version", ["this", "other"])
def test_a_trial_of_the_first_version_is_finished(lab, other_version, version):
    golden = ROOT / "tests/golden/schemas/1-unfinished"
    shutil.copytree(golden, lab.folder / "runs" / "unfinished-old")
    (lab.trial() / "outputs").mkdir()  # empty then: git keeps no empty folder
    shutil.copy(golden / "campaign.yaml", lab.folder)
    lab.script("tool", "#!/bin/sh\necho said 0.15\n")
    # another machine, and another program: neither can be that of then
    args = ("run", "campaign.yaml", "--resume", "--accept-drift")
    done = lab.run_fairtrial(*args) if version == "this" else other_version(lab, args)[0]
    assert done.returncode == 0, done.stderr
    lab.assert_complete_once_each(planned=36)
    drifts = [found["what"] for found in lab.findings() if found["check"] == "drift"]
    assert any("tool" in what for what in drifts)
    assert not any("the campaign has changed" in what for what in drifts)
    old, new = json.loads((golden / "manifest.json").read_text()), lab.manifest()
    assert new["campaign_sha256"] == old["campaign_sha256"]
    assert (new["campaign_identity"], new["sessions"], new["status"]) == (1, 3, "complete")
    assert lab.lines()[:6] == (golden / "measurements.jsonl").read_bytes().splitlines()


def test_a_killed_trial_leaves_out_the_same_cell_when_it_goes_on(lab):
    # authority: the same trial that nobody killed
    benchmarks = {
        "one": {"command": lab.sh('test "$VARIANT" = a || { echo no server >&2; exit 3; }')},
        "two": {"command": lab.sh(lab.waiting)},
    }
    path = lab.write_campaign(
        variants={"a": {"env": {"VARIANT": "a"}}, "b": {"env": {"VARIANT": "b"}}},
        benchmarks=benchmarks,
        protocol={"sessions": 2, "runs": 2, "warmup": 1, "order": "interleaved"},
    )
    lab.hold()
    process = lab.start_fairtrial("run", path)
    lab.wait_until_reached(process)  # behind the warm-ups of the first benchmark
    process.send_signal(signal.SIGKILL)
    lab.ended(process)
    lab.release()
    assert [row["outcome"] for row in lab.read_rows()] == ["ok", "exit"]
    done = lab.run_fairtrial("run", path, "--resume")
    assert done.returncode == 1
    assert "left out: one / b (no warm-up of session 1 was ok" in " ".join(done.stderr.split())
    assert "no server" in done.stderr
    killed = lab.trial()
    assert lab.manifest(killed)["status"] == "complete"
    whole = lab.run_fairtrial("run", path)
    assert whole.returncode == 1

    def kept(trial):
        rows = [row for row in lab.read_rows(trial) if row["position"] >= 0]
        given_up = lab.manifest(trial)["given_up"]
        return sorted((row["position"], row["outcome"]) for row in rows), given_up

    (other,) = set(lab.trials()) - {killed}
    assert kept(killed) == kept(other)
    assert len(kept(other)[0]) == 19  # 24 were planned, and one / b has one
