"""Logs of HdrHistogram are read and merged exactly.

Authority: the package hdrhistogram, which wrote and read the logs in tests/golden/hdr_logs; the first interval of the library's own
sample log, of which the tests of its ports for Go, C and JavaScript say what it holds; numpy's inverted_cdf, of weighted values.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from harness.campaign.distributions import DistributionError, HdrHistogram, decoded, read_log
from tests.examples import examples

GOLDEN = Path(__file__).parents[4] / "golden" / "hdr_logs"
COMPUTED = json.loads((GOLDEN / "computed.json").read_text())
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
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for payload in (_packed(body), base64.b64encode(body).decode()):
        try:
            assert decoded(payload).total >= 0
        except DistributionError:
            continue
