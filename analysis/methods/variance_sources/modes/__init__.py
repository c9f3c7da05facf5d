"""Modes of the runs, and what separates them; which runs make a mode is told from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....faces import hands_on

if TYPE_CHECKING:
    from .cause import Explained as Explained, ModalRuns as ModalRuns, explained as explained
    from .rules import Rule as Rule, best_rule as best_rule, places_of as places_of
    from .separation import (
        Labelled as Labelled,
        Separation as Separation,
        Suspect as Suspect,
        separation as separation,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "cause": "Explained ModalRuns explained",
            "rules": "Rule best_rule places_of",
            "separation": "Labelled Separation Suspect separation",
        },
    )
