"""``protocol.disturbed: repeat``: which runs are executed again, and when.

The authority is the rule of docs/concepts.md: at the block's end, a run at most twice, a block at most
once its length, decided by flags alone; and the plan itself: what a trial that was killed and went on
holds is what one that was not holds.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.record.manifest import read_manifest
from analysis.record.run_numbers import Measurement
from analysis.record.trial_files import PlannedRun, StopRule
from harness.trial.outcomes import Repeats, repeats_left, repeats_of, still_to_do
from harness.trial.progress import read_progress
from harness.trial.writer import Store
from tests.examples import examples

WAITED = {"wall_ns": 1_000_000, "run_delay_ns": 200_000}


@pytest.fixture
def disturb(stage):
    """Let runs of the target be disturbed: `which(run, times)` tells of the run under way.

    `times` is how often it was executed before. Warm-ups go undisturbed.
    """

    def make(which, **changes):
        seen = Counter()

        def target(request):
            run = stage.watching.of("run_started")[-1][0]
            if run.warmup:
                return None
            again = repeats_of(run)
            place = run.position if again is None else again
            times, seen[place] = seen[place], seen[place] + 1
            found = which(replace_position(run, place), times)
            return (WAITED | changes if found else None) if found is not None else UNKNOWN

        stage.target = target
        return seen

    return make


UNKNOWN = {"run_delay_ns": None, "launcher_delay_ns": None, "launcher_on_cpu_ns": None}


def replace_position(run, place):
    return PlannedRun(
        position=place,
        session=run.session,
        block=run.block,
        benchmark=run.benchmark,
        variant=run.variant,
        warmup=run.warmup,
    )


def measured(rows):
    return [row for row in rows if not row["warmup"]]


def repeated(rows):
    return [row for row in rows if row["repeats"] is not None]


# --- which rows are written -----------------------------------------------------------------------


def test_what_is_disturbed_is_kept_by_default(stage, campaign, disturb):
    disturb(lambda run, times: run.variant == "b")
    ending = stage.start(campaign())
    rows = measured(stage.rows)
    assert [row["disturbed"] for row in rows] == [row["variant"] == "b" for row in rows]
    assert repeated(stage.rows) == []
    assert stage.manifest["schema"] == 1
    assert ending.disturbances.to_dict() == {"known": 8, "disturbed": 4, "repeats": 0, "mended": 0}
    assert "  disturbed: 4 of 8 runs waited for a CPU, and are kept" in ending.lines("again")


def test_a_disturbed_run_is_repeated_at_the_end_of_its_block(stage, campaign, disturb):
    disturb(lambda run, times: times == 0 and (run.benchmark, run.variant) == ("x", "b"))
    ending = stage.start(campaign(disturbed="repeat"))
    assert stage.manifest["schema"] == 2
    rows = measured(stage.rows)
    assert [row["block"] for row in rows] == [1] * 5 + [2] * 5
    for block in (rows[:5], rows[5:]):
        again = block[-1]
        (first,) = [row for row in block[:-1] if row["disturbed"]]
        assert again["repeats"] == first["position"]
        assert again["position"] < 0
        assert again["disturbed"] is False
        same = ("session", "block", "benchmark", "variant", "warmup", "padding_bytes")
        assert {key: again[key] for key in same} == {key: first[key] for key in same}
    assert len({row["position"] for row in stage.rows}) == len(stage.rows)
    assert (ending.status, ending.done, ending.planned) == ("complete", 12, 12)
    assert ending.disturbances.to_dict() == {"known": 8, "disturbed": 2, "repeats": 2, "mended": 2}


def test_second_repeats_come_after_the_first_of_each_run(stage, campaign, disturb):
    disturb(lambda run, times: times < 2 and run.variant == "b")
    stage.start(campaign(disturbed="repeat", runs=1))
    rows = measured(stage.rows)
    first = [row["position"] for row in rows[:4] if row["disturbed"]]
    assert [row["repeats"] for row in rows[4:]] == first * 2


def test_a_run_that_failed_is_not_repeated(stage, campaign, disturb):
    # a failure is an outcome; a repeat would put a run that succeeds in its place
    disturb(lambda run, times: True, exit_code=1)
    stage.start(campaign(disturbed="repeat"))
    assert {row["outcome"] for row in measured(stage.rows)} == {"exit"}
    assert repeated(stage.rows) == []


def test_warm_ups_are_not_repeated(stage, campaign):
    stage.target = lambda request: WAITED
    stage.start(campaign(disturbed="repeat", warmup=3, runs=1))
    assert {row["block"] for row in repeated(stage.rows)} == {1}


def test_in_sequential_order_a_run_is_repeated_behind_its_cells(stage, campaign, disturb):
    disturb(lambda run, times: times < 2 and run.block == 1)
    stage.start(campaign(disturbed="repeat", runs=3, order="sequential"))
    rows = measured(stage.rows)
    for k in range(4):
        cell = rows[5 * k : 5 * k + 5]
        assert len({(row["benchmark"], row["variant"]) for row in cell}) == 1
        assert [row["block"] for row in cell] == [1, 2, 3, 1, 1]


def test_what_is_unknown_of_one_variant_keeps_the_benchmark_as_it_is(stage, campaign, disturb):
    # b of x has threads: its waiting can never be told. Would a be mended alone, it would look faster
    disturb(lambda run, times: None if (run.benchmark, run.variant) == ("x", "b") else times == 0)
    stage.start(campaign(disturbed="repeat", runs=3))
    assert {row["benchmark"] for row in repeated(stage.rows)} == {"y"}
    (found,) = stage.findings("disturbed")
    assert found["what"] == (
        "whether runs of x were disturbed is not known: they are kept as they are"
    )


def test_a_cell_that_is_never_undisturbed_ends_the_repeats_of_its_benchmark(
    stage, campaign, disturb
):
    disturb(lambda run, times: run.benchmark == "x" and (times == 0 or run.variant == "b"))
    stage.start(campaign(disturbed="repeat", runs=5))
    times = Counter((row["benchmark"], row["variant"]) for row in repeated(stage.rows))
    # the run of the first block and its repeats are three, that of the second block is the fourth
    assert times == {("x", "b"): 2, ("x", "a"): 1}  # of a later blocks' runs are kept too
    (found,) = stage.findings("disturbed")
    assert found["what"].startswith(
        "x / b: 4 runs in a row were disturbed, repeats included; in session 1 "
    )


def test_what_a_repeat_wrote_has_a_name_of_its_own(stage, campaign, disturb):
    disturb(lambda run, times: times == 0 and run.position == 5)
    made = campaign(disturbed="repeat")
    made = replace(made, cells=tuple(replace(cell, stdout="keep") for cell in made.cells))
    stage.start(made)
    (row,) = repeated(stage.rows)
    assert {"0005.stdout", f"r{-row['position']}.stdout"} <= stage.outputs()


# --- caps, rules and words ------------------------------------------------------------------------


def test_repeats_count_towards_the_cap_of_runs(stage, campaign, disturb):
    disturb(lambda run, times: times == 0)
    ending = stage.start(campaign(disturbed="repeat", max_runs=10))
    assert len(stage.rows) == 10
    assert (ending.status, ending.done) == ("stopped", 8)
    assert ending.must_raise == "protocol.max_runs"


def test_a_failed_repeat_counts_as_failed(stage, campaign, disturb):
    def fails(run, times):
        return times == 0 and run.position == 5

    disturb(fails)
    target = stage.target
    stage.target = lambda request: (
        {"exit_code": 3}
        if repeats_of(stage.watching.of("run_started")[-1][0]) is not None
        else target(request)
    )
    ending = stage.start(campaign(disturbed="repeat"))
    assert ending.failed == 1
    assert read_progress(stage.trial).failed == {"exit": 1}


def test_a_stopping_rule_looks_at_the_judged_rows(stage, campaign, disturb):
    # the planned rows are noisy where they are disturbed, the repeats are not: so it ends at once
    disturb(lambda run, times: times == 0 and run.block % 2 == 0, wall_ns=9_000_000)
    rule = StopRule(width=0.01, min_runs=3, max_runs=8)
    stage.start(campaign(disturbed="repeat", runs=8, stop=rule))
    (end,) = stage.manifest["session_ends"]
    assert (end["runs"], end["why"], end["width"]) == (3, "width", 0.0)


def test_progress_counts_and_says_it(stage, campaign, disturb):
    disturb(lambda run, times: run.position == 5 and times < 3)
    stage.start(campaign(disturbed="repeat"))
    found = read_progress(stage.trial)
    assert found.to_dict()["disturbances"] == {
        "known": 8,
        "disturbed": 1,
        "repeats": 2,
        "mended": 0,
    }
    assert (found.done, found.planned, found.repeating) == (12, 12, True)
    told = "  disturbed: 1 of 8 runs waited for a CPU; 2 repeats replaced none, 1 is left"
    assert told in str(found).split("\n")


# --- going on -------------------------------------------------------------------------------------


def test_repeats_are_left_of_whatever_is_not_left_out(make_campaign):
    rule = Repeats(make_campaign(("x",), ("a",), disturbed="repeat"))
    run = PlannedRun(position=0, session=1, block=1, benchmark="x", variant="a", warmup=False)
    assert not repeats_left([run], {0: "ok"}, rule)
    rule._rows[0] = [True]  # disturbed, and not repeated yet
    assert repeats_left([run], {0: "ok"}, rule)
    assert not repeats_left([run], {0: "ok"}, rule, lambda one: one.variant == "a")


def test_a_kill_in_the_last_repeats_leaves_something_to_do(stage, campaign, disturb):
    disturb(lambda run, times: times == 0)
    made = campaign(disturbed="repeat", runs=1, sessions=1)
    stage.start(made)
    path = stage.trial
    lines = (path / "measurements.jsonl").read_bytes().splitlines(keepends=True)
    (path / "measurements.jsonl").write_bytes(b"".join(lines[:-2]))
    manifest = json.loads((path / "manifest.json").read_text())
    manifest |= {"status": "running", "files": {}}
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert "--resume" in str(read_progress(path))
    assert stage.resume(made).status == "complete"
    assert len(repeated(stage.rows)) == 4


@pytest.mark.parametrize("rows", [None, 14])
@pytest.mark.parametrize("unknown", [False, True])
def test_what_is_repeated_no_more_is_said_though_a_kill_came_before_it(
    stage, campaign, disturb, rows, unknown
):
    made = campaign(disturbed="repeat", runs=4)
    flags = {"x": None if unknown else True}

    def fate():
        disturb(lambda run, times: flags.get(run.benchmark, False))

    fate()
    stage.start(made)
    said = [found["what"] for found in stage.findings("disturbed")]
    assert len(said) == 1
    path = stage.trial
    lines = (path / "measurements.jsonl").read_bytes().splitlines(keepends=True)
    (path / "measurements.jsonl").write_bytes(b"".join(lines[:rows]))
    lines = (path / "findings.jsonl").read_bytes().splitlines(keepends=True)
    kept = b"".join(line for line in lines if b'"check":"disturbed"' not in line)
    (path / "findings.jsonl").write_bytes(kept)
    manifest = stage.manifest | {"status": "running", "files": {}}
    (path / "manifest.json").write_text(json.dumps(manifest))
    fate()
    assert stage.resume(made).status == "complete"
    assert [found["what"] for found in stage.findings("disturbed")] == said


@pytest.mark.parametrize("then", ["keep", "repeat"])
def test_what_becomes_of_disturbed_runs_cannot_change_under_a_trial(stage, campaign, then):
    stage.target = stage.at(9, stage.interrupt)
    stage.start(campaign(disturbed=then))
    now = "keep" if then == "repeat" else "repeat"
    with pytest.raises(StoreError, match=f"began with 'disturbed: {then}'") as error:
        stage.resume(campaign(disturbed=now), accept_drift=True)
    assert error.value.fix == f"write 'disturbed: {then}' again, or start a new trial"
    assert read_manifest(stage.trial).status == "interrupted"


# --- damage ---------------------------------------------------------------------------------------


def forged(stage, change):
    """Change the rows of a trial that was broken off; their checksums fit."""
    from analysis.record.shapes import encode_checked

    path = stage.trial / "measurements.jsonl"
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    rows = change(rows)
    for row in rows:
        row.pop("crc32", None)
    path.write_bytes(b"".join(encode_checked(row) + b"\n" for row in rows))
    manifest = json.loads((stage.trial / "manifest.json").read_text())
    manifest["files"] = {}
    (stage.trial / "manifest.json").write_text(json.dumps(manifest))


def of_nobody(rows):
    repeated(rows)[0]["repeats"] = 10_000
    return rows


def thrice(rows):
    again = repeated(rows)[-1]
    lowest = min(row["position"] for row in rows)
    return rows + [again | {"position": lowest - k} for k in (1, 2)]


def of_another(rows):
    again = repeated(rows)[0]
    again["benchmark"] = "y" if again["benchmark"] == "x" else "x"
    return rows


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (of_nobody, "repeats position 10000"),
        (thrice, "repeated more than 2 times"),
        (of_another, "is not the planned one"),
    ],
)
def test_repeats_that_cannot_be_are_damage(stage, campaign, disturb, change, what):
    disturb(lambda run, times: times == 0)
    stage.start(campaign(disturbed="repeat", runs=1))
    forged(stage, change)
    with pytest.raises(StoreError, match=what):
        read_trial(stage.trial)
    if change is not of_another:  # that is seen against the plan, by who reads it
        with pytest.raises(StoreError, match=what):
            Store.reopen(stage.trial)


def test_a_trial_of_the_first_schema_holds_no_repeats(stage, campaign, disturb):
    disturb(lambda run, times: times == 0)
    stage.start(campaign(disturbed="repeat", runs=1))
    forged(stage, lambda rows: rows)
    path = stage.trial / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 1}))
    with pytest.raises(StoreError, match="schema 1 has none"):
        read_trial(stage.trial)


# --- the rule, for any flags ----------------------------------------------------------------------


CELLS = [("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")]


def plan(blocks):
    cells = [(0, cell) for cell in CELLS] + [
        (n, cell) for n in range(1, blocks + 1) for cell in CELLS
    ]
    return [
        PlannedRun(
            position=k, session=1, block=block, benchmark=bench, variant=variant, warmup=block == 0
        )
        for k, (block, (bench, variant)) in enumerate(cells)
    ]


def row_of(run, flag, outcome="ok"):
    return Measurement(
        position=run.position,
        session=1,
        segment=0,
        block=run.block,
        benchmark=run.benchmark,
        variant=run.variant,
        warmup=run.warmup,
        repeats=repeats_of(run),
        disturbed=flag,
        outcome=outcome,
        metrics={},
    )


def played(made, runs, flags, rows, most=10**6):
    """Execute what is due with given flags; give all rows."""
    repeats, done = Repeats(made, rows), {row.position: row.outcome for row in rows}
    found = list(rows)
    for run in still_to_do(runs, done, repeats):
        if len(found) >= most:
            break
        place = run.position if repeats_of(run) is None else repeats_of(run)
        times = sum(place in {one.position, one.repeats} for one in found)
        flag = flags[(place * 3 + times) % len(flags)]
        row = row_of(run, flag)
        repeats.add(row)
        done[row.position] = row.outcome
        found.append(row)
    return found


@pytest.fixture(scope="module")
def rule():
    from types import SimpleNamespace

    return SimpleNamespace(protocol=SimpleNamespace(order="shuffled"))


@settings(max_examples=examples(60))
@given(
    flags=st.lists(
        st.sampled_from([True, True, False, False, False, None]), min_size=7, max_size=40
    ),
    cut=st.integers(4, 40),
    blocks=st.integers(1, 4),
)
def test_whatever_is_disturbed_the_bounds_hold(rule, flags, cut, blocks):
    runs = plan(blocks)
    rows = played(rule, runs, flags, [])
    planned = {row.position: row for row in rows if row.repeats is None}
    assert set(planned) == {run.position for run in runs}
    again = [row for row in rows if row.repeats is not None]
    assert max(Counter(row.repeats for row in again).values(), default=0) <= 2
    assert max(Counter(row.block for row in again).values(), default=0) <= len(CELLS)
    settled = set()
    for row in again:
        first = planned[row.repeats]
        assert first.disturbed is True
        assert (first.block, first.benchmark, first.variant) == (
            row.block,
            row.benchmark,
            row.variant,
        )
        assert row.repeats not in settled  # an undisturbed row ends it
        if row.disturbed is False:
            settled.add(row.repeats)
    # broken off anywhere, and gone on with
    begun = played(rule, runs, flags, [], most=cut)
    gone_on = played(rule, runs, flags, begun)
    assert [
        (r.repeats, r.position if r.repeats is None else None) for r in gone_on if not r.warmup
    ] == [(r.repeats, r.position if r.repeats is None else None) for r in rows if not r.warmup]
