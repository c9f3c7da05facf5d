"""One planned run -> one row: hooks, request, what is watched, what is kept of the output."""

from __future__ import annotations

import dataclasses
import errno
import os
from types import SimpleNamespace

import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.record.trial_files import Finding, PlannedRun, StopRule
from harness.campaign.model import CheckPolicy, CounterEvent, Counting, Expect, MetricRule
from harness.errors import HostError, LaunchError
from harness.host.activity import Host
from harness.host.counters import EventAnswer
from harness.launch.commands import SideCommands
from harness.launch.matching import Interrupted, Interrupts
from harness.launch.usage import Used
from harness.trial.measure import PADDING_VARIABLE, CapReached, Measurer
from harness.trial.metering import EnergyMeter, Grouping
from harness.trial.session import TrialRun
from tests.hosts import trees as hosts

MOST = 1000  # bytes that a run may write to one of its outputs


class Bench:
    """Measures runs of one cell; what the session would hear is kept."""

    def __init__(self, stage, campaign, isolation, make_cell, command, monkeypatch) -> None:
        self.stage, self._campaign, self._isolation = stage, campaign, isolation
        self._patch = monkeypatch
        self._make_cell, self._command = make_cell, command
        self.outputs = stage.folder / "outputs"
        self.outputs.mkdir()
        self.found: list[Finding] = []
        self.host = Host(stage.host)
        self.interrupts = Interrupts()
        self.side = SideCommands(None, self.interrupts)
        self.launcher = stage.launcher("target")
        self.measurer: Measurer | None = None

    def set(self, *, cpus=None, deadline=None, isolation=None, max_time_s=None, **cell) -> None:
        made = self._make_cell("x", "a", **{"command": self._command, **cell})
        c = self._campaign(
            ("x",),
            ("a",),
            cells=(made,),
            max_time_s=max_time_s,
            isolation=self._isolation(output_limit_bytes=MOST, **(isolation or {})),
        )

        trial = TrialRun(
            campaign=c,
            prepared=SimpleNamespace(
                host=self.host,
                cpus=SimpleNamespace(targets=cpus, services={}),
                grouping=Grouping(),
                energy=EnergyMeter(),
                tally=lambda: None,
                launching={},
            ),
            environment={"PATH": str(self.stage.bin), "BASE": "1", "BOTH": "base"},
            commands=self.side,
            interrupts=self.interrupts,
            watcher=self.stage.watching,
            executables={("x", "a"): self.stage.bin / "true"},
            deadline=deadline,
        )
        trial.store = SimpleNamespace(
            path=self.stage.folder,
            manifest=SimpleNamespace(seed=7),
            append_findings=lambda when, found, session=None: self.found.extend(found),
        )
        self._patch.setattr("harness.trial.measure.LauncherClient", lambda *_, **__: self.launcher)
        self.measurer = Measurer(trial, 3, 2)

    def measure(self, position=7, *, warmup=False, **given):
        if self.measurer is None or given:
            self.set(**given)
        run = PlannedRun(
            position=position, session=3, block=0 if warmup else 4, benchmark="x", variant="a",
            warmup=warmup,
        )  # fmt: skip
        return self.measurer.measure(run)

    @property
    def request(self):
        return self.launcher.requests[-1]

    def kept(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.outputs.iterdir()}


@pytest.fixture
def bench(stage, campaign, isolation, make_cell, commands, monkeypatch):
    made = Bench(stage, campaign, isolation, make_cell, *commands("true"), monkeypatch)
    yield made
    made.side.close()
    made.host.close()


def writes(stdout="", stderr=""):
    """Give the answer of a program that writes."""

    def answer(request):
        for path, text in ((request.stdout, stdout), (request.stderr, stderr)):
            if path is not None:
                path.write_text(text)

    return answer


# --- the row -----------------------------------------------------------------------------------


def test_a_row_says_which_run_it_is_and_what_was_measured(bench):
    row = bench.measure(cpus=(1,))
    assert (row.position, row.session, row.segment, row.block) == (7, 3, 2, 4)
    assert (row.benchmark, row.variant, row.warmup, row.outcome) == ("x", "a", False, "ok")
    assert (row.wall_ns, row.max_rss_bytes, row.exit_code, row.signal) == (1_000_000, 4096, 0, None)
    assert row.max_rss_floor_bytes == 1024
    assert row.started_at == "2023-11-14T22:13:20.000000000Z"
    assert (row.cpus, row.before_s, row.after_s) == ((1,), None, None)
    assert row.stdout_bytes == 0


MS = 1_000_000


@pytest.mark.parametrize(
    ("used", "disturbed"),
    [
        ({}, False),
        ({"s": Used(cpu_s=0.5, wait_ns=MS, others_ns=MS)}, True),
        ({"s": Used(cpu_s=0.5, wait_ns=50_000, others_ns=50_000)}, False),
        ({"s": Used(cpu_s=0.5)}, None),
    ],
)
def test_a_run_whose_service_waited_is_disturbed_and_has_what_it_used(bench, used, disturbed):
    bench.measure()
    bench.measurer._service_meter.end = lambda variant: used
    row = bench.measure()  # of 1 ms, and itself it has waited for nothing
    assert row.disturbed is disturbed
    assert row.metrics.get("service.s.cpu") == ((0.5,) if used else None)


def test_what_a_hook_left_running_is_told_at_the_end_of_the_session(bench):
    bench.measure()
    told = bench.measurer._leftovers
    told._seconds, told._names = 1.5, {"redis-server": None}
    (found,) = bench.measurer.finish()
    assert found.check == "hook-left-running"
    assert "(redis-server) used 1.50 s" in found.what


def test_unpinned_runs_have_no_frequency_of_their_cpu(bench):
    assert bench.measure().frequency_khz is None


def test_a_failed_row_keeps_its_times(bench):
    bench.stage.target = lambda request: {"exit_code": None, "signal": 11}
    row = bench.measure()
    assert (row.outcome, row.detail, row.signal) == ("signal", "ended by signal SIGSEGV", 11)
    assert row.wall_ns == 1_000_000


def test_the_surroundings_of_a_run_are_what_was_added_while_it_lasted(bench):
    """Of /proc/stat what was read a moment ago, after the last run, will do; after a rest it is read anew."""
    stolen = iter([0, 2, 3, 4, 5])
    bench.stage.tree({"proc/stat": hosts.stat(2), "proc/loadavg": "1.25 0 0 1/2 3\n"})

    def steal(request):
        bench.stage.tree({"proc/stat": hosts.stat(2, steal=next(stolen))})

    tick = 1 / os.sysconf("SC_CLK_TCK")
    bench.stage.target = steal
    first, second, third = (bench.measure(cpus=(1,)), bench.measure(), bench.measure())
    assert [first.steal_s, second.steal_s, third.steal_s] == pytest.approx([0, 2 * tick, tick])
    assert second.cpu_steal_s == pytest.approx({"0": 2 * tick, "1": 2 * tick})
    assert (first.load_1min, first.cpu_steal_s) == (1.25, {})
    bench.stage.tree({"proc/stat": hosts.stat(2, steal=100)})
    bench.stage.clock.now += 1.0
    bench.stage.target = lambda request: None
    assert bench.measure().steal_s == 0
    assert second.service_cpus_busy_s is None  # it uses no service


def test_the_cpus_of_the_services_of_its_variant_are_looked_at(bench):
    bench.stage.tree({"proc/stat": hosts.stat(4)})
    bench.set(cpus=(0,))
    context = bench.measurer._trial
    context.prepared.cpus.services = {"db/a": (1, 2), "db/b": (3,), "cache": (2,)}
    context.services.serving = lambda variant: (f"db/{variant}", "cache")
    bench.stage.target = lambda request: bench.stage.tree({"proc/stat": hosts.stat(4, user=1007)})
    assert bench.measure().service_cpus_busy_s == pytest.approx(14 / os.sysconf("SC_CLK_TCK"))


# --- the request -------------------------------------------------------------------------------


def test_variables_come_from_the_trial_and_the_cell_wins(bench):
    bench.measure(env={"OWN": "2", "BOTH": "cell"}, isolation={"padding": 0})
    path = os.fsencode(bench.stage.bin)
    assert bench.request.env == {b"PATH": path, b"BASE": b"1", b"OWN": b"2", b"BOTH": b"cell"}


def test_padding_is_of_the_run_and_does_not_stay(bench):
    rows = [bench.measure(position, isolation={"padding": "random"}) for position in range(5)]
    name = os.fsencode(PADDING_VARIABLE)
    sizes = [len(r.env.get(name, b"")) for r in bench.launcher.requests]
    assert sizes == [row.padding_bytes for row in rows]
    assert len(set(sizes)) > 1
    bench.measure(isolation={"padding": 17})
    assert bench.request.env[name] == b"x" * 17


def test_padding_of_a_fairtrial_around_this_one_does_not_stay(bench):
    bench.measure(env={PADDING_VARIABLE: "yyy"}, isolation={"padding": 0})
    assert os.fsencode(PADDING_VARIABLE) not in bench.request.env


def test_limits_and_times_reach_the_launcher(bench, tmp_path):
    (tmp_path / "in").touch()
    bench.measure(
        timeout_s=2.5, stdin=tmp_path / "in", isolation={"limits": {"nofile": 64}}, stdout="discard"
    )
    request = bench.request
    assert (request.timeout_s, request.grace_s, request.stdin) == (2.5, 1.0, tmp_path / "in")
    assert [soft for _, soft in request.limits] == [64]
    assert (request.stdout, request.stderr) == (None, bench.outputs / "current.stderr")
    assert (request.path, request.argv) == (str(bench.stage.bin / "true"), ("true",))


# --- output ------------------------------------------------------------------------------------


def test_output_of_a_good_run_is_kept_when_asked_for(bench):
    bench.stage.target = writes("said\n", "muttered\n")
    row = bench.measure(stdout="keep")
    assert (row.stdout_bytes, len(row.stdout_sha256)) == (5, 64)
    bench.measurer.finish()
    assert bench.kept() == {"0007.stdout": "said\n"}


def test_output_of_a_failed_run_is_kept_unasked(bench):
    bench.stage.target = writes("said\n", "muttered\n")
    row = bench.measure(-2, warmup=True, expect=Expect(stdout_regex="nothing like it"))
    assert row.outcome == "output-mismatch"
    bench.measurer.finish()
    assert bench.kept() == {"w2.stdout": "said\n", "w2.stderr": "muttered\n"}


def test_a_flood_is_cut_to_what_is_allowed(bench):
    bench.stage.target = writes("x" * (MOST + 500))
    row = bench.measure()
    assert (row.outcome, row.stdout_bytes, row.stdout_sha256) == ("output-limit", MOST + 500, None)
    assert len(bench.kept()["0007.stdout"]) == MOST


def test_output_that_the_target_deletes_is_nothing(bench):
    bench.stage.target = lambda request: request.stdout.unlink()
    row = bench.measure()
    assert (row.outcome, row.stdout_bytes) == ("ok", 0)


def test_metrics_are_read_from_what_this_run_wrote(bench, tmp_path):
    left = tmp_path / "score.txt"
    left.write_text("score 1")
    rule = MetricRule(name="score", source=left, regex=r"score (\d+)", json=None, unit="points",
                      better="higher")  # fmt: skip
    stale = bench.measure(metrics=(rule,))
    assert (stale.outcome, stale.metrics) == ("unparsable", {})
    bench.stage.target = lambda request: left.write_text("score 5") and None
    assert bench.measure().metrics == {"score": (5.0,)}


def test_a_full_disk_says_nothing_about_the_program(bench, monkeypatch):
    bench.stage.target = lambda request: {"exit_code": 1}
    space = SimpleNamespace(f_bavail=1, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda place: space)
    with pytest.raises(StoreError, match="the disk is full"):
        bench.measure()
    bench.stage.target = lambda request: None
    assert bench.measure().outcome == "ok"


# --- what ends a run ---------------------------------------------------------------------------


def test_what_is_watched_hears_of_the_time_while_a_run_lasts(bench):
    bench.measure()
    assert len(bench.stage.watching.of("tick")) == 1


def test_a_run_that_floods_is_ended(bench):
    bench.stage.target = writes(stderr="x" * (MOST + 1))
    assert bench.measure().outcome == "output-limit"
    bench.stage.target = writes(stderr="x" * MOST)
    assert bench.measure().outcome == "ok"
    assert [told.killed for told in bench.launcher.told] == ["output-limit", None]


def test_a_run_beyond_the_deadline_is_no_measurement(bench):
    with pytest.raises(CapReached, match="the time cap of 9 s was reached in a run, now discarded"):
        bench.measure(deadline=bench.stage.clock.now, max_time_s=9.0)
    row = bench.measure(deadline=bench.stage.clock.now + 1.0, max_time_s=9.0)
    assert row.outcome == "ok"


def test_a_process_that_survives_stops_the_trial(bench):
    bench.stage.target = lambda request: {"survivors": 2}
    with pytest.raises(LaunchError, match="2 processes of x / a could not be killed"):
        bench.measure()


def test_a_signal_passes_through(bench):
    def interrupt(request):
        raise Interrupted(2)

    bench.stage.target = interrupt
    with pytest.raises(Interrupted):
        bench.measure()


@pytest.mark.parametrize(
    ("cpus", "warmup", "threads", "heard"),
    [
        ((1,), True, 3, [3]),
        ((1,), True, 1, []),
        ((1,), False, 3, []),  # nothing looks at a measured run
        ((0, 1), True, 3, []),
        (None, True, 3, []),
    ],
)
def test_threads_are_looked_for_in_warm_ups_on_one_cpu(bench, cpus, warmup, threads, heard):
    bench.stage.tree({"proc/4242/status": f"Threads:\t{threads}\n"})
    bench.measure(cpus=cpus, warmup=warmup)
    assert [one.what for one in bench.found] == [
        f"x / a has {count} threads, pinned to one CPU" for count in heard
    ]


# --- hooks -------------------------------------------------------------------------------------


@pytest.fixture
def hooks(stage, commands):
    stage.program("prepare")
    stage.program("tidy")
    return {"before": commands("prepare"), "after": commands("tidy")}


def test_hooks_are_timed_apart_and_know_the_run(bench, hooks):
    bench.stage.command = lambda request: {"wall_ns": 250_000_000}
    row = bench.measure(**hooks)
    assert (row.before_s, row.after_s, row.wall_ns) == (0.25, 0.25, 1_000_000)
    order = [request.argv[0] for _, request in bench.stage.executed]
    assert order == ["prepare", "true", "tidy"]
    env = bench.stage.executed[0][1].env
    assert env[b"FAIRTRIAL_BENCHMARK"] == b"x"
    assert env[b"FAIRTRIAL_POSITION"] == b"7"
    assert bench.kept().keys() <= {"current.stdout", "current.stderr"}


def test_a_hook_before_that_fails_leaves_the_program_alone(bench, hooks):
    def fail(request):
        request.stdout.write_text("no disk\n")
        return {"exit_code": 4}

    bench.stage.command = fail
    row = bench.measure(**hooks)
    assert row.outcome == "hook-failed"
    assert "hook 'before' failed with exit code 4" in row.detail
    assert (row.wall_ns, row.exit_code, row.padding_bytes) == (None, None, None)
    assert row.started_at == "2023-11-14T22:30:00.000000000Z"  # when the hook began
    assert bench.launcher.requests == []
    assert bench.kept() == {"0007.before.log": "no disk\n"}


def test_a_hook_after_that_fails_spoils_the_run_and_keeps_its_times(bench, hooks):
    bench.stage.command = lambda request: {"exit_code": int(request.argv[0] == "tidy")}
    row = bench.measure(**hooks)
    assert row.outcome == "hook-failed"
    assert "hook 'after' failed with exit code 1" in row.detail
    assert (row.wall_ns, row.before_s, row.after_s) == (1_000_000, 0.001, None)
    assert "0007.after.log" in bench.kept()


def test_closing_removes_what_was_caught_last(bench):
    bench.stage.target = writes("said\n")
    bench.measure()
    assert bench.kept().keys() == {"current.stdout", "current.stderr"}
    bench.measurer.finish()
    bench.measurer.finish()
    assert bench.kept() == {}


def test_a_program_that_links_its_output_elsewhere_destroys_nothing(bench, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious" * MOST)

    def plant(request):
        request.stdout.unlink()
        request.stdout.symlink_to(victim)
        return {"exit_code": 1}

    bench.stage.target = plant
    row = bench.measure()
    assert (row.outcome, row.stdout_bytes) == ("exit", 0)
    assert bench.kept()["0007.stdout"] == ""
    assert victim.read_text() == "precious" * MOST


def test_starts_are_told_to_the_nanosecond(bench):
    second = 1_700_000_000_000_000_000
    starts = [second + 5, second + 999_999_999, second + 1_000_000_000, second + 7]
    bench.stage.target = lambda request: {"started_ns": starts[len(bench.launcher.told)]}
    assert [bench.measure().started_at for _ in starts] == [
        "2023-11-14T22:13:20.000000005Z",
        "2023-11-14T22:13:20.999999999Z",
        "2023-11-14T22:13:21.000000000Z",
        "2023-11-14T22:13:20.000000007Z",
    ]


# --- Trials that count: which runs, what their rows and manifest say, what is refused, how they go on


GOOD = EventAnswer(0, 0, fits=True)
GONE = EventAnswer(errno.ENOENT, 0, fits=False)


@pytest.fixture
def counting(campaign):
    """Make a campaign of the stage that counts."""

    def make(*events, every=1, **given):
        names = events or ("cycles", "page-faults")
        counters = Counting(events=tuple(CounterEvent(name=name) for name in names), every=every)
        return dataclasses.replace(campaign(**given), counters=counters)

    return make


def answering(stage, *values, every_run=True):
    """Let each counted run give these values, all of the time."""

    def target(request):
        if not every_run and not stage.counted[-1]:
            return None
        return {"counters": tuple(None if v is None else (v, 100, 100) for v in values)}

    stage.target = target


def test_counters_are_metrics_of_the_rows_and_of_the_manifest(stage, counting):
    stage.answers = [GOOD, GOOD]
    answering(stage, 1000, 7)
    stage.start(counting())
    assert stage.manifest["metrics"] == {
        name: {"unit": "1", "better": "lower", "source": "counters"}
        for name in ("cycles", "page-faults")
    }
    assert all(row["metrics"] == {"cycles": [1000], "page-faults": [7]} for row in stage.rows)
    assert {row["counted"] for row in stage.rows} == {None}  # all runs are alike
    assert all(stage.counted)
    trial = read_trial(stage.trial)
    assert trial.metric("cycles").unit == "1"
    assert (trial.values("cycles") == 1000).all()
    assert stage.lines("environment.jsonl")[0]["counters"] == {
        "cycles": "all",
        "page-faults": "all",
    }


def test_without_the_key_nothing_is_counted_or_said(stage, campaign):
    stage.start(campaign())
    assert not any(stage.counted)
    assert stage.manifest["metrics"] == {}
    assert not stage.findings("counters")
    assert "counters" not in stage.lines("environment.jsonl")[0]
    assert {row["counted"] for row in stage.rows} == {None}


def test_what_cannot_be_had_is_absent_and_told(stage, counting):
    stage.answers = [GONE, GOOD]
    answering(stage, None, 7)
    ending = stage.start(counting())
    assert ending.status == "complete"
    assert list(stage.manifest["metrics"]) == ["page-faults"]
    assert all(row["metrics"] == {"page-faults": [7]} for row in stage.rows)
    (finding,) = stage.findings("counters", "before")[:1]
    assert finding["status"] == "fail"
    assert "cycles: this processor does not count it" in finding["what"]
    assert stage.lines("environment.jsonl")[0]["counters"]["cycles"].startswith("none: ")


def test_who_requires_counters_stops_without_them(stage, counting):
    stage.answers = [GONE, GOOD]
    with pytest.raises(HostError, match="required check 'counters': cycles: ") as caught:
        stage.start(counting(checks=CheckPolicy(require=("counters",))))
    assert caught.value.exit_code == 3
    assert not list(stage.runs.glob("*/measurements.jsonl"))


def test_each_so_many_th_block_is_counted_and_stays_out_of_wall(stage, counting):
    stage.answers = [GOOD]
    answering(stage, 1000, every_run=False)
    stage.start(counting("cycles", every=3, sessions=2, runs=6, warmup=1))
    for row, counted in zip(stage.rows, stage.counted, strict=True):
        assert counted == (row["block"] in {3, 6}) == row["counted"]
        assert row["metrics"] == ({"cycles": [1000]} if counted else {})
    trial = read_trial(stage.trial)
    matrix = trial.matrix(trial.manifest.variants[0])
    assert [sample.size for sample in matrix.samples] == [8] * len(matrix.samples)  # 2 x 4 of 6
    assert [one.code for one in matrix.cautions if one.code != "warm-up-left-out"] == [
        "counted-left-out"
    ]
    cycles = trial.matrix(trial.manifest.variants[0], "cycles")
    assert [sample.size for sample in cycles.samples] == [4] * len(cycles.samples)


def test_a_block_that_could_not_be_counted_keeps_its_times(stage, counting):
    stage.answers = [GONE]  # nothing is open then
    stage.start(counting("cycles", every=2, sessions=1, runs=4, warmup=0))
    assert {row["counted"] for row in stage.rows} == {False}
    trial = read_trial(stage.trial)
    assert trial.matrix(trial.manifest.variants[0]).samples[0].size == 4


@pytest.mark.parametrize("moved", [None, (1000, 1, 1), (1000, 100, 50)])
def test_a_run_beside_open_events_stays_out_of_wall_whatever_they_told(stage, counting, moved):
    # unread, cut at the exec of a setuid program, or shared: it was as slow as any that was counted
    stage.answers = [GOOD]

    def target(request):
        return {"user_s": 1.0, "counters": (moved,)} if stage.counted[-1] else None

    stage.target = target
    stage.start(counting("cycles", every=2, sessions=1, runs=4, warmup=0))
    assert all(row["metrics"] == {} for row in stage.rows)
    assert [row["counted"] for row in stage.rows] == [row["block"] in {2, 4} for row in stage.rows]
    trial = read_trial(stage.trial)
    assert trial.matrix(trial.manifest.variants[0]).samples[0].size == 2


def test_a_stopping_rule_looks_at_runs_that_are_not_counted(stage, counting):
    stage.answers = [GOOD]

    def target(request):
        counted = stage.counted[-1]
        moved = {"counters": ((5, 9, 9),)} if counted else {}
        # a counted run takes ten times as long: the rule would never be content with both
        return {"wall_ns": 10_000_000 if counted else 1_000_000, **moved}

    stage.target = target
    rule = StopRule(width=0.01, min_runs=3, max_runs=40)
    ending = stage.start(counting("cycles", every=2, runs=40, warmup=0, stop=rule))
    (end,) = ending.session_ends
    assert (end.why, end.runs) == ("width", 5)  # blocks 1, 3 and 5
    assert read_trial(stage.trial).cautions is not None


def test_strange_counters_are_told_at_the_end_of_a_session(stage, counting):
    stage.answers = [GOOD, GOOD]
    answering(stage, 0, 7)
    stage.start(counting())
    found = stage.findings("counters", "after")
    assert found
    assert all("cycles read 0 in all" in one["what"] for one in found)
    assert all(row["metrics"] == {"page-faults": [7]} for row in stage.rows)


@pytest.mark.parametrize("every", [1, 2])
def test_events_that_open_before_the_trial_and_never_in_it_are_told(stage, counting, every):
    # the kernel became stricter meanwhile, or another program has every counter
    stage.answers = [GOOD, GOOD]
    stage.start(counting(every=every, sessions=1, runs=2, warmup=0))
    assert all(row["metrics"] == {} for row in stage.rows)
    wanted = sum(stage.counted)
    assert [one["what"] for one in stage.findings("counters", "after")] == [
        f"{name} was not counted in {wanted} of {wanted} runs: these rows are without it"
        for name in ("cycles", "page-faults")
    ]
    # nothing was open beside them: their times are as good as those of the others
    assert {row["counted"] for row in stage.rows} == {None if every == 1 else False}


def test_a_resumed_trial_declares_what_can_be_had_by_then(stage, counting):
    stage.answers = [GONE, GOOD]
    answering(stage, None, 7)
    stage.target, plain = stage.at(3, stage.interrupt), stage.target
    one = counting()
    stage.start(one)
    stage.answers, stage.target = [GOOD, GOOD], plain
    answering(stage, 5, 7)
    stage.resume(one)
    assert set(stage.manifest["metrics"]) == {"cycles", "page-faults"}
    trial = read_trial(stage.trial)
    assert trial.manifest.status == "complete"
    values = trial.values("cycles")
    assert (values[values == values] == 5).all()
    changed = [row["what"] for row in stage.findings("environment")]
    assert any("counters.cycles" in what for what in changed)


def test_a_launcher_that_can_count_more_than_the_trial_began_with_adds_no_metric(stage, counting):
    stage.answers = [GONE, GOOD]
    answering(stage, 5, 7)
    stage.start(counting())
    assert all(list(row["metrics"]) == ["page-faults"] for row in stage.rows)
    read_trial(stage.trial)


def test_counts_of_a_failed_run_are_stored_and_not_judged(stage, counting):
    stage.answers = [GOOD, GOOD]

    def target(request):
        return {"exit_code": 3, "counters": ((5, 9, 9), (7, 9, 9))}

    stage.target = target
    stage.start(counting())
    assert stage.rows[0]["outcome"] == "exit"
    assert stage.rows[0]["metrics"] == {"cycles": [5], "page-faults": [7]}
    assert not read_trial(stage.trial).measured.any()


def test_metrics_of_the_output_stand_beside_counters(stage, counting):
    stage.answers = [GOOD, GOOD]

    def target(request):
        request.stdout.write_text("loops: 12\n")
        return {"counters": ((5, 9, 9), (7, 9, 9))}

    stage.target = target
    one = counting()
    rule = MetricRule(name="loops", regex="loops: ([0-9]+)", unit="1", better="higher")
    cells = tuple(dataclasses.replace(cell, metrics=(rule,)) for cell in one.cells)
    stage.start(dataclasses.replace(one, cells=cells))
    assert stage.rows[-1]["metrics"] == {"loops": [12.0], "cycles": [5], "page-faults": [7]}
    assert "source" not in stage.manifest["metrics"]["loops"]
