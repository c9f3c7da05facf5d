"""The one table of a run's numbers, and which runs are disturbed."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, replace
from typing import get_args, get_type_hints

import pytest

from analysis.record.run_numbers import (
    BUILTIN_METRICS,
    FIRST,
    LAUNCHER_NUMBERS,
    METRIC_NUMBERS,
    NUMBERS,
    RESERVED_METRICS,
    DisturbanceTally,
    Measurement,
    MetricInfo,
    is_disturbed,
    service_disturbed,
    together,
    waited_ns,
)
from analysis.record.shapes import ShapeError, StoredSamples, encode, shaped
from analysis.record.trial_files import PlannedRun

ENDINGS = {"ns": "_ns", "s": "_s", "B": "_bytes", "kHz": "_khz", "C": "_c"}
ROW = Measurement(
    position=0,
    session=1,
    segment=0,
    block=1,
    benchmark="x",
    variant="a",
    warmup=False,
    started_at="2026-11-21T04:12:00.000000000Z",
    wall_ns=1_500_000,
    outcome="ok",
    metrics={"rate": (1.0, 2.0)},
)


def test_the_unit_ends_the_name() -> None:
    for name, about in NUMBERS.items():
        if about.unit:
            assert name.endswith(ENDINGS[about.unit])
        else:
            assert not name.endswith(tuple(ENDINGS.values()))


def test_every_number_is_one_and_may_be_unknown_or_missing() -> None:
    kinds = get_type_hints(Measurement)
    defaults = {field.name: field.default for field in fields(Measurement)}
    for name in NUMBERS.keys() - {"orphans"}:  # a run that was not executed left none
        number, nothing = get_args(kinds[name])
        assert number in (int, float)
        assert nothing is type(None)
        assert defaults[name] is None
    assert (kinds["orphans"], defaults["orphans"]) == (int, 0)
    for field in fields(Measurement):
        if type(None) in get_args(kinds[field.name]):
            assert field.default is None
        elif field.name != "orphans":
            assert field.default is MISSING


def test_the_metrics_that_every_run_has() -> None:
    assert METRIC_NUMBERS == {
        "wall": "wall_ns",
        "user": "user_s",
        "system": "system_s",
        "max_rss": "max_rss_bytes",
        "peak_memory_tree": "peak_memory_tree_bytes",
        "tree_cpu": "tree_cpu_s",
    }
    assert {
        "wall": MetricInfo(unit="s", better="lower"),
        "user": MetricInfo(unit="s", better="lower"),
        "system": MetricInfo(unit="s", better="lower"),
        "max_rss": MetricInfo(unit="B", better="lower"),
        "peak_memory_tree": MetricInfo(unit="B", better="lower"),
        "tree_cpu": MetricInfo(unit="s", better="lower"),
    } == BUILTIN_METRICS


def test_no_two_numbers_are_one_metric_and_floors_are_numbers() -> None:
    metrics = [about.metric for about in NUMBERS.values() if about.metric is not None]
    assert len(set(metrics)) == len(metrics)
    floors = {about.floor for about in NUMBERS.values()} - {None}
    assert floors == {"max_rss_floor_bytes"}
    assert floors <= NUMBERS.keys()


def test_the_reserved_names_never_change() -> None:
    # one more would refuse campaigns that are under way
    assert RESERVED_METRICS == ("wall", "user", "system", "max_rss")
    assert FIRST == "0.1.0"


def test_a_row_comes_back() -> None:
    row = json.loads(encode(ROW.to_dict()))
    assert list(row) == [
        field.name for field in fields(Measurement) if field.name != "samples"
    ]  # a row of before
    assert shaped(Measurement, row).to_dict() == ROW.to_dict()
    samples = {"t": StoredSamples(count=2000, sha256="0" * 64), "u": StoredSamples(count=1001)}
    many = replace(ROW, samples=samples)
    assert shaped(Measurement, json.loads(encode(many.to_dict()))) == many


def test_a_row_of_a_later_version() -> None:
    row = ROW.to_dict() | {"colour": "blue", "crc32": 1}
    assert shaped(Measurement, row) == ROW


def test_a_row_of_an_earlier_version() -> None:
    row = ROW.to_dict()
    for name in [*NUMBERS, "cpus", "exit_code", "signal", "detail", "stdout_sha256"]:
        del row[name]
    found = shaped(Measurement, row)
    assert {getattr(found, name) for name in NUMBERS.keys() - {"orphans"}} == {None}
    with pytest.raises(ShapeError, match="position"):
        shaped(Measurement, {name: value for name, value in row.items() if name != "position"})


def test_a_planned_run_of_a_later_version() -> None:
    run = PlannedRun(position=0, session=1, block=1, benchmark="x", variant="a", warmup=False)
    assert shaped(PlannedRun, run.to_dict() | {"colour": "blue"}) == run


def test_the_launcher_sends_a_part() -> None:
    assert {"wall_ns", "orphans"} < LAUNCHER_NUMBERS < NUMBERS.keys()


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
