"""Trials put together: what the new one holds, by what went in, and what is refused."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.data import merging as assembly
from analysis.data.merging import Offsets, merge_trials
from analysis.data.trial import read_trial
from analysis.errors import StoreError, UsageError
from analysis.importers.export import exported_trial
from analysis.record.environment import commits_of_all
from analysis.record.manifest import read_manifest
from analysis.record.shapes import encode_checked
from analysis.record.trial_files import (
    ENERGY,
    Appended,
    GivenUp,
    IdlePower,
    JudgedMetrics,
    read_builds,
)

TIMES = {
    "a": {"x": [0.010, 0.011, 0.012, 0.013], "y": [0.020, 0.021, 0.022, 0.023]},
    "b": {"x": [0.005, 0.006, 0.007, 0.008], "y": [0.030, 0.031, 0.032, 0.033]},
}
CAMPAIGN = {
    "name": "synthetic",
    "seed": 1,
    "protocol": {"sessions": 2, "runs": 2, "order": "shuffled"},
}
ENVIRONMENT = {
    "host": {"name": "lab07", "machine_id_sha256": "abc", "boot_id": "first"},
    "cpu": {"model": "model 1", "governor": "performance"},
    "kernel": {"release": "6.1"},
    "targets": {"x/a": {"path": "/bin/a", "sha256": "1" * 64}},
}


@pytest.fixture
def night(tmp_path, synthetic):
    """Write a trial of one night; its sessions are shifted in time and speed by the night."""

    def make(number, *, sessions=2, campaign=None, environment=None, change=None, **manifest):
        times = {
            variant: {
                bench: [t * (1 + number / 10) for t in row * (sessions // 2)]
                for bench, row in cells.items()
            }
            for variant, cells in TIMES.items()
        }
        made = synthetic(
            times,
            sessions=sessions,
            trial=f"synthetic-night-{number}",
            started=f"2026-11-2{number}T03:10:00Z",
            finished=f"2026-11-2{number}T03:20:00Z",
            **{"warmup": 1, "cpu_model": "model 1", **manifest},
        )
        made.record(environment or ENVIRONMENT, CAMPAIGN if campaign is None else campaign)
        made.extra |= {
            "findings.jsonl": b'{"at": "t", "session": 1, "when": "before", '
            b'"check": "load", "status": "ok", "what": "w"}\n',
            "outputs/0003.stdout": b"said",
            "outputs/build-a-1.log": b"built",
        }
        if change is not None:
            change(made)
        return made.write(tmp_path / f"night-{number}")

    return make


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_sessions_follow_each_other_in_the_order_of_the_starts(night, tmp_path):
    # authority: the trials that went in, run by run
    second, first = night(2), night(1)
    merged = merge_trials([second, first], tmp_path / "all")
    assert (merged.sessions, merged.runs) == (4, 48)
    whole = read_trial(tmp_path / "all")
    parts = [read_trial(first), read_trial(second)]
    for variant in "ab":
        matrix = whole.matrix(variant)
        for k, bench in enumerate(matrix.benchmarks):
            own = [trial.matrix(variant) for trial in parts]
            expected = np.concatenate([one.samples[k] for one in own])
            assert np.array_equal(matrix.samples[k], expected), bench
            assert matrix.sessions[k].tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
            assert len(set(matrix.blocks[k].tolist())) == 8
    assert whole.position.tolist() == list(range(48))
    assert [one.code for one in whole.cautions] == ["merged"]
    assert not (tmp_path / "all" / "builds.jsonl").exists()
    for name in ("campaign.yaml", "resolved.json"):
        assert (tmp_path / "all" / name).read_bytes() == (first / name).read_bytes()


def test_nothing_of_a_run_is_changed_but_its_place(night, tmp_path):
    first, second = night(1), night(2)
    merge_trials([first, second], tmp_path / "all")
    old = [*lines(first / "measurements.jsonl"), *lines(second / "measurements.jsonl")]
    new = lines(tmp_path / "all" / "measurements.jsonl")
    for before, after in zip(old, new, strict=True):
        for key in ("position", "session", "crc32"):
            del before[key], after[key]
        assert before == after


def test_the_manifest_says_where_the_sessions_are_from(night, tmp_path):
    first, second = night(1), night(2, sessions=4, seed=9, campaign={**CAMPAIGN, "seed": 9})
    merge_trials([first, second], tmp_path / "all")
    manifest = read_manifest(tmp_path / "all")
    assert (manifest.trial, manifest.origin, manifest.sessions) == ("all", "merged", 6)
    assert [(one.trial, one.first, one.last, one.seed) for one in manifest.merged_from] == [
        ("synthetic-night-1", 1, 2, 1),
        ("synthetic-night-2", 3, 6, 9),
    ]
    assert (manifest.started, manifest.finished) == ("2026-11-21T03:10:00Z", "2026-11-22T03:20:00Z")
    assert (manifest.seed, manifest.planned, manifest.status) == (1, 24 + 48, "complete")
    assert [row["session"] for row in lines(tmp_path / "all" / "environment.jsonl")] == [
        *range(1, 7)
    ]


def test_each_trial_behind_the_first_is_a_look_and_so_are_its_own_appends(night, tmp_path):
    grown = (Appended(at="then", first=2, last=2),)
    first, second = night(1, appended=grown), night(2, appended=grown)
    merge_trials([first, second], tmp_path / "all")
    manifest = read_manifest(tmp_path / "all")
    assert [(one.first, one.last) for one in manifest.appended] == [(2, 2), (3, 3), (4, 4)]
    assert len(manifest.sessions_at_looks) == 4  # two of each trial


def repeat(made):
    """Let a session be resumed once: its first warm-up is repeated."""
    made.rows.insert(6, replace(made.rows[0], position=-1, segment=1))
    made.extra["outputs/w1.stderr"] = b"complained"


def test_outputs_are_named_after_the_new_positions(night, tmp_path):
    merge_trials([night(1, change=repeat), night(2, change=repeat)], tmp_path / "all")
    root = tmp_path / "all"
    found = {
        str(path.relative_to(root)) for path in (root / "outputs").rglob("*") if path.is_file()
    }
    assert found == {
        f"outputs/{name}"
        for name in (
            *("0003.stdout", "0027.stdout", "w1.stderr", "w2.stderr"),
            *("synthetic-night-1/build-a-1.log", "synthetic-night-2/build-a-1.log"),
        )
    }
    assert read_manifest(tmp_path / "all").files.keys() >= found


def test_repeated_warm_ups_stay_apart(night, tmp_path):
    merge_trials([night(1, change=repeat), night(2, change=repeat)], tmp_path / "all")
    rows = lines(tmp_path / "all" / "measurements.jsonl")
    assert [row["position"] for row in rows if row["position"] < 0] == [-1, -2]
    read_trial(tmp_path / "all")


def test_what_sessions_went_without_moves_with_them(night, tmp_path):
    one = GivenUp(benchmark="x", variant="b", session=2, position=20, runs=2, why="three in a row")
    merge_trials([night(1), night(2, given_up=(one,))], tmp_path / "all")
    (moved,) = read_manifest(tmp_path / "all").given_up
    assert (moved.session, moved.position, moved.runs) == (4, 44, 2)


def test_a_cell_that_was_never_ok_in_a_night_stays_so(night, tmp_path):
    def fails(made):
        lost = [run.position for run in made.plan if (run.benchmark, run.variant) == ("x", "b")]
        made.rows[:] = [
            replace(row, outcome="exit", exit_code=1) if row.position == lost[0] else row
            for row in made.rows
            if row.position not in lost[1:]
        ]
        ends = {"benchmark": "x", "variant": "b", "position": lost[0], "runs": 0, "why": "exit"}
        records = (GivenUp(**ends, session=k, never_ok=True, warmups=int(k > 1)) for k in (1, 2))
        made.manifest = replace(made.manifest, given_up=tuple(records))

    first, second = night(1), night(2, change=fails)
    merge_trials([first, second], tmp_path / "all")
    whole, alone = read_trial(tmp_path / "all"), read_trial(second)
    moved = whole.manifest.given_up
    assert [(one.session, one.never_ok, one.warmups) for one in moved] == [
        (3, True, 0),
        (4, True, 1),
    ]
    assert {one.position for one in moved} == {24 + alone.manifest.given_up[0].position}
    assert "runs-missing" not in {caution.code for caution in whole.cautions}
    assert alone.matrix("b").failed_by_session == {"x": {1: 1}}
    assert whole.matrix("b").failed_by_session == {"x": {3: 1}}
    lost = [{c.code for c in exported_trial(alone, variants=of).beyond} for of in ([], ["a"])]
    assert ["never-ok-lost" in codes for codes in lost] == [True, False]
    (told,) = (
        one for one in whole.cautions if one.code == "given-up"
    )  # the first night has ok runs
    assert told.text.endswith("never ok when it was tried: x / b in 2 of 4 sessions")
    assert str(told.short) == "left out of 2 sessions, as no run was ok: x / b"


def test_iterations_that_are_not_judged_are_the_campaigns(night, tmp_path):
    def printing(setting):
        def change(made):
            made.rows[:] = [
                replace(row, metrics={"t": (9.0, 9.0, 1e-9 * row.wall_ns)}) for row in made.rows
            ]
            about = {"unit": "s", "better": "lower", "warmup_iterations": setting}
            made.manifest = replace(made.manifest, metrics={"t": about})

        return change

    nights = [night(k, change=printing("2")) for k in (1, 2)]
    merge_trials(nights, tmp_path / "all")
    whole = read_trial(tmp_path / "all")
    np.testing.assert_allclose(whole.values("t"), whole.values("wall"), rtol=1e-12)
    told, nothing = (
        [c.text for c in exported_trial(whole, of).beyond if c.code == "warmup-lost"]
        for of in ([], ["wall"])
    )
    assert ("(t: 2)" in told[0], nothing) == (True, [])
    other = night(3, change=printing("auto"))
    with pytest.raises(StoreError, match="warmup_iterations"):
        merge_trials([nights[0], other], tmp_path / "none")


def test_the_idle_power_of_a_session_moves_with_it(night, tmp_path):
    idle = IdlePower(session=2, segment=1, when="after", watts=9.0, error_w=0.1, seconds=10.0)
    merge_trials([night(1, idle_power=(idle,)), night(2, idle_power=(idle,))], tmp_path / "all")
    moved = read_manifest(tmp_path / "all").idle_power
    assert moved == (idle, replace(idle, session=4))


def build(number, session, variant="a", sha256="a", segment=0):
    """Give a line of a night's builds."""
    log = f"outputs/build-{variant}{'' if session == 0 else f'-session{session}'}-1.log"
    row = {
        "session": session,
        "segment": segment,
        "variant": variant,
        "layout_seed": session or None,
        "artifacts": {"prog": {"sha256": sha256 * 64, "bytes": 9}},
        "programs": {},
        "seconds": 0.1 * number,
        "log": [log],
        "at": "t",
        "linker": "of a later version",
    }
    return encode_checked(row) + b"\n"


def test_builds_move_with_their_sessions_and_logs(night, tmp_path):
    def of(number, *lines):
        return lambda made: made.extra.update({"builds.jsonl": b"".join(lines)})

    first = night(1, change=of(1, build(1, 0), build(1, 1, "b", "c"), build(1, 2, "b", "d")))
    second = night(2, change=of(2, build(2, 0), build(2, 2, "b", "e", segment=1)))
    merge_trials([first, second], tmp_path / "all")
    found = read_builds(tmp_path / "all")
    assert [(one.session, one.segment, one.variant) for one in found] == [
        (0, 0, "a"),
        (1, 0, "b"),
        (2, 0, "b"),
        (0, 1, "a"),
        (4, 1, "b"),
    ]
    assert found[0].log == ("outputs/synthetic-night-1/build-a-1.log",)
    assert found[-1].log == ("outputs/synthetic-night-2/build-b-session2-1.log",)
    assert found[-1].layout_seed == 2
    assert {row["linker"] for row in lines(tmp_path / "all" / "builds.jsonl")} == {
        "of a later version"
    }
    assert "builds.jsonl" in read_manifest(tmp_path / "all").files
    told = [row["check"] for row in lines(tmp_path / "all" / "findings.jsonl")]
    assert "layout-not-varied" not in told


def test_nights_with_the_same_layouts_are_told(night, tmp_path):
    # trials of one seed draw the same: twelve sessions, six layouts
    def same(made):
        made.extra["builds.jsonl"] = build(1, 1, "b", "c") + build(1, 2, "b", "d")

    merge_trials([night(1, change=same), night(2, change=same)], tmp_path / "all")
    (told,) = (
        row
        for row in lines(tmp_path / "all" / "findings.jsonl")
        if row["check"] == "layout-not-varied"
    )
    assert told["what"] == "4 sessions of b have 2 layouts"
    assert (told["status"], told["when"], told["session"]) == ("warn", "merge", None)


def test_nights_of_other_commits_are_of_one_campaign(night, tmp_path):
    """Each session keeps its commits; what the variants are is no part of the campaign."""

    def of(commits, **keys):
        about = {
            f"x/{name}": {"path": "/bin/a", "commit": commit} for name, commit in commits.items()
        }
        return {
            "campaign": CAMPAIGN | {"commit": commits} | keys,
            "environment": ENVIRONMENT | {"targets": about},
        }

    first = of({"a": "v1", "b": "4f0c2a1"}, series=False)
    second = of({"a": "v1", "b": "9b77e02"}, series=True)
    plain = {"campaign": CAMPAIGN, "environment": of({"a": None})["environment"]}
    nights = [night(k, **one) for k, one in enumerate((first, second, plain), 1)]
    merge_trials(nights, tmp_path / "all")
    stored = [commits_of_all([line]) for line in lines(tmp_path / "all" / "environment.jsonl")]
    assert [one.get("b") for one in stored] == ["4f0c2a1"] * 2 + ["9b77e02"] * 2 + [None] * 2
    found = {line["check"] for line in lines(tmp_path / "all" / "findings.jsonl")}
    assert "drift" not in found  # one program under two commits
    other = night(4, campaign=CAMPAIGN | {"commits": {"a": "v1"}}, campaign_sha256="5" * 64)
    with pytest.raises(StoreError, match=r": commits stands in one of them only"):
        merge_trials([nights[0], other], tmp_path / "other")


def test_nights_that_were_built_at_other_times_are_of_other_campaigns(night, tmp_path):
    """A layout of each session is not what one layout of the campaign is."""

    def of(number, identity, **keys):
        build = {"variant": "a", "steps": [{"argv": ["make"]}], "cwd": ".", "env": {}} | keys
        return night(number, campaign=CAMPAIGN | {"builds": [build]}, campaign_sha256=identity * 64)

    plain = of(1, "1")
    merge_trials([plain, of(2, "1")], tmp_path / "all")
    for number, keys in enumerate(({"each": "session"}, {"artifacts": ["app"]}), 3):
        with pytest.raises(StoreError) as refused:
            merge_trials([plain, of(number, str(number), **keys)], tmp_path / f"other-{number}")
        said = f"builds.a.{next(iter(keys))} stands in one of them only"
        assert refused.value.what == f"these are trials of different campaigns: {said}"
    layouts = [of(k, "5", each="session", artifacts=["app"]) for k in (5, 6)]
    merge_trials(layouts, tmp_path / "layouts")


def test_long_settings_are_shown_where_they_differ(night, tmp_path):
    cell = {"benchmark": "x", "variant": "b", "env": {}}
    stated = [CAMPAIGN | {"cells": [cell | {"argv": ["x" * 99, str(k)]}]} for k in (1, 2)]
    nights = [night(k, campaign=one, campaign_sha256=f"{k}" * 64) for k, one in enumerate(stated)]
    with pytest.raises(StoreError, match=r": cells\.x / b\.argv is x.*… ?x* 1 and x.*x 2\n"):
        merge_trials(nights, tmp_path / "other")


def test_a_night_without_energy_is_merged_with_one_that_had_it(night, tmp_path):
    counted = {ENERGY: {"unit": "J", "better": "lower", "source": "powercap"}}
    merge_trials([night(1, metrics=counted), night(2)], tmp_path / "all")
    assert read_manifest(tmp_path / "all").metrics == counted
    printed = {ENERGY: {"unit": "J", "better": "lower"}}
    with pytest.raises(StoreError, match="different campaigns: metrics is"):
        merge_trials([night(3, metrics=printed), night(4)], tmp_path / "refused")


def test_nights_whose_kernels_tell_other_peaks_of_a_service_are_merged(night, tmp_path):
    """A metric of services is the meter's, as energy is: a night without it has none."""
    about = {"unit": "B", "better": "lower", "source": "services"}
    peaks = [{f"service.s.{name}": about} for name in ("peak_memory", "peak_memory_since_start")]
    merge_trials([night(k, metrics=one) for k, one in enumerate(peaks, 1)], tmp_path / "all")
    assert read_manifest(tmp_path / "all").metrics == peaks[0] | peaks[1]


def test_a_merged_trial_can_be_merged_and_no_run_stands_there_twice(night, tmp_path):
    nights = [night(k) for k in (1, 2, 3)]
    merge_trials(nights[:2], tmp_path / "two")
    merge_trials([nights[2], tmp_path / "two"], tmp_path / "three")
    manifest = read_manifest(tmp_path / "three")
    assert [one.trial[-1] for one in manifest.merged_from] == ["1", "2", "3"]
    assert len(manifest.sessions_at_looks) == 3
    with pytest.raises(UsageError, match="the runs of trial synthetic-night-2 are in"):
        merge_trials([nights[1], tmp_path / "two"], tmp_path / "more")


def test_sessions_keep_their_order_in_time_whatever_was_merged_first(night, tmp_path):
    nights = [night(k) for k in (1, 2, 3)]
    merge_trials([nights[0], nights[2]], tmp_path / "two")
    merge_trials([tmp_path / "two", nights[1]], tmp_path / "three")
    whole = read_trial(tmp_path / "three")
    assert [one.trial[-1] for one in whole.manifest.merged_from] == ["1", "3", "2"]
    assert {whole.matrix(name).session_order for name in whole.manifest.variants} == {
        (1, 2, 5, 6, 3, 4)
    }
    assert read_trial(nights[0]).matrix("a").session_order is None  # by their numbers


def test_a_manifest_names_no_sessions_that_were_not_planned(night):
    wrong = night(1, appended=(Appended(at="then", first=2, last=3),))
    with pytest.raises(
        StoreError, match="sessions were appended, or merged, that were not planned"
    ):
        read_manifest(wrong)


# --- differences of environment --------------------------------------------------------------


def changed(section, **values):
    return {**ENVIRONMENT, section: {**ENVIRONMENT[section], **values}}


def test_every_difference_of_environment_is_said_and_stored(night, tmp_path):
    other = changed("cpu", governor="powersave") | {"kernel": {"release": "6.2"}}
    merged = merge_trials([night(1), night(2, environment=other)], tmp_path / "all")
    assert "cpu.governor changed from performance to powersave" in str(merged)
    assert "kernel.release changed from 6.1 to 6.2" in str(merged)
    (pair,) = merged.to_dict()["pairs"]
    assert {change["key"] for change in pair["changes"]} == {"cpu.governor", "kernel.release"}
    found = [row for row in lines(tmp_path / "all/findings.jsonl") if row["when"] == "merge"]
    assert {row["session"] for row in found} == {3}
    assert [row["check"] for row in found] == ["merge", "environment", "environment"]


def test_equal_environments_differ_in_nothing(night, tmp_path):
    merged = merge_trials([night(1), night(2)], tmp_path / "all")  # the negative control
    assert [pair["changes"] for pair in merged.to_dict()["pairs"]] == [[]]
    assert "nothing changed" in str(merged)


@pytest.mark.parametrize(
    ("section", "name", "what"),
    [
        ("targets", "x/a", "the executable of x/a is another one"),
        ("services", "s/a", "the program of the service s/a is another one"),
    ],
)
def test_another_program_is_refused_or_recorded(night, tmp_path, section, name, what):
    sides = [
        {**ENVIRONMENT, section: {name: {"path": "/bin/a", "sha256": digit * 64}}} for digit in "12"
    ]
    nights = [night(k, environment=one) for k, one in enumerate(sides, 1)]
    with pytest.raises(StoreError, match=what) as caught:
        merge_trials(nights, tmp_path / "all")
    assert "--accept-drift" in str(caught.value)
    assert not (tmp_path / "all").exists()
    merge_trials(nights, tmp_path / "all", accept_drift=True)
    codes = [caution.code for caution in read_trial(tmp_path / "all").cautions]
    assert codes == ["drift", "merged"]


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ({"host_id": "def"}, "two hosts of the name lab07: their machine ids differ"),
        ({"host_id": "def", "host": "lab08"}, "two hosts, lab07 and lab08"),
        ({"host_id": "unknown"}, "the machine that measured this trial is unknown"),
        ({"cpu_model": "model 2"}, "another processor: first model 1, then model 2"),
        (
            {"status": "stopped", "reason": "full"},
            "not complete: it was stopped after 24 of 24 runs",
        ),
        ({"status": "running"}, "not complete: it is still running"),
        ({"baseline": "b"}, "baseline is a and b"),
        ({"warmup": 0}, "warmup is 1 and 0"),
        ({"campaign_name": "else"}, "campaign_name is synthetic and else"),
    ],
)
def test_trials_that_do_not_belong_together_are_refused(night, tmp_path, manifest, says):
    nights = [night(1), night(2, **manifest)]
    with pytest.raises(StoreError, match=says):
        merge_trials(nights, tmp_path / "all", accept_drift=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["night-1", "night-2"]


@pytest.mark.parametrize("must_raise", [None, "protocol.max_runs"])
def test_what_a_cap_stopped_is_not_told_to_go_on_as_it_is(night, tmp_path, must_raise):
    (tmp_path / "c.yaml").touch()
    told = {
        "status": "stopped",
        "must_raise": must_raise,
        "campaign_path": str(tmp_path / "c.yaml"),
    }
    with pytest.raises(StoreError) as refused:
        merge_trials([night(1), night(2, **told)], tmp_path / "all")
    assert refused.value.fix.startswith(
        f"finish it first: fairtrial {'status' if must_raise else 'run'} "
    )


def test_another_campaign_is_refused_with_what_differs(night, tmp_path):
    other = {**CAMPAIGN, "protocol": {**CAMPAIGN["protocol"], "order": "sequential"}}
    with pytest.raises(StoreError, match=r"protocol\.order is shuffled and sequential"):
        merge_trials([night(1), night(2, campaign=other)], tmp_path / "all")
    listed, none = ({**CAMPAIGN, "builds": given} for given in (["make"], None))
    with pytest.raises(StoreError, match="builds is make and none"):
        merge_trials([night(5, campaign=listed), night(6, campaign=none)], tmp_path / "all")
    # the identity leaves out what equals the default of then: two versions may hide a difference
    more = {**CAMPAIGN, "isolation": {"nice": 5}}
    nights = [night(3), night(4, campaign=more, campaign_sha256="1" * 64)]
    with pytest.raises(StoreError, match=": isolation stands in one of them only"):
        merge_trials(nights, tmp_path / "all")


def test_without_resolved_campaigns_the_identities_decide(night, tmp_path):
    def first_version(made):
        del made.extra["resolved.json"]

    nights = [night(k, change=first_version) for k in (1, 2)]
    merge_trials(nights, tmp_path / "all")
    assert not (tmp_path / "all" / "resolved.json").exists()
    other = night(3, change=first_version, campaign_sha256="1" * 64)
    with pytest.raises(StoreError, match="their identities"):
        merge_trials([nights[0], other], tmp_path / "more")


def test_a_damaged_trial_is_refused(night, tmp_path):
    nights = [night(1), night(2)]
    path = nights[1] / "measurements.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"session":1', b'"session":2', 1))
    with pytest.raises(StoreError):
        merge_trials(nights, tmp_path / "all")


def test_one_trial_and_a_folder_that_is_there_are_refused(night, tmp_path):
    nights = [night(1), night(2)]
    with pytest.raises(UsageError, match="whole by itself"):
        merge_trials(nights[:1], tmp_path / "all")
    (tmp_path / "there").mkdir()
    with pytest.raises(UsageError, match="something is there already"):
        merge_trials(nights, tmp_path / "there")


# --- whole or not at all -----------------------------------------------------------------------


def test_a_disk_that_fails_leaves_nothing(night, tmp_path, monkeypatch):
    nights = [night(1), night(2)]
    write, count = assembly.write_hashed, iter(range(100))

    def full(path, data):
        if next(count) == 4:
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(assembly, "write_hashed", full)
    with pytest.raises(StoreError, match="No space left on device"):
        merge_trials(nights, tmp_path / "all")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["night-1", "night-2"]


def test_a_trial_that_changes_meanwhile_makes_none(night, tmp_path, monkeypatch):
    nights = [night(1), night(2)]
    write = assembly.write_hashed

    def meddling(path, data):
        if path.name == "plan.jsonl":  # a session is resumed between plan and rows
            rows = nights[1] / "measurements.jsonl"
            rows.write_bytes(b"".join(rows.read_bytes().splitlines(keepends=True)[1:] * 2))
        return write(path, data)

    monkeypatch.setattr(assembly, "write_hashed", meddling)
    with pytest.raises(StoreError):
        merge_trials(nights, tmp_path / "all")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["night-1", "night-2"]


def test_the_manifest_is_written_last_and_the_folder_appears_at_the_end(
    night, tmp_path, monkeypatch
):
    nights, written = [night(1), night(2)], []
    write = assembly.write_hashed

    def watched(path, data):
        assert not (tmp_path / "all").exists()
        assert path.parent.name.startswith(".all.") or "outputs" in path.parts
        written.append(path.name)
        return write(path, data)

    monkeypatch.setattr(assembly, "write_hashed", watched)
    merge_trials(nights, tmp_path / "all")
    assert written[-1] == "manifest.json"
    assert (tmp_path / "all").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "all" / "manifest.json").stat().st_mode & 0o777 == 0o600
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_nights_that_had_different_counters_are_put_together(night, tmp_path):
    # which events can be had is the host's on that night, as its kernel's settings are
    def counted(*names):
        def change(made):
            for number, row in enumerate(made.rows):
                here = row.block == 2
                found = {name: (7.0,) for name in names} if here else {}
                made.rows[number] = replace(row, metrics=found, counted=here)

        metrics = {name: {"unit": "1", "better": "lower", "source": "counters"} for name in names}
        return {"change": change, "metrics": metrics}

    both = night(1, **counted("cycles", "page-faults"))
    one = night(2, **counted("page-faults"))
    merge_trials([both, one], tmp_path / "all")
    merged = read_trial(tmp_path / "all")
    assert set(merged.manifest.metrics) == {"cycles", "page-faults"}
    assert np.isfinite(merged.values("page-faults")).sum() == 2 * 8
    assert np.isfinite(merged.values("cycles")).sum() == 8
    assert merged.counted.sum() == 16
    assert np.isfinite(merged.values("wall")).tolist() == (merged.counted != 1).tolist()


def test_what_repeats_wrote_is_named_after_their_new_positions():
    place = Offsets(sessions=2, positions=30, repeated=3)
    assert place.output("0004.stdout", "t") == "0034.stdout"
    assert place.output("w1.stderr", "t") == "w4.stderr"
    assert place.output("r2.stdout", "t") == "r5.stdout"
    assert place.output("r2.before.log", "t") == "r5.before.log"
    assert place.output("run2.stdout", "t") == "t/run2.stdout"


def test_a_resolved_campaign_that_is_no_json_is_told_with_its_file(night, tmp_path):
    """It was a traceback where the manifest's hash agreed with the damage."""
    paths = [night(1), night(2)]
    resolved = paths[0] / "resolved.json"
    data = resolved.read_bytes() if resolved.exists() else b"{"
    resolved.write_bytes(data[: len(data) // 2] + b"{")
    stored = json.loads((paths[0] / "manifest.json").read_text())
    stored["files"]["resolved.json"] = hashlib.sha256(resolved.read_bytes()).hexdigest()
    (paths[0] / "manifest.json").write_text(json.dumps(stored))
    with pytest.raises(StoreError, match="the resolved campaign cannot be read") as told:
        merge_trials(paths, tmp_path / "whole")
    assert told.value.where == str(resolved)


def test_the_questions_of_all_nights_stay(night, tmp_path):
    def at(hour, *metrics, **more):
        return JudgedMetrics(at=f"2026-11-21T{hour}:10:00Z", metrics=metrics, **more)

    first, second = night(1, judge=(at("03", "wall"), at("04", "user"))), night(2)
    merge_trials([first, second], tmp_path / "two")
    asked = (at("04", "user", trial="synthetic-night-1"),)
    asked += (JudgedMetrics(at="2026-11-22T03:10:00Z", metrics=(), trial="synthetic-night-2"),)
    assert read_manifest(tmp_path / "two").judge == asked
    merge_trials([tmp_path / "two", night(3, judge=(at("05", "wall"),))], tmp_path / "three")
    asked += (at("05", "wall", trial="synthetic-night-3"),)
    assert read_manifest(tmp_path / "three").judge == asked
