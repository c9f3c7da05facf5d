"""Builds in a redacted bundle: folders go from the files that a build makes, placeholders stay what they are.

Authority: the bundle's own rule: what was replaced reads as before, and the campaign beside it says the same.
"""

from __future__ import annotations

import json
from pathlib import Path

from harness.campaign.resolve import load_campaign

MAKE = ["make", "SEED={layout_seed}", "OUT=/home/anna/src/app"]
BUILD = {
    "each": "session",
    "run": [MAKE],
    "artifacts": ["/home/anna/src/{variant}", "build/{variant}"],
}


def built(folder):
    """Plant a build of each session where a trial has it."""
    stored = {
        "variant": "gzip-6",
        "steps": [{"argv": MAKE}],
        "cwd": ".",
        "env": {"SEED": "{layout_seed}"},
        "each": "session",
        "artifacts": ["/home/anna/src/gzip-6", "build/gzip-6"],
    }
    resolved = {"campaign": {"builds": [stored]}}
    folder.put("trials/sample/resolved.json", json.dumps(resolved, indent=2) + "\n")
    campaign = {
        "name": "sample",
        "build": BUILD,
        "variants": {"gzip-6": {"env": {"SEED": "{layout_seed}"}}, "gzip-1": None},
        "benchmarks": {"text": {"command": ["gzip"]}},
    }
    folder.put("trials/sample/campaign.yaml", json.dumps(campaign, indent=2) + "\n")
    return folder


def test_folders_go_from_builds_and_placeholders_stay(folder):
    done = built(folder).redact("paths")
    assert "anna" not in folder.whole()
    assert done.record.left == ()
    (build,) = json.loads(folder.read("trials/sample/resolved.json"))["campaign"]["builds"]
    assert build["steps"][0]["argv"][:2] == MAKE[:2]
    assert (build["each"], build["env"]) == ("session", {"SEED": "{layout_seed}"})
    assert build["artifacts"][1] == "build/gzip-6"
    assert build["artifacts"][0].endswith("/gzip-6")
    campaign = load_campaign(folder.trial / "campaign.yaml")
    first = campaign.builds[0]
    # the campaign that lies beside it asks for the same files and the same seeds
    assert list(map(str, first.artifacts)) == [
        build["artifacts"][0],
        str(Path(folder.trial) / "build/gzip-6"),
    ]
    assert campaign.to_dict()["builds"][0]["steps"] == build["steps"]


def test_nothing_of_a_build_goes_where_nobody_asks_for_paths(folder):
    before = built(folder).read("trials/sample/campaign.yaml")
    folder.redact("env,host")
    assert folder.read("trials/sample/campaign.yaml") == before
