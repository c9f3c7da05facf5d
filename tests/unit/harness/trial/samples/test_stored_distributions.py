"""What a trial stores of histograms and printed percentiles, and what the judge reads of it.

Authority: the logs and their counts in tests/golden/hdr_logs, which another implementation wrote and read; numpy's inverted_cdf.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, StoreError
from analysis.record.shapes import StoredSamples, read_samples
from harness.campaign.model import Command, MetricRule

GOLDEN = Path(__file__).parents[4] / "golden" / "hdr_logs"
WANTED = json.loads((GOLDEN / "computed.json").read_text())["lognormal"]
COUNTS = {int(value) / 1000: count for value, count in WANTED["counts"].items()}
SHARES = (0.5, 0.99, 0.999)
TABLE = "Latency Distribution\n 50% 1.50ms\n 99% 9.00ms\n  {requests} requests in 1s\n"


@pytest.fixture
def writing(stage, campaign, make_cell):
    """Make a campaign whose programs write this text, read by a rule of this kind."""

    def make(text: str, **rule):
        def target(request):
            request.stdout.write_text(text)

        stage.target = target
        made = MetricRule(name="t", unit="ms", better="lower", **rule)
        cells = tuple(
            make_cell(
                "x",
                variant,
                command=Command(argv=("true",), mark="campaign.yaml:1:1"),
                metrics=(made,),
            )
            for variant in ("a", "b")
        )
        return campaign(("x",), cells=cells, sessions=2, runs=2)

    return make


def test_a_histogram_is_stored_whole_and_its_quantiles_stand_in_the_row(stage, writing):
    log = (GOLDEN / "lognormal.hlog").read_text()
    stage.start(writing(log, hlog="us", quantiles=SHARES))
    values, weights = np.array([*COUNTS]), np.array([*COUNTS.values()])
    for row in stage.rows:
        about = StoredSamples(**row["samples"]["t"])
        assert (about.form, about.count) == ("counts", 2 * len(COUNTS))
        path = stage.trial / "samples" / f"{row['position']:04d}-t.f64.gz"
        pairs = np.frombuffer(read_samples(path, about), "<f8").reshape(-1, 2)
        assert dict(pairs.tolist()) == COUNTS
        assert row["metrics"]["t"] == [pytest.approx(WANTED["mean"] / 1000, rel=1e-12)]
        assert row["metrics"]["t.p99.9"] == []  # of 240 values
        for share, name in ((0.5, "t.p50"), (0.99, "t.p99")):
            assert row["metrics"][name] == [np.quantile(values, share, weights=weights, method="inverted_cdf")]  # fmt: skip
    trial = read_trial(stage.trial)
    assert trial.quantile_basis("t.p99").level == "session"
    together = np.quantile(values, 0.99, weights=2 * weights, method="inverted_cdf")
    assert trial.matrix("a", "t.p99").samples[0].tolist() == [together] * 2
    with pytest.raises(InsufficientDataError):  # 480 values of two runs are too few for it
        trial.matrix("a", "t.p99.9")


def test_a_histogram_that_is_gone_or_changed_is_an_error_that_names_it(stage, writing):
    stage.start(writing((GOLDEN / "lognormal.hlog").read_text(), hlog="us", quantiles=SHARES))
    path = stage.trial / "samples" / f"{stage.rows[-1]['position']:04d}-t.f64.gz"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StoreError, match=path.name):
        read_trial(stage.trial).matrix("b", "t.p99")


def test_histograms_that_were_not_kept_leave_the_quantiles_of_runs(stage, writing):
    made = writing((GOLDEN / "lognormal.hlog").read_text(), hlog="us", quantiles=SHARES)
    stage.start(replace(made, isolation=replace(made.isolation, kept_outputs_bytes=0)))
    assert {row["samples"]["t"]["sha256"] for row in stage.rows} == {None}
    assert read_trial(stage.trial).quantile_basis("t.p99").why == "not-kept"


def test_printed_percentiles_are_told_as_such_and_have_no_file(stage, writing):
    stage.start(writing(TABLE.format(requests=5000), percentiles="wrk", quantiles=(0.5, 0.99)))
    for row in stage.rows:
        assert row["samples"] == {"t": {"form": "percentiles", "count": 5000, "sha256": None}}
        assert row["metrics"] == {"t": [], "t.p50": [1.5], "t.p99": [9.0]}
    assert not (stage.trial / "samples").exists()
    trial = read_trial(stage.trial)
    assert trial.quantile_basis("t.p99").why == "printed"
    assert trial.matrix("a", "t.p99").samples[0].tolist() == [9.0] * 4


def test_too_few_requests_leave_a_printed_percentile_unknown_and_that_is_said(stage, writing):
    stage.start(writing(TABLE.format(requests=99), percentiles="wrk", quantiles=(0.5, 0.99)))
    assert stage.rows[0]["metrics"]["t.p99"] == []
    (told, _) = stage.findings("quantiles")[:2]
    assert "t.p99 is unknown in" in told["what"]


def test_a_log_that_cannot_be_read_leaves_no_file(stage, writing):
    stage.start(writing("no log\n", hlog="us", quantiles=(0.5,)))
    assert {row["outcome"] for row in stage.rows} == {"unparsable"}
    assert "line 1: it is no interval" in stage.rows[0]["detail"]
    assert not (stage.trial / "samples").exists()
