"""Files and rows of a trial that has ended, held against its manifest. Authority: the damage that is done."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from harness.trial.progress import read_progress

SAMPLE = Path(__file__).resolve().parents[4] / "tests" / "data" / "sample-0.2.0"


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, tmp_path / "t"))


def cut(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:30]))


def test_a_whole_trial_fits_and_is_not_gone_on_with(trial: Path) -> None:
    found = read_progress(trial)
    assert (found.state, found.misfits, found.again, found.way_on) == ("complete", (), "", "")
    assert "damaged" not in str(found)


def test_files_that_changed_or_are_gone_are_named(trial: Path) -> None:
    (trial / "plan.jsonl").unlink()
    (trial / "environment.jsonl").write_bytes(b"{}\n")
    shutil.rmtree(trial / "outputs", ignore_errors=True)  # evidence, no data
    found = read_progress(trial)
    assert set(found.misfits) == {
        "plan.jsonl is gone",
        "environment.jsonl changed after the trial ended",
    }
    assert "  damaged: plan.jsonl is gone" in str(found).splitlines()
    assert found.to_dict()["misfits"] == found.misfits


def test_rows_that_are_missing_are_counted_even_where_hashes_agree(trial: Path) -> None:
    cut(trial / "measurements.jsonl")
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["files"]["measurements.jsonl"] = hashlib.sha256(
        (trial / "measurements.jsonl").read_bytes()
    ).hexdigest()
    (trial / "manifest.json").write_text(json.dumps(manifest))
    assert read_progress(trial).misfits == ("30 of 144 runs stand in it, though it is complete",)


def test_a_trial_that_did_not_end_is_not_held_against_hashes(trial: Path) -> None:
    manifest = json.loads((trial / "manifest.json").read_text())
    (trial / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    cut(trial / "measurements.jsonl")
    found = read_progress(trial)
    assert (found.state, found.misfits) == ("killed", ())
    assert "--resume" in found.again


def test_a_hostile_name_is_no_path(trial: Path) -> None:
    manifest = json.loads((trial / "manifest.json").read_text())
    manifest["files"]["../../etc/passwd"] = "0" * 64
    (trial / "manifest.json").write_text(json.dumps(manifest))
    assert "outside the trial" in read_progress(trial).misfits[0]
