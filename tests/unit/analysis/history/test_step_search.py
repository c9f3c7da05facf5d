"""The search for steps. Authority: made places whose steps are known, scipy's t, and the definition's numbers."""

import json
import math
from collections.abc import Callable, Collection, Mapping

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import ttest_rel

from analysis import find_steps
from analysis.errors import AnalysisError, UsageError
from analysis.history.places import Posterior, posterior_of
from analysis.history.step_search import PairWord, Phase, Search

Measured = Callable[[tuple[int, ...]], Mapping[int, float]]


def made(
    commits: int,
    steps: Mapping[int, float],
    *,
    seed: int = 1,
    sd: float = 0.007,
    fails: Collection[int] = (),
) -> Measured:
    """Give a `measure` of places whose steps are known, in per cent of time."""
    rng = np.random.default_rng(seed)
    level = np.zeros(commits + 1)
    for place, size in steps.items():
        level[place:] += math.log1p(size / 100)

    def measure(places: tuple[int, ...]) -> dict[int, float]:
        shared = rng.normal(0, 0.01)
        return {
            place: math.nan if place in fails else level[place] + shared + rng.normal(0, sd)
            for place in places
        }

    return measure


def test_a_step_is_found_and_proven() -> None:
    found = find_steps(made(128, {77: 5}), 128)
    assert (found.answer, found.exit_code) == ("proven", 0)
    (one,) = found.culprits
    assert (one.after, one.upto, one.word, one.proof) == (76, 77, "slower", 1)
    assert one.low < 1 / 1.05 < one.high
    assert one.risk == pytest.approx(0.05 / 3)
    assert one.share == pytest.approx(1.0, abs=0.2)
    assert found.sessions == len(found.measured) < 35
    assert found.first.word == "slower"
    json.dumps(found.to_dict(), allow_nan=False)
    assert "proven: place 77 takes" in str(found)


def test_the_claim_is_the_t_interval_of_the_proofs_sessions() -> None:
    values: list[Mapping[int, float]] = []
    measure = made(16, {5: 5})

    def kept(places: tuple[int, ...]) -> Mapping[int, float]:
        values.append(measure(places))
        return values[-1]

    found = find_steps(kept, 16)
    (one,) = found.culprits
    proof = values[-one.sessions :]
    assert {tuple(v) for v in proof} == {(0, 4, 5, 16)}
    test = ttest_rel([v[4] for v in proof], [v[5] for v in proof])
    low, high = test.confidence_interval(1 - one.risk)
    assert (math.log(one.low), math.log(one.high)) == pytest.approx((low, high), rel=1e-9)
    before = [v[0] - v[4] for v in proof]
    assert math.log(one.before.speedup or 0) == pytest.approx(np.mean(before), abs=1e-12)


def test_nothing_to_find_is_said() -> None:  # the negative control
    found = find_steps(made(128, {}, sd=0.002), 128)
    assert (found.answer, found.exit_code, found.culprits) == ("no-difference", 1, ())
    assert {tuple(one) for one in found.measured} == {(0, 128)}
    assert "may-cancel" in [one.code for one in found.cautions]
    noisy = find_steps(made(128, {}, sd=0.1), 128)
    assert (noisy.answer, noisy.exit_code, noisy.sessions) == ("undecided", 7, 24)


def test_what_became_faster_is_found_too() -> None:
    found = find_steps(made(40, {9: -5}), 40)
    assert [(one.upto, one.word) for one in found.culprits] == [(9, "faster")]
    assert found.culprits[0].speedup > 1


def test_two_steps_and_one_that_takes_back() -> None:
    found = find_steps(made(128, {30: 5, 90: 5}), 128)
    assert [one.upto for one in found.culprits] == [30, 90]
    back = find_steps(made(64, {20: 10, 50: -4}), 64)
    assert [(one.upto, one.word) for one in back.culprits] == [(20, "slower"), (50, "faster")]
    risks = sorted(one.risk for one in found.culprits)
    assert risks == pytest.approx([0.05 / 2 / 3, 0.05 / 3])


def test_one_commit_goes_to_the_proof_at_once() -> None:
    found = find_steps(made(1, {1: 5}), 1)
    assert found.answer == "proven"
    assert found.measured == ((0, 1),) * 12


def test_places_that_do_not_build_are_skipped_and_named() -> None:
    broken = {75, 76, 40, 64}
    found = find_steps(made(128, {77: 5}), 128, builds=lambda place: place not in broken)
    (one,) = found.culprits
    assert (one.after, one.upto) == (74, 77)
    assert not broken & {place for session in found.measured for place in session}
    assert {75, 76} <= set(found.skipped) <= broken
    assert "skipped-between" in [caution.code for caution in found.cautions]


def test_where_nothing_between_builds_the_ends_are_proven_and_all_share_the_claim() -> None:
    found = find_steps(made(9, {4: 20}), 9, builds=lambda place: place in (0, 9))
    assert [(one.after, one.upto) for one in found.culprits] == [(0, 9)]
    assert (found.answer, found.sessions) == ("proven", 12)
    failing = find_steps(made(9, {4: 20}, fails=range(1, 9)), 9)
    assert [(one.after, one.upto) for one in failing.culprits] == [(0, 9)]
    left = find_steps(made(9, {4: 20}), 9, builds=lambda place: place in (0, 9), sessions_max=6)
    assert [(one.after, one.upto, one.why) for one in left.open] == [(0, 9, "sessions spent")]


def test_a_broken_culprit_is_one_of_the_places_that_are_named() -> None:
    found = find_steps(made(128, {77: 5}), 128, builds=lambda place: place != 77)
    (one,) = found.culprits
    assert (one.after, one.upto) == (76, 78)


def test_a_place_that_fails_twice_in_a_row_is_skipped() -> None:
    found = find_steps(made(128, {77: 5}, fails={64}), 128)
    assert found.skipped == (64,)
    assert sum(64 in session for session in found.measured) == 2
    assert [one.upto for one in found.culprits] == [77]


def test_a_place_that_fails_once_is_tried_again() -> None:
    measure, failed = made(128, {77: 5}), []

    def once(places: tuple[int, ...]) -> Mapping[int, float]:
        values = dict(measure(places))
        if 64 in places and not failed:
            failed.append(64)
            del values[64]
        return values

    found = find_steps(once, 128)
    assert found.skipped == ()
    assert [one.upto for one in found.culprits] == [77]


@pytest.mark.parametrize(("place", "name"), [(0, "good"), (8, "bad")])
def test_an_end_that_fails_or_does_not_build_is_an_error(place: int, name: str) -> None:
    with pytest.raises(AnalysisError, match=f"the {name} place fails in two sessions in a row"):
        find_steps(made(8, {5: 5}, fails={place}), 8)
    with pytest.raises(AnalysisError, match=f"the {name} place does not build"):
        find_steps(made(8, {5: 5}), 8, builds=lambda one: one != place)


def test_places_that_build_to_one_program_are_no_place_of_a_step() -> None:
    # 70 to 76 change the documentation only
    found = find_steps(
        made(128, {77: 5}), 128, programs=lambda place: 69 if 69 <= place <= 76 else place
    )
    (one,) = found.culprits
    assert one.upto == 77
    same = find_steps(made(8, {}), 8, programs=lambda _: "one")
    assert (same.answer, same.sessions) == ("no-difference", 0)


@pytest.mark.parametrize(("new", "said"), [(110, "has 10 % more"), (100, "has the same")])
def test_counts_that_do_not_vary_have_one_number_and_take_no_time(new: int, said: str) -> None:
    found = find_steps(
        lambda places: {place: math.log(new if place >= 3 else 100) for place in places},
        4,
        unit="count",
    )
    assert found.answer == ("proven" if new > 100 else "no-difference")
    for one in (found.first, *found.culprits):
        assert [one.speedup, one.low, one.high] == pytest.approx([100 / new] * 3)
    assert f"place 4 {said} (count)" in str(found)
    assert "time" not in str(found)


def test_sessions_max_ends_the_search_and_says_what_is_left() -> None:
    found = find_steps(made(128, {77: 2}, sd=0.02), 128, sessions_max=30)
    assert found.sessions == 30
    assert found.answer in {"undecided", "partly"}
    assert found.exit_code == 7
    for one in found.open:
        assert one.after < 77 <= one.upto
        assert one.why == "sessions spent"


@pytest.mark.parametrize(
    "wrong",
    [
        {"looks": ()},
        {"looks": (6, 6)},
        {"looks": (1, 6)},
        {"risk": 0.0},
        {"risk": 1.0},
        {"stop": 0.4},
        {"margin": -0.1},
        {"margin": math.nan},
        {"sessions_max": 0},
    ],
)
def test_numbers_outside_of_their_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        find_steps(made(8, {5: 5}), 8, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        find_steps(made(8, {5: 5}), 0)


def test_an_infinite_value_is_an_error() -> None:
    with pytest.raises(AnalysisError, match="place 0 is infinite"):
        find_steps(lambda places: dict.fromkeys(places, math.inf), 8)


# ---- What a watched search tells. Authority: the public search of the same values, and what was measured.


class Heard:
    """A watcher that keeps all."""

    def __init__(self) -> None:
        self.phases: list[Phase] = []
        self.sessions: list[tuple[Phase, tuple[int, ...], Posterior | None]] = []
        self.words: list[tuple[Phase, PairWord]] = []
        self.out: list[int] = []

    def phase(self, phase: Phase) -> None:
        self.phases.append(phase)

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        assert set(values) <= set(places)
        self.sessions.append((self.phases[-1], places, posterior))

    def word(self, phase: Phase, word: PairWord) -> None:
        self.words.append((phase, word))

    def skipped(self, place: int) -> None:
        self.out.append(place)


def test_each_session_has_its_phase_and_each_look_its_word() -> None:
    heard = Heard()
    found = Search(made(64, {20: 5, 45: 4}), 64, watcher=heard).result()
    assert [places for _, places, _ in heard.sessions] == list(found.measured)
    assert heard.phases[0] == Phase(kind="step0", lower=0, upper=64, level=0.05, places=(0, 64))
    assert [one.kind for one in heard.phases[:2]] == ["step0", "search"]
    for phase, places, posterior in heard.sessions:
        assert set(phase.places) <= set(places)
        if phase.kind == "search":
            assert posterior is not None
            assert (posterior.lower, posterior.upper) == (phase.lower, phase.upper)
            assert len(set(places) - set(phase.places)) == 1
        else:
            assert posterior is None
            assert places == phase.places
    proofs = [one for one in heard.phases if one.kind == "proof"]
    assert [one.number for one in proofs] == list(range(1, len(proofs) + 1))
    assert [one.level for one in proofs] == [0.05 * 2.0**-k for k in range(len(proofs))]
    last = {one.number: word for one, word in heard.words if one.kind == "proof"}
    for culprit in found.culprits:
        assert last[culprit.proof].speedup == culprit.speedup
        phase = proofs[culprit.proof - 1]
        assert (phase.lower, phase.upper) == (culprit.after, culprit.upto)


def test_a_watcher_changes_nothing_and_hears_of_each_skipped_place_once() -> None:
    fails = {33, 34, 35}
    heard = Heard()
    watched = Search(made(64, {40: 5}, fails=fails), 64, watcher=heard).result()
    alone = find_steps(made(64, {40: 5}, fails=fails), 64)
    assert watched.to_dict() == alone.to_dict()
    assert sorted(heard.out) == list(alone.skipped)
    unbuilt = Heard()
    search = Search(
        made(64, {40: 5}), 64, watcher=unbuilt, builds=lambda place: place not in (32, 48)
    )
    found = search.result()
    assert sorted(unbuilt.out) == list(found.skipped)


# ---- The posterior of one step. Authority: weighted least squares by numpy, and numerical integration.


RNG = np.random.default_rng(20261127)


def sessions(
    lower: int, upper: int, step: int, size: float, probes: list[int]
) -> list[dict[int, float]]:
    found = []
    for probe in probes:
        shift = RNG.normal(0, 0.05)
        places = {lower, upper, probe}
        found.append({k: shift + size * (k >= step) + RNG.normal(0, 0.01) for k in sorted(places)})
    return found


def rows(
    data: list[dict[int, float]], lower: int, upper: int
) -> list[tuple[float, float, int | None]]:
    """Give value, variance over v and place of each D (None) and m."""
    found: list[tuple[float, float, int | None]] = []
    for one in data:
        found.append((one[upper] - one[lower], 2.0, None))
        centre = (one[upper] + one[lower]) / 2
        found += [(y - centre, 1.5, k) for k, y in one.items() if lower < k < upper]
    return found


def design(place: int | None, k: int) -> float:
    return 1.0 if place is None else (0.5 if place >= k else -0.5)


def test_probabilities_are_those_of_weighted_least_squares() -> None:
    data = sessions(0, 9, 6, 0.02, [0, 0, 4, 7, 5, 6, 5])
    found = posterior_of(data, 0, 9, np.ones(9))
    weights = []
    for k in range(1, 10):
        y, var, place = (np.array(column) for column in zip(*rows(data, 0, 9), strict=True))
        x = np.array([design(one, k) for one in place])
        scale = 1 / np.sqrt(var.astype(float))
        _, residual, *_ = np.linalg.lstsq((x * scale)[:, None], y * scale, rcond=None)
        weights.append(float(residual[0]) ** (-(y.size - 1) / 2))
    expected = np.array(weights) / sum(weights)
    assert found.probability == pytest.approx(expected, rel=1e-9)
    assert found.probability.sum() == pytest.approx(1.0)
    assert found.of(found.likeliest) == found.probability.max()
    assert found.slow_already(9) == pytest.approx(1.0)
    assert found.slow_already(5) == pytest.approx(expected[:5].sum())


def test_formula_two_is_the_integral_over_size_and_variance() -> None:
    # authority: the likelihood with flat priors on d and log v, integrated numerically
    data = sessions(0, 3, 2, 0.02, [0, 1, 2, 1])
    found = posterior_of(data, 0, 3, np.ones(3))
    table = rows(data, 0, 3)

    def integral(k: int) -> float:
        def likelihood(log_v: float, d: float) -> float:
            v = math.exp(log_v)
            total = 0.0
            for y, var, place in table:
                total += -0.5 * math.log(v) - (y - d * design(place, k)) ** 2 / (2 * var * v)
            return math.exp(total - 20.0)

        return float(dblquad(likelihood, -0.3, 0.3, math.log(1e-6), math.log(1.0), epsrel=1e-5)[0])

    whole = [integral(k) for k in (1, 2, 3)]
    assert found.probability == pytest.approx(np.array(whole) / sum(whole), rel=2e-3)


def test_a_weight_counts_the_places_that_cannot_be_measured() -> None:
    data = sessions(0, 4, 2, 0.02, [0, 0, 0])
    found = posterior_of(data, 0, 4, np.array([1.0, 0.0, 2.0, 1.0]))
    assert found.probability == pytest.approx([0.25, 0.0, 0.5, 0.25])


def test_what_moves_a_whole_session_moves_nothing() -> None:
    data = sessions(0, 9, 6, 0.02, [3, 6, 5, 6])
    moved = [{k: y + shift for k, y in one.items()} for shift, one in enumerate(data)]
    a, b = (posterior_of(one, 0, 9, np.ones(9)).probability for one in (data, moved))
    assert a == pytest.approx(b, rel=1e-6)


def test_the_shortest_run_of_places() -> None:
    found = posterior_of([], 0, 4, np.array([1.0, 5.0, 3.0, 1.0]))
    assert found.shortest(0.8) == (2, 3, pytest.approx(0.8))
    assert found.shortest(0.95)[:2] == (1, 4)


def test_a_place_between_two_steps_is_told_from_one_beside_a_step() -> None:
    base = {0: 0.0, 10: 0.10}
    noise = [0.001, -0.001, 0.0005, -0.0005] * 3
    between = [{**base, 5: 0.05 + e, 10: 0.10 - e} for e in noise]
    beside = [{**base, 5: 0.10 + e, 10: 0.10 - e} for e in noise]
    for data, answer in ((between, True), (beside, False)):
        found = posterior_of(data, 0, 10, np.ones(10))
        assert found.between(5, 10, 0.01, 3.0) is answer
    assert not posterior_of(between[:2], 0, 10, np.ones(10)).between(5, 10, 0.01, 3.0)
