"""Gathers the chapter's values from the subject."""

from __future__ import annotations

from ..chapter import Chapter
from ..subject import Subject

__all__ = ["gather"]


def gather(subject: Subject) -> Chapter | None:
    """Give the chapter; None where these sources have nothing to say of it."""
    del subject
    return None
