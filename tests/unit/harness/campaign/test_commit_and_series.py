"""The keys `commit` and `series`: what they may say, what they are no part of, and how a mistake is told.

Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before.
"""

from __future__ import annotations

import dataclasses
import json
from textwrap import dedent

import pytest

from analysis.errors import CampaignError
from harness.campaign.schema import identity_of, resolved_text
from harness.trial.plan import plan_session

PLAIN = """\
name: versions
variants: {a: {rev: v1.0}, b: {rev: 4f0c2a1}, c: {rev: 9b77e02}}
benchmarks: {x: {command: ["echo", "{rev}"]}}
"""
UNUSED = PLAIN.replace("{rev}", "on")


@pytest.mark.parametrize(
    ("text", "commits"),
    [
        ("commit: '{rev}'", {"a": "v1.0", "b": "4f0c2a1", "c": "9b77e02"}),
        ("commit: 4f0c2a1", dict.fromkeys("abc", "4f0c2a1")),
        ("commit: 1234567", dict.fromkeys("abc", "1234567")),
        ("commit: 'nightly/{variant}'", {name: f"nightly/{name}" for name in "abc"}),
    ],
)
def test_each_variant_has_a_commit_of_its_own(load, text, commits):
    campaign = load(f"{PLAIN}{text}\n")
    assert campaign.commit == commits
    stored = json.loads(resolved_text(campaign))
    assert stored["campaign"]["commit"] == commits
    assert stored["defaults"]["commit"] == {}


def test_a_value_that_only_the_commit_uses_is_used(load, problem):
    assert load(f"{UNUSED}commit: '{{rev}}'\n").commit["b"] == "4f0c2a1"
    with pytest.raises(CampaignError, match="no template uses the value 'rev'"):
        load(UNUSED)  # so that it is this key that uses it


def test_a_series_keeps_the_variants_as_they_are_written(load):
    assert load(PLAIN).series is False
    assert load(f"{PLAIN}series: off\n").series is False
    campaign = load(f"{PLAIN}series: on\n")
    assert campaign.series is True
    assert campaign.variants == ("a", "b", "c")
    stored = json.loads(resolved_text(campaign))
    assert stored["campaign"]["series"] is True
    assert stored["defaults"]["series"] is False


def test_a_matrix_is_a_series_where_it_is_said(load):
    text = """\
    name: versions
    variants: {app: {matrix: {rev: [v1, v2, v3]}}}
    benchmarks: {x: {command: ["echo", "{rev}"]}}
    """
    assert load(text).series is False
    assert load(dedent(text) + "series: on\n").variants == ("app-v1", "app-v2", "app-v3")


@pytest.mark.parametrize("keys", ["series: on", "commit: '{rev}'", "series: on\ncommit: '{rev}'"])
def test_they_are_no_part_of_the_identity_and_of_the_plan(load, keys):
    without, with_it = load(PLAIN), load(f"{PLAIN}{keys}\n")
    assert identity_of(without) == identity_of(with_it)
    assert identity_of(without, 1) == identity_of(with_it, 1)
    plans = [list(plan_session(one, 7, 1, None)) for one in (without, with_it)]
    assert plans[0] == plans[1]
    changed = dataclasses.replace(with_it, baseline="b")
    assert identity_of(changed) != identity_of(without)  # so that what is left out is these alone


@pytest.mark.parametrize(
    ("text", "where", "what", "fix"),
    [
        ("commit: '{rov}'", ":4:10", "unknown placeholder '{rov}'", "known here: rev, variant"),
        ("commit: '{benchmark}'", ":4:10", "unknown placeholder '{benchmark}'", "variant"),
        ("commit: '{rev'", ":4:10", "the brace '{' stands alone", "write '{{'"),
        ("commit: [a, b, c]", ":4:9", "a text", ""),
        ("commit: ''", ":4:9", "'' names no commit for variant 'a'", "a hash or a tag"),
        ("commit: '--force'", ":4:9", "'--force' names no commit for variant 'a'", "a hash or a"),
        ("commit: 'a b'", ":4:9", "'a b' names no commit for variant 'a'", "a hash or a tag"),
        ("comit: '{rev}'", ":4:1", "unknown key 'comit'", "did you mean 'commit'?"),
        ("series: 3", ":4:9", "on or off", ""),
        ("series: [a, b, c]", ":4:9", "on or off", ""),
        ("serie: on", ":4:1", "unknown key 'serie'", "did you mean 'series'?"),
    ],
)
def test_a_mistake_is_told_with_its_place(problem, text, where, what, fix):
    found = problem(f"{PLAIN}{text}\n")
    assert found.where.endswith(where)
    assert what in found.what
    assert fix in (found.fix or "")


def test_a_variant_without_the_value_is_named(problem):
    found = problem(UNUSED.replace("b: {rev: 4f0c2a1}", "b: {}") + "commit: '{rev}'\n")
    assert found.where.endswith(":4:10")
    assert found.what == "'{rev}' has no value for variant 'b'"


@pytest.mark.parametrize(
    ("variants", "said"), [("{a: {}}", "and here is 1"), ("{a: {}, b: {}}", "and here are 2")]
)
def test_two_variants_are_no_series(problem, variants, said):
    text = f"name: n\nvariants: {variants}\nbenchmarks: {{x: {{command: ['true']}}}}\nseries: on\n"
    found = problem(text)
    assert found.where.endswith(":4:9")
    assert found.what == f"a series has 3 variants or more, {said}"
    assert found.fix == "name more variants, or leave 'series' out"
