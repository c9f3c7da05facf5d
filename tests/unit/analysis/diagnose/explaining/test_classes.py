"""Which runs make a mode: planted ones are separated, single peaks of any shape are left whole."""

import inspect

import numpy as np
import pytest
from scipy.stats import binom

from analysis.diagnose import cell_tests
from analysis.diagnose.cell_tests import modes_by_values
from analysis.diagnose.modes import (
    explained_modes,
    modal_runs,
    modes_by_order,
    sources,
)
from analysis.errors import UsageError
from analysis.methods.variance_sources.fit import within_trials
from analysis.stats.arguments import stream

NO = 1e-3  # of a binomial count


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def two(n: int, share: float, apart: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    slow = rng(seed).random(n) < share
    return 10 + 0.1 * rng(seed + 1000).standard_normal(n) + 0.1 * apart * slow, slow


@pytest.mark.parametrize(("n", "share", "apart"), [(90, 0.25, 20), (90, 0.5, 6), (300, 0.1, 20)])
def test_two_modes_are_told_apart(n, share, apart):
    values, slow = two(n, share, apart)
    labels = modes_by_values(values, rng())
    assert (labels == slow).mean() > 0.98


def test_three_modes_are_numbered_by_their_values():
    which = rng().integers(3, size=120)
    values = np.array([5.0, 1.0, 3.0])[which] + 0.05 * rng(2).standard_normal(120)
    assert (modes_by_values(values, rng()) == np.array([2, 0, 1])[which]).all()


@pytest.mark.parametrize("law", ["normal", "lognormal", "shifted", "flat", "rounded"])
def test_a_single_peak_is_one_mode(law):
    draws = {
        "normal": lambda r: 10 + 0.1 * r.standard_normal(90),
        "lognormal": lambda r: r.lognormal(0, 0.5, 90),
        "shifted": lambda r: 1 + 0.05 * r.exponential(size=90),
        "flat": lambda r: 1 + r.random(90),
        "rounded": lambda r: 10 + 0.1 * np.round(r.standard_normal(90) * 2),
    }
    told = sum(modes_by_values(draws[law](rng(k)), rng(k)) is not None for k in range(10))
    assert told <= binom.isf(NO, 10, 0.05)


def test_a_few_far_runs_belong_to_no_mode():
    values, slow = two(90, 0.3, 20)
    values[:3] += 40
    labels = modes_by_values(values, rng())
    assert labels[:3].tolist() == [-1, -1, -1]
    assert (labels[3:] == slow[3:]).all()


def test_a_few_runs_between_two_modes_make_no_third():
    values, _ = two(90, 0.3, 40)
    values[:2] = 11.2
    labels = modes_by_values(values, rng())
    assert labels.max() == 1


def test_a_mode_of_nine_runs_is_none():
    values, slow = two(90, 0.3, 20)
    rare = values.copy()
    rare[np.flatnonzero(slow)[9:]] -= 2
    assert modes_by_values(rare, rng()) is None


@pytest.mark.parametrize(
    "values", [np.full(90, 3.0), np.arange(19.0), np.r_[np.zeros(45), np.ones(45)]]
)
def test_equal_or_few_values_raise_nothing(values):
    found = modes_by_values(values, rng())
    assert found is None or set(found.tolist()) == {0, 1}


def test_values_below_zero_are_looked_at_as_they_are():
    values, slow = two(90, 0.3, 20)
    assert (modes_by_values(values - 10.5, rng()) == slow).all()


def test_the_unit_changes_nothing():
    values, _ = two(90, 0.3, 8)
    assert (modes_by_values(values, rng()) == modes_by_values(values * 1e-6, rng())).all()


SESSIONS = np.repeat(np.arange(3), 30)


def levels(apart: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Give runs that stay at one of two levels, five at a time."""
    high = np.repeat(rng(seed).permutation([0, 1] * 9), 5).astype(bool)
    return 10 + 0.1 * rng(seed + 50).standard_normal(90) + 0.1 * apart * high, high


def test_levels_too_near_for_the_values_are_told_by_their_order():
    by_value = by_order = 0
    for k in range(20):
        values, high = levels(3, seed=k)
        by_value += k % 2 and modes_by_values(values, rng(k)) is not None
        labels = modes_by_order(values, SESSIONS)
        by_order += labels is not None and float((labels == high).mean()) > 0.9
    assert by_value <= 4
    assert by_order >= 14


def test_levels_are_told_on_a_coarse_clock_too():
    """Authority: research/rules-2.md, section 8; by steps that are mostly 0 none of these 10 was told."""
    told = 0
    for k in range(10):
        values, high = levels(4, seed=k)
        labels = modes_by_order(np.rint(values / 0.3) * 0.3, SESSIONS)
        told += labels is not None and float((labels == high).mean()) > 0.85
    assert told >= 2


def test_runs_in_any_order_have_no_levels():
    values, _ = levels(3)
    told = [modes_by_order(rng(k).permutation(values), SESSIONS) is not None for k in range(40)]
    assert sum(told) <= 2


def test_a_drift_is_no_change_of_level():
    for k in range(20):
        values = 10 + 0.02 * (np.arange(90) % 30) + 0.05 * rng(k).standard_normal(90)
        assert modes_by_order(values, SESSIONS) is None


def test_noise_that_wanders_has_no_levels():
    told = 0
    for k in range(40):
        noise = rng(k).standard_normal(90)
        for place in range(1, 90):
            noise[place] = 0.8 * noise[place - 1] + 0.6 * noise[place]
        told += modes_by_order(10 + 0.1 * noise, SESSIONS) is not None
    assert told <= 4


def test_sessions_that_differ_are_no_change_within_them():
    assert modes_by_order(10 + SESSIONS + 0.1 * rng().standard_normal(90), SESSIONS) is None


def test_a_level_of_nine_runs_is_none():
    values = 10 + 0.1 * rng().standard_normal(90)
    values[:9] += 1
    assert modes_by_order(values, SESSIONS) is None


def test_equal_runs_have_no_levels():
    assert modes_by_order(np.full(90, 2.0), SESSIONS) is None


def test_joined_modes_are_held_against_both_neighbours_anew(monkeypatch):
    # groups of fewer than three runs look like a part of their neighbour, larger ones never do
    monkeypatch.setattr(
        cell_tests, "_one_mode", lambda left, right, _rng: float(min(left.size, right.size) < 3)
    )

    def joined(*sizes):
        groups = np.split(np.arange(float(sum(sizes))), np.cumsum(sizes)[:-1])
        return [one.size for one in cell_tests._joined(groups, rng())]

    assert joined(2, 2, 5) == [4, 5]
    assert joined(5, 2, 2) == [9]
    assert joined(5, 5) == [5, 5]
    assert joined(4, 2, 1, 6, 7) == [7, 6, 7]


# --- The sources of a trial with its modes: of each cell its own, all together one family.


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
    assert alone == sources(trial, rng=rng()).modes


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
