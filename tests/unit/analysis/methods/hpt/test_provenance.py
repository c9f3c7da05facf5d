"""What HPT's page says of its data. Authority: the manifest and the matrices as they were written."""

from __future__ import annotations

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.methods.hpt.html_page import provenance_of
from analysis.version import VERSION


def facts_of(*args, **options):
    found = {}
    for fact in provenance_of(*args, **options):
        found.setdefault(fact.name, []).append(fact.text)
    return found


def test_of_a_trial_everything_is_said(synthetic, tmp_path):
    times = {name: {"a": [0.1] * 6, "b": [0.2] * 4} for name in ("base", "new")}
    trial = read_trial(synthetic(times, sessions=2).write(tmp_path / "trial"))
    found = facts_of(trial.matrix("new"), trial.matrix("base"), trial=trial)
    assert found["version"] == [f"fairtrial {VERSION}"]
    assert found["unit of the values"] == ["s; lower is better"]
    assert found["runs, candidate"] == ["10 on 2 benchmarks, 4 to 6 each, in 2 sessions"]
    digest = trial.manifest.files["measurements.jsonl"]
    assert found["source"] == [f"trial synthetic-20261121-0412, measurements SHA-256 {digest[:16]}"]
    assert found["campaign"] == ["synthetic, SHA-256 0000000000000000"]
    assert found["measured"] == ["2026-11-21"]
    assert found["host"] == ["lab07"]
    assert found["seed"] == ["1"]


def test_of_files_nothing_is_guessed():
    side = PerformanceMatrix.from_samples("s", {"a": [1.0, 2.0]}, better="higher", unit="score")
    found = facts_of(side, side, hashes={"runs.csv": "ab" * 32})
    assert set(found) == {
        "version",
        "unit of the values",
        "runs, candidate",
        "runs, baseline",
        "source",
    }
    assert found["source"] == ["runs.csv, SHA-256 abababababababab"]
    assert found["runs, baseline"] == ["2 on 1 benchmark, 2 each"]
