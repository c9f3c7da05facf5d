"""A file that was made for another tool: its bytes, and what could not go into it."""

from __future__ import annotations

from dataclasses import dataclass

from ..cells import Loss

__all__ = ["Written"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a target's module gives.

    Attributes
    ----------
    data : bytes
        The file.
    lost : tuple of Loss
        What the source holds and the target cannot: ``--strict`` refuses it.
    notes : tuple of Loss
        What else a reader of the file should know, such as a key that the target wants and nobody
        measured.
    """

    data: bytes
    lost: tuple[Loss, ...] = ()
    notes: tuple[Loss, ...] = ()
