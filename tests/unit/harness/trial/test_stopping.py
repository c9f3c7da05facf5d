"""The stopping rule at work in the runner: what it counts, when it looks, what it says."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from analysis import judge, read_trial
from analysis.errors import StoreError
from analysis.history.places import runs_of_variants, session_values
from analysis.record.manifest import read_manifest
from analysis.record.shapes import encode_checked, packed, sample_file
from analysis.record.trial_files import LooksPlan, SessionEnd, StopRule
from harness.bisect.journal import add_session, whole_sessions
from harness.campaign.model import CounterEvent, Counting, MetricRule
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of
from harness.commands.live_view import scale
from harness.launch.matching import Interrupted
from harness.trial.ending import Ending, rule_text, session_lines
from harness.trial.execution import Options
from harness.trial.progress import read_progress
from harness.trial.stopping import SessionStop, finding_of, stored_runs
from harness.trial.writer import Store

RULE = StopRule(width=0.05, min_runs=3, max_runs=6)


@pytest.fixture
def watch(make_campaign):
    def make(rule=RULE, benchmarks=("x", "y"), variants=("a", "b")):
        campaign = make_campaign(benchmarks, variants, stop=rule, runs=rule.max_runs)
        return SessionStop(rule, campaign, 1)

    return make


def block(make_measurement, number, times=1.0, benchmarks="xy", variants="ab", **changes):
    """Give the rows of one block; `times` is a value or a function of (benchmark, variant)."""
    rows = []
    for k, (bench, variant) in enumerate((b, v) for b in benchmarks for v in variants):
        seconds = times(bench, variant) if callable(times) else times
        start = number * 10**10 + k * 2 * 10**9
        rows.append(
            make_measurement(
                number * 4 + k,
                block=number,
                benchmark=bench,
                variant=variant,
                start_ns=start,
                wall_ns=round(seconds * 1e9),
                **changes,
            )
        )
    return rows


def feed(watch, rows):
    for row in rows:
        watch.add(row)


def test_constant_values_end_at_min_runs(watch, make_measurement):
    found = watch()
    for number in (1, 2):
        feed(found, block(make_measurement, number))
        assert found.end() is None
    feed(found, block(make_measurement, 3))
    assert found.end() == SessionEnd(
        session=1,
        runs=3,
        why="width",
        width=0.0,
        text="width 0 <= 0.05 within this session, after 3 runs a cell",
    )


def noisy(number):
    return lambda bench, variant: 1.0 + 0.5 * ((number + ord(bench) + ord(variant)) % 2)


def test_noisy_values_go_on_to_the_cap_and_it_says_so(watch, make_measurement):
    found = watch()
    for number in range(1, 7):
        assert found.end() is None
        feed(found, block(make_measurement, number, noisy(number)))
    end = found.end()
    assert (end.runs, end.why) == (6, "max_runs")
    assert end.width > 0.05
    assert end.text == f"max_runs 6 reached, width {end.width:.3g} within this session"
    assert finding_of(end).status == "warn"


def test_the_time_cap_ends_after_a_block_even_before_min_runs(watch, make_measurement):
    found = watch(StopRule(width=0.05, min_runs=3, max_runs=6, max_time_s=15.0))
    feed(found, block(make_measurement, 1))
    assert found.end() is None  # 7 s from the first start to the last end
    feed(found, block(make_measurement, 2))
    end = found.end()
    assert (end.why, end.runs) == ("max_time", 2)
    assert end.text.startswith("max_time 15 s reached after 2 runs a cell, width 0")


def test_not_even_the_time_cap_decides_within_a_block_or_before_the_first(watch, make_measurement):
    found = watch(StopRule(width=0.05, min_runs=3, max_runs=6, max_time_s=5.0))
    feed(found, block(make_measurement, 0, warmup=True))
    assert found.end() is None  # 7 s have passed, and there is nothing yet to say
    first, *rest = block(make_measurement, 1)
    found.add(first)
    assert found.end() is None
    feed(found, rest)
    assert found.end().why == "max_time"
    found.add(block(make_measurement, 2)[0])
    assert found.end() is None


def test_the_time_of_an_interruption_does_not_count(watch, make_measurement):
    found = watch(StopRule(width=0.05, min_runs=3, max_runs=6, max_time_s=15.0))
    feed(found, block(make_measurement, 1))
    feed(found, block(make_measurement, 2, segment=1))
    assert found.end() is None


def test_warm_ups_take_time_but_are_no_values(watch, make_measurement):
    found = watch(StopRule(width=0.05, min_runs=3, max_runs=6, max_time_s=15.0))
    feed(found, block(make_measurement, 0, 0.1, warmup=True))
    feed(found, block(make_measurement, 1))
    assert found.end().why == "max_time"
    calm = watch()
    feed(calm, block(make_measurement, 0, noisy(0), warmup=True))
    for number in (1, 2, 3):
        feed(calm, block(make_measurement, number))
    assert calm.end().width == 0.0


def test_failed_runs_do_not_count_and_a_cell_that_fails_is_named(watch, make_measurement):
    found = watch()
    for number in range(1, 7):
        rows = block(make_measurement, number)
        broken = make_measurement(rows[0].position, block=number, outcome="exit", wall_ns=5)
        feed(found, [broken, *rows[1:]])
    end = found.end()
    assert (end.why, end.width) == ("max_runs", None)
    assert end.text == (
        "max_runs 6 reached, width unknown within this session; x / a has 0 of the 3 runs that must count"
    )


def test_a_cell_with_too_few_runs_that_count_goes_on(watch, make_measurement):
    found = watch()
    for number in (1, 2, 3):
        rows = block(make_measurement, number)
        first = make_measurement(4, block=1, outcome="timeout") if number == 1 else rows[0]
        feed(found, [first, *rows[1:]])
    assert found.end() is None
    feed(found, block(make_measurement, 4))
    assert found.end().why == "width"


def test_every_variant_must_be_precise_and_the_widest_is_named(watch, make_measurement):
    found = watch(RULE, variants=("a", "b", "c"))

    def only_c_is_noisy(number):
        return lambda bench, variant: noisy(number)(bench, variant) if variant == "c" else 1.0

    for number in range(1, 7):
        assert found.end() is None
        feed(found, block(make_measurement, number, only_c_is_noisy(number), variants="abc"))
    assert found.end().text.endswith("(widest: c)")


def test_one_variant_is_judged_by_its_own_suite_mean(watch, make_measurement):
    found = watch(RULE, variants=("a",))
    for number in (1, 2, 3):
        feed(found, block(make_measurement, number, lambda b, v: 1.0, variants="a"))
    assert found.end().why == "width"


def test_stored_runs_decide_as_the_runs_did(watch, make_measurement, make_manifest, tmp_path):
    rule = StopRule(width=0.3, min_runs=3, max_runs=50)

    def times(number):
        return lambda b, v: 1.0 + 0.01 * ((7 * number + 3 * ord(b) + 5 * ord(v)) % 11)

    store = Store.create(make_manifest(stop=rule), tmp_path / "runs", b"")
    live = watch(rule)
    rows = []
    while live.end() is None:
        fresh = block(make_measurement, len(rows) // 4 + 1, times(len(rows) // 4 + 1))
        rows += fresh
        feed(live, fresh)
    for row in rows:
        store.append_measurement(row)
    store.release()
    again = watch(rule)
    for number, row in enumerate(stored_runs(store.path)[1]):
        assert again.end() is None, number
        again.add(row)
    assert again.end() == live.end()


def test_rule_and_ends_stand_in_the_manifest_and_come_back(make_manifest, tmp_path):
    rule = StopRule(width=0.015, max_time_s=7200.0)
    end = SessionEnd(session=1, runs=2, why="width", width=0.0147, text="t")
    made = make_manifest(runs=50, planned=306, stop=rule, session_ends=(end,))
    store = Store.create(made, tmp_path, b"")
    store.release()
    read = read_manifest(store.path)
    assert (read.stop, read.session_ends) == (rule, (end,))
    assert read.needed == 306 - 48 * 6
    data = json.loads((store.path / "manifest.json").read_text())
    del data["stop"], data["session_ends"]
    (store.path / "manifest.json").write_text(json.dumps(data))  # from before there were rules
    assert (read_manifest(store.path).stop, read_manifest(store.path).needed) == (None, 306)


@pytest.mark.parametrize(
    "changes",
    [
        {"stop": 3},
        {"stop": {"width": "0.1"}},
        {"stop": {"width": -1}},
        {"stop": {"width": 0.1, "min_runs": None}},
        {"session_ends": 7},
        {"session_ends": None},
        {"session_ends": [{"session": 1}]},
        {"session_ends": [{"session": 2}]},
        {"session_ends": [{"runs": 51}]},
        {"session_ends": [{"runs": "x"}]},
        {"session_ends": [{"why": "tired"}]},
        {"session_ends": [{"width": "x"}]},
        {"session_ends": [{}, {}]},
    ],
)
def test_a_rule_or_an_end_that_was_edited_is_refused(changes, make_manifest, tmp_path):
    end = {"session": 1, "runs": 2, "why": "width", "width": 0.01, "text": "t"}
    store = Store.create(make_manifest(runs=50, sessions=1, planned=306), tmp_path, b"")
    store.release()
    path = store.path / "manifest.json"
    data = json.loads(path.read_text()) | changes
    if changes.get("session_ends") not in (7, None, [{"session": 1}]):
        data["session_ends"] = [end | change for change in changes["session_ends"]]
    path.write_text(json.dumps(data))
    with pytest.raises(StoreError, match="the manifest is damaged"):
        read_manifest(store.path)


def test_status_counts_what_is_needed(make_manifest, make_measurement, tmp_path):
    end = SessionEnd(
        session=1, runs=3, why="width", width=0.01, text="width 0.01 <= 0.05 after 3 runs"
    )
    made = make_manifest(runs=6, warmup=0, sessions=2, planned=72, stop=RULE, session_ends=(end,))
    store = Store.create(made, tmp_path, b"")
    for position in range(18):
        store.append_measurement(make_measurement(position, wall_ns=10**9))
    found = read_progress(store.path)
    assert (found.done, found.planned) == (18, 54)
    assert "18 of at most 54 runs" in str(found)
    assert "session 1: width 0.01 <= 0.05" in str(found)
    assert found.left_s == pytest.approx(36.0)
    json.dumps(found.to_dict())
    store.update(
        session_ends=(end, SessionEnd(session=2, runs=3, why="width", width=0.0, text="t"))
    )
    for position in range(36, 54):
        store.append_measurement(make_measurement(position, session=2))
    store.finish("complete", None)
    found = read_progress(store.path)
    assert "36 of 36 runs, started" in str(found)
    assert "next  fairtrial verdict" in str(found)


def test_the_ending_says_why_each_session_ended(tmp_path):
    ends = [
        SessionEnd(session=k, runs=3, why="width", width=0.0, text=f"t{k}") for k in range(1, 13)
    ]
    assert session_lines(ends)[0] == "  4 earlier sessions: see session_ends in manifest.json"
    assert session_lines(ends)[-1] == "  session 12: t12"
    ending = Ending(
        trial=tmp_path,
        status="complete",
        reason=None,
        done=3,
        planned=3,
        failed=0,
        session_ends=(ends[0],),
    )
    assert "  session 1: t1" in ending.lines(("again",))
    json.dumps(ending.to_dict())


def test_the_scale_is_a_range(make_campaign):
    campaign = make_campaign(stop=RULE, runs=6)
    said = " ".join(scale(campaign, 1, None).split())
    assert "3 to 6 runs x 1 session = at most 42 runs (6 warm-up)" in said
    assert scale(campaign, 1, 60.0).endswith("at most about 60 s")


def test_the_rule_is_said_beforehand():
    assert rule_text(RULE) == (
        "each session ends when its intervals are 0.05 wide or less, after 3 to 6 runs a cell"
    )
    timed = StopRule(width=0.015, max_time_s=7200.0)
    assert rule_text(timed).endswith("after 5 to 50 runs a cell, or when 2.0 h have passed")


def load(tmp_path, protocol):
    path = tmp_path / "c.yaml"
    path.write_text(
        f"name: n\nvariants: {{v: }}\nbenchmarks: {{x: {{command: p}}}}\nprotocol: {protocol}\n"
    )
    return load_campaign(path)


def test_a_rule_plans_its_most_and_changes_the_identity(tmp_path):
    plain = load(tmp_path, "{runs: 50}")
    ruled = load(tmp_path, "{stop: {width: 1.5e-2, max_time: 2h}}")
    assert ruled.protocol.stop == StopRule(width=0.015, min_runs=5, max_runs=50, max_time_s=7200.0)
    assert ruled.protocol.runs == 50
    assert identity_of(ruled) != identity_of(plain)
    assert ruled.to_dict()["protocol"]["stop"]["width"] == 0.015
    assert plain.to_dict()["protocol"]["stop"] is None


def test_a_row_with_keys_of_a_later_version_is_read(make_measurement, tmp_path):
    line = encode_checked(make_measurement(0).to_dict() | {"later": 1}) + b"\n"
    (tmp_path / "measurements.jsonl").write_bytes(line)
    assert stored_runs(tmp_path)[1][0].wall_ns == 1_500_000


def test_a_row_without_keys_that_an_earlier_version_did_not_write(make_measurement, tmp_path):
    row = make_measurement(0).to_dict()
    del row["minor_faults"], row["cpus"]
    (tmp_path / "measurements.jsonl").write_bytes(encode_checked(row) + b"\n")
    (found,) = stored_runs(tmp_path)[1]
    assert (found.wall_ns, found.minor_faults, found.cpus) == (1_500_000, None, None)


@pytest.fixture
def asks(make_campaign):
    """Make the rule of a campaign that judges a metric, which its runs print."""

    def make(*judge):
        campaign = make_campaign(("x", "y"), ("a", "b"), stop=RULE, runs=RULE.max_runs)
        return SessionStop(RULE, replace(campaign, judge=judge), 1)

    return make


def wild(number):
    return lambda bench, variant: number * (2 if variant == "b" else 1)


def test_the_rule_looks_at_the_metric_that_is_the_question(asks, make_measurement):
    """Authority: wall times that say nothing beside a throughput that is steady, and the other way."""
    steady = {"metrics": {"rps": (100.0, 102.0), "p50": (1.0,)}}
    by_rps, by_wall, by_default = asks("rps", "wall"), asks("wall"), asks()
    for number in (1, 2, 3):
        for found in (by_rps, by_wall, by_default):
            feed(found, block(make_measurement, number, wild(number), **steady))
    assert by_rps.end().text == "rps: width 0 <= 0.05 within this session, after 3 runs a cell"
    assert by_wall.end() is None
    assert by_default.end() is None  # what is absent is as it was


def test_runs_without_a_value_of_it_do_not_count(asks, make_measurement):
    found = asks("rps")
    for number in range(1, 7):
        values = {"rps": (100.0,)} if number % 3 == 0 else {"rps": (0.0,)} if number % 2 else {}
        feed(found, block(make_measurement, number, metrics=values))
    assert found.end().why == "max_runs"
    assert "has 2 of the 3 runs that must count" in found.end().text


def test_a_metric_that_every_run_has_is_taken_from_its_number(asks, make_measurement):
    found = asks("max_rss")
    for number in (1, 2, 3):
        feed(found, block(make_measurement, number, wild(number), max_rss_bytes=1 << 20))
    assert found.end().text.startswith("max_rss: width 0 <= 0.05")


def test_counters_that_are_the_question_are_those_of_counted_runs(make_campaign, make_measurement):
    counters = Counting(events=(CounterEvent(name="instructions"),), every=2)
    campaign = make_campaign(("x", "y"), ("a", "b"), stop=RULE, runs=RULE.max_runs)
    campaign = replace(campaign, judge=("instructions",), counters=counters)
    found = SessionStop(RULE, campaign, 1)
    for number in range(1, 7):
        counted = counters.counts(number)
        values = {"instructions": (1e9,)} if counted else {}
        feed(found, block(make_measurement, number, wild(number), counted=counted, metrics=values))
    assert found.end().text.startswith("instructions: width 0 <= 0.05")


@pytest.mark.parametrize("in_files", [False, True])
@pytest.mark.parametrize(("setting", "ends"), [(0, False), (2, True), ("auto", True)])
def test_the_rule_looks_at_the_iterations_that_are_judged(
    make_campaign, make_measurement, tmp_path, setting, ends, in_files
):
    """Authority: beginnings that say anything, and a constant rest: what is judged does not vary."""
    rng = np.random.default_rng(7)
    rule = MetricRule(name="t", regex="(.*)", unit="s", better="lower", warmup_iterations=setting)
    campaign = make_campaign(("x", "y"), ("a", "b"), stop=RULE, runs=RULE.max_runs)
    cells = tuple(replace(cell, metrics=(rule,)) for cell in campaign.cells)
    found = SessionStop(RULE, replace(campaign, judge=("t",), cells=cells), 1, tmp_path)
    (tmp_path / "samples").mkdir()
    for number in (1, 2, 3):
        for row in block(make_measurement, number):
            noise = 1e-4 * rng.standard_normal(150)
            early = rng.uniform(5, 50, 2)
            values = (*early, *(1 + noise[2:]))
            about = {}
            if in_files:
                data, about["t"] = packed(values)
                (tmp_path / sample_file(row.position, "t", warmup=False)).write_bytes(data)
                values = (sum(values) / len(values),)
            found.add(replace(row, metrics={"t": values}, samples=about))
    assert (found.end() is not None) == ends


def test_a_run_with_nothing_behind_its_warm_up_does_not_count(make_campaign, make_measurement):
    rule = MetricRule(name="t", regex="(.*)", unit="s", better="lower", warmup_iterations=3)
    campaign = make_campaign(("x", "y"), ("a", "b"), stop=RULE, runs=RULE.max_runs)
    cells = tuple(replace(cell, metrics=(rule,)) for cell in campaign.cells)
    found = SessionStop(RULE, replace(campaign, judge=("t",), cells=cells), 1)
    for number in range(1, 7):
        printed = (9.0, 9.0, 9.0) if number % 3 else (9.0, 9.0, 9.0, 1.0)
        feed(found, block(make_measurement, number, metrics={"t": printed}))
    assert "has 2 of the 3 runs that must count" in found.end().text


# --- Sessions added one by one. Authority: t over session values, by scipy; and the ordinary trial of as many sessions


PLAN = LooksPlan(rule="planned", looks=(3, 6, 9), risk=0.025)


@pytest.fixture
def adding_sessions_noisy(stage):
    """Let each run take a time of its own, `b` 4 % longer."""
    rng = np.random.default_rng(7)

    def target(request):
        slow = 1.04 if request.argv[-1] == "b" else 1.0
        return {"wall_ns": round(1e8 * slow * math.exp(rng.normal(0, 0.005)))}

    stage.target = target


@pytest.fixture
def of_two(campaign, make_cell, stage):
    def make(benchmarks=("x",), **given):
        from harness.campaign.model import Command

        cells = tuple(
            make_cell(
                name, variant, command=Command(argv=("true", variant), mark="c:1:1"), cwd=stage.bin
            )
            for name in benchmarks
            for variant in ("a", "b")
        )
        return campaign(benchmarks, cells=cells, never_ok="go_on", **given)  # as of commits

    return make


def added(stage, campaign, plan=PLAN, name="step0"):
    return add_session(campaign, Options(folder=stage.runs, name=name), stage.watching, plan)


@pytest.mark.usefixtures("adding_sessions_noisy")
@pytest.mark.parametrize("benchmarks", [("x",), ("x", "y")])
def test_the_verdict_prints_the_numbers_of_the_looks_that_were_planned(stage, of_two, benchmarks):
    made = of_two(benchmarks)
    for count in range(1, 7):
        ending = added(stage, made)
        assert ending.status == "complete"
        assert whole_sessions(stage.runs / "step0") == count
    trial = read_trial(stage.runs / "step0")
    assert trial.manifest.sessions == 6
    assert trial.manifest.looks_plan == PLAN
    assert trial.manifest.appended == ()
    values = [session_values(trial, number, "wall") for number in range(1, 7)]
    d = np.array([np.mean(one["a"]) - np.mean(one["b"]) for one in values])
    half = student.ppf(1 - 0.025 / 3 / 2, 5) * d.std(ddof=1) / math.sqrt(6)
    (candidate,) = judge(trial).candidates
    line = (
        candidate.multilevel.benchmarks[0] if len(benchmarks) == 1 else candidate.multilevel.these
    )
    for ours, theirs in ((line.speedup, 0.0), (line.low, -half), (line.high, half)):
        assert ours == pytest.approx(math.exp(d.mean() + theirs), rel=1e-12)
    look = candidate.multilevel.look
    assert (look.alpha, look.rule) == (pytest.approx(0.025 / 3, abs=1e-14), "planned")


@pytest.mark.usefixtures("adding_sessions_noisy")
def test_without_a_plan_each_session_is_an_appended_one(stage, of_two):  # the control
    for _ in range(3):
        added(stage, of_two(), None)
    manifest = read_trial(stage.runs / "step0").manifest
    assert manifest.looks_plan is None
    assert [(one.first, one.last) for one in manifest.appended] == [(2, 2), (3, 3)]


@pytest.mark.usefixtures("adding_sessions_noisy")
def test_a_session_that_was_broken_off_is_finished_and_no_run_is_made_twice(stage, of_two):
    made = of_two(runs=4)
    added(stage, made)
    whole = stage.target
    stage.target = stage.at(5, stage.interrupt)
    ending = added(stage, made)
    assert ending.status == "interrupted"
    assert whole_sessions(stage.runs / "step0") == 1
    stage.target = whole
    added(stage, made)
    assert whole_sessions(stage.runs / "step0") == 2
    planned = [row["position"] for row in stage.rows if row["position"] >= 0]
    assert planned == list(range(20))  # warm-ups are made once more, behind a break


@pytest.mark.usefixtures("adding_sessions_noisy")
def test_a_kill_before_the_last_manifest_leaves_a_whole_session(stage, of_two):
    made = of_two()
    added(stage, made)
    manifest = stage.manifest | {"status": "running", "files": {}, "finished": None}
    (stage.trial / "manifest.json").write_text(json.dumps(manifest))
    assert whole_sessions(stage.trial) == 1
    added(stage, made)
    assert whole_sessions(stage.trial) == 2


def test_there_is_no_session_where_there_is_no_trial(tmp_path):
    assert whole_sessions(tmp_path / "none") == 0


@pytest.mark.usefixtures("adding_sessions_noisy")
def test_a_plan_of_looks_is_not_put_upon_a_trial_without_one(stage, of_two):
    added(stage, of_two(), None)
    with pytest.raises(StoreError, match="no plan of looks"):
        added(stage, of_two())


def test_a_variant_whose_runs_all_fail_has_no_value_and_failed_runs_are_left_out(stage, of_two):
    numbers = iter(range(100))

    def target(request):
        wall = 10**8 + next(numbers)
        failed = request.argv[-1] == "b" and stage.fails
        return {"wall_ns": wall, "exit_code": 1 if failed else 0}

    stage.fails, stage.target = True, target
    added(stage, of_two())
    stage.fails = False
    added(stage, of_two())
    trial = read_trial(stage.runs / "step0")
    assert math.isnan(session_values(trial, 1, "wall")["b"])
    assert np.mean(session_values(trial, 2, "wall")["b"]) == pytest.approx(math.log(0.1), abs=1e-5)
    assert runs_of_variants(trial) == {"a": (0, 4), "b": (2, 4)}


def test_a_metric_of_which_more_is_better_is_negated(stage, of_two):
    from dataclasses import replace

    from harness.campaign.model import MetricRule

    made = of_two()
    rule = MetricRule(name="rate", regex=r"rate (\d+)", unit="1/s", better="higher")
    made = replace(made, cells=tuple(replace(cell, metrics=(rule,)) for cell in made.cells))

    def target(request):
        request.stdout.write_text(f"rate {200 if request.argv[-1] == 'b' else 100}\n")

    stage.target = target
    added(stage, made)
    values = session_values(read_trial(stage.runs / "step0"), 1, "rate")
    assert [set(values[name]) for name in "ab"] == [{-math.log(100)}, {-math.log(200)}]


def test_a_signal_before_the_first_run_leaves_a_start_that_is_begun_anew(stage, of_two):
    stage.target = stage.at(0, stage.interrupt)
    assert added(stage, of_two()).status == "interrupted"
    stage.target = lambda request: None
    assert added(stage, of_two()).status == "complete"
    assert whole_sessions(stage.runs / "step0") == 1
    assert Interrupted(2).number == 2
