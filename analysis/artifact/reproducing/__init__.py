"""An artifact is checked, and what it says is computed anew from its raw rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .reproduction import reproduce as reproduce
    from .result import Reproduction as Reproduction
else:
    __getattr__, __dir__ = hands_on(
        __name__, {"reproduction": "reproduce", "result": "Reproduction"}
    )
