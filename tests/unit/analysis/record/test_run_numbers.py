"""The table of a run's numbers holds together, and rows of other versions are read."""

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
    Measurement,
    MetricInfo,
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
