"""Quantiles of a session are those of all its values; where these are not there, a run's own are judged, and it is known why.

Authority: numpy's inverted_cdf of all values of the session, put together here, and of weighted values.
"""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.data.iterations import RunValues, merged_quantile
from analysis.data.runs import StoredRun
from analysis.errors import InsufficientDataError
from analysis.pages.result import plain
from analysis.record.manifest import needed, quantile_of
from analysis.record.shapes import StoredSamples, packed
from analysis.verdict.judging import judge
from tests.examples import examples

PLANTED = runpy.run_path(str(Path(__file__).resolve().parents[4] / "planted_values.py"))
SHARE, NAME = PLANTED["SHARE"], PLANTED["NAME"]


with_values, column = PLANTED["with_values"], PLANTED["column_of"]


def by_hand(trial, values, session, variant, first=0):
    rows = np.flatnonzero((trial.session == session) & (trial.variant == variant))
    together = np.concatenate([values[row][first:] for row in rows])
    return np.quantile(together, SHARE, method="inverted_cdf")


@pytest.mark.parametrize("warmup", [0, 5])
def test_each_session_has_one_value_and_it_is_that_of_all_its_values(warmup):
    trial, values = with_values(warmup=str(warmup))
    for number, name in enumerate(trial.manifest.variants):
        matrix = trial.matrix(name, NAME)
        assert matrix.sessions[0].tolist() == [1, 2, 3]
        expected = [by_hand(trial, values, session, number, warmup) for session in (1, 2, 3)]
        assert matrix.samples[0].tolist() == expected
        told = {one.code for one in matrix.cautions}
        assert told == ({"iterations-left-out"} if warmup else set())  # no run counts as left out
    assert plain(trial.quantile_basis(NAME)) == {
        "of": "t",
        "quantile": 0.9,
        "level": "session",
        "why": None,
        "values": None,
        "compared_at": None,
    }
    assert trial.quantile_basis("t") is trial.quantile_basis("wall") is None


def test_a_session_may_know_what_none_of_its_runs_does():
    trial, values = with_values(each=6, runs=2)
    assert needed(SHARE) == 10
    assert not trial.metrics[NAME].values.size
    assert trial.matrix("v0", NAME).samples[0][0] == by_hand(trial, values, 1, 0)


def test_a_session_with_too_few_values_has_none_and_it_is_counted():
    trial, _ = with_values(each=4, runs=2)
    assert trial.quantile_basis(NAME).level == "session"
    with pytest.raises(InsufficientDataError):
        trial.matrix("v0", NAME)


def test_within_one_session_runs_are_compared():
    trial, _ = with_values(sessions=1)
    assert trial.quantile_basis(NAME).why == "one-session"
    assert trial.values(NAME).tolist() == trial.metrics[NAME].values.tolist()


def test_a_metric_of_that_name_that_somebody_declared_stays_theirs():
    trial, _ = with_values(own=[1.5] * 12)
    assert trial.quantile_basis(NAME).why == "own"
    assert trial.matrix("v0", NAME).samples[0].tolist() == [1.5] * 6


def test_means_alone_are_no_values():
    trial, values = with_values()
    means = column([np.array([one.mean()]) for one in values])
    trial = replace(trial, metrics={**trial.metrics, "t": means})
    assert trial.quantile_basis(NAME).why == "own"


@settings(max_examples=examples(200))
@given(
    st.lists(st.lists(st.integers(0, 9), max_size=30), min_size=1, max_size=4),
    st.sampled_from([0.1, 0.5, 0.9]),
)
def test_values_and_histograms_of_them_have_the_same_quantile(runs, share):
    plain = [RunValues(np.array(run, dtype=float)) for run in runs]
    counted = [RunValues(*map(lambda part: part.astype(float), np.unique(run, return_counts=True))) if run else RunValues(np.empty(0)) for run in runs]  # fmt: skip
    together = np.concatenate([part.values for part in plain])
    expected = (
        np.quantile(together, share, method="inverted_cdf")
        if together.size >= needed(share)
        else None
    )
    assert merged_quantile(plain, share) == expected
    assert merged_quantile(counted, share) == expected
    assert merged_quantile([*plain[:1], *counted[1:]], share) == expected


def test_a_verdict_is_on_sessions():
    trial, _ = with_values(sessions=5, each=400)
    verdict = judge(trial, metric=NAME)
    assert (verdict.counts.sessions, verdict.counts.session_runs) == (5, (1, 1))
    assert verdict.candidates[0].multilevel.design == "paired"


def test_the_steady_state_of_all_runs_of_a_session_counts_not_that_of_its_first():
    made, values = with_values(sessions=6, runs=4, each=200, warmup="auto")
    rng, seen = np.random.default_rng(1), set()
    for row, (session, variant) in enumerate(zip(made.session, made.variant, strict=True)):
        values[row] = np.exp(0.003 * rng.standard_normal(200))
        if variant == 1 and (session, variant) in seen:
            values[row][-20:] *= 1.3
        seen.add((session, variant))
    own = column([np.array([quantile_of(sorted(one), SHARE)]) for one in values])
    verdict = judge(replace(made, metrics={"t": column(values), NAME: own}), metric=NAME)
    assert verdict.quantile.level == "session"
    (line,) = verdict.candidates[0].multilevel.benchmarks
    assert (line.outcome, line.reason) == ("undecided", "no-steady-state")
    told = {one.variant: (one.runs, one.without) for one in verdict.iterations}
    assert told == {"v0": (24, 0), "v1": (24, 18)}


@pytest.mark.parametrize(
    ("numbers", "said"),
    [((5000, 4700), True), ((5000, 4800), False), ((0, 0), False), ((5000, 100), True)],
)
def test_unequal_numbers_behind_printed_percentiles_are_said_and_take_no_word(numbers, said):
    trial, values = with_values(sessions=6)
    means = column([np.array([one.mean()]) for one in values])
    abouts = [
        StoredSamples(count=numbers[variant], form="percentiles") for variant in trial.variant
    ]
    stored = {row: StoredRun(Path("none"), about) for row, about in enumerate(abouts)}
    trial = replace(trial, metrics={**trial.metrics, "t": means}, stored={"t": stored})
    verdict = judge(trial, metric=NAME)
    assert verdict.quantile.why == "printed"
    assert (
        "unequal-values" in {one.code for one in verdict.candidates[0].multilevel.cautions}
    ) is said
    assert verdict.candidates[0].multilevel.benchmarks[0].reason is None


@pytest.mark.parametrize("form", ["counts", "percentiles"])
def test_what_tells_only_how_values_are_distributed_has_no_warm_up_to_look_for(tmp_path, form):
    made, values = with_values()
    stored = {}
    for row, one in enumerate(values):
        pairs = [part for value in sorted(one) for part in (value, 1.0)]
        data, about = packed(pairs)
        (tmp_path / f"{row}").write_bytes(data)
        about = replace(about, form="counts")
        if form == "percentiles":
            about = StoredSamples(count=0, form="percentiles")
        stored[row] = StoredRun(tmp_path / f"{row}", about)
    means = column([np.array([one.mean()]) for one in values])
    made = replace(
        made, metrics={**made.metrics, "t": means}, stored={"t": stored}, warmup_iterations="auto"
    )
    verdict = judge(made, metric="t")
    assert verdict.iterations == ()
    assert "no-iterations" in {one.code for one in verdict.cautions}
