"""Which files the build of a session makes; authority: docs/layouts.md, by enumeration."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.campaign.cells import SessionBuilds
from harness.campaign.resolve import load_campaign

CAMPAIGN = """
name: layouts
variants:
  old: {build: {each: session, run: [[make, old]], artifacts: [ELSEWHERE/lib.so]}, cmd: ../built/prog}
  new: {build: [[make, new]], cmd: build/new}
benchmarks: {text: {command: "{cmd} text"}, host: {command: "/usr/bin/env true"}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "campaign"
    place.mkdir()
    place.joinpath("c.yaml").write_text(CAMPAIGN.replace("ELSEWHERE", f"{tmp_path}/elsewhere"))
    return place


def test_what_lies_in_the_campaigns_folder_or_is_named_by_it_is_made(folder):
    builds = SessionBuilds.of(load_campaign(folder / "c.yaml"))
    assert set(builds.places) == {"old"}
    made = {
        folder / "build" / "prog": True,
        folder.parent / "built" / "prog": True,  # the command names it so
        folder.parent / "elsewhere" / "lib.so": True,  # an artifact
        folder.parent / "elsewhere" / "other.so": False,
        folder.parent / "built" / "other": False,
        Path("/usr/bin/env"): False,
    }
    assert {path: builds.made(path, "old") for path in made} == made


def test_a_build_for_all_sessions_makes_no_file_of_one(folder):
    builds = SessionBuilds.of(load_campaign(folder / "c.yaml"))
    assert not builds.made(folder / "build" / "new", "new")
    (folder / "c.yaml").write_text(
        folder.joinpath("c.yaml").read_text().replace("each: session", "each: campaign")
    )
    assert not SessionBuilds.of(load_campaign(folder / "c.yaml"))


def test_links_are_followed(folder):
    folder.joinpath("real").mkdir()
    folder.parent.joinpath("link").symlink_to(folder)
    builds = SessionBuilds.of(load_campaign(folder.parent / "link" / "c.yaml"))
    assert builds.made(folder / "real" / "prog", "old")
