"""Names of people, machines and places, taken out of a bundle before its hashes are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .known import Known as Known, known_here as known_here
    from .redaction import redact_folder as redact_folder
    from .wanted import KINDS as KINDS, Wanted as Wanted, wanted_of as wanted_of
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "known": "Known known_here",
            "redaction": "redact_folder",
            "wanted": "KINDS Wanted wanted_of",
        },
    )
