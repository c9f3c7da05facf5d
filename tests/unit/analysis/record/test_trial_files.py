"""What a trial directory holds: builds, and the lists of looks at its sessions."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from analysis.errors import StoreError
from analysis.record.shapes import encode, encode_checked
from analysis.record.trial_files import (
    BUILDS,
    LOOKS,
    OPEN_LOOKS,
    Artifact,
    BuildRecord,
    LooksPlan,
    layouts_by_session,
    looked_after,
    next_look,
    read_builds,
    with_look,
)

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
