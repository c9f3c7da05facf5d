"""A short new trial against a long old one: every command says one interval, its law, and what to do."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from .conftest import executed

BENCHES = ("text", "logs", "json")


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
            for bench in BENCHES
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
