"""Comparisons made by hand: a log speedup, its error and its degrees of freedom for each line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from scipy import stats

from analysis.methods.multilevel.law import Looks
from analysis.methods.multilevel.result import Line, Multilevel


def line(name: str, given: Any, confidence: float, **more: Any) -> Line:
    """Make a line of (log speedup, error, freedom), or one without an interval of None."""
    if given is None:
        return Line(name=name, speedup=1.0, outcome="undecided", **more)
    x, error, freedom = given
    half = 0.0 if error == 0 else error * stats.t.ppf((1 + confidence) / 2, freedom)
    low, high = math.exp(x - half), math.exp(x + half)
    known = {"speedup": math.exp(x), "low": low, "high": high, "error": error, "freedom": freedom}
    return Line(name=name, outcome="undecided", **known, **more)


def comparison(
    benchmarks: Mapping[str, Any],
    these: Any = None,
    *,
    candidate: str = "v2",
    design: Any = "paired",
    confidence: float = 0.95,
    reasons: Mapping[str, str] | None = None,
    looks: int | Looks = 1,
    always_valid: bool = False,
    **more: Any,
) -> Multilevel:
    reason, suite = dict(reasons or {}), {"these": None, "similar": None, "occasions": None}
    lines = (
        line(x, given, confidence, reason=reason.get(x), fails_proven=reason.get(x) == "fails-more")
        for x, given in benchmarks.items()
    )
    if these is not None:
        suite["these"] = line("these", these, confidence, of_suite=True)
    known = {"candidate": candidate, "baseline": "v1", "unit": "s", "better": "lower"}
    known |= {"design": design, "confidence": confidence, "margin": 0.01, "correction": "holm"}
    known |= dict.fromkeys(("sessions", "sessions_candidate", "sessions_baseline"), 6)
    known["look"] = Looks.of(looks, always_valid=always_valid).at(confidence)
    return Multilevel(**known | suite | more, benchmarks=tuple(lines))


@pytest.fixture
def compared() -> Any:
    return comparison
