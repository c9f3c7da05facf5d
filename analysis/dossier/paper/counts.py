"""Counts as they stand in a sentence of a paper."""

from __future__ import annotations

__all__ = ["between", "counted"]

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def counted(number: int, noun: str) -> str:
    """Write a count with its noun: in letters up to twelve."""
    text = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{text} {noun}{'' if number == 1 else 's'}"


def between(ends: tuple[int, int], noun: str) -> str:
    """Write a count that differs between hosts."""
    low, high = ends
    return counted(low, noun) if low == high else f"{low} to {counted(high, noun)}"
