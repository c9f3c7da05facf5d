"""The search for steps. Authority: made places whose steps are known, scipy's t, and the definition's numbers."""

import json
import math
from collections.abc import Callable, Collection, Mapping

import numpy as np
import pytest
from scipy.stats import ttest_rel

from analysis import find_steps
from analysis.errors import AnalysisError, UsageError

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


def test_the_same_values_give_the_same_sessions_and_the_same_answer() -> None:
    stored: list[tuple[tuple[int, ...], Mapping[int, float]]] = []
    measure = made(64, {20: 2})

    def recorded(places: tuple[int, ...]) -> Mapping[int, float]:
        stored.append((places, measure(places)))
        return stored[-1][1]

    whole = find_steps(recorded, 64)
    played = iter(stored)

    def again(places: tuple[int, ...]) -> Mapping[int, float]:
        wanted, values = next(played)
        assert places == wanted
        return values

    assert find_steps(again, 64).to_dict() == whole.to_dict()
    assert next(played, None) is None


def test_what_measure_raises_passes() -> None:
    def broken(places: tuple[int, ...]) -> Mapping[int, float]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_steps(broken, 4)


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
