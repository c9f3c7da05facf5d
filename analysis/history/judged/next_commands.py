"""What to do after `history`: the commits of a change, the nights on both sides of it, the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...pages.model import Next
from ...record.warmup_iterations import asked_words
from .result import History, HistoryInterval, SeriesHistory

_MOST = 3
_BISECTED = 2
_DIGITS = 12  # of a hash in a command: 7 may mean two commits
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def next_of(history: History, asked: Sequence[str], *, held_back: bool = False) -> History:
    """Add the commands that may follow, at most three; `asked`: The words behind ``fairtrial history``."""
    commands = [*_commands(history, asked)]
    if asked and held_back:
        words = ("fairtrial", "history", *asked, "--independent")
        commands.insert(min(len(commands), _MOST - 1), Next(words, "if nights are independent"))
    return replace(history, following=tuple(commands[:_MOST]))


def bisect_words(
    series: SeriesHistory, one: HistoryInterval, metric: str | None = None
) -> tuple[str, ...] | None:
    """Give the command that finds the commit of a change; None where its commits are not known or do not differ."""
    if one.good is None or one.bad is None:
        return None
    more = (*(() if metric is None else ("--metric", metric)), *asked_words())
    ends = (short_commit(one.good), short_commit(one.bad))
    return ("fairtrial", "bisect", *ends, "--benchmark", series.benchmark, *more)


def short_commit(name: str, digits: int = _DIGITS) -> str:
    """Give the first digits of a whole hash; any other name of a commit stands as it is."""
    return name[:digits] if _HASH.fullmatch(name) else name


def newest_changes(history: History) -> list[tuple[SeriesHistory, HistoryInterval]]:
    """Give the changes of the series that go on: new ones first, then the slower ones, then the later ones."""
    found = [(series, one) for series in history.newest for one in series.intervals]

    def key(pair: tuple[SeriesHistory, HistoryInterval]) -> tuple[bool, bool, int]:
        series, one = pair
        return (one.new is False, one.step.speedup > 1, len(series.values) - one.place_value)

    return sorted(found, key=key)


def _commands(history: History, asked: Sequence[str]) -> Iterator[Next]:
    metric = history.metric if "--metric" in asked else None
    changes = newest_changes(history)
    bisected = 0
    for series, one in changes:
        words = bisect_words(series, one, metric)
        if words is not None and bisected < _BISECTED:
            bisected += 1
            yield Next(words, "which commit did it")
    proven = next((one for one in history.newest if one.outcome == "proven"), None)
    if proven is not None and not proven.intervals:
        asks = () if metric is None else ("--metric", metric)
        words = ("fairtrial", "verdict", proven.values[-1].path, *asks, *asked_words())
        yield Next(words, "what the newest night says")
    if changes and not bisected:
        series, one = changes[0]
        paths = (series.values[one.first_value].path, series.values[one.last_value].path)
        yield Next(("fairtrial", "diff", *paths), "what differs between these nights")
    if asked and any(one.enough for one in history.newest) and not {"-o", "--output"} & set(asked):
        yield Next(("fairtrial", "history", *asked, "-o", "history.html"), "all nights in pictures")
