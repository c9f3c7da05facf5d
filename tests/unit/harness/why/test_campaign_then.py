"""The campaign of a trial is the trial's copy, read where its file lay; whoever changed the file since changes nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from analysis.errors import UsageError
from analysis.record.manifest import read_manifest
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of
from harness.errors import HostError
from harness.trial.execution import Options, start
from harness.trial.profiles import campaign_then


@pytest.fixture
def measured(tmp_path, listening):
    """Measure a campaign with a relative path and a default of its own."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "in").write_text("x")
    content = {
        "name": "c",
        "variants": {"a": {}, "b": {}},
        "benchmarks": {"one": {"command": ["cat", "in"]}},
        "protocol": {"sessions": 1, "runs": 1, "warmup": 0},
        "isolation": {"cpus": "none"},
        "checks": {"probe": "0s"},
    }
    (folder / "c.yaml").write_text(json.dumps(content))
    campaign = load_campaign(folder / "c.yaml", seed=77)
    return start(campaign, Options(folder=tmp_path / "runs"), listening).trial


def test_it_is_the_one_that_was_measured_whatever_its_file_says_now(measured):
    manifest = read_manifest(measured)
    then = campaign_then(measured, manifest)
    assert identity_of(then) == manifest.campaign_sha256
    assert (then.seed, then.cells[0].cwd) == (77, then.source.parent)
    then.source.write_text("name: other\n")
    assert campaign_then(measured, manifest).cells == then.cells
    then.source.unlink()
    assert campaign_then(measured, manifest).cells == then.cells


def test_after_a_change_that_was_accepted_it_is_the_file(measured):
    manifest = read_manifest(measured)
    source = campaign_then(measured, manifest).source
    source.write_text(source.read_text().replace('"one"', '"two"'))
    changed = load_campaign(source, seed=77)
    accepted = replace(manifest, campaign_sha256=identity_of(changed))
    assert campaign_then(measured, accepted).cells == changed.cells
    source.unlink()  # then nobody has it: whoever compares it says so
    assert identity_of(campaign_then(measured, accepted)) != accepted.campaign_sha256


def test_without_its_folder_it_cannot_be_executed(measured):
    manifest = read_manifest(measured)
    folder = campaign_then(measured, manifest).source.parent
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(HostError, match="the campaign's folder is gone") as caught:
        campaign_then(measured, manifest)
    assert str(folder) in caught.value.what


@pytest.mark.parametrize("origin", ["imported", "merged"])
def test_what_was_not_measured_is_refused(measured, origin):
    manifest = replace(read_manifest(measured), origin=origin)
    with pytest.raises(UsageError, match="nothing of this trial can be executed again"):
        campaign_then(measured, manifest)
