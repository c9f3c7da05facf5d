"""The report of `fairtrial resample`: three answers from one root, and what is missing said."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import UsageError
from analysis.methods.resampling.page import resampling_report
from analysis.stats.arguments import stream


def matrix(name="A", factor=1.0, runs=5, **more):
    generator = np.random.default_rng(len(name))
    samples = {f"b{k}": factor * generator.lognormal(k, 0.02, runs) for k in range(4)}
    return PerformanceMatrix.from_samples(name, samples, better="lower", **more)


def report(*pair, seed=3, **options):
    pair = pair or (matrix(), matrix("BB", 1.1))
    return resampling_report(*pair, rng=stream(seed, "resample"), seed=seed, **options)


def test_three_answers_that_agree():
    found = report(resamples=2000)
    assert found.test.ratio == found.interval.ratio
    assert found.interval.low < found.test.ratio < found.interval.high
    first, second = found.distributions.systems
    assert second.observed / first.observed == pytest.approx(found.test.ratio)
    assert first.resamples == found.test.resamples == found.interval.resamples == 2000
    assert len(found.conclusions) == 3


def test_text_begins_with_the_answers_and_ends_with_cautions():
    found = report()
    text = str(found)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 96
    assert lines[0].startswith("A is 1.098 times as fast as BB")
    assert text.count("\ncautions\n") == 1
    assert text.index("Q1") < text.index("seed 3") < text.index("cautions")
    for word in ("reassigned", "single runs", "within one session only", "resampled"):
        assert word in " ".join(text.split())
    assert len(found.cautions) == len(set(found.cautions))


def test_json():
    found = report()
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["pvalue"] == found.test.pvalue
    assert data["interval"]["low"] == found.interval.low
    assert [s["name"] for s in data["distributions"]["systems"]] == ["A", "BB"]
    assert data["seed"] == 3
    assert data["cautions"] == [str(caution) for caution in found.cautions]
    assert data["caution_codes"] == [caution.code for caution in found.cautions]
    assert data["method"] == "resample"
    assert len(data["references"]) == len(set(data["references"])) >= 3


def test_same_seed_same_answer():
    assert report().to_dict() == report().to_dict()
    assert report(seed=4).to_dict() != report().to_dict()


def test_one_run_of_each_gives_no_interval_and_says_so():
    found = report(matrix(runs=1), matrix("BB", 1.1, runs=1))
    assert found.interval is None
    assert "no interval: there is one run" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["interval"] is None
    assert found.test.exact


def test_rounds_are_used_where_they_are_known():
    ids = {f"b{k}": list(range(5)) for k in range(4)}
    one = {f"b{k}": [1] * 5 for k in range(4)}
    pair = [matrix(n, blocks=ids, sessions=one) for n in ("A", "BB")]
    found = report(*pair)
    assert found.test.unit == found.interval.unit == "block"
    assert "whole rounds" in str(found)


@pytest.mark.parametrize(
    "options",
    [{"resamples": 0}, {"interval": "exact"}, {"unit": "block"}, {"sides": "both"}],
)
def test_wrong_arguments(options):
    with pytest.raises(UsageError):
        report(**options)


def test_further_systems_are_described_beside_the_two():
    alone = report()
    found = report(others=[matrix("CCC", 1.2)])
    assert (found.test.pvalue, found.interval.low) == (alone.test.pvalue, alone.interval.low)
    names = [system.name for system in found.distributions.systems]
    assert names == ["A", "BB", "CCC"]
    # what is drawn for the two does not depend on the others
    assert found.distributions.systems[0].q1 == alone.distributions.systems[0].q1
    assert "share of pairs of passes in which the row beats the column" in str(found)
    assert "beats the column" not in str(alone)
