"""Cells that share an executable refer to the first of them, and lose nothing by it."""

from __future__ import annotations

import json

from hypothesis import given, strategies as st

from analysis.record.environment_changes import diff
from analysis.record.environment_records import packed_targets, whole_targets

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
