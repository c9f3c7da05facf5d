"""`fairtrial history` as installed, on trials of thirty nights that no measurement made.

Authority: what was planted (about 6 % more time on both benchmarks from the night numbered 15 on), and the exit codes of a gate.
"""

from __future__ import annotations

import hashlib
import json
import os
import runpy
import shutil
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.record.environment_records import COMMIT

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


def commit_of(night: int) -> str:
    return hashlib.sha1(f"night {night}".encode()).hexdigest()


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("history")
    for night in range(NIGHTS):
        effects = (1.0, 1.0 if night < CHANGED else 0.94)
        shape = made.Shape(effects=effects, benchmarks=("text", "logs"), sessions=3, runs=3)
        write_night(folder / "runs", night, shape, commit=commit_of(night))
    return folder


@pytest.fixture
def history(forks):
    def execute(folder, *words):
        words = ["history", *map(str, words)]
        return forks.run(words, cwd=folder, environment=os.environ, seconds=300)

    return execute


def test_the_planted_change_is_found_with_its_commits(history, lab):
    done = history(lab, "--json", "--independent")
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


def test_the_screen_begins_with_the_answer(history, lab):
    done = history(lab, "runs", "--independent")
    assert done.returncode == 0
    assert done.stdout.startswith("2 of 2 benchmarks changed in 30 nights: ")
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    ("words", "code", "first"),
    [
        (("--gate", "slower>2%", "--since", "2026-10-09"), 1, "STOP  "),
        (("--gate", "slower>20%", "--since", "2026-10-09"), 0, "PASS  "),
        (("--gate", "slower>2%", "--since", "2026-09-26"), 7, "OPEN  "),
        (("--gate", "faster<5%", "--since", "2026-10-09"), 1, "STOP  "),
    ],
)
def test_the_gate_has_its_exit_codes(history, lab, words, code, first):
    done = history(lab, "--independent", *words)
    assert (done.returncode, done.stdout[:6]) == (code, first), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("runs/nightly-20260924",),
        ("absent",),
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
def test_wrong_questions_are_refused_with_what_to_do(history, lab, words):
    done = history(lab, *words)
    assert done.returncode in {2, 6}
    assert done.stdout == ""
    assert "fix: " in done.stderr


def test_page_and_markdown(history, lab, tmp_path):
    page = tmp_path / "all.html"
    done = history(lab, "--independent", "--format", "md", "-o", str(page))
    assert done.returncode == 0
    assert done.stdout.startswith("### History")
    assert "<html" in page.read_text()
    assert str(page) in done.stderr


def test_a_host_that_changed_is_told(history, lab, tmp_path):
    folder = tmp_path / "runs"
    shutil.copytree(lab / "runs", folder)
    for night in range(CHANGED, NIGHTS):
        path = folder / f"nightly-{FIRST + timedelta(days=night):%Y%m%d}"
        shutil.rmtree(path)
        kernel = {1: {"kernel": {"release": "6.12.0"}}}
        effects = (1.0, 0.94)
        benchmarks = ("text", "logs")
        shape = made.Shape(
            effects=effects, benchmarks=benchmarks, sessions=3, runs=3, environment=kernel
        )
        write_night(folder, night, shape, commit=commit_of(night))
    told = json.loads(history(tmp_path, "--json", "--independent").stdout)
    for series in told["series"]:
        (one,) = series["intervals"]
        assert one["cause"] == "both"
        assert "the kernel changed from 6.1.0 to 6.12.0" in one["environment"]


def test_one_trial_of_ordered_variants_is_a_series(history, tmp_path):
    names = ("v1", "v2", "v3", "v4")
    shape = made.Shape(variants=names, effects=(1.0, 1.0, 0.8, 0.8), sessions=6, runs=3)
    made.write_trial(tmp_path / "versions", shape, "versions")
    alone = history(tmp_path, "versions")
    assert alone.returncode == 2
    settings = {"campaign": {"series": True, "variants": list(names)}}
    (tmp_path / "versions" / "resolved.json").write_text(json.dumps(settings))
    told = json.loads(history(tmp_path, "versions", "--json").stdout)
    assert told["method"] == "ordered-variants"
    refused = history(tmp_path, "versions", "--gate", "slower>2%")
    assert refused.returncode == 2
    assert "--gate is for the trials of several nights" in refused.stderr
    assert history(tmp_path, "versions", "--format", "md").stdout.startswith("### ")
