"""Puts trials of one campaign on one host together, as the sessions of one trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .assembly import Merged as Merged, merge_trials as merge_trials
else:
    __getattr__, __dir__ = hands_on(__name__, {"assembly": "Merged merge_trials"})
