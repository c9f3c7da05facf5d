"""The seed that a session's own build gets: `{layout_seed}`, from the campaign's seed, the session and the variant.

Authority: the definition of layouts per session: an integer of 1 to 2^31 - 1 from SHA-256, different for each variant.
"""

from __future__ import annotations

import hashlib
import json
import subprocess

import pytest
from hypothesis import given, strategies as st

from harness.campaign.cells import layout_seed
from harness.campaign.model import LAYOUT_SEED, filled
from harness.campaign.schema import identity_of, resolved_text

SEED = {LAYOUT_SEED: "12"}

BUILT = """\
name: layouts
variants:
  old: {build: {each: session, run: [[link, "--seed={layout_seed}", "{{layout_seed}}"], {shell: "echo {layout_seed}"}]}}
  new: {build: "link"}
benchmarks: {x: {command: [run], env: {SEED: "a{layout_seed}b", PLAIN: "{{layout_seed}}"}}}
"""


@given(st.integers(0, 2**63 - 1), st.integers(1, 10**6), st.text(min_size=1, max_size=9))
def test_a_seed_is_what_every_linker_takes(seed, session, variant):
    assert 1 <= layout_seed(seed, session, variant) <= 2**31 - 1


def test_a_seed_depends_on_all_that_it_is_made_of_and_on_nothing_else():
    seeds = [
        layout_seed(seed, session, variant, node)
        for seed in (1, 2, 11)
        for session in (1, 2, 11)
        for variant in ("old", "new", "1")
        for node in (None, "lab1", "lab2")
    ]
    assert len(set(seeds)) == len(seeds)
    digest = hashlib.sha256(b"layout:7:3:old").digest()
    # by hand, so that a trial's sessions draw with every version what they drew
    assert layout_seed(7, 3, "old") == 1 + int.from_bytes(digest[:8], "big") % (2**31 - 1)


def test_a_build_of_a_session_gets_its_seed(load):
    old, new = load(BUILT).builds
    assert [step.argv for step in filled(old, SEED).steps] == [
        ("link", "--seed=12", "{layout_seed}"),
        ("/bin/sh", "-c", "echo 12"),
    ]
    assert filled(new, SEED) == new


def test_variables_of_a_cell_get_the_seed(load):
    for cell in load(BUILT).cells:
        assert filled(cell, SEED).env == {"SEED": "a12b", "PLAIN": "{layout_seed}"}


def test_a_command_whose_seed_was_forgotten_cannot_be_executed(load):
    forgotten = load(BUILT).builds[0].steps[0].argv
    with pytest.raises(ValueError, match="null byte"):
        subprocess.run(forgotten, check=False)


def test_the_trial_keeps_the_placeholder(load):
    campaign = load(BUILT)
    stored = json.loads(resolved_text(campaign))["campaign"]
    assert stored["builds"][0]["steps"][0]["argv"] == [
        "link",
        "--seed={layout_seed}",
        "{layout_seed}",
    ]
    assert stored["cells"][0]["env"]["SEED"] == "a{layout_seed}b"
    assert "\\u0000" not in resolved_text(campaign).decode()


def test_a_placeholder_is_another_experiment_than_the_text_of_its_name(load):
    text = "name: n\nvariants: {a: {env: {SEED: '%s'}}}\nbenchmarks: {x: {command: [run]}}\n"
    assert identity_of(load(text % "{layout_seed}")) != identity_of(load(text % "{{layout_seed}}"))


def test_a_value_of_that_name_stays_somebodys_own(load):
    text = "name: n\nvariants: {a: {layout_seed: 5}, b: {layout_seed: 6}}\nbuild: 'make S={layout_seed}'\n"
    campaign = load(
        text + "benchmarks: {x: {command: [run, '{layout_seed}'], env: {E: '{layout_seed}'}}}\n"
    )
    assert [build.steps[0].argv[1] for build in campaign.builds] == ["S=5", "S=6"]
    assert [cell.env["E"] for cell in campaign.cells] == ["5", "6"]
