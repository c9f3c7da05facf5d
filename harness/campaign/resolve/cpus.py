"""The CPUs of a campaign, from what its file says."""

from __future__ import annotations

from ..source.excerpt import quote

FIX = "write ranges upwards, such as 2-3,6"
_MOST = 4095


def cpu_numbers(text: str) -> tuple[int, ...]:
    """Give the numbers of a list such as ``2-3,6``, of which `wrong_range` finds nothing wrong."""
    return tuple(number for part in text.split(",") for number in _range(part))


def wrong_range(text: str) -> str | None:
    """Give the first part of such a list that is empty, too large or there twice."""
    if text in {"auto", "none"}:
        return None
    known: set[int] = set()
    for part in text.split(","):
        some = _range(part)
        if not some or some[-1] > _MOST or known & set(some):
            return part
        known |= set(some)
    return None


def said_of_range(part: str) -> str:
    """Say what is wrong with the part that `wrong_range` found."""
    return f"the range {quote(part)} of 'cpus' is empty, too large or given twice"


def _range(part: str) -> range:
    first, _, last = part.partition("-")
    return range(int(first), int(last or first) + 1)
