"""Separators, decimal signs and headings of bare tables: what fits two readings is refused."""

import re

import pytest

from analysis.data.matrix_file import read_text
from analysis.data.number_text import number_in
from analysis.errors import AnalysisError


def read(text: str, **options: object) -> dict[str, list[float]]:
    found = read_text(text, "x", **options)  # type: ignore[arg-type]
    return {name: [value for _, value in row] for name, row in found.samples.items()}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # a comma and a blank are one separator
        ("1, 5, 7\n", {"1": [1, 5, 7]}),
        ("sort, 12, 13, 12\nfind, 1, 2, 3\n", {"sort": [12, 13, 12], "find": [1, 2, 3]}),
        ("1.5,2.5\n", {"1": [1.5, 2.5]}),
        ("1,5,7\n2,5\n", {"1": [1, 5, 7], "2": [2, 5]}),
        ("my bench,12.5,13.5\n", {"my bench": [12.5, 13.5]}),
        ("sort,12\nfind,5\n", {"sort": [12], "find": [5]}),
        ("a,b\n1,5\n2,6\n3,7\n", {"a": [1, 2, 3], "b": [5, 6, 7]}),
        ("r1,r2\n1,5\n2,6\n", {"1": [1, 5], "2": [2, 6]}),
        ("sort,12\nfind,5\nAverage,8\n", {"sort": [12], "find": [5]}),
        ("my own runs\n12\n13\n", {"values": [12, 13]}),
        # where something else separates a comma is the decimal sign
        ("sort;12,5;13,5;12,9\n", {"sort": [12.5, 13.5, 12.9]}),
        ("12,5 13,5\n22,5 23,5\n", {"1": [12.5, 13.5], "2": [22.5, 23.5]}),
        ("sort 12,5 13,5\nfind 1 2,5\n", {"sort": [12.5, 13.5], "find": [1, 2.5]}),
        ("name r1 r2\nsort 12,5 13,5\n", {"sort": [12.5, 13.5]}),
        ("sort\t12,5\t1,234\n", {"sort": [12.5, 1.234]}),
        ("0,123;0,456\n", {"1": [0.123, 0.456]}),
        ("1234,567\t999\n", {"1": [1234.567, 999]}),
        ("1,5e-3;2,5e+2;3\n", {"1": [0.0015, 250, 3]}),
        ("a;b,12,13\n", {"a;b": [12, 13]}),
        # names
        ('" sort ",1,2\n', {"sort": [1, 2]}),
        ('"my name" 1 2\n', {"my name": [1, 2]}),
        ('"a\nb",1,2\nc,3,4\n', {"a\nb": [1, 2], "c": [3, 4]}),
        ('5" disk,1,2\n', {'5" disk': [1, 2]}),
    ],
)
def test_one_separator_and_one_decimal_sign(text: str, found: dict[str, list[float]]) -> None:
    assert read(text) == found


@pytest.mark.parametrize(
    ("text", "comma", "point"),
    [
        ("1,5\n2,5\n", {"values": [1.5, 2.5]}, {"1": [1, 5], "2": [2, 5]}),
        ("time\n1,5\n2,5\n", {"values": [1.5, 2.5]}, {"1": [1, 5], "2": [2, 5]}),
        ("1,001\n999\n", {"values": [1.001, 999]}, {"1": [1, 1], "2": [999]}),
        ("12,500;999\n", {"1": [12.5, 999]}, {"1": [12500, 999]}),
        ("sort\t1,001\t999\n", {"sort": [1.001, 999]}, {"sort": [1001, 999]}),
        ("12,500 13,500\n", {"1": [12.5, 13.5]}, {"1": [12500, 13500]}),
        (
            "sort 12,5\nfind 13,5\n",
            {"sort": [12.5], "find": [13.5]},
            {"sort 12": [5], "find 13": [5]},
        ),
        ("1,5, 2,5\n", {"1": [1.5, 2.5]}, {"1": [1, 5, 2, 5]}),
        ("123,456,789\n", None, {"1": [123, 456, 789]}),
        ("1.234,5\n9,5\n", {"values": [1234.5, 9.5]}, {"1": [1.234, 5], "2": [9, 5]}),
        ("sort, 1,5, 2,5\n", {"sort": [1.5, 2.5]}, {"sort": [1, 5, 2, 5]}),
        ('"1,234"\n"999"\n', {"values": [1.234, 999]}, {"values": [1234, 999]}),
    ],
)
def test_what_fits_two_readings_is_refused_until_one_is_said(
    text: str, comma: dict[str, list[float]] | None, point: dict[str, list[float]]
) -> None:
    with pytest.raises(AnalysisError) as told:
        read(text)
    assert "--decimal comma" in str(told.value) + str(told.value.fix)
    assert "--decimal point" in str(told.value) + str(told.value.fix)
    assert not re.search(r"\d\.\d+\.\d", str(told.value))
    assert told.value.where is not None
    assert told.value.where.startswith("x:")
    assert read(text, decimal="point") == point
    if comma is None:
        with pytest.raises(AnalysisError, match="is not a number"):
            read(text, decimal="comma")
    else:
        assert read(text, decimal="comma") == comma


def test_blanks_between_thousands_are_no_separators_by_accident() -> None:
    for text in ("1 234\n1 301\n", "999\n1 001\n", "12 345 678\n"):
        with pytest.raises(AnalysisError, match=r"may be one number, .*or . runs") as told:
            read(text)
        assert "--layout rows" in str(told.value.fix)
    assert read("1 234\n1 301\n", layout="rows") == {"1": [1, 234], "2": [1, 301]}
    assert read("sort 100 200\n") == {"sort": [100, 200]}
    assert read("100 200 99\n") == {"1": [100, 200, 99]}
    for text in ("1\u00a0234\n", "sort;1 234;5\n", "1\u202f234;1\n"):
        with pytest.raises(AnalysisError, match=r"is not a number|has no runs"):
            read(text)


@pytest.mark.parametrize("text", ["1_000", "١٢", "1e", "0x10", "1,234,5;2", "--1", "1..2", "１２"])
def test_what_only_python_takes_for_a_number_is_none(text: str) -> None:
    assert number_in(text) is None
    with pytest.raises(AnalysisError):
        read(f"1.5\n{text}\n")


def test_a_number_that_no_float_holds_is_told() -> None:
    assert number_in("1e-400") is None
    assert number_in("0.0e-400") == 0
    assert number_in("1e-320") == 1e-320
    with pytest.raises(AnalysisError, match="too small"):
        read("1.5\n1e-400\n")


def test_headings_need_a_reason() -> None:
    assert read("sort,12,13,12\nfind,1,2,3\n") == {"sort": [12, 13, 12], "find": [1, 2, 3]}
    assert read("sort,1,2,3\nfind,1,2,3\n") == {"sort": [1, 2, 3], "find": [1, 2, 3]}
    assert read("benchmark,1,2\nfind,4,5\n") == {"find": [4, 5]}
    assert read("kernel,run 1,run 2\nfind,4,5\n") == {"find": [4, 5]}
    assert not read_text("benchmark,run 1,2,r3,time_4\nsort,1,2,3,4\n", "x").cautions
    odd = read_text("sort,1,2\n429,3,4\n", "x")
    assert list(odd.samples) == ["sort", "429"]
    assert [caution.code for caution in odd.cautions] == ["numbers-as-names"]


def test_long_texts_are_cut_in_messages() -> None:
    for text in (f"sort,1,{'9' * 100_000}x\n", f"{'a' * 100_000},1\n" * 2, f"{'a' * 100_000},\n"):
        with pytest.raises(AnalysisError) as told:
            read(text)
        assert len(str(told.value)) < 400


def test_a_list_with_two_numbers_in_a_line_is_refused() -> None:
    for text in ("1\n2 3\n", "1\n1,001\n", "1\n2,3,4\n"):
        with pytest.raises(AnalysisError, match=r"is not one number|may be one number"):
            read(text)
    assert read("1\n2 3\n", layout="rows") == {"1": [1], "2": [2, 3]}


def test_a_column_of_names_alone_holds_no_values() -> None:
    for text in ("1.5\u0663\n2.5\n", "a\nb\n", "run,\n1,\n"):
        with pytest.raises(AnalysisError):
            read(text, layout="columns")
