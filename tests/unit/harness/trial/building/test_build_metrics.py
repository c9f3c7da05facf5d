"""Numbers of builds: read once the steps have ended, stored with the build, one value of each build for the judge.

Authority: docs/campaign.md (numbers of builds); one value has no interval, so no gate may pass or stop by it.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import FairtrialError
from analysis.record.manifest import judging_with
from analysis.record.trial_files import read_builds
from analysis.verdict.gate import gate
from analysis.verdict.judging import judge
from harness.campaign.model import LAYOUT_SEED, Build, Command, MetricRule

MARK = "campaign.yaml:2:1"


def rule(name, **given):
    return MetricRule(
        name=name, **({"regex": "size (.+)", "unit": "B", "better": "lower", "when": "build"} | given)
    )  # fmt: skip


@pytest.fixture
def two(stage, campaign, make_cell):
    """Give a campaign of two variants that `make NAME` builds, b larger by a fifth, with what it prints and writes."""
    stage.program("make")
    made = []

    def build(request):
        name = request.argv[1]
        made.append(name)
        stage.program(name, "#!/bin/sh\n" + "#" * (91 if name == "a" else 111))
        number = {"a": 1000, "b": 1200}[name] + len(made)
        (stage.folder / f"{name}.size").write_text(f"size {number}\n")
        request.stdout.write_text(f"size {number / 1000} kB\n")
        return {"wall_ns": 2_000_000_000, "max_rss_bytes": 9000 + len(made)}

    stage.command = build

    def make(*rules, each="campaign", sessions=3, benchmarks=("x",)):
        cells, builds = [], []
        for variant in "ab":
            own = tuple(
                dataclasses.replace(one, source=stage.folder / f"{variant}.size")
                if one.source == "file"
                else one
                for one in rules
            )
            command = Command(argv=(f"bin/{variant}",), mark=MARK)
            cells += [make_cell(b, variant, command=command, metrics=own) for b in benchmarks]
            seed = [LAYOUT_SEED] if each == "session" else []
            step = Command(argv=("make", variant, *seed), mark=MARK)
            builds.append(
                Build(variant=variant, steps=(step,), cwd=stage.folder, env={}, each=each)
            )
        return campaign(benchmarks, sessions=sessions, cells=tuple(cells), builds=tuple(builds))

    return make


def test_they_are_read_of_files_and_of_what_the_steps_print(stage, two):
    stage.start(two(rule("size", source="file"), rule("said")))
    first, last = read_builds(stage.trial)
    assert first.metrics == {
        "size": {"x": (1001.0,)},
        "said": {"x": (1001.0,)},  # 1.001 kB in the declared unit
        "program_bytes": {"x": (101.0,)},
    }
    assert last.metrics["size"] == {"x": (1202.0,)}
    assert all("size" not in row["metrics"] for row in stage.rows)
    about = stage.manifest["metrics"]
    assert about["size"] == {"unit": "B", "better": "lower", "when": "build"}
    assert about["build_seconds"] == {"unit": "s", "better": "lower", "source": "builds"}


def test_a_build_that_serves_all_sessions_has_one_value(stage, two):
    stage.start(two(rule("size", source="file"), benchmarks=("x", "y")))
    trial = read_trial(stage.trial)
    for metric, values in (
        ("size", [1001, 1202]),
        ("program_bytes", [101, 121]),
        ("build_seconds", [2, 2]),
        ("build_max_rss", [9001, 9002]),
    ):
        for variant, value in zip("ab", values, strict=True):
            matrix = trial.matrix(variant, metric)
            assert [list(one) for one in matrix.samples] == [[value], [value]]
            assert {caution.code for caution in matrix.cautions} <= {"warm-up-left-out"}
    assert trial.manifest.declared == ("size",)


def test_one_value_has_no_interval_no_gate_passes_by_it_and_no_warm_up_leaves_it_out(stage, two):
    stage.start(two(rule("size", source="file")))
    with judging_with(1):
        trial = read_trial(stage.trial)
        verdict = judge(trial, metric="size")
    assert list(trial.matrix("b", "size").samples[0]) == [1202]
    told = [one.text for one in verdict.cautions if one.code == "no-iterations"]
    assert "size is a number of builds" in told[0]
    verdict = judge(read_trial(stage.trial), metric="size")
    (line,) = verdict.candidates[0].multilevel.benchmarks
    assert line.speedup == pytest.approx(1001 / 1202)
    assert (line.low, line.high, line.outcome) == (None, None, "undecided")
    codes = {caution.code for caution in verdict.cautions}
    assert "one-build" in codes
    assert "one-session" not in codes
    assert "each was built once, and one value has no interval" in " ".join(str(verdict).split())
    found = gate([verdict.candidates[0].multilevel], "slower>2%")
    assert (found.outcome, found.candidates[0].reason) == ("undecided", "one-build")


def test_a_build_of_each_session_gives_one_value_a_session_and_an_interval(stage, two):
    stage.start(two(rule("size", source="file"), each="session", sessions=4))
    trial = read_trial(stage.trial)
    matrix = trial.matrix("a", "size")
    assert list(matrix.samples[0]) == [1001, 1003, 1005, 1007]
    assert list(matrix.sessions[0]) == [1, 2, 3, 4]
    verdict = judge(read_trial(stage.trial), metric="size")
    (line,) = verdict.candidates[0].multilevel.benchmarks
    assert line.outcome == "slower"
    assert line.low < 1001 / 1202 < line.high
    assert "one-build" not in {caution.code for caution in verdict.cautions}
    judged = np.flatnonzero(trial.judged("size"))
    assert len(judged) == 8  # of two variants; no other run has a value of it


def test_longer_builds_do_not_lead_to_why_which_explains_runs(stage, two):
    stage.start(two(rule("took", source="file", unit="s"), each="session", sessions=4))
    verdict = judge(read_trial(stage.trial), metric="took")
    (line,) = verdict.candidates[0].multilevel.benchmarks
    assert line.outcome == "slower"
    assert "fairtrial why" not in str(verdict)
    assert "fairtrial report" in str(verdict)


def test_a_declared_metric_of_that_name_wins(stage, two):
    stage.start(two(rule("program_bytes", source="file"), rule("build_seconds", unit="B")))
    assert stage.manifest["metrics"]["program_bytes"]["when"] == "build"
    trial = read_trial(stage.trial)
    assert list(trial.matrix("a", "program_bytes").samples[0]) == [1001]
    assert list(trial.matrix("a", "build_seconds").samples[0]) == [1001]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"regex": "text (.+)"}, "size: nothing in the output of its steps matches text (.+)"),
        ({"unit": "s"}, "size: '1.001 kB' is in 'kB', which cannot be converted to s"),
        ({"source": "none"}, "No such file: no step of the build has written it"),
    ],
)
def test_a_number_that_is_not_there_ends_the_trial_like_a_build_that_fails(stage, two, given, why):
    if "source" in given:
        given = {"source": stage.folder / "none"}
    with pytest.raises(FairtrialError) as caught:
        stage.start(two(rule("size", **given)))
    assert caught.value.what.startswith("the build of 'a' has no such number: size: ")
    assert why in caught.value.what
    assert stage.manifest["status"] == "stopped"
    assert stage.rows == []


def test_a_resume_that_repeats_no_build_keeps_the_first_record(stage, two):
    c = two(rule("size", source="file"))
    stage.target = stage.at(3, stage.interrupt)
    stage.start(c)
    before = read_builds(stage.trial)
    stage.target = lambda request: None
    (stage.folder / "a.size").unlink()  # no run and no resume needs it again
    assert stage.resume(c).status == "complete"
    assert read_builds(stage.trial) == before
    assert list(read_trial(stage.trial).matrix("a", "size").samples[0]) == [1001]
