"""The only writer of a trial directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .folder import (
        mode_of_files as mode_of_files,
        open_inside as open_inside,
        storing as storing,
    )
    from .locks import CpuLock as CpuLock, cpus_in_use as cpus_in_use
    from .rows import rows_done as rows_done
    from .trial_lock import (
        is_written_now as is_written_now,
        written_by_another as written_by_another,
    )
    from .unused import (
        RESERVE as RESERVE,
        clear_unused as clear_unused,
        holds_only_a_start as holds_only_a_start,
    )
    from .writer import (
        Store as Store,
        new_trial_name as new_trial_name,
        sha256_file as sha256_file,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "folder": "mode_of_files open_inside storing",
            "locks": "CpuLock cpus_in_use",
            "rows": "rows_done",
            "trial_lock": "is_written_now written_by_another",
            "unused": "RESERVE clear_unused holds_only_a_start",
            "writer": "Store new_trial_name sha256_file",
        },
    )
