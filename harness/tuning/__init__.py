"""Changes settings of the host for as long as is measured, and puts every one of them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .caller import Caller as Caller, caller_of as caller_of
    from .knobs import Knobs as Knobs
    from .proposal import Proposal as Proposal, Wish as Wish
    from .settings import ITEMS as ITEMS
    from .standing import finding_of_tuning as finding_of_tuning
    from .tuner import (
        Tuned as Tuned,
        lines_of as lines_of,
        refuse_to_spoil as refuse_to_spoil,
        survey as survey,
        tune as tune,
        undo_tuning as undo_tuning,
    )
    from .undoing import Undone as Undone
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "caller": "Caller caller_of",
            "knobs": "Knobs",
            "proposal": "Proposal Wish",
            "settings": "ITEMS",
            "standing": "finding_of_tuning",
            "tuner": "Tuned lines_of refuse_to_spoil survey tune undo_tuning",
            "undoing": "Undone",
        },
    )
