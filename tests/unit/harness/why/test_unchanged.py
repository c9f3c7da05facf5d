"""What a trial measured may be executed again only where host, campaign and programs are the same."""

from __future__ import annotations

import os
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.errors import UsageError
from analysis.record.manifest import manifest_text, read_manifest
from harness.errors import HostError, LaunchError
from harness.host.activity import Host
from harness.trial.profiles import refuse_changed

TREES = runpy.run_path(str(Path(__file__).parents[3] / "hosts" / "trees.py"))


def asked(tiny, *, variants=("cand",), benchmarks=("spin",), **given):
    refuse_changed(tiny.campaign, tiny.trial, variants, benchmarks, **given)


def test_what_is_as_it_was_may_be_executed(tiny):
    before = tiny.state()
    asked(tiny, variants=("cand", "other"), benchmarks=("spin", "child"))
    assert tiny.state() == before


def test_a_changed_program_is_refused_where_it_is_asked_for(tiny):
    (tiny.folder / "cand").write_text("#!/bin/sh\n: changed\n")
    asked(tiny, variants=("other",))
    with pytest.raises(HostError, match=r"the program .*cand has changed") as refused:
        asked(tiny)
    assert refused.value.fix.startswith("build it as it was then")
    assert refused.value.exit_code == 3


def test_a_missing_program_is_named(tiny):
    (tiny.folder / "base").unlink()
    with pytest.raises(LaunchError, match="not found"):
        asked(tiny)


def test_another_program_of_the_same_name_is_refused(tiny, tmp_path, monkeypatch):
    # found by PATH, as it now is
    fake = tmp_path / "bin" / "sh"
    fake.parent.mkdir()
    fake.symlink_to("/bin/true")
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    with pytest.raises(
        HostError, match=r"bin/sh is executed now, and was not when the trial began"
    ):
        asked(tiny, benchmarks=("child",))


def test_another_host_is_refused(tiny):
    other = Host(TREES["lent"](TREES["amd"]()))
    with pytest.raises(HostError, match="the host has changed") as refused:
        asked(tiny, host=other)
    assert refused.value.fix == "ask for it on the host of the trial"


def test_another_campaign_is_refused(tiny):
    text = tiny.file.read_text()
    tiny.file.write_text(text.replace("./{variant}; wait", "./{variant}"))
    with pytest.raises(HostError, match="the campaign has changed") as refused:
        asked(tiny)
    assert str(tiny.trial / "campaign.yaml") in refused.value.fix
    tiny.file.write_text(text + "judge: user\n")  # decides what is judged, and nothing else
    asked(tiny)


def test_names_that_the_trial_lacks_are_refused(tiny):
    for names, words in (
        ({"variants": ("base",)}, "no candidate 'base'"),
        ({"variants": ("none",)}, "no candidate 'none'"),
        ({"benchmarks": ("none",)}, "no benchmark 'none'"),
        ({"benchmarks": ()}, "no benchmark is named"),
    ):
        with pytest.raises(UsageError, match=words) as refused:
            asked(tiny, **names)
        assert "name one of: " in refused.value.fix


def test_what_was_not_measured_here_cannot_be_executed(tiny):
    (tiny.trial / "manifest.json").write_bytes(
        manifest_text(replace(read_manifest(tiny.trial), origin="merged"))
    )
    with pytest.raises(UsageError, match="merged: its programs cannot be executed"):
        asked(tiny)


def test_what_a_session_builds_is_not_held_against_anything(tiny):
    tiny.file.write_text(
        tiny.file.read_text()
        + "build: {run: [[sh, -c, 'true {layout_seed} {variant}']], each: session}\n"
    )
    campaign = tiny.campaign
    (tiny.folder / "cand").unlink()
    with pytest.raises(HostError, match="the campaign has changed"):
        asked(tiny)
    manifest = read_manifest(tiny.trial)
    from harness.campaign.schema import identity_of

    same = replace(manifest, campaign_sha256=identity_of(campaign), targets={})
    (tiny.trial / "manifest.json").write_bytes(manifest_text(same))
    asked(tiny)
