"""Catch2's XML reporter: summaries of its benchmarks only, which say how they could be kept."""

from __future__ import annotations

import re

from ..cells import ForeignFile
from ..opening import Opened
from ..parsing import fail

__all__ = ["knows", "read"]


def knows(opened: Opened) -> bool:
    """Tell by the root element, or by results of benchmarks."""
    head = opened.head()
    return re.search(r"<Catch(2TestRun)?\b", head) is not None or "<BenchmarkResults" in head


def read(opened: Opened) -> ForeignFile:
    """Refuse the file: it has means and bounds, no samples.

    Raises
    ------
    AnalysisError
        Always.
    """
    raise fail(
        opened,
        "Catch2's reports hold summaries of benchmarks only, no samples",
        "write the samples with a reporter of your own (benchmarkEnded gives them all), or let "
        "'fairtrial run' execute the test binary with one benchmark a run",
    )
