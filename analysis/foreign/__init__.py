"""Files of other tools: opened within limits, recognised by content, read with what they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .cells import ForeignCell as ForeignCell, ForeignFile as ForeignFile, Loss as Loss
    from .gathered import Chosen as Chosen, Gathered as Gathered, gather as gather
    from .importing import Imported as Imported, import_files as import_files
    from .inspection import Inspected as Inspected, inspect_files as inspect_files
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
            "gathered": "Chosen Gathered gather",
            "importing": "Imported import_files",
            "inspection": "Inspected inspect_files",
            "opening": "Opened open_foreign",
            "registry": "TOOLS Tool read_foreign tool_of",
        },
    )
