"""The system call perf_event_open(2): what it is told, and the calls themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .attributes import EventAttributes as EventAttributes
    from .calls import MACHINES as MACHINES, Machine as Machine, PerfCalls as PerfCalls
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "attributes": "EventAttributes",
            "calls": "MACHINES Machine PerfCalls",
        },
    )
