"""Sources of variation in words: each part says its own, the answers first."""

from __future__ import annotations

from ...report import Page, figures, page_of
from .components.words import sections as components
from .factors.words import answer, sections as factors
from .modes.words import sections as modes
from .result import Sources
from .systems.words import sections as systems

__all__: list[str] = []

_NAMES = 3  # of trials, in the title


@page_of.register
def _(found: Sources) -> Page:
    return Page(
        title=f"sources of variation of {found.response}: {figures.listed(found.of, _NAMES)}",
        sections=(
            *answer(found),
            *modes(found),
            *components(found),
            *factors(found),
            *systems(found),
        ),
        cautions=found.cautions,
    )
