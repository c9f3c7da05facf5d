"""Modes of the runs, and what separates them; which runs make a mode is told from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....faces import hands_on

if TYPE_CHECKING:
    from .cause import Explained as Explained, ModalRuns as ModalRuns, explained as explained
else:
    __getattr__, __dir__ = hands_on(__name__, {"cause": "Explained ModalRuns explained"})
