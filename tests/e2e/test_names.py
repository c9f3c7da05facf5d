"""Names of other scripts, from the campaign to every form in which results are handed on.

In a bundle: `test_judge.py`, which makes one.
"""

from __future__ import annotations

import json
import unicodedata

import pytest

from analysis.data.trial import read_trial

NAMES = ("é", "日本語", "हिन्दी")


@pytest.fixture
def trial(lab):
    """Measure a campaign whose names are written in both forms."""
    decomposed = unicodedata.normalize("NFD", "é")
    path = lab.write_campaign(
        name="größe-日本",
        variants={name: {} for name in ("é", *NAMES[1:])},
        baseline=decomposed,
        benchmarks={
            "текст": {"command": lab.sh("echo x"), "stdout": "keep"},
            "b+1": {"command": lab.sh(":")},
        },
        protocol={"sessions": 2, "runs": 2, "warmup": 1},
    )
    path = path.rename(lab.folder / "c.yaml")
    done = lab.run_fairtrial("run", path, "-q")
    assert done.returncode == 0, done.stderr
    return lab.trial()


def test_names_of_any_script_go_all_the_way(lab, trial):
    assert trial.name.startswith("größe-日本-")
    found = read_trial(trial)
    assert found.manifest.variants == NAMES
    decomposed = unicodedata.normalize("NFD", "é")
    for words in (
        ["status", trial],
        ["verdict", trial],
        ["verdict", trial, "--variant", "日本語", "--benchmark", "текст"],
        ["hpt", f"{trial}:日本語", f"{trial}:{decomposed}"],
        ["gate", "slower>5%", trial, "--variant", "हिन्दी"],
        ["diagnose", trial],
        ["diff", trial, trial],
        ["run", "c.yaml", "--only", f"текст:{decomposed}"],
        ["plot", "forest", trial, "-o", "f.svg"],
        ["export", trial, "-o", "x.csv"],
        ["report", trial, "-o", "r.html"],
        ["report", trial, "-o", "r.json"],
    ):
        done = lab.run_fairtrial(*words)
        assert done.returncode in {0, 1, 7}, (words, done.stderr)
        assert "Traceback" not in done.stderr
    for form in ("html", "json"):
        text = (lab.folder / f"r.{form}").read_text(encoding="utf-8")
        if form == "json":
            text = json.dumps(json.loads(text), ensure_ascii=False)
        assert all(name in text for name in ("日本語", "текст"))
    asked = json.loads(lab.run_fairtrial("verdict", trial, "--variant", "日本語", "--json").stdout)
    assert [one["variant"] for one in asked["candidates"]] == ["日本語"]


def test_names_that_look_alike_are_told_before_and_after(lab):
    path = lab.write_campaign(variants={"gzip": {}, "ｇzip": {}}, baseline="gzip")
    shown = lab.run_fairtrial("run", path, "--dry-run")
    assert "look alike" in shown.stdout + shown.stderr
    assert lab.run_fairtrial("run", path, "-q").returncode == 0
    told = json.loads(lab.run_fairtrial("verdict", lab.trial(), "--json").stdout)
    assert "names-alike" in told["caution_codes"]
