"""A file of no known tool: one sentence with the lists of numbers in it and the remedy, no list of formats.

What Catch2, libtest, Benchmark.js, nonius, k6, fio and sysbench print or write keeps no runs; so none of them
has a reader of its own.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from analysis.errors import FairtrialError, UsageError
from analysis.importers.registry import UNKNOWN
from analysis.record.manifest import COLUMNS_ASKED, asking
from harness.commands.command_parser import parser_for

CATCH = '<?xml version="1.0"?>\n<Catch2TestRun name="t"><TestCase name="c">\n<mean value="12.5"/></TestCase></Catch2TestRun>\n'
PRINTED = (
    "running 1 test\ntest sort ... bench:       1,234 ns/iter (+/- 56)\n",
    "sort x 1,234 ops/sec ±0.5% (90 runs sampled)\nFastest is sort\n",
    "benchmarking sort\ncollecting 100 samples, 1 iterations each, in estimated 3 ms\nmean: 12 ns\n",
    "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nGeneral statistics:\n",
    "x: (g=0): rw=read, bs=(R) 4096B-4096B\nfio-3.33\nStarting 1 process\n",
    "     data_sent....: 9 kB\n     iteration_duration...: avg=6.4s min=4s med=6s max=9s p(90)=9s\n",
    '<?xml version="1.0"?>\n<PhoronixTestSuite><Result/></PhoronixTestSuite>\n',
    CATCH,
    "| a | b |\n|---|---|\n",
    "Results of Monday, host 3\n\nbenchmark,ms\na,1\n",
)


@pytest.mark.parametrize("text", PRINTED)
def test_a_text_gets_one_sentence_and_the_remedy(foreign, text) -> None:
    with pytest.raises(UsageError) as told:
        foreign(text, "r.out")
    assert told.value.what == "no tool is known for this file"
    assert "long CSV" in told.value.fix
    assert "--columns" not in told.value.fix  # there are none
    assert ("stands above" in told.value.fix) == text.startswith("Results")
    assert "benchexec" not in str(told.value)
    assert len(str(told.value)) < 450


@pytest.mark.parametrize(
    ("content", "lists"),
    [
        ({"results": [{"name": "a", "times": [1, 2.5]}, {"name": "b", "times": [3]}]}, "results[*].times"),
        ({"sort": {"runs": [1, 2]}, "hash": {"runs": [3, 4]}}, "[*].runs"),
        ({"sort": [1, 2], "hash": [3, 4], "at": 7}, "[*]"),
        ({"old": {"b": [[1, 2], [3]]}, "about": "x"}, "old.b[*]"),
        ([[["a", 1], [1, 2]]], "[*][*]"),
        ([1, 2], "$"),
        ({"a.b": {"c": [1, 2]}}, '["a.b"].c'),
        ({"a": {"v": [1]}, "b": [1], "c": {"w": [1]}, "d": {"x": [1]}}, "a.v, b, c.w and 1 more"),
        # single numbers are no list: Bencher, k6, fio
        ({"b": {"latency": {"value": 1.0, "lower_value": 0.5}}}, ""),
        ({"metrics": {"http_req_duration": {"avg": 1.5, "p(90)": 2}}}, ""),
        ({"fio version": "fio-3.33", "jobs": [{"read": {"iops": 3.5}}]}, ""),
        ({"b": [True, None], "c": ["1", "2"], "d": []}, ""),
    ],
)  # fmt: skip
def test_lists_of_numbers_are_named_by_their_paths(foreign, content, lists) -> None:
    with pytest.raises(UsageError) as told:
        foreign(json.dumps(content), "r.json")
    where = f"; lists of numbers lie at {lists}" * bool(lists)
    assert told.value.what == f"no tool is known for this file{where}"
    assert "--columns 'value=[*]'" not in told.value.fix  # would pool them


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ({"results": [{"lang": "c", "name": "a", "times": [1, 2]}]}, {"a": (1, 2)}),
        ({"sort": {"runs": [1, 2]}, "hash": {"runs": [3]}}, {"sort": (1, 2), "hash": (3,)}),
        ({"n": 7, "sort": {"runs": [1, 2]}, "hash": {"runs": [3]}, "at": "x"}, {"sort": (1, 2), "hash": (3,)}),
        ({"at": "x", "sort": [1, 2], "hash": [3]}, {"sort": (1, 2), "hash": (3,)}),
        ({"r": [{"name": "a", "memory": [9], "times": [1, 2]}]}, {"a": (1, 2)}),
        ({"sizes": [1, 2], "r": [{"name": "a", "max_ms": 9, "mean_ms": 1}]}, {"a": (0.001,)}),
        ({"r": {"a": {"old": [1], "new": [2]}, "b": {"old": [3], "new": [4]}}}, {"a": (2,), "b": (4,)}),
        ({"when": "x", "runs": [{"name": "a", "n": 7, "ms": 1}, {"name": "b", "n": 7, "ms": 2}]}, {"a": (0.001,), "b": (0.002,)}),
        ([{"name": "a", "value": 7, "range": 1, "unit": "s"}, {"name": "b", "value": 8, "range": 2, "unit": "s"}], {"a": (7,), "b": (8,)}),
    ],
)  # fmt: skip
def test_the_option_that_the_refusal_names_reads_the_file(foreign, content, wanted) -> None:
    with pytest.raises(FairtrialError) as refused:
        foreign(content)
    words = re.search("--columns '(.*?)'", refused.value.fix)[1]
    with asking(COLUMNS_ASKED, dict(one.split("=") for one in words.split(", "))):
        assert {cell.benchmark: cell.values for cell in foreign(content).cells} == wanted


SAYS = {
    "algorithm,note\nquick,a\n": UNKNOWN,
    "hello world\nthis is text\n": UNKNOWN,
    '{"a": {"b": {"c": [1, 2, 3]}}}': f"{UNKNOWN} file; lists of numbers lie at a.b.c",
    "\0\1\2": UNKNOWN,
    "": "the file holds no values",
    '{"benchmarks": [': "the file is cut off",
    '{"results": [{"command": "x", "times": [1.0, "a"]}]}': "results[0].times[1]: 'a' is no number",
    "benchmark,variant,time_ms\na,old,10\na,old,abc\n": ":3: 'abc' in the column 'time_ms'",
    "benchmark,variant,mean_ms,std_ms\na,old,1,0.1\n": ":1: the table holds summaries only",
    "x,1,2\ny,3,abc\n": ":2:5: 'abc' is not a number",
    "1\nabc\n": ":2:1: 'abc' is not a number",
    '{"sort": [1, 1.1, "x"], "find": [2, 2.1]}': """:1:19: benchmark 'sort': '"x"' is not a number""",
    "[[1, 1.1, 1.2],\n[2, 2.1, NaN]]": ":2:10: benchmark '2': 'NaN' is not a positive finite number",
}
CALLS = (
    *("import {} --dry-run", "verdict {}", "gate slower>2% {}", "hpt {} {}", "resample {} {}"),
    *("mixture {}", "speedup-test {} {}", "history {}", "diagnose {}", "report {} -o page.html"),
    *("plot forest {} -o forest.svg", "plan {}", "study power {}", "biplot {} {}", "diff {} {}"),
)


@pytest.mark.parametrize("text", SAYS)
def test_every_command_says_the_same_of_a_file_that_cannot_be_read(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.dat").write_text(text)
    told = {}
    for call in CALLS:
        if call.startswith("history") and UNKNOWN not in SAYS[text]:
            continue  # a night that cannot be read is left out and named
        words = call.replace("{}", "r.dat").split()
        args = parser_for(words[0]).read(words)
        with pytest.raises(FairtrialError) as refused:
            args.run(args, io.StringIO(), io.StringIO())
        told[str(refused.value)] = call
    assert [SAYS[text] in said for said in told] == [True], told
