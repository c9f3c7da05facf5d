"""Measured values: trials read, columns, performance matrices and their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .commands import read_commands as read_commands
    from .energy import energy_cautions as energy_cautions, require_steady as require_steady
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
    from .matrix import (
        Layout as Layout,
        PerformanceMatrix as PerformanceMatrix,
    )
    from .matrix_file import Table as Table, read_table as read_table
    from .notes import always_said as always_said
    from .origin import (
        own_session as own_session,
        set_apart as set_apart,
        trial_cautions as trial_cautions,
    )
    from .pair import Match as Match, match as match
    from .protocol import (
        FREE_SETTINGS as FREE_SETTINGS,
        SegmentStart as SegmentStart,
        campaign_text as campaign_text,
        pinned_cpus as pinned_cpus,
        segment_starts as segment_starts,
        setting_leaves as setting_leaves,
        settings_of as settings_of,
    )
    from .suite import (
        Centre as Centre,
        Mean as Mean,
        check_means as check_means,
        speedup_of as speedup_of,
        suite_mean as suite_mean,
    )
    from .trial import FailedRun as FailedRun, Trial as Trial, read_trial as read_trial
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "energy": "energy_cautions require_steady",
            "environments": "SessionEnvironment read_environments without_homes",
            "commands": "read_commands",
            "host_record": "HostNote HostRecord Program read_host_record",
            "kept_output": "Excerpt read_excerpt",
            "notes": "always_said",
            "matrix": "Layout PerformanceMatrix",
            "matrix_file": "Table read_table",
            "origin": "own_session set_apart trial_cautions",
            "pair": "Match match",
            "protocol": "FREE_SETTINGS SegmentStart campaign_text pinned_cpus segment_starts setting_leaves settings_of",
            "suite": "Centre Mean check_means speedup_of suite_mean",
            "trial": "FailedRun Trial read_trial",
        },
    )
