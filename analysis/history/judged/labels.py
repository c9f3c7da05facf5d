"""How nights, series and steps are named in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ...pages.difference import Difference
from ...words import shorten, shown
from ..changes import Step
from ..nights.model import moment_of

_NAME = 28  # columns of a benchmark's name
_TRIAL = 24  # and of a trial's


class _Measured(Protocol):
    @property
    def metric(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def better(self) -> str: ...


class _Named(Protocol):
    @property
    def benchmark(self) -> str: ...

    @property
    def variant(self) -> str: ...


class _Dated(Protocol):
    @property
    def trial(self) -> str: ...

    @property
    def started_at(self) -> str | None: ...


def label_of(values: Sequence[_Dated]) -> Callable[[int], str]:
    """Give what names a night: its date, or its trial where a date is unknown or that of two nights."""
    dates = [
        None if moment_of(one.started_at) is None else date_of(one.started_at) for one in values
    ]
    if None not in dates and len(set(dates)) == len(dates):
        return lambda k: str(dates[k])
    return lambda k: shorten(shown(values[k].trial), _TRIAL)


def date_of(started_at: str | None) -> str:
    """Give the date of a time, as it is written."""
    return "unknown" if started_at is None else started_at[:10]


def name_of(series: _Named, *, several: bool) -> str:
    """Name a series: its benchmark, and its variant where there are several."""
    name = shown(series.benchmark)
    return shorten(f"{name} ({shown(series.variant)})" if several else name, _NAME)


def difference(series: _Measured, step: Step) -> Difference:
    """Give a step in the unit of the metric."""
    return Difference.of(step, metric=series.metric, unit=series.unit, better=series.better)


def said(series: _Measured, step: Step) -> str:
    """Say how the later nights differ: ``takes 5 % more time (4 to 6 %)``."""
    found = difference(series, step)
    ends = found.interval()
    return f"{found.phrase()} ({ends})" if ends else found.phrase()
