"""What wrk and wrk2 print of latencies is read as it stands there.

Authority: texts as the two programs print them (`print_stats` and `format_time_us` of their sources): times in us, ms, s or m.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from harness.campaign.distributions import DistributionError, read_percentiles

WRK = """\
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
    found = read_percentiles(WRK, "ms")
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
        (WRK * 2, "ms", "it holds 2 tables"),
        (WRK, "MB", "cannot be converted to MB"),
        # quadratic once: 40 s for 300,000 digits; and numbers of more digits than Python reads
        ("Latency Distribution\n" + "1" * 300_000, "ms", "it holds no table"),
        ("Latency Distribution\n" + "1." * 150_000 + "%  5ms\n", "ms", "it holds no table"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, unit: str, said: str) -> None:
    with pytest.raises(DistributionError, match=said):
        read_percentiles(text, unit)
