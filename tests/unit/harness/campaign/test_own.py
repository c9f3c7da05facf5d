"""A person's own defaults: for keys that the campaign leaves out, part of its identity, stored."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from analysis.errors import CampaignError
from harness.campaign.defaults import (
    VARIABLE,
    OwnDefaults,
    identity_of,
    own_defaults,
    resolved_text,
    stored_defaults,
    stored_own_defaults,
)
from harness.campaign.resolve import load_campaign

SMALL = "name: c\nvariants: {a: {}, b: {}}\nbaseline: a\nbenchmarks: {x: {command: ['true']}}\n"
MINE = """
isolation:
  cpus: 2-3
  aslr: off
  limits: {memlock: 1MiB}
checks:
  require: [load]
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="defaults.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def mine(write):
    return own_defaults({VARIABLE: str(write(MINE))})


@pytest.fixture
def load(write):
    def load(text=SMALL, own=None, **more):
        return load_campaign(write(text, "c.yaml"), own=own, **more)

    return load


def test_they_hold_where_the_campaign_says_nothing(load, mine):
    campaign = load(own=mine)
    assert campaign.isolation.cpus == (2, 3)
    assert campaign.isolation.aslr is False
    assert campaign.isolation.limits == {"memlock": 2**20}
    assert campaign.checks.require == ("load",)
    assert f"isolation.cpus = 2-3 (own default, {mine.path})" in campaign.notes


def test_the_campaign_wins(load, mine):
    campaign = load(SMALL + "isolation: {cpus: 1}\n", own=mine)
    assert campaign.isolation.cpus == (1,)
    assert campaign.isolation.aslr is False
    assert not any(note.startswith("isolation.cpus") for note in campaign.notes)


def test_they_count_in_the_identity_as_if_they_stood_in_the_file(load, mine):
    written = SMALL + "isolation: {cpus: 2-3, aslr: off, limits: {memlock: 1MiB}}\n"
    written += "checks: {require: [load]}\n"
    assert identity_of(load(own=mine)) == identity_of(load(written))
    assert identity_of(load(own=mine)) != identity_of(load())


def test_a_trial_keeps_them(load, mine):
    text = resolved_text(load(own=mine))
    again = OwnDefaults(values=stored_own_defaults(text))
    campaign = load(own=again, defaults=stored_defaults(text))
    assert replace(campaign, notes=()) == replace(load(own=mine), notes=())
    assert identity_of(campaign) == identity_of(load(own=mine))
    assert "isolation.aslr = False (as the trial began)" in campaign.notes


def test_without_any_nothing_is_stored(load):
    assert "own_defaults" not in json.loads(resolved_text(load()))
    assert stored_own_defaults(resolved_text(load())) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("protocol: {runs: 3}", "not a section of your own defaults"),
        ("isolation: {cpu: 3}", "did you mean 'cpus'"),
        ("isolation: {cpus: 3-2}", "upwards"),
        ("isolation: {nice: 99}", "nice"),
        ("isolation: {environment: {set: {LANG: C}}}", "belong into the campaign"),
        ("checks: {require: [lod]}", "load"),
        ("[1]", "mapping"),
    ],
)
def test_mistakes_are_told_with_their_place(write, text, said):
    path = write(text)
    with pytest.raises(CampaignError, match=said) as error:
        own_defaults({VARIABLE: str(path)})
    assert f"{path}:1" in str(error.value)


def test_where_the_file_is(tmp_path, write):
    place = tmp_path / "fairtrial"
    place.mkdir()
    (place / "defaults.yaml").write_text("isolation: {nice: 3}")
    found = own_defaults({"XDG_CONFIG_HOME": str(tmp_path), "HOME": "/nowhere"})
    assert (found.values, found.path) == ({"isolation.nice": 3}, place / "defaults.yaml")
    (tmp_path / ".config").symlink_to(tmp_path)
    assert own_defaults({"HOME": str(tmp_path)}).values == {"isolation.nice": 3}
    for none in ({}, {"HOME": "/nowhere"}, {"HOME": str(tmp_path), VARIABLE: ""}):
        assert own_defaults(none) == OwnDefaults()


def test_a_file_that_was_named_must_be_there(tmp_path):
    with pytest.raises(CampaignError, match="no such file"):
        own_defaults({VARIABLE: str(tmp_path / "none")})


@pytest.mark.parametrize("text", ["", "# isolation: {nice: 3}\n", "isolation: {}\n"])
def test_an_empty_file_says_nothing(write, text):
    assert own_defaults({VARIABLE: str(write(text))}).values == {}


def test_a_home_of_somebody_else_has_none_and_that_is_said(load, monkeypatch):
    # of who called sudo: nothing may be looked for there
    def closed(_path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.is_file", closed)
    own = own_defaults({"HOME": "/root"})
    assert own.values == {}
    monkeypatch.undo()
    campaign = load(own=own)
    (note,) = (one for one in campaign.notes if "own defaults" in one)
    assert note == (
        "no own defaults hold: /root/.config/fairtrial/defaults.yaml cannot be looked for "
        "(Permission denied)"
    )
    assert stored_own_defaults(resolved_text(campaign)) == {}
