"""Files that keep no samples are refused with the way out.

Layouts: Catch2's XML reporter of versions 2 and 3, libtest's pretty and JSON formats; Bencher's Metric
Format of versions 0 and 1, what github-action-benchmark takes and what it collects; k6's summary as it is
exported and printed; fio's and sysbench's reports.
"""

from __future__ import annotations

import json

import pytest

from analysis.data.opening import open_foreign
from analysis.errors import AnalysisError
from analysis.importers import summaries

CATCH = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<{0} name="t" rng-seed="1"><TestCase name="x">'
    '<BenchmarkResults name="b" samples="100" resamples="100000" iterations="5"><mean value="12.5" '
    'lowerBound="12" upperBound="13" ci="0.95"/></BenchmarkResults></TestCase></{0}>\n'
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CATCH.format("Catch2TestRun"), "Catch2"),
        (CATCH.format("Catch"), "Catch2"),
        ("running 1 test\ntest sort ... bench:       1,234 ns/iter (+/- 56)\n", "libtest"),
        ("running 1 test\ntest a::sort ... bench:         123.45 ns/iter (+/- 6.78)\n", "libtest"),
        ('{ "type": "bench", "name": "sort", "median": 12, "deviation": 3 }\n', "libtest"),
    ],
)
def test_summaries_are_refused_with_the_way_out(foreign, text, said) -> None:
    with pytest.raises(AnalysisError, match=said) as told:
        foreign(text, "r.out")
    assert "fairtrial run" in str(told.value)


K6 = {"avg": 1.5, "min": 1, "med": 1.25, "max": 3, "p(90)": 2, "p(95)": 2.5}
FLAT = {"name": "a", "unit": "ns", "value": 1.5}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"b": {"latency": {"value": 1.0, "lower_value": 0.5, "upper_value": 2}}}, "Bencher"),
        ({"a": {"latency": {"value": 1.0}}, "b": {"throughput": {"value": 2.0}}}, "Bencher"),
        ({"b": [{"parameters": {"n": 1}, "measures": {"latency": {"value": 1.0, "p50": 2}}}]}, "Bencher"),
        ([FLAT | {"range": "± 2"}], "github-action-benchmark"),
        ([FLAT, FLAT | {"range": 3, "extra": "x"}], "github-action-benchmark"),
        ('window.BENCHMARK_DATA = {"lastUpdate": 1, "entries": {}}', "github-action-benchmark"),
        ({"metrics": {"iterations": {"count": 3, "rate": 1}, "http_req_duration": K6}}, "k6's summary.*long CSV"),
        ({"root_group": {"name": ""}, "metrics": {"x": {"type": "trend", "values": K6}}}, "k6's summary"),
        ("     data_sent....: 9 kB\n     iteration_duration...: avg=6.4s min=4s med=6s max=9s p(90)=9s\n", "k6's summary"),
        ('{\n  "fio version" : "fio-3.33",\n  "jobs" : []\n}', "fio's report.*long CSV"),
        ("x: (g=0): rw=read, bs=(R) 4096B-4096B\nfio-3.33\nStarting 1 process\n", "fio's report"),
        ("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nGeneral statistics:\n", "sysbench's report.*long CSV"),
    ],
)  # fmt: skip
def test_summaries_of_others_are_refused_with_the_way_out(foreign, content, said) -> None:
    with pytest.raises(AnalysisError, match=f"(?s){said}") as told:
        foreign(content, "r.out")
    assert "no runs" in str(told.value)


@pytest.mark.parametrize(
    "content",
    [
        [FLAT, FLAT | {"name": "b"}],  # a value of each, as a table of runs may have
        {"b": {"latency": {"value": 1.0}, "about": {"text": "x"}}},
        {"b": 1.0},
        {},
    ],
)
def test_what_only_looks_alike_is_no_summary(tmp_path, content) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(content))
    assert not summaries.knows_summaries(open_foreign(str(path)))
