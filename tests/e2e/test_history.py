"""`fairtrial history` as installed, on trials of thirty nights that no measurement made.

Authority: what was planted (about 6 % more time on both benchmarks from the night numbered 15 on), and the exit codes of a gate.
"""

from __future__ import annotations

import hashlib
import json
import runpy
import shutil
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.record.environment import COMMIT

NIGHTS, CHANGED = 30, 15
FIRST = date(2026, 9, 24)
made = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "unchanged" / "made_trials.py"))
)


def write_night(folder: Path, night: int, shape, *, commit: str) -> Path:
    """Write the trial of a night, with the commit of its candidate."""
    day = FIRST + timedelta(days=night)
    name = f"nightly-{day:%Y%m%d}"
    path = folder / name
    made.write_trial(path, shape, name)
    rows = []
    for line in (path / "measurements.jsonl").read_text().splitlines():
        row = json.loads(line)
        del row["crc32"]
        row["started_at"] = f"{day}T02{row['started_at'][13:]}"
        rows.append(made._checked(row))
    (path / "measurements.jsonl").write_bytes(b"".join(rows))
    records = []
    for line in (path / "environment.jsonl").read_text().splitlines():
        record = json.loads(line)
        for target, about in record["targets"].items():
            about[COMMIT] = commit if target.endswith("/new") else "f" * 40
        records.append(made._line(record))
    (path / "environment.jsonl").write_bytes(b"".join(records))
    manifest = json.loads((path / "manifest.json").read_text())
    for file in manifest["files"]:
        manifest["files"][file] = hashlib.sha256((path / file).read_bytes()).hexdigest()
    (path / "manifest.json").write_text(json.dumps(manifest))
    return path


def shape_of(effect: float, **more):
    return made.Shape(
        effects=(1.0, effect), benchmarks=("text", "logs"), sessions=3, runs=3, **more
    )


def commit_of(night: int) -> str:
    return hashlib.sha1(f"night {night}".encode()).hexdigest()


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    for night in range(NIGHTS):
        shape = shape_of(1.0 if night < CHANGED else 0.94)
        write_night(folder / "runs", night, shape, commit=commit_of(night))
    return folder


@pytest.fixture
def history(lab, nights):
    """Give what executes the command, in the folder with those nights or another."""
    return lambda *words, cwd=nights: lab.run_fairtrial("history", *words, cwd=cwd)


def test_the_planted_change_is_found_with_its_commits(history):
    done = history("--json", "--independent")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["nights"] == NIGHTS
    for series in told["series"]:
        (one,) = series["intervals"]
        assert one["first_value"] < CHANGED <= one["last_value"]
        assert one["place_value"] == CHANGED
        assert 1 / one["step"]["speedup"] == pytest.approx(1 / 0.94, abs=0.01)
        assert (one["good"], one["bad"]) == tuple(
            commit_of(one[key]) for key in ("first_value", "last_value")
        )
        assert one["cause"] == "program"
        assert series["values"][0]["sessions"] == 3
    assert told["next"][0].startswith("fairtrial bisect ")


@pytest.mark.parametrize(
    ("words", "code", "first"),
    [
        (("--gate", "slower>2%", "--since", "2026-10-09"), 1, "STOP  "),
        (("--gate", "slower>20%", "--since", "2026-10-09"), 0, "PASS  "),
        (("--gate", "slower>2%", "--since", "2026-09-26"), 7, "OPEN  "),
        (("--gate", "faster<5%", "--since", "2026-10-09"), 1, "STOP  "),
    ],
)
def test_the_gate_has_its_exit_codes(history, words, code, first):
    done = history("--independent", *words)
    assert (done.returncode, done.stdout[:6]) == (code, first), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("runs/nightly-20260924",),
        ("absent",),
        ("x" * 300, "--gate", "slower>2%"),  # which no file system has
        ("--gate", "slower"),
        ("--since", "the day before"),
        ("--benchmark", "absent"),
        ("--variant", "absent"),
        ("--metric", "absent"),
        ("-o", "page.pdf"),
        ("-o", "absent/page.html"),
        ("--risk", "0.9"),
        ("--variant", "a", "--variant", "b"),
    ],
)
def test_wrong_questions_are_refused_with_what_to_do(history, words):
    done = history(*words)
    assert done.returncode in {2, 6}
    assert done.stdout == ""
    assert "fix: " in done.stderr


def test_a_host_that_changed_is_told(history, nights, tmp_path):
    folder = tmp_path / "runs"
    shutil.copytree(nights / "runs", folder)
    for night in range(CHANGED, NIGHTS):
        path = folder / f"nightly-{FIRST + timedelta(days=night):%Y%m%d}"
        shutil.rmtree(path)
        kernel = {1: {"kernel": {"release": "6.12.0"}}}
        write_night(folder, night, shape_of(0.94, environment=kernel), commit=commit_of(night))
    told = json.loads(history("--json", "--independent", cwd=tmp_path).stdout)
    for series in told["series"]:
        (one,) = series["intervals"]
        assert one["cause"] == "both"
        assert "kernel.release changed from 6.1.0 to 6.12.0" in one["environment"]


def test_one_trial_of_ordered_variants_is_a_series(history, tmp_path):
    names = ("v1", "v2", "v3", "v4")
    shape = made.Shape(variants=names, effects=(1.0, 1.0, 0.8, 0.8), sessions=6, runs=3)
    made.write_trial(tmp_path / "versions", shape, "versions")
    assert history("versions", cwd=tmp_path).returncode == 2
    settings = {"campaign": {"series": True, "variants": list(names)}}
    (tmp_path / "versions" / "resolved.json").write_text(json.dumps(settings))
    told = json.loads(history("versions", "--json", cwd=tmp_path).stdout)
    assert told["method"] == "ordered-variants"
    refused = history("versions", "--gate", "slower>2%", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--gate is for the trials of several nights" in refused.stderr
