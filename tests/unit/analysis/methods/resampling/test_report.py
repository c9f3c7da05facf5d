"""The report of `fairtrial resample`: three answers from one root, and what is missing said."""

import json

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.resampling.report import resampling_report
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


def test_same_seed_same_answer():
    assert report().to_dict() == report().to_dict()
    assert report(seed=4).to_dict() != report().to_dict()


def test_one_run_of_each_gives_no_interval_and_says_so():
    found = report(matrix(runs=1), matrix("BB", 1.1, runs=1))
    assert found.interval is None
    assert "no interval: there is one run" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["interval"] is None
    assert found.test.exact


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
