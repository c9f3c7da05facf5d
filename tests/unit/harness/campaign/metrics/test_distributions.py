"""Metrics that are read from histograms and printed tables: the keys, their mistakes, and what is read.

Authority: numpy's inverted_cdf of the values themselves and of weighted ones; the logs and numbers of tests/golden/hdr_logs.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.errors import CampaignError
from analysis.record.manifest import counted_quantile, rank_of
from harness.campaign.distributions import DistributionError, read_distribution
from harness.campaign.model import Campaign, MetricRule
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of, resolved_text

GOLDEN = Path(__file__).parents[4] / "golden" / "hdr_logs"
COMPUTED = json.loads((GOLDEN / "computed.json").read_text())
TEXT = """\
name: slow
variants: {a: , b: }
build: [[make]]
benchmarks:
  x:
    command: [run]
    metrics:
      t: {%s, better: lower}
"""


@pytest.fixture
def load(tmp_path: Path):
    def read(text: str) -> Campaign:
        path = tmp_path / "c.yaml"
        path.write_text(TEXT % text)
        return load_campaign(path)

    return read


def test_the_keys(load):
    rule = load("hlog: us, tag: get, from: x.hlog, unit: ms, quantiles: [0.99]").cells[0].metrics[0]
    assert (rule.hlog, rule.tag, rule.regex, rule.percentiles) == ("us", "get", None, None)
    table = load("percentiles: wrk, unit: ms, quantiles: [0.99]")
    assert table.cells[0].metrics[0].percentiles == "wrk"


@pytest.mark.parametrize(
    ("wrong", "what", "fix"),
    [
        ("unit: ms", "needs exactly one of 'regex', 'json', 'hlog' and 'percentiles'", None),
        ("hlog: us, percentiles: wrk, unit: ms", "needs exactly one of 'regex', 'json'", None),
        ("json: a, tag: get, unit: ms", "'tag' chooses lines of an 'hlog'", "leave it out"),
        ("hlog: on, unit: ms", "must be ns, us, ms or s, not 'on'", None),
        ("percentiles: stdout, unit: ms", "must be wrk, not 'stdout'", None),
        ("hlog: us, unit: MB", "'hlog' gives times, and the metric is in MB", "write one of time"),
        ("percentiles: wrk, unit: 1/s", "'percentiles' gives times, and the metric is in", None),
        ("hlog: us, unit: ms, when: build", "a build has no runs", "leave 'when' out"),
        ("hlog: us, unit: ms, warmup_iterations: 3", "it has no iterations", "leave it out"),
    ],
)
def test_mistakes_have_their_line(load, wrong, what, fix):
    with pytest.raises(CampaignError) as caught:
        load(wrong)
    (problem,) = caught.value.problems
    assert what in problem.what
    assert problem.where.split(":")[1] == "8"
    assert fix is None or fix in (problem.fix or "")


def test_absent_is_the_campaign_of_before(load):
    plain, asked = load("json: a, unit: ms"), load("hlog: us, unit: ms")
    stored = json.loads(resolved_text(plain))["campaign"]["cells"][0]["metrics"][0]
    assert {"hlog", "tag", "percentiles"}.isdisjoint(stored)
    assert identity_of(plain) != identity_of(asked)


def _rule(**about) -> MetricRule:
    return MetricRule(name="t", better="lower", **about)


@pytest.mark.parametrize("name", ["microseconds", "lognormal", "steps_of_1000"])
def test_quantiles_of_a_log_are_those_of_its_weighted_values(name):
    wanted = COMPUTED[name]
    values, weights = (
        np.array([*map(int, part)]) for part in (wanted["counts"], wanted["counts"].values())
    )
    shares = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
    rule = _rule(hlog="us", unit="ms", quantiles=shares)
    found = read_distribution(rule, (GOLDEN / f"{name}.hlog").read_text())
    for share in shares:
        rank = rank_of(share, wanted["total"])
        expected = np.quantile(values, share, weights=weights, method="inverted_cdf") / 1000
        assert found.quantiles[share] == (
            None if rank is None else pytest.approx(expected, rel=1e-15)
        )
    assert any(one is not None for one in found.quantiles.values())
    assert found.mean == pytest.approx(wanted["mean"] / 1000, rel=1e-12)
    assert sum(count for _, count in found.counts or ()) == wanted["total"]


def test_a_quantile_of_a_log_lies_within_its_digits_of_that_of_the_values_themselves():
    rng = np.random.default_rng(20261127)
    values = np.sort(rng.lognormal(8, 1, 5000).astype(int))
    bucket = np.array([v if v < 2048 else (((v >> s) + 1) << s) - 1 for v in values.tolist() for s in [max(v.bit_length() - 11, 0)]])  # fmt: skip
    counts = [
        (float(v), int(n)) for v, n in zip(*np.unique(bucket, return_counts=True), strict=True)
    ]
    for share in (0.5, 0.9, 0.99, 0.999):
        exact = np.quantile(values, share, method="inverted_cdf")
        assert counted_quantile(counts, share) == pytest.approx(exact, rel=1e-3)


WRK = """\
    Latency   635.91us    0.89ms  12.92ms   93.69%
  Latency Distribution
     50%  250.00us
     99%    5.80ms
  99 requests in 30.00s, 17.76GB read
"""


def test_percentiles_are_what_was_printed_and_unknown_of_too_few_requests():
    found = read_distribution(_rule(percentiles="wrk", unit="s", quantiles=(0.5, 0.99)), WRK)
    assert found.quantiles == {0.5: 0.00025, 0.99: None}
    assert (found.mean, found.counts) == (0.00063591, None)


@pytest.mark.parametrize(
    ("rule", "text", "said"),
    [
        (_rule(percentiles="wrk", unit="s", quantiles=(0.9,)), WRK, "no 90 %: it has 50, 99"),
        (_rule(percentiles="wrk", unit="s"), "", "it holds no table"),
        (_rule(hlog="us", unit="s"), "", "it holds no histogram"),
        (_rule(hlog="us", unit="s"), "1,1,1,HIST", "line 1: its histogram is cut off"),
    ],
)
def test_what_cannot_be_read_is_said(rule, text, said):
    with pytest.raises(DistributionError, match=said):
        read_distribution(rule, text)
