"""Moments as a row has them."""

from __future__ import annotations

import datetime
import functools


def rfc3339(ns: int) -> str:
    """Write nanoseconds since 1970 as a time of RFC 3339, in UTC, to the nanosecond."""
    return f"{_second(ns // 1_000_000_000)}.{ns % 1_000_000_000:09d}Z"


@functools.lru_cache(maxsize=1)
def _second(second: int) -> str:
    """Write a second; hundreds of short runs begin within one."""
    return f"{datetime.datetime.fromtimestamp(second, datetime.UTC):%Y-%m-%dT%H:%M:%S}"
