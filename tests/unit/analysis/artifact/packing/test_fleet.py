"""A fleet comes out of the archive as a fleet. Authority: `judge_fleet` of what was packed and unpacked."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from analysis.record.fleet import FleetHost, read_fleet, write_fleet
from analysis.verdict.fleet import judge_fleet
from harness.cli import main

pytestmark = pytest.mark.usefixtures("quick_answers")

HOSTS = ("labnode1", "labnode2", "labnode3")
SLURM = {"slurm": {"fleet": "c-1", "user": "annabel", "folder": "/home/annabel/runs/c-1"}}
CLAIMS = """\
claims:
  - {text: both, command: verdict FLEET, value: /hosts/2/state, is: equals, expected: missing}
"""


@pytest.fixture
def fleet(fleet_folder, synthetic):
    """Two hosts that are measured, and one that is missing, as submitted through Slurm."""
    folder = fleet_folder(HOSTS)
    hosts = tuple(FleetHost(host=name, jobs=("7",), trial=name) for name in HOSTS)
    record = replace(read_fleet(folder), script="job.sh", hosts=hosts, further=SLURM)
    write_fleet(folder, record)
    for k, name in enumerate(HOSTS[:2]):
        rng = np.random.default_rng(k)
        times = {
            variant: {"x": (0.02 * np.exp(moved + rng.normal(0, 0.01, 6))).tolist()}
            for variant, moved in (("old", 0.0), ("new", -0.1))
        }
        made = synthetic(times, sessions=3, host=f"{name}.example.org", trial=name, node=name)
        made.write(folder / name)
    return folder


def run(*words):
    out, err = io.StringIO(), io.StringIO()
    code = main([str(word) for word in words], out, err)
    assert code == 0, err.getvalue()
    return out.getvalue()


def bundled(fleet, tmp_path, *options):
    """Pack a fleet; give where its archive was unpacked."""
    run("bundle", fleet, "-o", tmp_path / "a.zip", *options)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "there")
    return tmp_path / "there"


def test_it_is_the_same_fleet_and_claims_on_it_are_of_all_its_hosts(fleet, tmp_path):
    claims = tmp_path / "claims.yaml"
    claims.write_text(CLAIMS.replace("FLEET", str(fleet)))
    there = bundled(fleet, tmp_path, "--claims", claims)
    found = read_fleet(there / "trials")
    assert found.names == HOSTS
    assert found.further == {}  # what only the author's Slurm understands
    assert not any(host.jobs for host in found.hosts)
    before, after = judge_fleet(fleet), judge_fleet(there / "trials")
    assert after.to_dict()["candidates"] == before.to_dict()["candidates"]
    assert [one.state for one in after.hosts] == ["complete", "complete", "missing"]
    told = json.loads((there / "bundle.json").read_text())
    assert [(one["kind"], one["path"]) for one in told["sources"]] == [
        ("fleet", "trials"),
        ("trial", "trials/labnode1"),
        ("trial", "trials/labnode2"),
    ]
    assert any("labnode3" in one["what"] for one in told["missing"])
    (claim,) = json.loads((there / "claims.json").read_text())["claims"]
    assert claim["holds"]
    assert claim["command"] == ["verdict", "trials", "--json"]
    assert "holds" in run("reproduce", tmp_path / "a.zip")


def test_without_names_of_hosts_it_is_a_fleet_all_the_same(fleet, tmp_path):
    there = bundled(fleet, tmp_path, "--redact", "user,host,paths")
    for path in there.rglob("*"):
        assert "labnode" not in path.name
        if path.is_file() and path.suffix != ".whl":
            data = path.read_bytes()
            assert b"labnode" not in data, path
            assert b"annabel" not in data, path
    after = judge_fleet(there / "trials")
    assert len({one.host for one in after.hosts}) == 3
    told = after.candidates[0].multilevel.benchmarks[0]
    assert told.low == judge_fleet(fleet).candidates[0].multilevel.benchmarks[0].low


def test_one_fleet_a_bundle_and_each_trial_once(fleet, tmp_path):
    other = tmp_path / "c-2"
    other.mkdir()
    write_fleet(other, read_fleet(fleet))
    for words, said in (
        ((fleet, other), "holds one fleet"),
        ((fleet, fleet), "is there twice"),
        ((fleet / "labnode1", fleet), "packed already"),
        ((other,), "no host of this fleet has a trial"),
    ):
        err = io.StringIO()
        made = ["bundle", *map(str, words), "-o", str(tmp_path / "b.zip")]
        assert main(made, io.StringIO(), err) == 2
        assert said in err.getvalue()
        assert not (tmp_path / "b.zip").exists()
