"""The key `judge`: what it may name, what it is no part of, and how a mistake is told.

Authority: a load generator of fixed duration was judged by its duration, while its throughput fell to 0.35.
"""

from __future__ import annotations

import dataclasses
import json

import pytest

from analysis.errors import CampaignError
from harness.campaign.schema import identity_of, resolved_text
from harness.trial.plan import plan_session

HEAD = """\
name: fixed
variants: {fast: {n: "1000"}, slow: {n: "300"}}
"""
LOAD = """\
benchmarks:
  load:
    command: ["echo", "rps {n}"]
    metrics: {rps: {regex: 'rps (.+)', unit: 1/s, better: higher}, p50: {regex: '(.+)', unit: s, better: lower}}
"""
OTHER = """\
  other: {command: ["true"]}
"""


@pytest.mark.parametrize(
    ("judge", "metrics"),
    [
        ("rps", ("rps",)),
        ("[rps]", ("rps",)),
        ("[p50, rps]", ("p50", "rps")),
        ("wall", ("wall",)),
        ("max_rss", ("max_rss",)),
    ],
)
def test_it_names_one_metric_or_several(load, judge, metrics):
    campaign = load(f"{HEAD}{LOAD}judge: {judge}\n")
    assert campaign.judge == metrics
    stored = json.loads(resolved_text(campaign))
    assert stored["campaign"]["judge"] == list(metrics)
    assert stored["defaults"]["judge"] == []


def test_what_meters_count_may_be_the_question(load):
    counted = "counters: [instructions, {raw: cpu/event=0x3c/, name: mine}]\n"
    campaign = load(f"{HEAD}{LOAD}{OTHER}{counted}energy: on\njudge: [mine, energy_package_j]\n")
    assert campaign.judge == ("mine", "energy_package_j")


def test_it_is_no_part_of_the_identity_and_of_the_plan(load):
    """Absent means the plan, the bytes and the identity of before."""
    without, with_it = load(HEAD + LOAD), load(f"{HEAD}{LOAD}judge: rps\n")
    assert identity_of(without) == identity_of(with_it)
    assert identity_of(without, 1) == identity_of(with_it, 1)
    plans = [list(plan_session(one, 7, 1, None)) for one in (without, with_it)]
    assert plans[0] == plans[1]
    changed = dataclasses.replace(without, baseline="slow")
    assert identity_of(changed) != identity_of(
        without
    )  # so that what is left out is this key alone


@pytest.mark.parametrize(
    ("text", "where", "what", "fix"),
    [
        (
            f"{HEAD}{LOAD}{OTHER}judge: rps\n",
            ":8:8",
            "benchmark 'other' has no metric 'rps', which is to be judged",
            "declare it there under 'metrics'",
        ),
        (
            f"{HEAD}{LOAD}judge: [rps, p5]\n",
            ":7:14",
            "benchmark 'load' has no metric 'p5'",
            "did you mean 'p50'? Known here: rps, p50, wall",
        ),
        (
            f"{HEAD}{LOAD}judge: instructions\n",
            ":7:8",
            "benchmark 'load' has no metric 'instructions'",
            "known here: rps, p50, wall",
        ),
        (f"{HEAD}{LOAD}judge: [rps, rps]\n", ":7:14", "names rps a second time", "delete one"),
        (f"{HEAD}{LOAD}judge: []\n", ":7:8", "must not be empty", ""),
        (f"{HEAD}{LOAD}judge: {{rps: 1}}\n", ":7:8", "the name of a metric or a list of them", ""),
        (f"{HEAD}{LOAD}jugde: rps\n", ":7:1", "unknown key 'jugde'", "did you mean 'judge'?"),
    ],
)
def test_a_mistake_is_told_with_its_place(problem, text, where, what, fix):
    found = problem(text)
    assert found.where.endswith(where)
    assert what in found.what
    assert fix in (found.fix or "")


def test_a_variant_whose_cell_lacks_it_is_named(problem):
    text = """\
    name: fixed
    variants:
      fast: {metrics: {rps: {regex: '(.+)', unit: 1/s, better: higher}}}
      slow:
    benchmarks: {load: {command: ["true"]}}
    judge: rps
    """
    assert "benchmark 'load' with variant 'slow' has no metric 'rps'" in problem(text).what


def test_many_benchmarks_are_counted(problem):
    others = "".join(f"  b{k}: {{command: ['true']}}\n" for k in range(5))
    found = problem(f"{HEAD}{LOAD}{others}judge: rps\n")
    assert "benchmarks 'b0', 'b1', 'b2' and 2 more have no metric 'rps'" in found.what


def test_a_benchmark_that_is_wrong_itself_is_told_alone(load):
    with pytest.raises(CampaignError) as caught:
        load(HEAD + LOAD.replace("unit: 1/s", "unti: 1/s") + "judge: rps\n")
    assert "judged" not in str(caught.value)


def test_what_a_service_uses_can_be_judged_and_no_other_service(load):
    text = HEAD + LOAD + "services: {s: {command: [s], ready: {output: up}}}\njudge: service."
    assert load(text + "s.cpu").judge == ("service.s.cpu",)
    with pytest.raises(CampaignError, match=r"no metric 'service\.t\.cpu', which is to be judged"):
        load(text + "t.cpu")
