"""`fairtrial sources` of trials, as people call it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.unit.analysis.commands.conftest import executed as fairtrial

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"


def answer(*words):
    code, out, err = fairtrial("sources", *words, "--json")
    assert code == 0, err
    return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_the_seed_decides_what_is_drawn():
    first = answer(SAMPLE, "--resamples", "199", "--seed", "5")
    assert first["seed"] == 5
    assert first["permutations"] == 199
    assert first["correlation"] is None
    assert first["importance"] == []
    assert {one["kind"] for one in first["factors"]} == {"randomized", "observed"}
    assert {one["causal"] for one in first["factors"] if one["kind"] == "observed"} == {False}
    assert answer(SAMPLE, "--resamples", "199", "--seed", "5") == first
    other = answer(SAMPLE, "--resamples", "199", "--seed", "6")
    assert other["factors"] != first["factors"]
    assert other["components"] == first["components"]  # nothing is drawn for them


def test_two_trials_of_one_program(tmp_path):
    second = tmp_path / "second"
    shutil.copytree(SAMPLE, second)
    manifest = json.loads((second / "manifest.json").read_text())
    manifest["trial"], manifest["host_id"] = "second", "another"
    (second / "manifest.json").write_text(json.dumps(manifest))
    found = answer(SAMPLE, second, "--resamples", "99")
    assert found["of"][1] == "second"
    assert {one["source"] for one in found["components"]} >= {"host", "session", "run"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((SAMPLE, SAMPLE), 2, "twice"),
        ((f"{SAMPLE}:gzip-1",), 2, "all variants"),
        ((SAMPLE, "--group", "family"), 2, "--group"),
        ((SAMPLE, "--confidence", "2"), 2, "confidence"),
    ],
)
def test_faults(words, code, said):
    found, out, err = fairtrial("sources", *words)
    assert found == code, err
    assert not out
    assert said in err
    assert "fix" in err or "known here" in err or "between" in err
