"""The numbers of a line, from entries of estimates and decisions."""

from __future__ import annotations

import math
from typing import TypedDict

from ...errors import AnalysisError
from ...report import Word
from .decision import Decisions
from .estimates import Estimates, LawName

__all__ = ["WIDEST", "Decided", "corrected", "decided", "end_of", "number_of", "spread_of"]

WIDEST = 700.0  # logs whose exponential is a number


class Decided(TypedDict):
    """What every line has of its estimate and its decision, by the names of its fields."""

    name: str
    speedup: float | None
    low: float | None
    high: float | None
    error: float | None
    freedom: float | None
    law: LawName | None
    errors: tuple[float, ...] | None
    freedoms: tuple[float, ...] | None
    pvalue: float | None
    pvalue_equivalent: float | None
    pvalue_welch: float | None
    step_added: float | None


class Corrected(TypedDict):
    """What a benchmark's line has besides, of the correction for how many they are."""

    pvalue_adjusted: float | None
    pvalue_equivalent_adjusted: float | None
    outcome_uncorrected: Word


def decided(found: Estimates, d: Decisions, k: int, name: str) -> Decided:
    """Give the numbers of a line, from entry `k` of estimates and decisions.

    Raises
    ------
    AnalysisError
        If the speedup leaves the range of numbers.
    """
    known = not math.isnan(d.low[k])
    errors, freedoms = (found.parts or found.own_parts()).of(k)
    return {
        "name": name,
        "speedup": exponential(float(found.estimate[k]), name),
        "low": end_of(d.low[k]),
        "high": end_of(d.high[k]),
        "error": number_of(found.error[k], d.low[k]),
        "freedom": number_of(found.freedom[k], d.low[k]),
        "law": found.laws[math.isnan(found.freedom[k])] if known else None,
        "errors": errors if known else None,
        "freedoms": freedoms if known else None,
        "pvalue": number_of(d.pvalue[k]),
        "pvalue_equivalent": number_of(d.pvalue_equivalent[k]),
        "pvalue_welch": number_of(d.pvalue_welch[k]),
        "step_added": number_of(found.widening[k], d.low[k]),
    }


def corrected(d: Decisions, k: int) -> Corrected:
    """Give the numbers of a benchmark's line after, and its word before, the correction."""
    return {
        "pvalue_adjusted": number_of(d.pvalue_adjusted[k]),
        "pvalue_equivalent_adjusted": number_of(d.pvalue_equivalent_adjusted[k]),
        "outcome_uncorrected": d.outcome_uncorrected[k],
    }


def exponential(log: float, where: str) -> float | None:
    """Give a ratio from its log; None for nan.

    Raises
    ------
    AnalysisError
        If it leaves the range of numbers.
    """
    if math.isnan(log):
        return None
    if abs(log) > WIDEST:
        raise AnalysisError(
            "the speedup leaves the range of numbers",
            where,
            "look for values that are no measurements: they lie too far apart",
        )
    return math.exp(log)


def end_of(log: float) -> float | None:
    """Give the end of an interval, cut where it leaves the range of numbers; None for nan."""
    return None if math.isnan(log) else math.exp(min(max(log, -WIDEST), WIDEST))


def spread_of(sd: float) -> float | None:
    """Give the relative standard deviation of values whose logs have this one; None for nan."""
    return None if math.isnan(sd) else math.expm1(min(sd, WIDEST))


def number_of(value: float, needed: float = 0.0) -> float | None:
    """Give a number, None for nan, or where what it belongs to is nan."""
    return None if math.isnan(value) or math.isnan(needed) else float(value)
