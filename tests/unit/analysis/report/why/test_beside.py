"""Profiles beside a trial: which are its own; each other one is a sentence (docs/report.md)."""

from __future__ import annotations

import json
import shutil

import pytest

from analysis.record.manifest import read_manifest
from analysis.record.profiles import PROFILE, profiles_of
from analysis.report.why import beside
from tests.profiled import profile_beside

KEYS = ("keys", "logs")


@pytest.fixture(scope="module")
def made(tmp_path_factory, synthetic, shared):
    """Write a trial with a profile of `slow`, and one of `other`."""
    cells = {"keys": [0.03, 0.03], "logs": [0.05, 0.05]}
    trial = synthetic({"base": cells, "slow": cells, "other": cells}, sessions=2)
    place = trial.write(tmp_path_factory.mktemp("beside") / "sort")
    for variant in ("slow", "other"):
        profile_beside(place, synthetic, variant=variant, benchmarks=("keys",))
    with shared(place.parent):
        yield place


@pytest.fixture
def trial(made, tmp_path):
    shutil.copytree(made.parent, tmp_path / "runs")
    return tmp_path / "runs" / "sort"


def look(trial, variants=("slow",)):
    return beside(trial, read_manifest(trial), frozenset(variants), KEYS, 0.95)


FOREIGN = {
    "of the trial elsewhere": {"trial": "elsewhere"},
    "another campaign": {"campaign_sha256": "f" * 64},
    "another host": {"host_id": "of-somebody"},
    "before the trial began": {"started": "2020-01-01T00:00:00Z"},
    "when it was recorded": {"started": "yesterday"},
    "schema": {"schema": 2},
    "damaged": {"sessions": "six"},
}


@pytest.mark.parametrize("said", FOREIGN)
def test_a_profile_of_something_else_is_a_sentence(trial, said):
    file = profiles_of(trial) / "slow" / PROFILE
    file.write_text(json.dumps(json.loads(file.read_text()) | FOREIGN[said]))
    found = look(trial)
    assert found.recorded == ()
    (fault,) = found.faults
    assert said in fault
    assert fault.startswith("sort.why/slow is not shown: ")


DAMAGES = {
    "no profile": lambda folder: (folder / PROFILE).unlink(),
    "samples cut": lambda folder: (folder / "samples.jsonl").write_text('{"session": 1,'),
    "samples gone": lambda folder: (folder / "samples.jsonl").unlink(),
    "no timed runs": lambda folder: shutil.rmtree(folder / "timed"),
    "a timed run changed": lambda folder: (folder / "timed" / "measurements.jsonl").write_text("x"),
    "no JSON": lambda folder: (folder / PROFILE).write_text("{"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_profile_is_a_sentence_and_hides_no_other(trial, damage):
    DAMAGES[damage](profiles_of(trial) / "slow")
    found = look(trial, ("slow", "other"))
    assert [one.stored.profile.variant for one in found.recorded] == ["other"]
    assert len(found.faults) == 1


def test_a_benchmark_without_samples_is_a_sentence_and_hides_no_other(trial, synthetic):
    shutil.rmtree(profiles_of(trial) / "slow")
    folder = profile_beside(trial, synthetic, variant="slow")
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    kept = [row for row in rows if (row["benchmark"], row["variant"]) != ("keys", "slow")]
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in kept))
    found = look(trial)
    assert [each.answer.benchmark for each in found.recorded[0].explained] == ["logs"]
    (fault,) = found.faults
    assert fault.startswith("sort.why/slow is not shown on keys: no session")


def test_a_profile_in_the_folder_of_another_variant_is_a_sentence(trial):
    folder = profiles_of(trial)
    shutil.rmtree(folder / "other")
    (folder / "slow").rename(folder / "other")
    said = "sort.why/other is not shown: it compares slow with base"
    assert look(trial, ("slow", "other")).faults == (said,)


def test_a_profile_of_no_variant_and_a_folder_without_a_finished_one_are_told(trial):
    folder = profiles_of(trial)
    (folder / "slow").rename(folder / "gone")
    shutil.rmtree(folder / "other")
    assert "no variant of this name" in look(trial).faults[0]
    (folder / "gone").rename(folder / ".slow.part")
    assert look(trial).faults == ("sort.why holds no finished profile",)


def test_what_is_not_asked_for_is_left_alone(trial):
    (profiles_of(trial) / "other" / PROFILE).write_text("{")
    found = look(trial)
    assert [len(one.explained) for one in found.recorded] == [1]
    assert found.faults == ()
    assert beside(trial, read_manifest(trial), frozenset({"slow"}), ("logs",), 0.95) is None


def test_a_file_in_the_place_of_the_folder_is_a_sentence(trial):
    shutil.rmtree(profiles_of(trial))
    assert look(trial) is None
    profiles_of(trial).write_text("mine")
    assert "cannot be read" in look(trial).faults[0]
