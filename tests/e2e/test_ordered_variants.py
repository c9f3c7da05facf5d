"""A campaign whose variants are a series, measured: neighbours that are one program are measured once on request."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from analysis import ordered_variants, read_trial
from analysis.record.manifest import read_manifest
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


def test_programs_that_are_the_same_are_measured_once(lab, place):  # type: ignore[no-untyped-def]
    done = lab.run_fairtrial("run", "c.yaml", "--measure-once", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "3 of 5 variants are the same program as a neighbour" in done.stderr
    trial = trial_of(place)
    manifest = read_manifest(trial)
    assert manifest.same_program == {"v2": "v1", "v4": "v3", "v5": "v3"}
    assert measured(trial) == {"v1", "v3"}
    assert manifest.planned == manifest.needed == 2 * 3 * 3
    assert manifest.status == "complete"

    more = lab.run_fairtrial(
        "run", "c.yaml", "--resume", "--trial", str(trial), "--sessions", "+1", cwd=place
    )
    assert more.returncode == 0, more.stderr
    assert read_manifest(trial).planned == 2 * 3 * 4
    assert measured(trial) == {"v1", "v3"}

    found = ordered_variants(read_trial(trial))
    assert found.pooled == (("v1", "v2"), ("v3", "v4", "v5"))
    assert [one.variant for one in found.benchmarks[0].places] == ["v3"]
    assert found.benchmarks[0].best.speedup < 1
    assert not {"runs-missing", "damaged"} & {one.code for one in found.cautions}

    screen = lab.run_fairtrial("history", str(trial), cwd=place)
    assert screen.returncode == 0, screen.stderr
    assert screen.stdout.splitlines()[0].startswith(found.sentence[1:20], 1)
    told = lab.run_fairtrial("history", str(trial), "--json", cwd=place)
    assert json.loads(told.stdout)["sentence"] == found.sentence
    verdict = lab.run_fairtrial("verdict", str(trial), "--json", cwd=place)
    assert verdict.returncode == 0, verdict.stderr
    told = json.loads(verdict.stdout)
    assert "measured-once" in told["caution_codes"]
    assert [one["variant"] for one in told["candidates"]] == ["v3"]
    gated = lab.run_fairtrial("gate", "slower>2%", str(trial), cwd=place)
    assert gated.returncode == 1, gated.stderr  # of four sessions nothing is proven

    refused = lab.run_fairtrial("history", str(trial), "--gate", "slower>2%", cwd=place)
    assert refused.returncode == 2


def test_without_the_request_all_are_measured_and_pooled(lab, place):  # type: ignore[no-untyped-def]
    done = lab.run_fairtrial("run", "c.yaml", cwd=place)
    assert done.returncode == 0, done.stderr
    trial = trial_of(place)
    assert len(measured(trial)) == 5
    assert "same_program" not in json.loads((trial / "manifest.json").read_text())
    assert ordered_variants(read_trial(trial)).pooled == (("v1", "v2"), ("v3", "v4", "v5"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("series: on", "series: off"), "series: on"),
        (("runs: 3, warmup: 0}", "warmup: 0, stop: {width: 0.05}}"), "exclude each other"),
    ],
)
def test_measuring_once_is_refused_where_it_means_nothing(lab, place, change, told):  # type: ignore[no-untyped-def]
    (place / "c.yaml").write_text(CAMPAIGN.replace(*change))
    done = lab.run_fairtrial("run", "c.yaml", "--measure-once", cwd=place)
    assert done.returncode == 2
    assert told in done.stderr
    assert not (place / "runs").exists() or not [*(place / "runs").iterdir()]
