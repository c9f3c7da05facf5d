"""Runs that are there for their counters alone: which values each metric has, and what is said of that.

Authority: docs/counters.md: of counted blocks the counters are judged, of the others all else. The trials are
made in memory: a counted run of one variant takes twice as long, so that one too many shows.
"""

import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.data.trial import Trial, read_trial
from analysis.errors import InsufficientDataError
from analysis.methods.mixture.metrics_page import pairs_of_runs
from analysis.methods.variance_sources.covariates import covariates_of
from analysis.verdict.judging import judge

planted = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[3] / "planted.py")))
SOURCE = {"unit": "1", "better": "lower", "source": "counters"}


def trial(*, every: int = 2, sessions: int = 4, runs: int = 8) -> Trial:
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
    one = trial()
    for metric in ("wall", "loops"):
        assert np.isfinite(one.values(metric)).tolist() == (one.counted != 1).tolist()
    assert np.isfinite(one.values("instructions")).tolist() == (one.counted != 0).tolist()
    assert one.judged("wall").sum() == one.judged("instructions").sum() == len(one) / 2


def test_counted_runs_change_no_answer():
    one, without = trial(), trial(every=99)
    found, plain = judge(one), judge(without)
    (candidate,) = found.candidates
    assert candidate.multilevel.benchmarks[0].speedup == pytest.approx(1 / 1.1, rel=2e-3)
    assert (found.runs, plain.runs) == (32, 64)
    # had they been taken with the others, v1 would look slower than it is
    naive = judge(replace(one, counted=None)).candidates[0].multilevel.benchmarks[0].speedup
    assert naive < 1 / 1.1 / 1.3


def test_counters_are_judged_from_their_own_runs():
    found = judge(trial(), metric="instructions")
    assert found.candidates[0].multilevel.benchmarks[0].speedup == pytest.approx(1 / 1.2, rel=1e-6)
    assert found.runs == 32


def test_a_matrix_says_what_is_left_out_and_calls_nothing_missing():
    for metric in ("wall", "instructions", "loops"):
        codes = {one.code: one.text for one in trial().matrix("v0", metric).cautions}
        assert codes.keys() == {"counted-left-out"}
        assert codes["counted-left-out"].startswith("16 runs left out by design: ")
    short = trial()
    values = short.metrics["instructions"].values.copy()
    values[np.flatnonzero((short.counted == 1) & (short.variant == 0))[0]] = np.nan
    column = replace(short.metrics["instructions"], values=values)
    short = replace(short, metrics={**short.metrics, "instructions": column})
    codes = {one.code: one.text for one in short.matrix("v0", "instructions").cautions}
    assert codes["metric-missing"] == "1 run without instructions"


def test_no_run_has_both_a_time_and_a_counter():
    with pytest.raises(InsufficientDataError, match="has both wall and instructions"):
        pairs_of_runs(trial(), "v0", "b0", metrics=("wall", "instructions"))


def test_where_all_runs_are_counted_nothing_stands_apart():
    one = replace(trial(every=1), counted=None)
    assert not one.apart("wall").any()
    assert not one.apart("instructions").any()
    assert not one.matrix("v0").cautions


def test_runs_from_before_a_change_of_settings_keep_both():
    # two sessions with counters in every run; then the trial went on with `every: 2`
    one = trial()
    early = one.session <= 2
    column = one.metrics["instructions"]
    counts = np.where(early, 1000.0 * (1 + 0.2 * one.variant), column.per_run())
    column = replace(column, values=counts, offsets=np.arange(len(one) + 1))
    flags = np.where(early, -1, one.counted).astype(np.int8)
    changed = replace(one, counted=flags, metrics={**one.metrics, "instructions": column})
    assert np.isfinite(changed.values("instructions")).tolist() == (flags != 0).tolist()
    assert np.isfinite(changed.values("wall")).tolist() == (flags != 1).tolist()
    found = judge(changed, metric="instructions")
    assert found.runs == 32 + 16
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
    one = trial(every=1)
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
