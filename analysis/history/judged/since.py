"""From which night on nights are new: what ``--since`` means in each series, and what is gone from the newest one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from ...errors import UsageError
from ..alarm import NEWEST
from ..nights.model import Night, Nights, NightSeries, moment_of
from .result import History

YESTERDAY: Final = "yesterday"
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LEAST = 2  # nights with a value, of the 8 before the newest, that a benchmark must have to be gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """`text`: As asked. `moment`: What begins then or later is new; None where only `trials` tell it.

    `trials`: The new ones by name, of a series without times. `moves`: Whether the reference of an alarm is
    what it is without ``--since``, because "yesterday" is another day tomorrow.
    """

    text: str
    moment: datetime | None
    trials: frozenset[str]
    moves: bool

    def first_new(self, series: NightSeries) -> int:
        """Give the number of the first value that is new; that of all values where none is."""
        for k, night in enumerate(series.nights):
            if self._is_new(night):
                return k
        return len(series.nights)

    def _is_new(self, night: Night) -> bool:
        began = moment_of(night.started_at)
        if self.moment is None or began is None:
            return night.trial in self.trials
        return began >= self.moment


def since_of(text: str, series: Iterable[NightSeries], now: datetime) -> Since:
    """Read ``--since``: a date or time (UTC without a zone), the name of a trial, or ``yesterday``.

    Raises
    ------
    UsageError
        If it is none of these.
    """
    if text == YESTERDAY:
        day = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
        return Since(text=text, moment=day, trials=frozenset(), moves=True)
    moment = moment_of(text)
    if moment is not None:
        return Since(text=text, moment=moment, trials=frozenset(), moves=False)
    name = text.rstrip("/").rpartition("/")[2]
    for one in series:
        for k, night in enumerate(one.nights):
            if night.trial in (name, text) or night.path == text:
                return Since(
                    text=text,
                    moment=moment_of(night.started_at),
                    trials=frozenset(later.trial for later in one.nights[k:]),
                    moves=False,
                )
    raise UsageError(
        "this is neither a date nor one of the trials",
        text,
        "write --since 2026-11-01, --since yesterday, or the name of a trial",
    )


def with_gone(
    history: History, nights: Nights, *, since: str | None, allowed: Sequence[str]
) -> History:
    """Name what is gone in `history`, if it has a gate; a fixed `since` behind the end of a series accepts that.

    `allowed` names benchmarks that may be gone; "" is all.
    """
    if history.gate is None or "" in allowed:
        return history
    new = None if since is None else since_of(since, nights.series, datetime.now(UTC))
    going_on = [one for one in nights.series if one.ended is None]
    gone: dict[str, None] = {}
    for one in going_on:
        together = [other for other in going_on if other.campaign == one.campaign]
        nights_of = (night for other in together for night in other.nights)
        begun = {night.trial: moment_of(night.started_at) or _EARLIEST for night in nights_of}
        order = sorted(begun, key=begun.__getitem__)
        mine = {night.trial for night in one.nights}
        before = mine.intersection(order[-1 - NEWEST : -1])
        accepted = new is not None and not new.moves and new.first_new(one) == len(one.nights)
        if order[-1] not in mine and len(before) >= _LEAST and not accepted:
            gone[one.benchmark] = None
    return replace(history, gone=tuple(name for name in gone if name not in allowed))
