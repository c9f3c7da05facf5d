"""The decimals of a column, by the design's rule, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from analysis.methods.multilevel.result import Line
from analysis.report.written import written


def line(
    speedup: float | None, low: float | None = None, high: float | None = None, name: str = "b"
) -> Line:
    return Line(
        name=name,
        speedup=speedup,
        low=low,
        high=high,
        error=None,
        freedom=None,
        pvalue=None,
        pvalue_equivalent=None,
        outcome="undecided",
        more_sessions=None,
    )


def texts(one: Line, *others: Line) -> tuple[str, str, str]:
    found = written(one, (one, *others))
    return found.speedup.text, found.low.text, found.high.text


def test_a_column_that_spans_more_than_a_factor_of_one_and_a_half_has_two_decimals() -> None:
    fast, slow = line(6.087, 5.871, 6.318), line(1.047, 1.013, 1.082)
    assert texts(fast, slow) == ("6.09", "5.87", "6.32")
    assert texts(slow, fast) == ("1.05", "1.01", "1.08")


def test_a_narrow_column_has_three_decimals() -> None:
    assert texts(line(1.0224, 0.9981, 1.0449), line(0.989, 0.966, 1.012)) == (
        "1.022",
        "0.998",
        "1.045",
    )
    assert texts(line(0.6541, 0.6312, 0.6768), line(1.023, 0.974, 1.075))[0] == "0.654"


def test_a_rough_line_has_one_decimal_and_none_is_written_as_zero() -> None:
    # half-width (4.52 - 1.63) / 2 = 1.4
    assert texts(line(2.71, 1.63, 4.52), line(1.05, 1.01, 1.08)) == ("2.7", "1.6", "4.5")
    assert texts(line(2.7, 2.31, 3.1), line(1.1, 1.05, 1.2)) == ("2.70", "2.31", "3.10")
    assert texts(line(1.1, 0.0823, 14.9)) == ("1", "0.08", "15")


@pytest.mark.parametrize(
    ("low", "high", "written_low", "written_high"),
    [
        (1.0003, 1.0211, "1.0003", "1.0211"),
        (0.97, 0.9998, "0.9700", "0.9998"),
        (1.0, 1.0211, "1.000", "1.021"),  # it is 1
        (1.00004, 1.2, "1.00004", "1.20000"),
    ],
)
def test_no_end_rounds_to_one_unless_it_is_one(
    low: float, high: float, written_low: str, written_high: str
) -> None:
    assert texts(line(1.01, low, high))[1:] == (written_low, written_high)


def test_ends_that_differ_look_different_up_to_four_decimals() -> None:
    other = line(6.0, 5.9, 6.1)
    assert texts(line(2.7102, 2.7084, 2.7122), other) == ("2.710", "2.708", "2.712")
    assert texts(line(2.71, 2.71, 2.71), other) == ("2.71", "2.71", "2.71")


def test_large_and_small_numbers_have_three_significant_digits() -> None:
    assert texts(line(123.44, 123.1, 123.9), line(1.1, 1.0, 1.2)) == ("123", "123", "124")
    assert texts(line(12.344, 12.11, 12.55), line(1.1, 1.0, 1.2)) == ("12.3", "12.1", "12.6")
    assert texts(line(0.01234, 0.0121, 0.0126)) == ("0.0123", "0.0121", "0.0126")


def test_what_is_unknown_is_not_written() -> None:
    found = written(line(None), (line(None),))
    assert (found.speedup.text, found.speedup.value, found.interval) == ("", None, "")
    alone = written(line(1.1), (line(1.1),))
    assert (alone.speedup.text, alone.interval) == ("1.100", "")


positive = st.floats(1e-6, 1e6)


@given(st.lists(positive, min_size=3, max_size=3), st.lists(positive, max_size=5))
def test_the_text_is_the_number_to_its_last_digit(three: list[float], others: list[float]) -> None:
    low, middle, high = sorted(three)
    one = line(middle, low, high)
    found = written(one, (one, *map(line, others)))
    for value in (found.speedup, found.low, found.high):
        assert value.value is not None
        decimals = len(value.text.partition("e")[0].partition(".")[2])
        exponent = int(value.text.partition("e")[2] or 0)
        unit = 10.0 ** (exponent - decimals)
        assert abs(float(value.text) - value.value) <= 0.5000001 * unit
    for end in (found.low, found.high):
        if float(end.text) == 1.0:
            assert end.value == pytest.approx(1.0, rel=1e-11)
