"""JSON says what the screen says: no flag reads like an answer, and each p names what it is of.

Authority: first use of the first version, A1 and A10: `jq -e .faster` accepted a slowdown of 20 %,
and "reliability 0.992" stood beside "p = 0.992".
"""

from __future__ import annotations

import io
import json
import re

import pytest

from harness.cli import main

WORDS = {"faster", "slower", "equivalent", "undecided", "tie"}
SLOWER = (
    "hpt tests/data/sample-0.2.0:gzip-6 tests/data/sample-0.2.0:gzip-1",
    "hpt tests/data/sample-0.2.0:gzip-1 --speedup 4",
)
COMMANDS = {
    **dict.fromkeys(SLOWER, "slower"),
    "hpt tests/data/sample-0.2.0:gzip-1": "faster",
    "hpt tests/data/sample-0.2.0:gzip-1 tests/data/sample-0.2.0:gzip-1": "undecided",
    "resample tests/data/sample-0.2.0:gzip-1 --resamples 200": "faster",
    "resample tests/data/sample-0.2.0:gzip-6 tests/data/sample-0.2.0:gzip-1 --resamples 200": "slower",
}


def printed(command):
    out, err = io.StringIO(), io.StringIO()
    assert main(command.split(), out, err) == 0, err.getvalue()
    return out.getvalue()


def answer(command):
    return json.loads(printed(f"{command} --json"))


def objects(value):
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, (dict, list)):
            yield from objects(item)


@pytest.mark.parametrize("command", COMMANDS)
def test_word_is_the_answer_and_there_is_no_flag_that_reads_like_one(command):
    data = answer(command)
    assert data["word"] == COMMANDS[command]
    for one in objects(data):
        assert "faster" not in one
        assert one.get("word", "tie") in WORDS


@pytest.mark.parametrize("command", SLOWER)
def test_the_p_of_the_claim_stands_first_and_both_sides_are_said(command):
    data, text = answer(command), " ".join(printed(command).split())
    reliability = re.search(r"HPT reliability (0\.\d+) \(1 - p", text.partition("over these")[2])
    first, second = re.search(r"benchmarks; p = (\S+) for '.*?', p = (\S+) for '", text).groups()
    assert data["outcome"] == "baseline"
    assert float(first) == pytest.approx(data["pvalue_baseline"], rel=0.01)
    assert float(second) == pytest.approx(data["pvalue"], rel=0.01)
    if "--speedup" not in command:
        assert float(reliability[1]) == pytest.approx(1 - float(first), abs=0.001)
    assert "there or just below" not in text
    assert "divided by" not in text
