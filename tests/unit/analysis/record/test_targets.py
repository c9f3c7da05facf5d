"""Cells that share an executable refer to the first of them, and lose nothing by it."""

from __future__ import annotations

import json

from hypothesis import given, strategies as st

from analysis.record.environment import (
    commits_of_all,
    diff,
    packed_targets,
    whole_targets,
)

names = st.text("abcd/", min_size=1, max_size=4)
paths = st.sampled_from(["/bin/one", "/bin/two", "/bin/three"])
DESCRIBED = {
    path: {"path": path, "sha256": path[-3:], "libraries": {"libc": {"sha256": "1"}}}
    for path in ("/bin/one", "/bin/two", "/bin/three")
}


@given(st.dictionaries(names, paths))
def test_what_was_packed_comes_back_whole(cells):
    packed = packed_targets(cells, DESCRIBED)
    assert whole_targets(packed) == {name: DESCRIBED[path] for name, path in cells.items()}
    assert sum("sha256" in about for about in packed.values()) == len(set(cells.values()))


def test_the_record_grows_with_the_programs_and_not_with_the_cells():
    few = packed_targets({f"{k}/a": "/bin/one" for k in range(10)}, DESCRIBED)
    many = packed_targets({f"{k}/a": "/bin/one" for k in range(1000)}, DESCRIBED)
    libraries = json.dumps(many).count("libc")
    assert libraries == json.dumps(few).count("libc") == 1


def test_records_of_the_first_version_are_compared_with_packed_ones():
    whole = {"targets": {"x/a": DESCRIBED["/bin/one"], "y/a": DESCRIBED["/bin/one"]}}
    packed = {"targets": packed_targets({"x/a": "/bin/one", "y/a": "/bin/one"}, DESCRIBED)}
    assert diff(whole, packed) == diff(packed, whole) == ()
    other = {"targets": packed_targets({"x/a": "/bin/one", "y/a": "/bin/two"}, DESCRIBED)}
    assert [change.key for change in diff(whole, other)] == ["targets.y/a.sha256"]


def test_what_is_damaged_is_no_description():
    assert whole_targets(None) == whole_targets([]) == {}
    odd = {"x/a": {"same_as": "gone"}, "y/a": {"same_as": 3}, "z/a": None}
    assert whole_targets(odd) == odd


COMMITS = st.sampled_from([None, "4f0c2a1", "9b77e02"])


@given(st.dictionaries(names, st.tuples(paths, COMMITS), min_size=1))
def test_each_cell_keeps_its_commit_whatever_executable_it_shares(cells):
    told = {
        name: {"commit": commit} | ({"commit_unknown": "why"} if commit is None else {})
        for name, (_, commit) in cells.items()
    }
    packed = packed_targets({name: path for name, (path, _) in cells.items()}, DESCRIBED, told)
    whole = whole_targets(packed)
    assert whole == {name: DESCRIBED[path] | told[name] for name, (path, _) in cells.items()}


def test_the_commits_of_a_record_are_by_variant():
    told = {"x/a": {"commit": "4f0"}, "x/b": {"commit": None, "commit_unknown": "no git"}}
    told["y/a"] = told["x/a"]
    cells = {"x/a": "/bin/one", "x/b": "/bin/one", "y/a": "/bin/two", "x/c": "/bin/two"}
    record = {"targets": packed_targets(cells, DESCRIBED, told)}
    assert commits_of_all([record]) == {"a": "4f0", "b": None, "c": None}
    assert commits_of_all([{}]) == commits_of_all([{"targets": 3}]) == {}
    # one of a version before, one that is damaged, one whose names were taken out
    assert commits_of_all([{"targets": packed_targets(cells, DESCRIBED)}]) == dict.fromkeys("abc")
    odd = {"x/a": 3, "x/b": {"commit": 7}, "x/c": {"commit": "redacted-commit-1"}}
    assert commits_of_all([{"targets": odd}]) == dict.fromkeys("abc")
    several = {"x/a": {"commit": "4f0"}, "y/a": {"commit": "9b7"}}
    assert commits_of_all([{"targets": several}]) == {"a": None}


def test_a_trial_has_the_commit_that_its_records_agree_on():
    def record(commit):
        return {"targets": {"x/a": {"commit": commit}}}

    assert commits_of_all([record("4f0"), record(None), record("4f0")]) == {"a": "4f0"}
    assert commits_of_all([record("4f0"), record("9b7")]) == {"a": None}
    assert commits_of_all([record(None)]) == {"a": None}
    assert commits_of_all([]) == {}


def test_another_commit_of_the_same_program_is_no_change():
    """A commit that alters only the documentation drifts nothing; another program does."""
    cells = {"x/a": "/bin/one"}
    old, new = (
        {"targets": packed_targets(cells, DESCRIBED, {"x/a": {"commit": commit}})}
        for commit in ("4f0", "9b7")
    )
    assert diff(old, new) == ()
    other = {"targets": packed_targets({"x/a": "/bin/two"}, DESCRIBED, {"x/a": {"commit": "9b7"}})}
    assert [change.identity for change in diff(old, other)] == [True]
