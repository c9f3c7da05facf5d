"""One reader, or writer, for the files of each foreign tool; each says what it left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .sources import read_sources as read_sources, trials_of as trials_of
    from .systems_table import read_systems as read_systems
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "sources": "read_sources trials_of",
            "systems_table": "read_systems",
        },
    )
