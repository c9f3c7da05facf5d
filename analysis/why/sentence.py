"""The answer in one sentence, and the command that follows it."""

from __future__ import annotations

import math
from pathlib import Path

from ..pages.model import Next
from .result import FEWEST_SAMPLES, FEWEST_SESSIONS, Row, Why


def milliseconds(value: float, digits: int = 2) -> str:
    """Write milliseconds with so many significant digits, whole ones from 100 on."""
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}")))))
    return f"{value:.{min(places, 6)}f}"


def signed(value: float, digits: int = 2) -> str:
    """Write a difference with its sign: ``+6.6``, ``-2.1``."""
    text = milliseconds(value, digits)
    return f"+{text}" if value > 0 else text


def change_of(row: Row) -> str:
    """Say a difference: ``6.6 ms more``."""
    return (
        f"{milliseconds(abs(row.difference_ms))} ms {'more' if row.difference_ms >= 0 else 'less'}"
    )


def sentence_of(told: Why) -> str:
    """Say the answer in one sentence."""
    total = told.total
    if told.withheld == "total-not-resolved":
        ends = ""
        if total.low_ms is not None and total.high_ms is not None:
            ends = f": if there is one, it lies between {signed(total.low_ms)} and {signed(total.high_ms)} ms"
        return (
            f"{told.benchmark}: no difference on the CPU was found in these sessions between "
            f"{told.variant} and {told.baseline}{ends}"
        )
    head = (
        f"{told.benchmark}: {told.variant} takes {change_of(total)} on the CPU than {told.baseline}"
    )
    named = told.named
    if not named:
        return f"{head}; no function can be named"
    first = named[0]
    rest = len(named) - 1
    more = f" ({rest} more named)" if rest else ""
    return f"{head}; {change_of(first)} in {first.name}{more}"


def next_of(told: Why) -> Next | None:
    """Give the command that is worth its time now."""
    trial = Path(told.path).parent
    source = str(trial.with_name(trial.name.removesuffix(".why")))
    head = ("fairtrial", "why", f"{source}:{told.variant}", "--benchmark", told.benchmark)
    if told.withheld == "few-samples":
        seen = min(told.samples_baseline, told.samples_candidate)
        wanted = math.ceil(told.sessions * FEWEST_SAMPLES / max(seen, 1))
        wanted = max(wanted, FEWEST_SESSIONS)
        return Next((*head, "--sessions", str(min(wanted, 100))), "enough samples")
    if told.withheld is not None or not told.named:
        wanted = max(2 * told.sessions, FEWEST_SESSIONS)
        return Next((*head, "--sessions", str(wanted)), "narrower intervals")
    if told.gone and told.new:
        old, new = (names[0].rpartition(" (")[0] for names in (told.gone, told.new))
        return Next((*head, "--stored", "--rename", f"{old}={new}"), "if that is one function")
    return Next(("fairtrial", "report", source), "the page with this chapter")
