"""A session's own build: drawn by its seed, before the session's checks, recorded, and held to on resume.

Authority: docs/trial-format.md (builds.jsonl) and docs/campaign.md (build.each); the contract of a resumed trial is
that no session of it is measured with two programs, and that none is thrown away.
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import FairtrialError, StoreError
from analysis.record.manifest import judging_with
from analysis.record.trial_files import StopRule, read_builds
from analysis.verdict.gate import gate
from analysis.verdict.judging import judge
from harness.campaign.cells import layout_seed
from harness.campaign.model import LAYOUT_SEED, Build, Command, MetricRule
from harness.errors import DriftError, LaunchError
from harness.trial import writer

MARK = "campaign.yaml:2:1"


@pytest.fixture
def two(stage, campaign, make_cell):
    """Give a campaign of two variants, each built anew in each of two sessions: `make NAME SEED`."""
    stage.program("make")
    stage.command = links(stage)

    def make(sessions=2, each="session", artifacts=True, env=None, **given):
        cells, builds = [], []
        for variant in ("a", "b"):
            path = stage.bin / variant
            command = Command(argv=(f"bin/{variant}",), mark="campaign.yaml:1:1")
            cells.append(make_cell("x", variant, command=command, env=env or {}))
            argv = ("make", variant, *([LAYOUT_SEED] if each == "session" else []))
            builds.append(
                Build(
                    variant=variant,
                    steps=(Command(argv=argv, mark=MARK),),
                    cwd=stage.folder,
                    env={},
                    each=each,
                    artifacts=(path,) if artifacts else (),
                )
            )
        return campaign(
            ("x",), sessions=sessions, cells=tuple(cells), builds=tuple(builds), **given
        )

    return make


def links(stage, text=" ".join):
    """Give a build that writes the program of its variant; what stands there comes of the command's words."""

    def answer(request):
        stage.program(request.argv[1], f"#!/bin/sh\n# {text(request.argv)}\n")

    return answer


def order(stage):
    """Say what was executed, in a word each: builds with their seed, and targets."""
    return [
        f"build {request.argv[1]}" if request.argv[0] == "make" else request.argv[0]
        for _, request in stage.executed
    ]


def seeds(stage):
    return [int(r.argv[2]) for _, r in stage.executed if r.argv[0] == "make"]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def broken_off(stage, campaign, at):
    """Begin a trial and break it off at the run of that number, from 0."""
    stage.target = stage.at(at, stage.interrupt)
    assert stage.start(campaign).status == "interrupted"
    stage.target = lambda request: None
    stage.executed.clear()


# --- what is executed, and when -----------------------------------------------------------------


def test_each_session_begins_with_its_builds_and_no_other_has_their_seeds(stage, two):
    assert stage.start(two()).status == "complete"
    said = order(stage)
    assert said[:2] == ["build a", "build b"] == said[8:10]
    assert not any(one.startswith("build") for one in (*said[2:8], *said[10:]))
    expected = [layout_seed(7, session, variant) for session in (1, 2) for variant in "ab"]
    assert seeds(stage) == expected
    assert stage.manifest["targets"] == {}  # a session's program is none of the whole trial
    # that their builds differ is no change between sessions
    for check in ("layout-not-varied", "drift", "environment"):
        assert stage.findings(check) == []


def test_what_was_built_is_recorded_before_it_is_measured(stage, two):
    known = []
    stage.target = lambda request: known.append(len(read_builds(stage.trial)))
    stage.start(two())
    assert known == [2] * 6 + [4] * 6
    first, *_, last = read_builds(stage.trial)
    assert (first.session, first.segment, first.variant) == (1, 0, "a")
    assert first.layout_seed == layout_seed(7, 1, "a")
    assert first.artifacts["bin/a"].sha256 == first.programs["bin/a"] != last.programs["bin/b"]
    assert last.artifacts["bin/b"].sha256 == digest(stage.bin / "b")
    assert last.artifacts["bin/b"].bytes == (stage.bin / "b").stat().st_size
    assert (first.seconds, first.max_rss_bytes, first.max_rss_floor_bytes) == (0.001, 4096, 1024)
    assert first.log == ("outputs/build-a-session1-1.log",)
    assert last.log == ("outputs/build-b-session2-1.log",)
    assert "builds.jsonl" in stage.manifest["files"]


def test_a_build_for_all_sessions_is_recorded_too(stage, two):
    stage.start(two(each="campaign"))
    assert [(one.session, one.variant, one.layout_seed) for one in read_builds(stage.trial)] == [
        (0, "a", None),
        (0, "b", None),
    ]


def test_a_trial_without_builds_has_no_such_file(stage, campaign):
    stage.start(campaign())
    assert not (stage.trial / "builds.jsonl").exists()
    assert "builds.jsonl" not in stage.manifest["files"]


def test_the_pause_follows_the_builds_and_stands_nowhere_else(stage, two):
    stage.start(two(pause_s=3.0))
    assert stage.slept == [3.0, 3.0]
    stage.slept.clear()


def test_the_variables_of_a_cell_have_the_seed_of_its_session(stage, two):
    stage.start(two(env={"SEED": LAYOUT_SEED}))
    given = [
        (request.argv[0], int(request.env[b"SEED"]))
        for _, request in stage.executed
        if request.argv[0] != "make"
    ]
    for variant in "ab":
        ours = [seed for name, seed in given if name == f"bin/{variant}"]
        assert ours == [layout_seed(7, 1, variant)] * 3 + [layout_seed(7, 2, variant)] * 3


def test_an_argument_that_a_session_builds_is_not_told_as_changed(stage, two):
    c = two(sessions=3)
    cells = tuple(
        dataclasses.replace(
            cell, command=Command(argv=("true", f"bin/{cell.variant}"), mark=cell.command.mark)
        )
        for cell in c.cells
    )
    stage.start(dataclasses.replace(c, cells=cells))
    assert stage.findings("input") == []


# --- builds that go wrong -----------------------------------------------------------------------


def test_a_build_that_fails_ends_the_trial_as_one_before_the_first_session_does(stage, two):
    c, link = two(), links(stage)
    numbers = iter(range(9))
    stage.command = lambda request: {"exit_code": 2} if next(numbers) == 2 else link(request)
    with pytest.raises(LaunchError, match="build step 1 of 'a' failed with exit code 2"):
        stage.start(c)
    assert (stage.manifest["status"], len(stage.rows)) == ("stopped", 6)
    assert stage.manifest["stage"] is None
    stage.command = link
    assert stage.resume(c).status == "complete"
    assert [one.session for one in read_builds(stage.trial)] == [1, 1, 2, 2]


def test_an_artifact_that_is_not_made_ends_the_trial_and_says_what_to_do(stage, two):
    c = two()
    missing = dataclasses.replace(c.builds[0], artifacts=(stage.folder / "build" / "prog",))
    with pytest.raises(LaunchError) as error:
        stage.start(dataclasses.replace(c, builds=(missing, c.builds[1])))
    assert error.value.what == "the build of 'a' did not make build/prog"
    assert "artifacts" in error.value.fix
    assert "build-a-session1-1.log" in error.value.fix
    assert read_builds(stage.trial) == ()


def test_a_build_that_overwrites_another_variants_program_is_refused(stage, two):
    """The first variant would be measured with the second one's program, under the record of its own."""

    def both(request):
        stage.program(request.argv[1], f"#!/bin/sh\n# {' '.join(request.argv)}\n")
        stage.program("a", f"#!/bin/sh\n# of {request.argv[1]}\n")

    stage.command = both
    with pytest.raises(
        LaunchError, match=r"after the builds of session 1, bin/a is not what the build of a made"
    ) as refused:
        stage.start(two())
    assert "bin/{variant}" in refused.value.fix
    assert order(stage) == ["build a", "build b"]


def test_a_signal_in_a_build_interrupts_the_trial_and_the_session_is_built_later(stage, two):
    stage.command = lambda request: stage.interrupt() if len(stage.executed) > 8 else link(request)
    link = links(stage)
    assert stage.start(two()).status == "interrupted"
    assert len(stage.rows) == 6
    stage.command = link
    stage.executed.clear()
    assert stage.resume(two()).status == "complete"
    assert order(stage)[:2] == ["build a", "build b"]
    assert [one.session for one in read_builds(stage.trial)][-2:] == [2, 2]


@pytest.mark.parametrize("artifacts", [True, False])
def test_two_equal_builds_of_a_variant_are_told_once(stage, two, artifacts):
    c = two(sessions=3, artifacts=artifacts)
    stage.command = links(stage, lambda words: words[1])
    stage.start(c)
    found = stage.findings("layout-not-varied")
    assert [(one["session"], one["status"]) for one in found] == [(2, "warn"), (2, "warn")]
    assert "sessions 1 and 2 of a have the same build" in found[0]["what"]
    assert "bin/a" in found[0]["where"]


def test_builds_of_which_no_file_is_known_are_not_called_varied(stage, two):
    c = two(sessions=3, artifacts=False)
    cells = tuple(
        dataclasses.replace(cell, command=Command(argv=("true",), mark=MARK)) for cell in c.cells
    )
    away = stage.folder / "elsewhere"
    away.mkdir()
    builds = tuple(dataclasses.replace(build, cwd=away) for build in c.builds)
    stage.start(dataclasses.replace(c, cells=cells, builds=builds, source=away / "campaign.yaml"))
    found = stage.findings("layout-not-varied")
    assert [(one["session"], one["status"]) for one in found] == [(2, "unknown"), (2, "unknown")]


def test_nothing_is_built_once_the_time_is_up(stage, two):
    def passes(context, session):
        stage.clock.now += 20.0

    ending = stage.start(two(max_time_s=11.0), after_session=passes)
    assert (ending.status, len(stage.rows)) == ("stopped", 6)
    assert "was reached before the builds of session 2" in stage.manifest["reason"]
    assert seeds(stage) == [layout_seed(7, 1, "a"), layout_seed(7, 1, "b")]


# --- going on -----------------------------------------------------------------------------------


def test_a_resume_between_two_sessions_builds_the_next_and_no_other(stage, two):
    broken_off(stage, two(), 6)
    (stage.bin / "a").unlink()
    assert len(stage.rows) == 6
    assert stage.resume(two()).status == "complete"
    assert order(stage)[:2] == ["build a", "build b"]
    assert seeds(stage) == [layout_seed(7, 2, "a"), layout_seed(7, 2, "b")]


def test_a_half_session_whose_programs_stand_is_not_built_again(stage, two):
    broken_off(stage, two(), 3)
    assert stage.resume(two(), sessions=2).status == "complete"
    assert seeds(stage) == [layout_seed(7, 2, "a"), layout_seed(7, 2, "b")]
    assert stage.findings("drift") == []


def test_a_half_session_is_built_again_with_its_seed(stage, two):
    broken_off(stage, two(), 9)
    before = digest(stage.bin / "b")
    stage.program("b", "of another session")
    assert stage.resume(two()).status == "complete"
    assert order(stage)[0] == "build b"
    assert seeds(stage) == [layout_seed(7, 2, "b")]
    assert digest(stage.bin / "b") == before
    again = read_builds(stage.trial)[-1]
    assert (again.session, again.segment, again.variant) == (2, 1, "b")
    assert again.log == ("outputs/build-b-session2-again1-1.log",)
    assert len(stage.rows) == 12 + 2  # the warm-ups of the second session are repeated


def test_a_half_session_that_comes_out_differently_is_refused_and_stays_as_it_was(stage, two):
    broken_off(stage, two(), 9)
    rows = len(stage.rows)
    (stage.bin / "a").unlink()
    stage.command = links(stage, lambda words: "of another compiler")
    with pytest.raises(DriftError) as error:
        stage.resume(two())
    assert "bin/a has changed" in error.value.what
    assert "session 2 of a was measured with another build" in error.value.what
    assert (stage.manifest["status"], len(stage.rows)) == ("interrupted", rows)
    assert len(read_builds(stage.trial)) == 4


def test_an_accepted_difference_is_recorded_and_no_run_is_thrown_away(stage, two):
    broken_off(stage, two(), 9)
    before = stage.rows
    (stage.bin / "a").unlink()
    stage.command = links(stage, lambda words: "of another compiler")
    assert stage.resume(two(), accept_drift=True).status == "complete"
    assert stage.rows[: len(before)] == before
    (told,) = stage.findings("drift", "resume")
    assert "bin/a has changed" in told["what"]
    assert read_builds(stage.trial)[-1].segment == 1


def test_what_was_accepted_is_what_the_session_is_held_to_from_then_on(stage, two):
    broken_off(stage, two(), 9)
    (stage.bin / "a").unlink()
    stage.command = links(stage, lambda words: "of another compiler")
    stage.target = stage.at(0, stage.interrupt)
    assert stage.resume(two(), accept_drift=True).status == "interrupted"
    stage.target = lambda request: None
    assert stage.resume(two()).status == "complete"


def test_a_half_session_of_which_no_build_is_known_is_refused(stage, two):
    broken_off(stage, two(), 3)
    (stage.trial / "builds.jsonl").unlink()
    with pytest.raises(DriftError, match="what the build of a for session 1 made is not known"):
        stage.resume(two())
    assert stage.resume(two(), accept_drift=True).status == "complete"


def test_sessions_that_are_appended_are_built_and_those_before_are_not(stage, two):
    stage.start(two(sessions=1))
    stage.executed.clear()
    assert stage.resume(two(sessions=1), sessions=3).status == "complete"
    assert seeds(stage) == [layout_seed(7, session, v) for session in (2, 3) for v in "ab"]


def test_a_session_that_ended_by_its_rule_is_not_built_again(stage, two):
    c = two(sessions=2, runs=2, stop=StopRule(width=100.0, min_runs=2, max_runs=2))
    broken_off(stage, c, 6)
    assert [end["session"] for end in stage.manifest["session_ends"]] == [1]
    assert stage.resume(c).status == "complete"
    assert seeds(stage) == [layout_seed(7, 2, "a"), layout_seed(7, 2, "b")]


def test_a_torn_last_build_is_cut_off_and_told(stage, two):
    broken_off(stage, two(), 6)
    path = stage.trial / "builds.jsonl"
    with path.open("ab") as file:
        file.write(b'{"session":2,"segm')
    assert stage.resume(two()).status == "complete"
    found = [(one.session, one.segment) for one in read_builds(stage.trial)]
    assert found == [(1, 0), (1, 0), (2, 0), (2, 0), (2, 1), (2, 1)]
    (told,) = stage.findings("store")
    assert told["where"] == "builds.jsonl:5"


def test_a_trial_is_not_complete_when_its_builds_were_edited(stage, two):
    def edits():
        path = stage.trial / "builds.jsonl"
        path.write_bytes(path.read_bytes().replace(b'"segment":0', b'"segment":7'))

    stage.target = stage.at(11, edits)
    with pytest.raises(StoreError, match="checksum"):
        stage.start(two())
    assert stage.manifest["status"] == "stopped"


# --- what cannot stand together -----------------------------------------------------------------


def test_a_host_of_a_fleet_builds_for_its_sessions_whatever_was_built_before(stage, two):
    stage.start(two(sessions=1), built=True, node="host7")
    assert seeds(stage) == [layout_seed(7, 1, variant, "host7") for variant in "ab"]


def test_a_full_disk_ends_the_trial_before_anything_is_measured_without_a_record(
    stage, two, monkeypatch
):
    link = links(stage)
    real = writer.append_synced

    def full(trial, name, data):
        if name == "builds.jsonl" and len(stage.rows) == 6:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(trial, name, data)

    monkeypatch.setattr(writer, "append_synced", full)
    with pytest.raises(StoreError, match="No space left on device") as error:
        stage.start(two())
    assert "--resume" in error.value.fix
    assert (stage.manifest["status"], len(stage.rows)) == ("stopped", 6)
    monkeypatch.setattr(writer, "append_synced", real)
    stage.command = link
    assert stage.resume(two()).status == "complete"
    assert [one.session for one in read_builds(stage.trial)] == [1, 1, 2, 2]


# --- Numbers of builds: read once the steps have ended, stored with the build, one value of each build for the judge
#
# Authority: docs/campaign.md (numbers of builds); one value has no interval, so no gate may pass or stop by it.


def rule(name, **given):
    return MetricRule(
        name=name, **({"regex": "size (.+)", "unit": "B", "better": "lower", "when": "build"} | given)
    )  # fmt: skip


@pytest.fixture
def build_metrics_two(stage, campaign, make_cell):
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


def test_they_are_read_of_files_and_of_what_the_steps_print(stage, build_metrics_two):
    stage.start(build_metrics_two(rule("size", source="file"), rule("said")))
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


def test_a_build_that_serves_all_sessions_has_one_value(stage, build_metrics_two):
    stage.start(build_metrics_two(rule("size", source="file"), benchmarks=("x", "y")))
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


def test_one_value_has_no_interval_no_gate_passes_by_it_and_no_warm_up_leaves_it_out(
    stage, build_metrics_two
):
    stage.start(build_metrics_two(rule("size", source="file")))
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


def test_a_build_of_each_session_gives_one_value_a_session_and_an_interval(
    stage, build_metrics_two
):
    stage.start(build_metrics_two(rule("size", source="file"), each="session", sessions=4))
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


def test_longer_builds_do_not_lead_to_why_which_explains_runs(stage, build_metrics_two):
    stage.start(
        build_metrics_two(rule("took", source="file", unit="s"), each="session", sessions=4)
    )
    verdict = judge(read_trial(stage.trial), metric="took")
    (line,) = verdict.candidates[0].multilevel.benchmarks
    assert line.outcome == "slower"
    assert "fairtrial why" not in str(verdict)
    assert "fairtrial report" in str(verdict)


def test_a_declared_metric_of_that_name_wins(stage, build_metrics_two):
    stage.start(
        build_metrics_two(rule("program_bytes", source="file"), rule("build_seconds", unit="B"))
    )
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
def test_a_number_that_is_not_there_ends_the_trial_like_a_build_that_fails(
    stage, build_metrics_two, given, why
):
    if "source" in given:
        given = {"source": stage.folder / "none"}
    with pytest.raises(FairtrialError) as caught:
        stage.start(build_metrics_two(rule("size", **given)))
    assert caught.value.what.startswith("the build of 'a' has no such number: size: ")
    assert why in caught.value.what
    assert stage.manifest["status"] == "stopped"
    assert stage.rows == []


def test_a_resume_that_repeats_no_build_keeps_the_first_record(stage, build_metrics_two):
    c = build_metrics_two(rule("size", source="file"))
    stage.target = stage.at(3, stage.interrupt)
    stage.start(c)
    before = read_builds(stage.trial)
    stage.target = lambda request: None
    (stage.folder / "a.size").unlink()  # no run and no resume needs it again
    assert stage.resume(c).status == "complete"
    assert read_builds(stage.trial) == before
    assert list(read_trial(stage.trial).matrix("a", "size").samples[0]) == [1001]
