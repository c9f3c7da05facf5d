"""The files beside a trial's measurements: its host, its environments, its commands, kept output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faces import hands_on

if TYPE_CHECKING:
    from .commands import read_commands as read_commands
    from .environments import (
        SessionEnvironment as SessionEnvironment,
        read_environments as read_environments,
        without_homes as without_homes,
    )
    from .host_record import (
        HostNote as HostNote,
        HostRecord as HostRecord,
        Program as Program,
        read_host_record as read_host_record,
    )
    from .kept_output import Excerpt as Excerpt, read_excerpt as read_excerpt
    from .rows import readable_rows as readable_rows
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "commands": "read_commands",
            "environments": "SessionEnvironment read_environments without_homes",
            "host_record": "HostNote HostRecord Program read_host_record",
            "kept_output": "Excerpt read_excerpt",
            "rows": "readable_rows",
        },
    )
