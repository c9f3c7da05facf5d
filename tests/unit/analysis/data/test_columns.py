"""What a reader says of energy: runs that are too short, an idle power that did not stay, and its error.

Authority: arithmetic, and docs/energy.md. A run's ends are each known to one step of the counter, a millisecond;
the sum of k runs has sqrt(k) times the error of one.
"""

from __future__ import annotations

import json
import runpy
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.data.columns import MOST_CPUS, CpuSteal
from analysis.data.fleet import _numbers
from analysis.data.trial import Trial, read_trial
from analysis.errors import AnalysisError, InsufficientDataError, StoreError
from analysis.methods.hpt.compare import hpt
from analysis.methods.mixture.metrics_page import pairs_of_runs
from analysis.methods.variance_sources.covariates import covariates_of
from analysis.record.shapes import shaped
from analysis.record.trial_files import ENERGY, FINDINGS, NET_ENERGY, IdlePower, Manifest, is_steady
from analysis.verdict.judging import judge

COUNTED = {"unit": "J", "better": "lower", "source": "powercap"}


def idle(session, when, watts, error_w=0.0, segment=0):
    return IdlePower(
        session=session, segment=segment, when=when, watts=watts, error_w=error_w, seconds=10.0
    )


@pytest.fixture
def trial(synthetic, tmp_path):
    """Write a trial of two sessions whose runs take `wall` seconds, at 25 W with 10 W idle."""

    def make(wall=0.5, runs=6, after=(10.0, 10.0), error_w=0.0, about=COUNTED, **idles):
        walls = {"a": {"x": [wall] * runs}, "b": {"x": [wall] * runs}}
        made = synthetic(walls, sessions=2)
        made.rows = [
            replace(row, metrics={ENERGY: (wall * 25 + row.position * 1e-3,), NET_ENERGY: (wall * 15 + row.position * 1e-3,)})
            for row in made.rows
        ]  # fmt: skip
        around = tuple(
            one
            for session, watts in enumerate(after, 1)
            for one in (
                idle(session, "before", 10.0, error_w),
                *(() if watts is None else (idle(session, "after", watts, error_w),)),
            )
        )
        made.manifest = replace(
            made.manifest,
            metrics={ENERGY: about, NET_ENERGY: about},
            idle_power=idles.get("idle_power", around),
        )
        return read_trial(made.write(tmp_path / "trial"))

    return make


def codes(matrix):
    return {caution.code for caution in matrix.cautions}


def said(matrix, code):
    (caution,) = (one for one in matrix.cautions if one.code == code)
    return caution.text


def test_energy_is_a_metric_like_others(trial):
    made = trial()
    matrix = made.matrix("a", ENERGY)
    assert (matrix.unit, matrix.better) == ("J", "lower")
    assert matrix.samples[0][0] == 12.5
    assert codes(matrix) == set()
    assert judge(made, metric=ENERGY).to_dict()["metric"] == ENERGY
    hpt(matrix, made.matrix("b", ENERGY))


@pytest.mark.parametrize(("wall", "marked"), [(0.0999, True), (0.1, False)])
def test_runs_of_less_than_a_tenth_of_a_second_are_marked(trial, wall, marked):
    assert ("short-for-energy" in codes(trial(wall).matrix("a", ENERGY))) is marked


@pytest.mark.parametrize(("runs", "enough"), [(100, True), (98, False)])
def test_a_sessions_runs_are_enough_from_sqrt_k_times_as_long_on(trial, runs, enough):
    # 50 and 49 runs a session of 1/sqrt(50) tenths of a second
    matrix = trial(0.1 / 50**0.5, runs).matrix("a", ENERGY)
    text = said(matrix, "short-for-energy")
    assert text.startswith(f"{runs} runs of less than 0.1 s: too short to be known ")
    assert ("one by one; the mean energy_package_j of a session's runs is known" in text) is enough
    assert ("like one run of 0.099 s" in text) is not enough


def test_the_rule_of_sqrt_k_is_that_of_a_counter_with_steps():
    # by simulation: a counter that moves once a millisecond at a steady power, read at any moments
    rng = np.random.default_rng(3)
    step, wall, k = 1e-3, 0.01, 100
    begin = rng.uniform(0, 1, (4000, k))
    counted = np.floor((begin + wall) / step) - np.floor(begin / step)
    of_one, of_mean = counted[:, 0].std() * step, counted.mean(axis=1).std() * step
    assert of_mean / wall == pytest.approx(of_one / wall / k**0.5, rel=0.1)
    phase = rng.uniform(0, step, 40_000)
    one_long = np.floor((phase + 0.1003) / step) * step
    assert one_long.std() / 0.1 <= step / 2 / 0.1  # half a percent at most, whatever the length
    assert counted.mean() * step == pytest.approx(wall, rel=0.01)  # and no bias


def test_a_net_energy_is_refused_where_the_idle_power_did_not_stay(trial):
    made = trial(after=(10.0, 10.501))
    with pytest.raises(
        AnalysisError, match=r"10\.00 W before session 2 and 10\.50 W after it"
    ) as told:
        made.matrix("a", NET_ENERGY)
    assert "judge energy_package_j" in told.value.fix
    with pytest.raises(AnalysisError, match="cannot be judged"):
        judge(made, metric=NET_ENERGY)
    made.matrix("a", ENERGY)  # the gross one is judged always
    assert made.values(NET_ENERGY).size == 12  # and whoever looks sees the values


def test_a_stored_idle_power_of_nothing_is_refused_in_words(trial):
    # nobody measures that, but a file may say so
    before = [idle(1, "before", 0.0), idle(1, "after", 9.0), idle(2, "before", 10.0)]
    made = trial(idle_power=(*before, idle(2, "after", 11.0)))
    with pytest.raises(AnalysisError, match=r"0\.00 W before session 1 and 9\.00 W after it"):
        made.matrix("a", NET_ENERGY)


@pytest.mark.parametrize(("after", "steady"), [(9.5, True), (10.5, True), (9.49, False)])
def test_five_percent_of_the_idle_power_before_are_allowed(after, steady):
    assert is_steady(idle(1, "before", 10.0), idle(1, "after", after)) is steady


def test_the_uncertainty_of_the_net_energy_is_said(trial):
    # sqrt(0.03^2 + (0.08 / 2)^2) = 0.05 W, for 0.5 s: 25 mJ of 7.5 J
    matrix = trial(after=(10.0, 10.08), error_w=0.03).matrix("a", NET_ENERGY)
    assert said(matrix, "idle-uncertainty") == (
        "the idle power is known to 0.05 W: up to 0.33 % of energy_net_j (x), "
        "the same way in all runs of a session"
    )


def test_a_session_that_was_broken_off_is_not_confirmed(trial):
    matrix = trial(after=(None, 10.0)).matrix("a", NET_ENERGY)
    assert "the idle power after session 1 was not measured" in said(matrix, "idle-unconfirmed")
    assert "idle-unconfirmed" not in codes(trial(after=(None, 10.0)).matrix("a", ENERGY))


def test_a_program_may_print_metrics_of_these_names(trial):
    # another unit of time, another meaning: nothing is known of its idle power
    matrix = trial(0.01, about={"unit": "J", "better": "lower"}, idle_power=()).matrix(
        "a", NET_ENERGY
    )
    assert codes(matrix) == set()


@pytest.mark.parametrize(
    "wrong",
    [
        [idle(3, "before", 10.0)],
        [idle(0, "before", 10.0)],
        [idle(1, "before", -1.0)],
        [idle(1, "between", 10.0)],
        [idle(1, "before", 10.0), idle(1, "before", 10.0)],
    ],
)
def test_an_idle_power_that_cannot_be_is_damage(trial, wrong):
    with pytest.raises(StoreError, match="the manifest is damaged: an idle power"):
        trial(idle_power=tuple(wrong))


def test_what_is_stored_of_it_is_read_back(trial):
    made = trial(after=(10.0, 9.9))
    assert [one.watts for one in made.manifest.idle_power] == [10.0, 10.0, 10.0, 9.9]
    assert shaped(Manifest, made.manifest.to_dict()).idle_power == made.manifest.idle_power


# --- Runs that are there for their counters alone: which values each metric has, and what is said of that
#
# Authority: docs/counters.md: of counted blocks the counters are judged, of the others all else. The trials are
# made in memory: a counted run of one variant takes twice as long, so that one too many shows.


planted = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[3] / "planted.py")))
SOURCE = {"unit": "1", "better": "lower", "source": "counters"}


def counted_trial(*, every: int = 2, sessions: int = 4, runs: int = 8) -> Trial:
    """Give a trial whose variant v1 takes 10 % longer and needs 20 % more instructions."""
    rng = np.random.default_rng(1)
    frame = planted.frame(rng, sessions=sessions, runs=runs, variants=2)
    counted = frame.block % every == 0
    noise = 0.001 * rng.standard_normal(len(frame))
    logs = np.log(1.1) * frame.variant + np.log(2.0) * counted * frame.variant + noise
    counts = np.where(counted, 1000.0 * (1 + 0.2 * frame.variant), np.nan)
    made = planted.filled(frame, logs, metrics={"instructions": counts, "loops": np.exp(logs) * 7})
    metrics = {**made.manifest.metrics, "instructions": SOURCE}
    return replace(
        made, manifest=replace(made.manifest, metrics=metrics), counted=counted.astype(np.int8)
    )


def test_each_metric_has_the_values_of_its_runs():
    one = counted_trial()
    for metric in ("wall", "loops"):
        assert np.isfinite(one.values(metric)).tolist() == (one.counted != 1).tolist()
    assert np.isfinite(one.values("instructions")).tolist() == (one.counted != 0).tolist()
    assert one.judged("wall").sum() == one.judged("instructions").sum() == len(one) / 2


def test_counted_runs_change_no_answer():
    one, without = counted_trial(), counted_trial(every=99)
    found, plain = judge(one), judge(without)
    (candidate,) = found.candidates
    assert candidate.multilevel.benchmarks[0].speedup == pytest.approx(1 / 1.1, rel=2e-3)
    assert (found.counts.runs, plain.counts.runs) == (32, 64)
    # had they been taken with the others, v1 would look slower than it is
    naive = judge(replace(one, counted=None)).candidates[0].multilevel.benchmarks[0].speedup
    assert naive < 1 / 1.1 / 1.3


def test_counters_are_judged_from_their_own_runs():
    found = judge(counted_trial(), metric="instructions")
    assert found.candidates[0].multilevel.benchmarks[0].speedup == pytest.approx(1 / 1.2, rel=1e-6)
    assert found.counts.runs == 32


def test_a_matrix_says_what_is_left_out_and_calls_nothing_missing():
    for metric in ("wall", "instructions", "loops"):
        codes = {one.code: one.text for one in counted_trial().matrix("v0", metric).cautions}
        assert codes.keys() == {"counted-left-out"}
        assert codes["counted-left-out"].startswith("16 runs left out by design: ")
    short = counted_trial()
    values = short.metrics["instructions"].values.copy()
    values[np.flatnonzero((short.counted == 1) & (short.variant == 0))[0]] = np.nan
    column = replace(short.metrics["instructions"], values=values)
    short = replace(short, metrics={**short.metrics, "instructions": column})
    codes = {one.code: one.text for one in short.matrix("v0", "instructions").cautions}
    assert codes["metric-missing"] == "1 run without instructions"


def test_no_run_has_both_a_time_and_a_counter():
    with pytest.raises(InsufficientDataError, match="has both wall and instructions"):
        pairs_of_runs(counted_trial(), "v0", "b0", metrics=("wall", "instructions"))


def test_where_all_runs_are_counted_nothing_stands_apart():
    one = replace(counted_trial(every=1), counted=None)
    assert not one.apart("wall").any()
    assert not one.apart("instructions").any()
    assert not one.matrix("v0").cautions


def test_runs_from_before_a_change_of_settings_keep_both():
    # two sessions with counters in every run; then the trial went on with `every: 2`
    one = counted_trial()
    early = one.session <= 2
    column = one.metrics["instructions"]
    counts = np.where(early, 1000.0 * (1 + 0.2 * one.variant), column.per_run())
    column = replace(column, values=counts, offsets=np.arange(len(one) + 1))
    flags = np.where(early, -1, one.counted).astype(np.int8)
    changed = replace(one, counted=flags, metrics={**one.metrics, "instructions": column})
    assert np.isfinite(changed.values("instructions")).tolist() == (flags != 0).tolist()
    assert np.isfinite(changed.values("wall")).tolist() == (flags != 1).tolist()
    found = judge(changed, metric="instructions")
    assert found.counts.runs == 32 + 16
    assert found.candidates[0].multilevel.benchmarks[0].speedup == pytest.approx(1 / 1.2, rel=1e-6)


@pytest.mark.parametrize(
    ("told", "flags"),
    [
        ([None, None, False, True], [-1, -1, 0, 1]),
        ([None, False, False, False], None),
        ([None, None, None, None], None),
    ],
)
def test_what_rows_say_is_read_as_it_stands(synthetic, tmp_path, told, flags):
    made = synthetic({"a": {"x": [0.1] * 4}})
    rows = [replace(row, counted=said) for row, said in zip(made.rows, told, strict=True)]
    read = read_trial(replace(made, rows=rows).write(tmp_path)).counted
    assert (None if read is None else read.tolist()) == flags


def test_a_counter_of_any_name_grows_with_its_run():
    one = counted_trial(every=1)
    metrics = {**one.manifest.metrics, "halts": SOURCE}
    columns = {**one.metrics, "halts": one.metrics["instructions"]}
    named = replace(
        one, manifest=replace(one.manifest, metrics=metrics), metrics=columns, counted=None
    )
    found = covariates_of(named, "wall")
    assert found["halts"].may_follow
    assert found["halts"].unit == "/s"
    # a number that the program printed, and called anything, is one
    assert not found["loops"].may_follow


# --- What each CPU lost in each run, from rows to columns
#
# Authority: docs/trial-format.md: a CPU that lost nothing is not there, null and an absent key are unknown.


def of(*given):
    steal = CpuSteal()
    for one in given:
        steal.add({} if one == "absent" else {"cpu_steal_s": one})
    return steal.columns()


def test_zero_unknown_and_lost_are_told_apart():
    found = of({}, {"1": 0.02}, None, {"1": 0.01, "12": 0.5}, "absent")
    assert found.keys() == {"cpu_steal_s.1", "cpu_steal_s.12"}
    assert np.array_equal(found["cpu_steal_s.1"], [0, 0.02, np.nan, 0.01, np.nan], equal_nan=True)
    assert np.array_equal(found["cpu_steal_s.12"], [0, 0, np.nan, 0.5, np.nan], equal_nan=True)


def test_where_no_cpu_lost_anything_there_is_no_column():
    assert of({}, {}, None) == {}
    assert of() == {}


def test_of_hundreds_of_cpus_those_that_lost_most_are_kept():
    lost = {str(cpu): 0.01 * cpu for cpu in range(1, 257)}
    found = of(lost, {})
    assert list(found) == [f"cpu_steal_s.{cpu}" for cpu in range(257 - MOST_CPUS, 257)]


@dataclass
class Host:
    """A trial of one run, as far as its numbers are asked for."""

    numbers: dict[str, np.ndarray]

    def __len__(self) -> int:
        return 1


def test_a_cpu_that_one_host_alone_names_is_unknown_on_the_others():
    """CPU 1 of one host has nothing to do with CPU 1 of another that lost nothing."""
    one = Host({"steal_s": np.array([0.5]), "cpu_steal_s.1": np.array([0.5])})
    other = Host({"steal_s": np.array([0.5])})
    found = _numbers([one, other])
    assert np.array_equal(found["steal_s"], [0.5, 0.5])
    assert np.array_equal(found["cpu_steal_s.1"], [0.5, np.nan], equal_nan=True)


@pytest.mark.parametrize("bad", [{"1": "x"}, {"a": 0.1}, {"1": None}, {"1": True, "-1": 0.5}])
def test_another_shape_is_an_error_with_its_line(synthetic, tmp_path, bad):
    built = synthetic({"a": {"x": [1.0, 2.0]}})
    built.rows[1] = replace(built.rows[1], cpu_steal_s={"0": 0.1})
    good = read_trial(built.write(tmp_path / "good"))
    assert np.array_equal(good.numbers["cpu_steal_s.0"], [np.nan, 0.1], equal_nan=True)
    built.rows[1] = replace(built.rows[1], cpu_steal_s=bad)
    with pytest.raises(StoreError, match=r"measurements\.jsonl:2.*not one of schema"):
        read_trial(built.write(tmp_path / "bad"))


# --- A change under a trial is said wherever its runs are judged
#
# Authority: a trial gone on with `--accept-drift` had 15 findings `drift`, and runs of both programs in one
# median; verdict, hpt and resample said nothing of it.


TIMES = {"a": {"x": [1.0, 1.1, 1.2]}, "b": {"x": [2.0, 2.1, 2.2]}}


def finding(what: object, check: str = "drift") -> bytes:
    return json.dumps({"check": check, "status": "warn", "what": what}).encode() + b"\n"


@pytest.fixture
def cautions(synthetic, tmp_path):
    """Give the cautions `drift` of a trial with these lines of findings."""

    def make(*lines: bytes, **manifest):
        made = synthetic(TIMES, **manifest)
        made.extra[FINDINGS] = b"".join(lines)
        trial = read_trial(made.write(tmp_path / "trial"))
        return trial, [one.text for one in trial.cautions if one.code == "drift"]

    return make


def test_each_change_is_named_once(cautions):
    _, (said,) = cautions(finding("the program p has changed"), finding("q"), finding("q"))
    assert said.endswith("taken together: the program p has changed; q")


def test_many_changes_are_counted_and_a_long_one_is_cut(cautions):
    _, (said,) = cautions(
        finding("the campaign has changed:\n    -runs: 3\n    +runs: 4"), *map(finding, "abcd")
    )
    assert said.endswith("the campaign has changed; a; b; and 2 more")


def test_other_findings_are_no_drift(cautions):
    assert cautions(finding("busy", "load"), finding("swapped", "environment"))[1] == []
    assert cautions()[1] == []


@pytest.mark.parametrize(
    "line", [b"[]\n", b"5\n", b"{\n", b"[" * 100_000 + b"\n", finding(7), b"\xff\n"]
)
def test_a_damaged_line_is_passed_over(cautions, line):
    _, said = cautions(line, finding("q"), status="running")
    assert [text.rpartition(": ")[2] for text in said] == ["q"]


def test_a_trial_without_findings_has_none(synthetic, tmp_path):
    path = synthetic(TIMES, status="running").write(tmp_path / "trial")
    assert [one for one in read_trial(path).cautions if one.code == "drift"] == []


def test_the_verdict_says_it(cautions):
    trial, _ = cautions(finding("the program p has changed"))
    assert "drift" in {one.code for one in judge(trial).cautions}
