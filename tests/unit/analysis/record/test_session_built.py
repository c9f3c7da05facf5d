"""Programs that a session's build makes are compared within a session only; authority: docs/environment.md."""

from __future__ import annotations

import pytest

from analysis.record.environment import (
    diff,
    neighbours_of_one_program,
    of_one_session,
    packed_targets,
    whole_targets,
)

LIBC = {"path": "/lib/libc.so.6", "sha256": "c1"}


def target(digest, *, commit=None, built="session", **libraries):
    about = {
        "path": "/c/prog",
        "resolved": "/c/prog",
        "sha256": digest,
        "kind": "elf",
        "libraries": {"libc.so.6": LIBC, **libraries},
    }
    return (
        about
        | ({} if built is None else {"built": built})
        | ({} if commit is None else {"commit": commit})
    )


def record(**targets):
    return {"targets": {f"text/{name}": about for name, about in targets.items()}}


def test_another_layout_in_another_session_is_no_change():
    assert diff(record(a=target("1")), record(a=target("2"))) == ()
    built_library = {"libx.so": {"path": "/c/libx.so", "sha256": "x1", "built": "session"}}
    other_library = {"libx.so": {"path": "/c/libx.so", "sha256": "x2", "built": "session"}}
    assert (
        diff(record(a=target("1", **built_library)), record(a=target("1", **other_library))) == ()
    )


def test_a_program_of_the_whole_trial_is_compared_as_before():
    """The negative control: without the mark the same hashes are another program."""
    (change,) = diff(record(a=target("1", built=None)), record(a=target("2", built=None)))
    assert (change.key, change.identity) == ("targets.text/a.sha256", True)


def test_a_library_of_the_host_is_compared_all_the_same():
    newer = {"libc.so.6": LIBC | {"sha256": "c2"}}
    (change,) = diff(record(a=target("1")), record(a=target("2", **newer)))
    assert change.key == "targets.text/a.libraries.libc.so.6"


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        ("4f0c2a1", "9b77e02", ["targets.text/a.commit"]),
        ("4f0c2a1", "4f0c2a1", []),
        ("4f0c2a1", None, []),  # what is not known differs from nothing
        ("redacted-commit-1", "redacted-commit-2", []),  # taken out of a bundle
    ],
)
def test_such_a_variant_is_its_commit(old, new, keys):
    before = {"targets": {f"{b}/a": target("1", commit=old) for b in ("text", "json")}}
    after = {"targets": {f"{b}/a": target("2", commit=new) for b in ("text", "json")}}
    found = diff(before, after)
    assert [change.key for change in found] == keys
    assert all(change.identity for change in found)


def test_a_program_that_became_one_of_sessions_has_no_hash_to_compare():
    assert diff(record(a=target("1", built=None)), record(a=target("2"))) == ()


def test_cells_that_share_such_an_executable_share_its_mark():
    packed = packed_targets({"x/a": "/c/prog", "y/a": "/c/prog"}, {"/c/prog": target("1")})
    assert all(map(of_one_session, whole_targets(packed).values()))
    assert not of_one_session(None)
    assert not of_one_session(target("1", built=None))


@pytest.mark.parametrize(("built", "groups"), [("session", 2), (None, 1)])
def test_neighbours_of_the_same_bytes_are_one_program_where_these_are_of_the_whole_trial(
    built, groups
):
    cells = [
        {"benchmark": "text", "variant": name, "command": {"argv": ["/c/prog"]}} for name in "ab"
    ]
    rows = [record(a=target("1", built=built), b=target("1", built=built))["targets"]]
    assert len(neighbours_of_one_program("ab", cells, rows)) == groups
