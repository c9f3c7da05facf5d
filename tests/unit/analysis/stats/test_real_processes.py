"""What twenty real processes are called, as the page says it.

Authority: the measurements of Barrett et al. beside this project, which are never copied into it; docs/warmup.md.
"""

from __future__ import annotations

import csv
import io
import lzma
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from analysis.stats.steady_state import steady_state

ROOT = Path(__file__).resolve().parents[4]
PROCESSES = ROOT.parent / "shared/datasets/krun_warmup/binarytrees_v8.csv.xz"


@pytest.mark.skipif(
    not PROCESSES.is_file(), reason="public measurements are not beside this project"
)
def test_the_page_says_what_twenty_processes_are_called():
    runs = defaultdict(list)
    with lzma.open(PROCESSES) as file:
        for row in csv.DictReader(io.TextIOWrapper(file)):
            runs[row["process"]].append(float(row["seconds"]))
    page = (ROOT / "docs" / "warmup.md").read_text()
    words = Counter()
    for number, seconds in runs.items():
        found = steady_state(np.array(seconds))
        words[found.state] += 1
        left = str(found.first) if found.steady else "none"
        assert f"| {number} | {found.state} | {left} |" in page
    assert words == {"slowdown": 11, "warm-up": 6, "no steady state": 3}
    assert "11 slowdowns, 6 warm-ups, 3 without a steady state, none flat" in page
