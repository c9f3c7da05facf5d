"""What a reader says of energy: runs that are too short, an idle power that did not stay, and its error.

Authority: arithmetic, and docs/energy.md. A run's ends are each known to one step of the counter, a millisecond;
the sum of k runs has sqrt(k) times the error of one.
"""

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import AnalysisError, StoreError
from analysis.methods.hpt.compare import hpt
from analysis.record.shapes import shaped
from analysis.record.trial_files import ENERGY, NET_ENERGY, IdlePower, Manifest, is_steady
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
