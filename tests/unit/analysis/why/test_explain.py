"""From a stored profile to its answer: rows, their family, what is withheld, pairs, sums.

Authority: docs/why.md, "How it is computed"; times are planted, so that each row is known.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.diagnose.explain import explain
from analysis.diagnose.why_result import Why
from analysis.errors import InsufficientDataError, UsageError
from analysis.record.profiles import SampledChain
from tests.examples import examples
from tests.unit.analysis.why.made_profiles import cell, drawn, stored, timed

BASE_MS = (30.0, 30.4, 29.8, 30.1, 30.6, 29.9)
SLOW_MS = (34.1, 34.6, 33.8, 34.0, 34.9, 34.2)


def steady(sessions: int = 6, **counts: int) -> list[dict[str, int]]:
    """Give nearly the same counts in all sessions: those that differ by one are another function each time."""
    found = []
    names = list(counts)
    for k in range(sessions):
        one = dict(counts)
        one[names[k % len(names)]] += 1
        found.append(one)
    return found


def explained(
    base, slow, base_ms=BASE_MS, slow_ms=SLOW_MS, *, asked=None, trial=None, **head
) -> Why:
    trial = timed(base_ms, slow_ms) if trial is None else trial
    return explain(stored(base, slow, **head), timed=trial, benchmark="b0", **(asked or {}))


def row(told: Why, name: str):
    return next(one for one in told.rows if one.name == name)


def test_a_functions_time_is_its_share_of_the_samples_times_the_time_on_the_processors():
    base, slow = steady(cmp=20, sort=80), steady(cmp=40, sort=60)
    told = explained(base, slow)
    before = [one["cmp"] / 101 * ms for one, ms in zip(base, BASE_MS, strict=True)]
    after = [one["cmp"] / 101 * ms for one, ms in zip(slow, SLOW_MS, strict=True)]
    found = row(told, "cmp (app)")
    assert found.baseline_ms == pytest.approx(np.mean(before), rel=1e-12)
    assert found.candidate_ms == pytest.approx(np.mean(after), rel=1e-12)
    # these sessions vary less than counting whole samples allows: see test_intervals
    steps = [
        3 / 6 * ((b / 101) ** 2 + (a / 101) ** 2) for b, a in zip(BASE_MS, SLOW_MS, strict=True)
    ]
    error = np.sqrt(np.mean(steps) / 6)
    assert np.var(np.subtract(after, before), ddof=1) < np.mean(steps)
    assert found.pvalue == pytest.approx(2 * stats.t.sf(found.difference_ms / error, 5), rel=1e-9)
    assert found.named
    assert told.total.difference_ms == pytest.approx(np.mean(SLOW_MS) - np.mean(BASE_MS), rel=1e-12)
    assert (told.sessions, told.family) == (6, 2)
    assert (told.samples_baseline, told.samples_candidate) == (606, 606)
    assert told.withheld is None


def test_functions_below_one_per_cent_in_both_are_one_row():
    told = explained(
        steady(sort=9000, cmp=900, tiny=60, rare=40, grows=20),
        steady(sort=9000, cmp=900, tiny=60, rare=40, grows=200),
    )
    assert {one.function for one in told.rows} == {"sort", "cmp", "grows"}
    assert told.further == 2
    assert told.others is not None
    assert told.others.object == ""
    assert told.family == 4


def test_names_are_withheld_where_the_total_did_not_appear():
    base, slow = steady(cmp=20, sort=80), steady(cmp=40, sort=60)
    wide = (28.0, 31.0, 33.0, 27.0, 30.0, 31.5)
    told = explained(base, slow, wide, wide[::-1])
    assert told.withheld == "total-not-resolved"
    assert told.rows == ()
    assert told.others is None
    shown = explained(base, slow, wide, wide[::-1], asked={"any_total": True})
    assert shown.withheld is None
    assert row(shown, "cmp (app)").named


@pytest.mark.parametrize(
    ("sessions", "samples", "withheld"),
    [(3, 1000, "few-sessions"), (4, 1000, None), (6, 33, "few-samples"), (6, 34, None)],
)
def test_of_few_sessions_or_samples_nothing_is_named(sessions, samples, withheld):
    base = [{"cmp": samples // 10, "sort": samples - samples // 10}] * sessions
    slow = [{"cmp": samples // 2, "sort": samples - samples // 2}] * sessions
    told = explained(base, slow, BASE_MS[:sessions], SLOW_MS[:sessions])
    assert told.withheld == withheld
    assert told.rows
    assert any(one.named for one in told.rows) == (withheld is None)


def test_one_session_has_rows_without_intervals():
    told = explained([{"f": 500}], [{"f": 600}], (30.0,), (40.0,), asked={"any_total": True})
    (only,) = told.rows
    assert only.difference_ms == pytest.approx(10.0)
    assert (only.low_ms, only.high_ms, only.pvalue) == (None, None, None)
    assert told.withheld == "few-sessions"
    assert explained([{"f": 500}], [{"f": 600}], (30.0,), (40.0,)).withheld == "total-not-resolved"


def test_waiting_for_a_processor_is_told_from_sleep_where_the_kernel_says_it():
    trial = timed(
        BASE_MS,
        SLOW_MS,
        waits_ms=(2.0, 7.0),
        run_delay_ns=(0.5e6, 4e6),
        launcher_delay_ns=(0.1e6, 0.1e6),
        launcher_on_cpu_ns=(0.05e6, 0.05e6),
    )
    told = explained(steady(f=100), steady(f=100), trial=trial)
    assert told.cpu_wait is not None
    assert told.asleep is not None
    assert told.cpu_wait.difference_ms == pytest.approx(3.5, abs=1e-9)
    both = told.asleep.difference_ms + told.cpu_wait.difference_ms
    assert both == pytest.approx(told.off_cpu.difference_ms, abs=1e-9)


def test_shares_are_of_user_time_where_the_kernel_was_not_seen():
    trial = timed(BASE_MS, SLOW_MS, system=0.25)
    told = explained(
        steady(f=100), steady(f=100), trial=trial, kernel="not-seen: perf_event_paranoid is 2"
    )
    (only,) = told.rows
    assert only.baseline_ms == pytest.approx(0.75 * np.mean(BASE_MS))
    assert told.kernel_not_seen is not None
    assert told.kernel_not_seen.candidate_ms == pytest.approx(0.25 * np.mean(SLOW_MS))
    assert told.family == 2
    assert told.kernel_not_seen.pvalue_adjusted is not None


def test_sessions_without_samples_or_runs_are_left_out():
    base, slow = steady(f=100), steady(f=100)
    slow[2] = {"f": 0}
    told = explained(base, slow)
    assert told.sessions == 5
    trial = timed(BASE_MS, SLOW_MS)
    lost = np.where((trial.session == 5) & (trial.variant == 0), 1, trial.outcome)
    told = explained(base, slow, trial=replace(trial, outcome=lost))
    assert told.sessions == 4
    kept = [0, 1, 3, 5]
    assert told.total.baseline_ms == pytest.approx(np.mean([BASE_MS[k] for k in kept]))


def test_without_any_session_it_is_an_error():
    with pytest.raises(InsufficientDataError, match="no session of the profile has samples"):
        explained([{"f": 0}], [{"f": 1}], (30.0,), (31.0,))


def test_what_the_profile_does_not_have_is_refused():
    with pytest.raises(UsageError, match="known here: b0"):
        explain(stored([{"f": 1}], [{"f": 1}]), timed=timed((1.0,), (1.0,)), benchmark="b7")


def test_functions_that_one_variant_alone_has_are_gone_and_new():
    told = explained(steady(cmp=20, sort=80), steady(compare_keys=40, sort=60))
    assert told.gone == ("cmp (app)",)
    assert told.new == ("compare_keys (app)",)
    assert [one.presence for one in told.rows if one.function == "sort"] == ["both"]


@pytest.mark.parametrize(("sessions", "gone"), [(6, ()), (7, ("g (app)",))])
def test_what_chance_may_leave_out_is_not_gone(sessions, gone):
    # 1 of 50 in each session of one variant: so many are expected in the other
    few, times = [{"f": 49, "g": 1}] * sessions, [30.0 + 0.1 * k for k in range(sessions)]
    asked = {"any_total": True}
    told = explained(few, [{"f": 50}] * sessions, times, times, asked=asked)
    assert (told.gone, told.new) == (gone, ())
    back = explained([{"f": 50}] * sessions, few, times, times, asked=asked)
    assert (back.gone, back.new) == ((), gone)


@pytest.mark.parametrize(("samples", "rows"), [(9, {"f"}), (10, {"f", "g"})])
def test_one_per_cent_in_either_variant_is_a_row(samples, rows):
    base, slow = [{"f": 1000}] * 6, [{"f": 1000 - samples, "g": samples}] * 6
    for pair in ((base, slow), (slow, base)):
        told = explained(*pair, asked={"any_total": True})
        assert {one.function for one in told.rows} == rows


def test_a_rename_makes_one_function_of_two():
    base, slow = steady(cmp=20, sort=80), steady(compare_keys=40, sort=60)
    told = explained(base, slow, asked={"renames": {"cmp": "compare_keys"}})
    found = row(told, "compare_keys (app)")
    assert found.was == "cmp"
    assert found.presence == "both"
    plain = explained(base, steady(cmp=40, sort=60))
    assert found.difference_ms == pytest.approx(row(plain, "cmp (app)").difference_ms)
    assert told.gone == () == told.new


def test_a_rename_finds_the_file_to_which_a_function_moved():
    base, slow = (
        steady(**{"cmp/app": 20, "sort": 80}),
        steady(**{"keys/libkeys.so.1": 40, "sort": 60}),
    )
    told = explained(base, slow, asked={"renames": {"cmp": "keys"}})
    assert row(told, "keys (libkeys)").was == "cmp"


@pytest.mark.parametrize(
    ("renames", "words"),
    [
        ({"cmq": "compare_keys"}, "no sample of the baseline is in a function 'cmq'"),
        ({"cmp": "compare"}, "no sample of the candidate is in a function 'compare'"),
        ({"sort": "compare_keys"}, "'sort' is not renamed"),
    ],
)
def test_a_rename_that_does_not_fit_is_refused(renames, words):
    with pytest.raises(UsageError, match=words):
        explained(
            steady(cmp=20, sort=80), steady(compare_keys=40, sort=60), asked={"renames": renames}
        )


def test_rows_of_opposite_signs_are_told_with_their_sum():
    base, slow = steady(cmp=20, sort=40, main=40), steady(cmp=45, sort=20, main=35)
    told = explained(base, slow, (30.0, 30.4, 29.8, 30.1, 30.6, 29.9), SLOW_MS)
    (pair,) = (one for one in told.opposite if "sort (app)" in one.rows)
    assert pair.rows == ("cmp (app)", "sort (app)")
    both = row(told, "cmp (app)").difference_ms + row(told, "sort (app)").difference_ms
    assert pair.difference_ms == pytest.approx(both)
    assert pair.in_one_chain is None
    assert pair.low_ms < both < pair.high_ms


@pytest.mark.parametrize(("calls", "told"), [(True, True), (False, False)])
def test_with_chains_only_callers_and_called_are_a_sum(calls, told):
    base, slow = steady(cmp=20, sort=40, main=40), steady(cmp=45, sort=20, main=35)
    profile = stored(base, slow, chains="fp")
    frames = (1, 0) if calls else (2, 0)  # sort or main calls cmp
    cells = tuple(
        replace(one, chains=(SampledChain(frames=frames, samples=one.samples),))
        for one in profile.cells
    )
    answer = explain(replace(profile, cells=cells), timed=timed(BASE_MS, SLOW_MS), benchmark="b0")
    pairs = [one for one in answer.opposite if one.rows == ("cmp (app)", "sort (app)")]
    assert bool(pairs) == told
    assert all(one.in_one_chain for one in pairs)


def test_a_renamed_pair_is_no_moved_cost():
    told = explained(steady(cmp=20, sort=80), steady(compare_keys=40, sort=60))
    assert not any({"cmp (app)", "compare_keys (app)"} <= set(one.rows) for one in told.opposite)


@st.composite
def made(draw):
    """Give counts of both variants and their times."""
    sessions = draw(st.integers(2, 6))
    functions = draw(st.integers(1, 8))
    counts = st.lists(st.integers(0, 200), min_size=functions, max_size=functions)
    sides = [
        [{f"f{k}": n + (k == 0) for k, n in enumerate(draw(counts))} for _ in range(sessions)]
        for _ in range(2)
    ]
    ms = st.lists(st.floats(1.0, 100.0), min_size=sessions, max_size=sessions)
    return *sides, draw(ms), draw(ms)


def numbers(told: Why) -> list[tuple[object, ...]]:
    return [
        (one.difference_ms, one.low_ms, one.high_ms, one.pvalue, one.pvalue_adjusted, one.named)
        for one in told.rows
    ]


@settings(max_examples=examples(60), deadline=None)
@given(made(), st.booleans())
def test_rows_and_others_add_up_to_the_total(given_, seen):
    base, slow, base_ms, slow_ms = given_
    told = explained(
        base, slow, base_ms, slow_ms,
        asked={"any_total": True}, kernel="seen" if seen else "not-seen: why",
    )  # fmt: skip
    parts = [*told.rows, told.others, told.kernel_not_seen]
    for key in ("baseline_ms", "candidate_ms", "difference_ms"):
        whole = sum(getattr(one, key) for one in parts if one is not None)
        assert whole == pytest.approx(getattr(told.total, key), abs=1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(made(), st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_names_of_functions_matter(given_, random):
    base, slow, base_ms, slow_ms = given_
    asked = {"any_total": True}
    told = explained(base, slow, base_ms, slow_ms, asked=asked)

    def shuffled(one):
        names = list(one)
        random.shuffle(names)
        return {name: one[name] for name in names}

    again = explained([*map(shuffled, base)], [*map(shuffled, slow)], base_ms, slow_ms, asked=asked)
    assert again.rows == told.rows
    # a name that keeps the order of names, which only decides between equal rows
    renamed = [
        [{f"other_{name}": n for name, n in one.items()} for one in side] for side in (base, slow)
    ]
    other = explained(*renamed, base_ms, slow_ms, asked=asked)
    assert numbers(other) == numbers(told)
    # what compilers append is no name
    parts = [{f"{name}.isra.{k}": n for name, n in one.items()} for k, one in enumerate(base)]
    assert explained(parts, slow, base_ms, slow_ms, asked=asked).rows == told.rows


@settings(max_examples=examples(40), deadline=None)
@given(made())
def test_exchanged_variants_change_the_signs_alone(given_):
    base, slow, base_ms, slow_ms = given_
    asked = {"any_total": True}
    told = explained(base, slow, base_ms, slow_ms, asked=asked)
    back = explained(slow, base, slow_ms, base_ms, asked=asked)
    by_name = {one.name: one for one in back.rows}
    for one in told.rows:
        other = by_name[one.name]
        assert other.difference_ms == pytest.approx(-one.difference_ms, abs=1e-9)
        assert other.low_ms == pytest.approx(-one.high_ms, abs=1e-9)
        assert other.pvalue == pytest.approx(one.pvalue, abs=1e-9)


def test_a_planted_function_is_the_first_row():
    rng = np.random.default_rng(3)
    shares = np.array([10.0, 5, 5, 4, 3, 2, 1])
    slower = shares + np.array([0.0, 0, 4, 0, 0, 0, 0])
    base, slow = drawn(rng, shares, slower, samples=400)
    base_ms = 30 + 0.3 * rng.standard_normal(6)
    slow_ms = 34 + 0.3 * rng.standard_normal(6)
    told = explained(base, slow, base_ms, slow_ms)
    assert told.rows[0].name == "f2 (app)"
    assert told.rows[0].named
    assert told.rows[0].difference_ms == pytest.approx(4.0, abs=1.5)
    assert cell(1, "v0", base[0]).samples == 400


def test_what_a_service_used_is_told_beside_the_functions_and_numbers_of_builds_are_not():
    base, slow = np.array(BASE_MS), np.array(SLOW_MS)
    named = {"service.s.cpu": "services", "build_seconds": "builds", "size": None, "latency": None}
    trial = timed(base, slow, metrics=dict.fromkeys(named, (base, slow)))
    about = {
        name: {**trial.manifest.metrics[name], **({} if source is None else {"source": source})}
        for name, source in named.items()
    }
    about["size"] = {**about["size"], "when": "build"}
    trial = replace(trial, manifest=replace(trial.manifest, metrics=about))
    told = explained(steady(cmp=20, sort=80), steady(cmp=40, sort=60), trial=trial)
    names = {one.metric for one in told.counters}
    assert {"service.s.cpu", "latency"} <= names
    assert not names & {"build_seconds", "size"}
