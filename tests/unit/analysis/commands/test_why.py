"""From stored profiles to what is printed, and the exit code (docs/why.md, "Asking")."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from analysis.commands.why import (
    exit_code_of,
    explained,
    place_of,
    stored_profiles,
    targets_of,
    write_folded,
)
from analysis.data.trial import read_trial
from analysis.diagnose.why_result import WhyAnswer
from analysis.errors import UsageError
from analysis.option_groups import show
from analysis.record.printer import check_file
from analysis.verdict.judging import judge
from tests.profiled import CALLS, profile_beside
from tests.unit.analysis.conftest import build

TIMES = {"old": {"keys": [1.0, 1.1]}, "new": {"keys": [1.3, 1.4]}}
SAME = {chain: (ms[0], ms[0]) for chain, ms in CALLS.items()}


@pytest.fixture
def stored(tmp_path):
    path = build(TIMES, sessions=1).write(tmp_path / "t")
    return [profile_beside(path, build, variant="new")]


def test_every_benchmark_that_is_stored_has_an_answer_in_three_forms(stored):
    answer = explained(stored)
    assert [(one.variant, one.benchmark) for one in answer.answers] == [("new", "keys")]
    assert answer.answers[0].named
    with pytest.raises(UsageError, match="no profile of the benchmark 'text'") as caught:
        explained(stored, ("text",))
    assert caught.value.fix == "stored: keys"
    forms = {}
    for form in ("text", "md", "json"):
        out = io.StringIO()
        show(answer, out, as_json=form == "json", markdown=form == "md")
        forms[form] = out.getvalue()
    assert json.loads(forms["json"]) == answer.to_dict()
    assert forms["text"] == f"{answer}\n"
    assert "| function" in forms["md"]


def test_exit_codes(stored, tmp_path):
    there = explained(stored)
    assert [exit_code_of(there, require=require) for require in (False, True)] == [0, 0]
    path = build(TIMES, sessions=1).write(tmp_path / "same")
    same = explained([profile_beside(path, build, variant="new", calls=SAME)])
    assert same.answers[0].withheld == "total-not-resolved"
    assert [exit_code_of(same, require=require) for require in (False, True)] == [3, 3]
    both = WhyAnswer(answers=(*there.answers, *same.answers))
    assert exit_code_of(both, require=True) == 0
    few = WhyAnswer(answers=(replace(there.answers[0], rows=(), withheld="few-sessions"),))
    assert [exit_code_of(few, require=require) for require in (False, True)] == [0, 1]


def test_stacks_go_to_the_file_that_is_named(stored, tmp_path):
    write_folded(stored, explained(stored), str(tmp_path / "f.folded"))
    lines = (tmp_path / "f.folded").read_text().splitlines()
    assert {line.split(";")[0] for line in lines} == {"old", "new"}
    with pytest.raises(UsageError, match="there is no folder"):
        check_file(tmp_path / "absent" / "f.folded")


# --- What is explained where nothing is named, and what a name means (docs/why.md, "Asking"). The authority is the trial's own verdict


def values(factor, wobble, phase=0):
    return [factor * (1 + wobble * ((7 * k * k + phase * k) % 5 - 2)) for k in range(24)]


TARGETS_TIMES = {
    "old": {"keys": values(1.0, 0.001), "text": values(1.0, 0.001), "wait": values(1.0, 0.1)},
    "slow": {"keys": values(1.3, 0.001), "text": values(1.2, 0.001), "wait": values(1.01, 0.1, 3)},
    "mixed": {"keys": values(1.3, 0.001), "text": values(0.8, 0.001), "wait": values(1.01, 0.1, 3)},
    "fast": {"keys": values(0.7, 0.001), "text": values(0.8, 0.001), "wait": values(0.99, 0.1, 3)},
    "alike": {name: values(1.0, 0.1, 3) for name in ("keys", "text", "wait")},
}


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    return build(TARGETS_TIMES, sessions=6).write(tmp_path_factory.mktemp("trials") / "runs" / "t")


def chosen(trial, *names, **more):
    return {one.variant: one.benchmarks for one in targets_of(trial, *names, **more)}


def test_without_a_variant_these_are_all_that_are_slower_where_they_are(trial):
    assert chosen(trial, None) == {"slow": ("keys", "text"), "mixed": ("keys",)}
    assert chosen(trial, None, ["text"]) == {"slow": ("text",)}


def test_of_a_variant_these_are_the_benchmarks_that_are_decided(trial):
    assert chosen(trial, "mixed") == {"mixed": ("keys", "text")}
    assert chosen(trial, "fast") == {"fast": ("keys", "text")}
    assert chosen(trial, "alike") == {"alike": ("keys", "text", "wait")}  # none is
    assert chosen(trial, "fast", ["wait"]) == {"fast": ("wait",)}


def test_what_the_verdict_says_goes_along(trial):
    (target,) = targets_of(trial, "mixed")
    (one,) = judge(read_trial(trial), variants=["mixed"]).candidates
    assert one.multilevel is not None
    for line in one.multilevel.benchmarks[:2]:
        said = target.verdict_was[line.name]
        assert (said.outcome, said.speedup) == (line.outcome, line.speedup)
        assert (said.low, said.high, said.metric) == (line.low, line.high, "wall")


def test_another_metric_may_be_the_question(trial):
    (target,) = targets_of(trial, "mixed", metric="user")
    assert target.verdict_was["keys"].metric == "user"


def test_nothing_that_is_slower_is_told_with_a_variant_to_name(tmp_path):
    times = {name: TARGETS_TIMES[name] for name in ("old", "fast")}
    path = build(times, sessions=6).write(tmp_path / "t")
    with pytest.raises(UsageError, match="no candidate slower") as caught:
        targets_of(path, None)
    assert caught.value.fix == f"name one: fairtrial why {path}:fast"


def test_a_variant_is_explained_where_there_is_no_verdict(tmp_path):
    """One run of each in one session: no interval, and nothing is decided."""
    path = build({"old": {"keys": [1.0]}, "new": {"keys": [2.0]}}).write(tmp_path / "t")
    assert chosen(path, "new") == {"new": ("keys",)}


def test_unknown_names_are_refused(trial):
    for names in (("nobody",), ("old",), ("slow", ["nothing"]), (None, ["nothing"])):
        with pytest.raises(UsageError):
            targets_of(trial, *names)


def test_a_place_is_a_trial_with_or_without_a_variant(trial, tmp_path, monkeypatch):
    monkeypatch.chdir(trial.parents[1])
    assert place_of(f"{trial}:slow") == (trial, "slow")
    assert place_of(str(trial)) == (trial, None)
    assert place_of(None)[0].resolve() == trial
    with pytest.raises(UsageError, match="this is no trial"):
        place_of(str(tmp_path / "absent"))


def test_a_fleet_is_refused_with_where_to_look(fleet_folder):
    with pytest.raises(UsageError, match="this is a fleet") as caught:
        place_of(str(fleet_folder(["lab1"])))
    assert "its trial on this host" in (caught.value.fix or "")


def test_stored_profiles_are_those_of_the_trial_and_none_that_is_under_way(trial):
    for variant in ("slow", "mixed"):
        profile_beside(trial, build, variant=variant)
    (trial.with_name("t.why") / ".fast.part").mkdir()
    assert [path.name for path in stored_profiles(trial, None)] == ["mixed", "slow"]
    assert [path.name for path in stored_profiles(trial, "slow")] == ["slow"]
    with pytest.raises(UsageError, match="nothing is stored") as caught:
        stored_profiles(trial, "fast")
    assert caught.value.fix == f"record it: fairtrial why {trial}:fast"
