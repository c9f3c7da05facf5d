"""What a new number of a run costs: three files and its test (docs/contributing.md has the recipe).

The steps of the recipe are done here in a copy of the tree, and the copy is used.
"""

from __future__ import annotations

import json
import shutil

import pytest

from tests.contract.copies import ROOT, copied, python

SAMPLE = ROOT / "tests" / "data" / "sample-0.2.0"

# file -> what stands before the new lines, and the new lines
STEPS = {
    "harness/launch/in_launcher/serving.py": (
        '                "orphans": orphans,\n',
        '                "instructions": None if b"unknown" in path else t1 - t0,\n',
    ),
    "analysis/record/run_numbers.py": (
        "    cpus: tuple[int, ...] | None = None\n",
        """\
    instructions: Annotated[
        int | None,
        RunNumber(
            unit="",
            what="machine instructions that it executed",
            source="launcher",
            metric="instructions",
            since="0.2.0",
        ),
    ] = None
""",
    ),
    "docs/trial-format.md": (
        "| `cpus` | list of integers, null |",
        "| `instructions` | integer, null | machine instructions that it executed: the metric "
        "`instructions`; since version 0.2.0 |\n",
    ),
}

CAMPAIGN = """
name: c
variants: {a: {}, b: {}}
benchmarks: {known: {command: [/bin/true]}, unknown: {command: [./unknown]}}
protocol: {sessions: 1, runs: 2, warmup: 1}
isolation: {cpus: none}
"""

# An earlier campaign whose own metric has the new name, and what a later judge makes of everything.
OWN = """
name: own
variants: {a: {}}
benchmarks:
  x: {command: [/bin/true], metrics: {instructions: {regex: "(.*)", unit: k, better: higher}}}
"""
JUDGE = """
import io, json, runpy, sys
from dataclasses import fields
from pathlib import Path
from analysis.data.trial import read_trial
from analysis.record.run_numbers import Measurement
from harness.campaign.load import load_campaign
from harness.cli import main

def called(*args):
    out, err = io.StringIO(), io.StringIO()
    return main(list(args), out, err), out.getvalue(), err.getvalue()

def undocumented(path):
    tests = runpy.run_path(path)
    keys = [*(field.name for field in fields(Measurement)), "crc32"]
    try:
        tests["test_every_key_of_a_file_is_documented_in_its_order"]("measurements.jsonl", keys)
        tests["test_each_number_of_a_run_is_documented_as_the_table_has_it"]()
    except AssertionError as error:
        return repr(error)

trial = read_trial(sys.argv[1])
print(json.dumps({
    "values": trial.numbers["instructions"].tolist(),
    "benchmarks": trial.benchmark.tolist(),
    "wall": trial.numbers["wall_ns"].tolist(),
    "verdict": called("verdict", sys.argv[1], "--metric", "instructions", "--json"),
    "text": called("verdict", sys.argv[1], "--metric", "instructions"),
    "sample": called("verdict", sys.argv[2], "--metric", "instructions"),
    "still": called("verdict", sys.argv[2], "--json"),
    "undocumented": undocumented(sys.argv[3]),
    "own": [rule.name for rule in load_campaign(Path("own.yaml")).cells[0].metrics],
}, allow_nan=True))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Copy the tree and take the steps."""
    copy = copied(
        tmp_path_factory.mktemp("tree"),
        ("harness", "analysis", "distribution", "docs", "tests/contract"),
    )
    for part in ("README.md", "CHANGELOG.md", "runs", "configs"):
        (copy / part).symlink_to(ROOT / part)
    for name, (after, new) in STEPS.items():
        path = copy / name
        before, found, rest = path.read_text("utf-8").partition(after)
        assert found, f"{name} has no {after!r}"
        path.write_text(before + new + found + rest, "utf-8")
    return copy


@pytest.fixture(scope="module")
def trial(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    shutil.copy("/bin/true", folder / "unknown")
    (folder / "c.yaml").write_text(CAMPAIGN)
    (folder / "own.yaml").write_text(OWN)
    python(tree, "-m", "harness", "run", "c.yaml", "-q", cwd=folder)
    (path,) = (folder / "runs").iterdir()
    return path


@pytest.fixture(scope="module")
def judged(tree, trial):
    folder, docs = trial.parents[1], tree / "tests" / "contract" / "test_docs.py"
    return json.loads(python(tree, "-c", JUDGE, str(trial), str(SAMPLE), str(docs), cwd=folder))


def test_it_is_three_files():
    assert len(STEPS) == 3


def test_a_run_writes_it(trial):
    rows = [json.loads(line) for line in (trial / "measurements.jsonl").read_bytes().splitlines()]
    assert len(rows) == 12
    for row in rows:
        assert row["instructions"] == (row["wall_ns"] if row["benchmark"] == "known" else None)
        keys = list(row)
        assert keys.index("instructions") == keys.index("cpus") - 1


def test_the_reader_reads_it(judged):
    for value, bench, wall in zip(
        judged["values"], judged["benchmarks"], judged["wall"], strict=True
    ):
        assert value == wall if bench == 0 else value != value


def test_it_is_a_metric(judged):
    code, out, err = judged["verdict"]
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["metric"], found["unit"], found["better"]) == ("instructions", "", "lower")
    lines = found["candidates"][0]["multilevel"]["benchmarks"]
    (line,) = (line for line in lines if line["name"] == "known")
    assert line["speedup"] > 0
    assert "instructions" in judged["text"][1]


def test_an_earlier_trial_says_that_it_has_none(judged):
    code, out, err = judged["sample"]
    assert (code, out) == (2, "")
    assert (
        "the trial has no metric 'instructions': fairtrial records it since version 0.2.0, and "
        "0.1.0 began this trial\n  fix: known here: wall, user, system, max_rss\n"
    ) in err
    code, out, err = judged["still"]
    assert (code, err) == (0, "")


def test_a_campaign_that_uses_the_name_is_not_refused(judged):
    assert judged["own"] == ["instructions"]


def test_it_is_documented(judged):
    assert judged["undocumented"] is None
