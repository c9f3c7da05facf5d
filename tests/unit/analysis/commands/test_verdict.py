"""The command ``verdict``: what may be named, how it is asked, and what its exit code says."""

from __future__ import annotations

import io
import json
import math
import re
import shlex

import numpy as np
import pytest
from scipy import stats

from analysis.history.judging import judge_nights
from analysis.record.manifest import judging_with
from harness.cli import main
from harness.commands.command_parser import parser_for
from tests.unit.analysis.commands.conftest import executed
from tests.unit.analysis.history.judged.made_nights import nights_of, series
from tests.unit.analysis.history.made_bisections import searched
from tests.unit.analysis.history.test_step_search import made

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
    words = ("--benchmark", "b1", "--benchmark", "b2", "--margin", "5%", "--correction", "bh")
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


@pytest.mark.parametrize("given", ["weight=b1", "weight=b1=x", "weight==2", "margin=5", "margin=x"])
def test_a_weight_or_a_margin_that_is_none(trial, given):  # a margin of 5 would be 500 %
    code, _, err = executed("verdict", trial, f"--{given}")
    said = "--weight takes NAME=W|from 0 to below 1, such as 0.01, or 1%|'x' is not a number"
    assert (code, re.search(said, err) is None) == (2, False)


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
    assert f"{option.partition('=')[0]}" in err.partition("does nothing together with")[0]


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
    data = {name: {"b": np.exp(rng.normal(0, 0.02, 12)).tolist()} for name in ("old", "new", "x")}
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


# --- A short new trial against a long old one: every command says one interval, its law, and what to do


UNEQUAL_SIDES_BENCHES = ("text", "logs", "json")


def times(names, sessions, seed):
    """Draw 4 runs a session, whose levels differ by 1 % from session to session."""
    rng = np.random.default_rng(seed)
    return {
        name: {
            bench: [
                math.exp(level + 0.002 * x)
                for level in 0.01 * rng.standard_normal(sessions)
                for x in rng.standard_normal(4)
            ]
            for bench in UNEQUAL_SIDES_BENCHES
        }
        for name in names
    }


@pytest.fixture
def sides(synthetic, tmp_path):
    paths = []
    for k, (name, sessions) in enumerate((("new", 2), ("old", 10))):
        made = synthetic(times((name, "other"), sessions, 40 + k), sessions=sessions)
        paths.append(f"{made.write(tmp_path / 'runs' / name)}:{name}")
    return paths


def halves(line):
    return [
        math.hypot(
            *(
                stats.t.isf(alpha / 2, f) * e
                for e, f in zip(line["errors"], line["freedoms"], strict=True)
            )
        )
        for alpha in (0.05, line["pvalue"])
    ]


def test_verdict_and_gate_have_the_bound_its_parts_and_what_would_narrow_it(sides):
    code, out, _ = executed("verdict", *sides, "--json")
    assert code == 0
    found = json.loads(out)["candidates"][0]["multilevel"]
    for line in (*found["benchmarks"], found["these"]):
        assert (line["law"], line["freedom"]) == ("banerjee", None)
        assert line["freedoms"] == [1.0, 9.0]
        half, at_p = halves(line)
        assert math.log(line["high"] / line["speedup"]) == pytest.approx(half, rel=1e-9)
        assert abs(math.log(line["speedup"])) == pytest.approx(at_p, rel=1e-9)
        assert line["pvalue_welch"] < line["pvalue"]
    assert found["similar"]["law"] is None
    assert any("8 more of new" in told for told in found["cautions"])
    _, out, _ = executed("verdict", *sides, "--all")
    told = "2 sessions against 10: the bound for unequal numbers is taken; 8 more of new"
    assert told in " ".join(out.split())
    _, out, _ = executed("gate", "slower>1%", *sides, "--json")
    gated = json.loads(out)["candidates"][0]
    for line, told in zip(
        (*found["benchmarks"], found["these"]), (*gated["benchmarks"], gated["suite"]), strict=True
    ):
        distance = math.log(line["speedup"]) - math.log(1 / 1.01)
        both = 2 * min(told["pvalue_condition"], 1 - told["pvalue_condition"])
        half = halves({**line, "pvalue": both})[1]
        assert abs(distance) == pytest.approx(half, rel=1e-6)
    assert any("8 more of new" in told for told in json.loads(out)["cautions"])


def test_the_report_says_it(sides):
    code, out, err = executed("report", *sides, "--format", "html", "-o", "-")
    assert code == 0, err
    text = out.replace("\N{NO-BREAK SPACE}", " ")
    assert "2 sessions against 10" in text
    assert "more of new would make them equal" in text
    assert "Banerjee" in text


def test_equally_many_sessions_keep_welch(synthetic, tmp_path):
    made = synthetic(times(("new", "old"), 4, 50), sessions=4)
    paths = [f"{made.write(tmp_path / 'runs' / name)}:{name}" for name in ("new", "old")]
    found = json.loads(executed("verdict", *paths, "--json")[1])["candidates"][0]["multilevel"]
    assert found["design"] == "separate"
    for line in found["benchmarks"]:
        assert line["law"] == "welch"
        assert line["pvalue"] == line["pvalue_welch"]
        t = abs(math.log(line["speedup"])) / line["error"]
        assert line["pvalue"] == pytest.approx(2 * stats.t.sf(t, line["freedom"]), rel=1e-9)
    assert not any("unequal" in told for told in found["cautions"])


# --- The next command asks of the same iterations as the one before it, in every command that has such a line
#
# Authority: the promise of ``--warmup-iterations``: what is pasted judges what was judged.


ASKED = ["--warmup-iterations", "auto"]
TRIAL = "tests/data/sample-0.2.0"


def next_lines(*words):
    out = io.StringIO()
    main([str(word) for word in words], out, io.StringIO())
    text = re.sub(r" \\\n +", " ", out.getvalue())
    return [line for line in text.splitlines() if line.startswith("next  ")]


@pytest.mark.parametrize(
    "words",
    [
        ("verdict", f"{TRIAL}:gzip-1", f"{TRIAL}:gzip-6"),
        ("verdict", TRIAL, "--pairs"),
        ("gate", "slower>2%", TRIAL),
    ],
    ids=" ".join,
)
def test_next_commands_of_a_trial_ask_of_the_same_iterations(words):
    (line,) = next_lines(*words, *ASKED)
    assert " --warmup-iterations auto" in line
    (plain,) = next_lines(*words)  # negative control
    assert "--warmup-iterations" not in plain
    assert line.replace(" --warmup-iterations auto", "").split() == plain.split()
    again = shlex.split(line.partition("    ")[0])[2:]
    assert parser_for(again[0]).read(again).warmup_iterations == "auto"


def test_those_of_nights_and_of_bisections_do_too():
    nights = nights_of(
        series([0.0] * 30 + [0.1] * 30, commits=tuple(f"{k:040x}" for k in range(60)))
    )
    with judging_with(20):
        history = judge_nights(nights, asked=("runs", "--warmup-iterations", "20"))
        (step0,) = searched(made(40, {}), 40).next
    assert history.next[0].startswith("fairtrial bisect ")
    assert all(line.count("--warmup-iterations 20") == 1 for line in history.next)
    assert step0.endswith(" --warmup-iterations 20")
    assert "--warmup-iterations" not in "".join(judge_nights(nights, asked=("runs",)).next)


def test_of_files_it_is_said_that_nothing_is_left_out(tmp_path):
    for name, first in (("new", 0.9), ("old", 1.0)):
        runs = ",".join(f"{first + k / 1000}" for k in range(9))
        (tmp_path / f"{name}.csv").write_text(f"b,{runs}\n")
    words = ["verdict", str(tmp_path / "new.csv"), str(tmp_path / "old.csv"), "--better", "lower"]
    said = []
    for more in ([], ["--warmup-iterations", "3"]):
        out = io.StringIO()
        main([*words, *more, "--json"], out, io.StringIO())
        said.append(json.loads(out.getvalue())["caution_codes"].count("no-iterations"))
    assert said == [0, 1]
