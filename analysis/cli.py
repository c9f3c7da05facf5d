"""The analysis subcommands, mounted by `harness.cli`.

Importing this module costs no numpy: each command imports what it needs when it is executed.
Errors pass through; `harness.cli` prints them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .commands.bundle import size_in_bytes
from .commands.reproduction import (
    passing_folder,
    unpack_artifact,
    write_reproduction,
    write_rerun,
)
from .commands.sharing.comparing import write_comparison
from .commands.verdict import write_verdict

if TYPE_CHECKING:
    from .commands.arguments import Subparsers

__all__ = [
    "COMMANDS",
    "passing_folder",
    "register",
    "size_in_bytes",
    "unpack_artifact",
    "write_comparison",
    "write_reproduction",
    "write_rerun",
    "write_verdict",
]

# the modules below `analysis.commands`, in the order of the help
COMMANDS = (
    "verdict",
    "gate",
    "hpt",
    "speedup_test",
    "resample",
    "mixture",
    "biplot",
    "diagnose",
    "calibrate",
    "plan",
    "study",
    "sources",
    "report",
    "plot",
    "sharing.comparing",
    "sharing.merge",
    "sharing.importing",
    "sharing.exporting",
    "bundle",
)


def register(subparsers: Subparsers) -> None:
    """Add the subcommands; each sets ``args.run``, a function of (args, out, err) -> exit code."""
    for name in COMMANDS:
        importlib.import_module(f"{__package__}.commands.{name}").add(subparsers)
