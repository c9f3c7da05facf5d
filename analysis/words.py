"""Words that the runner and the judge set alike."""

from __future__ import annotations

__all__ = ["shorten"]


def shorten(text: str, width: int) -> str:
    """Cut a long name in its middle; its ends tell most."""
    if len(text) <= width:
        return text
    head = width // 2
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"
