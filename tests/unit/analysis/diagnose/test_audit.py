"""The diagnosis of a whole trial: one correction, what was recorded, and what a verdict must say."""

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.diagnose.examine import (
    DiagnosedHost,
    FleetDiagnosis,
    diagnose_matrix,
    diagnose_runs,
    diagnose_trial,
    diagnosed,
)
from analysis.diagnose.result import cautions_of
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.record.trial_files import ENVIRONMENT, FINDINGS
from analysis.verdict.judging import judge
from tests.unit.analysis.commands.conftest import executed

LOST, BUSIEST = "cpu1 lost 12.00 % of 200 ms to others: 3 gaps", "; busiest, in % of a CPU: x 9 %"
NAMES = {"name": "t", "unit": "s", "better": "lower", "confidence": 0.95}


def two_speeds(apart):
    return lambda t: apart * (np.arange(t.values.size) // 40 % 2)


def codes(cautions):
    return [one.code for one in cautions]


@pytest.fixture
def measured(synthetic, tmp_path):
    """Give a trial of noise: 2 variants, 2 benchmarks, 4 sessions of 8 runs, with extra files."""

    def make(*, findings=(), environment=(), change=None, shift=0.0, **manifest):
        rng = np.random.default_rng(1)
        times = {v: {b: np.exp(rng.normal(0, 0.02, 32)).tolist() for b in ("x", "y")} for v in "ab"}
        times["b"]["x"] = [value * (1 + shift * (k % 8)) for k, value in enumerate(times["b"]["x"])]
        made = synthetic(times, sessions=4, **manifest)
        if change is not None:
            made.rows = [change(row) for row in made.rows]
        lines = {FINDINGS: findings, ENVIRONMENT: environment}
        for name, rows in lines.items():
            made.extra[name] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        return read_trial(made.write(tmp_path / "trial"))

    return make


def note(check, session, what="what", status="warn", when="after"):
    return {"session": session, "when": when, "check": check, "status": status, "what": what}


def test_a_clean_trial_shows_nothing(measured):
    found = diagnose_trial(measured())
    assert found.findings == ()
    assert found.cautions == ()
    assert (found.runs, found.sessions, len(found.cells)) == (128, 4, 4)
    assert found.tests == sum(
        p is not None for line in found.cells for p in line.pvalues.values()
    ) + sum(one.pvalue is not None for one in found.host)
    assert "nothing found" in str(found)
    assert found.two_binaries == ()


def test_drift_of_one_cell_is_told_with_its_benchmark(measured):
    found = diagnose_trial(measured(shift=0.02))
    (one,) = (f for f in found.findings if f.code == "order")
    assert (one.benchmark, one.variant) == ("x", "b")
    assert one.size == pytest.approx(0.15, abs=0.05)
    assert one.pvalue < one.pvalue_adjusted < 1e-3
    (caution,) = (c for c in found.cautions if c.code == "drift-within-sessions")
    assert caution.about == ("x",)
    assert "x / b: values rise by" in caution.text


def test_doubtful_findings_are_findings_and_no_cautions(simulated):
    """Session shifts are in most trials; beside many of them Benjamini and Hochberg let others pass."""
    effect = np.random.default_rng(3).normal(0, 0.2, (8, 2, 6))
    design = {"benchmarks": 8, "sessions": 6, "runs": 10}
    design["effect"] = lambda t: effect[t.benchmark, t.variant, t.session]
    table = simulated(np.random.default_rng(4), **design)
    found = diagnosed(table, **NAMES)
    shifted = [one for one in found.findings if one.code == "session-shift"]
    assert len(shifted) == 16
    assert codes(cautions_of(found)) == []


def test_a_moving_host_is_one_caution(simulated):
    table = simulated(np.random.default_rng(5), sessions=4, runs=20, effect=two_speeds(0.1))
    found = diagnosed(table, **NAMES)
    assert codes(cautions_of(found)) == ["host-two-speeds"]
    (caution,) = cautions_of(found)
    assert "11 % apart, in all 4 sessions" in caution.text
    page = str(found)
    assert "s after the start of session 1" in page
    assert "two speeds" in page
    drift = {"sessions": 4, "runs": 20, "effect": lambda t: 0.01 * t.block}
    (caution,) = cautions_of(diagnosed(simulated(np.random.default_rng(6), **drift), **NAMES))
    assert caution.code == "host-changes"
    assert caution.about == ()


def test_what_is_certain_and_too_small_to_matter_is_no_caution(simulated):
    """Authority: of 8,000 runs in one Go benchmark night's data a correlation of 0.02 is certain."""
    design = {"benchmarks": 10, "variants": 4, "sessions": 10, "runs": 20}
    table = simulated(np.random.default_rng(9), **design, effect=two_speeds(0.02))
    found = diagnosed(table, **NAMES)
    blocks = next(one for one in found.findings if one.code == "host-blocks")
    assert blocks.certain
    assert blocks.size < 0.1
    assert not any(one.code in ("host-changes", "dependent-runs") for one in cautions_of(found))


def test_steps_that_are_fine_beside_the_values_are_no_coarse_clock():
    whole = np.round(np.random.default_rng(10).normal(1000, 3, 60))
    assert diagnose_runs(whole).cells[0].ties > 0.5
    assert diagnose_runs(whole).findings == ()
    assert [one.code for one in diagnose_runs(np.round(whole / 100)).findings] == ["ties"]


def test_what_the_runner_found_is_told_with_its_sessions(measured):
    trial = measured(
        findings=[
            note("load", 2, "3.10 over 1 min on 2 CPUs", "fail", "before"),
            note("load", 3, "2.90 over 1 min on 2 CPUs", "warn", "before"),
            note("load", 4, "0.10 over 1 min on 2 CPUs", "ok", "before"),
            note("steal", 1, "since boot", "fail", "before"),
            note("gaps", 2, LOST + BUSIEST, "fail", "before"),
            note("gaps", 3, "cpu1 lost 0.10 % of 200 ms to others: 3 gaps", "ok", "before"),
            note("steal", 4, "the hypervisor took 12 % of cpu1", "fail"),
            note("throttle", 4, "slowed down 3 times"),
            note("irq", 1, "many interrupts"),
            note("output", 2, "y / b wrote another output than before", when="during"),
            note("environment", 3, "the kernel changed", when="before"),
            note("drift", 3, "the program p has changed", when="resume"),
        ]
    )
    found = diagnose_trial(trial)
    told = {caution.code: caution for caution in found.cautions}
    assert told["host-busy"].text == (
        "the host was busy (load 3.10 over 1 min on 2 CPUs) in sessions 2, 3"
    )
    assert "12 %" in told["host-stolen"].text
    assert told["host-stolen"].text.endswith("in session 4")
    assert told["cpu-lost"].text == f"{LOST} in session 2{BUSIEST}"
    changed = "sessions differ: the kernel changed, in session 3"
    assert str(told["environment-changed"].short) == changed
    assert told["outputs-differ"].about == ("y",)
    assert set(told) == {
        "cpu-lost",
        "host-busy",
        "host-stolen",
        "host-throttled",
        "outputs-differ",
        "environment-changed",
    }
    by_code = {one.code: one for one in found.findings}
    assert by_code["load"].sessions == (2, 3)
    assert (by_code["output"].benchmark, by_code["output"].variant) == ("y", "b")
    assert by_code["drift"].pvalue is None
    assert "drift" in codes(trial.cautions)  # and is no second caution
    assert "irq" not in by_code


def test_disturbed_runs_are_counted_in_their_cells(measured):
    def change(row):
        stolen = row.benchmark == "y" and row.variant == "b" and row.position in (3, 7)
        return replace(row, steal_s=0.5) if stolen else row

    found = diagnose_trial(measured(change=change))
    (one,) = (f for f in found.findings if f.code == "disturbed-runs")
    assert (one.benchmark, one.variant, one.sessions, one.size) == ("y", "b", (1,), 2.0)
    (caution,) = found.cautions
    assert caution.text.startswith(
        "2 runs lost time to the hypervisor or the disk in session 1: y / b"
    )


def test_lost_time_is_no_caution_of_what_it_does_not_go_into(measured):
    looks = [
        note("gaps", 2, LOST, "fail", "before"),
        note("steal", 4, "the hypervisor took 12 % of cpu1", "fail"),
        note("load", 3, "2.90 over 1 min on 2 CPUs", "warn", "before"),
    ]
    trial = measured(change=lambda row: replace(row, steal_s=0.5), findings=looks)
    lost = {"cpu-lost", "host-stolen", "disturbed-runs"}
    assert lost | {"host-busy"} <= set(codes(diagnose_trial(trial).cautions))
    for metric in ("user", "max_rss"):
        found = diagnose_trial(trial, metric=metric)
        assert not lost & set(codes(found.cautions))
        assert "host-busy" in codes(found.cautions)
        assert {"gaps", "steal", "disturbed-runs"} <= {one.code for one in found.findings}
        assert not lost & set(codes(judge(trial, metric=metric).cautions))


def test_two_binaries_are_named_with_their_sessions(measured):
    def began(session, segment, sha256):
        targets = {"x/a": "11", "y/a": "11", "x/b": sha256, "y/b": sha256}
        about = {name: {"sha256": value} for name, value in targets.items()}
        return {"session": session, "segment": segment, "targets": about}

    twice = [began(1, 0, "22"), began(2, 0, "22"), began(2, 1, "33"), began(3, 0, "33")]
    trial = measured(environment=twice)
    found = diagnose_trial(trial)
    (one,) = found.two_binaries
    assert (one.variant, one.benchmarks) == ("b", ("x", "y"))
    assert (one.hashes, one.sessions) == (("22", "33"), ((1, 2), (2, 3)))
    assert codes(found.cautions) == ["two-binaries"]
    assert diagnose_trial(trial, variants=["a"]).two_binaries == ()
    unread = measured(environment=[began(1, 0, "22"), began(2, 0, None)])
    assert diagnose_trial(unread).two_binaries == ()


def test_what_each_session_builds_is_compared_within_a_session_only(measured):
    # authority: docs/layouts.md; the resumed session that was built to other bytes is two programs
    def began(session, segment, sha256):
        about = {"sha256": sha256, "built": "session"}
        return {"session": session, "segment": segment, "targets": {"x/a": about, "y/a": about}}

    rebuilt = [began(1, 0, "22"), began(2, 0, "33"), began(2, 1, "33"), began(3, 0, "44")]
    assert diagnose_trial(measured(environment=rebuilt)).two_binaries == ()
    drifted = [began(1, 0, "22"), began(2, 0, "33"), began(2, 1, "44"), began(3, 0, "33")]
    (one,) = diagnose_trial(measured(environment=drifted)).two_binaries
    assert (one.hashes, one.sessions) == (("33", "44"), ((2,), (2,)))


def test_variants_metrics_and_wrong_ones(measured):
    trial = measured()
    found = diagnose_trial(trial, variants=("b",), metric="user")
    assert (found.variants, found.metric, found.runs) == (("b",), "user", 64)
    with pytest.raises(UsageError, match="no variant 'c'"):
        diagnose_trial(trial, variants=("c",))
    with pytest.raises(UsageError, match="no metric"):
        diagnose_trial(trial, metric="speed")
    with pytest.raises(UsageError, match="confidence"):
        diagnose_trial(trial, confidence=1.0)


def test_zeros_and_a_constant_metric_are_diagnosed(measured):
    often = measured(change=lambda row: replace(row, user_s=0.0 if row.position % 3 else 0.01))
    zeros = diagnose_trial(often, metric="user")
    assert {one.code for one in zeros.findings} >= {"ties"}
    assert "coarse-clock" in codes(zeros.cautions)
    assert zeros.cells[0].spread is None
    constant = diagnose_trial(measured(), metric="max_rss")
    assert "coarse-clock" not in codes(constant.cautions)
    json.dumps(constant.to_dict(), allow_nan=False)
    str(constant)


def test_one_run_a_cell(synthetic, tmp_path):
    trial = read_trial(synthetic({"a": {"x": [1.0]}, "b": {"x": [2.0]}}).write(tmp_path / "t"))
    found = diagnose_trial(trial)
    assert found.tests == 0
    assert [(one.benchmark, one.runs) for one in found.not_tested] == [("x", 1), ("x", 1)]
    assert "nothing could be tested" in str(found)
    assert " · 1 run of 1 cell in 1 session\n" in str(diagnose_runs([1.0]))


def test_a_matrix_with_names_as_ids():
    rng = np.random.default_rng(7)
    runs = {b: rng.lognormal(0, 0.1, 12) for b in ("x", "y")}
    nights = {b: ["mon"] * 6 + ["tue"] * 6 for b in runs}
    blocks = {b: [f"{night}{k % 6}" for k, night in enumerate(nights[b])] for b in runs}
    days = {"sessions": nights, "blocks": blocks}
    found = diagnose_matrix(PerformanceMatrix.from_samples("m", runs, better="higher", **days))
    assert (found.sessions, found.runs) == (2, 24)
    by_code = {one.code: one for one in found.host}
    assert by_code["host-blocks"].pvalue is not None
    assert "host-neighbours" not in by_code  # a matrix does not know the order of its rows
    alone = diagnose_matrix(PerformanceMatrix.from_samples("m", runs, better="lower"))
    assert alone.sessions == 1


def test_values_alone():
    rng = np.random.default_rng(8)
    found = diagnose_runs(rng.normal(0, 1, 60), sessions=np.repeat([1, 2, 3], 20).tolist())
    assert found.findings == ()
    assert (found.cells[0].runs, found.cells[0].sessions) == (60, 3)
    risen = diagnose_runs(np.arange(40.0))
    assert "order" in {one.code for one in risen.findings}
    with pytest.raises(InsufficientDataError):
        diagnose_runs([])
    with pytest.raises(AnalysisError, match="value 2 is nan"):
        diagnose_runs([1.0, np.nan])
    with pytest.raises(UsageError, match="one session for each"):
        diagnose_runs([1.0, 2.0], sessions=[1])


# --- A fleet's diagnosis for a reader.


@pytest.mark.parametrize(("count", "said"), [(4, "a, b, c, d"), (6, "a, b, c, d and 2 more")])
def test_a_host_is_shown_with_four_of_its_findings(count, said):
    seen, counts = tuple("abcdef"[:count]), {"sessions": 3, "runs": 60, "tests": 9}
    host = DiagnosedHost(host="lab1", state="complete", codes=seen, told=(), **counts)
    found = FleetDiagnosis(
        name="f", metric="wall", confidence=0.95, hosts=(host,), findings=(), cautions=()
    )
    (row,) = (line for line in str(found).splitlines() if "lab1" in line)
    assert row.rstrip().endswith(f"  {said}")


@pytest.mark.parametrize("name", ["confidence", "risk"])
@pytest.mark.parametrize("study", ["", "--normality", "--clt", "--estimators"])
def test_a_number_out_of_range_is_told_as_it_was_written(measured, fleet_folder, study, name):
    # authority: the command line; a fleet and a study make another number of it
    fleet = fleet_folder(["lab1", "lab2"])
    for place in (f"{measured().path}:a", *[fleet] * (not study)):
        code, _, err = executed("diagnose", place, *study.split(), f"--{name}", "1.5")
        assert (code, err) == (2, f"{name} must lie between 0 and 1, and is 1.5\n")
