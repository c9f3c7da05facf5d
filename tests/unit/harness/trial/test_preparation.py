"""What is looked at before the first run, and what refuses a trial then."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.errors import StoreError
from harness.campaign.model import Build, CheckPolicy
from harness.errors import HostError
from harness.host.activity import Host
from harness.host.checks import fatal_findings
from harness.launch.matching import Interrupts
from harness.trial.plan import cpus_for, situation_of
from harness.trial.preparation import expected_seconds, on_housekeeping_cpus, planned_runs, prepare

ASLR_OFF = {"proc/sys/kernel/randomize_va_space": "0\n"}


@pytest.fixture
def ready(stage):
    """Prepare a campaign on the stage."""

    def make(campaign, *, strict=False, sessions=1, **more):
        with Host(stage.host) as host:
            cpus = cpus_for(campaign, host.read())
        given = (campaign, stage.runs, sessions, Interrupts(), cpus)
        prepared = prepare(*given, strict=strict, **more)
        prepared.host.close()
        return prepared

    return make


def found(prepared, check):
    return [finding for finding in prepared.findings if finding.check == check]


def free_space(monkeypatch, count):
    usage = SimpleNamespace(free=count)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)


# --- counting ----------------------------------------------------------------------------------


def test_warm_ups_are_planned_runs(campaign):
    assert planned_runs(campaign(runs=5, warmup=2), 3) == 3 * 4 * 7
    assert planned_runs(campaign(("x",), ("a",), runs=5, warmup=0), 1) == 5


def test_the_time_is_that_of_earlier_runs_with_the_rests(campaign):
    c = campaign(("x",), ("a", "b"), runs=3, warmup=1, cooldown_s=0.5, pause_s=10.0)
    known = {"x/a": 1.0, "x/b": 2.0}
    assert expected_seconds(c, 2, known) == 2 * (4 * 3.0 + 0.5 * 8) + 10.0
    assert expected_seconds(c, 2, {"x/a": 1.0}) is None
    own = Build(variant="a", steps=(), cwd=Path("/"), env={}, each="session")
    built = dataclasses.replace(c, builds=(own,))  # then one follows the builds of each session
    assert expected_seconds(built, 2, known) == 2 * (4 * 3.0 + 0.5 * 8) + 2 * 10.0


# --- what is prepared --------------------------------------------------------------------------


def test_the_settings_are_tried_by_a_launcher_that_is_closed(stage, campaign, ready, isolation):
    prepared = ready(campaign(isolation=isolation(cpus=(1,))))
    (launcher,) = stage.launchers
    assert (launcher.cpus, launcher.closed, launcher.requests) == ((1,), True, [])
    assert prepared.containment == "pid"
    assert (prepared.cpus.targets, prepared.measured) == ((1,), (1,))
    assert ready(campaign()).measured == (0, 1)  # not pinned: all of them


def test_the_folder_of_trials_is_made_and_nothing_is_left_in_it(stage, campaign, ready):
    prepared = ready(campaign())
    assert list(stage.runs.iterdir()) == []
    assert prepared.free_bytes > 0


def test_every_look_reads_the_host_anew(stage, campaign):
    with Host(stage.host) as host:
        cpus = cpus_for(campaign(), host.read())
    prepared = prepare(campaign(), stage.runs, 1, Interrupts(), cpus, strict=False)
    with prepared.host:
        first = {finding.check: finding.status for finding in prepared.look()}
        stage.tree(ASLR_OFF)
        second = {finding.check: finding.status for finding in prepared.look()}
    assert (first["aslr"], second["aslr"]) == ("ok", "warn")


def test_fairtrial_leaves_the_measured_cpus_while_it_measures(stage, campaign, ready, isolation):
    before = os.sched_getaffinity(0)
    with on_housekeeping_cpus(ready(campaign(isolation=isolation(cpus=(1,))))):
        assert stage.affinity == [(0,)]
    assert stage.affinity == [(0,), before]
    stage.affinity.clear()
    with on_housekeeping_cpus(ready(campaign())):
        pass
    assert stage.affinity == [before]


# --- refusals ----------------------------------------------------------------------------------


def stopping(prepared, campaign):
    """Name the checks that stop a strict trial."""
    found = fatal_findings(prepared.findings, campaign.checks.require, strict=True)
    return {finding.check for finding in found}


@pytest.mark.parametrize(
    ("required", "strict", "refused"),
    [
        (("aslr",), False, False),
        (("aslr",), True, True),
        ((), True, False),
        (("load",), True, False),
    ],
)
def test_a_required_check_refuses_a_strict_trial(stage, campaign, ready, required, strict, refused):
    stage.tree(ASLR_OFF | {"proc/loadavg": "0.00 0.00 0.00 1/345 6789\n"})
    c = campaign(checks=CheckPolicy(require=required))
    if not refused:
        assert found(ready(c, strict=strict), "aslr")[0].status == "warn"
        return
    with pytest.raises(HostError, match="required check 'aslr'") as caught:
        ready(c, strict=strict)
    assert stopping(ready(c), c) == {"aslr"}
    assert "sysctl" in caught.value.fix


def test_all_fatal_findings_are_counted(stage, campaign, ready):
    stage.tree(ASLR_OFF | {"proc/sys/kernel/perf_event_max_sample_rate": "100000\n"})
    c = campaign(checks=CheckPolicy(require=("aslr", "perf_rate")))
    with pytest.raises(HostError, match=r"\(and 1 more\)"):
        ready(c, strict=True)
    assert stopping(ready(c), c) == {"aslr", "perf_rate"}


def test_a_disk_that_is_too_small_is_refused_with_both_sizes(
    campaign, ready, monkeypatch, isolation
):
    lean = {"isolation": isolation(kept_outputs_bytes=0)}
    free_space(monkeypatch, 5_000_000)
    with pytest.raises(StoreError, match="5 MB are free, and this trial may need 17 MB") as caught:
        ready(campaign(**lean))
    assert "--dir" in caught.value.fix
    free_space(monkeypatch, 20_000_000)
    assert found(ready(campaign(**lean)), "disk")[0].status == "warn"
    with pytest.raises(StoreError, match="may need 65 MB"):
        ready(campaign(runs=1000, **lean), sessions=10)


def test_outputs_that_may_be_kept_count_in_the_space(campaign, ready, monkeypatch, isolation):
    # authority: 64 MiB x 2 are kept of every failing run, and the check counted 1,200 B a run
    free_space(monkeypatch, 100_000_000)
    with pytest.raises(StoreError, match="may need 273 MB") as caught:
        ready(campaign())
    assert "isolation.kept_outputs" in caught.value.fix
    # 2 sessions x 4 cells x 3 runs x 2 outputs of a megabyte are all that can fail
    small = isolation(output_limit_bytes=1_000_000)
    assert ready(campaign(isolation=small), sessions=2).needed_bytes // 10**6 == 64
    assert ready(campaign(isolation=small), sessions=2, kept_bytes=40_000_000).needed_bytes < 25e6
    cells = tuple(
        dataclasses.replace(cell, stdout="discard", stderr="discard") for cell in campaign().cells
    )
    assert ready(campaign(cells=cells)).needed_bytes < 17e6


def test_a_folder_that_cannot_be_written_is_refused(stage, campaign, ready):
    stage.runs.write_text("a file stands there")
    with pytest.raises(StoreError, match="trials cannot be written there") as caught:
        ready(campaign())
    assert caught.value.where == str(stage.runs)


# --- what the kernel does not know -------------------------------------------------------------


def test_without_a_namespace_a_target_may_live_on(stage, campaign, ready):
    assert found(ready(campaign()), "containment") == []
    stage.containment = "none"
    (finding,) = found(ready(campaign()), "containment")
    assert (finding.status, finding.fix[:15]) == ("warn", "execute as root")


def test_a_campaign_that_wants_no_namespace_is_told_of_its_own_line(
    stage, campaign, ready, isolation
):
    stage.containment = "none"
    (finding,) = found(ready(campaign(isolation=isolation(containment="none"))), "containment")
    assert finding.fix == "write 'containment: auto'"


def test_without_warm_ups_nobody_looks_for_threads(campaign, ready, isolation):
    pinned = isolation(cpus=(1,))
    assert found(ready(campaign(isolation=pinned)), "threads") == []
    (finding,) = found(ready(campaign(isolation=pinned, warmup=0)), "threads")
    assert (finding.status, finding.where) == ("unknown", "protocol.warmup = 0")
    assert found(ready(campaign(warmup=0)), "threads") == []


def test_how_cpus_were_chosen_is_a_finding(campaign, ready, isolation):
    (finding,) = found(ready(campaign()), "cpus")
    assert "not pinned" in finding.what
    (finding,) = found(ready(campaign(isolation=isolation(cpus=(0,)))), "cpus")
    assert "CPU 0" in finding.what


@pytest.mark.parametrize(
    ("held", "status", "words"),
    [
        ((), None, ""),
        ((1,), None, ""),  # that is ours
        ((0, 1), "warn", "another trial measures on CPU 0 of this host"),
        (None, "unknown", "does not show"),
    ],
)
def test_other_trials_on_this_host_are_named(
    campaign, ready, isolation, monkeypatch, held, status, words
):
    monkeypatch.setattr("harness.trial.preparation.cpus_in_use", lambda: held)
    there = found(ready(campaign(isolation=isolation(cpus=(1,)))), "other-trials")
    assert [finding.status for finding in there] == ([status] if status else [])
    assert all(words in finding.what for finding in there)


# --- the campaign on this host -----------------------------------------------------------------


@pytest.fixture(scope="module")
def four_cpus(tmp_path_factory, hosts):
    with Host(hosts.plant(tmp_path_factory.mktemp("host"), hosts.base(4))) as host:
        return host.read()


@pytest.mark.parametrize(
    ("busy", "chosen"), [((), 3), ((3,), 2), ((2, 3), 1), ((1, 2, 3), 3), (None, 3)]
)
def test_cpus_of_other_trials_are_left_alone_where_enough_are_left(
    four_cpus, campaign, isolation, monkeypatch, busy, chosen
):
    monkeypatch.setattr("harness.trial.plan.cpus_in_use", lambda: busy)
    assert cpus_for(campaign(isolation=isolation(cpus="auto")), four_cpus).targets == (chosen,)
    named = cpus_for(campaign(isolation=isolation(cpus=(3,))), four_cpus)
    assert named.targets == (3,)  # who names CPUs gets them, or is refused by their lock


def test_a_situation_is_read_for_the_trial(stage, campaign, isolation, tmp_path, monkeypatch):
    free_space(monkeypatch, 7_000_000)
    with Host(stage.host) as host:
        c = campaign(isolation=isolation(scheduling="fifo", aslr=False))
        one = situation_of(c, host, (1,), tmp_path / "not" / "there", needed_bytes=5)
        general = situation_of(None, host, (), tmp_path)
    assert (one.fifo, one.aslr, one.cpus, one.needed_bytes) == (True, False, (1,), 5)
    assert (one.state.cpus, one.counters.cpus) == ((1,), (1,))
    assert one.free_bytes == 7_000_000
    assert one.runs_path == str(tmp_path / "not" / "there")
    assert (general.fifo, general.aslr, general.needed_bytes) == (False, True, 0)
