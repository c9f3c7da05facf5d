"""What a report is about: every kind of source, judged as the command ``verdict`` judges it."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.errors import InsufficientDataError, UsageError
from analysis.importers.reader import Reading
from analysis.record.trial_files import Appended
from analysis.report.subject import subject_of, subjects_of
from harness.cli import main

BENCHES = ("text", "logs", "random")


@pytest.fixture
def made(synthetic):
    rng = np.random.default_rng(4)
    data = {
        name: {b: (factor * np.exp(rng.normal(0, 0.02, 16))).tolist() for b in BENCHES}
        for name, factor in (("old", 1.0), ("new", 0.5), ("slow", 1.6))
    }
    return synthetic(data, sessions=4)


@pytest.fixture
def trial(made, tmp_path):
    return made.write(tmp_path / "runs" / "one")


def verdict(*words):
    out = io.StringIO()
    assert main(["verdict", *map(str, words), "--json"], out, io.StringIO()) == 0
    return json.loads(out.getvalue())


ASKED = [
    ({"explain": True}, ["--explain"]),
    ({"margin": 0.05, "confidence": 0.9}, ["--margin", "0.05", "--confidence", "0.9"]),
    ({"benchmarks": ["logs", "text"]}, ["--benchmark", "logs", "--benchmark", "text"]),
    ({"looks": 3, "correction": "bh"}, ["--looks", "3", "--correction", "bh"]),
    ({"weights": {"text": 2.0}, "always_valid": True}, ["--weight", "text=2", "--always-valid"]),
]


@pytest.mark.parametrize(("asked", "words"), ASKED)
def test_a_trial_is_judged_as_its_verdict(asked, words, trial):
    found = subject_of([str(trial)], Reading(), **{"explain": False} | asked)
    assert found.verdict.to_dict() == verdict(trial, *words)
    assert found.title == "synthetic"
    assert found.trial is not None


@pytest.mark.parametrize(("asked", "words"), ASKED)
def test_two_sides_are_judged_as_their_verdict(asked, words, trial):
    sides = [f"{trial}:slow", f"{trial}:new"]
    found = subject_of(sides, Reading(), **{"explain": False} | asked)
    assert found.verdict.to_dict() == verdict(*sides, *words)
    assert list(found.matrices) == ["new", "slow"]  # the baseline first
    assert found.title == "slow and new"


def test_two_trials_are_told_apart_and_count_their_looks(made, tmp_path):
    one = made.write(tmp_path / "one")
    grown = tuple(Appended(at="2026-11-22", first=k, last=k) for k in (3, 4))
    manifest = replace(made.manifest, trial="other", appended=grown)
    other = replace(made, manifest=manifest).write(tmp_path / "b")
    found = subject_of([f"{one}:new", f"{other}:new"], Reading(), explain=False)
    assert found.verdict.look.count == 3
    assert len(found.trials) == 2
    assert found.trial is None
    assert list(found.matrices) == [f"{other}:new", f"{one}:new"]


def test_only_the_benchmarks_that_are_asked_for_are_there(trial):
    found = subject_of([str(trial)], Reading(), benchmarks=["logs"], explain=False)
    assert found.order == ("logs",)
    assert all(matrix.benchmarks == ("logs",) for matrix in found.matrices.values())


def test_a_variant_named_with_the_trial_is_the_candidate(trial):
    found = subject_of([f"{trial}:new"], Reading(), explain=False)
    assert [one.variant for one in found.candidates] == ["new"]
    assert list(found.matrices) == ["old", "new"]
    assert found.options["variants"] == ("new",)


def test_one_file_is_a_system_alone(tmp_path):
    file = tmp_path / "m.csv"
    file.write_text("a,1,2,3\nb,4,5,6\n")
    found = subject_of([str(file)], Reading(better="lower"), explain=False)
    assert found.candidates == ()
    assert [one.benchmark for one in found.verdict.alone] == ["a", "b"]
    assert (found.title, found.order, found.trials) == ("m", ("a", "b"), ())
    assert found.verdict.counts.runs == 6
    assert found.matrices["m"].runs == (3, 3)
    assert subject_of([str(file)], Reading(), benchmarks=["b"], explain=False).order == ("b",)
    with pytest.raises(UsageError, match="there is no benchmark 'x'"):
        subject_of([str(file)], Reading(), benchmarks=["x"], explain=False)
    with pytest.raises(UsageError, match="--metric is for trials"):
        subject_of([str(file)], Reading(metric="wall"), explain=False)
    with pytest.raises(UsageError, match="--variant is for one trial"):
        subject_of([str(file)], Reading(), variants=("x",), explain=False)


def test_one_variant_alone_and_named(synthetic, tmp_path):
    data = {"only": {b: [1.0, 1.1, 0.9, 1.2] for b in BENCHES}}
    place = synthetic(data, sessions=2).write(tmp_path / "t")
    for source in (str(place), f"{place}:only"):
        found = subject_of([source], Reading(), explain=False)
        assert found.candidates == ()
        assert list(found.matrices) == ["only"]
        assert found.order == BENCHES


def failing(made, *variants):
    return replace(made, rows=[*made.rows]).fail(lambda row: row.variant in variants)


def test_a_variant_without_a_run_has_no_matrix(made, tmp_path):
    place = failing(made, "new").write(tmp_path / "t")
    found = subject_of([str(place)], Reading(), explain=False)
    assert list(found.matrices) == ["old", "slow"]
    assert [one.multilevel is None for one in found.candidates] == [True, False]
    assert set(found.order) == set(BENCHES)
    base = subject_of([str(failing(made, "old").write(tmp_path / "u"))], Reading(), explain=False)
    assert "old" not in base.matrices
    assert all(one.multilevel is None for one in base.candidates)


def test_where_nothing_counts_there_is_no_report(made, tmp_path):
    place = failing(made, "old", "new", "slow").write(tmp_path / "t")
    with pytest.raises(InsufficientDataError, match="no run that counts"):
        subject_of([str(place)], Reading(), explain=False)
    empty = replace(made, rows=[], manifest=replace(made.manifest, status="running", finished=None))
    with pytest.raises(InsufficientDataError, match="no run yet"):
        subject_of([str(empty.write(tmp_path / "u"))], Reading(), explain=False)


def test_several_metrics_read_the_trial_once(trial, monkeypatch):
    from analysis.report import subject

    opened = []
    real = subject.open_trial
    monkeypatch.setattr(
        subject,
        "open_trial",
        lambda path, *how, **more: opened.append(path) or real(path, *how, **more),
    )
    found = subjects_of([str(trial)], Reading(), ["wall", "user", "wall"], explain=False)
    assert [one.verdict.data.metric for one in found] == ["wall", "user"]
    assert [one.prefix for one in found] == ["", "metric-2-"]
    assert len(opened) == 1
    assert [
        one.verdict.data.metric for one in subjects_of([str(trial)], Reading(), explain=False)
    ] == ["wall"]


def test_more_than_two_sources_are_refused():
    with pytest.raises(UsageError, match="not on 3 sources"):
        subject_of(["a", "b", "c"], Reading(), explain=False)


def test_every_benchmark_of_every_candidate_is_listed(made, tmp_path):
    # one that only a later candidate has, and one of which runs are 0
    rows = [row for row in made.rows if (row.variant, row.benchmark) != ("new", "logs")]
    rows = [
        replace(row, user_s=0.0) if row.benchmark == "random" and row.variant != "slow" else row
        for row in rows
    ]
    plan = [run for run in made.plan if (run.variant, run.benchmark) != ("new", "logs")]
    for place, row in enumerate(rows):
        rows[place] = replace(row, position=place)
        plan[place] = replace(plan[place], position=place)
    manifest = replace(made.manifest, planned=len(plan))
    place = replace(made, rows=rows, plan=plan, manifest=manifest).write(tmp_path / "t")
    found = subject_of([str(place)], Reading(metric="user"), explain=False)
    assert sorted(found.order) == sorted(BENCHES)
