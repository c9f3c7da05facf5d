"""When a metric is read, and what a run's value must keep to: forms, mistakes, and what stays as it was.

Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before.
"""

from __future__ import annotations

import json

import pytest

from harness.campaign.model import Bound
from harness.campaign.schema import identity_of, resolved_text
from harness.trial.plan import plan_session

TEXT = """\
name: read
build: make
variants: {a: , b: }
benchmarks:
  x:
    command: [run]
    metrics:
      m: {regex: '(.+)', unit: ms, better: lower%s}
"""
EXPECT = TEXT % "" + "    expect: {metrics: %s}\n"


def test_it_is_read_after_the_run_the_hooks_or_the_build(load, tmp_path):
    for said, when in (("", "run"), (", when: run", "run"), (", when: build", "build")):
        (rule,) = load(TEXT % said).cells[0].metrics
        assert (rule.when, rule.source) == (when, "stdout")
    (rule,) = load(TEXT % ", when: after, from: 'cost-{variant}'").cells[0].metrics
    assert (rule.when, rule.source) == ("after", tmp_path / "cost-a")


def test_absent_is_the_campaign_of_before(load):
    plain, said = load(TEXT % ""), load(TEXT % ", when: run")
    assert identity_of(plain) == identity_of(said) == identity_of(load(EXPECT % "{}"))
    assert plain.to_dict() == said.to_dict() == load(EXPECT % "{}").to_dict()
    stored = json.loads(resolved_text(plain))
    cell = stored["campaign"]["cells"][0]
    assert "when" not in cell["metrics"][0]
    assert "bounds" not in cell["expect"]
    assert stored["defaults"]["metrics.*.when"] == "run"


def test_each_is_another_experiment_with_the_same_plan(load):
    texts = [
        TEXT % "",
        TEXT % ", when: build",
        TEXT % ", from: f",
        TEXT % ", from: f, when: build",
        TEXT % ", from: f, when: after",
        EXPECT % "{m: {at_most: 5}}",
        EXPECT % "{m: {at_least: 5}}",
        EXPECT % "{m: {at_most: 6}}",
    ]
    assert len({identity_of(load(text)) for text in texts}) == len(texts)
    plans = [list(plan_session(load(text), 7, 1, None)) for text in texts]
    assert all(plan == plans[0] for plan in plans)
    stored = json.loads(resolved_text(load(texts[4])))["campaign"]["cells"][0]["metrics"][0]
    assert stored["when"] == "after"


@pytest.mark.parametrize(
    ("said", "what", "fix"),
    [
        ("builds", "'when' must be run, after or build, not 'builds'", "did you mean 'build'?"),
        ("[run]", "'when' must be run, after or build, not a list", ""),
        ("", "'when' must be run, after or build, not an empty value", ""),
        ("after", "no hook changes what the run wrote to stdout", "name the file that a hook writes"),
        ("after, from: stderr", "no hook changes what the run wrote to stderr", "under 'from'"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place(problem, said, what, fix):
    found = problem(TEXT % f", when: {said}")
    assert found.where.split(":")[1] == "8"
    assert what in found.what
    assert fix in (found.fix or "")


def test_the_output_of_a_build_is_one_text(problem):
    found = problem(TEXT % ", from: stderr, when: build")
    assert found.what == "what the steps of a build write is one text"
    assert found.fix == "write from: stdout, which holds both"


@pytest.mark.parametrize("many", ["3", "auto"])
def test_a_build_has_no_iterations_to_warm_up(problem, load, many):
    found = problem(TEXT % f", when: build, warmup_iterations: {many}")
    assert found.what == "the metric 'm' is a number of the build, which has no iterations"
    assert (found.where.split(":")[1], found.fix) == ("8", "leave 'warmup_iterations' out")
    load(TEXT % ", when: build, warmup_iterations: 0")


def test_a_number_of_a_build_needs_one(problem, load):
    text = TEXT % ", when: build"
    found = problem(text.replace("b: }", "b: {build: []}}"))
    assert found.what == "the variant 'b' has no build"
    assert found.where.split(":")[1] == "8"
    assert "in the variants that have one" in found.fix
    found = problem(text.replace("build: make\n", ""))
    assert found.what == "the variant 'a' has no build"
    load(text.replace("build: make\n", "").replace("a: , b: ", "a: {build: m}, b: {build: n}"))


def test_what_a_build_prints_is_read_whatever_becomes_of_the_runs_output(load, problem):
    text = (TEXT % ", when: build") + "    stdout: discard\n"
    assert load(text).cells[0].metrics[0].when == "build"
    assert "discarded" in problem(text.replace(", when: build", "")).what


def test_a_file_that_the_build_makes_is_none_that_each_run_writes(problem, load):
    text = (TEXT % ", from: 'm-{variant}'%s").replace(
        "build: make", "build: {run: make, artifacts: ['m-{variant}']}"
    )
    for when in ("", ", when: after"):
        found = problem(text % when)
        assert found.what.startswith("the metric 'm' is read from a file that the build makes")
        assert (found.where.split(":")[1], found.fix) == ("8", "write 'when: build'")
    load(text % ", when: build")


def test_a_name_is_a_number_of_builds_or_of_runs(problem):
    other = "  y: {command: [run], metrics: {m: {regex: '(.)', unit: ms, better: lower%s}}}\n"
    found = problem((TEXT % ", when: build") + other % "")
    assert found.what == "the metric 'm' has 'when: build' elsewhere"
    assert found.where.split(":")[1] == "9"


@pytest.mark.parametrize("name", ["build_seconds", "build_max_rss", "program_bytes"])
def test_what_is_known_of_every_build_can_be_the_question(load, problem, name):
    load(TEXT % "" + f"judge: {name}\n")
    found = problem((TEXT % "").replace("b: }", "b: {build: []}}") + f"judge: {name}\n")
    assert f"no metric '{name}'" in found.what
    found = problem(TEXT % "" + f"judge: {name}\nprotocol: {{stop: {{width: 0.02}}}}\n")
    assert (
        found.what
        == f"'stop' counts runs, and '{name}', which is judged, is a number of the builds"
    )
    own = (TEXT % "").replace("m: {", f"{name}: {{")  # a declared metric of that name wins
    load(own + f"judge: {name}\nprotocol: {{stop: {{width: 0.02}}}}\n")


# ---- bounds


@pytest.mark.parametrize(
    ("said", "bound"),
    [
        ("{m: {at_most: 5}}", Bound(metric="m", at_most=5.0)),
        ("{m: {at_most: 980us}}", Bound(metric="m", at_most=0.98)),
        ("{m: {at_most: 1 s, at_least: 0}}", Bound(metric="m", at_most=1000.0, at_least=0.0)),
        ("{m: {at_least: -1.5e3}}", Bound(metric="m", at_least=-1500.0)),
    ],
)
def test_a_bound_is_in_the_metrics_unit(load, said, bound):
    campaign = load(EXPECT % said)
    assert [cell.expect.bounds for cell in campaign.cells] == [(bound,), (bound,)]
    stored = json.loads(resolved_text(campaign))["campaign"]["cells"][0]["expect"]["bounds"]
    assert stored == [{"metric": "m", "at_most": bound.at_most, "at_least": bound.at_least}]


def test_a_share_may_be_written_as_the_program_prints_it(load):
    text = (EXPECT % "{m: {at_most: 0.1 %}}").replace("unit: ms", "unit: '1'")
    assert load(text).cells[0].expect.bounds == (Bound(metric="m", at_most=0.001),)
    text = text.replace("unit: '1'", "unit: '%'")
    assert load(text).cells[0].expect.bounds == (Bound(metric="m", at_most=0.1),)


@pytest.mark.parametrize(
    ("said", "what", "fix"),
    [
        ("{n: {at_most: 5}}", "'n' is no metric that is declared there", "known here: m"),
        ("{wall: {at_most: 5}}", "'wall' is no metric that is declared", "known here: m"),
        ("{m: {}}", "needs 'at_most' or 'at_least'", ""),
        ("{m: 5}", "must be a mapping", ""),
        ("{m: {atmost: 5}}", "unknown key 'atmost'", "did you mean 'at_most'?"),
        ("{m: {at_most: few}}", "must be a number, such as 5, 20ms or 0.1 %, not 'few'", ""),
        ("{m: {at_most: 5 fortnights}}", "'5 fortnights' is in 'fortnights', which is not known", "write it in ms"),
        ("{m: {at_most: 5MB}}", "'5MB' is in 'MB', which cannot be converted to ms", "write it in ms"),
        ("{m: {at_most: 1, at_least: 2}}", "no value of 'm' keeps to both", "exchange them"),
        ("[m]", "must be a mapping", ""),
    ],
)  # fmt: skip
def test_a_mistake_in_a_bound_is_told_with_its_place(problem, said, what, fix):
    found = problem(EXPECT % said)
    assert found.where.split(":")[1] == "9"
    assert what in found.what
    assert fix in (found.fix or "")


def test_no_run_can_keep_to_a_number_of_the_build(problem):
    found = problem((EXPECT % "{m: {at_most: 5}}").replace("lower}", "lower, when: build}"))
    assert found.what == "the metric 'm' is a number of the build, and no run can keep to it"


@pytest.mark.parametrize(
    ("build", "after", "command", "word"),
    [
        ("echo 1 > m.txt", "true", "run", "build"),
        ("true", "echo 1 > m.txt", "run", "after"),
        ("true", "true", "run", None),
        ("true", "cat m.txt", "run > m.txt", None),  # the run may write it
        ("echo 1 > old-m.txt", "echo 1 > m.txt.gz; echo 1 > m.txt-2", "run", None),  # other files
    ],
)
def test_a_file_that_a_build_or_a_hook_names_and_no_run_is_noted(load, build, after, command, word):
    text = TEXT.replace(
        "build: make", f"build: {{shell: '{build}'}}\nhooks: {{after: {{shell: '{after}'}}}}"
    )
    text = text.replace("command: [run]", f"command: {{shell: '{command}'}}")
    found = [one for one in load(text % ", from: m.txt").notes if "the metric" in one]
    assert len(found) == (word is not None)
    assert all(one.endswith(f"add 'when: {word}' to the metric") for one in found)
    if word:
        there = load(text % f", from: m.txt, when: {word}").notes
        assert not any("the metric" in one for one in there)
