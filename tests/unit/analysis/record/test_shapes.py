"""Stored records have the shapes of their dataclasses, and files of values what their rows say."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.errors import StoreError
from analysis.record.json_paths import JsonPathError, beside, find, parse_path, places, root
from analysis.record.shapes import (
    ShapeError,
    StoredSamples,
    check,
    packed,
    parse,
    position_in,
    read_samples,
    sample_file,
    shaped,
)


@dataclass(frozen=True, kw_only=True)
class Part:
    size: int
    more: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Whole:
    count: int
    ratio: float | None
    name: str
    kind: Literal["a", "b"]
    right: bool
    parts: tuple[Part, ...] = ()
    hues: Mapping[str, float] = field(default_factory=dict)
    further: Mapping[str, Any] = field(default_factory=dict)


GOOD = {"count": 1, "ratio": 0.5, "name": "x", "kind": "a", "right": True}


def test_a_record_comes_back_with_what_a_later_version_added():
    data = GOOD | {"parts": [{"size": 2, "colour": 1}], "hues": {"red": 1}, "colour": [None]}
    assert shaped(Whole, data) == Whole(
        **GOOD, parts=(Part(size=2),), hues={"red": 1}, further={"colour": [None]}
    )


def test_a_literal_may_be_a_word_of_a_later_version():
    assert shaped(Whole, GOOD | {"kind": "c"}).kind == "c"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"count": True}, "count is true, and must be a whole number of 64 bits"),
        ({"count": 1.0}, "count is 1.0, and must be a whole number of 64 bits"),
        ({"count": 2**63}, "count is a larger one, and must be a whole number of 64 bits"),
        ({"count": None}, "count is null"),
        ({"ratio": float("inf")}, "ratio is Infinity, and must be a finite number"),
        ({"ratio": "1"}, 'ratio is "1", and must be a finite number'),
        ({"name": ["x"]}, "name is a list, and must be a text"),
        ({"name": 5}, "name is 5, and must be a text"),
        ({"right": 1}, "right is 1, and must be true or false"),
        ({"kind": 3}, "kind is 3, and must be a text"),
        ({"parts": "ab"}, 'parts is "ab", and must be a list'),
        ({"parts": [{"size": 1}, 5]}, r"parts\[1\] is 5, and must be an object"),
        ({"parts": [{}]}, r"parts\[0\] lacks size"),
        ({"parts": [{"size": 1, "more": []}]}, r"parts\[0\].more is a list, and must be an object"),
        ({"hues": "red"}, "hues is .*, and must be an object"),
        ({"hues": {"red": None}}, "hues.red is null, and must be a finite number"),
    ],
)
@pytest.mark.parametrize("reader", [shaped, check])
def test_a_value_of_another_shape_is_named(reader, changes, said):
    with pytest.raises(ShapeError, match=said):
        reader(Whole, GOOD | changes)


@pytest.mark.parametrize("reader", [shaped, check])
@pytest.mark.parametrize("data", [[], 5, None, "x", {}, {"count": 1}])
def test_what_is_no_record(reader, data):
    with pytest.raises(ShapeError):
        reader(Whole, data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries({}, optional=dict.fromkeys([*GOOD, "parts", "hues", "z"], JSON)))
def test_to_check_refuses_what_to_make_refuses(changes):
    def refused(reader):
        try:
            reader(Whole, GOOD | changes)
        except ShapeError:
            return True
        return False

    assert refused(check) == refused(shaped)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        (b"\xff{}", "byte 1 is not UTF-8"),
        (b"{", "no JSON: .* at character 2"),
        (b"{} {}", "goes on after its end, at character 3"),
        (b"[NaN]", "NaN is no JSON"),
        (b"[-Infinity]", "-Infinity is no JSON"),
        (b"9" * 5000, "too many digits"),
        (b"[" * 200_000, "nested too deeply"),
        (b"", "no JSON"),
    ],
)
def test_bytes_that_are_no_json_are_told(text, said):
    with pytest.raises(ShapeError, match=said):
        parse(text)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON.filter(lambda value: "NaN" not in repr(value)))
def test_json_comes_back(value):
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        return
    assert parse(text.encode() + b"\n") == value


@given(st.binary(max_size=40) | st.text('[]{}",:01.eE-ntrfalsu ', max_size=6).map(str.encode))
def test_any_bytes_are_json_or_told(text):
    try:
        found = parse(text)
    except ShapeError:  # and nothing else
        found = None
    assert found is None or found == json.loads(text)


VALUES = [0.1, 1e-300, 3.0, 2**53 + 1.0, *(k / 7 for k in range(5000))]


@pytest.fixture
def stored(tmp_path):
    data, about = packed(VALUES)
    path = tmp_path / "0042-t.f64.gz"
    path.write_bytes(data)
    return path, about


def test_others_read_them_with_gzip_alone(stored):
    path, about = stored
    assert struct.unpack(f"<{len(VALUES)}d", gzip.decompress(path.read_bytes())) == tuple(VALUES)
    assert read_samples(path, about) == gzip.decompress(path.read_bytes())
    assert packed(VALUES) == packed(VALUES)
    assert path.read_bytes()[4:8] == bytes(4)  # no time


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.unlink(), "is missing"),
        (lambda path: path.write_bytes(path.read_bytes()[:-300]), "torn"),
        (lambda path: path.write_bytes(b""), "torn"),
        (lambda path: path.write_bytes(b"no gzip"), "cannot be read"),
        (lambda path: path.write_bytes(packed(VALUES[:-1])[0]), "not the 5004 values"),
        (lambda path: path.write_bytes(packed([*VALUES, 1.0])[0]), "not the 5004 values"),
        (lambda path: path.write_bytes(packed([*VALUES[:-1], 1.0])[0]), "not the 5004 values"),
        (lambda path: path.write_bytes(gzip.compress(bytes(10**7))), "not the 5004 values"),
    ],
)
def test_damage_is_an_error_that_names_the_file(stored, damage, said):
    path, about = stored
    damage(path)
    with pytest.raises(StoreError, match=said) as caught:
        read_samples(path, about)
    assert caught.value.where == str(path)
    assert caught.value.fix.startswith("restore the file")


def test_what_was_not_kept_says_so(tmp_path):
    with pytest.raises(
        StoreError, match=r"2000 values were not kept: the cap isolation.kept_outputs"
    ):
        read_samples(tmp_path / "0001-t.f64.gz", StoredSamples(count=2000))


@pytest.mark.parametrize(
    ("position", "warmup", "name"),
    [(7, False, "0007-t-1.f64.gz"), (12345, True, "12345-t-1.f64.gz"), (-2, True, "w2-t-1.f64.gz"),
     (-3, False, "r3-t-1.f64.gz")],
)  # fmt: skip
def test_a_file_is_named_after_its_run(position, warmup, name):
    assert sample_file(position, "t-1", warmup=warmup) == f"samples/{name}"
    assert position_in(name) == position
    assert position_in("current.f64.gz") is None


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
