"""A campaign whose variants are a series, measured: neighbours that are one program are measured once on request."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from analysis import ordered_variants, read_trial
from tests.virtual import Times

CAMPAIGN = """\
name: series
series: on
variants: {v1: {}, v2: {}, v3: {}, v4: {}, v5: {}}
benchmarks: {x: {command: ["b/{variant}/app", "0.002"]}}
protocol: {sessions: 3, runs: 3, warmup: 0}
isolation: {cpus: none}
checks: {probe: 0s}
"""


@pytest.fixture
def place(lab, tmp_path: Path) -> Path:  # type: ignore[no-untyped-def]
    for name in ("v1", "v2", "v3", "v4", "v5"):
        (tmp_path / "b" / name).mkdir(parents=True)
        program = shutil.which("true" if name in ("v1", "v2") else "sleep")
        assert program is not None
        shutil.copy(program, tmp_path / "b" / name / "app")
    (tmp_path / "c.yaml").write_text(CAMPAIGN)
    lab.virtual = Times(effects=dict.fromkeys(("v3", "v4", "v5"), 1.2))
    return tmp_path


def trial_of(place: Path) -> Path:
    (trial,) = (place / "runs").iterdir()
    return trial


def measured(trial: Path) -> set[str]:
    lines = (trial / "measurements.jsonl").read_text().splitlines()
    return {json.loads(line)["variant"] for line in lines}


def test_programs_that_are_the_same_are_measured_and_pooled(lab, place):  # type: ignore[no-untyped-def]
    done = lab.run_fairtrial("run", "c.yaml", cwd=place)
    assert done.returncode == 0, done.stderr
    trial = trial_of(place)
    assert len(measured(trial)) == 5
    assert "same_program" not in json.loads((trial / "manifest.json").read_text())
    assert ordered_variants(read_trial(trial)).pooled == (("v1", "v2"), ("v3", "v4", "v5"))
