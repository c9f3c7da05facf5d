"""The nights of the example in docs/history.md."""

import hashlib

import numpy as np

from analysis.history.judged import History
from analysis.history.judging import judge_nights
from tests.unit.analysis.history.judged.made_nights import nights_of, series

NIGHTS = 61
COMMITS = tuple(hashlib.sha1(f"night {k}".encode()).hexdigest() for k in range(NIGHTS))
HOST = {"kernel": {"release": "6.12"}}


def example(**asked: object) -> History:
    """Judge four benchmarks: one becomes slower, one faster; the host changes in the night numbered 24."""
    rng = np.random.default_rng(12)
    late = np.arange(NIGHTS)
    made = []
    for name, step, at in (
        ("text", 0.031, 35),
        ("logs", 0, 0),
        ("json", -0.048, 20),
        ("table", 0, 0),
    ):
        logs = rng.normal(0, 0.008, NIGHTS) + step * (late >= at) - 0.02
        own = rng.normal(0, 0.008, NIGHTS) - (0.06 * (late >= 24) if name == "logs" else 0)
        made.append(
            series(logs, name, own=own, commits=COMMITS, facts={24: HOST}, skipped=(31, 32))
        )
    return judge_nights(nights_of(*made), asked=("runs",), **asked)
