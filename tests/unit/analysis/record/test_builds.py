"""``builds.jsonl`` is read as docs/trial-format.md says: keys, checksum, a torn last line, a missing file."""

import json

import pytest

from analysis.errors import StoreError
from analysis.record.shapes import encode, encode_checked
from analysis.record.trial_files import (
    BUILDS,
    Artifact,
    BuildRecord,
    layouts_by_session,
    read_builds,
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
