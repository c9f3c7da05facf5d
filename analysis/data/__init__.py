"""Measured values: trials read, columns, performance matrices and their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .beside import (
        Excerpt as Excerpt,
        HostNote as HostNote,
        HostRecord as HostRecord,
        Program as Program,
        SessionEnvironment as SessionEnvironment,
        read_commands as read_commands,
        read_environments as read_environments,
        read_excerpt as read_excerpt,
        read_host_record as read_host_record,
        without_homes as without_homes,
    )
    from .columns import verify_files as verify_files
    from .energy import energy_cautions as energy_cautions, require_steady as require_steady
    from .failed import Cells as Cells, cells_of as cells_of
    from .matrix import PerformanceMatrix as PerformanceMatrix
    from .matrix_file import Table as Table, table_in as table_in
    from .notes import always_said as always_said
    from .origin import (
        own_session as own_session,
        session_order as session_order,
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
    from .question import (
        NOT_ASKED as NOT_ASKED,
        not_judged as not_judged,
        question_of as question_of,
        refuse_unasked as refuse_unasked,
    )
    from .suite import (
        Centre as Centre,
        Mean as Mean,
        check_means as check_means,
        speedup_of as speedup_of,
        suite_mean as suite_mean,
    )
    from .texts import (
        NUMBER as NUMBER,
        Decimal as Decimal,
        Dress as Dress,
        Layout as Layout,
        TextTable as TextTable,
        commas_of as commas_of,
        is_numeric as is_numeric,
        number_in as number_in,
        read_text as read_text,
        two_readings as two_readings,
    )
    from .trial import FailedRun as FailedRun, Trial as Trial, read_trial as read_trial
    from .unit import Unit as Unit
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "beside": "Excerpt HostNote HostRecord Program SessionEnvironment read_commands "
            "read_environments read_excerpt read_host_record without_homes",
            "energy": "energy_cautions require_steady",
            "columns": "verify_files",
            "notes": "always_said",
            "failed": "Cells cells_of",
            "matrix": "PerformanceMatrix",
            "matrix_file": "Table table_in",
            "origin": "own_session session_order set_apart trial_cautions",
            "pair": "Match match",
            "protocol": "FREE_SETTINGS SegmentStart campaign_text pinned_cpus segment_starts setting_leaves settings_of",
            "question": "NOT_ASKED not_judged question_of refuse_unasked",
            "suite": "Centre Mean check_means speedup_of suite_mean",
            "texts": "Decimal Dress Layout NUMBER TextTable commas_of is_numeric number_in read_text two_readings",
            "trial": "FailedRun Trial read_trial",
            "unit": "Unit",
        },
    )
