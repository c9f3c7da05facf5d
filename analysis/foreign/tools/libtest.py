"""Rust's libtest (``cargo bench`` on nightly): one summary a benchmark, as text or JSON lines."""

from __future__ import annotations

import re

from ..cells import ForeignFile
from ..opening import Opened
from ..parsing import fail

__all__ = ["knows", "read"]

_TEXT = re.compile(r"^test \S.* \.\.\. bench:\s+[\d,.]+ ns/iter", re.MULTILINE)
_JSON = re.compile(r'"type"\s*:\s*"bench"')


def knows(opened: Opened) -> bool:
    """Tell by a result's line."""
    head = opened.head()
    return _TEXT.search(head) is not None or ("{" in head and _JSON.search(head) is not None)


def read(opened: Opened) -> ForeignFile:
    """Refuse the file: it has a median and a range, no samples.

    Raises
    ------
    AnalysisError
        Always.
    """
    raise fail(
        opened,
        "libtest keeps a median and a range of each benchmark, no samples",
        "use criterion (its sample.json keeps them), or let 'fairtrial run' execute the benchmark",
    )
