"""Files of runs: the one reader of SOURCE, and a file for each format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..faces import hands_on

if TYPE_CHECKING:
    from .apart import sessions_apart as sessions_apart
    from .mixed_columns import (
        MixedTable as MixedTable,
        TableColumn as TableColumn,
        mixed_table as mixed_table,
    )
    from .mixed_files import read_mixed_table as read_mixed_table
    from .newest import newest_trial as newest_trial
    from .outgoing import read_leaving as read_leaving
    from .reading import Reading as Reading, asked_of as asked_of
    from .sources import (
        Sides as Sides,
        Sources as Sources,
        read_each as read_each,
        read_one as read_one,
        read_sides as read_sides,
        read_sources as read_sources,
        trials_of as trials_of,
    )
    from .systems_table import read_systems as read_systems
    from .trials import (
        is_file as is_file,
        is_foreign as is_foreign,
        open_trial as open_trial,
        trial_and_variant as trial_and_variant,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "apart": "sessions_apart",
            "mixed_files": "read_mixed_table",
            "mixed_columns": "MixedTable TableColumn mixed_table",
            "newest": "newest_trial",
            "outgoing": "read_leaving",
            "reading": "Reading asked_of",
            "sources": "Sides Sources read_each read_one read_sides read_sources trials_of",
            "systems_table": "read_systems",
            "trials": "is_file is_foreign open_trial trial_and_variant",
        },
    )
