"""What `compare --json` holds: the verdict's keys as they are, and what the screen says besides."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[5] / "docs" / "json.md").read_text()
TWO = (("gzip -6 f", 0.1, 0.05), ("gzip -1 f", 0.055, 0.08))


def test_it_holds_all_keys_of_the_verdict_with_their_values(compared):
    found = compared(TWO)
    told, verdict = found.to_dict(), found.verdict.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    changed = {"method", "candidates", "sentence", "next"}
    assert {key: told[key] for key in verdict if key not in changed} == {
        key: value for key, value in verdict.items() if key not in changed
    }
    (ours,), (theirs,) = told["candidates"], verdict["candidates"]
    assert {key: ours[key] for key in theirs} == theirs


def test_every_key_that_it_adds_is_documented(compared):
    section = PAGE.partition("\n## compare\n")[2].partition("\n## ")[0]
    found = compared(TWO, counters=True)
    told, verdict = found.to_dict(), found.verdict.to_dict()
    added = set(told) - set(verdict)
    added |= set(told["candidates"][0]) - set(verdict["candidates"][0])
    added |= set(told["baseline_times"])
    assert len(added) > 15
    for key in added:
        assert f"`{key}" in section, key


def test_a_command_has_its_times_in_seconds(compared):
    found = compared(TWO, sessions=3, runs=4)
    one = found.to_dict()["candidates"][0]
    assert one["command"] == "gzip -1 f"
    assert one["min"] <= one["mean"] <= one["max"]
    assert one["mean"] == pytest.approx(0.055, rel=0.1)
    assert (one["runs"], one["sessions"], one["failed"]) == (12, 3, 0)
    speedup = one["multilevel"]["benchmarks"][0]["speedup"]
    assert found.to_dict()["baseline_times"]["mean"] / one["mean"] == pytest.approx(speedup)


def test_the_sentence_is_that_of_the_screen_and_next_a_line_to_paste(compared):
    found = compared(TWO)
    told = found.to_dict()
    assert told["sentence"].startswith("'gzip -1 f' takes ")
    assert told["sentence"].endswith(" % less time than 'gzip -6 f'")
    assert told["next"] == [f"fairtrial report {found.verdict.path} -o report.html"]
    assert told["commands"] == ["gzip -6 f", "gzip -1 f"]
    assert np.isfinite(told["measuring_s"])
