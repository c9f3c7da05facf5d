"""What ``submit`` answers when Slurm has taken the jobs, or was not asked. Slurm is played."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.record.shapes import encode_checked
from harness.cli import main
from tests.unit.harness.commands.conftest import execute as say


@pytest.fixture
def submit(monkeypatch, tmp_path):
    """Go on with a fleet whose two hosts need jobs."""
    asked = []

    class Planned(SimpleNamespace):
        def execute(self, say):
            say("said")
            return Planned(**vars(self) | {"jobs": ("7", "8")})

        def to_dict(self):
            return {"jobs": list(self.jobs)}

        def __str__(self):
            return "the script"

    def planned(folder, time):
        asked.append((folder, time))
        return Planned(notes=("mind this",), hosts=("n1", "n2"), jobs=(), folder=tmp_path / "c-1")

    monkeypatch.setattr("harness.fleet.status.resubmission_of", planned)

    def execute(*words):
        out, err = io.StringIO(), io.StringIO()
        # what is planted here is no whole answer, which the schema would want
        code = main.__wrapped__(["submit", str(tmp_path), "--resume", *words], out, err)
        return code, out.getvalue(), err.getvalue()

    execute.asked = asked
    return execute


def test_who_has_submitted_is_told_how_to_follow(submit, tmp_path):
    place = tmp_path / "c-1"
    assert submit("--time", "20") == (
        0,
        "submitted 2 jobs: n1 (7), n2 (8)\n"
        f"follow: fairtrial status {place}\n"
        f"end:    fairtrial cancel {place}\n"
        f"then:   fairtrial verdict {place}\n",
        "note    mind this\nsaid\n",
    )
    assert submit.asked == [(tmp_path, "20")]


def test_a_dry_run_shows_what_would_be_submitted_and_submits_nothing(submit):
    assert submit("--dry-run") == (0, "the script\n", "note    mind this\n")
    code, out, _ = submit("--dry-run", "--json")
    assert (code, json.loads(out)) == (0, {"jobs": []})


def test_what_was_submitted_is_json_too(submit):
    code, out, err = submit("--json")
    assert (code, json.loads(out)) == (0, {"jobs": ["7", "8"]})
    assert err.endswith("said\n")


@pytest.mark.parametrize(
    "words",
    [
        ("--hosts", "n1"),
        ("--partition", "p"),
        ("--count", "2"),
        ("--seed", "0"),
        ("--build", "once"),
        ("--wait-for-lock",),
        ("--dir", "elsewhere"),
        ("--", "--mail-user=x"),
    ],
)
def test_a_fleet_is_gone_on_with_as_it_was_submitted(submit, words):
    code, _, err = submit(*words)
    assert code == 2
    option = "what stands after --" if words[0] == "--" else words[0]
    assert f"{option} does not go with --resume" in err
    assert submit.asked == []


# --- ``status``, a dry run and a fresh run survive any folder of trials: the attacks on 0.1.0, B4, B6, B14


SAMPLE = Path(__file__).parents[4] / "tests" / "data" / "sample-0.2.0"
CAMPAIGN = """\
name: sample
variants: {gzip-6: {level: 6}, gzip-1: {level: 1}}
benchmarks: {text: {command: ["true", "{level}"]}}
isolation: {cpus: none}
"""


@pytest.fixture
def runs(tmp_path):
    folder = tmp_path / "runs"
    shutil.copytree(SAMPLE, folder / "sample-1")
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN)
    return folder


def edited(path, **changes):
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(manifest | changes))


def with_row(path, **changes):
    edited(path, status="running", files={})
    file = path / "measurements.jsonl"
    first, *rest = file.read_bytes().splitlines(keepends=True)
    row = json.loads(first)
    del row["crc32"]
    file.write_bytes(encode_checked(row | changes) + b"\n" + b"".join(rest))


DAMAGES = {
    "switch": lambda path: edited(path, variants=True),
    "objects": lambda path: edited(path, benchmarks=[{}]),
    "number": lambda path: edited(path, files=5),
    "metric": lambda path: edited(path, metrics={"m": "x"}),
    "text": lambda path: edited(path, sessions="2"),
    "zero": lambda path: edited(path, sessions=0),
    "null": lambda path: edited(path, planned=None),
    "half": lambda path: edited(path, benchmarks=["\ud800"]),
    "endless": lambda path: edited(path, sessions=2**62, session_ends=[{"session": "x"}]),
    "path": lambda path: edited(path, campaign_path=5),
    "deep": lambda path: (path / "manifest.json").write_text("[" * 100_000),
    "digits": lambda path: (path / "manifest.json").write_text("9" * 5000),
    "bom": lambda path: (path / "manifest.json").write_bytes(b"\xef\xbb\xbf{}"),
    "folder": lambda path: ((path / "manifest.json").unlink(), (path / "manifest.json").mkdir()),
    "no manifest": lambda path: (path / "manifest.json").unlink(),
    "no rows": lambda path: (path / "measurements.jsonl").unlink(),
    "position": lambda path: with_row(path, position="x"),
    "benchmark": lambda path: with_row(path, benchmark=[]),
    "time": lambda path: with_row(path, wall_ns=2**200),
}


def test_damaged_trials_are_named_with_their_reasons_and_hide_no_other(runs):
    for name, damage in DAMAGES.items():
        damage(shutil.copytree(SAMPLE, runs / f"{name}-2"))
    code, out, err = say("status", "--dir", runs)
    assert (code, out.count("complete")) == (0, 1)
    assert [name for name in DAMAGES if str(runs / f"{name}-2") not in err] == []
    assert "Traceback" not in err
    code, out, err = say("run", runs.parent / "campaign.yaml", "--dir", runs, "--dry-run")
    assert (code, err) == (0, "")
    assert "nothing was executed" in out


@pytest.mark.parametrize("start", ["junk", "2026-11-21T08:43:55", "", None])
def test_a_start_that_is_no_time_is_a_time_between_runs_that_is_not_known(runs, start):
    with_row(runs / "sample-1", started_at=start)
    code, out, err = say("status", "--dir", runs)
    assert (code, err) == (0, "")
    assert "of 144" in out


@pytest.mark.powerless
@pytest.mark.usefixtures("unreadable_files")
def test_a_folder_of_trials_that_may_not_be_searched_is_a_clear_error(runs):
    runs.chmod(0)
    try:
        for args in (["status"], ["run", runs.parent / "campaign.yaml"]):
            code, _, err = say(*args, "--dir", runs / "x")
            assert code == 5
            assert "cannot be read: Permission denied" in err
        for args in (["init"], ["verdict"], ["bundle", "-o", runs.parent / "x.tar.zst"]):
            code, _, err = say(*args, runs / "x")
            assert code in {2, 5}, err
            assert "Traceback" not in err
    finally:
        runs.chmod(0o755)


def test_a_campaign_path_that_no_file_can_have(runs):
    # found by the drill that damages trials: a name that is too long was a traceback
    edited(runs / "sample-1", campaign_path="9" * 300, status="interrupted", planned=200)
    code, shown, _ = say("status", "--dir", runs)
    assert code == 0
    assert "once the campaign is put back" in shown


def test_a_killed_trial_without_a_stage_names_none(runs):
    edited(runs / "sample-1", status="running", files={})
    _, shown, _ = say("status", "--dir", runs)
    assert "killed  144 of 144\n" in shown
