"""Metrics that are read from histograms and printed tables: the keys, their mistakes, and what is read.

Authority: numpy's inverted_cdf of the values themselves and of weighted ones; the logs and numbers of tests/golden/hdr_logs.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as hdr_logs_given, settings, strategies as st

from analysis.errors import CampaignError
from analysis.record.manifest import counted_quantile, rank_of
from harness.campaign.distributions import (
    DistributionError,
    HdrHistogram,
    UnitError,
    decoded,
    number_in,
    quantiles_of,
    read_distribution,
    read_log,
    read_percentiles,
)
from harness.campaign.model import Campaign, MetricRule
from harness.campaign.resolve import load_campaign
from harness.campaign.schema import identity_of, resolved_text
from tests.examples import examples

GOLDEN = Path(__file__).parents[3] / "golden" / "hdr_logs"
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
def distributions_load(tmp_path: Path):
    def read(text: str) -> Campaign:
        path = tmp_path / "c.yaml"
        path.write_text(TEXT % text)
        return load_campaign(path)

    return read


def test_the_keys(distributions_load):
    rule = (
        distributions_load("hlog: us, tag: get, from: x.hlog, unit: ms, quantiles: [0.99]")
        .cells[0]
        .metrics[0]
    )
    assert (rule.hlog, rule.tag, rule.regex, rule.percentiles) == ("us", "get", None, None)
    table = distributions_load("percentiles: wrk, unit: ms, quantiles: [0.99]")
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
def test_mistakes_have_their_line(distributions_load, wrong, what, fix):
    with pytest.raises(CampaignError) as caught:
        distributions_load(wrong)
    (problem,) = caught.value.problems
    assert what in problem.what.replace("' '", "")  # a key is named once
    assert problem.where.split(":")[1] == "8"
    assert fix is None or fix in (problem.fix or "")


def test_absent_is_the_campaign_of_before(distributions_load):
    plain, asked = distributions_load("json: a, unit: ms"), distributions_load("hlog: us, unit: ms")
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


# --- The key `quantiles` of a metric: what it takes, the metrics that it adds, and mistakes
#
# Authority: the contract of keys to come: absent means the plan, the bytes and the identity of before, and a declared
# metric of that name wins.


QUANTILES_TEXT = """\
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
    return QUANTILES_TEXT % (above, f", quantiles: {value}") + further


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
def test_mistakes_have_their_line_quantiles(wrong, what, fix, problem):
    told = problem(given(wrong))
    assert what in told.what
    assert told.where.split(":")[1] == "8"
    assert fix is None or told.fix == fix


def test_absent_is_the_campaign_of_before_and_it_is_part_of_the_identity(load):
    plain, asked = load(QUANTILES_TEXT % ("", "")), load(given("[0.99]"))
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


# --- Units that come with a number
#
# Authority: the SI's prefixes and those of IEC 80000-13; a number is converted by whole numbers, so that its decimals stay.


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("980us", "ms", 0.98),
        ("980 µs", "s", 0.00098),
        ("1.2ms", "ms", 1.2),
        ("1.2ms", "us", 1200.0),
        ("1.2", "ms", 1.2),
        ("-3e2 ns", "us", -0.3),
        (".5min", "s", 30.0),
        ("2h", "min", 120.0),
        ("3.4GB", "MB", 3400.0),
        ("3 MiB", "B", 3 * 2**20),
        ("95 %", "%", 95.0),
        ("95 %", "1", 0.95),
        ("0.001", "%", 0.001),
        ("12MB/s", "kB/s", 12_000.0),
        ("3 ms/op", "us/op", 3000.0),
        ("2.4GHz", "MHz", 2400.0),
        ("7 widgets", "widgets", 7.0),
        ("0.1 msec", "us", 100.0),
        ("1.001 kB", "B", 1001.0),
        ("1e-999999999ms", "s", 0.0),
    ],
)
def test_a_number_is_given_in_the_declared_unit(text, unit, number):
    assert number_in(text, unit) == number


@pytest.mark.parametrize(
    ("text", "unit", "why"),
    [
        ("12 KB", "B", "'12 KB' is in 'KB', which is not known; known are B, kB, MB,"),
        ("12 ms", "B", "'12 ms' is in 'ms', which cannot be converted to B"),
        ("12 MB", "MB/s", "cannot be converted to MB/s"),
        ("12 ms/op", "ms/row", "cannot be converted to ms/row"),
        ("12 fortnights", "s", "is not known; known are ns, nsec, us,"),
        ("12 ms", "widgets", "cannot be converted to widgets"),
        ("12 gadgets", "widgets", "'12 gadgets' is in 'gadgets', which is not the metric's unit, widgets"),
        ("0x10", "B", "'0x10' is in 'x10'"),
        ("1.2.3ms", "ms", "'1.2.3ms' is not a finite number"),
        ("1,200us", "us", "is not a finite number"),
        ("", "s", "'' is not a finite number"),
        ("nan", "s", "'nan' is not a finite number"),
        ("1e999ms", "s", "is not a finite number"),
        ("1e308h", "ns", "is not a finite number in ns"),
        ("ms", "ms", "'ms' is not a finite number"),
        ("1" * 400_000 + "x" * 30, "s", "it has 400030 characters"),  # quadratic once: no end in 40 s
        ("1" * 400_000 + " s", "ms", "it has 400002 characters"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said(text, unit, why):
    with pytest.raises(UnitError) as caught:
        number_in(text, unit)
    assert why in str(caught.value)


# --- Logs of HdrHistogram are read and merged exactly
#
# Authority: the package hdrhistogram, which wrote and read the logs in tests/golden/hdr_logs; the first interval of the library's own
# sample log, of which the tests of its ports for Go, C and JavaScript say what it holds; numpy's inverted_cdf, of weighted values.


# of the library's sample of jHiccup 2.0.7: 741 values
SAMPLE = "HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI="
LINE = "0.127,1.007,2.769," + SAMPLE


def _quantile(found: HdrHistogram, share: float) -> int:
    values, weights = np.array(list(found.counts)), np.array(list(found.counts.values()))
    return int(np.quantile(values, share, weights=weights, method="inverted_cdf"))


@pytest.mark.parametrize("name", COMPUTED)
def test_counts_and_mean_are_those_of_another_implementation(name: str) -> None:
    file, _, tag = name.partition(":")
    found = read_log((GOLDEN / f"{file}.hlog").read_text(), tag or None)
    wanted = COMPUTED[name]
    assert found.counts == {int(value): count for value, count in wanted["counts"].items()}
    assert list(found.counts) == sorted(found.counts)
    assert found.total == wanted["total"]
    assert float(found.mean) == pytest.approx(wanted["mean"], rel=1e-12)


def test_the_librarys_own_sample_holds_what_its_ports_say() -> None:
    found = decoded(SAMPLE)
    assert found.total == 741
    assert max(found.counts) == 2_768_895
    assert _quantile(found, 0.5) == 344_063
    assert _quantile(found, 0.99) == 409_599
    assert int(found.mean) == 301_998


def test_intervals_are_merged_and_other_lines_left_out() -> None:
    text = f'#[StartTime: 1 (seconds since epoch)]\n"StartTimestamp","Interval_Length"\n{LINE}\r\n\n{LINE}\n'
    found, one = read_log(text), decoded(SAMPLE)
    assert found.counts == {value: 2 * count for value, count in one.counts.items()}
    assert found.middles == 2 * one.middles


def test_a_tag_that_all_lines_have_needs_no_name() -> None:
    assert read_log(f"Tag=get,{LINE}\n").total == 741


@pytest.mark.parametrize(
    ("text", "tag", "said"),
    [
        ("#[only a comment]\n", None, "it holds no histogram"),
        (f"Tag=a,{LINE}\nTag=b,{LINE}\n", None, "its lines have the tags 'a', 'b': say which"),
        (f"{LINE}\nTag=b,{LINE}\n", None, "tags none, 'b': say which with 'tag'"),
        (f"Tag=a,{LINE}\n", "b", "its lines have the tags 'a': and not 'b'"),
        (f"{LINE}\n0.1,0.2\n", None, "line 2: it is no interval"),
        (f"{LINE[:-9]}\n", None, "line 1: its histogram is cut off"),
        (f"{LINE[:30]}\n", None, "line 1: its histogram is cut off"),
        (f"1,1,1,{'ä' * 9}\n", None, "line 1: its histogram is cut off, or no base64"),
        ("1,1,1,DHISTAAAAAAAAA==\n", None, "line 1: its histogram is of another kind"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(text: str, tag: str | None, said: str) -> None:
    with pytest.raises(DistributionError) as caught:
        read_log(text, tag)
    assert said in str(caught.value)


def _packed(body: bytes, *, cookie: int = 0x1C849313, digits: int = 3, shift: int = 0) -> str:
    head = struct.pack(">iiiiqqd", cookie, len(body), shift, digits, 1, 1000, 1.0)
    packed = zlib.compress(head + body)
    return base64.b64encode(struct.pack(">Ii", 0x1C849314, len(packed)) + packed).decode()


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (_packed(b"\x02", cookie=0x1C849301), "its head does not fit the rest"),
        (_packed(b"\x02", shift=5), "shifted or scaled"),
        (_packed(b"\x02", digits=9), "9 digits"),
        (_packed(b"\x82"), "cut off"),
        (_packed(b"\x00"), "a count of 0"),
        (_packed(b"\xff\xff\x7f\x02"), "counts values beyond 1000"),
        # zeros that skip 2^55 buckets: to shift by so many bits takes all memory
        (_packed(b"\xff" * 8 + b"\x7f\x02"), "counts values beyond 1000"),
        (base64.b64encode(struct.pack(">Ii", 0x1C849309, 0)).decode(), "of an older version"),
        (base64.b64encode(struct.pack(">Ii", 0x0C72124F, 0)).decode(), "floating-point values"),
        (base64.b64encode(struct.pack(">Ii", 0x1C849313, 0)).decode(), "is not compressed"),
    ],
)
def test_a_damaged_histogram_is_refused(payload: str, said: str) -> None:
    with pytest.raises(DistributionError, match=said):
        decoded(payload)


def test_a_log_without_values_is_refused() -> None:
    with pytest.raises(DistributionError, match="hold no value"):
        read_log(f"0,1,0,{_packed(b'')}\n")


def test_a_count_of_64_bits_has_nine_bytes() -> None:
    assert decoded(_packed(b"\xfe" + b"\xff" * 8)).counts == {0: 2**63 - 1}


@settings(max_examples=examples(100))
@hdr_logs_given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for payload in (_packed(body), base64.b64encode(body).decode()):
        try:
            assert decoded(payload).total >= 0
        except DistributionError:
            continue


# --- What wrk and wrk2 print of latencies is read as it stands there
#
# Authority: texts as the two programs print them (`print_stats` and `format_time_us` of their sources): times in us, ms, s or m.


WRK_TABLES_WRK = """\
Running 30s test @ http://127.0.0.1:8080/index.html
  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%    1.20m
     99%    5.80ms
  22464657 requests in 30.00s, 17.76GB read
Requests/sec: 748868.53
"""
WRK2 = """\
  Thread calibration: mean lat.: 1.464ms, rate sampling interval: 10ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.44ms  706.00us  12.92ms   68.59%
    Req/Sec     2.11k   212.65     3.44k    72.73%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.37ms
 99.000%    3.02ms
 99.900%    1.16s\x20
100.000%    1.20s\x20

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.067     0.000000            1         1.00
       2.663     0.950000        94417        20.00
       3.021     0.990000        98391       100.00
    1200.127     1.000000        99383          inf
#[Mean    =        1.440, StdDeviation   =        0.706]
#[Max     =     1200.000, Total count    =        99383]
#[Buckets =           27, SubBuckets     =         2048]
----------------------------------------------------------
  119960 requests in 1.00m, 7.66MB read
"""
UNCORRECTED = """\
  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%  100.00us
 95.000%  200.00us

       0.011     0.950000        94417        20.00
"""


def test_wrk() -> None:
    found = read_percentiles(WRK_TABLES_WRK, "ms")
    assert found.values == {
        Fraction(1, 2): 0.25,
        Fraction(3, 4): 0.491,
        Fraction(9, 10): 72_000.0,
        Fraction(99, 100): 5.8,
    }
    assert (found.mean, found.requests) == (0.63591, 22_464_657)


@pytest.mark.parametrize("text", [WRK2, WRK2 + UNCORRECTED, WRK2.replace("\n", "\r\n")])
def test_wrk2_with_its_finer_table_and_without_what_is_uncorrected(text: str) -> None:
    found = read_percentiles(text, "s")
    assert found.values[Fraction("0.5")] == 0.00137
    assert found.values[Fraction("0.95")] == 0.002663
    assert found.values[Fraction("0.99")] == 0.00302  # the first table, which all versions print
    assert found.values[Fraction("0.999")] == 1.16
    assert (found.mean, found.requests) == (0.00144, 99_383)


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("Requests/sec: 7\n", "ms", "it holds no table 'Latency Distribution' of wrk"),
        (WRK_TABLES_WRK * 2, "ms", "it holds 2 tables"),
        (WRK_TABLES_WRK, "MB", "cannot be converted to MB"),
        # quadratic once: 40 s for 300,000 digits; and numbers of more digits than Python reads
        ("Latency Distribution\n" + "1" * 300_000, "ms", "it holds no table"),
        ("Latency Distribution\n" + "1." * 150_000 + "%  5ms\n", "ms", "it holds no table"),
    ],
)
def test_what_cannot_be_read_is_said_wrk_tables(text: str, unit: str, said: str) -> None:
    with pytest.raises(DistributionError, match=said):
        read_percentiles(text, unit)
