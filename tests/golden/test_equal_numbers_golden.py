"""Where sides, or hosts, have equally many sessions, every number is that of version 0.2.0.

The law of unequal numbers must not reach them: `expected.json` is what 0.2.0 gave for the same runs.
"""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
import scipy

HERE = Path(__file__).parent / "equal_numbers"
DIGITS = 1e-12 if np.lib.NumpyVersion(scipy.__version__) >= "1.17.0" else 2e-11
EXPECTED = json.loads((HERE / "expected.json").read_text())


def held(found, expected):
    """Hold two trees of JSON types against each other; numbers to 12 digits: kernels round alike.

    The quantiles of t have 11 digits in scipy before 1.17.
    """
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            held(found[name], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, value in zip(found, expected, strict=True):
            held(one, value)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=DIGITS, abs=1e-15)
    else:
        assert found == expected


def test_equal_numbers_keep_their_numbers():
    assert EXPECTED["source"].endswith("fairtrial 0.2.0")
    computed = runpy.run_path(str(HERE / "record.py"))["computed"]
    held(json.loads(json.dumps(computed())), EXPECTED["designs"])
