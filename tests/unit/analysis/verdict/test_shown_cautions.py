"""Which cautions a first screen shows, and in which order: those that change what a shown number means.

The authority is the policy itself: failed, not comparable, waited unequally, drift, busy, rest; at most three.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from analysis.data.trial import read_trial
from analysis.pages.model import Caution, ShortSentence
from analysis.record.trial_files import FINDINGS, LooksPlan
from analysis.verdict.cautions import chosen_cautions, shown_cautions
from analysis.verdict.gate import gate_verdict
from analysis.verdict.judging import judge

SAMPLE = Path(__file__).resolve().parents[4] / "runs" / "sample"


def cautions(*codes, about=()):
    text = "the whole text of {}"
    return [
        Caution(code, text.format(code), about, ShortSentence.of(f"short: {code}"))
        for code in codes
    ]


def test_the_gravest_stand_first_whatever_their_order():
    given = cautions("host-busy", "waited-unequally", "confounded", "drift", "failed-left-out")
    found = chosen_cautions(given, ["text"], (), most=9)
    assert [one.code for one in found.cautions] == [
        *("failed-left-out", "confounded", "waited-unequally", "drift", "host-busy")
    ]


def test_what_changes_no_shown_number_is_left_to_explain():
    given = cautions("no-certificate", "warm-up-left-out", "coarse-clock", "few-benchmarks")
    assert chosen_cautions(given, ["text"], ()) == ((), 0)


def test_three_are_shown_and_the_others_counted():
    found = chosen_cautions(
        cautions("host-busy", "drift", "two-speeds", "confounded"), ["text"], ()
    )
    assert len(found.cautions) == 3
    assert found.more == "and 1 more: --explain"
    assert chosen_cautions(cautions("drift"), ["text"], ()).more == ""


def test_of_alike_ones_that_with_more_rows_comes_first():
    few = Caution("two-speeds", "", ("a",), ShortSentence.of("few"))
    more = Caution("two-binaries", "", ("gzip-1", "a", "b"), ShortSentence.of("more"))
    most = Caution("drift", "", (), ShortSentence.of("all"))
    found = chosen_cautions([few, most, more], ["a", "b", "c"], (), most=9)
    assert [one.text for one in found.cautions] == ["more", "all", "few"]


def test_the_short_sentence_is_shown_and_the_text_kept():
    one = Caution("drift", "the whole text", short=ShortSentence.of("{} changed", "gzip"))
    (found,) = chosen_cautions([one], ["text"], ["gzip"], called={"gzip": "'gzip -1'"}).cautions
    assert (found.text, one.text) == ("'gzip -1' changed", "the whole text")


def test_what_is_about_others_than_those_on_the_screen_is_not_shown():
    one = Caution("fails-more", "", ("a",), ShortSentence.of("{} has no speed", "a"))
    assert chosen_cautions([one], ["b"], ["gzip"]) == ((), 0)
    assert chosen_cautions([one], ["a", "b"], ["gzip"]).cautions == (one,)


def test_a_list_names_only_what_is_on_the_screen():
    one = Caution("outputs-differ", "", ("a", "b"), ShortSentence.of("differs: {}", ("a", "b")))
    (found,) = chosen_cautions([one], ["b"], ()).cautions
    assert found.text == "differs: b"


def test_a_trial_shows_what_its_numbers_need_and_a_screen_leaves_out_what_it_says():
    verdict = judge(read_trial(SAMPLE))
    found = shown_cautions(verdict)
    assert [one.code for one in found.cautions] == [
        *("failed-left-out", "host-two-speeds", "waited-for-cpu")
    ]
    assert found.hidden == 1
    assert "no-certificate" in [one.code for one in verdict.cautions]
    first, *others = found.cautions
    assert [*shown_cautions(verdict, without={first.code}).cautions][:2] == others


def test_a_metric_of_one_benchmark_brings_no_cautions_about_the_others(synthetic, tmp_path):
    """As `verdict --metric rate` had ten of them: flaky and slow fail, and have no rate."""
    times = {v: {b: [0.1, 0.11] * 4 for b in ("plain", "flaky", "slow")} for v in ("old", "new")}
    made = synthetic(times, sessions=4, metrics={"rate": {"unit": "1/s", "better": "higher"}})
    rows = []
    for row in made.rows:
        fails = row.benchmark == "slow" or (row.benchmark == "flaky" and row.block == 1)
        changes = {"outcome": "exit", "exit_code": 1} if fails else {}
        rate = {"metrics": {"rate": [5.0 + row.position % 3]}} if row.benchmark == "plain" else {}
        rows.append(replace(row, **changes | rate))
    made.rows = rows
    trial = read_trial(made.write(tmp_path / "trial"))
    verdict = judge(trial, metric="rate")
    texts = [one.text for one in shown_cautions(verdict).cautions]
    assert not any(name in text for text in texts for name in ("flaky", "slow", "failed"))
    assert {"failed-left-out", "benchmark-missing"} <= {one.code for one in verdict.cautions}
    # by the wall time their failures are about the question, and named
    texts = [one.text for one in shown_cautions(judge(trial)).cautions]
    assert texts[:2] == [
        "1 benchmark is missing here: no run of it succeeded",
        "8 runs of flaky failed and are left out",
    ]


def test_a_benchmark_that_is_not_there_because_it_fails_is_counted(synthetic, tmp_path):
    times = {v: {b: [0.1, 0.11] * 4 for b in ("plain", "slow")} for v in ("old", "new")}
    made = synthetic(times, sessions=4)
    made.fail(lambda row: row.benchmark == "slow", outcome="timeout")
    verdict = judge(read_trial(made.write(tmp_path / "trial")))
    assert shown_cautions(verdict).cautions[0].text == (
        "1 benchmark is missing here: no run of it succeeded"
    )
    only = judge(read_trial(tmp_path / "trial"), benchmarks=["plain"])
    assert shown_cautions(only).cautions == ()  # nobody asked for it


def test_a_busy_host_is_said_with_its_load_and_session_by_the_gate_too(synthetic, tmp_path):
    times = {v: {"text": [0.1, 0.11] * 4} for v in ("old", "new")}
    made = synthetic(times, sessions=4, warmup=1)
    note = {"session": 3, "when": "before", "check": "load", "status": "fail"}
    note["what"] = "3.10 over 1 min on 2 CPUs, 2 other threads runnable now"
    made.extra[FINDINGS] = json.dumps(note).encode() + b"\n"
    verdict = judge(read_trial(made.write(tmp_path / "trial")))
    said = "the host was busy (load 3.1 on 2 CPUs) in session 3"
    assert said in [one.text for one in shown_cautions(verdict).cautions]
    text = str(gate_verdict(verdict, "slower>2%"))
    assert f"note  {said}" in text
    assert "warm-up" not in text
    # seen in 17 of 17 comparisons: a sitting is looked at once, and nobody knows of its other sessions
    plan = LooksPlan(rule="repeated", looks=(3, 4))
    made.manifest = replace(made.manifest, campaign_name="compare", looks_plan=plan)
    verdict = judge(read_trial(made.write(tmp_path / "sitting")))
    texts = [one.text for one in shown_cautions(verdict).cautions]
    assert said.removesuffix(" in session 3") in texts


def test_failed_runs_are_not_said_to_be_of_one_cell_mostly_where_they_are_not(synthetic, tmp_path):
    times = {v: {"plain": [0.1, 0.11] * 4} for v in ("old", "new")}
    made = synthetic(times, sessions=4)
    made.fail(lambda row: row.block == 1)
    verdict = judge(read_trial(made.write(tmp_path / "trial")))
    texts = [one.text for one in shown_cautions(verdict).cautions]
    assert "8 runs of old and new failed and are left out" in texts
