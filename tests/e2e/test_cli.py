from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_trial_from_end_to_end(lab):
    path = lab.write_campaign()
    done = lab.run_fairtrial("run", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""  # results only
    assert "done: 12 runs" not in done.stdout
    lab.assert_complete_once_each(planned=2 * 2 * 3)
    manifest = lab.manifest()
    assert manifest["status"] == "complete"
    assert manifest["finished"] > manifest["started"]
    assert (lab.trial() / "campaign.yaml").read_bytes() == path.read_bytes()
    assert f"fairtrial verdict runs/{lab.trial().name}" in done.stderr
    assert lab.left() == []
    for row in lab.read_rows():
        assert row["outcome"] == "ok"
        assert row["wall_ns"] > 0
        assert row["padding_bytes"] is not None


def test_dry_run_shows_the_plan_and_executes_nothing(lab):
    path = lab.write_campaign(
        benchmarks={"one": {"command": lab.sh("touch executed")}}, build=[["touch", "built"]]
    )
    done = lab.run_fairtrial("run", path, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "nothing was executed" in done.stdout
    assert "one / a" in done.stdout
    assert lab.trials() == []
    assert sorted(entry.name for entry in lab.folder.iterdir()) == ["c.yaml"]


def test_foreign_package_of_the_same_name_is_told(lab):
    (lab.folder / "analysis").mkdir()
    (lab.folder / "analysis" / "__init__.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-m", "harness", "doctor"],
        cwd=lab.folder,
        env=lab.environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "another package named 'analysis'" in done.stderr
    assert str(lab.folder / "analysis") in done.stderr
    # The installed command does not look into the current folder.
    assert lab.run_fairtrial("--version").returncode == 0


def test_paths_begin_at_the_campaign_and_runs_at_the_current_folder(lab):
    (lab.folder / "deep").mkdir()
    (lab.folder / "elsewhere").mkdir()
    path = lab.folder / "deep" / "c.yaml"
    lab.write_campaign(benchmarks={"one": {"command": lab.sh("pwd -P"), "stdout": "keep"}}).rename(
        path
    )
    done = lab.run_fairtrial("run", path, cwd=lab.folder / "elsewhere")
    assert done.returncode == 0, done.stderr
    (trial,) = (lab.folder / "elsewhere" / "runs").iterdir()
    said = {
        (trial / "outputs" / f"{row['position']:04d}.stdout").read_text()
        for row in lab.read_rows(trial)
    }
    assert said == {f"{(lab.folder / 'deep').resolve()}\n"}


def test_failed_runs_are_said_under_quiet_too(lab):
    # authority: exit code 1 and not a word was all that a night's log had of failed runs
    benchmarks = {"good": {"command": lab.sh(":")}, "bad": {"command": lab.sh("exit 3")}}
    protocol = {"sessions": 1, "runs": 2, "warmup": 1, "never_ok": "go_on"}
    path = lab.write_campaign(benchmarks=benchmarks, protocol=protocol)
    done = lab.run_fairtrial("run", path, "-q")
    assert done.returncode == 1
    line = " ".join(done.stderr.split())
    assert line.startswith("done: 12 runs (")
    assert line.endswith(", 4 failed, and 2 warm-ups (bad / a: 3 exit; bad / b: 3 exit)")
    trial = f"runs/{lab.trial().name}"
    told = lab.run_fairtrial("run", path, "--json", "-q")
    assert json.loads(told.stdout)["failed_cells"] == {"bad / a": 3, "bad / b": 3}
    again = lab.run_fairtrial("run", path, "-q", "--resume", "--trial", trial)
    assert again.returncode == 1
    said = " ".join(again.stderr.split())
    assert said.startswith("complete already: 12 of 12, 4 failed, and 2 warm-ups (bad / a: 3 ")


@pytest.mark.parametrize("mask", ["500", "200"])
def test_a_umask_that_takes_the_owners_rights_is_refused(lab, mask):
    path = lab.write_campaign()
    done = lab.run_fairtrial("run", path, umask=int(mask, 8))
    assert done.returncode == 5
    assert f"the umask {mask} takes the rights of new files from their owner" in done.stderr
    assert lab.trials() == []
    assert not (lab.folder / "runs").exists() or not any((lab.folder / "runs").iterdir())


TOLD = {"regex": "([0-9]+)", "unit": "B", "better": "lower"}
PADDED = '[ -n "${FAIRTRIAL_PADDING+x}" ] && echo ${#FAIRTRIAL_PADDING} || echo 0'


@pytest.mark.parametrize("padding", ["random", "off", 5000])
def test_each_target_sees_the_padding_of_its_row(lab, padding):
    # programs take turns, and their padding is one text that is cut in place
    command = lab.sh(PADDED)
    lab.write_campaign(
        benchmarks={
            "one": {"command": command, "metrics": {"told": TOLD}, "env": {"OWN": "x" * 100}},
            "two": {"command": command, "metrics": {"told": TOLD}},
        },
        protocol={"sessions": 2, "runs": 8 if padding == "random" else 2, "warmup": 1},
        isolation={"cpus": "none", "padding": padding},
    )
    lab.environment["FAIRTRIAL_PADDING"] = "of a fairtrial around this one"
    done = lab.run_fairtrial("run", "c.yaml", "-q")
    assert done.returncode == 0, done.stderr
    found = lab.read_rows()
    assert [row["metrics"]["told"] for row in found] == [[row["padding_bytes"]] for row in found]
    sizes = {row["padding_bytes"] for row in found}
    assert len(sizes) > 20 if padding == "random" else sizes == {0 if padding == "off" else 5000}
