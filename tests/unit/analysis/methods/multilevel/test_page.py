"""The result as JSON and as text."""

from __future__ import annotations

import io
import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.data.trial import read_trial
from analysis.history.judging import judge_nights
from analysis.history.places import cut_in, session_values
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.law import (
    AdviceQuestion,
    ErrorLaw,
    Looks,
    Scatter,
    advise,
    chances,
    rounded,
    sessions_needed,
)
from analysis.methods.multilevel.page import advice_text, interval_text, speedup_text
from analysis.methods.multilevel.result import Line, MoreSessions
from analysis.pages.model import Table
from analysis.plan.compare_looks import look_at
from analysis.record.trial_files import LooksPlan
from analysis.verdict.compare import NamedCommand, answer_of
from analysis.verdict.gate import gate
from analysis.verdict.judging import judge
from analysis.verdict.ranking import rank_variants
from harness.cli import main
from tests.json_schemas import misfits
from tests.unit.analysis.history.judged.made_nights import nights_of, series


def test_one_benchmark_is_the_answer(noisy, matrix_of):
    a, b = noisy(1, benchmarks=1, shift=-0.5), noisy(2, benchmarks=1)
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    assert (result.these, result.similar, result.word) == (None, None, "faster")
    assert result.benchmarks[0].pvalue == result.benchmarks[0].pvalue_adjusted
    assert "new against old: faster, 1." in str(result)
    assert "4 sessions, paired; margin 1 %" in str(result)


def test_what_is_no_time_is_better_or_worse_on_the_page_only(noisy, matrix_of):
    a, b = noisy(1, shift=0.5), noisy(2)
    result = multilevel(matrix_of("new", a, unit="B"), matrix_of("old", b, unit="B"))
    assert result.word == "slower"
    assert "worse" in str(result)
    assert "slower" not in str(result)


def test_the_number_of_benchmarks_and_the_correction_are_said(noisy, matrix_of):
    a, b = noisy(31, benchmarks=6, shift=-0.05), noisy(32, benchmarks=6)
    text = str(multilevel(matrix_of("new", a), matrix_of("old", b)))
    assert "these 6" in text
    assert "like them" in text
    assert "after correction" in text
    assert "for 6;" in text
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    (rows,) = (
        block.rows
        for section in result.screen().sections
        for block in section.blocks
        if isinstance(block, Table) and len(block.rows) >= 6
    )
    changed = {x.name: x.outcome != x.outcome_uncorrected for x in result.benchmarks}
    assert {row[0]: "after correction" in row[-1] for row in rows if row[0] in changed} == changed
    assert set(changed.values()) == {True, False}
    few = multilevel(matrix_of("new", noisy(1)), matrix_of("old", noisy(2)))
    assert "few-benchmarks" in {caution.code for caution in few.cautions}


LINE = Line(
    name="x",
    speedup=1.0123,
    low=1.0101,
    high=1.0145,
    error=0.001,
    freedom=4.0,
    pvalue=0.01,
    pvalue_equivalent=0.5,
    outcome="faster",
    more_sessions=None,
)


@pytest.mark.parametrize(
    ("speedup", "low", "high", "text"),
    [
        (1.0123, 1.0101, 1.0146, "1.012x [1.010, 1.015]"),
        (2.741, 2.701, 2.784, "2.74x [2.70, 2.79]"),
        (1.01, 1.0004, 1.03, "1.0100x [1.0004, 1.0300]"),  # not rounded onto 1
        (25.31, 24.0, 26.7, "25.3x [24.0, 26.7]"),
        (1.2, None, None, "1.20x "),
        (1.0, 1.0, 1.0, "1.00x [1.00, 1.00]"),
        (None, None, None, "- "),
    ],
)
def test_figures_keep_what_the_interval_tells(speedup, low, high, text):
    line = replace(LINE, speedup=speedup, low=low, high=high)
    assert f"{speedup_text(line)} {interval_text(line)}" == text


@pytest.mark.parametrize("noun", ["session", "host"])
@pytest.mark.parametrize(
    ("count", "low", "high", "text"),
    [
        (4, 3, 9, "about 4 more {}s (3 to 9)"),
        (1, 1, 1, "about 1 more {} (1 to 1)"),
        (40, 22, None, "about 40 more {}s (22 to > 1,000)"),
        (1300, 80, None, "> 1,000 more {}s: measure differently"),
    ],
)
def test_advice_in_words(count, low, high, text, noun):
    more = MoreSessions(
        sessions=count, low=low, high=high, chance=0.8, target="faster", runs_suffice=None
    )
    line = replace(LINE, outcome="undecided", more_sessions=more)
    assert advice_text(line, noun) == text.format(noun)
    assert advice_text(replace(line, outcome="faster"), noun) == ""


def test_hosts_that_are_taken_as_sessions_are_called_hosts(noisy, matrix_of):
    ours, theirs = (
        replace(matrix_of(name, noisy(k, sessions=(1, 2, 3))), outermost="host")
        for k, name in enumerate(("new", "old"))
    )
    result = multilevel(ours, theirs)
    assert result.outermost == "host"
    assert "3 hosts, paired" in str(result)
    assert "more hosts" in " ".join(str(result).split())
    assert "session" not in str(result)
    assert "outermost" not in result.to_dict()
    # sessions on one side, hosts on the other: what they have in common is to be taken as sessions
    assert multilevel(ours, replace(theirs, outermost="session")).outermost == "session"


def test_how_many_more_sessions_is_computed_when_a_number_of_it_is_asked_for(
    noisy, matrix_of, monkeypatch
):
    asked = []
    monkeypatch.setattr(
        "analysis.methods.multilevel.law.advise", lambda *words: asked.append(1) or advise(*words)
    )
    ours, theirs = (matrix_of(name, noisy(k)) for k, name in enumerate(("new", "old")))
    result = multilevel(ours, theirs)
    (line, *_) = (one for one in result.benchmarks if one.more_sessions is not None)
    assert asked == []
    more = line.more_sessions
    assert more.sessions == line.to_dict()["more_sessions"]["sessions"]
    assert asked == [1]  # of all benchmarks at once
    assert more == pickle.loads(pickle.dumps(more))


# --- How many more sessions: chances against the noncentral t, the search against plain simulation


LAW = ErrorLaw(alpha=0.05)
ONE = np.ones(1)
L = math.log(1.01)


def chance(e, s, n, margin=L):
    df = np.array([n - 1.0])
    m = LAW.multiplier(df)
    outside, inside = chances(np.array([e]), np.array([s / math.sqrt(n)]), df, (m, m), margin)
    return float(outside[0]), float(inside[0])


@pytest.mark.parametrize(("n", "delta"), [(10, 1.0), (5, 1.0), (3, 2.0), (2, 4.0), (20, 0.5)])
def test_outside_is_the_power_of_the_t_test(n, delta):
    # scipy's noncentral t in its upper tail, where it holds
    exact = sum(
        stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, sign * delta * math.sqrt(n))
        for sign in (1, -1)
    )
    assert chance(delta, 1.0, n)[0] == pytest.approx(exact, abs=2e-6)


@pytest.mark.parametrize(("n", "e", "s"), [(6, 0.0, 0.006), (4, 0.003, 0.004), (30, 0.004, 0.01)])
def test_inside_by_simulation(n, e, s):
    rng = np.random.default_rng(n)
    d = rng.normal(e, s, (40_000, n))
    half = stats.t.ppf(0.975, n - 1) * d.std(axis=1, ddof=1) / math.sqrt(n)
    rate = np.mean((d.mean(axis=1) - half > -L) & (d.mean(axis=1) + half < L))
    assert chance(e, s, n)[1] == pytest.approx(rate, abs=4 * math.sqrt(0.25 / 40_000))


def of(e, s, n, within=math.nan, law=LAW):
    scatter = Scatter(
        variance=np.array([[s**2]]),
        sessions=np.array([[float(n)]]),
        within=np.array([[within]]),
        step=np.zeros(1),
    )
    return advise(AdviceQuestion(np.array([e]), scatter, law, L, (ONE, ONE)))[0]


def drawn(e, s, n, more, *, scale=None, step=1, inner=None, margin=L, seed=5, draws=8_000):
    """Share of predictive draws that decide, by plain simulation: truth from the data, then new sessions."""
    rng = np.random.default_rng(seed)
    sigma = s * (np.sqrt((n - 1) / rng.chisquare(n - 1, draws)) if scale is None else scale)
    truth = e + sigma * rng.standard_normal(draws) / math.sqrt(n)
    sigma = np.broadcast_to(sigma, draws)
    new = truth[:, None] + sigma[:, None] * rng.standard_normal((draws, more))
    total = n * e + new.sum(axis=1)
    mean = total / (n + more)
    squares = (n - 1) * s**2 + n * e**2 + (new**2).sum(axis=1) - (n + more) * mean**2
    error = np.sqrt(squares / (n + more - 1) / (n + more))
    outer, inner = (stats.t.ppf(1 - 0.025 / k, n + more - 1) * error for k in (step, inner or step))
    return np.mean((np.abs(mean) > outer) | (np.abs(mean) + inner < margin))


@pytest.mark.parametrize(
    ("e", "s", "n"),
    [(0.02, 0.02, 3), (0.008, 0.01, 5), (0.0, 0.02, 5), (0.01, 0.006, 2), (0.01, 0.03, 4)],
)
def test_the_least_number_is_the_one_whose_predictive_chance_is_90(e, s, n):
    more = of(e, s, n)  # in two digits, rounded up
    assert more.chance >= 0.9
    assert drawn(e, s, n, more.sessions) >= 0.88
    assert drawn(e, s, n, max(int(0.9 * more.sessions) - 4, 1)) < 0.92
    assert more.low <= more.sessions
    for q, end in ((0.75, more.low), (0.25, more.high)):
        scale = math.sqrt((n - 1) / stats.chi2.ppf(q, n - 1))
        assert drawn(e, s, n, end, scale=scale) > 0.87
        assert end == 1 or drawn(e, s, n, max(int(0.9 * end) - 1, 1), scale=scale) < 0.93


def test_equal_data_get_equal_advice_whatever_stands_beside_them():
    alone = of(0.008, 0.01, 5)
    scatter = Scatter(
        variance=np.array([[1e-4], [4e-4]]),
        sessions=np.array([[5.0], [3.0]]),
        within=np.full((2, 1), math.nan),
        step=np.zeros(2),
    )
    pair = np.ones(2)
    assert (
        advise(AdviceQuestion(np.array([0.008, 0.02]), scatter, LAW, L, (pair, pair)))[0] == alone
    )


def test_the_next_look_decides_at_its_own_level(noisy, matrix_of):
    both = matrix_of("new", noisy(1, shift=-0.01)), matrix_of("old", noisy(2))
    once = multilevel(*both, looks=Looks.growing([4])).these.more_sessions
    plain = multilevel(*both).these.more_sessions
    strict = multilevel(*both, confidence=1 - 0.05 / 6).these.more_sessions
    assert once.sessions == strict.sessions
    assert plain.sessions < once.sessions


def test_the_target_is_what_is_likelier():
    assert of(0.03, 0.03, 4).target == "faster"
    assert of(-0.03, 0.03, 4).target == "slower"
    assert of(0.001, 0.01, 4).target == "equivalent"


def test_there_is_no_cap_at_a_hundred_and_no_number_is_told_above_a_thousand():
    more = of(0.005, 0.1, 4)
    assert (more.sessions > 100, more.sessions % 10, more.worthwhile) == (True, 0, more.sessions)
    assert replace(more, sessions=1100).worthwhile is None
    assert [rounded(n) for n in (7, 99, 100, 137, 1001)] == [7, 99, 100, 140, 1100]


def test_runs_suffice_only_where_they_are_the_scatter():
    assert of(0.03, 0.03, 5, within=0.03**2).runs_suffice is True
    assert of(0.03, 0.03, 5, within=0.01 * 0.03**2).runs_suffice is False
    assert of(0.03, 0.03, 5).runs_suffice is None


def test_lines_carry_it_where_undecided(noisy, matrix_of):
    a, b = noisy(1, shift=-0.01), noisy(2)
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    for line in (*result.benchmarks, result.these):
        assert (line.more_sessions is not None) == (line.outcome == "undecided")
    undecided = [line for line in result.benchmarks if line.more_sessions]
    assert sessions_needed(replace(undecided[0], sessions=1), None, 0.01) is None  # was 0 / 0
    keys = {"sessions", "low", "high", "chance", "chance_asked", "basis", "for", "runs_suffice"}
    found = result.to_dict()["benchmarks"]
    assert {frozenset(x["more_sessions"]) for x in found if x["more_sessions"]} == {frozenset(keys)}
    assert undecided[0].more_sessions.runs_suffice in (True, False)
    assert result.similar.more_sessions is None


def test_a_corrected_word_is_advised_at_its_own_step(noisy, matrix_of):
    # what the interval alone would decide already is not decided by one session more
    a, b = noisy(31, benchmarks=6, shift=-0.05), noisy(32, benchmarks=6)
    plain = multilevel(matrix_of("new", a), matrix_of("old", b), correction="none")
    held = multilevel(matrix_of("new", a), matrix_of("old", b))
    pairs = [
        (x, y)
        for x, y in zip(plain.benchmarks, held.benchmarks, strict=True)
        if x.outcome != y.outcome
    ]
    assert pairs
    for x, y in pairs:
        assert x.more_sessions is None
        assert y.outcome_uncorrected == x.outcome
        # the step of its rank among six
        step = 6 - sorted(line.pvalue for line in held.benchmarks).index(y.pvalue)
        s = y.error * math.sqrt(4)
        told = y.more_sessions
        again = drawn(math.log(y.speedup), s, 4, told.sessions, step=step)
        assert told.chance == pytest.approx(again, abs=0.03)


def test_equivalence_is_advised_at_the_step_of_its_own_family(noisy, matrix_of):
    a, b = noisy(31, benchmarks=4), noisy(32, benchmarks=4)
    lines = multilevel(matrix_of("new", a), matrix_of("old", b), margin=0.05).benchmarks
    by_p, by_equivalent = (
        [4 - sorted(family).index(p) for p in family]
        for family in ([x.pvalue for x in lines], [x.pvalue_equivalent for x in lines])
    )
    assert by_p == [2, 3, 1, 4]
    assert by_equivalent == [4, 2, 3, 1]
    for line, step, inner in zip(lines, by_p, by_equivalent, strict=True):
        told, s = line.more_sessions, line.error * math.sqrt(4)
        again = drawn(
            math.log(line.speedup),
            s,
            4,
            told.sessions,
            step=step,
            inner=inner,
            margin=math.log(1.05),
        )
        assert told.chance == pytest.approx(again, abs=0.03)


def test_separate_sides_get_as_many_sessions_each(noisy, matrix_of):
    a = matrix_of("new", noisy(3, benchmarks=1, sessions=(1, 2, 3), shift=-0.02))
    b = matrix_of("old", noisy(4, benchmarks=1, sessions=(4, 5, 6)))
    (line,) = multilevel(a, b).benchmarks
    assert line.outcome == "undecided"
    more = line.more_sessions
    assert more is not None
    assert more.sessions is None or more.low <= more.sessions


@pytest.mark.parametrize(("scatter", "answer"), [(0.16, True), (0.001, False)])
@pytest.mark.parametrize("blocks", [True, False])
def test_whether_runs_suffice_is_seen_in_the_runs(matrix_of, scatter, answer, blocks):
    # sessions differ as much as runs of that scatter make them differ, or far more; the scatter is
    # that of the differences of blocks where they are known, else that of both sides
    def side(gains, sign):
        return [
            ("b", s, f"{s}.{k}" if blocks else s, math.exp(-gain + sign * scatter * (-1) ** k))
            for s, gain in enumerate(gains)
            for k in range(10)
        ]

    new, old = side([0.04, 0.16, 0.03, 0.15], 1), side([0.0] * 4, -1)
    (line,) = multilevel(matrix_of("new", new), matrix_of("old", old)).benchmarks
    assert line.differences == pytest.approx((0.04, 0.16, 0.03, 0.15))
    assert line.outcome == "undecided"
    assert line.more_sessions.runs_suffice is answer


def test_what_both_sides_of_a_block_share_is_no_scatter(matrix_of):
    # runs vary a lot, and the sides of each block alike: more runs would not help
    def side(gains):
        return [
            (
                "b",
                s,
                f"{s}.{k}",
                math.exp(-gain + 0.16 * (-1) ** k + 0.001 * (-1) ** (k // 2 + (gain > 0))),
            )
            for s, gain in enumerate(gains)
            for k in range(10)
        ]

    new, old = side([0.04, 0.16, 0.03, 0.15]), side([0.0] * 4)
    (line,) = multilevel(matrix_of("new", new), matrix_of("old", old)).benchmarks
    assert line.outcome == "undecided"
    assert line.more_sessions.runs_suffice is False


@pytest.mark.parametrize(
    ("sessions", "effect", "target"), [((2, 10), 0.02, "faster"), ((3, 12), 0.0, "equivalent")]
)
def test_sides_of_unequal_numbers_are_advised_by_their_own_law(sessions, effect, target):
    # the chance by simulation: what the data leave possible of both sides, these data kept
    sds = (0.008, 0.004)
    scatter = Scatter(
        variance=np.array([[sd**2 for sd in sds]]),
        sessions=np.array([sessions], dtype=float),
        within=np.full((1, 2), math.nan),
        step=np.zeros(1),
    )
    (more,) = advise(AdviceQuestion(np.array([effect]), scatter, LAW, L, (ONE, ONE)))
    assert more.target == target
    rng = np.random.default_rng(sessions)
    draws, means, halves = 8_000, [], []
    for n, sd in zip(sessions, sds, strict=True):
        sigma = sd * np.sqrt((n - 1) / rng.chisquare(n - 1, draws))
        truth = sigma * rng.standard_normal(draws) / math.sqrt(n)
        new = truth[:, None] + sigma[:, None] * rng.standard_normal((draws, more.sessions))
        count = n + more.sessions
        mean = new.sum(axis=1) / count
        squares = (n - 1) * sd**2 + (new**2).sum(axis=1) - count * mean**2
        means.append(mean)
        halves.append(stats.t.isf(0.025, count - 1) * np.sqrt(squares / (count - 1) / count))
    d, half = effect + means[0] - means[1], np.hypot(*halves)
    told = (np.abs(d) > half) | (np.abs(d) + half < L)
    assert more.chance == pytest.approx(told.mean(), abs=0.03)
    assert more.chance >= 0.8


# --- Runs that their time limit ended are lower bounds
#
# Authority: rules-2, section 2, word by word; geometric means with the limit in the place of such runs, by hand.


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


@pytest.mark.parametrize(
    ("better", "known", "code"), [("lower", "faster", 0), ("higher", "slower", 1)]
)
def test_where_nobody_knows_why_runs_failed_a_word_is_withheld(trial, better, known, code):
    read = trial(0.5, HANGS["candidate"], outcome="exit")
    new, old = (replace(read.matrix(x), better=better) for x in ("new", "old"))
    for cut, *expected in ((new.cut, known, code), (None, "undecided", 7)):
        result = multilevel(replace(new, cut=cut), old)
        assert [result.benchmarks[0].outcome, gate(result, "slower>2%").exit_code] == expected
    assert (multilevel(new, old).benchmarks[0].cut, sum(new.failed.values())) == (None, 2)
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
        *before, last = whole.values
        for side in (None, 0, 1):
            nights = (*before, replace(last, cut=(side == 0, side == 1)))
            asked = {"gate": "slower>5%", "since": before[32].trial}
            told = judge_nights(nights_of(replace(whole, values=nights)), **asked).series[0]
            kept = outcome if side != withheld_by else "undecided"
            assert (told.outcome, told.reason == "cut-off") == (kept, side == withheld_by)
