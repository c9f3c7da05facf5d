"""Hosts as the outermost level: what the verdicts of several hosts say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....faces import hands_on

if TYPE_CHECKING:
    from .combine import over_hosts as over_hosts
    from .result import (
        Disagreement as Disagreement,
        HostEffect as HostEffect,
        HostLevel as HostLevel,
        MoreHosts as MoreHosts,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "combine": "over_hosts",
            "result": "Disagreement HostEffect HostLevel MoreHosts",
        },
    )
