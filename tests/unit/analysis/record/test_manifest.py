"""``manifest.json``: read back, held against itself; quantiles and their names."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.errors import StoreError, UsageError
from analysis.record.manifest import (
    about_quantile,
    appearing,
    manifest_text,
    needed,
    quantile_about,
    quantile_metric,
    quantile_of,
    read_manifest,
    write_hashed,
)
from analysis.record.trial_files import JudgedMetrics, judged_since
from tests.examples import examples

SCHEMAS = Path(__file__).parents[3] / "golden" / "schemas"


def test_a_folder_takes_its_name_at_the_end_and_not_before(tmp_path):
    place = tmp_path / "inner" / "trial"
    with appearing(place) as fresh:
        (fresh / "one").write_text("1")
        assert not place.exists()
    assert (place / "one").read_text() == "1"
    assert [path.name for path in place.parent.iterdir()] == ["trial"]
    with pytest.raises(UsageError, match="something is there already"), appearing(place):
        pass


@pytest.mark.parametrize("gone", [False, True])
def test_what_stops_a_writer_is_told_as_it_is_and_leaves_nothing(tmp_path, gone):
    def write():
        with appearing(tmp_path / "trial") as fresh:
            (fresh / "one").write_text("1")
            if gone:  # somebody has tidied up
                shutil.rmtree(fresh)
            raise LookupError("the reason")

    with pytest.raises(LookupError, match="the reason"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_bytes_are_on_the_disk_before_their_hash_is_given(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.fstat(fd).st_size))
    data = [b"some ", b"bytes"]
    assert write_hashed(tmp_path / "file", data) == hashlib.sha256(b"some bytes").hexdigest()
    assert synced == [10]
    with pytest.raises(FileExistsError):
        write_hashed(tmp_path / "file", data)


@pytest.mark.parametrize(("schema", "repeating"), [("1", False), ("2", True)])
def test_trials_of_the_second_schema_repeat_disturbed_runs(schema, repeating):
    manifest = read_manifest(SCHEMAS / schema / "trial")
    assert manifest.repeating is repeating
    lines = manifest.planned
    assert manifest.whole_sessions(lines) == lines
    assert manifest.whole_sessions(0) == 0


@pytest.mark.parametrize(
    ("change", "right"),
    [
        ({}, True),
        ({"when": "after", "session": 2}, True),
        ({"when": "between"}, False),
        ({"session": 3}, False),
        ({"watts": -1.0}, False),
        ({"error_w": -1.0}, False),
    ],
)
def test_an_idle_power_is_one_and_of_a_planned_session(tmp_path, change, right):
    idle = {"session": 1, "segment": 0, "when": "before", "watts": 9.5, "error_w": 0.1}
    data = json.loads((SCHEMAS / "2" / "trial" / "manifest.json").read_text())
    data["idle_power"] = [idle | {"seconds": 10.0} | change]
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    if right:
        assert read_manifest(tmp_path).idle_power[0].watts == 9.5
    else:
        with pytest.raises(StoreError, match="an idle power is none, or of a session"):
            read_manifest(tmp_path)


def test_a_node_that_is_no_text_is_damage(tmp_path):
    """The order of its runs is made of it: mutants of manifests, seed 1."""
    data = json.loads((SCHEMAS / "2" / "trial" / "manifest.json").read_text()) | {"node": "\ud800"}
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(StoreError, match="not text that can be written"):
        read_manifest(tmp_path)


def test_what_the_campaign_asks_is_added_where_it_is_something_else():
    first = JudgedMetrics(at="then", metrics=("wall",))
    assert judged_since((), (), "now") == ()
    assert judged_since([first], ("wall",), "now") == (first,)
    second = JudgedMetrics(at="now", metrics=("wall", "user"))
    assert judged_since([first], ("wall", "user"), "now") == (first, second)


# ---- the plan of looks: an optional key, whose absence keeps the bytes of what was written before


@pytest.fixture
def planned(tmp_path):
    """Give a function that reads a released trial's manifest with this plan of looks."""

    def read(plan):
        data = json.loads((SCHEMAS / "2" / "trial" / "manifest.json").read_text())
        if plan is not None:
            data["looks_plan"] = plan
        (tmp_path / "manifest.json").write_text(json.dumps(data))
        return read_manifest(tmp_path)

    return read


_PLAN = {"rule": "repeated", "looks": [3, 4, 5], "risk": 0.05, "candidates": 2}


@pytest.mark.parametrize("schema", ["1", "2"])
def test_a_trial_without_planned_looks_is_stored_as_ever(schema):
    manifest = read_manifest(SCHEMAS / schema / "trial")
    assert manifest.looks_plan is None
    assert "looks_plan" not in manifest.to_dict()


def test_planned_looks_are_read_and_written_as_they_were_with_the_keys_of_a_later_version(planned):
    plan = _PLAN | {"left": {"gzip-1": 4}, "stopped_because": "decided", "futile": [1, 2]}
    manifest = planned(plan)
    assert manifest.looks_plan is not None
    assert manifest.looks_plan.looks == (3, 4, 5)
    assert manifest.looks_plan.left == {"gzip-1": 4}
    assert manifest.to_dict()["looks_plan"] == plan | {"open": False, "margin": 0.01}
    again = json.loads(manifest_text(manifest))
    assert again["looks_plan"]["futile"] == [1, 2]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rule": "often"}, "rule of looks"),
        ({"looks": [4, 3]}, "in their order"),
        ({"looks": []}, "in their order"),
        ({"risk": 1.0}, "between 0 and 1"),
        ({"margin": -0.1}, "between 0 and 1"),
        ({"candidates": 0}, "no candidate"),
        ({"left": {"nobody": 3}}, "a variant left"),
        ({"left": {"gzip-6": 3}}, "a variant left"),  # the baseline
        ({"stopped_because": "bored"}, "why its looks ended"),
    ],
)
def test_a_plan_of_looks_that_is_none_is_damage(planned, change, told):
    assert planned(_PLAN).looks_plan is not None
    with pytest.raises(StoreError, match=told):
        planned(_PLAN | change)


@pytest.mark.parametrize(
    ("share", "name", "values"),
    [(0.5, "t.p50", 2), (0.99, "t.p99", 100), (0.999, "t.p99.9", 1000), (0.01, "t.p1", 100),
     (0.07, "t.p7", 15), (1e-6, "t.p0.0001", 10**6), (0.3, "t.p30", 4)],
)  # fmt: skip
def test_a_quantile_has_a_name_and_needs_so_many_values(share, name, values):
    assert quantile_metric("t", share) == name
    assert needed(share) == values
    assert quantile_of(range(values - 1), share) is None
    assert quantile_of(range(values), share) is not None


@settings(max_examples=examples(60))
@given(
    st.lists(st.floats(0, 1e9), min_size=1, max_size=300),
    st.sampled_from([0.01, 0.07, 0.1, 0.25, 0.3, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999]),
)
def test_it_is_the_value_that_an_independent_computation_gives(values, share):
    found = quantile_of(sorted(values), share)
    if len(values) < needed(share):
        assert found is None
    elif (share * len(values)) % 1 == 0 or share not in (0.07, 0.3):  # numpy's product is rounded
        assert found == np.quantile(values, share, method="inverted_cdf")


def test_a_share_counts_as_it_was_written():
    # 0.07 * 100 is 7.000000000000001 as a product of doubles
    assert quantile_of(range(1, 101), 0.07) == 7
    assert quantile_of(range(1, 1001), 0.999) == 999


def test_a_manifest_says_which_it_is():
    about = about_quantile("ms", "lower", "t", 0.999)
    assert quantile_about(about) == ("t", 0.999)
    assert quantile_about({"unit": "s", "better": "lower"}) is None
    with pytest.raises(ValueError, match=r"quantile is 1\.5"):
        quantile_about(about | {"quantile": "1.5"})
