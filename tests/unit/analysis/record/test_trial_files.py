"""What a trial directory holds: builds, and the lists of looks at its sessions."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import replace
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
from analysis.record.shapes import encode, encode_checked
from analysis.record.trial_files import (
    BUILDS,
    LOOKS,
    OPEN_LOOKS,
    Artifact,
    BuildRecord,
    JudgedMetrics,
    LooksPlan,
    judged_since,
    layouts_by_session,
    looked_after,
    next_look,
    read_builds,
    with_look,
)
from tests.examples import examples

ONE = BuildRecord(
    session=1,
    segment=0,
    variant="new",
    layout_seed=5,
    artifacts={"build/new": Artifact(sha256="a" * 64, bytes=12)},
    programs={"build/new": "a" * 64, "run.sh": "b" * 64},
    seconds=0.25,
    max_rss_bytes=30_000_000,
    max_rss_floor_bytes=9_000_000,
    log=("outputs/build-new-session1-1.log",),
    at="2026-11-27T09:00:00.000000Z",
)


def like(**changes):
    return BuildRecord(**{name: getattr(ONE, name) for name in ONE.__dataclass_fields__} | changes)


def stored(trial, *records, tail=b""):
    lines = (encode_checked(record.to_dict()) + b"\n" for record in records)
    (trial / BUILDS).write_bytes(b"".join(lines) + tail)
    return trial


def test_a_build_comes_back_as_it_was_written_without_later_keys_and_torn_lines(tmp_path):
    once = like(session=0, layout_seed=None, artifacts={}, max_rss_bytes=None)
    assert read_builds(stored(tmp_path, once, ONE)) == (once, ONE)
    row = json.loads((tmp_path / BUILDS).read_bytes().splitlines()[1])
    assert row["artifacts"] == {"build/new": {"sha256": "a" * 64, "bytes": 12}}
    assert list(row)[-1] == "crc32"
    line = encode_checked(ONE.to_dict() | {"linker": "lld"}) + b"\n"
    (tmp_path / BUILDS).write_bytes(line)
    assert read_builds(tmp_path) == (ONE,)
    torn = encode_checked(like(session=2).to_dict())
    assert read_builds(stored(tmp_path, ONE, tail=torn[:-30])) == (ONE,)


def test_a_trial_without_the_file_has_no_builds(tmp_path):
    assert read_builds(tmp_path) == ()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (encode_checked(ONE.to_dict()).replace(b"0.25", b"0.26"), "checksum"),
        (encode(ONE.to_dict()), "checksum"),
        (encode_checked({"session": 1}), "lacks"),
        (encode_checked(ONE.to_dict() | {"artifacts": {"x": 1}}), "artifacts.x"),
    ],
)
def test_a_damaged_line_is_refused_with_its_place(tmp_path, line, said):
    stored(tmp_path, ONE, tail=line + b"\n")
    with pytest.raises(StoreError) as error:
        read_builds(tmp_path)
    assert said in error.value.what
    assert error.value.where == f"{tmp_path / BUILDS}:2"


def test_a_layout_is_told_by_the_artifacts_and_without_any_by_the_programs():
    assert ONE.layout == (("build/new", "a" * 64),)
    assert like(artifacts={}).layout == (("build/new", "a" * 64), ("run.sh", "b" * 64))
    assert ONE.hashes == {"build/new": "a" * 64, "run.sh": "b" * 64}


def test_the_last_build_of_a_session_is_what_it_was_measured_with():
    once, again = like(session=0, variant="old"), like(segment=1, layout_seed=6)
    found = layouts_by_session([once, ONE, again, like(session=2)])
    assert found == {"new": {1: again, 2: like(session=2)}}


def test_the_lists_are_those_that_were_decided():
    assert LOOKS == (3, 4, 5, 6, 8, 10, 13, 17, 22, 29, 38, 49, 64, 83, 108)
    assert OPEN_LOOKS[: len(LOOKS)] == LOOKS
    assert (len(OPEN_LOOKS), OPEN_LOOKS[-1]) == (23, 1024)
    assert list(OPEN_LOOKS) == sorted(set(OPEN_LOOKS))


def test_a_look_off_the_list_takes_the_place_of_the_next_one():
    assert with_look(LOOKS, 13) == LOOKS
    assert with_look(LOOKS, 45) == (*LOOKS[:11], 45, *LOOKS[12:])
    assert with_look(LOOKS, 200) == LOOKS
    once_more = with_look(with_look(LOOKS, 45), 50)
    assert once_more[11:] == (45, 50, 83, 108)


@given(st.lists(st.integers(3, 108), max_size=12))
def test_there_are_never_more_looks_than_were_planned(caps):
    looks = LOOKS
    for cap in sorted(caps):
        looks = with_look(looks, cap)
        assert cap in looks or cap > looks[-1]
    assert len(looks) == len(LOOKS)
    assert list(looks) == sorted(set(looks))


def test_plans_go_on_in_the_same_list():
    plan = LooksPlan(rule="repeated", looks=LOOKS)
    assert (next_look(plan, 0), next_look(plan, 38), next_look(plan, 108)) == (3, 49, None)
    assert next_look(replace(plan, looks=OPEN_LOOKS, open=True), 108) == 143
    capped = looked_after(plan, 45)
    assert (len(capped.looks), next_look(capped, 45)) == (len(LOOKS), 64)
    once = LooksPlan(rule="planned", looks=(6,))
    assert looked_after(once, 4) == once


# --- ``manifest.json``: read back, held against itself; quantiles and their names


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
