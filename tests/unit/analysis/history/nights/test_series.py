"""Where a series ends and where it goes on; what is compared is what a merge compares."""

import json
import os
import shutil
from pathlib import Path

import pytest

from analysis.artifact.redacted import redact_folder
from analysis.artifact.redacted_names import wanted_of
from analysis.data.merging import merge_trials
from analysis.errors import UsageError
from analysis.history import nights as reading
from analysis.history.judging import host_changes
from analysis.history.nights import read_nights


def of(nights, benchmark="x"):
    return [one for one in nights.series if one.benchmark == benchmark]


def codes(nights):
    return [one.code for one in nights.cautions]


def test_a_series_goes_on_whatever_a_merge_does_not_mind(night, tmp_path):
    # authority: FREE_SETTINGS of `merge`; the candidate's program changes every night
    for k in (1, 2, 3):
        night(
            k,
            seed=k,
            campaign_sha256=f"{k}" * 64,
            campaign={"seed": k, "commit": {"tip": f"c{k}"}, "judge": [], "share": k == 2},
            commits={"tip": f"c{k}", "v1": "c0"},
        )
    found = read_nights([tmp_path / "runs"])
    (one,) = of(found)
    assert (one.ends, one.changed, len(one.values)) == (None, None, 3)
    assert [n.commit for n in one.values] == ["c1", "c2", "c3"]
    assert [n.program_sha256 for n in one.values] == [f"{k:064}" for k in (1, 2, 3)]
    assert {n.baseline_commit for n in one.values} == {"c0"}
    assert codes(found) == []


@pytest.mark.parametrize(
    ("later", "why", "said"),
    [
        ({"campaign": {"protocol": {"order": "fixed"}}}, "campaign", "protocol.order"),
        ({"warmup": 1, "campaign_sha256": "1" * 64}, "campaign", "warmup is 0 and 1"),
        ({"inputs": {"x.in": {"sha256": "c" * 64}}}, "inputs", "the input x.in of x"),
        ({"programs": {"v1": "2" * 64}}, "baseline", "the baseline's program is another one"),
    ],
)
def test_a_change_ends_a_series_and_begins_another(night, tmp_path, later, why, said):
    for k in (1, 2):
        night(k, campaign={"protocol": {"order": "shuffled"}})
    for k in (3, 4, 5):
        night(k, **{"campaign": {"protocol": {"order": "shuffled"}}, **later})
    old, new = of(read_nights([tmp_path / "runs"]))
    assert (old.ends, new.ends) == (why, None)
    assert said in old.changed
    assert ([n.trial for n in old.values], len(new.values)) == (["night-01", "night-02"], 3)


def test_an_input_of_one_benchmark_ends_no_other(night, tmp_path):
    # negative control of the inputs: only the baseline's own of that benchmark count
    night(1)
    night(2, inputs={"x.in": {"sha256": "c" * 64}, "z.in": {"sha256": "d" * 64}})
    found = read_nights([tmp_path / "runs"])
    assert (len(of(found, "x")), len(of(found, "y"))) == (2, 1)


def test_a_file_among_the_baselines_arguments_is_an_input_and_the_candidates_is_none(
    night, tmp_path
):
    argv = {"v1": ["python", "old.py", "./data"], "tip": ["python", "./new.py", "data"]}
    cells = [
        {"benchmark": b, "variant": v, "command": {"argv": words}}
        for b in "xy"
        for v, words in argv.items()
    ]
    files = {"/w/old.py": "1" * 64, "/w/data": "2" * 64}
    for k in (1, 2):
        night(k, campaign={"cells": cells}, arguments={**files, "/w/new.py": f"{k}" * 64})
    assert len(of(read_nights([tmp_path / "runs"]))) == 1
    night(3, campaign={"cells": cells}, arguments={**files, "/w/data": "3" * 64})
    old, _ = of(read_nights([tmp_path / "runs"]))
    assert (old.ends, old.changed) == ("inputs", "the input ./data of x is another one")


def test_a_baseline_that_was_rebuilt_from_its_commit_goes_on_with_a_caution(night, tmp_path):
    for k, program in ((1, "1"), (2, "2"), (3, "2")):
        night(k, programs={"v1": program * 64}, commits={"v1": "abc"})
    found = read_nights([tmp_path / "runs"])
    assert len(of(found)) == 1
    (told,) = [one for one in found.cautions if one.code == "baseline-rebuilt"]
    assert told.about == ("night-02",)
    # another commit with the same program: the work tree moved on under it, and it is the same baseline
    night(4, programs={"v1": "2" * 64}, commits={"v1": "def"})
    assert len(of(read_nights([tmp_path / "runs"]))) == 1
    # negative control: another commit and another program are another baseline
    night(5, programs={"v1": "3" * 64}, commits={"v1": "0ff"})
    old, _ = of(read_nights([tmp_path / "runs"]))
    assert (old.ends, old.changed) == ("baseline", "the baseline's commit is 0ff; it was def")


def test_a_baseline_of_which_nothing_is_stored_is_told(night, tmp_path):
    def forget(made):
        made.extra["environment.jsonl"] = b""

    for k in (1, 2):
        night(k, change=forget)
    found = read_nights([tmp_path / "runs"])
    assert codes(found) == ["baseline-unknown"]
    assert of(found)[0].values[0].host_facts == {}


@pytest.mark.parametrize("sessions", [1, 2])
@pytest.mark.parametrize("commit", ["c0", None])
def test_a_baseline_that_each_session_builds_is_its_commit_or_its_steps(
    night, tmp_path, sessions, commit
):
    # authority: docs/layouts.md; its bytes are others every night, and in every session
    for k in (1, 2, 3):
        night(
            k,
            sessions=sessions,
            rebuilt=("v1", "tip"),
            programs={"v1": f"{k}" * 64},
            commits={"v1": commit},
        )
    found = read_nights([tmp_path / "runs"])
    (one,) = of(found)
    assert (one.ends, len(one.values), codes(found)) == (None, 3, [])
    assert {n.program_sha256 for n in one.values} == {None}
    assert {n.baseline_commit for n in one.values} == {commit}
    assert host_changes(one.values[0], one.values[1]) == ()


@pytest.mark.parametrize(
    ("later", "why"),
    [
        ({"commits": {"v1": "c1"}}, "baseline"),
        (
            {"campaign": {"builds": [{"variant": "v1", "each": "session", "steps": [["cc"]]}]}},
            "campaign",
        ),
    ],
)
def test_another_commit_or_other_steps_of_such_a_baseline_end_a_series(night, tmp_path, later, why):
    # the negative control of the one above
    same = {"rebuilt": ("v1",), "commits": {"v1": "c0"}}
    night(1, **same)
    night(2, **same | later)
    assert [one.ends for one in of(read_nights([tmp_path / "runs"]))] == [why, None]


def test_the_order_is_that_of_the_first_runs_and_ties_go_by_name(night, tmp_path):
    night(3)
    night(1)
    night(2, place=tmp_path / "runs" / "a", trial="a")
    night(2, place=tmp_path / "runs" / "b", trial="b")
    (one,) = of(read_nights([tmp_path / "runs"]))
    assert [n.trial for n in one.values] == ["night-01", "a", "b", "night-03"]


def test_campaigns_side_by_side_have_series_of_their_own(night, tmp_path):
    for k in (1, 2, 3, 4):
        name = "one" if k % 2 else "two"
        night(k, campaign_name=name, campaign={"name": name})
    found = read_nights([tmp_path / "runs"])
    assert [(s.campaign, len(s.values), s.ends) for s in of(found)] == [
        ("one", 2, None),
        ("two", 2, None),
    ]


def test_hosts_that_alternate_are_told_and_one_that_was_replaced_is_not(night, tmp_path):
    for k, host in enumerate("aabb", start=1):
        night(k, host=host, host_id=host)
    found = read_nights([tmp_path / "runs"])
    assert (codes(found), found.hosts) == ([], ("a", "b"))
    night(5, host="a", host_id="a")
    assert codes(read_nights([tmp_path / "runs"])) == ["hosts-alternate"]


def test_what_changed_on_the_host_is_what_a_merge_calls_environment(night, tmp_path):
    night(1)
    night(2, environment={"kernel": {"release": "6.12", "boot_arguments": "quiet secret=2"}})
    night(3, environment={"kernel": {"release": "6.12", "boot_arguments": "quiet secret=2"}})
    first, second, third = of(read_nights([tmp_path / "runs"]))[0].values
    told = [change.what for change in host_changes(first, second)]
    assert told[0] == "kernel.release changed from 6.1 to 6.12"
    assert len(told) == 2
    assert "secret" not in str(first.host_facts)  # boot arguments name infrastructure
    assert "boot_arguments" in told[1]
    assert host_changes(second, third) == ()  # the candidate's program is no host
    assert [*first.host_facts["targets"]] == ["x/v1"]


def test_a_library_of_the_baselines_own_program_is_the_host(night, tmp_path):
    def linked(variant, digest):
        def change(made):
            lines = [json.loads(line) for line in made.extra["environment.jsonl"].splitlines()]
            for line in lines:
                line["targets"][f"x/{variant}"]["libraries"] = {"libc.so.6": {"sha256": digest}}
            made.extra["environment.jsonl"] = b"".join(
                json.dumps(x).encode() + b"\n" for x in lines
            )

        return change

    night(1, change=linked("v1", "1" * 64))
    night(2, change=linked("v1", "2" * 64))
    found = read_nights([tmp_path / "runs"])
    told = [change.what for change in host_changes(*of(found)[0].values)]
    assert told == ["the library libc.so.6 changed, used by x/v1"]
    # negative controls: of another benchmark, and of the candidate, it is not
    assert host_changes(*of(found, "y")[0].values) == ()
    night(3, change=linked("tip", "3" * 64))
    night(4, change=linked("tip", "4" * 64))
    nights = of(read_nights([tmp_path / "runs"]))[0].values
    assert host_changes(nights[2], nights[3]) == ()


def test_above_the_most_the_newest_nights_of_a_campaign_are_read(night, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "NIGHTS_MOST", 3)
    for k in range(1, 6):
        night(k)
    night(6, campaign_name="other", campaign={"name": "other"})
    found = read_nights([tmp_path / "runs"])
    assert [n.trial for n in of(found)[0].values] == ["night-03", "night-04", "night-05"]
    assert (found.cut, codes(found)) == (2, ["older-nights-left-out"])
    assert len(of(found)) == 2  # the other campaign's nights are counted by themselves


def test_no_run_counts_in_two_nights(night, tmp_path):
    first, second = night(1), night(2)
    merge_trials([first, second], tmp_path / "runs" / "all", accept_drift=True)
    night(1, place=tmp_path / "runs" / "z-copy")
    found = read_nights([tmp_path / "runs"])
    assert [n.trial for n in of(found)[0].values] == ["night-01", "night-02"]
    assert dict(found.left_out) == {
        "all": "it was merged from night-01, night-02, which is counted",
        "z-copy": f"it holds the runs of {first}",
    }


def test_merged_trials_are_nights_where_their_parts_are_not_there(night, tmp_path):
    parts = [night(k, place=tmp_path / "parts" / str(k)) for k in (1, 2, 3, 4)]
    merge_trials(parts[:2], tmp_path / "runs" / "one", accept_drift=True)
    merge_trials(parts[2:], tmp_path / "runs" / "two", accept_drift=True)
    (one,) = of(read_nights([tmp_path / "runs"]))
    assert [(n.trial, n.sessions) for n in one.values] == [("one", 4), ("two", 4)]
    assert one.values[0].started_at == "2026-11-01T03:10:00.5Z"
    assert one.values[0].program_sha256 is None  # the candidate was another one in each part


def test_a_redacted_trial_has_the_same_values_and_no_commits(night, tmp_path):
    trials = tmp_path / "bundle" / "trials"
    for k in (1, 2):
        night(k, commits={"tip": "1234567", "v1": "abcdefa"}, place=trials / f"night-{k}")
    before = read_nights([trials])
    shutil.copytree(trials, tmp_path / "bundle-2" / "trials")
    redact_folder(tmp_path / "bundle-2", wanted_of("paths,host"))
    after = read_nights([tmp_path / "bundle-2" / "trials"])
    assert [s.logs for s in after.series] == [s.logs for s in before.series]
    assert of(before)[0].values[0].commit == "1234567"
    assert of(after)[0].values[0].commit is None
    assert "baseline-rebuilt" not in codes(after)


def test_folders_that_are_no_nights_are_passed_over(night, tmp_path):
    for k in (1, 2):
        night(k)
    runs = tmp_path / "runs"
    night(3, place=runs / "deep" / "down" / "night-03")
    night(4, place=runs / "bisect-app" / "step0")
    (runs / "bisect-app" / "bisect.json").write_text("{}")
    night(5, place=runs / ".hidden")
    night(6, place=runs / "night-01" / "outputs" / "night-06")
    night(7, place=runs / "night-01.why" / "cand" / "timed")  # measured to explain that one
    (runs / "latest").symlink_to(runs / "night-02")
    (runs / "notes.txt").write_text("1\n2\n")
    found = read_nights([runs])
    assert [n.trial for n in of(found)[0].values] == ["night-01", "night-02", "night-03"]
    # what is named is meant: the trial of a bisection too
    named = read_nights([runs / "night-01", runs / "bisect-app" / "step0"])
    assert [n.trial for n in of(named)[0].values] == ["night-01", "step0"]
    with pytest.raises(UsageError, match="one night is no series"):
        read_nights([runs / "night-01", runs / "night-01" / os.curdir])


def test_a_folder_that_goes_meanwhile_hides_no_night(night, tmp_path, monkeypatch):
    _, runs, before = night(1), night(2).parent, os.scandir
    (runs / "gone").mkdir()

    def scandir(path):
        if Path(path).name == "gone":
            Path(path).rmdir()
        return before(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert len(of(read_nights([runs]))[0].values) == 2


def test_a_damaged_trial_hides_no_other(night, tmp_path):
    for k in (1, 2, 3):
        night(k)
    (tmp_path / "runs" / "night-02" / "manifest.json").write_text("{")
    with (tmp_path / "runs" / "night-03" / "measurements.jsonl").open("ab") as file:
        file.write(b"x\n")
    night(4)
    found = read_nights([tmp_path / "runs"])
    assert len(of(found)[0].values) == 2
    told = dict(found.left_out)
    assert told["night-02"].startswith("the manifest cannot be read")
    assert told["night-03"].startswith("the file changed after the trial ended")
