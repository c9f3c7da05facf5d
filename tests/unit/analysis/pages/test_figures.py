from __future__ import annotations

import math

import pytest

from analysis.pages import number_format as figures
from analysis.words import shorten


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.234e-9, "s", "1.23 ns"),
        (4.5e-10, "s", "0.450 ns"),
        (8.42e-2, "s", "84.2 ms"),
        (0.9999, "s", "1.00 s"),
        (9.994e-4, "s", "999 µs"),
        (9.996e-4, "s", "1.00 ms"),
        (3725.4, "s", "3725 s"),
        (512, "B", "512 B"),
        (50 * 2**20, "B", "50.0 MiB"),
        (1234567, "items/s", "1234567 items/s"),
        (0.000012345, "1/s", "1.23e-05 1/s"),
    ],
)
def test_quantities(value: float, unit: str, text: str) -> None:
    assert figures.quantity(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"), [(2.414, "2.41x"), (0.5, "0.50x"), (9.999, "10.0x"), (0.0123, "0.0123x")]
)
def test_ratios(value: float, text: str) -> None:
    assert figures.ratio(value) == text


@pytest.mark.parametrize(
    ("p", "text"), [(0.045288, "= 0.0453"), (1e-9, "= 1.00e-09"), (0.0, "< 1e-300"), (1.0, "= 1")]
)
def test_pvalues(p: float, text: str) -> None:
    assert figures.pvalue(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.954712, "0.955"),
        (0.94962, "0.9496"),  # 0.950 would look like enough
        (0.99999, "> 0.999"),
        (1.0, "> 0.999"),
        (0.0, "0.000"),
    ],
)
def test_reliabilities_stay_on_their_side_of_the_level(value: float, text: str) -> None:
    assert figures.reliability(value, 0.95) == text


def test_long_names_lose_their_middle() -> None:
    assert shorten("abcdefghij", 10) == "abcdefghij"
    assert shorten("abcdefghijk", 10) == "abcde…hijk"


def test_long_lists_of_names_are_counted() -> None:
    assert figures.listed(["a", "b"], 2) == "a, b"
    assert figures.listed(["a", "b", "c", "d"], 2) == "a, b and 2 more"


@pytest.mark.parametrize(
    ("value", "lower", "upper"),
    [(1.7776, "1.777", "1.778"), (0.99996, "0.9999", "1.000"), (1.5, "1.500", "1.500")],
)
def test_a_bound_is_rounded_away_from_what_it_claims(value, lower, upper):
    # authority: HPT claims 1.7776 with 0.95, and 1.778 not any more
    assert (figures.bound(value, 4), figures.bound(value, 4, upper=True)) == (lower, upper)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.0216, 1.0333, "[1.02, 1.04]"),
        (1.02, 1.04, "[1.02, 1.04]"),  # what is written exactly stays
        (1.0061, 1.0333, "[1.006, 1.034]"),  # two decimals would reach 1
        (0.9968, 1.0043, "[0.996, 1.005]"),
        (12.342, 15.61, "[12.3, 15.7]"),
        (0.0, math.inf, "[0, inf]"),
    ],
)
def test_an_interval_is_rounded_outward_and_not_across_1(low, high, text):
    assert figures.ends(low, high) == text
