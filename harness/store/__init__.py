"""The only writer of a trial directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .locks import CpuLock as CpuLock, cpus_in_use as cpus_in_use
    from .writer import (
        Store as Store,
        is_written_now as is_written_now,
        new_trial_name as new_trial_name,
        sha256_file as sha256_file,
        utc_now as utc_now,
    )
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "locks": "CpuLock cpus_in_use",
            "writer": "Store is_written_now new_trial_name sha256_file utc_now",
        },
    )
