"""The key `warmup_iterations` of a metric: what it takes, what it changes, and mistakes.

Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before; what is
judged changes, never what is stored.
"""

from __future__ import annotations

import json

import pytest

from analysis.errors import CampaignError
from harness.campaign.schema import identity_of, resolved_text
from harness.trial.plan import plan_session

TEXT = """\
name: warm
variants: {a: , b: }
benchmarks:
  x:
    command: [run]
    metrics:
      t: {regex: 't (.)', unit: s, better: lower%s}
"""


def given(value: str) -> str:
    return TEXT % f", warmup_iterations: {value}"


@pytest.mark.parametrize(
    ("said", "meant"), [("0", 0), ("25", 25), ("auto", "auto"), ("100000", 100_000)]
)
def test_it_is_a_number_or_auto(load, said, meant):
    (rule,) = load(given(said)).cells[0].metrics
    assert rule.warmup_iterations == meant


@pytest.mark.parametrize("wrong", ["-1", "1.5", "100001", "some", "'5'", "", "[1]", "true"])
def test_anything_else_is_an_error_with_its_line(load, wrong):
    with pytest.raises(CampaignError) as caught:
        load(given(wrong))
    (problem,) = caught.value.problems
    assert "auto or a whole number from 0 to 100000" in problem.what
    assert problem.where.split(":")[1] == "7"


def test_absent_and_0_are_the_campaign_of_before(load):
    plain, zero = load(TEXT % ""), load(given("0"))
    assert identity_of(plain) == identity_of(zero)
    assert plain.to_dict() == zero.to_dict()
    stored = json.loads(resolved_text(plain))
    assert "warmup_iterations" not in stored["campaign"]["cells"][0]["metrics"][0]
    assert stored["defaults"]["metrics.*.warmup_iterations"] == 0


def test_it_is_part_of_the_identity_and_never_of_the_plan(load):
    texts = [TEXT % "", given("5"), given("auto")]
    assert len({identity_of(load(text)) for text in texts}) == len(texts)
    plans = [list(plan_session(load(text), 7, 1, None)) for text in texts]
    assert plans[0] == plans[1] == plans[2]
    stored = json.loads(resolved_text(load(given("auto"))))
    assert stored["campaign"]["cells"][0]["metrics"][0]["warmup_iterations"] == "auto"


def test_a_name_has_one_setting_everywhere(load):
    other = "\n  y: {command: [run], metrics: {t: {regex: '(.)', unit: s, better: lower}}}\n"
    with pytest.raises(CampaignError) as caught:
        load(given("5").rstrip() + other)
    (problem,) = caught.value.problems
    assert problem.what == "the metric 't' has 'warmup_iterations: 5' elsewhere"
    assert (problem.where.split(":")[1], problem.fix) == (
        "8",
        "write the same wherever the name stands",
    )
