"""Failed runs from the rows of a trial to the words of verdict and gate.

Authority: the count of failed rows by session, taken from the rows themselves.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError
from analysis.verdict.fleet import judge_fleet
from analysis.verdict.gate import gate
from analysis.verdict.judging import judge
from analysis.verdict.ranking import rank_variants
from harness.cli import main
from tests.examples import drawn_seed, examples

BENCHMARKS = ("text", "logs", "random")


def failed(row, how):
    """Give the row of a run that failed; `how` may be the outcome."""
    if how == "timeout":
        return replace(row, outcome="timeout", exit_code=None, signal=9)
    return replace(row, outcome="exit", exit_code=1)


@pytest.fixture
def trial(synthetic, tmp_path):
    """Write a trial of 8 runs a session, in which `fails(session, variant, benchmark, run)` tells."""

    def make(fails, *, sessions=6, variants=("old", "new"), folder="t", **more):
        rng = np.random.default_rng(3)
        times = {
            one: {
                name: np.exp(0.01 * rng.normal(size=8 * sessions)).tolist() for name in BENCHMARKS
            }
            for one in variants
        }
        made = synthetic(times, sessions=sessions, **more)
        seen = {}
        rows = []
        for row in made.rows:
            cell = row.session, row.variant, row.benchmark
            k = seen[cell] = seen.get(cell, -1) + 1
            bad = fails(*cell, k)
            rows.append(failed(row, bad) if bad else row)
        made.rows = rows
        made.write(tmp_path / folder)
        return tmp_path / folder

    return make


def test_failed_runs_are_kept_by_session(trial):
    read = read_trial(trial(lambda s, v, b, k: v == "new" and b == "text" and k < s))
    matrix = read.matrix("new")
    assert matrix.failed == {"text": 21}
    assert matrix.failed_by_session == {"text": {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6}}
    line = judge(read).candidates[0].multilevel.benchmarks[0]
    assert line.fails.candidate == (1, 2, 3, 4, 5, 6)
    assert line.fails.candidate_runs == (8,) * 6
    assert (line.reason, line.pvalue_fails) == ("fails-more", pytest.approx(1 / 924))


def test_a_candidate_without_a_good_run_in_common_is_named_and_not_judged(trial):
    folder = trial(
        lambda s, v, b, k: (v == "new" and b != "text") or (v == "old" and b == "text"),
        variants=("old", "new", "odd"),
    )
    new, odd = judge(read_trial(folder)).candidates
    assert (new.variant, new.multilevel) == ("new", None)
    assert odd.multilevel is not None


def test_a_cell_that_is_dead_as_a_whole_is_a_cell(trial):
    read = read_trial(trial(lambda s, v, b, k: v == "new" and s in (2, 5)))
    line = judge(read).candidates[0].multilevel.benchmarks[0]
    assert line.fails.candidate == (0, 8, 0, 0, 8, 0)
    assert line.reason is None
    assert line.pvalue_fails == pytest.approx(5 / 22)  # both dead cells on one side, 6 of 12


def test_a_failed_warm_up_does_not_count(synthetic, tmp_path):
    times = {one: {"text": [1.0 + 0.01 * k for k in range(12)]} for one in ("old", "new")}
    made = synthetic(times, sessions=3, warmup=1)
    made.fail(lambda row: row.warmup and row.variant == "new").write(tmp_path / "t")
    line = judge(read_trial(tmp_path / "t")).candidates[0].multilevel.benchmarks[0]
    assert (line.failed_candidate, line.pvalue_fails, line.fails.candidate) == (0, 1, (0, 0, 0))


@pytest.mark.parametrize(("sessions", "code"), [(1, 7), (2, 7), (3, 1)])
def test_a_benchmark_without_a_good_run_at_the_gate(trial, sessions, code):
    folder = trial(lambda s, v, b, k: v == "new" and b == "text", sessions=sessions)
    out = io.StringIO()
    assert main(["gate", "slower>50%", str(folder)], out, io.StringIO()) == code
    assert "text" in out.getvalue()
    out = io.StringIO()
    asked = ["verdict", str(folder), "--gate", "slower>50%"]
    assert main(asked, out, io.StringIO()) == code
    assert re.search(r"(?m)^text .* undecided  (\[\d\])+$", out.getvalue())
    assert re.search(r"(?m)^note  \[1\] .*text", out.getvalue())


def test_a_whole_candidate_without_a_good_run_stops_whatever_the_sessions(trial):
    folder = trial(lambda s, v, b, k: v == "new", sessions=1)
    assert main(["gate", "slower>50%", str(folder)], io.StringIO(), io.StringIO()) == 1


def test_dead_benchmarks_are_judged_where_others_are_left_out(trial):
    # of three, one dead: it was lost where --benchmark named others beside it
    read = read_trial(trial(lambda s, v, b, k: v == "new" and b == "text"))
    for asked, names in (
        (None, ["logs", "random", "text"]),
        (("text", "logs"), ["logs", "text"]),
        (("logs", "random"), ["logs", "random"]),
    ):
        result = judge(read, benchmarks=asked).candidates[0].multilevel
        assert [line.name for line in result.benchmarks] == names


def test_what_never_ends_counts_like_any_failure(trial):
    def outcome(kind):
        folder = trial(
            lambda s, v, b, k: v == "new" and b == "text" and k < 3 and kind, folder=kind
        )
        return judge(read_trial(folder)).candidates[0].multilevel.benchmarks[0].pvalue_fails

    assert outcome("exit") == outcome("timeout")


def test_pairs_name_what_fails_more_whichever_stands_first(trial):
    folder = trial(
        lambda s, v, b, k: v == "old" and b == "text" and k < 3, variants=("old", "new", "third")
    )
    told = [one for one in rank_variants(read_trial(folder)).cautions if one.code == "fails-more"]
    assert [one.about for one in told] == [("old", "new", "text"), ("old", "third", "text")]


# ---- fleets


@pytest.fixture
def hosts(fleet_folder, synthetic):
    def make(fails, names=("lab1", "lab2", "lab3"), sessions=3):
        folder = fleet_folder(names)
        for number, host in enumerate(names):
            rng = np.random.default_rng(number)
            times = {
                one: {b: np.exp(0.01 * rng.normal(size=4 * sessions)).tolist() for b in BENCHMARKS}
                for one in ("old", "new")
            }
            made = synthetic(times, sessions=sessions, host=host, trial=f"t-{host}")
            seen = {}
            rows = []
            for row in made.rows:
                cell = row.session, row.variant, row.benchmark
                k = seen[cell] = seen.get(cell, -1) + 1
                bad = fails(host, *cell, k)
                rows.append(replace(row, outcome="exit", exit_code=1) if bad else row)
            made.rows = rows
            made.write(folder / host)
        return folder

    return make


def test_hosts_prove_together_what_none_proves_alone(hosts):
    # 3 sessions a host allow 1 in 20; of three hosts all dealings are 8,000
    folder = hosts(lambda h, s, v, b, k: v == "new" and b == "text" and k == 0)
    answer = judge_fleet(folder).candidates[0]
    line = answer.multilevel.benchmarks[0]
    assert line.pvalue_fails == pytest.approx(1 / 8000)
    assert line.pvalue_fails_adjusted == pytest.approx(3 / 8000)
    assert (line.reason, line.outcome, line.fails_proven) == ("fails-more", "undecided", True)
    assert line.fails.candidate == (1,) * 9
    assert main(["gate", "slower>50%", str(folder)], io.StringIO(), io.StringIO()) == 1


def test_one_bad_host_proves_nothing(hosts):
    folder = hosts(lambda h, s, v, b, k: h == "lab2" and v == "new" and b == "text" and k < 3)
    line = judge_fleet(folder).candidates[0].multilevel.benchmarks[0]
    assert line.pvalue_fails == pytest.approx(1 / 20)
    assert line.reason is None


def test_a_benchmark_that_is_dead_on_one_host_passes_nowhere(hosts):
    folder = hosts(lambda h, s, v, b, k: h == "lab2" and v == "new" and b == "text")
    answer = judge_fleet(folder)
    line = answer.candidates[0].multilevel.benchmarks[0]
    assert (line.reason, line.fails_proven, line.outcome) == ("fails-always", True, "undecided")
    assert [one.about for one in answer.cautions if one.code == "fails-always"] == [("text",)]
    assert main(["gate", "slower>50%", str(folder)], io.StringIO(), io.StringIO()) == 1


@pytest.mark.hypothesis  # `make search` draws others
def test_every_random_trial_has_one_word_at_verdict_and_gate(trial):
    """What the gate proves by failures is what the verdict says, over random trials."""
    rng = np.random.default_rng([11, drawn_seed()])
    said = set()
    for number in range(examples(60)):
        rate = rng.choice([0, 0.05, 0.3, 0.7, 1.0], size=(2, 3), p=[0.3, 0.2, 0.2, 0.1, 0.2])
        dead = rng.random((9, 2, 3)) < rng.choice([0, 0.2])
        sessions = int(rng.integers(1, 8))

        def fails(s, v, b, k, rate=rate, dead=dead):
            cell = int(v == "new"), BENCHMARKS.index(b)
            if b == "random" and k == 0:
                return False  # so that there is something to judge
            return dead[(s, *cell)] or rng.random() < rate[cell]

        read = read_trial(trial(fails, sessions=sessions, folder=f"t{number}"))
        result = judge(read).candidates[0].multilevel
        for on in ("suite", "benchmarks"):
            found = gate(result, "slower>90%", on=on)
            told = {line.name: line for line in found.candidates[0].benchmarks}
            for line in result.benchmarks:
                fails_more = line.reason in ("fails-more", "fails-always")
                said.add((line.reason, line.fails_proven))
                assert told[line.name].reason == line.reason or not fails_more
                if fails_more:
                    assert line.outcome == "undecided"
                    assert (told[line.name].outcome == "proven") == line.fails_proven
                    assert found.exit_code == (1 if line.fails_proven else found.exit_code)
                    assert found.exit_code != 0
                else:
                    assert not line.fails_proven
                    assert told[line.name].reason not in ("fails-more", "fails-always")
    assert {(None, False), ("fails-more", True), ("fails-always", True)} <= said


def test_where_no_run_succeeded_the_command_that_says_why_is_named(trial):
    folder = trial(lambda *_: True, sessions=2)
    with pytest.raises(InsufficientDataError) as told:
        judge(read_trial(folder))
    assert told.value.fix == f"fairtrial status {folder} says which runs failed, and how"
