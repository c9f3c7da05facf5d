"""What a reader is told beside the rows: each caution where it belongs, and not where it does not.

Authority: docs/why.md and the list of docs/json.md.
"""

import pytest

from analysis.diagnose.why_result import Why
from analysis.record.profiles import JudgedThen
from tests.unit.analysis.why.made_profiles import timed
from tests.unit.analysis.why.test_explain import BASE_MS, SLOW_MS, explained, steady
from tests.unit.analysis.why.whole_answer import whole_answer

F, G = steady(cmp=20, sort=80), steady(cmp=40, sort=60)


def texts(told: Why) -> dict[str, str]:
    return {one.code: one.text for one in told.cautions}


def test_where_all_is_well_nothing_is_said():
    assert explained(steady(cmp=20, sort=80), steady(cmp=30, sort=90)).cautions == ()


def test_few_sessions_and_few_samples_are_told():
    few = explained(F[:3], G[:3], BASE_MS[:3], SLOW_MS[:3])
    assert texts(few)["few-sessions"] == "3 sessions: from 4 on functions are named"
    thin = explained([{"f": 20}] * 6, [{"f": 30}] * 6)
    assert texts(thin).keys() == {"few-samples"}
    assert texts(thin)["few-samples"].startswith("120 samples of a variant")


def test_a_total_that_did_not_appear_again_is_told():
    wide = (28.0, 31.0, 33.0, 27.0, 30.0, 31.5)
    said = texts(explained(F, G, wide, wide[::-1]))
    assert said.keys() == {"total-not-resolved"}
    assert "--any" in said["total-not-resolved"]
    assert "total-not-resolved" not in texts(
        explained(F, G, wide, wide[::-1], asked={"any_total": True})
    )


def was(outcome: str, metric: str) -> dict[str, object]:
    told = JudgedThen(outcome=outcome, speedup=0.9, low=0.85, high=0.95, metric=metric)
    return {"verdict_was": {"b0": told}}


@pytest.mark.parametrize(
    ("outcome", "metric", "code"),
    [
        ("slower", "wall", None),
        ("slower", "user", None),
        ("slower", "max_rss", "judged-otherwise"),
        ("slower", "requests", "judged-otherwise"),
        ("faster", "wall", "verdict-differs"),
        ("equivalent", "wall", None),
    ],
)
def test_what_was_judged_is_held_against_what_is_explained(outcome, metric, code):
    said = texts(explained(F, steady(cmp=30, sort=90), **was(outcome, metric)))
    assert said.keys() - {"opposite-rows"} == ({code} - {None})
    if code == "judged-otherwise":
        assert (
            said[code]
            == f"the verdict is about {metric}; what is explained here is time on the CPU"
        )


def test_kernel_time_that_was_not_seen_is_told_with_its_size():
    trial = timed(BASE_MS, SLOW_MS, system=0.25)
    told = explained(F, G, trial=trial, kernel="not-seen: perf_event_paranoid is 2")
    assert texts(told)["kernel-not-seen"] == (
        "kernel time was not seen (perf_event_paranoid is 2): 7.53 and 8.57 ms a run stand in one row"
    )
    assert "kernel-not-seen" not in texts(explained(F, G, trial=trial))


def test_sessions_that_are_left_out_are_named():
    slow = [*G]
    slow[1] = {"cmp": 0}
    assert texts(explained(F, slow))["sessions-left-out"].startswith("session 2 left out")


def test_lost_samples_are_counted_once_a_session():
    told = explained(F, G, more={"lost": 4})
    assert texts(told)["samples-lost"].startswith("the kernel lost 24 samples")


def test_an_interpreter_that_perf_cannot_see_is_named():
    why = {"b0/v1": "not-seen: Python 3.11 has no trampoline", "b0/v0": "python-frames"}
    told = explained(F, G, runtimes=why)
    (one,) = (one for one in told.cautions if one.code == "interpreter-not-seen")
    assert one.about == ("v1",)
    assert one.text.endswith("Python 3.11 has no trampoline")


def test_a_program_on_several_processors_does_not_wait():
    trial = timed(BASE_MS, SLOW_MS, waits_ms=(-14.0, -15.0))
    told = explained(F, G, trial=trial)
    assert "several CPUs" in texts(told)["several-cpus"]
    assert told.story is None


def test_a_stripped_program_is_told_in_clear_words():
    base, slow = (
        steady(**{"[unknown]/blob": 80, "sort": 20}),
        steady(**{"[unknown]/blob": 90, "sort": 10}),
    )
    assert texts(explained(base, slow))["no-symbols"].startswith("blob has no symbols")
    assert explained(base, slow).sentence.split("; ")[1].startswith("code without symbols +")
    two = (
        steady(**{"[unknown]/old": 80, "sort/old": 20}),
        steady(**{"[unknown]/new": 90, "sort/new": 10}),
    )
    assert texts(explained(*two))["no-symbols"].startswith("the program has no symbols")
    few = steady(**{"[unknown]/blob": 5, "sort": 95}), steady(**{"[unknown]/blob": 6, "sort": 94})
    assert "no-symbols" not in texts(explained(*few))


def test_names_that_stay_mangled_are_counted():
    told = explained(steady(_ZN3foo3barEi=20, sort=80), steady(_ZN3foo3barEi=40, sort=60))
    assert texts(told)["mangled-names"].startswith("1 name as the compiler wrote it")


def test_a_rename_that_nobody_needs_is_told():
    told = explained(F, G, asked={"renames": {"a": "b"}})
    assert texts(told)["rename-unused"] == "neither name of a=b has a sample in b0"


def test_pairs_are_offered_and_not_guessed():
    told = explained(steady(cmp=20, sort=80), steady(keys=40, sort=60))
    assert texts(told)["only-in-one"] == (
        "gone: cmp (app); new: keys (app). If one was renamed into the other, say so: --rename OLD=NEW"
    )
    only_new = explained(steady(sort=80), steady(keys=40, sort=60))
    assert only_new.new == ("keys (app)",)
    assert "only-in-one" not in texts(only_new)


def test_rows_that_are_a_sum_are_told_with_it():
    said = texts(whole_answer())["opposite-rows"]
    assert said.startswith("qsort_cmp (app) and msort_with_tmp (libc) have opposite signs: ")
    assert "ms [" in said
