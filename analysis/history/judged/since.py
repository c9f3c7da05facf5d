"""From which night on nights are new: what ``--since`` means in each series."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from ...errors import UsageError
from ..nights.model import Night, NightSeries, moment_of

YESTERDAY: Final = "yesterday"


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
