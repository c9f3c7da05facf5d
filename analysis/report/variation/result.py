"""What the chapter holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..chapter import OldChapter

if TYPE_CHECKING:
    from ...methods.variance_sources.result import Sources

__all__ = ["Variation"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Variation(OldChapter):
    """The sources of variation of one metric of a trial, and the command that gives them alone."""

    name: ClassVar[str] = "variation"

    found: Sources
    command: str
