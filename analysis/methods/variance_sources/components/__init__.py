"""Components of variance: benchmark, host, trial, session, block, run, iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....faces import hands_on

if TYPE_CHECKING:
    from .fit import components_of as components_of, nested as nested
else:
    __getattr__, __dir__ = hands_on(__name__, {"fit": "components_of nested"})
