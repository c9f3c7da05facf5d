"""A campaign that came from somebody else: held against what was measured, and shown before it acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .gathering import intent_of as intent_of
    from .intent import Intent as Intent
    from .received import (
        received_campaign as received_campaign,
        refuse_unsaid as refuse_unsaid,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "gathering": "intent_of",
            "intent": "Intent",
            "received": "received_campaign refuse_unsaid",
        },
    )
