"""The sample trial stays readable: schema 1, read with code that shares nothing with the product."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zlib
from pathlib import Path

import pytest

from analysis.data.trial import read_trial
from harness.cli import main

SAMPLE = Path(__file__).resolve().parents[2] / "runs" / "sample"
MOST_BYTES = 750_000
# What a neutral environment may name. Anything else would be somebody's folder.
NEUTRAL = (
    *("/usr/", "/bin", "/lib", "/lib64/", "/etc/", "/proc/", "/sys/", "/dev/"),
    "/tmp/sample",
)


def lines(name):
    return [json.loads(line) for line in (SAMPLE / name).read_bytes().splitlines()]


@pytest.fixture(scope="module")
def manifest():
    return json.loads((SAMPLE / "manifest.json").read_bytes())


@pytest.fixture(scope="module")
def rows():
    return lines("measurements.jsonl")


def test_it_is_a_complete_trial_of_schema_1(manifest):
    assert manifest["schema"] == 1
    assert manifest["status"] == "complete"
    assert manifest["reason"] is None
    assert manifest["trial"].startswith(manifest["campaign_name"] + "-")
    assert len(manifest["benchmarks"]) >= 5
    assert manifest["baseline"] in manifest["variants"]


def test_the_manifest_has_the_hash_of_every_file(manifest):
    there = {
        str(path.relative_to(SAMPLE)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in SAMPLE.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    assert there == manifest["files"]


def test_every_line_of_the_measurements_has_its_checksum():
    for line in (SAMPLE / "measurements.jsonl").read_bytes().splitlines():
        match = re.fullmatch(rb'(.*),"crc32":(\d+)\}', line)
        assert match, line
        assert zlib.crc32(match[1] + b"}") == int(match[2])
        assert json.loads(line)["crc32"] == int(match[2])


def test_every_planned_run_was_executed_in_its_order(manifest, rows):
    plan = lines("plan.jsonl")
    cells = len(manifest["variants"]) * len(manifest["benchmarks"])
    each = manifest["runs"] + manifest["warmup"]
    assert len(plan) == manifest["planned"] == cells * each * manifest["sessions"]
    assert [run["position"] for run in plan] == list(range(len(plan)))
    assert [{key: row[key] for key in plan[0]} for row in rows] == plan


def test_every_block_holds_every_cell_once(manifest, rows):
    blocks = {}
    for row in rows:
        cell = (row["benchmark"], row["variant"])
        blocks.setdefault((row["session"], row["block"]), []).append(cell)
    assert len(blocks) == manifest["sessions"] * (manifest["runs"] + manifest["warmup"])
    for cells in blocks.values():
        assert sorted(cells) == sorted(
            (benchmark, variant)
            for benchmark in manifest["benchmarks"]
            for variant in manifest["variants"]
        )


def test_the_measurements_are_plausible(rows):
    for row in rows:
        assert (row["outcome"], row["exit_code"]) in {("ok", 0), ("exit", 1)}
        assert 0 < row["spawn_ns"] < row["wall_ns"] < 10**9
        assert row["user_s"] + row["system_s"] < row["wall_ns"] / 1e9 + 0.02
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", row["started_at"])
        assert re.fullmatch(r"[0-9a-f]{64}", row["stdout_sha256"])
        assert 0 <= row["padding_bytes"] < 4096
    starts = [row["start_ns"] for row in rows]
    assert starts == sorted(starts)
    assert len({row["padding_bytes"] for row in rows}) > len(rows) // 2
    assert sum(row["outcome"] != "ok" for row in rows) == 1


def test_a_cell_always_printed_the_same(rows):
    printed = {}
    for row in rows:
        cell = (row["benchmark"], row["variant"])
        if row["outcome"] == "ok":
            printed.setdefault(cell, set()).add((row["stdout_bytes"], row["stdout_sha256"]))
    assert all(len(what) == 1 for what in printed.values())


def test_each_session_has_its_environment_and_findings(manifest):
    sessions = list(range(1, manifest["sessions"] + 1))
    environments = lines("environment.jsonl")
    assert [(record["session"], record["segment"]) for record in environments] == [
        (session, 0) for session in sessions
    ]
    for record in environments:
        named = [target for target in record["targets"].values() if "same_as" not in target]
        hashes = {target["path"]: target["sha256"] for target in named}
        assert hashes == manifest["targets"]
    found = {(finding["session"], finding["when"]) for finding in lines("findings.jsonl")}
    assert {(session, when) for session in sessions for when in ("before", "after")} <= found


def absolute_paths(value):
    """Find what looks like an absolute path in any text of a JSON value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from absolute_paths(key)
            yield from absolute_paths(item)
    elif isinstance(value, list):
        for item in value:
            yield from absolute_paths(item)
    elif isinstance(value, str):
        yield from re.findall(r"(?<![\w.)*])/[\w.][\w./-]*", value)


def test_it_names_nobodys_folders_and_variables(manifest):
    records = [manifest, *lines("environment.jsonl"), *lines("findings.jsonl")]
    records += lines("measurements.jsonl")
    records += [path.read_text() for path in (SAMPLE / "outputs").iterdir()]
    foreign = {path for path in absolute_paths(records) if not path.startswith(NEUTRAL)}
    assert foreign == set()
    for record in lines("environment.jsonl"):
        assert record["variables"] == {"PATH": "/usr/bin:/bin"}


def test_it_is_small():
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < MOST_BYTES


def test_the_product_reads_it(manifest, rows):
    trial = read_trial(SAMPLE)
    assert trial.cautions == ()
    assert len(trial) == len(rows)
    assert trial.numbers["wall_ns"].tolist() == [row["wall_ns"] for row in rows]


def test_the_command_judges_it(manifest):
    out, err = io.StringIO(), io.StringIO()
    assert main(["verdict", str(SAMPLE), "--json"], out, err) == 0, err.getvalue()
    (candidate,) = json.loads(out.getvalue())["candidates"]
    lines = candidate["multilevel"]["benchmarks"]
    assert [line["name"] for line in lines] == manifest["benchmarks"]
    assert {line["outcome"] for line in lines} == {"faster", "slower", "equivalent", "undecided"}
    assert sum(line["failed_candidate"] + line["failed_baseline"] for line in lines) == 1
