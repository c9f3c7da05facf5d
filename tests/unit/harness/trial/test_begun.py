"""A trial goes on with the defaults that it began with."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path

import pytest

from analysis.errors import CampaignError, StoreError, UsageError
from analysis.record.manifest import read_manifest
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import (
    BEFORE,
    PROTOCOL,
    RULE,
    first_defaults,
    identity_of,
    resolved_text,
    todays_defaults,
)
from harness.trial.plan import plan_session, planned_runs
from harness.trial.resume import campaign_drift, check_plan, defaults_of, trial_begun
from harness.trial.writer import Store

UNFINISHED = Path(__file__).resolve().parents[3] / "golden/schemas/1-unfinished"
CAMPAIGN = "name: c\nvariants: {a: , b: }\nbaseline: a\nbenchmarks: {x: {command: [p]}}\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN)
    return path


@pytest.fixture
def begin(tmp_path, file, make_manifest):
    """Begin a trial of the campaign file as it is, and stop it."""

    def make(**changes):
        campaign = load_campaign(file)
        fields = {
            "variants": campaign.variants,
            "benchmarks": campaign.benchmarks,
            "seed": campaign.seed,
            "sessions": campaign.protocol.sessions,
            "runs": campaign.protocol.runs,
            "warmup": campaign.protocol.warmup,
            "planned": planned_runs(campaign, campaign.protocol.sessions),
            "campaign_sha256": identity_of(campaign),
            "campaign_identity": RULE,
        }
        manifest = make_manifest(**fields | changes)
        store = Store.create(manifest, tmp_path / "runs", campaign.text, resolved_text(campaign))
        store.append_plan(plan_session(campaign, campaign.seed, 1))
        store.finish("stopped", "for the test")
        return store.path

    return make


@pytest.fixture
def five_sessions(monkeypatch):
    """Make the default of ``protocol.sessions`` 5, as another version could."""

    def change():
        key = dataclasses.replace(PROTOCOL.keys["sessions"], default=5)
        monkeypatch.setitem(PROTOCOL.keys, "sessions", key)

    return change


def begun_of(file, **options):
    return trial_begun(file, file.parent / "runs", **options)


def test_a_changed_default_changes_no_plan_under_way(tmp_path, file, begin, five_sessions):
    path = begin()
    five_sessions()
    assert load_campaign(file).protocol.sessions == 5
    begun = begun_of(file)
    assert (begun.path, begun.sessions, begun.campaign.protocol.sessions) == (path, 6, 6)
    assert campaign_drift(path, begun.manifest, begun.campaign) == []
    store = Store.reopen(path)
    check_plan(store, begun.campaign)
    store.release()


def test_writing_a_default_out_is_no_change_and_another_value_is_one(file, begin, five_sessions):
    path = begin()
    five_sessions()
    for sessions, changed in ((6, False), (5, True), (4, True)):
        file.write_text(f"{CAMPAIGN}protocol: {{sessions: {sessions}}}\n")
        begun = begun_of(file)
        assert bool(campaign_drift(path, begun.manifest, begun.campaign)) == changed


def test_a_key_that_is_taken_away_is_a_change(file, begin):
    file.write_text(f"{CAMPAIGN}protocol: {{sessions: 4}}\n")
    path = begin()
    file.write_text(CAMPAIGN)
    begun = begun_of(file)
    assert begun.campaign.protocol.sessions == 6  # the default of then, not what was there
    (drift,) = campaign_drift(path, begun.manifest, begun.campaign)
    assert "-protocol: {sessions: 4}" in drift.what


def test_sessions_are_the_trials_or_more(file, begin):
    begin(sessions=4)
    assert [begun_of(file, sessions=n).sessions for n in (None, 2, 6)] == [4, 4, 6]


def test_the_seed_is_the_trials_unless_one_is_given(file, begin):
    begin(seed=9)
    assert begun_of(file).campaign.seed == 9
    assert begun_of(file, seed=3).campaign.seed == 3


def test_a_mistake_under_todays_defaults_only_is_none(tmp_path, file, begin, monkeypatch):
    from harness.campaign.schema import STOP

    file.write_text(f"{CAMPAIGN}protocol: {{stop: {{width: 0.1, min_runs: 30}}}}\n")
    begin()
    key = dataclasses.replace(STOP.keys["max_runs"], default=20)
    monkeypatch.setitem(STOP.keys, "max_runs", key)
    with pytest.raises(CampaignError, match="30 runs more than the most, 20"):
        load_campaign(file)
    assert begun_of(file).campaign.protocol.runs == 50


def test_a_folder_that_may_be_a_newer_trial_is_named(file, begin):
    # the attacks on 0.1.0, B14: a trial that died before it had a manifest
    path = begin()
    (path.parent / "c-29991231-000000-beef").mkdir()
    begun = begun_of(file)
    assert begun.path == path
    assert [Path(reason.where).name for reason in begun.passed_over] == ["c-29991231-000000-beef"]


def test_without_a_trial_there_is_nothing_to_go_on_with(file):
    with pytest.raises(UsageError, match="no trial of campaign 'c'"):
        begun_of(file)


# --- a trial of the first version -------------------------------------------------------------


@pytest.fixture
def unfinished(tmp_path):
    """Copy a trial that the first version began, and the user interrupted in session 1 of 3."""
    path = tmp_path / "runs" / read_manifest(UNFINISHED).trial
    shutil.copytree(UNFINISHED, path)
    (path / "outputs").mkdir()
    return path


@pytest.mark.parametrize("changed", [False, True])
def test_a_trial_of_the_first_version_goes_on(unfinished, five_sessions, changed):
    if changed:
        five_sessions()
    begun = trial_begun(unfinished / "campaign.yaml", unfinished.parent)
    assert begun.path == unfinished
    assert begun.manifest.campaign_identity == 1
    protocol = begun.campaign.protocol
    assert (begun.sessions, protocol.sessions, protocol.runs, protocol.warmup) == (3, 3, 2, 1)
    assert campaign_drift(unfinished, begun.manifest, begun.campaign) == []
    store = Store.reopen(unfinished)
    check_plan(store, begun.campaign)
    assert (store.rows.counted, store.manifest.planned) == (6, 36)
    store.release()


def test_a_changed_campaign_of_the_first_version_is_told(unfinished):
    file = unfinished.parent / "campaign.yaml"
    text = (unfinished / "campaign.yaml").read_text()
    for old, new in (("level: 2", "level: 3"), ("cpus: none", "cpus: auto"), ("[load]", "[]")):
        file.write_text(text.replace(old, new))
        begun = trial_begun(file, unfinished.parent)
        (drift,) = campaign_drift(unfinished, begun.manifest, begun.campaign)
        assert old in drift.what
        assert drift.where.endswith(f" -> {identity_of(begun.campaign, 1)}")


def test_the_first_versions_defaults_are_not_stored_with_its_trials(unfinished):
    assert not (unfinished / "resolved.json").exists()
    assert defaults_of(unfinished, read_manifest(unfinished)) == (
        {**BEFORE, **first_defaults()},
        {},
    )


def test_a_trial_that_began_before_the_key_goes_on_with_cells_that_are_never_ok(
    unfinished, tmp_path
):
    # trials under way go on as they began, those of later versions by what their table says
    assert (
        trial_begun(unfinished / "campaign.yaml", unfinished.parent).campaign.protocol.never_ok
        == "go_on"
    )
    file = tmp_path / "c.yaml"
    file.write_bytes((unfinished / "campaign.yaml").read_bytes())
    now = load_campaign(file)
    assert now.protocol.never_ok == "skip"
    then = load_campaign(file, defaults={**todays_defaults(), **BEFORE})
    assert then.protocol.never_ok == "go_on"
    assert identity_of(now) == identity_of(then)  # neither says anything of it


# --- what can be wrong with it ----------------------------------------------------------------


def test_lost_defaults_are_told(file, begin):
    path = begin()
    (path / "resolved.json").unlink()
    with pytest.raises(StoreError, match="cannot be read: the file is missing") as caught:
        begun_of(file)
    assert caught.value.where == str(path / "resolved.json")


def test_damaged_defaults_are_told(file, begin):
    path = begin()
    (path / "resolved.json").write_text("{}")
    with pytest.raises(StoreError, match="cannot be read: it has changed since the trial ended"):
        begun_of(file)
    manifest = json.loads((path / "manifest.json").read_text()) | {"files": {}}  # it was killed
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="cannot be read: it holds no defaults"):
        begun_of(file)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("protocol.sessions", "x"),
        ("protocol.sessions", None),
        ("protocol.runs", True),
        ("protocol.runs", 2**80),
        ("expect.exit", 0),
        ("variants.*.env", {"A": 5}),
        ("isolation.cpus", {}),
        ("isolation.aslr", 1),
        ("hooks.timeout", [1]),
    ],
)
def test_a_default_that_no_key_could_have_is_told(file, begin, name, value):
    path = begin()
    stored = json.loads((path / "resolved.json").read_text())
    stored["defaults"][name] = value
    (path / "resolved.json").write_text(json.dumps(stored))
    manifest = json.loads((path / "manifest.json").read_text()) | {"files": {}}  # it was killed
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match=re.escape(f"{name} cannot have had the default")):
        begun_of(file)


def test_the_defaults_that_were_stored_can_be_read(file, begin):
    begin()
    assert begun_of(file).campaign.defaults == todays_defaults()


def test_a_later_rule_of_identity_is_refused(file, begin):
    path = begin()
    manifest = json.loads((path / "manifest.json").read_text()) | {"campaign_identity": RULE + 1}
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StoreError, match="by rule 3, and 2 is the newest known here"):
        begun_of(file)
