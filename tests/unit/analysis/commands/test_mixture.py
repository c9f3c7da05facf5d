"""The command ``mixture``: how many resamples are drawn where nobody says."""

from __future__ import annotations

import io

import pytest

from analysis.errors import UsageError
from harness.cli import main


@pytest.mark.parametrize(
    ("benchmarks", "words", "resamples"),
    [
        ("x", [], 500),
        ("xy", [], 200),
        ("xy", ["--benchmark", "y"], 500),
        ("xy", ["--resamples", "7"], 7),
    ],
)
def test_one_benchmark_gets_more_resamples_than_each_of_several(
    synthetic, tmp_path, monkeypatch, benchmarks, words, resamples
):
    seen = []

    def asked(*_, options, **__):
        seen.append(options.resamples)
        raise UsageError("enough")

    monkeypatch.setattr("analysis.methods.mixture.report.mixture_report", asked)
    times = {"old": {bench: [1.0, 1.1, 0.9, 1.2] for bench in benchmarks}}
    trial = synthetic(times).write(tmp_path / "runs" / "one")
    main(["mixture", str(trial), *words], io.StringIO(), io.StringIO())
    assert seen == [resamples]
