"""Runs that their time limit ended are lower bounds.

Authority: rules-2, section 2, word by word; geometric means with the limit in the place of such runs, by hand.
"""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.history.judging import judge_nights
from analysis.history.places import cut_in, session_values
from analysis.methods.multilevel.compare import multilevel
from analysis.plan.compare_looks import look_at
from analysis.record.trial_files import LooksPlan
from analysis.verdict.compare import NamedCommand, answer_of
from analysis.verdict.gate import gate
from analysis.verdict.judging import judge
from analysis.verdict.ranking import rank_variants
from harness.cli import main
from tests.json_schemas import misfits
from tests.unit.analysis.history.judged.made_nights import nights_of, series

LIMIT = 10.0
COUNTED = {"events": {"unit": "", "better": "lower", "source": "counters"}}
PRINTED = {"own": {"unit": "s", "better": "lower"}}


@pytest.fixture
def trial(synthetic, tmp_path):
    """Write a trial in which `new` takes a share of the time of `old`, and the first runs of some sessions hang."""

    def make(share, hang=(), *, sessions=6, name="t", metrics=None, outcome="timeout", said=True):
        rng = np.random.default_rng([2, 26])
        times = {
            one: {"b": (k * np.exp(0.004 * rng.standard_normal(8 * sessions))).tolist()}
            for one, k in (("old", 1.0), ("new", share))
        }
        made = synthetic(times, sessions=sessions, metrics=metrics or {})
        made.rows = [_row(row, hang, outcome, said=said, metrics=metrics) for row in made.rows]
        return read_trial(made.write(tmp_path / name))

    return make


def _row(row, hang, outcome, *, said, metrics):
    value = row.wall_ns / 1e9
    cut = row.block == 1 and (row.variant, row.session) in hang
    counted = {"events": (value,)} if metrics is COUNTED else {}
    row = replace(
        row, metrics=counted if cut else counted or ({"own": (value,)} if metrics else {})
    )
    if not cut:
        return row
    detail = f"ended after its timeout of {LIMIT:g} s" if said and outcome == "timeout" else None
    return replace(row, outcome=outcome, exit_code=None, wall_ns=int(10.3e9), detail=detail)


HANGS = {"candidate": {("new", 2), ("new", 5)}, "baseline": {("old", 3)}}
HANGS["both"] = HANGS["candidate"] | HANGS["baseline"]
# what the interval alone would say, and what stays of it: the candidate's, the baseline's, both sides' runs cut
WORDS = {
    0.5: ("faster", {"candidate": "undecided", "baseline": "faster", "both": "undecided"}),
    20.0: ("slower", {"candidate": "slower", "baseline": "undecided", "both": "undecided"}),
}


@pytest.mark.parametrize("share", WORDS)
@pytest.mark.parametrize("side", HANGS)
def test_only_words_that_lower_bounds_support_stand(trial, share, side):
    clean, kept = WORDS[share]
    assert judge(trial(share, name="clean")).candidates[0].multilevel.word == clean
    found = judge(trial(share, HANGS[side]))
    result = found.candidates[0].multilevel
    line = result.benchmarks[0]
    assert line.outcome == kept[side]
    assert line.reason == (None if line.outcome == clean else "cut-off")
    assert line.limit_s == LIMIT
    assert (line.runs_candidate + line.failed_candidate, line.more_sessions) == (48, None)
    assert not misfits(["verdict", "--json"], json.dumps(found.to_dict()))
    assert line.to_dict()["cut"] == {
        "candidate": 2 * (side != "baseline"),
        "baseline": 1 * (side != "candidate"),
    }
    for condition in ("slower>2%", "faster<5%"):
        allowed = {"faster": "passed", "slower": "proven", "undecided": "undecided"}
        told = gate(result, condition).candidates[0]
        assert told.outcome == allowed[kept[side]]
        assert told.reason == (None if told.outcome != "undecided" else "cut-off")


def test_a_cut_run_counts_with_its_limit(trial):
    read = trial(0.97, {("new", 2)})
    line = judge(read).candidates[0].multilevel.benchmarks[0]
    walls = np.where(read.outcome == 0, read.numbers["wall_ns"] / 1e9, LIMIT)
    each = [
        [np.log(walls[(read.variant == v) & (read.session == s)]).mean() for s in range(1, 7)]
        for v in (0, 1)
    ]
    means = np.exp(np.mean(each, axis=1))
    assert (line.mean_baseline, line.mean_candidate) == pytest.approx(tuple(means), rel=1e-12)
    values = [np.mean(session_values(read, s, "wall")["new"]) for s in range(1, 7)]
    assert values == pytest.approx(each[1], rel=1e-12)
    assert trial(0.97, {("new", 2)}, name="u", said=False).numbers["wall_ns"].max() == 10.3e9


def test_it_is_said_on_every_screen(trial):
    read = trial(0.97, HANGS["candidate"])
    out = io.StringIO()
    assert main(["verdict", str(read.path)], out, io.StringIO()) == 0
    text = " ".join(out.getvalue().split())
    assert "≥ 1.0" in text
    assert "2 of 48 runs of new" in text
    assert "and are left out" not in text
    told = [one.text for one in judge(read).cautions if one.code == "cut-off"]
    assert told == [
        "2 of 48 runs of new were stopped at their limit of 10.0 s and count as 10.0 s: it is at least this"
    ]
    out = io.StringIO()
    assert main(["gate", "slower>50%", str(read.path)], out, io.StringIO()) == 7
    assert "stopped at their limit" in out.getvalue()


@pytest.mark.parametrize(
    ("metric", "metrics", "word"),
    [("events", COUNTED, "slower"), ("own", PRINTED, "undecided"), ("user", None, "slower")],
)
def test_other_metrics_count_where_they_only_grow(trial, metric, metrics, word):
    read = trial(20.0, HANGS["candidate"], metrics=metrics)
    line = judge(read, metric=metric).candidates[0].multilevel.benchmarks[0]
    assert (line.outcome, line.cut.bounds) == (word, word == "slower")


def test_other_failures_are_left_out_as_ever(trial):
    read = trial(0.5, HANGS["candidate"], outcome="exit")
    line = judge(read).candidates[0].multilevel.benchmarks[0]
    assert (line.outcome, line.cut, line.failed_candidate) == ("faster", None, 2)


def test_where_nobody_knows_why_runs_failed_a_pass_is_withheld(trial):
    new, old = (trial(0.5, HANGS["candidate"], outcome="exit").matrix(x) for x in ("new", "old"))
    for cut, word, code in (({}, "faster", 0), (None, "undecided", 7)):
        result = multilevel(replace(new, cut=cut), old)
        assert (result.benchmarks[0].outcome, gate(result, "slower>2%").exit_code) == (word, code)
    assert replace(new, cut=None).to_dict()["cut"] is None


def test_ranking_and_compare_name_no_fastest_that_may_hang(trial):
    read = trial(0.97, HANGS["candidate"])
    ranked = rank_variants(read)
    assert [line.outcome for line in ranked.pairs] == ["undecided"]
    assert {(one.best, one.worst) for one in ranked.places} == {(1, 2)}
    named = [NamedCommand(command=f"./{one}", variant=one) for one in ("old", "new")]
    answer = answer_of(read, named, seconds=1.0)
    assert answer.to_dict()["sentence"].startswith("no answer for './new' against './old'")
    assert answer.others[0].times.mean == pytest.approx(answer.others[0].line.mean_candidate)


def test_a_look_counts_as_the_verdict_does(trial):
    read = trial(0.5, HANGS["both"])
    values = {name: {} for name in read.manifest.variants}
    for k in range(len(read)):
        row = values[read.manifest.variants[int(read.variant[k])]].setdefault(
            int(read.session[k]), []
        )
        row.append(float(read.numbers["wall_ns"][k]) / 1e9 if read.outcome[k] == 0 else -LIMIT)
    plan = LooksPlan(rule="planned", looks=(6,))
    seen = look_at(values, plan, baseline="old", final=True).candidates[0].line
    line = judge(read).candidates[0].multilevel.benchmarks[0]
    assert (seen.speedup, seen.low) == pytest.approx((line.speedup, line.low), rel=1e-12)
    assert (seen.outcome, seen.reason, seen.cut) == (line.outcome, line.reason, line.cut)


def test_bisect_counts_them_by_place(trial):
    found = cut_in([trial(0.5, HANGS["candidate"])], "new", "old", "wall", ("b",))
    assert (found.candidate, found.baseline, found.withholds("slower")) == (2, 0, False)
    assert cut_in([trial(0.5, name="clean")], "new", "old", "wall", ("b",)) is None


def test_a_history_passes_nothing_that_a_longer_time_could_overturn():
    rng = np.random.default_rng([2, 27])
    values = 0.01 * rng.standard_normal(40)
    for behind, outcome, withheld_by in ((0.0, "passed", 0), (0.2, "proven", 1)):
        whole = series(values + np.repeat([0.0, behind], [32, 8]))
        *before, last = whole.nights
        for side in (None, 0, 1):
            nights = (*before, replace(last, cut=(side == 0, side == 1)))
            asked = {"gate": "slower>5%", "since": before[32].trial}
            told = judge_nights(nights_of(replace(whole, nights=nights)), **asked).series[0]
            kept = outcome if side != withheld_by else "undecided"
            assert (told.outcome, told.reason == "cut-off") == (kept, side == withheld_by)
