"""Units that come with a number.

Authority: the SI's prefixes and those of IEC 80000-13; a number is converted by whole numbers, so that its decimals stay.
"""

from __future__ import annotations

import pytest

from harness.campaign.distributions import UnitError, number_in


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("980us", "ms", 0.98),
        ("980 µs", "s", 0.00098),
        ("1.2ms", "ms", 1.2),
        ("1.2ms", "us", 1200.0),
        ("1.2", "ms", 1.2),
        ("-3e2 ns", "us", -0.3),
        (".5min", "s", 30.0),
        ("2h", "min", 120.0),
        ("3.4GB", "MB", 3400.0),
        ("3 MiB", "B", 3 * 2**20),
        ("95 %", "%", 95.0),
        ("95 %", "1", 0.95),
        ("0.001", "%", 0.001),
        ("12MB/s", "kB/s", 12_000.0),
        ("3 ms/op", "us/op", 3000.0),
        ("2.4GHz", "MHz", 2400.0),
        ("7 widgets", "widgets", 7.0),
        ("0.1 msec", "us", 100.0),
        ("1.001 kB", "B", 1001.0),
        ("1e-999999999ms", "s", 0.0),
    ],
)
def test_a_number_is_given_in_the_declared_unit(text, unit, number):
    assert number_in(text, unit) == number


@pytest.mark.parametrize(
    ("text", "unit", "why"),
    [
        ("12 KB", "B", "'12 KB' is in 'KB', which is not known; known are B, kB, MB,"),
        ("12 ms", "B", "'12 ms' is in 'ms', which cannot be converted to B"),
        ("12 MB", "MB/s", "cannot be converted to MB/s"),
        ("12 ms/op", "ms/row", "cannot be converted to ms/row"),
        ("12 fortnights", "s", "is not known; known are ns, nsec, us,"),
        ("12 ms", "widgets", "cannot be converted to widgets"),
        ("12 gadgets", "widgets", "'12 gadgets' is in 'gadgets', which is not the metric's unit, widgets"),
        ("0x10", "B", "'0x10' is in 'x10'"),
        ("1.2.3ms", "ms", "'1.2.3ms' is not a finite number"),
        ("1,200us", "us", "is not a finite number"),
        ("", "s", "'' is not a finite number"),
        ("nan", "s", "'nan' is not a finite number"),
        ("1e999ms", "s", "is not a finite number"),
        ("1e308h", "ns", "is not a finite number in ns"),
        ("ms", "ms", "'ms' is not a finite number"),
        ("1" * 400_000 + "x" * 30, "s", "it has 400030 characters"),  # quadratic once: no end in 40 s
        ("1" * 400_000 + " s", "ms", "it has 400002 characters"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said(text, unit, why):
    with pytest.raises(UnitError) as caught:
        number_in(text, unit)
    assert why in str(caught.value)
