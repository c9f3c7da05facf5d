"""What a campaign executes, as a page says it: the packer writes these lines, a rerun holds to them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from ..words import shown

__all__ = ["executed_lines", "line_of"]


def executed_lines(campaign: Mapping[str, Any]) -> tuple[str, ...]:
    """Give every command of a campaign as a line, each once, in the order in which they come.

    Parameters
    ----------
    campaign : mapping
        What ``resolved.json`` of its trial holds under ``campaign``.
    """
    hooks = campaign.get("hooks", {})
    cells = campaign.get("cells", ())
    commands = [step for build in campaign.get("builds", ()) for step in build["steps"]]
    commands += hooks.get("setup", ())
    for cell in cells:
        commands += [*cell.get("before", ()), cell["command"], *cell.get("after", ())]
    commands += [*hooks.get("cleanup", ()), *hooks.get("finish", ())]
    return tuple(dict.fromkeys(line_of(command["argv"]) for command in commands))


def line_of(argv: Iterable[str]) -> str:
    """Write a command as one line, as a shell would take it; a line feed in it becomes its picture."""
    return shown(shlex.join(argv))
