"""Every released schema of a trial stays readable, and what it promised is still written.

``tests/golden/schemas/N/`` holds a small trial as the first version of schema N wrote it, its keys
with their types (`keys.json`), and the numbers that a reader finds in it (`expected.json`). These
files never change: a key that gets another type or meaning, or is no longer written, is a new schema
with a folder of its own.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from pathlib import Path
from types import NoneType
from typing import ClassVar, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError, UsageError
from analysis.record.environment import diff
from analysis.record.manifest import read_manifest
from analysis.record.run_numbers import NUMBERS, Measurement
from analysis.record.shapes import encode, encode_checked
from analysis.record.trial_files import SCHEMA, Finding, Manifest, PlannedRun
from harness.host.snapshot import compare_environments
from harness.trial.progress import read_progress
from harness.trial.writer import Store

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "tests" / "golden" / "schemas"
FOLDERS = [SCHEMAS / str(number) for number in range(1, SCHEMA + 1)]
RECORDS = {
    "manifest.json": Manifest,
    "plan.jsonl": PlannedRun,
    "measurements.jsonl": Measurement,
    "findings.jsonl": Finding,
}
JSON = {
    NoneType: "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    list: "list",
    tuple: "list",
    dict: "object",
    Mapping: "object",
}
# What the reader needs of each row: who it is, how it ended, and the times of a run that is ok.
NEEDED = {"position", "session", "segment", "block", "benchmark", "variant", "outcome", "warmup"}
TIMES = {"wall_ns", "user_s", "system_s"}
FIRST = SCHEMAS / "1" / "trial"


def frozen(folder, name="keys.json"):
    return json.loads((folder / name).read_text())


def lines(trial, name):
    return [json.loads(line) for line in (trial / name).read_bytes().splitlines()]


def records(trial, name):
    return (
        [json.loads((trial / name).read_text())] if name.endswith(".json") else lines(trial, name)
    )


def written_as(hint):
    """Give the JSON types of a field, as `keys.json` names them."""
    if get_origin(hint) is Literal:
        return {"text"}
    parts = get_args(hint)
    if NoneType in parts:
        return {kind for part in parts for kind in written_as(part)}
    plain = get_origin(hint) or hint
    return {"object"} if is_dataclass(plain) else {JSON[plain]}


def leaves(record, name):
    """Give the keys of a record with their values; in an environment, those of its sections."""
    for key, value in record.items():
        if name != "environment.jsonl" or key == "variables" or not isinstance(value, dict):
            yield key, value
        elif key == "targets":
            for target in value.values():
                yield from ((f"targets.*.{part}", known) for part, known in target.items())
        else:
            yield from ((f"{key}.{part}", known) for part, known in value.items())


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Write a trial with the runner of today."""
    folder = tmp_path_factory.mktemp("fresh")
    (folder / "c.yaml").write_text(
        "name: c\nvariants: {a: {}, b: {}}\nbenchmarks: {one: {command: [/bin/true]}}\n"
        "protocol: {sessions: 1, runs: 2, warmup: 1}\nisolation: {cpus: none}\n"
    )
    subprocess.run(
        [sys.executable, "-m", "harness", "run", "c.yaml", "-q"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    (trial,) = (folder / "runs").iterdir()
    return trial


# --- what was released --------------------------------------------------------------------------


def environment(trial):
    with (trial / "environment.jsonl").open() as file:
        return json.loads(file.readline())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_copy_is_what_was_written(folder):
    trial = folder / "trial"
    files = read_manifest(trial).files
    assert len(files) >= 6
    for name, expected in files.items():
        assert hashlib.sha256((trial / name).read_bytes()).hexdigest() == expected
    for name, keys in frozen(folder).items():
        for record in records(trial, name):
            assert dict(leaves(record, name)).keys() <= keys.keys()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_same_numbers_are_read_for_ever(folder):
    expected = frozen(folder, "expected.json")
    trial = read_trial(folder / "trial")
    assert trial.cautions == ()
    for name, told in expected["numbers"].items():
        values = trial.start_ns if name == "start_ns" else trial.numbers[name]
        known = values[np.isfinite(values)]
        assert known.size == told["known"]
        assert math.fsum(known.tolist()) == told["sum"]
    for variant, metrics in expected["runs_and_medians"].items():
        for metric, cells in metrics.items():
            matrix = trial.matrix(variant, metric)
            medians = matrix.medians().tolist()
            rows = zip(matrix.benchmarks, matrix.runs, medians, strict=True)
            assert {bench: [runs, median] for bench, runs, median in rows} == cells


def test_the_second_schema_differs_by_repeats_alone():
    one, two = (frozen(folder) for folder in FOLDERS[:2])
    for name, keys in one.items():
        assert {key: two[name].get(key) for key in keys} == keys
    rows = lines(FOLDERS[1] / "trial", "measurements.jsonl")
    assert {row["position"] for row in rows if row["repeats"] is not None}
    assert read_manifest(FOLDERS[1] / "trial").repeating


def test_the_first_version_refuses_the_second_schema_clearly(monkeypatch):
    # it compared with 1, its newest, and said this, word for word
    monkeypatch.setattr("analysis.record.manifest.SCHEMA", 1)
    with pytest.raises(StoreError) as error:
        read_manifest(FOLDERS[1] / "trial")
    assert error.value.what == "the trial has schema 2, newer than 1, the newest known here"
    assert error.value.fix == "use the fairtrial version that wrote it, or a newer one"


def test_a_trial_whose_runs_are_kept_is_one_of_the_first_schema(fresh):
    # so that the first version reads it
    assert json.loads((fresh / "manifest.json").read_text())["schema"] == 1
    assert {row["repeats"] for row in lines(fresh, "measurements.jsonl")} == {None}


def test_the_documented_code_chooses_the_rows_that_are_judged():
    page = (ROOT / "docs" / "trial-format.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n((?:(?!```).)*chosen = .*?)```", page, re.DOTALL)
    folder = FOLDERS[1] / "trial"
    told = {"rows": lines(folder, "measurements.jsonl")}
    exec(code, told)
    trial = read_trial(folder)
    assert len(told["chosen"]) == 48
    assert {row["position"] for row in told["chosen"]} == set(trial.position[trial.chosen].tolist())


# --- what it promised is still written ----------------------------------------------------------


@pytest.mark.parametrize("name", RECORDS)
def test_no_key_of_the_schema_is_lost_or_of_another_type(name):
    keys = frozen(FOLDERS[-1])[name]
    own = {"crc32"} if name == "measurements.jsonl" else set()  # what the writer adds to a record
    own = {"at", "session", "when"} if name == "findings.jsonl" else own
    hints = get_type_hints(RECORDS[name])
    hints = {key: hint for key, hint in hints.items() if get_origin(hint) is not ClassVar}
    now = {key: written_as(hint) for key, hint in hints.items()}
    if name == "measurements.jsonl":
        now["started_at"].discard("null")  # in rows that were imported; the runner always knows it
    assert {key: set(keys[key].split(" or ")) for key in keys.keys() - own} == {
        key: now.get(key) for key in keys.keys() - own
    }


def test_no_number_of_the_schema_means_something_else():
    for name, told in frozen(FOLDERS[-1], "expected.json")["numbers"].items():
        about = NUMBERS[name]
        assert {part: getattr(about, part) for part in ("unit", "metric", "better", "floor")} == {
            part: told[part] for part in ("unit", "metric", "better", "floor")
        }


def test_what_a_later_version_adds_may_be_missing():
    # else no earlier trial could be read
    for name, record in RECORDS.items():
        keys = frozen(FOLDERS[-1])[name]
        for field in fields(record):
            if field.name not in keys:
                assert (field.default, field.default_factory) != (MISSING, MISSING), field.name


@pytest.mark.parametrize("name", frozen(FOLDERS[-1]))
def test_a_fresh_trial_has_every_key(fresh, name):
    keys = frozen(FOLDERS[-1])[name]
    for record in records(fresh, name):
        found = dict(leaves(record, name))
        assert keys.keys() <= found.keys()
        for key in keys:
            kind = JSON[type(found[key])]
            wanted = set(keys[key].split(" or "))
            unknown = kind == "null" or wanted == {"null"}
            # what this host shows of itself may be unknown there, and the other way about
            assert kind in wanted or (name == "environment.jsonl" and unknown), key


def test_a_fresh_trial_begins_with_the_keys_in_their_order(fresh):
    for name in RECORDS:
        keys = list(frozen(FOLDERS[-1])[name])
        (first, *_) = records(fresh, name)
        assert [key for key in first if key in keys] == keys


# --- other versions of the same schema ----------------------------------------------------------


def copied(folder):
    shutil.copytree(FIRST, folder)
    return folder


def changed(folder, name, change):
    """Copy the first trial with another content of one file; its manifest fits."""
    trial = copied(folder)
    manifest = json.loads((trial / "manifest.json").read_text())
    if name == "manifest.json":
        manifest = change(0, manifest)
    else:
        write = encode_checked if name == "measurements.jsonl" else encode
        rows = [change(k, row) for k, row in enumerate(lines(trial, name))]
        for row in rows:
            row.pop("crc32", None)
        (trial / name).write_bytes(b"".join(write(row) + b"\n" for row in rows))
        manifest["files"][name] = hashlib.sha256((trial / name).read_bytes()).hexdigest()
    (trial / "manifest.json").write_text(json.dumps(manifest))
    return trial


MORE = {"colour": {"hue": [1, None, "blue"]}}


@pytest.mark.parametrize("name", frozen(FOLDERS[0]))
@pytest.mark.parametrize("which", ["every", "one"])
def test_a_further_key_changes_nothing(tmp_path, name, which):
    trial = changed(
        tmp_path / "t", name, lambda k, row: row | (MORE if which == "every" or k == 3 else {})
    )
    found, first = read_trial(trial), read_trial(FIRST)
    assert found.cautions == ()
    assert found.absent == first.absent  # numbers that a later version added
    for variant in first.manifest.variants:
        assert found.matrix(variant).to_dict() == first.matrix(variant).to_dict()
    here, there = read_progress(trial), read_progress(FIRST)
    assert replace(here, again="", way_on="", way_on_words=()) == replace(
        there, again="", way_on="", way_on_words=()
    )  # they name the folder
    assert diff(environment(trial), environment(FIRST)) == ()
    store = Store.reopen(trial)
    try:
        assert len(store.rows.outcomes) == len(first)
        assert list(store.planned()) == [PlannedRun(**row) for row in lines(FIRST, "plan.jsonl")]
    finally:
        store.release()
    if name == "manifest.json" and which == "every":  # a key that we do not know is kept
        assert json.loads((trial / name).read_text())["colour"] == MORE["colour"]


@pytest.mark.parametrize(
    "key", sorted(set(frozen(FOLDERS[0])["measurements.jsonl"]) - NEEDED - TIMES)
)
def test_a_row_that_lacks_a_key(tmp_path, key):
    def without(k, row):
        return {name: value for name, value in row.items() if name != key or k != 30}

    trial = read_trial(changed(tmp_path / "t", "measurements.jsonl", without))
    first = read_trial(FIRST)
    assert trial.cautions == ()
    for name, column in trial.numbers.items():
        expected = first.numbers[name].copy()
        if name == key:
            expected[30] = np.nan
        assert np.array_equal(column, expected, equal_nan=True)
    assert (trial.start_ns[30] == -1) == (key == "start_ns")


@pytest.mark.parametrize("key", sorted(NEEDED | TIMES))
def test_a_row_that_lacks_what_every_row_has(tmp_path, key):
    def without(k, row):
        return {name: value for name, value in row.items() if name != key or k != 30}

    trial = changed(tmp_path / "t", "measurements.jsonl", without)
    with pytest.raises(StoreError, match="not one of schema 1") as error:
        read_trial(trial)
    assert error.value.where == f"{trial / 'measurements.jsonl'}:31"


def test_a_number_that_no_row_has(tmp_path):
    def without(k, row):
        return {name: value for name, value in row.items() if name != "max_rss_bytes"}

    trial = read_trial(changed(tmp_path / "t", "measurements.jsonl", without))
    assert trial.cautions == ()
    assert trial.absent == read_trial(FIRST).absent | {"max_rss_bytes"}
    assert trial.matrix("gzip-1").to_dict() == read_trial(FIRST).matrix("gzip-1").to_dict()
    with pytest.raises(UsageError) as error:
        trial.matrix("gzip-1", "max_rss")
    assert error.value.what == (
        "the trial has no metric 'max_rss': fairtrial records it since version 0.1.0, "
        "and 0.1.0 began this trial"
    )
    assert error.value.fix == "known here: wall, user, system"


@pytest.mark.parametrize("key", ["cpu_model", "finished", "reason", "stop", "session_ends"])
def test_a_manifest_that_lacks_what_may_be_unknown(tmp_path, key):
    def without(k, manifest):
        return {name: value for name, value in manifest.items() if name != key}

    trial = read_trial(changed(tmp_path / "t", "manifest.json", without))
    assert trial.cautions == ()
    assert not getattr(trial.manifest, key)


def test_an_environment_of_another_version(tmp_path):
    def without(k, record):
        return {name: value for name, value in record.items() if name not in {"segment", "memory"}}

    trial = changed(tmp_path / "t", "environment.jsonl", without)
    assert diff(environment(trial), environment(FIRST)) == ()
    assert [old for old, _, _ in compare_environments(trial).pairs] == ["session 1"]
