"""Reads dates as other tools write them, and as people put them into names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from .model import moment_of

_DATE = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<mark>[-_/.]?)(?P<month>[01]\d)(?P=mark)(?P<day>[0-3]\d)"
    r"(?:[T _-]?(?P<hour>[0-2]\d)[-_:h.]?(?P<minute>[0-5]\d)(?:[-_:m.]?(?P<second>[0-5]\d))?(?!\d))?"
    r"(?!\d{3})"
)
_EPOCH = re.compile(r"(?P<seconds>1\d{9})(?P<millis>\d{3})?(?:\.\d+)?")


def date_in(text: str | None) -> str | None:
    """Give the date, with its time where it has one, that a text is or holds, as RFC 3339.

    Times without a zone are taken as UTC; None where there is no date, or several.
    """
    if text is None:
        return None
    found = moment_of(text.strip())
    if found is None and (epoch := _EPOCH.fullmatch(text.strip())) is not None:
        found = datetime.fromtimestamp(int(epoch["seconds"]), UTC)
    if found is not None:
        return found.isoformat()
    dates = {one for match in _DATE.finditer(text) if (one := _made(match)) is not None}
    return dates.pop().isoformat() if len(dates) == 1 else None


def without_dates(text: str) -> str:
    """Give a name without the dates in it."""
    return _DATE.sub(lambda match: match[0] if _made(match) is None else "", text)


def first_date(texts: Iterable[str | None]) -> str | None:
    """Give the first date of texts that are all dates; None where one is none, or there are none."""
    dates = [date_in(text) for text in texts]
    known = [date for date in dates if date is not None]
    if not known or len(known) < len(dates):
        return None
    return min(known, key=datetime.fromisoformat)


def _made(match: re.Match[str]) -> datetime | None:
    parts = [int(match[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")]
    try:
        year, month, day, hour, minute, second = parts
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:  # such as the 31st of February
        return None
