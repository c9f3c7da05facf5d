"""What is looked at before the first run, and what refuses a trial then."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from harness.campaign.model import Build, CheckPolicy, Command, Expect, Protocol, Service, port_mark
from harness.errors import HostError, LaunchError
from harness.host.activity import Host
from harness.host.checks import fatal_findings
from harness.host.placement import CpuPlan, choose_cpus
from harness.host.state import GapLook, Gaps, Supply
from harness.launch.matching import Interrupts
from harness.trial import run_files as inputs
from harness.trial.folder import CpuLock
from harness.trial.plan import cpus_for, free_space as free_bytes, look_at_cpus, situation_of
from harness.trial.preparation import (
    expected_seconds,
    on_housekeeping_cpus,
    planned_runs,
    prepare,
    stays,
)

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
    with pytest.raises(StoreError, match=r"5 MB are free, .* need 16\.8 MB") as caught:
        ready(campaign(**lean))
    assert "--dir" in caught.value.fix
    free_space(monkeypatch, 20_000_000)
    assert found(ready(campaign(**lean)), "disk")[0].status == "warn"
    with pytest.raises(StoreError, match=r"may need 64\.8 MB"):
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


def test_a_folder_that_cannot_be_written_is_refused(stage, campaign, ready, tmp_path, full_disk):
    stage.runs.write_text("a file stands there")
    with pytest.raises(StoreError, match="trials cannot be written there") as caught:
        ready(campaign())
    assert caught.value.where == str(stage.runs)
    with pytest.raises(StoreError, match="File too large"), full_disk():
        free_bytes(tmp_path / "full")
    assert not list((tmp_path / "full").iterdir())


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


# --- Where the launcher keeps its CPU between two runs: only where nobody else wants it


@pytest.fixture
def case(campaign, isolation, planted_host, hosts):
    """Give (campaign, CPUs, host) where it stays, with some of it changed."""
    with Host(planted_host) as host:
        state = host.read()
    full = tuple(state.topology.numbers)

    def make(*, cpus: object = "auto", usable=full, battery=None, quota=None, **given):
        own = {key: given.pop(key) for key in ("before", "after") if key in given}
        settings = {k: given.pop(k) for k in ("scheduling", "nice") if k in given}
        made = campaign(isolation=isolation(cpus=cpus, **settings), **given)
        cells = tuple(dataclasses.replace(cell, **own) for cell in made.cells[:1])
        made = dataclasses.replace(made, cells=cells + made.cells[1:])
        now = dataclasses.replace(state, quota_cpus=quota)
        if battery is not None:
            supply = Supply(name="BAT0", kind="Battery", online=None, status=battery, capacity=80)
            now = dataclasses.replace(now, supplies=(supply,))
        return made, choose_cpus(cpus, state.topology, usable=usable), now

    return make


def test_with_a_cpu_for_itself_it_stays(case):
    assert isinstance(case()[1], CpuPlan)
    assert stays(*case())
    assert stays(*case(cpus=(1,)))
    assert stays(*case(battery="Charging"))
    assert stays(*case(scheduling="batch"))


@pytest.mark.parametrize(
    "changes",
    [
        {"cpus": "none"},
        {"usable": (1,)},  # fairtrial runs there too
        {"scheduling": "fifo"},
        {"cooldown_s": 0.001},
        {"battery": "Discharging"},
        {"quota": 1.5},
    ],
)
def test_it_does_not_where_it_would_take_the_cpu_from_somebody(case, changes):
    assert not stays(*case(**changes))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_hook_of_one_cell_is_enough_for_all(case, commands, when):
    assert not stays(*case(**{when: commands("true")}))


def test_it_does_not_beside_fairtrial_on_one_core(case):
    made, cpus, state = case()
    shared = dataclasses.replace(cpus, reserved=(0, 1), housekeeping=(0,))
    assert not stays(made, shared, state)


def test_it_does_not_where_the_kernel_hides_what_shares_a_core(case):
    made, cpus, state = case()
    hidden = tuple(dataclasses.replace(cpu, siblings=None) for cpu in state.topology.cpus)
    topology = dataclasses.replace(state.topology, cpus=hidden)
    assert not stays(made, cpus, dataclasses.replace(state, topology=topology))


def test_a_session_tells_its_launcher(stage, campaign, isolation):
    assert Protocol().cooldown_s == 0
    stage.start(campaign(isolation=isolation(cpus=(1,))))
    stage.start(campaign(isolation=isolation(cpus=(1,)), cooldown_s=0.5))
    assert [one.stays for one in stage.launchers if one.requests] == [True, False]


# --- The look at the measured CPUs before each session: when, at what, and what it stops


@pytest.fixture
def looks(monkeypatch):
    """What the host is asked for, and what it answers: a share of the time that is lost."""

    class Looks(list):
        share = 0.001

    asked = Looks()

    def gaps(_host, cpus, seconds, **how):
        asked.append((cpus, seconds, how))
        lost = seconds * asked.share
        return GapLook(gaps=(Gaps(cpu=1, looked_s=seconds, lost_s=lost, count=1, longest_s=lost),))

    monkeypatch.setattr(Host, "gaps", gaps)
    return asked


def stored(stage):
    return [row for row in stage.lines("findings.jsonl") if row["check"] == "gaps"]


def test_each_session_looks_once_before_its_first_run(stage, campaign, looks):
    stage.start(campaign(sessions=2, runs=1, warmup=0))
    assert [seconds for _, seconds, _ in looks] == [0.2, 0.2]
    assert [(row["when"], row["session"], row["status"]) for row in stored(stage)] == [
        ("before", 1, "ok"),
        ("before", 2, "ok"),
    ]
    assert stored(stage)[0]["where"].endswith(" = 0.10 %")


def test_a_resumed_session_looks_again(stage, campaign, looks):
    stage.target = stage.at(3, stage.interrupt)
    stage.start(campaign())
    stage.resume(campaign())
    assert [row["session"] for row in stored(stage)] == [1, 1]


def test_the_campaign_says_how_long_and_zero_is_not_at_all(stage, campaign, looks):
    stage.start(campaign(runs=1, warmup=0, checks=CheckPolicy(probe_s=0.0)))
    assert looks == []
    (row,) = stored(stage)
    assert (row["status"], row["what"]) == ("unknown", "not looked for: checks.probe = 0s")


def test_who_requires_it_is_stopped_before_there_is_a_trial(stage, campaign, looks):
    looks.share = 0.5
    with pytest.raises(HostError, match=r"required check 'gaps': cpu1 lost 50\.00 %"):
        stage.start(campaign(checks=CheckPolicy(require=("gaps",), probe_s=1.5)))
    assert [seconds for _, seconds, _ in looks] == [1.5]
    assert list(stage.runs.glob("*/manifest.json")) == []


def test_who_does_not_require_it_goes_on(stage, campaign, looks):
    looks.share = 0.5
    assert stage.start(campaign(runs=1, warmup=0)).status == "complete"
    assert stored(stage)[0]["status"] == "fail"


@pytest.mark.host
def test_the_cpu_of_another_trial_is_not_disturbed(looks, tmp_path):
    with Host(tmp_path) as host, CpuLock((1,)):
        look = look_at_cpus(None, host, (1,), 0.2)
        assert "another trial measures on cpu1" in look.problem
        assert looks == []
        assert look_at_cpus(None, host, (1,), 0.2, ours=(1,)).gaps
    assert looks == [((1,), 0.2, {"priority": 0, "nice": 0})]


def test_a_signal_during_the_look_ends_the_trial_before_anything_is_executed(
    stage, campaign, looks, monkeypatch
):
    gaps = Host.gaps

    def interrupted(*given, **how):
        stage.interrupt(None)
        return gaps(*given, **how)

    monkeypatch.setattr(Host, "gaps", interrupted)
    ending = stage.start(campaign())
    assert (ending.status, ending.done) == ("interrupted", 0)
    assert stage.executed == []


# --- Inputs that change under a trial: declared ones are refused, other arguments are told
#
# Authority: input data was cut from 240,000 to 60,000 bytes in the middle of a trial, as an argument in one
# cell and as stdin in another; `--resume` went on without a word and the verdict said "3.60x".


@pytest.fixture
def fed(stage, campaign, make_cell):
    """Make a campaign of one cell that reads files."""

    def make(*argv, **cell):
        command = Command(argv=("true", *argv), mark="campaign.yaml:7:3")
        return campaign(("x",), ("a",), cells=(make_cell("x", "a", command=command, **cell),))

    return make


@pytest.fixture
def data(stage):
    path = stage.folder / "data"
    path.write_text("long" * 100)
    return path


def broken_off(stage, c, after=2):
    stage.target = stage.at(after, stage.interrupt)
    stage.start(c)
    stage.target = lambda request: None


DECLARED = {
    "stdin": lambda data: {"stdin": data},
    "inputs": lambda data: {"inputs": (data,)},
    "expect.file": lambda data: {"expect": Expect(stdout_file=data)},
}


@pytest.mark.parametrize("how", DECLARED)
@pytest.mark.parametrize("change", ["cut", "gone"])
def test_a_changed_input_is_refused_and_accepted_only_when_asked(stage, fed, data, how, change):
    if how == "expect.file":
        data.write_text("")  # what the runs of the stage write
    c = fed(**DECLARED[how](data))
    broken_off(stage, c)
    (record,) = stage.lines("environment.jsonl")
    assert record["inputs"]["data"]["size_bytes"] == data.stat().st_size
    if change == "cut":
        data.write_text("short")
    else:
        data.unlink()
    missing = change == "gone" and how != "expect.file"
    with pytest.raises(StoreError, match="the input data has changed") as caught:
        stage.resume(c)
    assert "--accept-drift" in caught.value.fix
    assert len(stage.rows) == 2
    assert stage.manifest["status"] == "interrupted"
    if missing:  # accepting does not make it appear
        with pytest.raises(LaunchError):
            stage.resume(c, accept_drift=True)
        return
    stage.resume(c, accept_drift=True)
    assert "the input data has changed" in stage.findings("drift", "resume")[0]["what"]
    (said,) = [found for found in read_trial(stage.trial).cautions if found.code == "drift"]
    assert "the input data has changed" in said.text
    assert "taken together" in said.text


def test_the_same_inputs_are_no_drift_and_no_caution(stage, fed, data):
    c = fed(stdin=data)
    broken_off(stage, c)
    data.write_text("long" * 100)  # written again, with the same content
    assert stage.resume(c).status == "complete"
    assert stage.findings("drift") == []
    assert [found for found in read_trial(stage.trial).cautions if found.code == "drift"] == []


def test_an_input_that_changes_between_sessions_is_a_drift_too(stage, fed, data, campaign):
    c = fed(stdin=data)
    c = dataclasses.replace(c, protocol=dataclasses.replace(c.protocol, sessions=2))
    stage.target = stage.at(3, lambda: data.write_text("short") and None)
    stage.start(c)
    # the fourth run is the first of session 2; its record was made before
    assert stage.findings("drift") == []
    stage.target = lambda request: None
    with pytest.raises(StoreError, match="the input data has changed"):
        stage.resume(c, sessions=3)


def test_a_trial_of_an_earlier_version_has_no_inputs_to_hold_against(stage, fed, data):
    c = fed(stdin=data)
    broken_off(stage, c)
    path = stage.trial / "environment.jsonl"
    text = path.read_text()
    path.write_text(text[: text.index(',"inputs":')] + "}\n")
    data.write_text("short")
    assert stage.resume(c).status == "complete"


@pytest.mark.parametrize("what", ["missing", "folder"])
def test_an_input_that_is_no_file_is_told_before_anything_is_made(stage, fed, what):
    if what == "folder":
        (stage.folder / "data").mkdir()
    with pytest.raises(LaunchError, match="an input is"):
        stage.start(fed(inputs=(stage.folder / "data",)))
    assert list(stage.runs.iterdir()) == []


# --- other arguments ---------------------------------------------------------------------------


def test_an_argument_that_no_run_wrote_is_followed(stage, fed, data):
    c = fed("data")
    broken_off(stage, c)
    assert stage.manifest["arguments"].keys() == {str(data)}
    data.write_text("short")
    assert stage.resume(c).status == "complete"
    (finding,) = stage.findings("input", "before")
    assert str(data) in finding["what"]
    assert stage.findings("drift") == []
    stage.resume(c, sessions=2)
    assert len(stage.findings("input")) == 1  # told once


def test_the_files_are_known_once_by_the_last_first_run(stage, fed, data):
    files = inputs.ArgumentFiles(fed("data"), {})
    assert files.look() == ()
    assert not files.executed("y", "a")  # of another cell
    assert files.executed("x", "a")
    assert files.known.keys() == {str(data)}
    assert not files.executed("x", "a")  # nothing that would have to be written again
    data.write_text("short")
    assert not files.executed("x", "a")
    (finding,) = files.look()
    assert str(data) in finding.what


def test_a_file_that_a_service_is_given_is_followed(fed, data):
    command = Command(argv=("server", "data", "missing", port_mark("s")), mark="campaign.yaml:9:3")
    service = Service(name="s", variant=None, command=command, cwd=data.parent, env={})
    files = inputs.ArgumentFiles(dataclasses.replace(fed(), services=(service,)), {})
    assert files.look() == ()
    assert files.executed("x", "a")
    assert files.known.keys() == {str(data)}
    data.write_text("short")
    (finding,) = files.look()
    assert str(data) in finding.what


def test_an_argument_that_a_run_writes_is_an_output(stage, fed, data):
    def writes(request):
        data.write_text("long" * 100)  # the same content as before

    stage.target = writes
    c = fed("-o", "data")
    stage.start(c)
    assert stage.manifest["arguments"] == {}
    data.write_text("anything")
    stage.target = lambda request: None
    stage.resume(c, sessions=2)
    assert stage.findings("input") == []


def test_what_is_declared_and_what_is_large_is_not_followed(stage, fed, data, monkeypatch):
    large = stage.folder / "large"
    large.write_text("x" * 1001)
    monkeypatch.setattr(inputs, "_MOST_BYTES", 1000)
    stage.start(fed("data", "large", "--in=data", inputs=(data,)))
    assert stage.manifest["arguments"] == {}


def test_a_text_that_can_be_no_name_is_no_file(stage, fed):
    assert stage.start(fed("x" * 5000, "a/" * 3000, "=", "")).failed == 0


def test_a_file_is_read_once_while_it_is_not_touched(stage, data, monkeypatch):
    from harness.host import executables as described
    from harness.host.executables import digest_of

    read = []
    real = described.sha256_of
    monkeypatch.setattr(described, "sha256_of", lambda path: read.append(path) or real(path))
    described._digest.cache_clear()
    first = digest_of(data)
    assert digest_of(data) == first
    os.utime(data, ns=(1, 1))
    assert digest_of(data) == first
    assert len(read) == 2
