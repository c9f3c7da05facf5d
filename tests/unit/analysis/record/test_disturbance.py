"""Which runs waited for a CPU, by hand."""

from __future__ import annotations

import pytest

from analysis.record.disturbance import DisturbanceTally, is_disturbed, waited_ns

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
