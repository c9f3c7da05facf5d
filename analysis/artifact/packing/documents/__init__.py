"""What a bundle says of itself to people and to machines: README.md, the crate, CITATION.cff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....faces import hands_on

if TYPE_CHECKING:
    from .citation import (
        LICENSES as LICENSES,
        citation_text as citation_text,
        license_text as license_text,
    )
    from .crate import CRATE as CRATE, crate_text as crate_text
    from .readme import Told as Told, readme_text as readme_text
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "citation": "LICENSES citation_text license_text",
            "crate": "CRATE crate_text",
            "readme": "Told readme_text",
        },
    )
