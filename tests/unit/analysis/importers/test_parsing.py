"""What readers share: values that count, their units, JSON with the places of its mistakes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from analysis.data.opening import Opened
from analysis.errors import AnalysisError
from analysis.importers import parsing
from analysis.importers.parsing import count_of, in_base_unit, text_of, texts_of


def opened(text: str | bytes, name: str = "r.json") -> Opened:
    data = text if isinstance(text, bytes) else text.encode()
    return Opened(source=name, name=name, path=Path(name), data=data)


NONE = opened("")


@pytest.mark.parametrize(
    ("value", "factor", "taken"),
    [(9, 1e-3, 0.009), (0.3, 1e-9, 0.3e-9), (1.1, 1e-6, 1.1e-6), (2, 60.0, 120.0), (0, 1.0, 0.0), (3, 1e-12, 3e-12)],
)  # fmt: skip
def test_a_converted_value_is_the_nearest_double(value, factor, taken) -> None:
    assert NONE.value(value, "x", factor=factor) == taken


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-0.5, "negative"), (-(10**400), "negative|not a finite"), (math.nan, "not a finite"), (math.inf, "not a finite"),
        (10**400, "not a finite"), ("NaN", "not a finite"), ("-INF", "not a finite"), ("1.0", "is no number"),
        (None, "None is no number"), (True, "True is no number"), ([1.0], "a list is no number"),
        ({}, "an object is no number"), ("x" * 999, "is no number"),
    ],
)  # fmt: skip
def test_what_is_no_value_is_refused_with_its_place(value: object, said: str) -> None:
    with pytest.raises(AnalysisError, match=said) as told:
        NONE.value(value, "a.b")
    assert "r.json, a.b" in str(told.value)
    assert len(str(told.value)) < 200


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf, None, "1"])
def test_of_many_values_the_wrong_one_is_named(wrong: object) -> None:
    assert NONE.values([1.0, 0.0, 2.5], "v") == (1.0, 0.0, 2.5)
    assert NONE.values([], "v") == ()
    assert NONE.values([1.0, 2], "v", factor=1e-3) == (0.001, 0.002)
    assert NONE.values([1.7e308, 1.7e308], "v") == (1.7e308, 1.7e308)  # their sum is infinite
    with pytest.raises(AnalysisError, match=r"v\[1\]"):
        NONE.values([1.0, wrong, 2.0], "v")


@pytest.mark.parametrize(
    ("value", "count"),
    [(3, 3), (3.0, 3), (0, 0), (3.5, None), (-1, None), (math.nan, None), (math.inf, None),
     (True, None), ("3", None), (None, None), (10**400, None)],
)  # fmt: skip
def test_counts(value: object, count: int | None) -> None:
    assert count_of(value) == count


def test_texts_of_keys() -> None:
    assert texts_of({"a": 1, "b": "x", "c": None, "d": [1], "e": 0.5, "f": True}) == {
        "a": "1", "b": "x", "e": "0.5", "f": "true",
    }  # fmt: skip
    assert texts_of([1]) == {}
    assert text_of({}) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a":\n[1, 2', "r.json:2: the file is cut off"),
        ('{"a": "b', "r.json:1: the file is cut off"),
        ('{"a": 1.', "the file is cut off"),
        ('{"a": tru', "the file is cut off"),
        ('{"a": 1}\n{"a": 2}', "r.json:2: the file holds something behind its JSON"),
        ('{"a" 1, "b": [1, 2, 3, 4, 5, 6, 7, 8, 9]}', r"r.json:1: it is no JSON: .*column 6"),
        ("[" * 100_000, "the JSON cannot be read|cut off"),
        ("[" + "9" * 5000 + "]", "the JSON cannot be read"),
        ('["\\ud800"]', "half a character"),
    ],
)
def test_json_that_cannot_be_read_says_where(text: str, said: str) -> None:
    file = opened(text)
    for _ in range(2):  # the second time it is remembered
        with pytest.raises(AnalysisError, match=said):
            file.json()
    assert file.structure() is None


def test_a_whole_character_of_two_halves_is_read() -> None:
    assert opened('["\\ud83d\\ude00"]').json() == ["😀"]


def test_a_file_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    file = opened('{"a": [1, 2.5, null, Infinity]}')
    assert (first := file.json()) == {"a": [1, 2.5, None, math.inf]}
    monkeypatch.setattr(parsing.json, "loads", None)
    assert file.structure() is first
    assert file.json() is first


def test_time_stamps_before_json() -> None:
    lines = [
        "2026-01-02T03:04:05.123Z {",
        '2026-01-02T03:04:05.124Z   "a": "2026-01-02T03:04:05Z"',
        "2026-01-02T03:04:06Z }",
    ]
    file = opened("\n".join(lines))
    assert file.looks_like_json()
    assert file.json() == {"a": "2026-01-02T03:04:05Z"}
    assert not opened("2026-01-02T03:04:05Z ok").looks_like_json()


@pytest.mark.parametrize(
    ("unit", "found"),
    [
        ("millisecond", (1e-3, "s")), ("milliseconds", (1e-3, "s")), ("Second", (1.0, "s")),
        ("usec", (1e-6, "s")), ("µs", (1e-6, "s")), ("μs", (1e-6, "s")), ("min", (60.0, "s")),
        ("microsecond", (1e-6, "s")), ("nanosecond", (1e-9, "s")), ("hr", (3600.0, "s")),
        ("day", (86400.0, "s")), ("Bytes", (1.0, "B")), ("TiB", (2.0**40, "B")),
        ("ms", (1e-3, "s")), ("KiB", (1024.0, "B")), ("MS", (1.0, "MS")), ("Mb", (1.0, "Mb")), ("ops/s", (1.0, "ops/s")), ("", (1.0, "")),
    ],
)  # fmt: skip
def test_units_of_time_and_size(unit, found) -> None:
    assert in_base_unit(unit) == found
