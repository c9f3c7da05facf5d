"""Starting a trial and going on with one: builds, refusals, drift, and what is left of each."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError, UsageError
from harness.campaign.model import Build, Isolation, MetricRule
from harness.campaign.schema import identity_of
from harness.errors import HostError, LaunchError
from harness.host.activity import Host
from harness.host.cgroups import NoGroupsError
from harness.host.state import OwnGroup
from harness.launch.client import Placement
from harness.launch.commands import CommandFailedError
from harness.trial import metering as grouping
from harness.trial.folder import is_written_now
from harness.trial.metering import Grouping, group_runs


@pytest.fixture
def built(stage, campaign, commands):
    """Make a campaign with a build step of variant a, which the stage can execute."""
    stage.program("make")

    def make(**given):
        step = Build(variant="a", steps=commands("make"), cwd=stage.folder, env={"LEVEL": "3"})
        return campaign(builds=(step,), **given)

    return make


def builds(stage):
    return [request for kind, request in stage.executed if request.argv == ("make",)]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# --- a new trial -------------------------------------------------------------------------------


def test_a_new_trial_says_what_it_is(stage, campaign):
    c = campaign(sessions=2)
    ending = stage.start(c, sessions=1)
    manifest = stage.manifest
    assert ending.trial == stage.trial
    assert manifest["trial"] == stage.trial.name
    assert (manifest["sessions"], manifest["planned"]) == (1, 12)  # the command line wins
    assert (manifest["campaign_sha256"], manifest["campaign_path"]) == (
        identity_of(c),
        str(c.source),
    )
    assert (manifest["host"], manifest["seed"]) == ("lab07", 7)
    assert manifest["targets"].keys() == {str(stage.bin / "true")}
    assert (stage.trial / "campaign.yaml").read_bytes() == c.text
    assert stage.watching.of("opened")[0][:2] == [stage.trial, c]


def test_a_campaign_file_that_will_not_last_is_named_by_its_copy(stage, campaign):
    stage.start(campaign(), passing=True)
    assert stage.manifest["campaign_path"] == str(stage.trial / "campaign.yaml")


def test_a_missing_program_is_told_before_anything_is_made(stage, campaign):
    (stage.bin / "true").unlink()
    with pytest.raises(LaunchError, match="command 'true' not found"):
        stage.start(campaign())
    assert list(stage.runs.iterdir()) == []
    assert stage.locked == ()


def test_a_setting_that_is_not_permitted_is_told_before_anything_is_made(
    stage, campaign, monkeypatch
):
    def refuse(*words, **more):
        raise HostError("nice -5 is not permitted", "isolation.nice")

    monkeypatch.setattr("harness.trial.preparation.LauncherClient", refuse)
    with pytest.raises(HostError, match="not permitted"):
        stage.start(campaign())
    assert list(stage.runs.iterdir()) == []
    assert stage.executed == []


def test_cpus_of_another_trial_are_refused_before_anything_is_made(stage, campaign, monkeypatch):
    def refuse(cpus):
        raise HostError("another trial measures on CPU 1")

    monkeypatch.setattr("harness.trial.plan.CpuLock", refuse)
    with pytest.raises(HostError, match="another trial"):
        stage.start(campaign())
    assert not stage.runs.exists()


def test_the_measured_cpus_are_held_while_the_trial_lasts(stage, campaign, isolation):
    held = []
    stage.target = lambda request: held.append(stage.locked)
    stage.start(campaign(isolation=isolation(cpus=(1,))))
    assert set(held) == {(1,)}
    assert stage.locked == ()


# --- builds ------------------------------------------------------------------------------------


def test_builds_come_first_with_their_logs_and_variables(stage, built):
    stage.start(built())
    assert stage.executed[0] == ("command", builds(stage)[0])
    assert builds(stage)[0].env[b"LEVEL"] == b"3"
    assert stage.watching.of("say") == [["build   a"]]
    assert "build-a-1.log" in stage.outputs()
    assert len(stage.rows) == 12


def test_what_a_build_makes_need_not_be_there_before(stage, built):
    (stage.bin / "true").unlink()
    stage.command = lambda request: stage.program("true") and None
    assert stage.start(built()).status == "complete"


def test_a_build_that_fails_leaves_a_stopped_trial_with_its_log(stage, built):
    stage.command = lambda request: {"exit_code": 2}
    with pytest.raises(CommandFailedError, match="build step 1 of 'a' failed with exit code 2"):
        stage.start(built())
    assert (stage.manifest["status"], stage.rows) == ("stopped", [])
    assert stage.manifest["reason"].startswith("build step 1 of 'a' failed")
    assert not is_written_now(stage.trial)


def test_a_signal_during_a_build_is_an_ending(stage, built):
    stage.command = lambda request: stage.interrupt()
    ending = stage.start(built())
    assert (ending.status, ending.reason) == ("interrupted", "signal 2")
    assert (ending.done, ending.planned) == (0, 12)
    assert stage.manifest["status"] == "interrupted"
    stage.command = lambda request: None
    assert stage.resume(built()).done == 12


def test_builds_are_not_repeated_while_the_programs_are_the_same(stage, built):
    stage.target = stage.at(4, stage.interrupt)
    stage.start(built())
    stage.target = stage.at(4, stage.interrupt)
    stage.resume(built())
    assert len(builds(stage)) == 1


def test_a_program_that_is_gone_is_built_again(stage, built):
    stage.target = stage.at(4, stage.interrupt)
    stage.start(built())
    (stage.bin / "true").unlink()
    stage.command = lambda request: stage.program("true") and None
    stage.target = lambda request: None
    assert stage.resume(built()).status == "complete"


# --- going on ----------------------------------------------------------------------------------


@pytest.fixture
def broken_off(stage, campaign):
    """Make a trial that was interrupted after five runs, and give its campaign."""
    c = campaign()
    stage.target = stage.at(5, stage.interrupt)
    stage.start(c)
    stage.target = lambda request: None
    return c


def test_a_complete_trial_is_left_as_it_is(stage, campaign):
    c = campaign()
    stage.start(c)
    before = contents(stage.trial)
    count = len(stage.executed)
    ending = stage.resume(c)
    assert (ending.status, ending.reason) == ("complete", "it was complete already")
    assert (ending.done, ending.planned, ending.failed) == (12, 12, 0)
    assert (contents(stage.trial), len(stage.executed)) == (before, count)


def test_a_complete_trial_says_what_failed_in_it_and_what_it_went_without(stage, campaign):
    c = campaign(runs=3, give_up=2, disturbed="repeat", order="sequential")
    executions = iter(range(100))
    stage.target = lambda _: {"exit_code": 3} if next(executions) in {4, 5, 8} else None
    first = stage.start(c)
    assert (first.failed, len(first.given_up)) == (3, 1)
    again = stage.resume(c)
    assert again.reason == "it was complete already"
    for name in ("done", "planned", "failed", "given_up", "repeating"):
        assert getattr(again, name) == getattr(first, name), name


@pytest.mark.parametrize("accept", [False, True])
def test_a_complete_trial_of_another_campaign_is_refused_all_the_same(stage, campaign, accept):
    stage.start(campaign())
    with pytest.raises(StoreError, match="the campaign has changed") as caught:
        stage.resume(campaign(cooldown_s=1.0), accept_drift=accept)
    assert "--sessions +1 --accept-drift" in " ".join(str(caught.value).split())
    more = stage.resume(campaign(cooldown_s=1.0), accept_drift=True, sessions=2)
    assert (more.status, more.planned) == ("complete", 24)


def test_there_must_be_a_trial(stage, campaign):
    stage.runs.mkdir()
    with pytest.raises(UsageError, match="no trial of campaign 'c'"):
        stage.resume(campaign())


@pytest.mark.parametrize("what", ["campaign", "program", "host", "plan", "kernel"])
def test_what_has_drifted_is_refused_and_the_trial_stays_as_it_was(
    stage, broken_off, campaign, what
):
    c, says = broken_off, "has changed"
    if what == "campaign":
        c = campaign(cooldown_s=1.0)
    elif what == "program":
        stage.program("true", "#!/bin/sh\nexit 0\n")
    elif what == "host":
        stage.tree({"etc/machine-id": "f" * 32})
    elif what == "kernel":
        stage.tree({"proc/sys/kernel/osrelease": "6.2.0\n"})
        says = "kernel.release"
    else:
        path = stage.trial / "plan.jsonl"
        path.write_text(path.read_text().replace('"variant":"a"', '"variant":"b"', 1))
        says = "the stored plan is not the one"
    before = contents(stage.trial)
    with pytest.raises(StoreError) as caught:
        stage.resume(c)
    assert says in caught.value.what
    after = contents(stage.trial)
    assert {name for name in after if after[name] != before[name]} <= {"manifest.json"}
    assert stage.manifest["status"] == "interrupted"
    assert stage.manifest["finished"] is not None
    assert not is_written_now(stage.trial)
    assert len(stage.rows) == 5


@pytest.mark.parametrize("what", ["campaign", "program", "host", "kernel"])
def test_drift_that_is_accepted_is_recorded_and_held_against_later(
    stage, broken_off, campaign, what
):
    c = broken_off
    if what == "campaign":
        c = campaign(cooldown_s=1.0)
    elif what == "program":
        stage.program("true", "#!/bin/sh\nexit 0\n")
    elif what == "host":
        stage.tree({"etc/machine-id": "f" * 32})
    else:
        stage.tree({"proc/sys/kernel/osrelease": "6.2.0\n"})
    stage.target = stage.at(0, stage.interrupt)
    assert stage.resume(c, accept_drift=True).status == "interrupted"
    found = stage.findings("drift", "resume")
    assert found
    stage.target = lambda request: None
    assert stage.resume(c).status == "complete"  # what was accepted is no drift any more
    assert stage.findings("drift", "resume") == found


def test_a_plan_that_would_not_fit_is_refused_even_with_accepted_drift(stage, broken_off, campaign):
    with pytest.raises(StoreError, match="the stored plan is not the one"):
        stage.resume(campaign(runs=3), accept_drift=True)
    assert stage.manifest["status"] == "interrupted"


@pytest.mark.parametrize("change", [{"runs": 4}, {"warmup": 2}, {"variants": ("a",)}])
def test_what_is_measured_cannot_change_before_the_first_session_either(stage, built, change):
    # the trial would have become complete, and nobody could have read it
    stage.command = lambda request: stage.interrupt()
    stage.start(built())
    stage.command = lambda request: None
    with pytest.raises(StoreError, match="not the one that this campaign gives"):
        stage.resume(built(**change), accept_drift=True)
    assert stage.resume(built(cooldown_s=1.0), accept_drift=True).status == "complete"
    assert read_trial(stage.trial).manifest.status == "complete"


def scored(campaign, **changes):
    rule = MetricRule(
        **{"name": "score", "regex": r"(\d+)", "unit": "1", "better": "lower", **changes}
    )
    cells = tuple(dataclasses.replace(cell, metrics=(rule,)) for cell in campaign.cells)
    return dataclasses.replace(campaign, cells=cells)


def test_a_metric_that_a_begun_trial_is_given_can_be_read(stage, campaign):
    stage.target = stage.at(7, stage.interrupt)
    stage.start(campaign(runs=3))
    stage.target = lambda request: request.stdout.write_text("score 7\n") and None
    stage.resume(scored(campaign(runs=3)), accept_drift=True)
    assert stage.manifest["metrics"] == {"score": {"unit": "1", "better": "lower"}}
    matrix = read_trial(stage.trial).matrix("a", "score")
    assert [len(matrix.values(name)) for name in ("x", "y")] == [2, 3]


@pytest.mark.parametrize("change", [{"unit": "ms"}, {"better": "higher"}])
def test_the_unit_of_a_metric_cannot_change_under_a_trial(stage, campaign, change):
    stage.target = stage.at(7, stage.interrupt)
    stage.start(scored(campaign()))
    with pytest.raises(StoreError, match="the metric 'score' was in 1, lower is better, and"):
        stage.resume(scored(campaign(), **change), accept_drift=True)


def test_another_seed_is_another_campaign(stage, broken_off):
    with pytest.raises(StoreError, match="the seed has changed: it was 7, now it is 99"):
        stage.resume(dataclasses.replace(broken_off, seed=99))


def test_a_signal_while_the_programs_are_built_again_keeps_the_trial(stage, built):
    stage.target = stage.at(5, stage.interrupt)
    stage.start(built())
    (stage.bin / "true").unlink()
    stage.command = lambda request: stage.interrupt(15)
    ending = stage.resume(built())
    assert (ending.status, ending.reason, ending.done) == ("interrupted", "signal 15", 5)
    assert stage.manifest["status"] == "interrupted"
    assert len(stage.rows) == 5


def test_a_signal_before_sessions_are_added_leaves_a_trial_complete(stage, built):
    stage.target = stage.at(5, lambda: {"exit_code": 1})
    stage.start(built())
    before = stage.manifest
    (stage.bin / "true").unlink()
    stage.command = lambda request: stage.interrupt(15)
    ending = stage.resume(built(), sessions=2)
    assert (ending.status, ending.done, ending.failed) == ("interrupted", 12, 1)
    assert {**stage.manifest, "files": 0, "stage": 0} == {**before, "files": 0, "stage": 0}
    stage.command = lambda request: stage.program("true") and None
    assert stage.resume(built(), sessions=2).status == "complete"
    (added,) = stage.manifest["appended"]
    assert (added["first"], added["last"]) == (2, 2)


@pytest.mark.parametrize("last", [True, False])
def test_a_kill_before_sessions_are_added_is_no_way_around_the_note(stage, campaign, last):
    made = campaign()
    stage.start(made)
    (path,) = stage.runs.iterdir()
    manifest = {**stage.manifest, "status": "running", "finished": None, "files": {}}
    (path / "manifest.json").write_text(json.dumps(manifest))
    if not last:  # the negative control: it was not complete when it was killed
        rows = (path / "measurements.jsonl").read_bytes().splitlines(keepends=True)
        (path / "measurements.jsonl").write_bytes(b"".join(rows[:-1]))
    assert stage.resume(made, sessions=2).status == "complete"
    assert len(stage.manifest["appended"]) == last


def test_a_torn_last_row_is_executed_again(stage, broken_off):
    path = stage.trial / "measurements.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert stage.resume(broken_off).status == "complete"
    done = [row["position"] for row in stage.rows if row["position"] >= 0]
    assert sorted(done) == list(range(12))
    (finding,) = stage.findings("store", "resume")
    assert "torn" in finding["what"]


def test_a_run_that_was_discarded_leaves_no_output_to_the_one_in_its_place(
    stage, campaign, commands
):
    made = campaign()
    tidy = [dataclasses.replace(cell, after=commands("true")) for cell in made.cells]
    made = dataclasses.replace(made, cells=tuple(tidy))
    stage.target = stage.at(6, lambda: {"exit_code": 1})
    stage.command = stage.at(6, stage.interrupt)  # the hook after it: the run is discarded
    assert stage.start(made).status == "interrupted"
    assert stage.outputs() >= {"0006.stdout", "0006.stderr"}
    assert stage.resume(made).failed == 0
    assert stage.outputs() == set()


# --- Where runs have cgroups, where a limit needs them, and what is said where there are none


OWN = OwnGroup(
    path="/g", top=False, controllers=("memory", "pids"), handed_down=(), others=0, writable=True
)


class Groups:
    """The place of runs' groups, as far as a trial sees it."""

    def __init__(self, controllers=("memory", "pids"), withheld=None):
        self.controllers, self.withheld, self.closed = controllers, withheld, False

    def close(self):
        self.closed = True


@pytest.fixture
def found(monkeypatch, tmp_path):
    """Have the host's groups be as a test says; give what is asked for them."""

    def make(groups, own=OWN):
        asked = []

        def run_groups(own, top):
            asked.append(own)
            if isinstance(groups, Exception):
                raise groups
            return groups

        monkeypatch.setattr(grouping, "RunGroups", run_groups)
        monkeypatch.setattr(Host, "own_group", lambda self: own)
        return asked

    return make


def grouped(**isolation):
    with Host() as host:
        return group_runs(host, Isolation(**isolation))


def test_groups_are_taken_where_they_are(found):
    found(Groups())
    had = grouped()
    assert had.to_dict() == {"controllers": "memory pids", "entry": "moved"}
    assert dataclasses.replace(had, spawned=True).to_dict()["entry"] == "spawned"
    assert tuple(had.findings()) == ()
    with contextlib.closing(had):
        pass
    assert had.groups.closed


def test_whoever_wants_no_containment_has_none(found):
    asked = found(Groups())
    had = grouped(containment="none")
    assert (asked, had.groups, had.to_dict(), [*had.findings()]) == ([], None, None, [])


@pytest.mark.parametrize("containment", ["auto", "none"])
@pytest.mark.parametrize("limit", ["memory", "pids"])
def test_a_limit_of_all_processes_asks_for_groups_whatever_the_containment(
    found, containment, limit
):
    asked = found(Groups((limit,)))
    assert grouped(containment=containment, limits={limit: 9}).groups is not None
    assert asked == [OWN]


@pytest.mark.parametrize(
    ("groups", "limits", "what", "where"),
    [
        (NoGroupsError("no cgroup of version 2 is mounted here"), {"memory": 9}, "is mounted", "memory"),
        (Groups(()), {"pids": 3}, "offers no controller 'pids'", "pids"),
        (Groups(("memory",)), {"memory": 9, "pids": 3}, "the limit 'pids' cannot be held", "pids"),
        (Groups((), withheld="/g: busy"), {"memory": 9}, "cannot be held: /g: busy", "memory"),
    ],
)  # fmt: skip
def test_a_limit_that_nothing_holds_stops_before_anything_is_executed(
    found, groups, limits, what, where
):
    found(groups)
    with pytest.raises(HostError) as refused:
        grouped(limits=limits)
    assert what in refused.value.what
    assert refused.value.where == f"isolation.limits.{where}"
    assert "systemd-run --user --scope -p Delegate=yes fairtrial run" in refused.value.fix
    assert ("unified_cgroup_hierarchy" in refused.value.fix) == (
        getattr(groups, "withheld", "none") is None
    )
    assert isinstance(groups, Exception) or groups.closed


def test_limits_of_single_processes_need_no_group(found):
    found(NoGroupsError("none"))
    assert grouped(limits={"nofile": 10}).groups is None


def test_an_attempt_that_failed_is_told_and_what_can_be_seen_beforehand_is_not(found):
    found(NoGroupsError("no group can be made in /g: Permission denied"))
    (finding,) = grouped().findings()
    assert (finding.check, finding.status) == ("containment", "unknown")
    assert "no group can be made in /g" in finding.what
    found(NoGroupsError("no cgroup of version 2 is mounted here"), own=None)
    assert tuple(grouped().findings()) == ()  # the check `cgroup` says so


def test_controllers_that_are_withheld_are_told_and_the_rest_is_taken(found):
    found(Groups((), withheld="/g does not hand down its controller 'memory'"))
    had = grouped()
    assert had.to_dict()["controllers"] == "none"
    assert "does not hand down" in next(had.findings()).what


def test_an_environment_without_groups_says_so():
    assert Grouping().to_dict() is None


def test_a_trial_closes_its_groups_whatever_happens(stage, campaign, monkeypatch):
    made = []

    def take(host, isolation):
        made.append(Groups())
        return Grouping(groups=made[-1])

    monkeypatch.setattr("harness.trial.preparation.group_runs", take)
    stage.start(campaign())
    record = stage.lines("environment.jsonl")[0]
    assert record["process"]["cgroup"] == {"controllers": "memory pids", "entry": "moved"}
    assert record["containment"] == "pid"
    (check,) = stage.findings("cgroup", "before")
    assert check["status"] == "ok"

    def die(self, findings):
        raise HostError("a required check")

    monkeypatch.setattr("harness.trial.preparation.Prepared.require", die)
    with pytest.raises(HostError):
        stage.start(campaign())
    assert [groups.closed for groups in made] == [True, True]


def test_what_the_kernel_says_of_memory_is_in_the_row(stage, campaign, isolation):
    stage.target = lambda request: {
        "exit_code": None, "signal": 9, "out_of_memory": True, "peak_memory_tree_bytes": 4096,
    }  # fmt: skip
    stage.start(campaign(runs=1, warmup=0))
    row = stage.rows[0]
    assert (row["outcome"], row["detail"], row["oom"]) == ("signal", "out of memory", True)
    assert row["peak_memory_tree_bytes"] == 4096


def test_without_groups_nothing_is_known_of_memory(stage, campaign):
    stage.start(campaign(runs=1, warmup=0))
    assert stage.rows[0]["oom"] is None
    assert stage.lines("environment.jsonl")[0]["process"]["cgroup"] is None


def test_own_group_is_looked_for_where_the_host_is(tmp_path):
    with Host(tmp_path) as host:
        assert group_runs(host, Isolation()).groups is None
    assert list(Path(tmp_path).iterdir()) == []


# --- A launcher that a program has changed: found once a block, mended, and the rows between are named
#
# Authority: an attack in which a program gave its parent another CPU and nice 19; every later row said the CPU of
# the campaign, and nothing was found.


HERE = Placement(cpus=frozenset({1}), nice=0, policy=os.SCHED_OTHER, priority=0)
MOVED = replace(HERE, cpus=frozenset({0}), nice=19)


@pytest.fixture
def next_run(stage):
    return lambda: stage.watching.of("run_started")[-1][0]


@pytest.fixture
def changing(stage, next_run, monkeypatch):
    """Let the run at a position change its launcher; `put_back` says whether that may be undone."""
    launchers = []

    def make(position, *, put_back=True, inherited=False):
        usual = stage.launcher

        def launcher(answer, cpus=None):
            made = usual(answer, cpus)
            made.placement = MOVED if inherited and launchers else HERE

            def place(placement):
                if put_back:
                    made.placement = placement

            made.place = place
            if answer == "target":
                launchers.append(made)
            return made

        monkeypatch.setattr(stage, "launcher", launcher)

        def target(request):
            if next_run().position == position:
                launchers[-1].placement = MOVED

        stage.target = target
        return launchers

    return make


@pytest.mark.parametrize(("at", "rows"), [(5, "4 to 7"), (11, "8 to 11")])
def test_it_is_put_back_at_the_end_of_the_block_and_the_rows_are_named(
    stage, campaign, changing, at, rows
):
    launchers = changing(at)
    ending = stage.start(campaign())
    assert (ending.status, ending.failed, len(launchers)) == ("complete", 0, 1)
    assert launchers[0].placement == HERE
    (found,) = stage.findings("placement")
    assert (found["status"], found["session"], found["when"]) == ("warn", 1, "during")
    assert "CPUs 1 became 0, nice 0 became 19; it was put back" in found["what"]
    assert f"rows from position {rows} " in found["what"]


def test_where_it_may_not_be_put_back_a_new_launcher_takes_its_place(stage, campaign, changing):
    launchers = changing(5, put_back=False)
    stage.start(campaign())
    assert len(launchers) == 2
    assert launchers[0].closed
    (found,) = stage.findings("placement")
    assert "a new launcher took its place" in found["what"]


def test_what_the_new_one_inherits_is_said_once(stage, campaign, changing):
    changing(1, put_back=False, inherited=True)
    stage.start(campaign())
    (found,) = stage.findings("placement")
    assert "it cannot be put back, and stays" in found["what"]


def test_a_launcher_that_nobody_changed_is_no_finding(stage, campaign, changing):
    changing(99)
    stage.start(campaign())
    assert stage.findings("placement") == []
