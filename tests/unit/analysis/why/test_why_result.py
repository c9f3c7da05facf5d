"""The screen of `why`. Authority: docs/why.md, "Reading the answer"; 80 columns, three notes, one next command."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from analysis.commands.why import exit_code_of
from analysis.diagnose.why_result import Row, Why, WhyAnswer, milliseconds, sentence_of, signed
from analysis.record.profiles import JudgedThen
from tests.examples import examples
from tests.unit.analysis.why.made_profiles import timed
from tests.unit.analysis.why.test_explain import BASE_MS, SLOW_MS, explained, steady
from tests.unit.analysis.why.whole_answer import whole_answer

WIDE = (28.0, 31.0, 33.0, 27.0, 30.0, 31.5)
F, G = steady(cmp=20, sort=80), steady(cmp=40, sort=60)


def cells(told: object, start: str) -> list[str]:
    """Give the words of the line of a table that begins so."""
    (line,) = (one for one in str(told).splitlines() if one.strip().startswith(start))
    return line.split()


def test_what_did_not_appear_again_shows_no_function():
    told = explained(F, G, WIDE, WIDE[::-1])
    said = str(told)
    assert said.startswith("b0: no difference of CPU time appeared in these sessions (")
    assert "cmp" not in said
    assert "* named" not in said
    assert said.splitlines()[-2:] == [
        "next  fairtrial why runs/t:v1 --benchmark b0 --sessions 12",
        "      more sessions, narrower intervals",
    ]
    shown = explained(F, G, WIDE, WIDE[::-1], asked={"any_total": True})
    assert str(shown).startswith("b0: a difference of CPU time is not resolved (")
    assert cells(shown, "cmp")[-1] == "*"


@pytest.mark.parametrize(
    ("told", "end", "command"),
    [
        (
            explained(F[:3], G[:3], BASE_MS[:3], SLOW_MS[:3]),
            "too few sessions to name functions",
            "fairtrial why runs/t:v1 --benchmark b0 --sessions 6",
        ),
        (
            explained([{"f": 20}] * 6, [{"f": 20}] * 6),
            "too few samples to name functions",
            "fairtrial why runs/t:v1 --benchmark b0 --sessions 12",
        ),
        (explained(F, G), "more", "fairtrial report runs/t -o report.html"),
        (
            explained(steady(cmp=20, sort=80), steady(keys=40, sort=60)),
            "more",
            "fairtrial why runs/t:v1 --benchmark b0 --stored --rename cmp=keys",
        ),
    ],
)
def test_each_answer_ends_with_what_to_do(told, end, command):
    assert told.sentence.endswith(end)
    assert told.next == command


def test_more_sessions_record_callers_as_these_did():
    told = replace(explained(F[:3], G[:3], BASE_MS[:3], SLOW_MS[:3]), chains="dwarf")
    assert told.next == "fairtrial why runs/t:v1 --benchmark b0 --chains dwarf --sessions 6"


def test_names_are_shortened_only_where_two_lines_do_not_hold_them():
    told = replace(explained(F, G), benchmark="command", variant="cand-planted", baseline="base-of")
    assert told.sentence.startswith(
        "command: cand-planted takes 4.1 ms more CPU time than base-of;"
    )
    assert "…" in replace(told, variant="v" * 200).sentence
    deep = "_PyEval_EvalFrameDefault/libpython3.11.so"
    told = explained(steady(**{deep: 20}, sort=80), steady(**{deep: 40}, sort=60))
    told = replace(told, variant="0005-9b851f5", baseline="0004-6b78a1a")
    assert cells(told, "_PyEval…")[-1] == "*"


def test_a_note_names_the_answer_that_it_is_about():
    told = [replace(whole_answer(), benchmark=name) for name in ("one", "two")]
    told = [replace(one, cautions=one.cautions[k : k + 1]) for k, one in enumerate(told)]
    notes = [
        line for line in str(WhyAnswer(answers=tuple(told))).splitlines() if line[:4] == "note"
    ]
    assert [line.split()[1] for line in notes] == ["one:", "two:"]


def test_nobody_is_sent_for_more_sessions_without_end():
    many = explained(
        steady(48, cmp=20, sort=80), steady(48, cmp=20, sort=80), WIDE * 8, WIDE[::-1] * 8
    )
    assert many.withheld == "total-not-resolved"
    assert many.next is None


def test_rows_beyond_eight_are_one_and_the_others_are_counted():
    counts = {f"f{k}": 10 for k in range(12)} | {f"tiny{k}": 0 for k in range(3)}
    thick = [{**one, "tiny0": 1} for one in steady(**counts)]
    told = explained(thick, thick, asked={"any_total": True})
    assert len(told.rows) > 8
    hidden = len(told.rows) - 8 + told.further
    assert cells(told, f"{hidden} others, none named")[-2:] == ["-", "-"]


def test_several_answers_begin_with_all_sentences():
    told = explained(F, G), explained(F, G, WIDE, WIDE[::-1])
    lines = str(WhyAnswer(answers=told)).splitlines()
    assert lines[:2] == [one.sentence for one in told]
    fits(whole_answer())
    alone = WhyAnswer(answers=told[:1])
    assert str(alone) == str(told[0])


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=60)


def fits(told: Why | WhyAnswer) -> None:
    assert len([line for line in str(told).splitlines() if line.startswith("note")]) <= 3
    for line in str(told).splitlines():
        words = line.split()
        assert len(line) <= 80 or line.startswith(("next", "note", "      ")) or len(words) == 1, (
            line
        )


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), NAMES, NAMES, st.floats(1e-3, 1e6))
def test_names_of_any_kind_fit(names, variant, benchmark, factor):
    base = [{name: 50 + k for name in names} for k in range(6)]
    told = explained(
        base, base, [factor * ms for ms in BASE_MS], [factor * ms for ms in SLOW_MS],
        asked={"any_total": True},
    )  # fmt: skip
    told = replace(told, variant=variant, benchmark=benchmark)
    fits(told)
    fits(WhyAnswer(answers=(told, told)))
    assert told.to_dict()["rows"]


# ---- How milliseconds are written, and which answer is which sentence. Authority: docs/why.md, "Reading the answer".


F, G = steady(cmp=20, sort=80), steady(cmp=40, sort=60)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (6.61, "6.6"),
        (9.96, "10"),
        (31.7, "32"),
        (1234.4, "1234"),
        (0.0954, "0.095"),
        (0.00099961, "0.0010"),
        (-2.07, "-2.1"),
    ],
)
def test_milliseconds_have_two_digits_and_whole_ones_all(value, text):
    assert milliseconds(value) == text
    assert signed(value) == (f"+{text}" if value > 0 else text)


def test_less_time_is_said_as_less():
    told = explained(
        G, F, (34.1, 34.6, 33.8, 34.0, 34.9, 34.2), (30.0, 30.4, 29.8, 30.1, 30.6, 29.9)
    )
    assert told.sentence.startswith("b0: v1 takes 4.1 ms less CPU time than v0; cmp -7.6 ms")


def test_the_head_names_what_costs_most_and_how_much_is_in_no_named_row():
    # by hand: the strongest evidence, which stands first, may be of a small part
    def told(*differences: float) -> str:
        rows = [
            Row(function=name, baseline_ms=1.0, candidate_ms=1.0 + ms, difference_ms=ms, named=True)
            for name, ms in zip(("lua_type", "lua_geti"), differences, strict=False)
        ]
        answer = explained(F, G)
        total = replace(answer.total, difference_ms=6.3)
        return replace(answer, rows=tuple(rows), others=None, total=total).sentence

    head = "b0: v1 takes 6.3 ms more CPU time than v0; "
    assert told(0.33, 1.5) == f"{head}lua_geti +1.5 ms, 1 more; 71 % of it in no named row"
    assert told(-4.0, 0.3) == f"{head}lua_geti +0.30 ms, 1 more; +10 ms in no named row"
    assert told(8.0) == f"{head}lua_type +8.0 ms; -1.7 ms in no named row"
    assert told(6.3) == f"{head}lua_type +6.3 ms"


KNOWN = {"launcher_delay_ns": (0.0, 0.0), "launcher_on_cpu_ns": (0.0, 0.0)}


@pytest.mark.parametrize(
    ("waits", "known", "end", "command"),
    [
        ((2.0, 40.0), {}, "; off the CPU +38 ms", None),
        ((2.0, 40.0), {"run_delay_ns": (1e6, 1e6), **KNOWN}, "; asleep or I/O +38 ms", None),
        ((2.0, 40.0), {"run_delay_ns": (1e6, 39e6), **KNOWN}, "; ready to run +38 ms", "doctor"),
        ((40.0, 2.0), {}, "; off the CPU -38 ms", None),
        ((-24.0, -14.0), {}, "; off the CPU +10 ms", None),  # several CPUs, and fewer at a time
    ],
)
def test_where_all_the_difference_is_waiting_the_wall_time_is_told(waits, known, end, command):
    trial = timed(WIDE, WIDE[::-1], waits_ms=waits, **known)
    told = explained(F, F, trial=trial)
    more = (
        f"{milliseconds(abs(waits[1] - waits[0]))} ms {'more' if waits[1] > waits[0] else 'less'}"
    )
    begin = f"b0: v1 takes {more} wall time than v0, and no difference of CPU time appeared ("
    assert told.sentence.startswith(begin)
    assert told.sentence.endswith(end)
    assert exit_code_of(WhyAnswer(answers=(told,)), require=False) == 0
    assert told.next == (command and f"fairtrial {command}")
    (look,) = (one.text for one in told.cautions if one.code == "waits")
    assert look.startswith("the wall time differs, the CPU time does not, and no sample shows")
    # negative control: where CPU time differs too, functions are named
    both = explained(F, G, trial=timed(BASE_MS, SLOW_MS, waits_ms=waits, **known))
    assert both.sentence.startswith("b0: v1 takes 4.1 ms more CPU time than v0; cmp")
    assert "waits" not in {one.code for one in both.cautions}


def test_without_a_name_none_is_told():
    same = steady(cmp=20, sort=80)
    told = explained(same, same, asked={"any_total": True})
    quiet = replace(told, rows=tuple(replace(row, named=False) for row in told.rows))
    assert quiet.sentence == "b0: v1 takes 4.1 ms more CPU time than v0; no function can be named"


def test_long_names_are_shortened_to_two_lines():
    told = replace(explained(F, G), benchmark="b" * 60, variant="v" * 60, baseline="w" * 60)
    assert len(told.sentence) <= 150
    assert len(sentence_of(told, 80)) <= 80  # where several answers have a line each
    assert "4.1 ms more CPU time" in told.sentence


def test_more_samples_are_asked_for_by_how_many_are_missing():
    thin = explained([{"f": 20}] * 6, [{"f": 25}] * 6)  # 120 of 200
    assert thin.next is not None
    assert thin.next.endswith("--sessions 12")
    assert explained([{"f": 1}] * 6, [{"f": 1}] * 6).next is None


# --- What a reader is told beside the rows: each caution where it belongs, and not where it does not
#
# Authority: docs/why.md and the list of docs/json.md.


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
        ("undecided", "wall", None),
    ],
)
def test_what_was_judged_is_held_against_what_is_explained(outcome, metric, code):
    answer = explained(F, steady(cmp=30, sort=90), **was(outcome, metric))
    said, shown = texts(answer), " ".join(str(answer).split())
    word = {"equivalent": "the same, between", "undecided": "undecided, between"}
    assert (
        f"the verdict was: {word.get(outcome, '')}" in shown
    )  # no "takes 5 % more" of what was open
    assert said.keys() - {"opposite-rows"} == ({code} - {None})
    if code == "judged-otherwise":
        assert said[code].startswith(f"the verdict is about {metric}; what is explained here is")


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
            "no function is shown, because no difference of CPU time appeared in these sessions (--any",
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
