"""The lines of the only variant: its times with intervals, and nothing compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.model import Value
from ...words import shown
from .result import Alone, Name

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["alone_of"]


def alone_of(subject: Subject, names: Mapping[str, Name]) -> tuple[Alone, ...]:
    """Give a line for each benchmark, empty where variants are compared; `names` as on the page."""
    unit, noun = subject.verdict.unit, subject.verdict.outermost

    def quantity(value: float | None) -> Value:
        return Value("", None) if value is None else Value(figures.quantity(value, unit), value)

    found = []
    for one in subject.verdict.alone:
        half = None
        if one.low is not None and one.high is not None:
            half = 100 * (math.sqrt(one.high / one.low) - 1)
        by = f"{one.sessions} {noun}s" if one.unit == "session" else f"{one.unit}s of one {noun}"
        found.append(
            Alone(
                name=names.get(one.benchmark) or Name(one.benchmark, *2 * (shown(one.benchmark),)),
                link=subject.anchor("benchmark", one.benchmark),
                mean=quantity(one.mean),
                low=quantity(one.low),
                high=quantity(one.high),
                half=Value("", None)
                if half is None
                else Value(
                    f"±\N{NO-BREAK SPACE}{figures.significant(half, 2)}\N{NO-BREAK SPACE}%", half
                ),
                lowest=quantity(one.minimum),
                highest=quantity(one.maximum),
                runs=Value(f"{one.runs}", one.runs),
                by=by,
            )
        )
    return tuple(found)
