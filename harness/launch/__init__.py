"""The launcher script, its client, hooks and signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .client import LauncherClient as LauncherClient
    from .exchange import Execution as Execution, Request as Request, limit_numbers as limit_numbers
    from .executables import (
        base_environment as base_environment,
        check_stdin as check_stdin,
        hashes as hashes,
        resolve as resolve,
        resolve_all as resolve_all,
    )
    from .hooks import CommandFailedError as CommandFailedError, SideCommands as SideCommands
    from .interrupts import Interrupted as Interrupted, Interrupts as Interrupts
    from .placement import Placement as Placement
    from .standstill import Standstill as Standstill
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "client": "LauncherClient",
            "exchange": "Execution Request limit_numbers",
            "executables": "base_environment check_stdin hashes resolve resolve_all",
            "hooks": "CommandFailedError SideCommands",
            "interrupts": "Interrupted Interrupts",
            "placement": "Placement",
            "standstill": "Standstill",
        },
    )
