"""Environment records: what changed between two, which executable a cell has, what sessions built."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from analysis.record.environment import (
    commits_of_all,
    describe_changes,
    diff,
    neighbours_of_one_program,
    of_one_session,
    packed_targets,
    places_of,
    whole_targets,
)

ONE = {
    "host": {"machine_id_sha256": "a" * 64, "boot_id": "x"},
    "cpu": {"model": "M 1"},
    "kernel": {"clocksource": "tsc"},
    "tools": {"compilers": {"gcc": "12"}},
    "hidden_variables": {"key": "k", "hashes": {"TOKEN": "1"}},
}


def other(**sections):
    return {name: {**about, **sections.get(name, {})} for name, about in ONE.items()}


def test_nothing_changed():
    assert diff(ONE, other()) == ()
    assert describe_changes(()) == "nothing changed"


def test_another_server_is_another_trial_and_that_of_a_sessions_build_is_not():
    def record(digest, **more):
        return {"services": {"s/a": {"port": 1, "path": "/opt/server", "sha256": digest, **more}}}

    assert diff(record("a" * 64), record("a" * 64, port=2)) == ()
    (change,) = diff(record("a" * 64), record("b" * 64))
    assert change.identity
    assert change.what == "the program of the service s/a is another one than before: /opt/server"
    (change,) = diff(record("a" * 64), record(None))
    assert change.what.endswith("cannot be read any more: /opt/server")
    built = {"built": "session"}
    assert diff(record("a" * 64, **built), record("b" * 64, **built)) == ()
    assert diff({}, record("a" * 64)) == ()  # a record of before there were services


def test_another_machine_is_another_trial_and_an_unknown_one_is_not():
    (change,) = diff(ONE, other(host={"machine_id_sha256": "b" * 64}))
    assert (change.identity, change.what) == (
        True,
        "this is another machine: its machine id differs",
    )
    for a, b in ((ONE, None), (None, ONE)):
        sides = [other(host={"machine_id_sha256": None}) if one is None else one for one in (a, b)]
        (change,) = diff(*sides)
        assert not change.identity
        assert change.what.startswith("the machine id could be read only once")


@pytest.mark.parametrize(
    ("kind", "about", "what"),
    [
        ("kernel", {"clocksource": "hpet"}, "kernel.clocksource changed from tsc to hpet"),
        ("kernel", {"clocksource": None}, "kernel.clocksource is unknown now; it was tsc"),
        ("tools", {"compilers": {"gcc": "13"}}, "tools.compilers.gcc changed from 12 to 13"),
        ("tools", {"compilers": {"gcc": "12", "cc": "9"}}, "tools.compilers.cc is now 9; it was unknown"),
        ("variable-key", {"key": "other"}, "whether values of variables changed that are not stored is open: another key"),
        ("variables", {"hashes": {"TOKEN": "2"}}, "the variable TOKEN changed (its value is not stored)"),
    ],
)  # fmt: skip
def test_a_change_is_a_sentence(kind, about, what):
    section = "hidden_variables" if kind.startswith("variable") else kind
    (change,) = diff(ONE, other(**{section: about}))
    assert (change.what, change.kind, change.identity) == (what, kind, False)
    assert describe_changes((change,)) == f"changed:\n  {what}"


def test_what_makes_it_another_trial_stands_first():
    changes = diff(ONE, other(kernel={"clocksource": "hpet"}, cpu={"model": "M 2"}))
    assert describe_changes(changes).splitlines() == [
        "this is no longer the same trial:",
        "  the processor changed from M 1 to M 2",
        "also changed:",
        "  kernel.clocksource changed from tsc to hpet",
    ]


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


@pytest.mark.parametrize(
    ("record", "places"),
    [
        ({"session": 3}, [(3, 0)]),
        ({"session": 3, "segment": 2}, [(3, 2)]),
        ({"session": 1, "segment": 0, "sessions": [1, 3]}, [(1, 0), (2, 0), (3, 0)]),
        ({"session": 3, "segment": 1, "sessions": [3, 5]}, [(3, 1), (4, 0), (5, 0)]),
        ({"session": 2, "sessions": [2, 2]}, [(2, 0)]),
        ({"session": 4, "sessions": [4, None]}, [(4, 0), (5, 0), (6, 0)]),  # killed
        ({"session": 4, "sessions": [4, 10**18]}, [(4, 0), (5, 0), (6, 0)]),  # damaged
        ({"session": 4, "sessions": "all"}, [(4, 0)]),
        ({"session": 4, "sessions": []}, [(4, 0)]),
    ],
)
def test_a_record_tells_of_its_sessions(record, places):
    assert list(places_of(record, 6)) == places
