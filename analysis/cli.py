"""The analysis subcommands, mounted by `harness.cli`.

Importing this module costs no numpy: each command imports what it needs when it is executed.
Errors pass through; `harness.cli` prints them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .commands import biplot, diagnose, hpt, mixture, plan, resample, speedup_test, study, verdict
from .commands.verdict import write_verdict

if TYPE_CHECKING:
    from .commands.arguments import Subparsers

__all__ = ["register", "write_verdict"]


def register(subparsers: Subparsers) -> None:
    """Add the subcommands; each sets ``args.run``, a function of (args, out, err) -> exit code."""
    for command in (verdict, hpt, speedup_test, resample, mixture, biplot, diagnose, plan, study):
        command.add(subparsers)
