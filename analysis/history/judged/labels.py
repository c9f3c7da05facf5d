"""How nights, series and steps are named in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ...pages.difference import Difference
from ...words import shorten, shown
from ..changes import Step
from ..nights.model import moment_of

_DATE, _MINUTE, _SECOND = 10, 16, 19  # where these end in a time of RFC 3339
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
    """Give what names a night: its date, of several in a day the time too, else its trial.

    Where all are of one day the time stands alone; where two began in one second, or a time is unknown, the
    trials stand.
    """
    starts = [one.started_at for one in values]
    if all(moment_of(start) is not None for start in starts):
        texts = [str(start) for start in starts]
        one_day = len({text[:_DATE] for text in texts}) == 1
        forms: tuple[Callable[[str], str], ...] = (
            lambda text: text[:_DATE],
            lambda text: _clock(text, _MINUTE, one_day=one_day),
            lambda text: _clock(text, _SECOND, one_day=one_day),
        )
        for form in forms:
            labels = [form(text) for text in texts]
            if len(set(labels)) == len(labels):
                return lambda k: labels[k]
    return lambda k: shorten(shown(values[k].trial), _TRIAL)


def _clock(started_at: str, end: int, *, one_day: bool) -> str:
    time = started_at[_DATE + 1 : end]
    return time if one_day else f"{started_at[:_DATE]} {time}"


def span_of(first_at: str, last_at: str) -> str:
    """Name the dates of the first and the last night; of one day its date and both times."""
    if first_at[:_DATE] != last_at[:_DATE]:
        return f"{first_at[:_DATE]} .. {last_at[:_DATE]}"
    if first_at[:_MINUTE] == last_at[:_MINUTE]:
        return first_at[:_DATE]
    times = (text[_DATE + 1 : _MINUTE] for text in (first_at, last_at))
    return f"{first_at[:_DATE]}, {' .. '.join(times)}"


def name_of(series: _Named, *, several: bool) -> str:
    """Name a series: its benchmark, and its variant where there are several."""
    name = shown(series.benchmark)
    return shorten(f"{name} ({shown(series.variant)})" if several else name, _NAME)


def difference(series: _Measured, step: Step) -> Difference:
    """Give a step in the unit of the metric."""
    return Difference.of(step, metric=series.metric, unit=series.unit, better=series.better)


def sized(series: _Measured, step: Step, than: str = "") -> str:
    """Say the size of a change by its interval: ``takes 4 to 6 % more time``; no size at a chosen place stands alone."""
    return difference(series, step).ranged(than)


def said(series: _Measured, step: Step) -> str:
    """Say how the later nights differ: ``takes 5 % more time (4 to 6 %)``."""
    found = difference(series, step)
    ends = found.interval()
    return f"{found.phrase()} ({ends})" if ends else found.phrase()
