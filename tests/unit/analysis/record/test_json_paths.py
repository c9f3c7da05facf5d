from __future__ import annotations

import pytest

from analysis.record.json_paths import JsonPathError, beside, find, parse_path, places, root

DATA = {
    "results": [{"name": "a", "times": [1.5, 2.5]}, {"name": "b", "times": [3.5]}],
    "total": 7,
    "a.b": {"c d": [[1, 2], [3]]},
    "none": None,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("total", [7]),
        ("none", [None]),
        ("results[0].name", ["a"]),
        ("results[*].name", ["a", "b"]),
        ("results[*].times[*]", [1.5, 2.5, 3.5]),
        ("results[*].times[0]", [1.5, 3.5]),
        ('["a.b"].c d[*][0]', [1, 3]),
        ('["a.b"]["c d"][0][1]', [2]),
        ("results[*]@", [0, 1]),
        ('["a.b"][*]@', ["c d"]),
        ('["a.b"][*][*][*]', [1, 2, 3]),
        ("results[*].times[*]^.name", ["a", "a", "b"]),
        ("results[*].times[*]^^.total", [7, 7, 7]),
        ("results[*]$.total", [7, 7]),
        ("$.total", [7]),
        ("missing | total", [7]),
        ("none | 'a | b'", ["a | b"]),
        ("none | missing", [None]),
    ],
)
def test_a_path_finds_its_values_in_order(path, found):
    assert find(DATA, path) == found


def test_a_place_says_where_it_is_and_what_stands_beside_it():
    found = places(root(DATA), "results[*].times[*]")[2]
    assert found.where == "results[1].times[0]"
    assert [entry.where for entry in found.entries] == ["", "results[1]", "results[1].times[0]"]
    own = "results[*].times[*]"
    for path, value in {"results[*].name": "b", "total": 7, "results[*].times[*]@": 0}.items():
        assert [one.value for one in beside(found, own, path)] == [value]
    assert [one.value for one in beside(found, own, "results[*].x | 'ms'")] == ["ms"]


def test_a_path_may_begin_with_an_index_and_signs_within_keys_are_of_the_key():
    assert find([[1, 2], [3]], "[*][0]") == [1, 3]
    assert find({"a": []}, "a[*]") == []
    keys = ["@type", "$ref", "^x", "a^", "b@", "a|b", "it's"]
    assert [find({key: key}, key) for key in keys] == [[key] for key in keys]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("missing", "the document has no key 'missing'"),
        ("results[2].name", "results has no item 2"),
        ("results[*].times[1]", "results[1].times has no item 1"),
        ("total[0]", "total is not a list"),
        ("total.x", "total has no key 'x'"),
        ("[0]", "the document is not a list"),
        ("results.name", "results has no key 'name'"),
        ("results[*].x | total.x", "results[0] has no key 'x', and total has no key 'x'"),
        ("total[*]", "total is not a list"),
        ("^.total", "the document is in no [*]"),
    ],
)
def test_what_is_not_there_is_an_error_and_never_left_out(path, message):
    with pytest.raises(JsonPathError) as caught:
        find(DATA, path)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("path", "at"),
    [
        (".a", 1),
        ("a.", 2),
        ("a..b", 2),
        ("a[", 2),
        ("a[]", 2),
        ("a[-1]", 2),
        ("a[01]", 2),
        ("a[1]b", 5),
        ("a[x]", 2),
        ('a["x]', 2),
        ("a[1", 2),
        (" a", 1),
    ],
)
def test_a_wrong_path_is_refused_with_its_place(path, at):
    with pytest.raises(JsonPathError, match=f"from character {at} on"):
        parse_path(path)


def test_an_empty_path_is_refused():
    with pytest.raises(JsonPathError, match="empty"):
        parse_path("")
