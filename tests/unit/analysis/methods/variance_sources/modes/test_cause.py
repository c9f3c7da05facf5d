"""Which covariate heads the sentence about a cell, what it may say, and when nothing is said."""

import json

import numpy as np
import pytest

from analysis.methods.variance_sources.covariates import Covariate
from analysis.methods.variance_sources.modes import ModalRuns, Rule, explained, values_of
from analysis.methods.variance_sources.result import Sources

SESSIONS = np.repeat(np.arange(3), 30)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def covariate(name: str, values: np.ndarray, **changes: object) -> Covariate:
    return Covariate(**{"name": name, "kind": "observed", "values": values * 1.0} | changes)


def padding(values: np.ndarray, period: int = 64) -> Covariate:
    return covariate(
        f"padding_bytes mod {period}", np.mod(values, period),
        kind="randomized", scale="circular", period=float(period), unit="B", known_before=True,
    )  # fmt: skip


def cell(labels: np.ndarray, *covariates: Covariate, benchmark: str = "one", **changes: object):
    n = labels.size
    slow = labels == labels.max()
    return ModalRuns(
        **{
            "benchmark": benchmark,
            "variant": "v",
            "trial": "t",
            "rows": np.arange(n),
            "values": np.where(slow, 0.016, 0.007) + 0.0001 * rng(9).random(n),
            "sessions": np.resize(SESSIONS, n),
            "labels": labels.astype(np.int8),
            "by": "values",
            "covariates": {one.name: one for one in covariates},
        }
        | changes
    )


def look(*cells: ModalRuns, permutations: int = 999, seed: int = 1):
    return explained(cells, risk=0.05, permutations=permutations, rng=rng(seed))


BYTES = rng(3).integers(4096, size=90)
SLOW = (BYTES % 64 >= 13) & (BYTES % 64 <= 28)


def test_a_drawn_factor_is_a_cause_and_the_sentence_says_so():
    (found,) = look(cell(SLOW, padding(BYTES), padding(BYTES, 4096)))
    assert found.factor == "padding_bytes mod 64"
    assert (found.kind, found.causal, found.may_follow) == ("randomized", True, False)
    assert found.mode == 2
    assert (found.inside, found.outside, found.chance) == (1, 0, 0.5)
    assert found.accuracy > 0.9
    share = 100 * SLOW.mean()
    low, high = (BYTES % 64)[SLOW].min(), (BYTES % 64)[SLOW].max()
    assert found.sentence == (
        f"mode 2, {share:.0f} % of runs: environment padding of {low} to {high} modulo 64 in 100 % of them, "
        "0 % of the others; the runner drew it for each run, so it is a cause"
    )
    assert [one.share for one in found.classes] == pytest.approx([1 - SLOW.mean(), SLOW.mean()])


def test_an_observed_factor_is_no_cause():
    seed = rng().integers(8, size=90)
    (found,) = look(cell(np.isin(seed, (3, 6)), covariate("seed", seed, unit="1")))
    assert found.factor == "seed (levels)"
    assert not found.causal
    assert "seed 3 or 6 in 100 % of them, 0 % of the others" in found.sentence
    assert "cause" in found.sentence.partition("need not be")[2]
    assert "it is a cause" not in found.sentence


def test_nothing_is_said_where_nothing_separates():
    others = [covariate(f"f{k}", rng(20 + k).random(90)) for k in range(12)]
    (found,) = look(cell(SLOW, *others))
    assert found.sentence is found.factor is found.accuracy is found.pvalue is found.mode is None
    assert len(found.classes) == 2


def test_nothing_is_said_of_a_mode_of_few_runs():
    few = SLOW & (np.cumsum(SLOW) <= 9)
    ten = SLOW & (np.cumsum(SLOW) <= 10)
    said = covariate("said", few), covariate("said", ten)
    assert look(cell(few, said[0]))[0].sentence is None
    assert look(cell(ten, said[1]))[0].sentence is not None


def following(slow: np.ndarray, ratio: float = 4.0) -> Covariate:
    rate = rng(5).poisson(np.where(slow, 30 * ratio, 30.0))
    return covariate(
        "involuntary_switches", rate, unit="/s",
        may_follow=True, count=rate * np.where(slow, 0.016, 0.007),
    )  # fmt: skip


def test_what_may_follow_never_heads_a_sentence_beside_what_was_fixed_before():
    # the switches tell every run rightly, the padding all but six
    noisy = SLOW.copy()
    noisy[np.flatnonzero(~SLOW)[:6]] = True
    (found,) = look(cell(noisy, following(noisy), padding(BYTES)))
    assert found.factor == "padding_bytes mod 64"
    assert not found.may_follow


def test_alone_it_is_told_as_what_may_follow():
    (found,) = look(cell(SLOW, following(SLOW), covariate("idle", rng(8).random(90))))
    assert found.factor == "involuntary_switches"
    assert found.may_follow
    assert not found.causal
    assert "nothing that was fixed before the run separates it" in found.sentence
    assert "may be its cause or follow from it" in found.sentence
    assert "involuntary switches per second differ," in found.sentence


def test_a_rate_that_is_a_little_higher_in_longer_runs_is_not_told():
    # a start that takes a millisecond of each: the share of the rest is larger in a longer run
    wall = np.where(SLOW, 16.0, 7.0)
    busy = wall - 1 + 0.05 * rng(5).random(90)
    user = covariate(
        "user_s", busy / wall, unit="/s",
        may_follow=True, count=busy,
    )  # fmt: skip
    assert look(cell(SLOW, user))[0].sentence is None


def test_what_a_program_makes_of_its_time_is_no_suspect():
    speed = covariate("ops", np.where(SLOW, 60.0, 140.0), unit="1/s", may_follow=True)
    assert look(cell(SLOW, speed))[0].sentence is None


def test_of_equals_what_was_drawn_comes_first_then_what_the_program_says():
    drawn, said, size = padding(BYTES), covariate("arm", SLOW), covariate("stdout_bytes", SLOW + 20)
    (first,) = look(cell(SLOW, size, said, drawn))
    assert first.factor == "padding_bytes mod 64"
    assert set(first.others) == {"arm", "stdout_bytes"}
    (second,) = look(cell(SLOW, size, said))
    assert second.factor.startswith("arm")
    assert second.others == ("stdout_bytes",)


def test_how_a_cause_works_does_not_take_its_place():
    # the misses tell every run rightly, the padding all but three
    noisy = SLOW.copy()
    noisy[np.flatnonzero(~SLOW)[:3]] = True
    misses = covariate("misses", np.where(noisy, 900, 20) + rng(4).integers(9, size=90))
    (found,) = look(cell(noisy, misses, padding(BYTES)))
    assert found.factor == "padding_bytes mod 64"
    assert found.others == ("misses",)


def test_a_factor_that_tells_far_fewer_does():
    noisy = SLOW ^ (rng(6).random(90) < 0.2)
    misses = covariate("misses", np.where(noisy, 900, 20) + rng(4).integers(9, size=90))
    (found,) = look(cell(noisy, misses, padding(BYTES)))
    assert found.factor == "misses"
    assert found.others == ("padding_bytes",)


def test_padding_heads_by_the_circle_that_tells_most():
    (found,) = look(
        cell(
            SLOW,
            covariate("padding_bytes", BYTES, kind="randomized"),
            padding(BYTES, 4096),
            padding(BYTES),
        )
    )
    assert found.factor == "padding_bytes mod 64"


def test_all_cells_are_one_family():
    alone = look(cell(SLOW, padding(BYTES)))[0].pvalue
    twelve = [cell(SLOW, padding(BYTES), benchmark=f"b{k}") for k in range(12)]
    assert look(*twelve)[0].pvalue > alone


def test_a_large_family_is_held_against_more_orders():
    # 150 covariates and 99 orders: without more, the smallest p-value would be 1.5
    others = [covariate(f"f{k}", rng(20 + k).random(90)) for k in range(150)]
    (found,) = look(cell(SLOW, padding(BYTES), *others), permutations=99)
    assert found.factor == "padding_bytes mod 64"


def test_another_cell_changes_no_other_ones_draws():
    idle = cell(SLOW, padding(rng(18).integers(4096, size=90)), benchmark="two")
    one = cell(SLOW, padding(BYTES))
    assert look(one)[0].factor == look(one, idle)[0].factor
    assert look(one, idle) == look(one, idle)


def test_rows_pick_the_runs_of_a_cell_from_the_trials_columns():
    longer = np.concatenate((np.full(10, np.nan), BYTES))
    (found,) = look(cell(SLOW, padding(longer), rows=np.arange(10, 100)))
    assert found.inside == 1


@pytest.mark.parametrize(
    ("changes", "rule", "said"),
    [
        ({"name": "padding_bytes mod 64", "scale": "circular", "period": 64.0},
         Rule(shape="arc", first=60.0, last=11.0, low=59.5, high=11.5, period=64.0),
         "environment padding of 60 to 11 modulo 64"),
        ({"name": "frequency_khz", "unit": "khz"}, Rule(shape="threshold", last=2.1e6, high=2.2e6),
         "frequency of 2,100,000 kHz or less"),
        ({"name": "position"}, Rule(shape="threshold", first=3.0, low=2.5),
         "position in its block of 3 or more"),
        ({"name": "cpu", "scale": "levels", "labels": ("0", "1", "2,3")},
         Rule(shape="levels", levels=(1.0, 2.0)), "CPU 1 or 2,3"),
        ({"name": "previous_benchmark", "scale": "levels", "labels": ("a", "b or c")},
         Rule(shape="levels", levels=(1.0,)), "benchmark of the run before 'b or c'"),
        ({"name": "seed (levels)", "scale": "levels", "labels": tuple(map(str, range(9)))},
         Rule(shape="levels", levels=tuple(map(float, range(7)))),
         "seed 0, 1, 2, 3, 4 and 2 more"),
    ],
)  # fmt: skip
def test_values_in_words(changes, rule, said):
    assert values_of(Covariate(kind="observed", values=np.zeros(3), **changes), rule) == said


def test_a_share_that_is_not_all_is_not_rounded_to_it():
    values = rng(4).random(900)
    labels = values > 0.5
    labels[np.argmin(values)] = True
    found = look(cell(labels, covariate("load", values), sessions=np.repeat(np.arange(3), 300)))[0]
    assert "in 100 % of them, 0.2 % of the others" in found.sentence


def test_the_page_says_the_sentence_and_lists_all_modes():
    modes = look(
        cell(SLOW, padding(BYTES)),
        cell(SLOW, padding(rng(18).integers(4096, size=90)), benchmark="idle"),
    )
    found = Sources(of=("t",), response="wall", unit="s", modes=modes, seed=1)
    said = " ".join(str(found).split())
    assert f"one / v: {modes[0].sentence}" in said
    assert "nothing recorded" in said
    assert "7.05 ms (" in said
    told = found.to_dict()["modes"]
    assert json.loads(json.dumps(told)) == told
    assert told[0]["factor"] == "padding_bytes mod 64"
    assert told[1]["sentence"] is None
