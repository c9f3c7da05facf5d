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


WIDE = (28.0, 31.0, 33.0, 27.0, 30.0, 31.5)
SYSTEM = timed(BASE_MS, SLOW_MS, system=0.25)
BUSY = explained(F, G, trial=timed(BASE_MS, SLOW_MS, waits_ms=(-14.0, -15.0)))
NEW = explained(steady(sort=80), steady(keys=40, sort=60))


def of_unknown(*names: str, samples: int = 80, more: int = 10) -> Why:
    """Explain two variants of which a function without a name takes so many samples of 100, and more of the other."""
    sides = (
        steady(**{f"[unknown]/{file}": n, f"sort/{file}": 100 - n})
        for file, n in zip(names, (samples, samples + more), strict=True)
    )
    return explained(*sides)


@pytest.mark.parametrize(
    ("told", "code", "begin"),
    [
        (
            explained(F[:3], G[:3], BASE_MS[:3], SLOW_MS[:3]),
            "few-sessions",
            "3 sessions: from 4 on functions are named",
        ),
        (
            explained([{"f": 20}] * 6, [{"f": 30}] * 6),
            "few-samples",
            "120 samples of a variant: from 200 on",
        ),
        (
            explained(F, G, WIDE, WIDE[::-1]),
            "total-not-resolved",
            "no function is shown, because the whole difference did not appear in these sessions (--any",
        ),
        (
            explained(F, G, trial=SYSTEM, kernel="not-seen: perf_event_paranoid is 2"),
            "kernel-not-seen",
            "kernel time was not seen (perf_event_paranoid is 2): 7.53 and 8.57 ms a run stand in one row",
        ),
        (explained(F, [G[0], {"cmp": 0}, *G[2:]]), "sessions-left-out", "session 2 left out"),
        (explained(F, G, more={"lost": 4}), "samples-lost", "the kernel lost 24 samples"),
        (BUSY, "several-cpus", "v0 works on several CPUs"),
        (of_unknown("blob", "blob"), "no-symbols", "blob has no symbols"),
        (of_unknown("old", "new"), "no-symbols", "the program has no symbols"),
        (
            explained(steady(_ZN3foo3barEi=20, sort=80), steady(_ZN3foo3barEi=40, sort=60)),
            "mangled-names",
            "1 name as the compiler wrote it",
        ),
        (
            explained(F, G, asked={"renames": {"a": "b"}}),
            "rename-unused",
            "neither name of a=b has a sample in b0",
        ),
        (
            explained(steady(cmp=20, sort=80), steady(keys=40, sort=60)),
            "only-in-one",
            "gone: cmp (app); new: keys (app). If one was renamed into the other, say so: --rename OLD=NEW",
        ),
        (
            whole_answer(),
            "opposite-rows",
            "qsort_cmp (app) and msort_with_tmp (libc) have opposite signs: ",
        ),
    ],
)
def test_each_is_told_where_it_belongs(told, code, begin):
    assert texts(told)[code].startswith(begin)


@pytest.mark.parametrize(
    ("told", "code"),
    [
        (explained(F, G, WIDE, WIDE[::-1], asked={"any_total": True}), "total-not-resolved"),
        (explained(F, G, trial=SYSTEM), "kernel-not-seen"),
        (of_unknown("blob", "blob", samples=5, more=1), "no-symbols"),
        (NEW, "only-in-one"),
    ],
)
def test_where_it_does_not_hold_it_is_not_told(told, code):  # negative controls
    assert code not in texts(told)


def test_what_is_new_and_what_has_no_name_is_told_in_clear_words():
    assert NEW.new == ("keys (app)",)
    assert BUSY.story is None  # it does not wait
    sentence = of_unknown("blob", "blob").sentence
    assert sentence.split("; ")[1].startswith("code without symbols +")


def test_an_interpreter_that_perf_cannot_see_is_named():
    why = {"b0/v1": "not-seen: Python 3.11 has no trampoline", "b0/v0": "python-frames"}
    told = explained(F, G, runtimes=why)
    (one,) = (one for one in told.cautions if one.code == "interpreter-not-seen")
    assert one.about == ("v1",)
    assert one.text.endswith("Python 3.11 has no trampoline")
