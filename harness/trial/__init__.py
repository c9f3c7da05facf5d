"""The execution of a campaign: sessions, resume, stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .begun import Begun as Begun, trial_begun as trial_begun
    from .ending import Ending as Ending
    from .execution import Options as Options, resume as resume, start as start
    from .order import plan_session as plan_session
    from .preparation import (
        Prepared as Prepared,
        expected_seconds as expected_seconds,
        planned_runs as planned_runs,
    )
    from .resumption import trials_of as trials_of
    from .situation import cpus_for as cpus_for, situation_of as situation_of
    from .watcher import Watcher as Watcher
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "begun": "Begun trial_begun",
            "ending": "Ending",
            "execution": "Options resume start",
            "order": "plan_session",
            "preparation": "Prepared expected_seconds planned_runs",
            "resumption": "trials_of",
            "situation": "cpus_for situation_of",
            "watcher": "Watcher",
        },
    )
