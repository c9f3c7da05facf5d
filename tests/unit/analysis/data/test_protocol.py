"""What a trial says of its campaign; docs/trial-format.md has the files and their keys."""

import json
from dataclasses import replace

from analysis.data.host_record import builds_each_session, campaign_text, pinned_cpus, settings_of
from analysis.data.trial import read_trial
from analysis.record.trial_files import CAMPAIGN, RESOLVED


def test_text_and_settings(tmp_path):
    (tmp_path / CAMPAIGN).write_bytes(b"name: x # \xff\n")
    (tmp_path / RESOLVED).write_text(json.dumps({"campaign": {"protocol": {"runs": 3}}}))
    assert campaign_text(tmp_path) == "name: x # \ufffd\n"
    assert settings_of(tmp_path) == {"protocol": {"runs": 3}}


def test_files_that_are_missing_or_damaged_tell_nothing(tmp_path):
    assert campaign_text(tmp_path) is None
    assert settings_of(tmp_path) == {}
    for text in ("{torn", "[]", '{"campaign": 3}'):
        (tmp_path / RESOLVED).write_text(text)
        assert settings_of(tmp_path) == {}


def test_cpus_are_those_of_each_session(tmp_path, synthetic):
    trial = synthetic({"a": {"x": [1.0] * 6}}, sessions=3)
    chosen = {1: (3,), 2: None, 3: (3,)}
    trial.rows = [replace(row, cpus=chosen[row.session]) for row in trial.rows]
    assert pinned_cpus(read_trial(trial.write(tmp_path / "t"))) == ((3,), None)


def test_the_variants_that_each_session_builds(tmp_path):
    builds = [
        {"variant": "a", "each": "session"},
        {"variant": "b"},
        {"variant": "c", "each": "campaign"},
    ]
    (tmp_path / RESOLVED).write_text(json.dumps({"campaign": {"builds": builds}}))
    assert builds_each_session(tmp_path) == {"a"}
    for odd in ({}, {"builds": 3}, {"builds": [3, {"each": "session"}]}):
        (tmp_path / RESOLVED).write_text(json.dumps({"campaign": odd}))
        assert builds_each_session(tmp_path) == frozenset()
