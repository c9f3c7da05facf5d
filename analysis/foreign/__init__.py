"""Files of other tools: opened within limits, recognised by content, read with what they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .cells import ForeignCell as ForeignCell, ForeignFile as ForeignFile, Loss as Loss
    from .opening import Opened as Opened, open_foreign as open_foreign
    from .registry import (
        TOOLS as TOOLS,
        Tool as Tool,
        read_foreign as read_foreign,
        tool_of as tool_of,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "cells": "ForeignCell ForeignFile Loss",
            "opening": "Opened open_foreign",
            "registry": "TOOLS Tool read_foreign tool_of",
        },
    )
