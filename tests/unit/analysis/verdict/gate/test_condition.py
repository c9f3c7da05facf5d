"""Conditions: which are understood, and the speedup below which they hold."""

from __future__ import annotations

import math

import pytest

from analysis.errors import UsageError
from analysis.pages.result import parse_condition


@pytest.mark.parametrize(
    ("text", "told", "limit"),
    [
        ("slower>2%", "slower>2%", 1 / 1.02),
        (" slower > 2.50 % ", "slower>2.5%", 1 / 1.025),
        ("worse>2%", "worse>2%", 1 / 1.02),
        ("slower>0%", "slower>0%", 1.0),
        ("slower>100%", "slower>100%", 0.5),
        ("faster<5%", "faster<5%", 1.05),
        ("faster<0%", "faster<0%", 1.0),
    ],
)
def test_a_condition_is_a_limit_of_the_speedup(text, told, limit):
    asked = parse_condition(text)
    assert asked.text == told
    assert asked.limit == pytest.approx(limit, rel=1e-15)
    assert asked.log_limit == pytest.approx(math.log(limit), rel=1e-15)
    assert parse_condition(told) == asked


@pytest.mark.parametrize(
    "text",
    [
        *("", "slower", "slower>2", "slower<2%", "faster>5%", "worse<1%", "slower>-2%"),
        *("slower>x%", "slower>2%%", "slower>=2%", "better<5%", "slower>1e400%", "slower>nan%"),
        *("slower>2%\0", f"slower>{'9' * 400}%", "SLOWER>2%", "slower>\u0662%"),
    ],
)
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match="no condition of a gate") as refused:
        parse_condition(text)
    assert "'slower>2%'" in str(refused.value)
