"""Names of functions as they are compared."""

from __future__ import annotations

import re

_SUFFIX = re.compile(r"(\.(isra|part|constprop|cold)(\.\d+)?)+$")


def plain_name(symbol: str) -> str:
    """Give a symbol without what compilers append to a function that they copied or split."""
    return _SUFFIX.sub("", symbol)
