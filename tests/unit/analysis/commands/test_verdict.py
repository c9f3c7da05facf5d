"""The command ``verdict``: what may be named, how it is asked, and what its exit code says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from .conftest import executed

BENCHES = [f"b{k}" for k in range(3)]


@pytest.fixture
def trial(synthetic, tmp_path):
    rng = np.random.default_rng(1)
    data = {
        name: {b: (factor * np.exp(rng.normal(0, 0.01, 12))).tolist() for b in BENCHES}
        for name, factor in (("old", 1.0), ("new", 0.5), ("slow", 1.6))
    }
    return synthetic(data, sessions=6).write(tmp_path / "runs" / "one")


def values(text):
    """Read several objects that stand one after the other."""
    found, rest = [], text.strip()
    while rest:
        value, end = json.JSONDecoder().raw_decode(rest)
        found.append(value)
        rest = rest[end:].strip()
    return found


def test_without_a_source_the_newest_trial(trial, monkeypatch):
    monkeypatch.chdir(trial.parents[1])
    code, text, _ = executed("verdict")
    assert code == 0
    assert "\n\nsynthetic on lab07 · wall time · " in text
    assert "next  fairtrial why runs/one:slow    in which functions it takes longer" in text


def test_one_candidate_by_name_or_option(trial):
    assert executed("verdict", f"{trial}:new") == executed("verdict", trial, "--variant", "new")
    code, _, err = executed("verdict", f"{trial}:old")
    assert code == 2
    assert "is the baseline" in err


def test_options_reach_the_method(trial):
    words = ("--benchmark", "b1", "--benchmark", "b2", "--margin", "0.05", "--correction", "bh")
    code, text, _ = executed(
        "verdict", trial, "--json", *words, "--weight", "b1=3", "--looks", "2", "--variant", "new"
    )
    assert code == 0
    (found,) = values(text)
    (candidate,) = found["candidates"]
    result = candidate["multilevel"]
    assert [line["name"] for line in result["benchmarks"]] == ["b1", "b2"]
    assert (result["margin"], result["correction"], result["looks"]) == (0.05, "bh", 2)
    logs = [np.log(line["speedup"]) for line in result["benchmarks"]]
    assert np.log(result["these"]["speedup"]) == pytest.approx((3 * logs[0] + logs[1]) / 4)
    assert found["schema"] == 2


@pytest.mark.parametrize("weight", ["b1", "b1=x", "=2"])
def test_a_weight_that_is_none(trial, weight):
    code, _, err = executed("verdict", trial, "--weight", weight)
    assert code == 2
    assert "--weight takes NAME=W" in err


def test_several_metrics_are_one_screen_each(trial):
    code, text, _ = executed("verdict", trial, "--metric", "wall,user", "--json")
    assert code == 0
    assert [one["metric"] for one in values(text)] == ["wall", "user"]


def test_explain_stands_below_the_same_screen(trial):
    _, short, _ = executed("verdict", trial, "--variant", "new")
    code, text, _ = executed("verdict", trial, "--variant", "new", "--explain")
    assert code == 0
    assert text.startswith(short.partition("\n\nnote")[0].partition("\n\nnext")[0])
    assert "why they differ" in text


def test_two_variants_of_one_trial_pair_by_session(trial):
    code, text, _ = executed("verdict", f"{trial}:slow", f"{trial}:new", "--json")
    assert code == 0
    (found,) = values(text)
    assert (found["trial"], found["baseline"]) == (None, "new")
    assert found["candidates"][0]["multilevel"]["design"] == "paired"


def test_sides_of_two_trials_never_share_a_session(trial, synthetic, tmp_path):
    again = synthetic({"old": {b: [1.0, 1.1] * 6 for b in BENCHES}}, sessions=6)
    other = again.write(tmp_path / "runs" / "two")
    code, text, _ = executed("verdict", f"{trial}:new", f"{other}:old", "--json")
    assert code == 0
    (found,) = values(text)
    assert found["candidates"][0]["multilevel"]["design"] == "separate"
    assert "two-trials" in found["caution_codes"]


@pytest.mark.parametrize(
    "option", ["--pairs", "--rank", "--variant=x", "--metric=wall,user", "--certificate=x"]
)
def test_what_is_for_one_trial_is_refused_of_two_sides(trial, option):
    code, _, err = executed("verdict", f"{trial}:new", f"{trial}:old", option)
    assert code == 2
    assert f"{option.replace('=x', '').replace('=', ' ')} is for one trial" in err


@pytest.mark.parametrize("asked", ["--pairs", "--rank"])
@pytest.mark.parametrize(
    "option", ["--gate=slower>2%", "--explain", "--ratio", "--always-valid", "--correction=bh"]
)
def test_what_pairs_and_ranks_do_not_have_is_refused(trial, asked, option):
    # seen: --pairs --gate 'slower>2%' passed a slower program with exit code 0
    code, shown, err = executed("verdict", trial, asked, option)
    assert (code, shown) == (2, "")
    assert f"{option.partition('=')[0]}" in err.partition("does nothing beside")[0]


def test_pairs_lead_back_to_the_metric_that_was_asked(trial, monkeypatch):
    monkeypatch.chdir(trial.parents[1])
    for words in ((), ("--metric", "wall")):
        _, text, _ = executed("verdict", "runs/one", "--pairs", *words)
        command = " ".join(("fairtrial verdict runs/one", *words))
        assert f"next {command} against the baseline" in " ".join(text.split())


@pytest.mark.parametrize("command", [("verdict", "{}"), ("history", "{}")])
def test_what_may_be_missing_is_said_of_a_gate(trial, command):
    code, _, err = executed(*(word.format(trial) for word in command), "--allow-missing")
    assert (code, "--allow-missing is for --gate" in err) == (2, True)


def test_each_append_is_a_look(trial):
    path = trial / "manifest.json"
    manifest = json.loads(path.read_text())
    for times in (0, 2):
        one = {"at": "2026-11-22T04:00:00Z", "first": 4, "last": 4}
        path.write_text(json.dumps(manifest | {"appended": [one] * times}))
        for command in (("verdict",), ("gate", "slower>2%")):
            _, text, _ = executed(*command, trial, "--json")
            (found,) = values(text)
            looks = (one["looks"] for one in (found, *found["candidates"]) if "looks" in one)
            assert set(looks) == {1 + times}


def test_always_valid_needs_no_looks(trial):
    code, text, _ = executed("verdict", trial, "--always-valid", "--json")
    assert code == 0
    (found,) = values(text)
    assert (found["looks"], found["always_valid"]) == (1, True)
    code, _, err = executed("verdict", trial, "--always-valid", "--looks", "2")
    assert code == 2
    assert "exclude each other" in err


def test_a_condition_that_is_none_is_refused_before_anything_is_read():
    assert executed("verdict", "nowhere", "--gate", "fast")[0] == 2


@pytest.mark.parametrize(("variant", "code"), [("new", 0), ("slow", 1)])
def test_the_gate_gives_the_exit_code(trial, variant, code):
    found, text, _ = executed("verdict", f"{trial}:{variant}", "--gate", "slower>2%")
    assert found == code
    assert "\n\nsynthetic on lab07 · wall time · " in text


def test_an_open_gate_is_asked_again_as_it_was(synthetic, tmp_path, monkeypatch):
    # seen: the variant of runs/NAME:VARIANT and the confidence were lost, and another gate was asked
    rng = np.random.default_rng(2)
    data = {name: {"b": np.exp(rng.normal(0, 0.1, 12)).tolist()} for name in ("old", "new", "x")}
    synthetic(data, sessions=3).write(tmp_path / "one")
    monkeypatch.chdir(tmp_path)
    again = "next  fairtrial gate 'slower>2%' one --variant new --confidence 0.99"
    for words in (("verdict", "one:new", "--gate", "slower>2%"), ("gate", "slower>2%", "one:new")):
        code, text, _ = executed(*words, "--confidence", "0.99")
        assert (code, again in text.replace(" \\\n         ", "")) == (7, True)


@pytest.mark.parametrize(("codes", "worst"), [([1, 7, 0], 1), ([0, 0, 7], 7), ([0, 0, 0], 0)])
def test_of_several_gates_what_is_proven_counts_most(trial, monkeypatch, codes, worst):
    # authority: the gate itself, of several candidates (docs/ci.md)
    monkeypatch.setattr("analysis.commands.verdict._gated", lambda *_, **__: codes.pop())
    words = ("verdict", trial, "--metric", "wall,user,system", "--gate", "slower>2%")
    assert executed(*words)[0] == worst
