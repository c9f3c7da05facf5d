"""A text cut to so many columns of a terminal, where a wide sign takes two and a joined one none."""

from __future__ import annotations

from ..announcing import cells


def cut(text: str, width: int) -> str:
    """Cut a text behind the last sign that fits so many columns; its beginning tells most."""
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[:-1]
    return f"{text.rstrip()}…"
