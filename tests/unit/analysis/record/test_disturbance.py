"""Which runs waited for a CPU, by hand."""

from __future__ import annotations

import pytest

from analysis.record.run_numbers import (
    DisturbanceTally,
    is_disturbed,
    service_disturbed,
    together,
    waited_ns,
)

MEASURED = {"position": 3, "warmup": False, "outcome": "ok"}


def test_a_run_waited_as_long_as_it_and_its_launcher_did_less_what_the_launcher_computed():
    assert waited_ns(500_000, 20_000, 15_000) == 505_000
    assert waited_ns(0, 0, 0) == 0


@pytest.mark.parametrize("missing", range(3))
def test_where_a_number_is_missing_the_wait_is_unknown(missing):
    known = [500_000, 20_000, 15_000]
    known[missing] = None
    assert waited_ns(*known) is None
    assert is_disturbed(1_000_000, waited_ns(*known)) is None


def test_measured_runs_are_counted_where_it_is_known_and_repeats_by_the_run():
    tally = DisturbanceTally()
    for row in (
        MEASURED | {"disturbed": True},
        MEASURED | {"disturbed": False},
        MEASURED | {"disturbed": None},
        MEASURED,
        MEASURED | {"disturbed": True, "warmup": True},
        MEASURED | {"disturbed": True, "outcome": "timeout"},
        MEASURED | {"disturbed": True, "repeats": 3},
        MEASURED | {"disturbed": False, "repeats": 3},
    ):
        tally.add(row)
    assert tally.counts.to_dict() == {"known": 2, "disturbed": 1, "repeats": 2, "mended": 1}


@pytest.mark.parametrize(
    ("wait_ns", "others_ns", "expected"),
    [
        (40_000, 40_000, False),
        (6_000_000, 6_000_000, True),
        (5_000_000, 0, False),  # at the limit of 0.5 % of a second, whoever had the CPU
        (6_000_000, 4_000_000, None),  # its own threads may have had it for the rest
        (None, None, None),
    ],
)
def test_a_service_waited_where_somebody_else_must_have_had_its_cpu(wait_ns, others_ns, expected):
    assert service_disturbed(1_000_000_000, wait_ns, others_ns) is expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([False, False], False),
        ([False, True], True),
        ([True, None], True),
        ([None, True], True),
        ([False, None], None),
        ([None], None),
    ],
)
def test_a_run_is_disturbed_with_one_of_its_services(parts, expected):
    assert together(parts) is expected
