"""The subcommand ``calibrate``, on trials that the runner wrote and on planted ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import executed

ROOT = Path(__file__).parents[4]
CAMPAIGN = """\
name: aa
variants: {one: {}, two: {}}
benchmarks: {x: {command: ["true"]}, y: {command: ["true", "y"]}}
protocol: {sessions: 3, runs: 3, warmup: 0}
isolation: {cpus: none}
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    place = tmp_path_factory.mktemp("aa")
    (place / "c.yaml").write_text(CAMPAIGN)
    code, _, err = executed("run", place / "c.yaml", "--dir", place / "runs", "--quiet")
    assert code == 0, err
    return next((place / "runs").iterdir())


def test_a_measured_trial_gets_a_certificate_beside_it(measured):
    code, out, err = executed("calibrate", measured)
    assert code == 0, err
    assert out.startswith("one and two are one program: wall on ")
    folder = measured.parent / "certificates"
    (path,) = folder.iterdir()
    assert str(path) in err
    assert json.loads(path.read_text())["design"]["sessions"] == 3
    # the folder of certificates is no damaged trial
    code, out, err = executed("status", "--dir", measured.parent)
    assert (code, err) == (0, "")
    assert "certificates" not in out


def test_json_is_what_is_kept(measured, tmp_path):
    words = ("--methods", "welch", "--dir", tmp_path / "c", "--seed", 2)
    code, out, _ = executed("calibrate", measured, "--json", *words)
    assert code == 0
    (path,) = (tmp_path / "c").iterdir()
    assert json.loads(out) == json.loads(path.read_text())
    assert json.loads(out)["seed"] == 2


def test_nothing_is_kept_when_asked(measured, tmp_path):
    words = ("--no-certificate", "--methods", "welch", "--pair", "two,one", "--dir", tmp_path / "d")
    code, out, err = executed("calibrate", measured, *words)
    assert (code, err) == (0, "")
    assert "HPT" not in out
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("pair", ["one", "one,", "one,two,three"])
def test_a_wrong_pair_is_refused(measured, pair):
    code, _, err = executed("calibrate", measured, "--pair", pair)
    assert code == 2
    assert "--pair A,B" in err


def test_a_trial_without_twins_says_how_to_get_them():
    code, _, err = executed("calibrate", ROOT / "tests" / "data" / "sample-0.2.0")
    assert code == 6
    assert "variants: {one: {}, two: {}}" in err
