"""The execution of a campaign: sessions, resume, stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .ending import Ending as Ending
    from .execution import Options as Options, resume as resume, start as start
    from .files.metric_files import files_to_set_aside as files_to_set_aside
    from .files.spools import kept_bytes as kept_bytes
    from .metering.counting import look_at_counters as look_at_counters
    from .order import plan_session as plan_session
    from .preparation import (
        Prepared as Prepared,
        expected_seconds as expected_seconds,
        has_energy as has_energy,
        idle_seconds as idle_seconds,
        planned_runs as planned_runs,
    )
    from .resuming.begun import (
        Begun as Begun,
        defaults_of as defaults_of,
        trial_begun as trial_begun,
    )
    from .resuming.fresh import begins_there as begins_there
    from .resuming.resumption import unfinished_trial as unfinished_trial
    from .resuming.trials import trials_in as trials_in
    from .resuming.way_on import (
        command_to_continue as command_to_continue,
        way_on_of as way_on_of,
    )
    from .room import room_needed as room_needed
    from .situation import (
        cpus_for as cpus_for,
        look_at_cpus as look_at_cpus,
        situation_of as situation_of,
    )
    from .watcher import Watcher as Watcher
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "metering.counting": "look_at_counters",
            "resuming.begun": "Begun defaults_of trial_begun",
            "ending": "Ending",
            "execution": "Options resume start",
            "files.metric_files": "files_to_set_aside",
            "files.spools": "kept_bytes",
            "order": "plan_session",
            "preparation": "Prepared expected_seconds has_energy idle_seconds planned_runs",
            "resuming.fresh": "begins_there",
            "resuming.resumption": "unfinished_trial",
            "room": "room_needed",
            "situation": "cpus_for look_at_cpus situation_of",
            "resuming.trials": "trials_in",
            "watcher": "Watcher",
            "resuming.way_on": "command_to_continue way_on_of",
        },
    )
