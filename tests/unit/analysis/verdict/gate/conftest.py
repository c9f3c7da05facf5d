"""Comparisons made by hand: a log speedup, its error and its degrees of freedom for each line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pytest
from scipy import stats

from analysis.methods.multilevel.law import Looks
from analysis.methods.multilevel.result import BenchmarkLine, Line, Multilevel


def filled(kind: type[Any], **known: Any) -> Any:
    """Build a record; fields that a test does not speak of are None."""
    return kind(**{field.name: None for field in fields(kind)} | known)


def line(kind: type[Any], name: str, given: Any, confidence: float, **more: Any) -> Any:
    """Make a line of (log speedup, error, freedom), or one without an interval of None."""
    if given is None:
        return filled(kind, name=name, speedup=1.0, outcome="undecided", **more)
    x, error, freedom = given
    half = 0.0 if error == 0 else error * stats.t.ppf((1 + confidence) / 2, freedom)
    low, high = math.exp(x - half), math.exp(x + half)
    known = {"speedup": math.exp(x), "low": low, "high": high, "error": error, "freedom": freedom}
    return filled(kind, name=name, outcome="undecided", **known, **more)


def comparison(
    benchmarks: Mapping[str, Any],
    these: Any = None,
    *,
    candidate: str = "v2",
    design: Any = "paired",
    confidence: float = 0.95,
    reasons: Mapping[str, str] | None = None,
    **more: Any,
) -> Multilevel:
    known: dict[str, Any] = {
        "candidate": candidate,
        "baseline": "v1",
        "unit": "s",
        "better": "lower",
        "design": design,
        "sessions": 6,
        "confidence": confidence,
        "cautions": (),
        "references": (),
        "similar": None,
    }
    always_valid = bool(more.setdefault("always_valid", False))
    look = Looks.of(more.pop("looks", 1), always_valid=always_valid)
    known |= look.fields(confidence)
    reason = dict(reasons or {})
    known["benchmarks"] = tuple(
        line(
            BenchmarkLine,
            name,
            given,
            confidence,
            reason=reason.get(name),
            fails_proven=reason.get(name) == "fails-more",
            failed_candidate=0,
            failed_baseline=0,
        )
        for name, given in benchmarks.items()
    )
    known["these"] = None if these is None else line(Line, "these", these, confidence)
    return filled(Multilevel, **known | more)


@pytest.fixture
def compared() -> Any:
    return comparison
