"""The sources of a trial with its modes: of each cell its own, all together one family."""

import inspect

import numpy as np
import pytest

from analysis.diagnose.modes import explained_modes, modal_runs, sources
from analysis.errors import UsageError
from analysis.methods.variance_sources.fit import sources as within_trials
from analysis.stats.arguments import stream


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_each_cell_with_modes_is_listed_and_only_those(bimodal):
    found = sources(bimodal(), rng=rng())
    assert [one.benchmark for one in found.modes] == ["padded", "drawn"]
    padded, drawn = found.modes
    assert padded.factor == "padding_bytes mod 64"
    assert padded.causal
    assert "environment padding of 17 to 39 modulo 64 in 100 % of them" in padded.sentence
    assert drawn.sentence is None
    assert [one.mean for one in padded.classes] == pytest.approx([0.02, 0.03], rel=0.02)
    assert sum(one.share for one in padded.classes) == pytest.approx(1)


def test_the_rest_is_what_the_method_alone_says(bimodal):
    trial = bimodal(benches=("padded",))
    draws = rng()
    draws.integers(2**63)  # that of the modes
    alone = within_trials(trial, rng=draws, permutations=199)
    found = sources(trial, rng=rng(), permutations=199)
    assert found.components == alone.components
    assert found.factors == alone.factors
    assert found.cautions == alone.cautions
    assert alone.modes == ()


def test_modes_alone_are_those_of_all(bimodal):
    trial = bimodal()
    alone = explained_modes([trial], "wall", rng=stream(rng(), "modes"))
    assert tuple(one.mode for one in alone) == sources(trial, rng=rng()).modes


def test_warm_ups_and_failed_runs_have_no_mode(bimodal, synthetic, tmp_path):
    trial = bimodal(benches=("padded",))
    (cell,) = modal_runs(trial, "wall", rng=rng())
    assert cell.rows.size == cell.labels.size == 90
    outcome = trial.outcome.copy()
    outcome[:20] = 1
    object.__setattr__(trial, "outcome", outcome)
    (cell,) = modal_runs(trial, "wall", rng=rng())
    assert cell.rows.min() == 20


def test_several_trials_have_modes_of_their_own(bimodal):
    trials = [bimodal(seed=1, benches=("padded",), name="a"), bimodal(seed=2, name="b")]
    found = sources(trials, rng=rng())
    assert [(one.trial, one.benchmark) for one in found.modes] == [
        ("a", "padded"), ("b", "padded"), ("b", "drawn"),
    ]  # fmt: skip
    said = " ".join(str(found).split())
    assert "padded / v in a: mode 2" in said


def test_a_metric_that_is_not_there(bimodal):
    with pytest.raises(UsageError, match="no metric 'speed'"):
        sources(bimodal(), metric="speed", rng=rng())


def test_the_risk_is_the_callers(bimodal):
    # at 99.9 % nothing of 90 runs and 99 orders could be told, were there not more orders
    found = sources(bimodal(), rng=rng(), confidence=0.999, permutations=99)
    assert found.modes[0].pvalue <= 0.001


def test_as_many_orders_are_drawn_everywhere_where_nobody_says():
    drawn = [
        inspect.signature(one).parameters["permutations"].default
        for one in (within_trials, sources, explained_modes)
    ]
    assert drawn == [2000, 2000, 2000]
