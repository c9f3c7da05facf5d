"""Where sides, or hosts, have equally many sessions, every number is that of version 0.2.0.

The law of unequal numbers must not reach them: `expected.json` is what 0.2.0 gave for the same runs.
"""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "equal_numbers"
EXPECTED = json.loads((HERE / "expected.json").read_text())


def held(found, expected):
    """Hold two trees of JSON types against each other; numbers to 12 digits: kernels round alike."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            held(found[name], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, value in zip(found, expected, strict=True):
            held(one, value)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)
    else:
        assert found == expected


def test_equal_numbers_keep_their_numbers():
    assert EXPECTED["source"].endswith("fairtrial 0.2.0")
    computed = runpy.run_path(str(HERE / "record.py"))["computed"]
    held(json.loads(json.dumps(computed())), EXPECTED["designs"])
