"""Two files of one experiment have one identity, whichever version of fairtrial reads them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import pytest

import harness.campaign.schema
from analysis.errors import CampaignError
from harness.campaign.model import Isolation
from harness.campaign.resolve import campaign_name, load_campaign
from harness.campaign.schema import (
    ISOLATION,
    PROTOCOL,
    RULE,
    first_defaults,
    identity_of,
    resolved_text,
    stored_defaults,
    stored_own_defaults,
    todays_defaults,
)
from harness.campaign.target_schema import VARIANT

ROOT = Path(__file__).resolve().parents[4]
GOLDEN = json.loads((ROOT / "tests/golden/campaign_identity/first_version.json").read_text())
FROZEN = Path(harness.campaign.schema.__file__).with_name("first_version.json")
SMALL = "name: n\nvariants: {a: , b: }\nbaseline: a\nbenchmarks: {x: {command: [p]}}\n"


def change_default(monkeypatch, section, name, value):
    monkeypatch.setitem(section.keys, name, dataclasses.replace(section.keys[name], default=value))


# --- the first version's ----------------------------------------------------------------------


def test_what_the_first_version_had_is_frozen():
    # Its trials are held against these values for ever: no later version may change this file.
    digest = hashlib.sha256(FROZEN.read_bytes()).hexdigest()
    assert digest == "4236c5fa2c38f32df83dc93e93c763bcd1f8cba08969df1a468a99a7c43f4c56"
    defaults = first_defaults()
    assert len(defaults) == 61
    assert (defaults["protocol.sessions"], defaults["protocol.runs"]) == (3, 10)
    assert (defaults["protocol.warmup"], defaults["protocol.order"]) == (1, "shuffled")
    assert (defaults["protocol.timeout"], defaults["protocol.grace"]) == (None, 1.0)
    assert (defaults["isolation.cpus"], defaults["isolation.padding"]) == ("auto", "random")
    assert defaults["isolation.output_limit"] == 64 * 2**20
    assert (defaults["checks.require"], defaults["checks.warn"]) == ([], [])


@pytest.mark.parametrize("name", GOLDEN)
def test_the_first_versions_identity_is_still_computed(load, name):
    campaign = load(GOLDEN[name]["text"], defaults=first_defaults())
    assert identity_of(campaign, 1) == GOLDEN[name]["sha256"]


@pytest.mark.parametrize("folder", ["tests/data/sample-0.2.0", "tests/golden/schemas/1-unfinished"])
def test_the_first_versions_trials_have_their_identity(folder):
    manifest = json.loads((ROOT / folder / "manifest.json").read_text())
    campaign = load_campaign(ROOT / folder / "campaign.yaml", defaults=first_defaults())
    assert identity_of(campaign, 1) == manifest["campaign_sha256"]


def test_changed_defaults_leave_the_first_versions_identity(load, monkeypatch):
    change_default(monkeypatch, PROTOCOL, "sessions", 5)
    change_default(monkeypatch, PROTOCOL, "timeout", 60.0)
    change_default(monkeypatch, ISOLATION, "cpus", "none")
    change_default(monkeypatch, VARIANT, "stdout", "discard")
    for known in GOLDEN.values():
        campaign = load(known["text"], defaults=first_defaults())
        assert identity_of(campaign, 1) == known["sha256"]


def test_the_first_versions_identity_sees_every_change(load):
    known = GOLDEN["stop.yaml"]
    for old, new in (("width: 0.02", "width: 0.03"), ("batch", "other"), ("steal", "smt")):
        changed = load(known["text"].replace(old, new), defaults=first_defaults())
        assert identity_of(changed, 1) != known["sha256"]


# --- today's ----------------------------------------------------------------------------------


def test_a_changed_default_leaves_the_identity_of_a_campaign_under_its_own(load, monkeypatch):
    then = dict(todays_defaults())
    before = load(SMALL)
    change_default(monkeypatch, PROTOCOL, "sessions", 5)
    change_default(monkeypatch, VARIANT, "stdout", "discard")
    today, again = load(SMALL), load(SMALL, defaults=then)
    assert (today.protocol.sessions, today.cells[0].stdout) == (5, "discard")
    assert (again.protocol.sessions, again.cells[0].stdout) == (6, "file")
    assert identity_of(again) == identity_of(before)
    assert again.to_dict() == before.to_dict()


def test_what_is_written_out_counts_whatever_the_default_became(load, monkeypatch):
    then = dict(todays_defaults())
    before = load(SMALL)
    change_default(monkeypatch, PROTOCOL, "sessions", 5)
    assert identity_of(load(SMALL + "protocol: {sessions: 6}\n", defaults=then)) == identity_of(
        before
    )
    assert identity_of(load(SMALL + "protocol: {sessions: 5}\n", defaults=then)) != identity_of(
        before
    )


def test_a_default_that_a_table_lacks_is_todays(load):
    older = {key: value for key, value in todays_defaults().items() if key != "isolation.aslr"}
    campaign = load(SMALL, defaults=older)
    assert campaign.isolation.aslr
    assert identity_of(campaign) == identity_of(load(SMALL))


def test_a_limit_by_default_is_no_part_of_the_identity(load):
    then = {**todays_defaults(), "isolation.limits.core": 0}
    campaign = load(SMALL, defaults=then)
    assert campaign.isolation.limits == {"core": 0}
    assert identity_of(campaign) == identity_of(load(SMALL))
    more = load(SMALL + "isolation: {limits: {nofile: 5}}\n", defaults=then)
    assert more.isolation.limits == {"core": 0, "nofile": 5}
    assert identity_of(more) != identity_of(campaign)


def test_each_setting_is_part_of_the_identity(load):
    settings = [
        *("protocol: {grace: 2s}", "isolation: {environment: {set: {A: b}}}", "seed: 2"),
        *("checks: {warn: [load]}", "hooks: {timeout: 5}", "description: x", "baseline: b"),
        *("isolation: {limits: {core: 0}}", "hooks: {finish: [[x]]}", "hooks: {before: [[x]]}"),
        *("protocol: {stop: {width: 0.1}}", "protocol: {stop: {width: 0.1, min_runs: 6}}"),
        "build: make",
    ]
    texts = [SMALL, *(SMALL.replace("baseline: a\n", "") + setting for setting in settings)]
    texts += [
        SMALL.replace("command: [p]", f"command: [p], {setting}")
        for setting in (
            "env: {A: b}",
            "stdin: f",
            "inputs: [f]",
            "timeout: 1s",
            "expect: {exit: 1}",
        )
    ]
    assert len({identity_of(load(text)) for text in texts}) == len(texts)


def test_two_rules_give_two_identities(load):
    campaign = load(SMALL)
    assert identity_of(campaign) == identity_of(campaign, RULE) != identity_of(campaign, 1)


def test_a_part_of_which_nothing_is_left_is_left_out(load, monkeypatch):
    # as a later version's whole new section, of which an earlier campaign uses nothing
    hashed = []
    monkeypatch.setattr(hashlib, "sha256", lambda text: hashed.append(text) or _Digest())
    identity_of(load(SMALL))
    content = json.loads(hashed[0])
    assert content.keys() == {"name", "baseline", "variants", "benchmarks", "cells", "builds"}
    assert content["cells"][0].keys() == {"benchmark", "variant", "command", "cwd"}


class _Digest:
    def hexdigest(self):
        return ""


# --- what a trial stores ----------------------------------------------------------------------


def test_the_stored_campaign_has_its_defaults_and_its_content(load):
    campaign = load(SMALL + "isolation: {cpus: 2-3}\n")
    stored = json.loads(resolved_text(campaign))
    assert stored["defaults"] == dict(todays_defaults())
    assert stored["campaign"] == campaign.to_dict()
    assert stored["campaign"]["isolation"]["cpus"] == [2, 3]
    assert stored["campaign"]["protocol"]["sessions"] == 6
    assert stored_defaults(resolved_text(campaign)) == dict(todays_defaults())


def test_stored_defaults_bring_back_every_value_with_its_type(load):
    defaults = stored_defaults(resolved_text(load(SMALL)))
    campaign = load(SMALL, defaults=defaults)
    assert campaign == load(SMALL)
    assert campaign.isolation == Isolation()
    assert campaign.cells[0].expect.exit_codes == (0,)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"{}", b'{"defaults": 3}'])
def test_a_text_without_defaults_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        stored_defaults(text)


def test_a_damaged_default_is_named_and_one_of_a_key_that_is_not_known_is_kept():
    kept = b'{"defaults": {"protocol.runs": 7, "protocol.of_a_later_version": [1]}}'
    assert stored_defaults(kept) == {"protocol.runs": 7, "protocol.of_a_later_version": [1]}
    damaged = b'{"defaults": {"protocol.sessions": 3, "protocol.runs": "many"}}'
    with pytest.raises(ValueError, match=r"^protocol\.runs cannot have had the default"):
        stored_defaults(damaged)
    own = b'{"own_defaults": {"isolation.nice": "low"}}'
    with pytest.raises(ValueError, match=r"^isolation\.nice cannot have had the default"):
        stored_own_defaults(own)


# --- the name alone ---------------------------------------------------------------------------


def test_the_name_is_read_from_a_campaign_with_other_mistakes(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("name: n.1\nprotocol: {runs: x}\n")
    assert campaign_name(path) == "n.1"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("variants: {a: }\n", "'name' is missing"),
        ("name: a b\n", "'name' must be a name"),
        ("name: [a]\n", "'name' must be a name"),
        ("- name\n", "a campaign is a mapping of keys"),
    ],
)
def test_a_campaign_without_a_name_is_told_so(tmp_path, text, what):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(CampaignError, match=what):
        campaign_name(path)


def test_who_may_read_a_trial_is_no_part_of_the_identity(load):
    plain, shared = load(SMALL), load(SMALL + "share: true\n")
    assert (plain.share, shared.share) == (False, True)
    for rule in (1, RULE):
        assert identity_of(plain, rule) == identity_of(shared, rule)
