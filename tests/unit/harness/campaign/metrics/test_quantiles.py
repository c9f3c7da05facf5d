"""The key `quantiles` of a metric: what it takes, the metrics that it adds, and mistakes.

Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before, and a declared
metric of that name wins.
"""

from __future__ import annotations

import json

import pytest

from harness.campaign.distributions import quantiles_of
from harness.campaign.schema import identity_of, resolved_text

TEXT = """\
name: slow
variants: {a: , b: }
%s
benchmarks:
  x:
    command: [run]
    metrics:
      t: {regex: 't (.)', unit: ms, better: lower%s}
"""


def given(value: str, further: str = "", above: str = "") -> str:
    return TEXT % (above, f", quantiles: {value}") + further


def test_each_is_a_further_metric_of_the_run(load):
    (cell, _) = load(given("[0.5, 0.99, 0.999, 1e-3, 0.07]")).cells
    assert [name for name, _, _ in quantiles_of(cell.metrics)] == [
        "t.p50", "t.p99", "t.p99.9", "t.p0.1", "t.p7",
    ]  # fmt: skip
    assert [rule for _, rule, _ in quantiles_of(cell.metrics)] == [cell.metrics[0]] * 5


@pytest.mark.parametrize(
    ("wrong", "what", "fix"),
    [
        ("[0]", "must be a number between 0 and 1, such as 0.99, not '0'", None),
        ("[1]", "must be a number between 0 and 1, such as 0.99, not '1'", "write 0.01"),
        ("[0.99999999999999999999]", "must be a number between 0 and 1", None),
        ("[99]", "must be a number between 0 and 1, such as 0.99, not '99'", "write 0.99"),
        ("[p99.9]", "must be a number between 0 and 1, such as 0.99, not 'p99.9'", "write 0.999"),
        ("['0.5']", "must be a number between 0 and 1", "write 0.5 without quotes"),
        ("[.nan]", "must be a number between 0 and 1", None),
        ("[0.5, 0.50]", "names 0.5 a second time", "delete one"),
        ("[]", "must not be empty", "give a value, or delete the key"),
        ("0.5", "must be a list, not '0.5'", "write [0.5]"),
        (f"[{', '.join(f'0.{k}' for k in range(100, 121))}]", "more than 20 entries", "delete some"),
    ],
)  # fmt: skip
def test_mistakes_have_their_line(wrong, what, fix, problem):
    told = problem(given(wrong))
    assert what in told.what
    assert told.where.split(":")[1] == "8"
    assert fix is None or told.fix == fix


def test_absent_is_the_campaign_of_before_and_it_is_part_of_the_identity(load):
    plain, asked = load(TEXT % ("", "")), load(given("[0.99]"))
    stored = json.loads(resolved_text(plain))
    assert "quantiles" not in stored["campaign"]["cells"][0]["metrics"][0]
    assert stored["defaults"]["metrics.*.quantiles"] == []
    assert identity_of(plain) != identity_of(asked)
    stored = json.loads(resolved_text(asked))
    assert stored["campaign"]["cells"][0]["metrics"][0]["quantiles"] == [0.99]


def test_a_declared_metric_of_that_name_wins_in_its_cells(load, problem):
    own = "      t.p99: {regex: 'p99 (.)', unit: ms, better: lower}\n"
    (cell, _) = load(given("[0.5, 0.99]", own)).cells
    assert [name for name, _, _ in quantiles_of(cell.metrics)] == ["t.p50"]
    other = "  y: {command: [run], metrics: {t.p99: {regex: '(.)', unit: s, better: lower}}}\n"
    told = problem(given("[0.5, 0.99]", other))
    assert "'t.p99' is in ms, lower is better, elsewhere" in told.what


def test_it_may_be_the_question_and_be_held_to_bounds(load, problem):
    campaign = load(
        given("[0.99]", "    expect: {metrics: {t.p99: {at_most: 1s}}}\n", "judge: t.p99")
    )
    assert campaign.judge == ("t.p99",)
    (bound,) = campaign.cells[0].expect.bounds
    assert (bound.metric, bound.at_most) == ("t.p99", 1000)
    unknown = problem(given("[0.99]", above="judge: t.p90"))
    assert "no metric 't.p90', which is to be judged" in unknown.what
    assert "did you mean 't.p99'" in (unknown.fix or "")


def test_a_number_of_the_build_has_no_quantiles(problem):
    build = "build: [[make]]"
    told = problem(given("[0.5], when: build", above=build))
    assert "is a number of the build, which has no iterations" in told.what
    assert told.fix == "leave 'quantiles' out"
